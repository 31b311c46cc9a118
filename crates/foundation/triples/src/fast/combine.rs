//! Combining: a bucket of leaky triples becomes one that does not leak, unless all of them do.
//!
//! Of triples `(x_j, y_j, z_j)` the first gives `y = y_1`. For each other one both show `d_j = y_1 + y_j`,
//! with MACs; then `x = x_1 + x_2 + ...` and `z = z_1 + sum (z_j + d_j x_j)` are such that `z = x y`. Only
//! `x` leaked, so one good `x_j` makes `x` good; and `d_j` tells nothing of `y_1`, since `y_j` is used for
//! nothing else.

use comity_channel::Channel;
use comity_core::{Block, Result};
use comity_protocol::Conduct;
use comity_share::{GlobalKey, Ledger};
use zeroize::Zeroizing;

use super::CHUNK;
use super::conduct::Act;
use super::shares::{BLOCKS, Shares, runs, split_mut};
use crate::bucket::Partition;
use crate::words::{Combine, Words, add, add_same, masks_of_row, pack, word, words, words_mut};

/// Buckets that are combined in one go: their triples stay in cache.
const STEP: usize = 1 << 10;

/// Bytes of a ledger's digest.
const DIGEST: usize = 32;

/// Combines all buckets into their first triples, `leaders`, which are column 0; `others` are the other columns.
///
/// One message each way: all bits, and the digest of their MACs, which depends on nothing that the peer shows.
///
/// # Errors
/// [`WRONG_MAC`](comity_share::checks::WRONG_MAC) if the peer showed a bit that is not its own: then nothing
/// of the batch may be used. Those of the channel.
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
    let columns = batch.size - 1;
    let places = || {
        let chunks = (0..batch.buckets).step_by(CHUNK);
        chunks.flat_map(move |start| {
            let n = CHUNK.min(batch.buckets - start);
            let place = move |at| Place { start, at, n: STEP.min(n - at), buckets: batch.buckets, partition, others };
            (0..n).step_by(STEP).map(place)
        })
    };
    let mut step = Step {
        columns,
        delta: word(key.block()),
        macs: Zeroizing::new(vec![Block::ZERO; columns * STEP.min(batch.buckets)]),
        masks: [[[0; 2]; STEP]; 2],
    };
    let bytes: usize = places().map(|place| columns * place.row()).sum();
    let mut own = vec![0; bytes + DIGEST];
    let mut theirs = own.clone();
    let mut rest = &mut own[..bytes];
    for place in places() {
        let (now, later) = std::mem::take(&mut rest).split_at_mut(columns * place.row());
        rest = later;
        step.show(place, chunk_of(leaders, place.start), now, ledger, conduct);
    }
    own[bytes..].copy_from_slice(&ledger.digest());
    ch.exchange(&own, &mut theirs)?;
    let mut at = 0;
    for place in places() {
        let range = at..at + columns * place.row();
        at = range.end;
        step.add(place, chunk_of(leaders, place.start), &mut own[range.clone()], &theirs[range], ledger);
    }
    ledger.verify(&theirs[bytes..])
}

/// The leaders that lie in a chunk with the one of this number, which is the first.
fn chunk_of(leaders: &mut [Block], start: usize) -> &mut [Block] {
    let end = leaders.len().min(BLOCKS * (start + CHUNK));
    &mut leaders[BLOCKS * start..end]
}

/// Some buckets: `n` of them, the first of which is number `at` of the chunk that begins with bucket `start`.
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
    /// Bytes of the bits of a column.
    fn row(self) -> usize {
        self.n.div_ceil(8)
    }

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
    masks: [[Words; STEP]; 2],
}

impl Step {
    /// The bits that this party shows for some buckets: all `d`, where each column begins with a new byte.
    fn show(
        &mut self,
        place: Place<'_>,
        chunk: &mut [Block],
        own: &mut [u8],
        ledger: &mut Ledger,
        conduct: &mut impl for<'a> Conduct<Act<'a>>,
    ) {
        let Place { at, n, .. } = place;
        let macs = &mut self.macs[..self.columns * n];
        let [_, y, _] = split_mut(chunk);
        let rows = macs.chunks_exact_mut(n).zip(own.chunks_exact_mut(place.row()));
        for (j, (macs, own)) in rows.enumerate() {
            macs.copy_from_slice(&y.macs[at..at + n]);
            for (i, [_, y_j, _]) in place.runs(j + 1) {
                add(words_mut(&mut macs[i..i + y_j.macs.len()]), words(y_j.macs));
            }
            pack(words(macs), 0, own);
        }
        conduct.before(Act::Shown { bits: own, macs });
        ledger.show(macs);
    }

    /// Adds the other triples to the first ones, with what both parties show. `own` then has the sums of both.
    fn add(&mut self, place: Place<'_>, chunk: &mut [Block], own: &mut [u8], theirs: &[u8], ledger: &mut Ledger) {
        let Place { at, n, .. } = place;
        let macs = &mut self.macs[..self.columns * n];
        let [x, y, z] = split_mut(chunk);
        let rows = own.chunks_exact_mut(place.row()).zip(theirs.chunks_exact(place.row()));
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
                    let to = [x, z].map(|sums| words_mut(&mut sums[range.clone()]));
                    place.partition.backend().vectorize(Combine { to, from: [x_j, z_j].map(words), d });
                }
            }
        }
        ledger.see(macs);
    }
}
