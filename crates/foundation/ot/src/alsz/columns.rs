//! The hash of columns of the matrix, two blocks each.

use comity_core::{Aes128, Backend, Block, TccrHash};
use zeroize::Zeroizing;

/// Columns hashed in one go: their blocks stay in the first-level cache.
const BATCH: usize = 128;

/// The hash of a column `(a, b)` and its index.
pub(super) struct ColumnHash {
    low: Aes128,
    high: Aes128,
    outer: TccrHash,
    /// The index of the next column.
    next: u64,
}

impl ColumnHash {
    pub(super) fn new(backend: Backend) -> ColumnHash {
        // Two keys that nobody chose: pi's key and its complement.
        let complement = Block::from_u128(!TccrHash::KEY.to_u128());
        let low = Aes128::new(backend, TccrHash::KEY);
        ColumnHash { low, high: Aes128::new(backend, complement), outer: TccrHash::new(backend), next: 0 }
    }

    /// The receiver's messages: the hashes of columns. Overwrites the columns.
    pub(super) fn blocks(&mut self, low: &mut [Block], high: &mut [Block], out: &mut [Block]) {
        for ((low, high), out) in low.chunks_mut(BATCH).zip(high.chunks_mut(BATCH)).zip(out.chunks_mut(BATCH)) {
            let n = out.len();
            self.compress(&mut low[..n], &mut high[..n], out);
            self.outer.hash(self.next.into(), out);
            self.next += n as u64;
        }
    }

    /// The sender's messages: the hashes of columns, and of the same with `s` added. Overwrites the columns.
    pub(super) fn pairs(&mut self, s: [Block; 2], low: &mut [Block], high: &mut [Block], out: &mut [[Block; 2]]) {
        let mut sides = Zeroizing::new([[Block::ZERO; BATCH]; 2]);
        let mut others = Zeroizing::new([[Block::ZERO; BATCH]; 2]);
        for ((low, high), out) in low.chunks_mut(BATCH).zip(high.chunks_mut(BATCH)).zip(out.chunks_mut(BATCH)) {
            let n = out.len();
            for (other, (column, s)) in others.iter_mut().zip([(&*low, s[0]), (&*high, s[1])]) {
                other.iter_mut().zip(&column[..n]).for_each(|(other, column)| *other = *column ^ s);
            }
            let [zeros, ones] = sides.each_mut().map(|side| &mut side[..n]);
            let [other_low, other_high] = others.each_mut().map(|side| &mut side[..n]);
            self.compress(&mut low[..n], &mut high[..n], zeros);
            self.compress(other_low, other_high, ones);
            self.outer.hash(self.next.into(), zeros);
            self.outer.hash(self.next.into(), ones);
            for ((pair, zero), one) in out.iter_mut().zip(&*zeros).zip(&*ones) {
                *pair = [*zero, *one];
            }
            self.next += n as u64;
        }
    }

    /// `pi(a) ^ a ^ pi'(b) ^ b`. Overwrites the columns.
    fn compress(&self, low: &mut [Block], high: &mut [Block], out: &mut [Block]) {
        out.iter_mut().zip(&*low).zip(&*high).for_each(|((out, a), b)| *out = *a ^ *b);
        self.low.encrypt(low);
        self.high.encrypt(high);
        out.iter_mut().zip(&*low).zip(&*high).for_each(|((out, a), b)| *out = *out ^ *a ^ *b);
    }
}
