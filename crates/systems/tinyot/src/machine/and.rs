//! ANDs by Beaver's trick, in pieces.

use std::ops::Range;

use comity_channel::Channel;
use comity_core::{Block, Result, gf128};
use comity_share::Share;
use zeroize::{DefaultIsZeroes, Zeroizing};

use super::Machine;
#[cfg(doc)]
use super::PIECE;
use super::tally::{Packed, WORD};

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
        let mut pairs = Zeroizing::new([[Share::default(); 2]; WORD]);
        let mut message = Vec::with_capacity(n.div_ceil(WORD) * 2 * size_of::<u64>());
        for (start, triples) in starts.clone().zip(triples.chunks(WORD)) {
            let pairs = &mut pairs[..triples.len()];
            operands.load(start..start + triples.len(), pairs);
            for (pair, triple) in pairs.iter_mut().zip(triples) {
                *pair = [pair[0] ^ triple.a, pair[1] ^ triple.b];
            }
            let packed = [0, 1].map(|i: usize| Packed::new(pairs.iter().map(|pair| pair[i])));
            for packed in packed {
                self.tally.show(packed.mac);
                message.extend(&packed.word.to_le_bytes()[..triples.len().div_ceil(8)]);
            }
            self.groups.push(Group { words: packed.map(|p| p.word), keys: packed.map(|p| p.key) });
        }
        self.pending = true;
        ch.send(&message)?;
        ch.recv(&mut message)?;

        // The peer's words are what their MACs will be held to; xy = c + d b + e a + d e.
        let mut results = Zeroizing::new([Share::default(); WORD]);
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
            let results = &mut results[..triples.len()];
            for (result, triple) in results.iter_mut().zip(triples) {
                // The next bits of d and e are the highest.
                let [d, e] = sums.map(|word| word >> (WORD - 1) == 1);
                sums = sums.map(|word| word << 1);
                *result = triple.c ^ triple.b.masked(d) ^ triple.a.masked(e) ^ one.masked(d & e);
            }
            operands.store(start..start + triples.len(), results);
        }
        Ok(())
    }
}
