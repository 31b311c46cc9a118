//! Combining: a bucket of leaky triples becomes one that does not leak, unless all of them do.
//!
//! Of triples `(x_j, y_j, z_j)` the first gives `y = y_1`. For each other one both show `d_j = y_1 + y_j`, with MACs; then
//! `x = x_1 + x_2 + ...` and `z = z_1 + sum (z_j + d_j x_j)` are such that `z = x y`. Only `x` leaked, so one good `x_j` makes `x`
//! good; and `d_j` tells nothing of `y_1`, since `y_j` is used for nothing else.

use comity_channel::Channel;
use comity_core::{Block, Result};
use comity_protocol::Conduct;
use comity_share::{GlobalKey, Ledger};
use zeroize::Zeroizing;

use super::CHUNK;
use super::conduct::Act;
use super::shares::{BLOCKS, Shares, runs, split_mut};
use crate::bucket::Partition;
use crate::words::{Words, add, add_masked, add_same, masks_of_row, pack, word, words, words_mut};

/// Buckets that are combined in one go, between two exchanges: their triples stay in cache.
const STEP: usize = 1 << 10;

/// Combines all buckets into their first triples, `leaders`, which are column 0; `others` are the other columns. The MACs go to the `ledger`: nothing may be used before it is settled.
pub(super) fn combine(
    ch: &mut dyn Channel,
    partition: &Partition,
    key: &GlobalKey,
    leaders: &mut [Block],
    others: &[Block],
    ledger: &mut Ledger,
    conduct: &mut impl for<'a> Conduct<Act<'a>>,
) -> Result<()> {
    let batch = partition.batch();
    let mut step = Step {
        columns: batch.size - 1,
        delta: word(key.block()),
        macs: Zeroizing::new(vec![Block::ZERO; (batch.size - 1) * STEP]),
        own: vec![0; (batch.size - 1) * STEP / 8],
        theirs: vec![0; (batch.size - 1) * STEP / 8],
        masks: [[[0; 2]; STEP]; 2],
    };
    for (chunk, start) in leaders.chunks_mut(BLOCKS * CHUNK).zip((0..).step_by(CHUNK)) {
        let n = chunk.len() / BLOCKS;
        for at in (0..n).step_by(STEP) {
            let place = Place { start, at, n: STEP.min(n - at), buckets: batch.buckets, partition, others };
            step.run(ch, place, chunk, ledger, conduct)?;
        }
    }
    Ok(())
}

/// Some buckets: `n`, of which the first is number `at` of the chunk that begins with bucket `start`.
#[derive(Clone, Copy)]
struct Place<'a> {
    start: usize,
    at: usize,
    n: usize,
    buckets: usize,
    partition: &'a Partition,
    others: &'a [Block],
}

impl<'a> Place<'a> {
    /// The triples of these buckets in a column but the first: runs, each with the number of its first bucket.
    fn runs(self, column: usize) -> impl Iterator<Item = (usize, [Shares<'a>; 3])> {
        let first = self.start + self.at;
        self.partition.runs(column, first..first + self.n).flat_map(move |(bucket, object, len)| {
            let object = object - self.buckets;
            runs(self.others, object..object + len).map(move |(before, shares)| (bucket - first + before, shares))
        })
    }
}

/// A step of combining, with the memory that it needs.
struct Step {
    /// All but the first.
    columns: usize,
    delta: Words,
    /// The MACs of all `d`, column by column. Secret till they are shown.
    macs: Zeroizing<Vec<Block>>,
    /// The bits of all `d`: each column begins with a new byte.
    own: Vec<u8>,
    theirs: Vec<u8>,
    masks: [[Words; STEP]; 2],
}

impl Step {
    fn run(
        &mut self,
        ch: &mut dyn Channel,
        place: Place<'_>,
        chunk: &mut [Block],
        ledger: &mut Ledger,
        conduct: &mut impl for<'a> Conduct<Act<'a>>,
    ) -> Result<()> {
        let Place { at, n, .. } = place;
        let row = n.div_ceil(8);
        let macs = &mut self.macs[..self.columns * n];
        let (own, theirs) = (&mut self.own[..self.columns * row], &mut self.theirs[..self.columns * row]);
        let [x, y, z] = split_mut(chunk);
        for (j, (macs, own)) in macs.chunks_exact_mut(n).zip(own.chunks_exact_mut(row)).enumerate() {
            macs.copy_from_slice(&y.macs[at..at + n]);
            for (i, [_, y_j, _]) in place.runs(j + 1) {
                add(words_mut(&mut macs[i..i + y_j.macs.len()]), words(y_j.macs));
            }
            pack(words(macs), 0, own);
        }
        conduct.before(Act::Shown { bits: own, macs });
        ledger.show(macs);
        ch.exchange(own, theirs)?;
        let rows = own.chunks_exact_mut(row).zip(theirs.chunks_exact(row));
        for (j, (macs, (own, theirs))) in macs.chunks_exact_mut(n).zip(rows).enumerate() {
            let [told, d] = &mut self.masks;
            let (told, d) = (&mut told[..n], &mut d[..n]);
            masks_of_row(theirs, 0, told);
            own.iter_mut().zip(theirs).for_each(|(own, theirs)| *own ^= theirs);
            masks_of_row(own, 0, d);
            macs.copy_from_slice(&y.keys[at..at + n]);
            add_same(words_mut(macs), self.delta, told);
            for (i, [x_j, y_j, z_j]) in place.runs(j + 1) {
                let end = i + y_j.keys.len();
                add(words_mut(&mut macs[i..end]), words(y_j.keys));
                let d = &d[i..end];
                let range = at + i..at + end;
                for (x, z, x_j, z_j) in
                    [(&mut *x.macs, &mut *z.macs, x_j.macs, z_j.macs), (&mut *x.keys, &mut *z.keys, x_j.keys, z_j.keys)]
                {
                    let (x, z) = (words_mut(&mut x[range.clone()]), words_mut(&mut z[range.clone()]));
                    add(x, words(x_j));
                    add(z, words(z_j));
                    add_masked(z, words(x_j), d);
                }
            }
        }
        ledger.see(macs);
        Ok(())
    }
}
