//! Buckets: how many objects, each of which may leak, make one that does not.
//!
//! A cheating party that makes an object leaky is caught with probability one half, for each such object
//! anew. When the whole batch has passed, its objects are put into buckets by a coin that nobody could
//! foresee, and a bucket is combined into one object, which leaks only if all of the bucket do. So the cheat
//! must have guessed right for all its leaky objects, and then some bucket must happen to hold nothing else.
//!
//! **Partition.** A batch of `l` buckets of size `B` is made as `B` *columns* of `l` objects. Column 0 stays,
//! every other one is rotated by its own random distance, and bucket `i` is row `i` of the rotated columns.
//! This reads memory in order, where a random permutation of millions of objects would wait for it at each
//! one, and is no weaker:
//!
//! **Bound.** Let `t_j` be the number of leaky objects in column `j`, `t` their sum. One object of each
//! column lie in one bucket with probability `l^-(B-1)`, since the `B - 1` distances are uniform and
//! independent. So there are `l^-(B-1) * t_0 t_1 ... t_{B-1}` buckets of leaky objects in expectation, and no
//! greater is the probability that there is one. The guesses, which are over before the coin is thrown, pass
//! with probability `2^-t`. `t_j 2^-t_j` is at most one half (for `t_j` of one or two), and so whatever the
//! cheat does it succeeds with probability at most
//!
//! ```text
//! 2^-B l^-(B-1)
//! ```
//!
//! (reached with one leaky object in every column). That is half of the `(2l)^-(B-1)` of Nielsen et al.
//! (Crypto 2012, section 6), from which the paper's `(floor(log2 l) + 1)(B - 1) >= rho` comes
//! ([`bucket_size`]). Only expectations of single buckets enter: that rows of a rotated column stay
//! neighbours does not matter. For a random permutation the same argument gives
//! `l C(2B-1, B) 2^-(2B-1) / C(lB, B)`, which for B = 3 is 0.56 of ours, for B = 4 is 0.41.
//!
//! **Session.** Failures of batches, and of the kinds of object in a batch, add up; [`Budget`] keeps their
//! sum within `2^-rho`. It is computed in doubles, by one operation a bucket size, with a relative error
//! below 2^-45.

use core::ops::Range;

use comity_core::{Backend, Block, Error, Prg, Result};
use rand_core::Rng;

/// The most ANDs of a session.
const MOST: u64 = 1 << 48;

/// The largest bucket that is tried. For rho up to 128, that many objects make a bucket alone in its batch secure.
const LARGEST: usize = 256;

/// The paper's bucket size for one batch of `l` buckets: the smallest `B` with `(floor(log2 l) + 1)(B - 1) >= bits`.
///
/// For comparison with the paper: the sizes in use come from [`Budget`], which counts all batches of a
/// session.
///
/// # Panics
/// If `l` is zero.
pub fn bucket_size(l: usize, bits: u32) -> usize {
    bits.div_ceil(l.ilog2() + 1) as usize + 1
}

/// The shape of a batch of leaky objects.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Bucketing {
    /// The number of buckets, and so of secure objects.
    pub buckets: usize,
    /// The number of objects in a bucket.
    pub size: usize,
}

/// The part of the memory that a batch is made to take where smaller ones are as cheap: its first use of a
/// page costs more than all that is written there later.
const SEVERAL: usize = 4;

/// The objects of a memory of which that is true: less of it stays in use anyhow.
const LARGE: usize = 1 << 18;

impl Bucketing {
    /// The number of objects that are made.
    pub fn objects(self) -> usize {
        self.buckets * self.size
    }

    /// The bound of the module's page, times `2^rho`.
    pub fn failure(self, rho: u32) -> f64 {
        (1..self.size).fold(power_of_two(rho, self.size), |bound, _| bound / self.buckets as f64)
    }
}

/// `2^(rho - size)`.
fn power_of_two(rho: u32, size: usize) -> f64 {
    (0..size).fold((0..rho).fold(1.0, |power, _| power * 2.0), |power, _| power / 2.0)
}

/// A session's allowance of failure, and the batches that spend it: both parties compute the same ones.
#[derive(Clone, Debug)]
pub struct Budget {
    rho: u32,
    kinds: u32,
    /// The most objects of a batch.
    objects: usize,
    /// The number of ANDs that the failures of all batches are counted for.
    total: u64,
    /// The number of ANDs that may still be made.
    left: u64,
    /// The batch that is made again and again, if all ANDs are sure to be used.
    fixed: Option<Bucketing>,
}

