//! What both sides do alike with a batch of gates: sums of three vectors under coefficients from a seed.

use comity_core::{Backend, Block, Prg, gf128};
use zeroize::Zeroizing;

use crate::sliced::Word;

/// A MAC or key as the engine has it.
pub(crate) type Mac = Word<2>;

/// Gates that are summed up at once, while they are in cache.
const STEP: usize = 1024;

/// The block of a word.
pub(crate) fn block(word: Mac) -> Block {
    bytemuck::cast(word)
}

/// The word of a block.
pub(crate) fn word(block: Block) -> Mac {
    bytemuck::cast(block)
}

/// The word with bit 0, as the one, alone.
pub(crate) const ONE: Mac = [1u64.to_le(), 0];

/// A word's bit 0, in all its bits.
#[inline(always)]
pub(crate) fn lsb(word: Mac) -> Mac {
    [(u64::from_le(word[0]) & 1).wrapping_neg(); 2]
}

/// The gates of a batch, each with two factors and another term.
pub(crate) struct Gates {
    factors: [Zeroizing<Vec<Block>>; 2],
    terms: Zeroizing<Vec<Block>>,
}

impl Gates {
    /// No gates, and room for `gates`.
    pub(crate) fn with_room(gates: usize) -> Gates {
        let room = || Zeroizing::new(Vec::with_capacity(gates));
        Gates { factors: [room(), room()], terms: room() }
    }

    /// Adds a gate.
    #[inline(always)]
    pub(crate) fn push(&mut self, factors: [Mac; 2], term: Mac) {
        self.factors.iter_mut().zip(factors).for_each(|(all, factor)| all.push(block(factor)));
        self.terms.push(block(term));
    }

    /// The sums of all products, and of all terms, with the coefficients of this seed. No gate is left.
    pub(crate) fn sums(&mut self, backend: Backend, seed: Block) -> [Block; 2] {
        let (mut coefficients, mut sums) = (Prg::new(backend, seed), [Block::ZERO; 2]);
        let mut room = [Block::ZERO; STEP];
        let [one, other] = &mut self.factors;
        for ((one, other), terms) in one.chunks_mut(STEP).zip(other.chunks(STEP)).zip(self.terms.chunks(STEP)) {
            let coefficients = {
                let room = &mut room[..terms.len()];
                coefficients.fill_blocks(room);
                &*room
            };
            gf128::multiply(backend, one, other);
            sums[0] ^= gf128::inner_product(backend, coefficients, one);
            sums[1] ^= gf128::inner_product(backend, coefficients, terms);
        }
        self.factors.iter_mut().for_each(|factor| factor.clear());
        self.terms.clear();
        sums
    }
}

/// The sum of the blocks times the powers of x: 128 MACs, or keys, of bits become one of the element that has
/// these bits.
pub(crate) fn packed(backend: Backend, blocks: &[Block]) -> Block {
    let powers: Vec<Block> = (0..blocks.len()).map(|i| Block::from_u128(1 << i)).collect();
    gf128::inner_product(backend, blocks, &powers)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::rng;

    #[test]
    fn sums_are_under_one_stream_of_coefficients() {
        // More gates than are summed up at once, and then others: none is left of the first ones.
        let (backend, seed, mut gates) = (Backend::detect(), Block::from_u128(5), Gates::with_room(10));
        for count in [3 * STEP + 7, 1, 0] {
            let mut blocks = vec![Block::ZERO; 3 * count];
            rng(1).fill_blocks(&mut blocks);
            let (mut prg, mut expected) = (Prg::new(backend, seed), [Block::ZERO; 2]);
            for gate in blocks.chunks_exact(3) {
                gates.push([word(gate[0]), word(gate[1])], word(gate[2]));
                let coefficient = prg.block();
                expected[0] ^= gf128::mul(backend, coefficient, gf128::mul(backend, gate[0], gate[1]));
                expected[1] ^= gf128::mul(backend, coefficient, gate[2]);
            }
            assert!(gates.sums(backend, seed) == expected, "{count} gates");
        }
    }
}
