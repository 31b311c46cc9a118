//! Garbling without privacy over a [`Tape`], one row an AND gate: the safe face of the fused kernels.
//!
//! Scheme: of two half gates, the one whose second input the evaluator knows (Zahur, Rosulek, Evans,
//! Eurocrypt 2015, section "Privacy-free garbling"), with free XOR, for an evaluator that may know all
//! values. A label for zero has bit 0 zero, so that bit 0 of an active label is what it stands for. Hash:
//! that of [`Garbler`](crate::Garbler), cut to an even number. Gates share tweaks in pairs: a segment with an
//! odd number of AND gates leaves one unused.
//!
//! Cost of an AND gate: a key expansion each side, two AES calls for the garbler, one for the evaluator, 16 bytes.

use crate::arch::Backend;
use crate::arch::garble as kernels;
use crate::arch::garble::KeyRing;
use crate::memory::block::Block;
use crate::tape::Tape;
use crate::tape::gates::Delta;
use crate::tape::part::Part;

/// The garbler's state for one circuit instance after another under one delta. **Authenticity only**: whoever
/// has an active label can read its value off it.
pub struct PrivacyFreeGarbler {
    backend: Backend,
    delta: Delta,
    keys: KeyRing,
}

impl PrivacyFreeGarbler {
    /// A garbler with a fresh delta; `start` is the random start of the gate keys, and must not be used with
    /// another delta.
    pub fn new(backend: Backend, delta: Delta, start: Block) -> PrivacyFreeGarbler {
        PrivacyFreeGarbler { backend, delta, keys: KeyRing::new(start) }
    }

    /// The offset between the labels of every wire.
    pub fn delta(&self) -> Block {
        self.delta.block()
    }

    /// Garbles a stretch of a tape: `slots` hold the labels for zero, whose bit 0 is zero (slot 0 is
    /// overwritten with zero, slot 1 with the label for zero of a wire that is one), and a block for each AND
    /// gate is written to `tables`.
    ///
    /// # Panics
    /// If `slots` is shorter than the tape needs or `tables` is not exactly a block for each AND gate.
    pub fn garble(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &mut [Block]) {
        check(part, slots.len(), tables.len());
        let delta = self.delta.block();
        constants(slots, delta);
        kernels::one_row_garble(self.backend, &mut self.keys, delta, part, slots, tables);
    }
}

/// The evaluator's state: the same counter, without delta.
pub struct PrivacyFreeEvaluator {
    backend: Backend,
    keys: KeyRing,
}

impl PrivacyFreeEvaluator {
    /// An evaluator for a [`PrivacyFreeGarbler`] with the same `start`, from its first gate on.
    pub fn new(backend: Backend, start: Block) -> PrivacyFreeEvaluator {
        PrivacyFreeEvaluator { backend, keys: KeyRing::new(start) }
    }

    /// Evaluates a stretch of a tape: `slots` hold active labels (slots 0 and 1 are overwritten with zero and one).
    ///
    /// # Panics
    /// If `slots` is shorter than the tape needs or `tables` is not exactly a block for each AND gate.
    pub fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
        check(part, slots.len(), tables.len());
        constants(slots, Block::ZERO);
        kernels::one_row_evaluate(self.backend, &mut self.keys, part, slots, tables);
    }
}

/// Asserts the contract of both sides' slots and tables.
fn check(part: &Part<'_>, slots: usize, tables: usize) {
    assert!(slots >= part.tape().slots().max(2), "too few slots");
    assert_eq!(tables, part.ands(), "one block for each AND gate");
}

/// Writes the constants: their active labels are zero and one.
fn constants(slots: &mut [Block], delta: Block) {
    slots[Tape::ZERO as usize] = Block::ZERO;
    slots[Tape::ONE as usize] = Block::ZERO.with_lsb(true) ^ delta;
}
