//! Half gates.

use comity_core::{Backend, Block, Delta, Evaluator, Garbler, Part};

use crate::{Evaluate, Garble};

/// Half gates (Zahur, Rosulek, Evans, Eurocrypt 2015), hashed under a fresh AES key for each half gate (Guo, Katz, Wang,
/// Weng, Yu, Crypto 2020).
///
/// Assumption: AES-128 as an ideal cipher. Cost of an AND gate: 32 bytes; two key expansions and four AES calls to
/// garble, two and two to evaluate.
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

impl Garble for Garbler {
    const ROWS: usize = 2;

    fn delta(&self) -> Block {
        Garbler::delta(self)
    }

    fn garble(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &mut [Block]) {
        Garbler::garble(self, part, slots, tables);
    }
}

impl Evaluate for Evaluator {
    const ROWS: usize = 2;

    fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
        Evaluator::evaluate(self, part, slots, tables);
    }
}
