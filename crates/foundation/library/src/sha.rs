//! The compression functions of SHA-1 and SHA-2 (FIPS 180-4) and the permutation of SHA-3 (FIPS 202).
//!
//! A value is one number whose hex reads as the standards print it: wire 0 is the least significant bit of the last
//! byte. A compression function takes a message block and a chaining value and returns the next one; padding is the
//! caller's.

mod keccak;
mod sha1;
mod sha2;

pub use keccak::keccak_f;
pub use sha1::{SHA1_INITIAL, sha1};
pub use sha2::{SHA256_INITIAL, SHA512_INITIAL, sha256, sha512};

use comity_circuit::{Builder, Wire};

use super::arith::{add, xor};

/// The words of a value: the first one is the most significant.
fn words(value: &[Wire], bits: usize, count: usize) -> Vec<Vec<Wire>> {
    assert_eq!(value.len(), bits * count, "the value has {} bits", bits * count);
    value.rchunks(bits).map(<[Wire]>::to_vec).collect()
}

/// The value of these words, each the sum of two.
fn add_words(b: &mut Builder, x: &[Vec<Wire>], y: &[Vec<Wire>]) -> Vec<Wire> {
    x.iter().zip(y).rev().flat_map(|(x, y)| add(b, x, y)).collect()
}

/// The choice of `y` where `x` is one, else `z`. One AND a bit.
fn choose(b: &mut Builder, x: &[Wire], y: &[Wire], z: &[Wire]) -> Vec<Wire> {
    (0..x.len()).map(|i| b.mux(x[i], y[i], z[i])).collect()
}

/// The majority of three. One AND a bit; `x ^ y` here is `y ^ z` of the next round, and shared.
fn majority(b: &mut Builder, x: &[Wire], y: &[Wire], z: &[Wire]) -> Vec<Wire> {
    let differ = xor(b, x, y);
    choose(b, &differ, z, y)
}
