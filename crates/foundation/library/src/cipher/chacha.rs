//! ChaCha20's block function (RFC 8439, section 2.3).

use comity_circuit::{Builder, Wire};

use crate::arith::{add, constant, rotl, xor};

/// The constants of the state, "expand 32-byte k".
const CONSTANTS: [u32; 4] = [0x6170_7865, 0x3320_646e, 0x7962_2d32, 0x6b20_6574];

/// A block of 64 bytes of key stream from a key of 256 bits, a nonce of 96, and the number of the block
/// in 32. 10,400 ANDs.
///
/// # Panics
/// If an input has another length.
pub fn chacha20(b: &mut Builder, key: &[Wire], nonce: &[Wire], counter: &[Wire]) -> Vec<Wire> {
    b.quiet(|b| {
        let lengths = (key.len(), nonce.len(), counter.len());
        assert_eq!(lengths, (256, 96, 32), "a key has 256 bits, a nonce 96, a block's number 32");
        let mut initial: Vec<Vec<Wire>> = CONSTANTS.iter().map(|&word| constant(word.into(), 32)).collect();
        initial.extend(words(key));
        initial.push(counter.to_vec());
        initial.extend(words(nonce));
        let mut state = initial.clone();
        for _ in 0..10 {
            for i in 0..4 {
                quarter_round(b, &mut state, [i, i + 4, i + 8, i + 12]);
            }
            for i in 0..4 {
                quarter_round(b, &mut state, [i, 4 + (i + 1) % 4, 8 + (i + 2) % 4, 12 + (i + 3) % 4]);
            }
        }
        let sums: Vec<Vec<Wire>> = state.iter().zip(&initial).map(|(x, y)| add(b, x, y)).collect();
        sums.iter().rev().flat_map(|word| word.rchunks(8)).flatten().copied().collect()
    })
}

/// The words of a value: the first one is on its last wires, and the first byte of each is the least significant.
fn words(value: &[Wire]) -> impl Iterator<Item = Vec<Wire>> {
    value.rchunks(32).map(|word| word.rchunks(8).flatten().copied().collect())
}

/// A quarter round: four additions of 31 ANDs each.
fn quarter_round(b: &mut Builder, state: &mut [Vec<Wire>], [w, x, y, z]: [usize; 4]) {
    for (to, from, mixed, by) in [(w, x, z, 16), (y, z, x, 12), (w, x, z, 8), (y, z, x, 7)] {
        state[to] = add(b, &state[to], &state[from]);
        state[mixed] = rotl(&xor(b, &state[mixed], &state[to]), by);
    }
}
