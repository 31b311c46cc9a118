//! ANDs by Beaver's trick, in pieces.

use std::ops::Range;

use comity_channel::Channel;
use comity_core::Result;
use comity_share::Share;
use zeroize::{DefaultIsZeroes, Zeroizing};

use super::Machine;
#[cfg(doc)]
use super::PIECE;
use super::tally::{Multiples, Packed, Tally, WORD};
use crate::Triple;

/// Where the operands of independent ANDs are, and where the results go.
pub(crate) trait Operands {
    /// How many ANDs.
    fn len(&self) -> usize;

    /// Copies the operands of these ANDs, in order.
    fn load(&self, range: Range<usize>, pairs: &mut [[Share; 2]]);

    /// Takes the results of these ANDs, in order.
    fn store(&mut self, range: Range<usize>, results: &[Share]);
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

    fn load(&self, range: Range<usize>, pairs: &mut [[Share; 2]]) {
        for ((pair, &x), &y) in pairs.iter_mut().zip(&self.x[range.clone()]).zip(&self.y[range]) {
            *pair = [x, y];
        }
    }

    fn store(&mut self, range: Range<usize>, results: &[Share]) {
        self.out[range].copy_from_slice(results);
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
    pub(super) fn piece(
        &mut self,
        ch: &mut dyn Channel,
        operands: &mut impl Operands,
        range: Range<usize>,
    ) -> Result<()> {
        let one = self.constant(true);
        let triples = self.triples.take(range.len());
        self.planned = self.planned.saturating_sub(range.len() as u64);
        self.pending = true;
        self.groups.clear();
        let mut beaver = Beaver { tally: &mut self.tally, multiples: &self.multiples, groups: &mut self.groups, one };
        let mut message = beaver.show(operands, range.start, triples);
        ch.send(&message)?;
        ch.recv(&mut message)?;
        beaver.see(operands, range.start, triples, &message);
        Ok(())
    }
}

/// A piece under way. Its message has, for each group of 64 ANDs, a word of the bits of `d` and one of those of `e`; the last
/// group's words have as many bytes as they need.
struct Beaver<'a> {
    tally: &'a mut Tally,
    multiples: &'a Multiples,
    groups: &'a mut Vec<Group>,
    /// A share of the constant one.
    one: Share,
}

impl Beaver<'_> {
    /// Shows `d = x + a` and `e = y + b` of a piece.
    fn show(&mut self, operands: &impl Operands, start: usize, triples: &[Triple]) -> Vec<u8> {
        let mut pairs = Zeroizing::new([[Share::default(); 2]; WORD]);
        let mut message = Vec::with_capacity(2 * size_of::<u64>() * triples.len().div_ceil(WORD));
        for (start, triples) in (start..).step_by(WORD).zip(triples.chunks(WORD)) {
            let pairs = &mut pairs[..triples.len()];
            operands.load(start..start + triples.len(), pairs);
            let both = || pairs.iter().zip(triples);
            let d = Packed::new(both().map(|(pair, triple)| pair[0] ^ triple.a));
            let e = Packed::new(both().map(|(pair, triple)| pair[1] ^ triple.b));
            for packed in [d, e] {
                self.tally.show(packed.mac);
                message.extend(&packed.word.to_le_bytes()[..triples.len().div_ceil(8)]);
            }
            self.groups.push(Group { words: [d.word, e.word], keys: [d.key, e.key] });
        }
        message
    }

    /// Sees the peer's message, and multiplies: `xy = c + d b + e a + d e`. What the peer's bits are is what their MACs will
    /// be held to.
    fn see(&mut self, operands: &mut impl Operands, start: usize, triples: &[Triple], message: &[u8]) {
        let mut rest = message;
        let mut results = Zeroizing::new([Share::default(); WORD]);
        let groups = (start..).step_by(WORD).zip(triples.chunks(WORD)).zip(&*self.groups);
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
            let results = &mut results[..triples.len()];
            for (result, triple) in results.iter_mut().zip(triples) {
                // The next bits of d and e are the highest.
                let [d, e] = sums.map(|word| word >> (WORD - 1) == 1);
                sums = sums.map(|word| word << 1);
                *result = triple.c ^ triple.b.masked(d) ^ triple.a.masked(e) ^ self.one.masked(d & e);
            }
            operands.store(start..start + triples.len(), results);
        }
    }
}
