//! MD5 (RFC 1321).

use comity_circuit::{Builder, Wire};

use crate::arith::{add, constant, rotl, sum, xor};

/// The initial chaining value, as the 32 hex digits would read.
pub const MD5_INITIAL: [u8; 16] =
    [0x01, 0x23, 0x45, 0x67, 0x89, 0xab, 0xcd, 0xef, 0xfe, 0xdc, 0xba, 0x98, 0x76, 0x54, 0x32, 0x10];

const ROTATIONS: [[usize; 4]; 4] = [[7, 12, 17, 22], [5, 9, 14, 20], [4, 11, 16, 23], [6, 10, 15, 21]];

/// The constants ⌊2^32 |sin(i + 1)|⌋.
#[rustfmt::skip]
const SINES: [u32; 64] = [
    0xd76a_a478, 0xe8c7_b756, 0x2420_70db, 0xc1bd_ceee, 0xf57c_0faf, 0x4787_c62a, 0xa830_4613, 0xfd46_9501,
    0x6980_98d8, 0x8b44_f7af, 0xffff_5bb1, 0x895c_d7be, 0x6b90_1122, 0xfd98_7193, 0xa679_438e, 0x49b4_0821,
    0xf61e_2562, 0xc040_b340, 0x265e_5a51, 0xe9b6_c7aa, 0xd62f_105d, 0x0244_1453, 0xd8a1_e681, 0xe7d3_fbc8,
    0x21e1_cde6, 0xc337_07d6, 0xf4d5_0d87, 0x455a_14ed, 0xa9e3_e905, 0xfcef_a3f8, 0x676f_02d9, 0x8d2a_4c8a,
    0xfffa_3942, 0x8771_f681, 0x6d9d_6122, 0xfde5_380c, 0xa4be_ea44, 0x4bde_cfa9, 0xf6bb_4b60, 0xbebf_bc70,
    0x289b_7ec6, 0xeaa1_27fa, 0xd4ef_3085, 0x0488_1d05, 0xd9d4_d039, 0xe6db_99e5, 0x1fa2_7cf8, 0xc4ac_5665,
    0xf429_2244, 0x432a_ff97, 0xab94_23a7, 0xfc93_a039, 0x655b_59c3, 0x8f0c_cc92, 0xffef_f47d, 0x8584_5dd1,
    0x6fa8_7e4f, 0xfe2c_e6e0, 0xa301_4314, 0x4e08_11a1, 0xf753_7e82, 0xbd3a_f235, 0x2ad7_d2bb, 0xeb86_d391,
];

/// MD5's compression of a block of 512 bits into a chaining value of 128. 9,277 ANDs.
///
/// # Panics
/// If an input has another length.
pub fn md5(b: &mut Builder, message: &[Wire], state: &[Wire]) -> Vec<Wire> {
    b.quiet(|b| {
        assert_eq!((message.len(), state.len()), (512, 128), "a block has 512 bits, a chaining value 128");
        let (w, initial) = (words(message), words(state));
        let [mut a, mut x, mut y, mut z] = std::array::from_fn(|i| initial[i].clone());
        for t in 0..64 {
            let round = t / 16;
            let (f, word) = match round {
                0 => (choose(b, &x, &y, &z), t),
                1 => (choose(b, &z, &x, &y), 5 * t + 1),
                2 => (parity(b, &x, &y, &z), 3 * t + 5),
                _ => (mixed(b, &x, &y, &z), 7 * t),
            };
            let total = sum(b, &[&constant(SINES[t].into(), 32), &w[word % 16], &a, &f]);
            let next = add(b, &rotl(&total, ROTATIONS[round][t % 4]), &x);
            (a, x, y, z) = (z, next, x, y);
        }
        let sums: Vec<Vec<Wire>> = initial.iter().zip([a, x, y, z]).map(|(x, y)| add(b, x, &y)).collect();
        sums.iter().rev().flat_map(|word| word.rchunks(8)).flatten().copied().collect()
    })
}

/// The words of a value: the first one is on its last wires, and the first byte of each is the least significant.
fn words(value: &[Wire]) -> Vec<Vec<Wire>> {
    value.rchunks(32).map(|word| word.rchunks(8).flatten().copied().collect()).collect()
}

/// The choice of `y` where `x` is one, else `z`. One AND a bit.
fn choose(b: &mut Builder, x: &[Wire], y: &[Wire], z: &[Wire]) -> Vec<Wire> {
    (0..x.len()).map(|i| b.mux(x[i], y[i], z[i])).collect()
}

fn parity(b: &mut Builder, x: &[Wire], y: &[Wire], z: &[Wire]) -> Vec<Wire> {
    let sum = xor(b, x, y);
    xor(b, &sum, z)
}

/// The function `y ^ (x | !z)`. One AND a bit.
fn mixed(b: &mut Builder, x: &[Wire], y: &[Wire], z: &[Wire]) -> Vec<Wire> {
    let bit = |b: &mut Builder, i: usize| {
        let not = b.not(z[i]);
        let either = b.or(x[i], not);
        b.xor(y[i], either)
    };
    (0..x.len()).map(|i| bit(b, i)).collect()
}