impl Budget {
    /// The budget of a session that will use `ands` ANDs: the same batch again and again, with the least
    /// objects in all. `kinds` kinds of leaky object are made in each, each in buckets of its own; `objects`
    /// is the most of one kind that memory has room for. Among batches that cost the same, it takes the one
    /// that fills a quarter of that memory.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if `ands` is more than 2^48, or if no batch that fits into memory
    /// fails seldom enough.
    pub fn known(ands: u64, rho: u32, kinds: u32, objects: usize) -> Result<Budget> {
        let mut budget = Budget::open(ands.max(1), rho, kinds, objects)?;
        let mut best: Option<(u64, u64, Bucketing)> = None;
        for size in 2..=LARGEST.min(objects) {
            // No larger bucket takes fewer objects than this. To try all sizes takes longer than to deal for
            // a small program.
            if best.is_some_and(|(least, ..)| least <= ands.max(1).saturating_mul(size as u64)) {
                break;
            }
            let of = |batches: u64| {
                let least = ands.max(1).div_ceil(batches) as usize;
                let enough = |batch: Bucketing| batches as f64 * f64::from(kinds) * batch.failure(rho) <= 1.0;
                let batch = smallest(least, objects / size, size, enough)?;
                Some((batches * batch.objects() as u64, batches, batch))
            };
            let fewest = ands.max(1).div_ceil((objects / size) as u64);
            if let Some(few) = of(fewest) {
                let several = ands.max(1).div_ceil((objects / SEVERAL / size).max(1) as u64);
                let as_cheap = |found: &(u64, u64, Bucketing)| objects >= LARGE && found.0 <= few.0;
                let found = of(several).filter(as_cheap).unwrap_or(few);
                if best.is_none_or(|(least, ..)| found.0 < least) {
                    best = Some(found);
                }
            }
        }
        let Some((_, batches, batch)) = best else { return Err(budget.too_small()) };
        (budget.total, budget.fixed) = (batches * batch.buckets as u64, Some(batch));
        budget.left = budget.total;
        Ok(budget)
    }

    /// The budget of a session that uses `most` ANDs at most, a few at a time: each batch has the size that
    /// is asked for, and fails with its share of the whole.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if `most` is more than 2^48.
    pub fn open(most: u64, rho: u32, kinds: u32, objects: usize) -> Result<Budget> {
        if most > MOST || rho > 128 {
            return Err(Error::invalid_input(format!(
                "a session has at most 2^48 AND gates, and a rho of at most 128: not {most} AND gates at rho = {rho}"
            )));
        }
        Ok(Budget { rho, kinds, objects, total: most, left: most, fixed: None })
    }

    /// The batch that a session of known length makes again and again, and the negative binary logarithm of
    /// the probability that any of its batches fails. For tables.
    pub fn known_batch(&self) -> Option<(Bucketing, f64)> {
        let batch = self.fixed?;
        let batches = self.total as f64 / batch.buckets as f64;
        Some((batch, -(batches * f64::from(self.kinds) * batch.failure(0)).log2()))
    }

    /// The next batch, where `wanted` ANDs are wanted now. A large `wanted` takes several batches; after a
    /// small one there may be more ANDs than wanted.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the session was planned for fewer ANDs, or if no batch fits
    /// into memory.
    pub fn next(&mut self, wanted: usize) -> Result<Bucketing> {
        let batch = match self.fixed {
            Some(batch) => batch,
            None => self.fit(wanted).ok_or_else(|| self.too_small())?,
        };
        self.left = self.left.checked_sub(batch.buckets as u64).ok_or_else(|| {
            Error::invalid_input(format!(
                "the session was planned for {} ANDs and wants more: start a new one, planned for all",
                self.total
            ))
        })?;
        Ok(batch)
    }

    /// The batch with the fewest objects for `wanted` ANDs, or for as many as fit, whose failure probability
    /// is within its share.
    fn fit(&self, wanted: usize) -> Option<Bucketing> {
        let share = |batch: Bucketing| batch.buckets as f64 / self.total as f64;
        let enough = |batch: Bucketing| f64::from(self.kinds) * batch.failure(self.rho) <= share(batch);
        let sizes = 2..=LARGEST.min(self.objects);
        let batch = |size: usize| smallest(wanted.clamp(1, self.objects / size), self.objects / size, size, enough);
        // Where not all fit: the cheapest of what is wanted, that is the smallest bucket.
        if wanted > self.objects / 4 {
            return sizes.clone().find_map(batch);
        }
        let mut best: Option<Bucketing> = None;
        for size in sizes {
            // As in `known`.
            if best.is_some_and(|best| best.objects() <= wanted.max(1).saturating_mul(size)) {
                break;
            }
            best = batch(size).filter(|next| best.is_none_or(|best| next.objects() < best.objects())).or(best);
        }
        best
    }

