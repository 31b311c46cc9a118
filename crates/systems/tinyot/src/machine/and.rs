//! ANDs by Beaver's trick, in pieces.

use std::ops::Range;

use comity_channel::Channel;
use comity_core::{Block, Result, gf128};
use comity_share::Share;
use zeroize::{DefaultIsZeroes, Zeroize};

use super::Machine;
#[cfg(doc)]
use super::PIECE;
use super::tally::{Packed, WORD};
use crate::Triple;

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

/// What a party keeps of the 64 ANDs in a group between its own message and the peer's.
#[derive(Clone, Copy, Default)]
pub(super) struct Group {
    /// The own bits of `d`, and of `e`.
    words: [u64; 2],
    /// The keys to the peer's.
    keys: [u128; 2],
}

impl DefaultIsZeroes for Group {}

impl Machine<'_> {
    /// At most [`PIECE`] ANDs, for which there are triples.
    ///
    /// A message has, for each group of 64, a word of the bits of `d` and one of those of `e`; the last group's words have as
    /// many bytes as they need.
    pub(super) fn piece(
        &mut self,
        ch: &mut dyn Channel,
        operands: &mut impl Operands,
        range: Range<usize>,
    ) -> Result<()> {
        let n = range.len();
        let (backend, delta, one) = (self.backend, self.key.block(), self.constant(true));
        let triples = self.triples.take(n);
        self.planned = self.planned.saturating_sub(n as u64);
        let starts = (range.start..range.end).step_by(WORD);

        // Show d = x + a and e = y + b.
        self.groups.clear();
        let mut shown = [[Share::default(); WORD]; 2];
        let mut message = Vec::with_capacity(n.div_ceil(WORD) * 2 * size_of::<u64>());
        for (start, triples) in starts.clone().zip(triples.chunks(WORD)) {
            let mut places = shown.each_mut().map(|list| list.iter_mut());
            let mut triple = triples.iter();
            operands.read(start..start + triples.len(), |x, y| {
                let [d, e] = &mut places;
                if let (Some(triple), Some(d), Some(e)) = (triple.next(), d.next(), e.next()) {
                    (*d, *e) = (x ^ triple.a, y ^ triple.b);
                }
            });
            let packed = [0, 1].map(|i: usize| Packed::new(&shown[i][..triples.len()]));
            for packed in packed {
                self.tally.show(packed.mac);
                message.extend(&packed.word.to_le_bytes()[..triples.len().div_ceil(8)]);
            }
            self.groups.push(Group { words: packed.map(|p| p.word), keys: packed.map(|p| p.key) });
        }
        shown.zeroize();
        self.pending = true;
        ch.send(&message)?;
        ch.recv(&mut message)?;

        // The peer's words are what their MACs will be held to; xy = c + d b + e a + d e.
        let mut rest = &message[..];
        for ((start, triples), group) in starts.zip(triples.chunks(WORD)).zip(&self.groups) {
            let mut sums = group.words;
            for (sum, key) in sums.iter_mut().zip(group.keys) {
                let bytes;
                (bytes, rest) = rest.split_at(triples.len().div_ceil(8));
                let mut word = [0; 8];
                word[..bytes.len()].copy_from_slice(bytes);
                // Bits above the last AND's are nobody's.
                let word = u64::from_le_bytes(word) & u64::MAX >> (WORD - triples.len());
                let product = gf128::mul(backend, Block::from_u128(word.into()), delta);
                self.tally.see(key ^ product.to_u128());
                *sum = (*sum ^ word) << (WORD - triples.len());
            }
            let [mut d, mut e] = sums;
            let mut triples = triples.iter();
            operands.write(start..start + triples.len(), || {
                // The next bits of d and e are the highest.
                let bits = [(d as i64) < 0, (e as i64) < 0];
                (d, e) = (d << 1, e << 1);
                triples.next().map_or(Share::default(), |triple| product(triple, bits, one))
            });
        }
        Ok(())
    }
}

/// `c + d b + e a + d e`, for the public `d` and `e`.
#[inline(always)]
fn product(triple: &Triple, [d, e]: [bool; 2], one: Share) -> Share {
    triple.c ^ triple.b.masked(d) ^ triple.a.masked(e) ^ one.masked(d & e)
}
