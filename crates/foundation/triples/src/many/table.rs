//! How leaky ANDs of any number of parties lie in memory: as the extensions make them.
//!
//! A chunk of `n` ANDs is a section for each party, `3 n` blocks: the rows' blocks for that party's global
//! key, of all `x`, of all `y` and of all `z`.

use core::ops::Range;

use comity_core::{Block, HugeTable, PartyId};

use super::{CHUNK, RowTriples};

/// Blocks of an AND in a section.
pub(super) const BLOCKS: usize = 3;

/// Leaky ANDs, chunk by chunk. Secret; wiped on drop.
pub(super) struct Table {
    parties: u16,
    /// The number of ANDs.
    len: usize,
    blocks: HugeTable,
}

impl Table {
    pub(super) fn new(parties: u16) -> Table {
        Table { parties, len: 0, blocks: HugeTable::default() }
    }

    /// Room for `len` ANDs, with unspecified content.
    pub(super) fn resize(&mut self, len: usize) {
        self.len = len;
        let blocks = self.width() * len;
        grow(&mut self.blocks, blocks);
    }

    /// The number of ANDs.
    pub(super) fn len(&self) -> usize {
        self.len
    }

    /// Blocks of an AND.
    fn width(&self) -> usize {
        BLOCKS * usize::from(self.parties)
    }

    /// All chunks.
    pub(super) fn chunks_mut(&mut self) -> impl Iterator<Item = &mut [Block]> {
        let width = self.width();
        self.blocks[..width * self.len].chunks_mut(width * CHUNK)
    }

    /// The ANDs of a range, as runs inside one chunk: how many came before, and of each section the blocks of
    /// `x`, `y` and `z`, by the number of the section.
    pub(super) fn runs(&self, range: Range<usize>) -> impl Iterator<Item = (usize, Run<'_>)> {
        let (start, end) = (range.start, range.end);
        let mut at = start;
        core::iter::from_fn(move || {
            if at == end {
                return None;
            }
            let first = at / CHUNK * CHUNK;
            let last = self.len.min(first + CHUNK);
            let chunk = &self.blocks[self.width() * first..self.width() * last];
            let run = Run { chunk, n: last - first, range: at - first..end.min(last) - first };
            let before = at - start;
            at = end.min(last);
            Some((before, run))
        })
    }

    /// Writes the triples that begin with number `from` to their places from `at` on.
    pub(super) fn copy(&self, from: usize, n: usize, at: usize, to: &mut RowTriples) {
        for (before, run) in self.runs(from..from + n) {
            let place = at + before..at + before + run.len();
            for (i, party) in (0..self.parties).map(PartyId).enumerate() {
                for (kind, rows) in [&mut to.a, &mut to.b, &mut to.c].into_iter().enumerate() {
                    rows.column_mut(party)[place.clone()].copy_from_slice(run.part(i, kind));
                }
            }
        }
    }
}

/// Some neighbours in a chunk.
pub(super) struct Run<'a> {
    chunk: &'a [Block],
    /// The number of ANDs in the chunk.
    n: usize,
    range: Range<usize>,
}

impl<'a> Run<'a> {
    pub(super) fn len(&self) -> usize {
        self.range.len()
    }

    /// The blocks of a section: of `x`, `y` or `z`, by its number.
    pub(super) fn part(&self, section: usize, kind: usize) -> &'a [Block] {
        &self.chunk[(BLOCKS * section + kind) * self.n..][self.range.clone()]
    }
}

/// The sections of a chunk, with their parties.
pub(super) fn sections(chunk: &mut [Block], parties: u16) -> impl Iterator<Item = (PartyId, &mut [Block])> {
    let section = chunk.len() / usize::from(parties);
    (0..parties).map(PartyId).zip(chunk.chunks_exact_mut(section.max(1)))
}

/// Makes a table anew where it is too small.
pub(super) fn grow(table: &mut HugeTable, blocks: usize) {
    if table.len() < blocks {
        // Not both at the same time.
        *table = HugeTable::default();
        *table = HugeTable::zeroed(blocks);
    }
}
