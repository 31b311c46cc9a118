//! `SmallFieldVole`: the local half of a vector oblivious linear evaluation over a field of 2 to 4096 elements.

use crate::arch::Backend;
use crate::arch::vole;
use crate::memory::block::Block;

/// Seeds of all elements `x` of GF(2)^k, or of all but zero, stretched and summed (Roy, CRYPTO 2022, section 3.1): the
/// sum `u` of all streams, and for each bit `b` the sum `v_b` of the streams of those `x` that have it.
///
/// A party with all seeds gets `u` and `v`. A party with all but that of `delta`, with the seed of
/// `delta ^ y` in place `y`, gets rows `w` with `w_b = v_b ^ delta_b u`: the missing stream would be in place
/// zero, which no row counts.
///
/// Seeds are keys of AES-128 in counter mode, from zero on or from a given place. They are wiped on drop;
/// each is for this one use.
pub struct SmallFieldVole {
    backend: Backend,
    leaves: vole::Leaves,
    next: u64,
}

impl SmallFieldVole {
    /// The most bits of an element.
    pub const MAX_BITS: usize = vole::MAX_DEPTH;

    /// The correlation from the seeds of all elements in order, or of all but the first.
    ///
    /// # Panics
    /// If the number of seeds is neither 2^k nor 2^k - 1 for a k from 1 to [`MAX_BITS`](SmallFieldVole::MAX_BITS).
    pub fn new(backend: Backend, seeds: &[Block]) -> SmallFieldVole {
        SmallFieldVole::starting_at(backend, seeds, 0)
    }

    /// As [`new`](SmallFieldVole::new), but with counters from `first` on. If that is a salt, streams that an
    /// attacker computes ahead for many keys help against few of them.
    ///
    /// # Panics
    /// As [`new`](SmallFieldVole::new).
    pub fn starting_at(backend: Backend, seeds: &[Block], first: u64) -> SmallFieldVole {
        let keys = seeds.iter().map(|&seed| backend.aes_expand(seed)).collect();
        SmallFieldVole { backend, leaves: vole::Leaves::new(keys), next: first }
    }

    /// The bits of an element, `k`, which is the number of rows.
    pub fn bits(&self) -> usize {
        self.leaves.depth()
    }

    /// Fills in the next `128 n` columns: `u` in `sum`, `n` blocks, and the `k` rows one after another in
    /// `rows`. If the first seed is missing, `sum` gets the sum of the other streams, which is of no use.
    ///
    /// # Panics
    /// If `rows` does not hold `k` times as many blocks as `sum`, or the counter wraps.
    pub fn fill(&mut self, sum: &mut [Block], rows: &mut [Block]) {
        let n = sum.len() as u64;
        let (sum, rows) = (bytemuck::cast_slice_mut(sum), bytemuck::cast_slice_mut(rows));
        vole::fold(self.backend, &self.leaves, self.next, sum, rows);
        self.next += n;
    }
}
