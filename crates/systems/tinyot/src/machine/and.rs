//! ANDs by Beaver's trick, in pieces.
//!
//! **Cost.** An AND reads two operands and a triple, 160 bytes, and writes 32. The machine waits for these
//! more than for anything else, so a group's loads stand together in a loop that does little else, and the
//! arithmetic follows on what is in the first-level cache; so does the wiping of a used triple.

use std::array;
use std::ops::Range;

use comity_channel::Channel;
use comity_core::{Block, Result};
use comity_share::tally::WORD;
use comity_share::{KeyMultiples, MacTally, Packer, Share};
use zeroize::{DefaultIsZeroes, Zeroize};

use super::Machine;
#[cfg(doc)]
use super::PIECE;
use comity_triples::Triple;

/// The places of the operands of independent ANDs, and of their results.
pub(crate) trait Operands {
    /// The number of ANDs.
    fn len(&self) -> usize;

    /// Shows the operands of these ANDs in order, a stretch at a time.
    fn read(&mut self, range: Range<usize>, stretch: impl FnMut(&[Share], &[Share]));

    /// Has the results of these ANDs written in order, a stretch at a time.
    fn write(&mut self, range: Range<usize>, stretch: impl FnMut(&mut [Share]));
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

    #[inline(always)]
    fn read(&mut self, range: Range<usize>, mut stretch: impl FnMut(&[Share], &[Share])) {
        stretch(&self.x[range.clone()], &self.y[range]);
    }

    #[inline(always)]
    fn write(&mut self, range: Range<usize>, mut stretch: impl FnMut(&mut [Share])) {
        stretch(&mut self.out[range]);
    }
}

/// A party's part of the 64 ANDs in a group, kept between its own message and the peer's.
#[derive(Clone, Copy, Default)]
pub(super) struct Group {
    /// The own bits of `d`, and of `e`.
    words: [u64; 2],
    /// The keys to the peer's.
    keys: [Block; 2],
}

impl DefaultIsZeroes for Group {}

/// The MACs and the keys of `d`, and those of `e`, of the 64 ANDs in a group. Secret.
pub(super) struct Room([[[Block; WORD]; 2]; 2]);

impl Room {
    pub(super) fn new() -> Box<Room> {
        Box::new(Room([[[Block::ZERO; WORD]; 2]; 2]))
    }
}

impl Drop for Room {
    fn drop(&mut self) {
        self.0.as_flattened_mut().as_flattened_mut().zeroize();
    }
}

impl Machine<'_> {
    /// Computes at most [`PIECE`] ANDs, for which there are triples.
    pub(super) fn piece(
        &mut self,
        ch: &mut dyn Channel,
        operands: &mut impl Operands,
        range: Range<usize>,
    ) -> Result<()> {
        let one = self.constant(true);
        let triples = self.triples.take_mut(range.len());
        self.planned = self.planned.saturating_sub(range.len() as u64);
        self.pending = true;
        self.groups.clear();
        let mut beaver = Beaver {
            tally: &mut self.tally,
            packer: &self.packer,
            multiples: &self.multiples,
            room: &mut self.room,
            groups: &mut self.groups,
            one,
        };
        let mut message = beaver.show(operands, range.start, triples);
        ch.send(&message)?;
        ch.recv(&mut message)?;
        beaver.see(operands, range.start, triples, &message);
        self.triples.wiped();
        Ok(())
    }
}

/// A piece under way. Its message has, for each group of 64 ANDs, a word of the bits of `d` and one of those
/// of `e`; the last group's words have as many bytes as they need.
struct Beaver<'a> {
    tally: &'a mut MacTally,
    packer: &'a Packer,
    multiples: &'a KeyMultiples,
    room: &'a mut Room,
    groups: &'a mut Vec<Group>,
    /// A share of the constant one.
    one: Share,
}

impl Beaver<'_> {
    /// Shows `d = x + a` and `e = y + b` of a piece.
    fn show(&mut self, operands: &mut impl Operands, start: usize, triples: &[Triple]) -> Vec<u8> {
        let mut message = Vec::with_capacity(2 * size_of::<u64>() * triples.len().div_ceil(WORD));
        for (start, triples) in (start..).step_by(WORD).zip(triples.chunks(WORD)) {
            let n = triples.len();
            let Room([d, e]) = &mut *self.room;
            let mut at = 0;
            // Little is done here, so that the machine has many loads under way.
            operands.read(start..start + n, |x, y| {
                let now = at..at + x.len();
                let triples = &triples[now.clone()];
                let [[d_macs, d_keys], [e_macs, e_keys]] =
                    [&mut *d, &mut *e].map(|room| room.each_mut().map(|blocks| &mut blocks[now.clone()]));
                let y = &y[..x.len()];
                for i in 0..x.len() {
                    let (d, e) = (x[i] ^ triples[i].a, y[i] ^ triples[i].b);
                    (d_macs[i], d_keys[i]) = (d.mac(), d.key());
                    (e_macs[i], e_keys[i]) = (e.mac(), e.key());
                }
                at += x.len();
            });
            let [d, e] = [&*d, &*e].map(|[macs, keys]| self.packer.pack(&macs[..n], &keys[..n]));
            for packed in [d, e] {
                self.tally.show(packed.mac);
                message.extend(&packed.word.to_le_bytes()[..n.div_ceil(8)]);
            }
            self.groups.push(Group { words: [d.word, e.word], keys: [d.key, e.key] });
        }
        message
    }

    /// Receives the peer's message, and multiplies: `xy = c + d b + e a + d e`. The peer's bits are taken as
    /// they come; their MACs are compared later.
    fn see(&mut self, operands: &mut impl Operands, start: usize, triples: &mut [Triple], message: &[u8]) {
        let mut rest = message;
        let groups = (start..).step_by(WORD).zip(triples.chunks_mut(WORD)).zip(&*self.groups);
        for ((start, triples), group) in groups {
            let mut sums = group.words;
            for (sum, key) in sums.iter_mut().zip(group.keys) {
                let bytes;
                (bytes, rest) = rest.split_at(triples.len().div_ceil(8));
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                // Bits above the last AND's are nobody's.
                let word = u64::from_le_bytes(word) & u64::MAX >> (WORD - triples.len());
                self.tally.see(key ^ self.multiples.product(word));
                *sum = (*sum ^ word) << (WORD - triples.len());
            }
            let [mut d, mut e] = [[[0; 2]; WORD]; 2];
            for (masks, sum) in [&mut d, &mut e].into_iter().zip(sums) {
                for (i, mask) in masks.iter_mut().enumerate() {
                    *mask = [((sum << i) as i64 >> (WORD - 1)) as u64; 2];
                }
            }
            let one = self.one.words();
            let mut at = 0;
            operands.write(start..start + triples.len(), |results| {
                let now = at..at + results.len();
                let (triples, d, e) = (&triples[now.clone()], &d[now.clone()], &e[now]);
                at += results.len();
                for (((result, triple), d), e) in results.iter_mut().zip(triples).zip(d).zip(e) {
                    let [a, b, c] = [triple.a, triple.b, triple.c].map(Share::words);
                    *result = Share::from_words(array::from_fn(|i| {
                        c[i] ^ b[i] & d[i % 2] ^ a[i] & e[i % 2] ^ one[i] & d[i % 2] & e[i % 2]
                    }));
                }
            });
            // While they are in cache.
            bytemuck::cast_slice_mut::<Triple, Share>(triples).zeroize();
        }
    }
}
