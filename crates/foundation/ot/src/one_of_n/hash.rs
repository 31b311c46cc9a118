//! The hash of a column of four blocks and the index of its OT.

use comity_core::{Aes128, Backend, Block, TccrHash};
use zeroize::Zeroizing;

use super::QUARTERS;

/// Columns hashed in one go: their blocks stay in the first-level cache.
const BATCH: usize = 128;

/// `H(j, (x_0, .., x_3)) = pi(pi(y) ^ j) ^ pi(y)` with `y` the sum of `pi_a(x_a) ^ x_a`.
pub(super) struct ColumnHash {
    inner: [Aes128; QUARTERS],
    outer: Aes128,
}

impl ColumnHash {
    pub(super) fn new(backend: Backend) -> ColumnHash {
        // Keys that nobody chose: pi's, and others that differ from it.
        let key = |a: u128| Aes128::new(backend, Block::from_u128(TccrHash::KEY.to_u128() ^ a));
        ColumnHash { inner: [1, 2, 3, 4].map(key), outer: key(0) }
    }

    /// Adds `pi_a(x) ^ x` for a quarter of columns to the sums.
    pub(super) fn absorb(&self, quarter: usize, columns: &[Block], sums: &mut [Block]) {
        let mut batch = Zeroizing::new([Block::ZERO; BATCH]);
        for (columns, sums) in columns.chunks(BATCH).zip(sums.chunks_mut(BATCH)) {
            let batch = &mut batch[..columns.len()];
            batch.copy_from_slice(columns);
            self.inner[quarter].encrypt(batch);
            for ((sum, column), encrypted) in sums.iter_mut().zip(columns).zip(&*batch) {
                *sum = *sum ^ *column ^ *encrypted;
            }
        }
    }

    /// Turns sums into hashes, each with its index.
    pub(super) fn finish(&self, mut indices: impl Iterator<Item = u64>, sums: &mut [Block]) {
        let mut batch = Zeroizing::new([Block::ZERO; BATCH]);
        for sums in sums.chunks_mut(BATCH) {
            let batch = &mut batch[..sums.len()];
            self.outer.encrypt(sums);
            for ((inner, sum), index) in batch.iter_mut().zip(&*sums).zip(&mut indices) {
                *inner = *sum ^ Block::from_u128(index.into());
            }
            self.outer.encrypt(batch);
            sums.iter_mut().zip(&*batch).for_each(|(sum, inner)| *sum ^= *inner);
        }
    }
}
