//! ANDs by Beaver's trick, in pieces.

use std::ops::Range;

use comity_channel::Channel;
use comity_core::{Block, Result};
use comity_share::Share;

use super::{Machine, PIECE};

/// Where the operands of independent ANDs are, and where the results go.
pub(crate) trait Operands {
    /// How many ANDs.
    fn len(&self) -> usize;

    /// Calls `each` with the operands of these ANDs, in order.
    fn read(&self, range: Range<usize>, each: impl FnMut(Share, Share));

    /// Writes the results of these ANDs, in order, as `each` gives them.
    fn write(&mut self, range: Range<usize>, each: impl FnMut() -> Share);
}

/// Operands and results that lie one after another.
pub(super) struct Slices<'a> {
    pub(super) x: &'a [Share],
    pub(super) y: &'a [Share],
    pub(super) out: &'a mut [Share],
}

impl Operands for Slices<'_> {
    fn len(&self) -> usize {
        self.x.len()
    }

    fn read(&self, range: Range<usize>, mut each: impl FnMut(Share, Share)) {
        for (&x, &y) in self.x[range.clone()].iter().zip(&self.y[range]) {
            each(x, y);
        }
    }

    fn write(&mut self, range: Range<usize>, mut each: impl FnMut() -> Share) {
        self.out[range].iter_mut().for_each(|out| *out = each());
    }
}

/// Bits of `d` and `e` in a word: 32 of each, in turns.
const ANDS: usize = 32;

impl Machine<'_> {
    /// At most [`PIECE`] ANDs, for which there are triples.
    pub(super) fn piece(
        &mut self,
        ch: &mut dyn Channel,
        operands: &mut impl Operands,
        range: Range<usize>,
    ) -> Result<()> {
        let n = range.len();
        let (delta, one) = (self.key.block(), self.constant(true));
        let triples = self.triples.take(n);
        self.planned = self.planned.saturating_sub(n as u64);
        if self.keys.is_empty() {
            self.keys = vec![Block::ZERO; 2 * PIECE];
        }
        // Show d = x + a and e = y + b. The bits are those of the MACs.
        let mut own = vec![0u64; n.div_ceil(ANDS)];
        let mut at = 0;
        while at < n {
            let room = self.tally.show_room();
            let now = (room.len() / 2).min(n - at);
            let macs = &mut room[..2 * now];
            let mut places = macs
                .as_chunks_mut::<2>()
                .0
                .iter_mut()
                .zip(self.keys[2 * at..].as_chunks_mut::<2>().0)
                .zip(&triples[at..]);
            operands.read(range.start + at..range.start + at + now, |x, y| {
                if let Some(((macs, keys), triple)) = places.next() {
                    let (d, e) = (x ^ triple.a, y ^ triple.b);
                    *macs = [d.mac(), e.mac()];
                    *keys = [d.key(), e.key()];
                }
            });
            pack(macs, 2 * at, &mut own);
            self.tally.showed(2 * now);
            at += now;
        }
        let bytes = (2 * n).div_ceil(8);
        let mut theirs = vec![0u64; own.len()];
        own.iter_mut().for_each(|word| *word = word.to_le());
        ch.send(&bytemuck::cast_slice(&own)[..bytes])?;
        ch.recv(&mut bytemuck::cast_slice_mut(&mut theirs)[..bytes])?;
        own.iter_mut().chain(&mut theirs).for_each(|word| *word = u64::from_le(*word));
        self.pending = true;

        // The peer's bits are what their MACs will be held to; xy = c + d b + e a + d e.
        at = 0;
        while at < n {
            let room = self.tally.see_room();
            let now = (room.len() / 2).min(n - at);
            let mut places =
                room[..2 * now].as_chunks_mut::<2>().0.iter_mut().zip(self.keys[2 * at..].as_chunks::<2>().0);
            let mut triples = triples[at..].iter();
            let mut i = at;
            operands.write(range.start + at..range.start + at + now, || {
                let (word, shift) = (i / ANDS, 2 * (i % ANDS));
                i += 1;
                let shown = theirs[word] >> shift;
                let sum = shown ^ own[word] >> shift;
                let bit = |word: u64, i: u32| word >> i & 1 == 1;
                let (Some((expected, keys)), Some(triple)) = (places.next(), triples.next()) else {
                    return Share::default();
                };
                *expected = [keys[0] ^ delta.masked(bit(shown, 0)), keys[1] ^ delta.masked(bit(shown, 1))];
                let (d, e) = (bit(sum, 0), bit(sum, 1));
                triple.c ^ triple.b.masked(d) ^ triple.a.masked(e) ^ one.masked(d & e)
            });
            self.tally.saw(2 * now);
            at += now;
        }
        Ok(())
    }
}

/// Writes bit 0 of each block to the bits of `words` from `start` on, which are zero.
fn pack(blocks: &[Block], start: usize, words: &mut [u64]) {
    for (i, block) in (start..).zip(blocks) {
        words[i / 64] |= u64::from(block.lsb()) << (i % 64);
    }
}
