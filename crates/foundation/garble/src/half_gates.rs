//! Half gates.

use comity_core::{Backend, Block, Delta, Evaluator, Garbler, Part};
use rand_core::CryptoRng;

use crate::scheme::{Evaluate, FreeXor, Garble, Private, Scheme};

/// Half gates (Zahur, Rosulek, Evans, Eurocrypt 2015), hashed under a fresh AES key for each half gate (Guo,
/// Katz, Wang, Weng, Yu, Crypto 2020).
///
/// Assumption: AES-128 as an ideal cipher. Cost of an AND gate: 32 bytes; two key expansions and four AES calls to
/// garble, two and two to evaluate. XOR and NOT cost no bytes.
pub struct HalfGates;

impl HalfGates {
    /// A garbler. `start` is the random start of the gate keys, never used with another delta.
    pub fn garbler(backend: Backend, delta: Delta, start: Block) -> Garbler {
        Garbler::new(backend, delta, start)
    }

    /// The evaluator of what the garbler with the same `start` garbles, from its first gate on.
    pub fn evaluator(backend: Backend, start: Block) -> Evaluator {
        Evaluator::new(backend, start)
    }
}

impl Scheme for HalfGates {
    const AND_ROWS: usize = 2;
    const XOR_ROWS: usize = 0;
    type Garbler = Garbler;
    type Evaluator = Evaluator;
}

/// The privacy of half gates is Theorem 1 of the paper.
impl Private for HalfGates {}

impl FreeXor for HalfGates {
    fn delta(garbler: &Garbler) -> Block {
        garbler.delta()
    }
}

impl Garble for Garbler {
    /// The label for zero stands for the wire.
    type Wire = Block;

    fn input(&mut self, rng: &mut dyn CryptoRng) -> Block {
        Block::random(rng)
    }

    fn constant(&self, bit: bool) -> Block {
        self.delta().masked(bit)
    }

    fn label(&self, wire: &Block, bit: bool) -> Block {
        *wire ^ self.delta().masked(bit)
    }

    fn garble(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &mut [Block]) {
        Garbler::garble(self, part, slots, tables);
    }
}

impl Evaluate for Evaluator {
    fn constant(&self, _: bool) -> Block {
        Block::ZERO
    }

    fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
        Evaluator::evaluate(self, part, slots, tables);
    }
}
