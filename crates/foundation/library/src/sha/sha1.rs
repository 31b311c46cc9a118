//! SHA-1.

use comity_circuit::{Builder, Wire};

use super::{add_words, choose, majority, words};
use crate::arith::{constant, rotl, sum, xor};

/// The initial chaining value, as the 40 hex digits would read.
pub const SHA1_INITIAL: [u32; 5] = [0x6745_2301, 0xefcd_ab89, 0x98ba_dcfe, 0x1032_5476, 0xc3d2_e1f0];

/// SHA-1's compression of a block of 512 bits into a chaining value of 160. 10,955 ANDs.
///
/// # Panics
/// If an input has another length.
pub fn sha1(b: &mut Builder, message: &[Wire], state: &[Wire]) -> Vec<Wire> {
    b.quiet(|b| {
        let mut w = words(message, 32, 16);
        for t in 16..80 {
            let (near, far) = (xor(b, &w[t - 3], &w[t - 8]), xor(b, &w[t - 14], &w[t - 16]));
            w.push(rotl(&xor(b, &near, &far), 1));
        }
        let initial = words(state, 32, 5);
        let [mut a, mut x, mut y, mut z, mut e] = std::array::from_fn(|i| initial[i].clone());
        for (t, w) in w.iter().enumerate() {
            let (f, k) = match t / 20 {
                0 => (choose(b, &x, &y, &z), 0x5a82_7999),
                1 => (parity(b, &x, &y, &z), 0x6ed9_eba1),
                2 => (majority(b, &x, &y, &z), 0x8f1b_bcdc),
                _ => (parity(b, &x, &y, &z), 0xca62_c1d6),
            };
            let next = sum(b, &[&constant(k, 32), w, &e, &f, &rotl(&a, 5)]);
            (a, x, y, z, e) = (next, a, rotl(&x, 30), y, z);
        }
        add_words(b, &initial, &[a, x, y, z, e])
    })
}

fn parity(b: &mut Builder, x: &[Wire], y: &[Wire], z: &[Wire]) -> Vec<Wire> {
    let sum = xor(b, x, y);
    xor(b, &sum, z)
}
