//! Keccak-f on 1,600 bits, the permutation of SHA-3.

use comity_circuit::{Builder, Wire};

use crate::arith::{constant, rotl, xor};

#[rustfmt::skip]
const ROUND_CONSTANTS: [u64; 24] = [
    0x0000_0000_0000_0001, 0x0000_0000_0000_8082, 0x8000_0000_0000_808a, 0x8000_0000_8000_8000,
    0x0000_0000_0000_808b, 0x0000_0000_8000_0001, 0x8000_0000_8000_8081, 0x8000_0000_0000_8009,
    0x0000_0000_0000_008a, 0x0000_0000_0000_0088, 0x0000_0000_8000_8009, 0x0000_0000_8000_000a,
    0x0000_0000_8000_808b, 0x8000_0000_0000_008b, 0x8000_0000_0000_8089, 0x8000_0000_0000_8003,
    0x8000_0000_0000_8002, 0x8000_0000_0000_0080, 0x0000_0000_0000_800a, 0x8000_0000_8000_000a,
    0x8000_0000_8000_8081, 0x8000_0000_0000_8080, 0x0000_0000_8000_0001, 0x8000_0000_8000_8008,
];

/// Keccak-f on 1,600 bits. 38,400 ANDs, 24 deep.
///
/// The state's 200 bytes, in the order in which FIPS 202 (appendix B.1) prints them, are the number's, the first one
/// the most significant; within a byte the first bit of the state is the least significant.
///
/// # Panics
/// If the state has another length.
pub fn keccak_f(b: &mut Builder, state: &[Wire]) -> Vec<Wire> {
    b.quiet(|b| {
        assert_eq!(state.len(), 1600, "the state has 1600 bits");
        // Bit z of lane x + 5y is bit (x, y, z) of the state. Lanes are little-endian, the value is big-endian.
        let mut lanes: Vec<Vec<Wire>> =
            state.rchunks(64).map(|lane| lane.rchunks(8).flatten().copied().collect()).collect();
        for round in ROUND_CONSTANTS {
            theta(b, &mut lanes);
            lanes = rotate_and_transpose(&lanes);
            lanes = chi(b, &lanes);
            lanes[0] = xor(b, &lanes[0], &constant(round.into(), 64));
        }
        lanes.iter().rev().flat_map(|lane| lane.rchunks(8)).flatten().copied().collect()
    })
}

/// The step theta: adds the parities of two columns to each bit.
fn theta(b: &mut Builder, lanes: &mut [Vec<Wire>]) {
    let parity: Vec<Vec<Wire>> =
        (0..5).map(|x| (1..5).fold(lanes[x].clone(), |sum, y| xor(b, &sum, &lanes[x + 5 * y]))).collect();
    for x in 0..5 {
        let change = xor(b, &parity[(x + 4) % 5], &rotl(&parity[(x + 1) % 5], 1));
        for y in 0..5 {
            lanes[x + 5 * y] = xor(b, &lanes[x + 5 * y], &change);
        }
    }
}

/// The steps rho and pi: each lane is rotated by its own distance and moved.
fn rotate_and_transpose(lanes: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let mut moved = lanes.to_vec();
    let (mut x, mut y) = (1, 0);
    for t in 1..25 {
        let (to_x, to_y) = (y, (2 * x + 3 * y) % 5);
        moved[to_x + 5 * to_y] = rotl(&lanes[x + 5 * y], t * (t + 1) / 2);
        (x, y) = (to_x, to_y);
    }
    moved
}

/// The step chi, the only one that is not linear: one AND a bit.
fn chi(b: &mut Builder, lanes: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let bit = |b: &mut Builder, x: Wire, next: Wire, after: Wire| {
        let not = b.not(next);
        let both = b.and(not, after);
        b.xor(x, both)
    };
    let row = |i: usize, x: usize| &lanes[i / 5 * 5 + x % 5];
    (0..25).map(|i| (0..64).map(|z| bit(b, row(i, i)[z], row(i, i + 1)[z], row(i, i + 2)[z])).collect()).collect()
}