    fn too_small(&self) -> Error {
        Error::invalid_input(format!(
            "no bucket of {} objects or fewer keeps the failure of {} ANDs within 2^-{}",
            self.objects, self.total, self.rho
        ))
    }
}

/// The smallest batch with between `least` and `most` buckets of this size that is good `enough`, as every
/// larger one then is.
fn smallest(least: usize, most: usize, size: usize, enough: impl Fn(Bucketing) -> bool) -> Option<Bucketing> {
    let (mut low, mut high) = (least, most);
    if least > most || !enough(Bucketing { buckets: most, size }) {
        return None;
    }
    while low < high {
        let middle = low.midpoint(high);
        if enough(Bucketing { buckets: middle, size }) { high = middle } else { low = middle + 1 }
    }
    Some(Bucketing { buckets: low, size })
}

/// The partition of a batch: which objects lie in which bucket.
pub struct Partition {
    batch: Bucketing,
    backend: Backend,
    /// The number of rows by which each column is rotated.
    shifts: Vec<usize>,
}

impl Partition {
    /// The partition that a coin names. The coin must have been thrown when the objects could no longer
    /// change.
    pub fn new(batch: Bucketing, coin: &[u8; 32], backend: Backend) -> Partition {
        // The coin as a key of the derivation, so that all 256 bits count.
        let seed = blake3::derive_key("comity TinyOT: how the columns of a batch are rotated", coin);
        let mut prg = Prg::new(backend, Block::new(std::array::from_fn(|i| seed[i])));
        let shifts = (0..batch.size).map(|column| if column == 0 { 0 } else { below(batch.buckets, &mut prg) });
        Partition { batch, backend, shifts: shifts.collect() }
    }

    /// The backend that the buckets are combined with.
    pub(crate) fn backend(&self) -> Backend {
        self.backend
    }

    /// The shape of the batch that is partitioned.
    pub fn batch(&self) -> Bucketing {
        self.batch
    }

    /// The number of rows by which `column` is rotated: its object in bucket 0.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn shift(&self, column: usize) -> usize {
        self.shifts[column]
    }

    /// The objects of `column` in some buckets, as one or two runs of neighbours: the first bucket, the first
    /// object, and the number of objects.
    ///
    /// # Panics
    /// If there is no such column, or the range goes beyond the last bucket.
    pub fn runs(&self, column: usize, buckets: Range<usize>) -> impl Iterator<Item = (usize, usize, usize)> + use<> {
        let l = self.batch.buckets;
        assert!(buckets.start <= buckets.end && buckets.end <= l, "buckets of the batch");
        // The first bucket whose object is at the top of the column again.
        let turn = (l - self.shifts[column]).clamp(buckets.start, buckets.end);
        let run = |from: usize, to: usize, object: usize| (from, object, to - from);
        let rows = column * l + self.shifts[column];
        [run(buckets.start, turn, rows + buckets.start), run(turn, buckets.end, (rows + turn).saturating_sub(l))]
            .into_iter()
            .filter(|&(.., len)| len > 0)
    }

    /// The object of `column` in `bucket`, where column `j` holds the objects `j l .. (j + 1) l`.
    ///
    /// # Panics
    /// If there is no such column.
    pub fn object(&self, bucket: usize, column: usize) -> usize {
        let row = bucket + self.shifts[column];
        let l = self.batch.buckets;
        column * l + if row < l { row } else { row - l }
    }
}

