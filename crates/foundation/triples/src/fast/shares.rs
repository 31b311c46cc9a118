//! How the leaky triples of a chunk lie in memory: as the extension makes them.
//!
//! A chunk of `n` triples is `6 n` blocks: the MACs of all `x`, of all `y` and of all `z`, then their keys.
//! So the extension writes where the triples stay, and every step reads and writes in order. Only what is
//! handed out becomes [`Triple`]s.

use core::ops::Range;

use comity_core::Block;
use comity_share::Share;

use super::CHUNK;
use crate::triples::Triple;

/// Blocks of a triple.
pub(super) const BLOCKS: usize = 6;

/// One party's shares of some bits, MACs and keys apart.
#[derive(Clone, Copy)]
pub(super) struct Shares<'a> {
    pub(super) macs: &'a [Block],
    pub(super) keys: &'a [Block],
}

/// As [`Shares`], mutable.
pub(super) struct SharesMut<'a> {
    pub(super) macs: &'a mut [Block],
    pub(super) keys: &'a mut [Block],
}

/// The shares of `x`, `y` and `z` in a chunk.
pub(super) fn split(chunk: &[Block]) -> [Shares<'_>; 3] {
    let n = chunk.len() / BLOCKS;
    let part = |i: usize| &chunk[i * n..(i + 1) * n];
    [0, 1, 2].map(|i| Shares { macs: part(i), keys: part(3 + i) })
}

/// As [`split`], mutable.
pub(super) fn split_mut(chunk: &mut [Block]) -> [SharesMut<'_>; 3] {
    let n = chunk.len() / BLOCKS;
    let (macs, keys) = chunk.split_at_mut(3 * n);
    let [mut macs, mut keys] = [macs.chunks_exact_mut(n.max(1)), keys.chunks_exact_mut(n.max(1))];
    [(); 3].map(|()| SharesMut { macs: macs.next().unwrap_or_default(), keys: keys.next().unwrap_or_default() })
}

impl<'a> Shares<'a> {
    /// The shares of a range of the bits.
    pub(super) fn slice(self, range: Range<usize>) -> Shares<'a> {
        Shares { macs: &self.macs[range.clone()], keys: &self.keys[range] }
    }
}

/// The shares `from..to` of triples that lie chunk by chunk, as runs inside one chunk: how many came before,
/// and `x`, `y` and `z`.
pub(super) fn runs(blocks: &[Block], range: Range<usize>) -> impl Iterator<Item = (usize, [Shares<'_>; 3])> {
    let (start, end) = (range.start, range.end);
    let mut at = start;
    core::iter::from_fn(move || {
        if at == end {
            return None;
        }
        let first = at / CHUNK * CHUNK;
        let chunk = &blocks[BLOCKS * first..blocks.len().min(BLOCKS * (first + CHUNK))];
        let (from, to) = (at - first, (end - first).min(CHUNK));
        let before = at - start;
        at = first + to;
        Some((before, split(chunk).map(|shares| shares.slice(from..to))))
    })
}

/// Writes the triples that begin with number `from`, as they are handed out.
pub(super) fn copy(blocks: &[Block], from: usize, out: &mut [Triple]) {
    for (at, [x, y, z]) in runs(blocks, from..from + out.len()) {
        let share = |shares: Shares<'_>, i: usize| Share::from_parts(shares.macs[i], shares.keys[i]);
        for (i, triple) in out[at..at + x.macs.len()].iter_mut().enumerate() {
            *triple = Triple { a: share(x, i), b: share(y, i), c: share(z, i) };
        }
    }
}
