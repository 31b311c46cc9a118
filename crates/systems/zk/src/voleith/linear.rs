//! The linear hash of rows, by which all trees are seen to have the same vector.

use comity_core::{Backend, Block, Prg, gf128};

use super::HASH_MASK;
use super::hashes::Digest;

/// A linear hash of 256 bits: two inner products in GF(2^128), each with coefficients from a half of a
/// challenge, and each with a block of the row of its own added, which masks it.
pub(super) struct LinearHash {
    backend: Backend,
    coefficients: [Vec<Block>; HASH_MASK],
}

impl LinearHash {
    /// The hash of rows of `width` blocks that a challenge draws.
    pub(super) fn new(backend: Backend, challenge: &Digest, width: usize) -> LinearHash {
        let coefficients = [0, 16].map(|at| {
            let mut coefficients = vec![Block::ZERO; width - HASH_MASK];
            Prg::new(backend, Block::new(core::array::from_fn(|i| challenge[at + i]))).fill_blocks(&mut coefficients);
            coefficients
        });
        LinearHash { backend, coefficients }
    }

    /// The hash of a row.
    pub(super) fn hash(&self, row: &[Block]) -> [Block; HASH_MASK] {
        let (masks, row) = row.split_at(HASH_MASK);
        core::array::from_fn(|i| masks[i] ^ gf128::inner_product(self.backend, &self.coefficients[i], row))
    }

    /// The hashes of rows that lie one after another.
    pub(super) fn each(&self, rows: &[Block]) -> Vec<Block> {
        let width = HASH_MASK + self.coefficients[0].len();
        rows.chunks_exact(width).flat_map(|row| self.hash(row)).collect()
    }
}