/// A uniform number below `bound`.
fn below(bound: usize, prg: &mut Prg) -> usize {
    let bound = bound as u64;
    // The largest multiple of the bound that a word holds, less one.
    let last = u64::MAX - (u64::MAX % bound + 1) % bound;
    loop {
        let word = prg.next_u64();
        if word <= last {
            return (word % bound) as usize;
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn no_set_of_leaky_objects_beats_the_bound() {
        for (l, size) in [(3, 3), (4, 2), (2, 4), (5, 2), (1, 6)] {
            let batch = Bucketing { buckets: l, size };
            let rotations = l.pow(size as u32 - 1);
            let mut best: f64 = 0.0;
            for leaky in 0u32..1 << batch.objects() {
                let hit = |rotation: usize| {
                    let shifts = (0..size).map(|j| if j == 0 { 0 } else { rotation / l.pow(j as u32 - 1) % l });
                    let partition = Partition { batch, backend: Backend::detect(), shifts: shifts.collect() };
                    (0..l).any(|i| (0..size).all(|j| leaky >> partition.object(i, j) & 1 == 1))
                };
                let hits = (0..rotations).filter(|&rotation| hit(rotation)).count();
                best = best.max(hits as f64 / rotations as f64 * 0.5f64.powi(leaky.count_ones() as i32));
            }
            assert_eq!(best, batch.failure(0), "{batch:?}");
        }
    }

    #[test]
    fn cheats_succeed_as_often_as_the_bound_says() {
        let batch = Bucketing { buckets: 24, size: 2 };
        let mut prg = Prg::new(Backend::detect(), Block::from_u128(1));
        const RUNS: usize = 40_000;
        // One leaky object a column; two, whose guesses pass less often; and three.
        for (leaky, worst) in [(1, 1.0), (2, 1.0), (3, 0.5625)] {
            let mut wins = 0;
            for _ in 0..RUNS {
                let mut coin = [0; 32];
                prg.fill(&mut coin);
                let partition = Partition::new(batch, &coin, Backend::detect());
                // Column 1 is leaky where no two distances meet the same pair twice.
                let hit = (0..leaky).any(|i| (0..leaky).any(|j| partition.object(i, 1) == batch.buckets + leaky * j));
                let passed = prg.next_u32().trailing_zeros() >= 2 * leaky as u32;
                wins += usize::from(hit && passed);
            }
            let expected = RUNS as f64 * worst * batch.failure(0);
            assert!((wins as f64 - expected).abs() < 4.5 * expected.sqrt(), "{leaky}: {wins} of {expected}");
        }
    }

    #[test]
    fn every_object_is_in_one_bucket_and_every_rotation_comes() {
        let batch = Bucketing { buckets: 7, size: 3 };
        let mut seen = [[0; 7]; 2];
        for coin in 0..=255 {
            let partition = Partition::new(batch, &[coin; 32], Backend::detect());
            let mut objects: Vec<_> = (0..21).map(|i| partition.object(i / 3, i % 3)).collect();
            objects.sort_unstable();
            assert!(objects.into_iter().eq(0..21));
            assert!((0..7).all(|i| partition.object(i, 0) == i));
            for (column, start, end) in (0..3).flat_map(|j| (0..=7).flat_map(move |s| (s..=7).map(move |e| (j, s, e))))
            {
                let runs = partition.runs(column, start..end);
                let pairs = runs.flat_map(|(bucket, object, len)| (0..len).map(move |i| (bucket + i, object + i)));
                assert!(pairs.eq((start..end).map(|i| (i, partition.object(i, column)))));
            }
            (0..2).for_each(|j| seen[j][partition.shift(j + 1)] += 1);
        }
        // 36.6 expected of each.
        assert!(seen.as_flattened().iter().all(|n| (12..64).contains(n)), "{seen:?}");
    }

    #[test]
    fn the_papers_formula() {
        assert_eq!(bucket_size(1 << 20, 40), 3);
        assert_eq!(bucket_size((1 << 20) - 1, 40), 3);
        assert_eq!(bucket_size((1 << 19) - 1, 40), 4);
        assert_eq!(bucket_size(1, 40), 41);
        for (l, bits) in (1..300).flat_map(|l| [10, 40, 52].map(|bits| (l, bits))) {
            let size = bucket_size(l, bits);
            let holds = |size: usize| (l.ilog2() + 1) * (size as u32 - 1) >= bits;
            assert!(holds(size) && !holds(size - 1));
            // It is on the safe side of the bound.
            assert!(Bucketing { buckets: l, size }.failure(bits) <= 0.5);
        }
    }

    /// Room as for the leaky ANDs of `fast`.
    const OBJECTS: usize = 3 << 19;

    #[test]
    fn a_known_session_has_the_cheapest_batches() {
        let first = |ands: u64, rho| Budget::known(ands, rho, 1, OBJECTS).unwrap().next(1).unwrap();
        assert_eq!(first(1 << 20, 40), Bucketing { buckets: 1 << 19, size: 3 });
        // Two batches, each of which fails with 2^-3 2^-38.
        let shown = Budget::known(1 << 20, 40, 1, OBJECTS).unwrap().known_batch();
        assert_eq!(shown, Some((Bucketing { buckets: 1 << 19, size: 3 }, 40.0)));
        assert_eq!(Budget::open(1 << 20, 40, 1, OBJECTS).unwrap().known_batch(), None);
        assert_eq!(first(1_000_000_000, 40).size, 4);
        assert_eq!(first(6400, 40), Bucketing { buckets: 6400, size: 4 });
        assert_eq!(first(1, 40).size, first(1, 40).objects().div_ceil(first(1, 40).buckets));
        // A batch that just misses is padded.
        assert_eq!(first(4000, 40), Bucketing { buckets: 4096, size: 4 });
        for rho in [4, 40, 64, 128] {
            for ands in [1, 2, 3, 64, 100, 6400, 1 << 17, 1 << 20, (1 << 20) + 1, 1 << 24, 1 << 30] {
                for kinds in [1, 4] {
                    let mut budget = Budget::known(ands, rho, kinds, OBJECTS).unwrap();
                    let (mut made, mut failure) = (0, 0.0);
                    while made < ands {
                        let batch = budget.next(1).unwrap();
                        assert!(batch.objects() <= OBJECTS);
                        made += batch.buckets as u64;
                        failure += f64::from(kinds) * batch.failure(rho);
                    }
                    assert!(failure <= 1.0 + 1e-12, "{ands} at {rho}: {failure}");
                    assert!(budget.next(1).is_err());
                }
            }
        }
    }

    /// The least objects in all, over all sizes of bucket, by the fewest batches of each.
    fn cheapest(ands: u64, rho: u32, objects: usize) -> Option<u64> {
        let of = |size: usize| {
            let batches = ands.div_ceil((objects / size) as u64);
            let enough = |batch: Bucketing| batches as f64 * batch.failure(rho) <= 1.0;
            let batch = smallest(ands.div_ceil(batches) as usize, objects / size, size, enough)?;
            Some(batches * batch.objects() as u64)
        };
        (2..=LARGEST.min(objects)).filter_map(of).min()
    }

    #[test]
    fn no_size_of_bucket_that_is_not_tried_would_be_cheaper() {
        for rho in [4, 40, 128] {
            for ands in [1, 3, 64, 100, 1000, 6400, 21_890, 1 << 17, 370_000, 1 << 20] {
                for objects in [1 << 13, 1 << 17, OBJECTS] {
                    let known = Budget::known(ands, rho, 1, objects).ok();
                    let made = known.and_then(|budget| {
                        let batch = budget.fixed?;
                        // In smaller batches there may be more ANDs in all, but not more objects.
                        assert!(budget.total >= ands && batch.objects() <= objects, "{ands} at {rho}");
                        Some(budget.total / batch.buckets as u64 * batch.objects() as u64)
                    });
                    let least = cheapest(ands, rho, objects);
                    assert!(made <= least && made.is_some() == least.is_some(), "{ands} at {rho}: {made:?} {least:?}");
                }
            }
        }
    }

    #[test]
    fn an_open_session_has_batches_as_they_are_wanted() {
        let mut budget = Budget::open(1 << 30, 40, 1, OBJECTS).unwrap();
        let mut failure = 0.0;
        for wanted in [1, 32, 1000, 1 << 16, 1 << 19, 1 << 24] {
            let batch = budget.next(wanted).unwrap();
            assert!(batch.buckets >= wanted.min(OBJECTS / 4) && batch.objects() <= OBJECTS, "{batch:?}");
            let (whole, part) = (batch.failure(40) * f64::from(1 << 30), batch.buckets as f64);
            assert!(whole <= part);
            failure += batch.failure(40);
        }
        assert!(failure < 1.0);
        assert!(budget.next(32).unwrap().objects() < 500);
        let mut small = Budget::open(100, 4, 1, OBJECTS).unwrap();
        assert!((0..100).any(|_| small.next(8).is_err()));
    }

    #[test]
    fn what_cannot_be_done_is_refused() {
        assert!(Budget::known(1 << 50, 40, 1, OBJECTS).is_err());
        assert!(Budget::known(1 << 20, 129, 1, OBJECTS).is_err());
        assert!(Budget::known(1 << 20, 40, 1, 8).is_err());
        assert!(Budget::open(1 << 20, 40, 1, 8).unwrap().next(1).is_err());
    }
}
