//! The safe face of the kernels: each function runs the code of its backend.

use super::{Backend, RoundKeys, portable};
use crate::Block;

impl Backend {
    /// The round keys of a key.
    pub(crate) fn aes_expand(self, key: Block) -> RoundKeys {
        portable::aes::expand(key)
    }

    /// Encrypts every block in place.
    pub(crate) fn aes_encrypt(self, keys: &RoundKeys, blocks: &mut [[u8; 16]]) {
        portable::aes::encrypt(keys, blocks);
    }

    /// Writes the encryptions of `first`, `first + 1`, ... modulo 2^128.
    pub(crate) fn aes_counter(self, keys: &RoundKeys, first: u128, out: &mut [[u8; 16]]) {
        portable::aes::counter(keys, first, out);
    }

    /// Replaces block `j` = x by pi(pi(x) ^ (first + j)) ^ pi(x).
    pub(crate) fn aes_tccr(self, keys: &RoundKeys, first: u128, blocks: &mut [[u8; 16]]) {
        portable::aes::tccr(keys, first, blocks);
    }

    /// Transposes a bit matrix; the caller has checked the lengths.
    pub(crate) fn transpose(self, input: &[u8], output: &mut [u8], rows: usize, columns: usize) {
        portable::transpose::transpose(input, output, rows, columns, 0, 0);
    }

    /// The sum of the products of the pairs in GF(2^128).
    pub(crate) fn gf128_inner_product(self, a: &[Block], b: &[Block]) -> Block {
        portable::clmul::inner_product(a, b)
    }
}
