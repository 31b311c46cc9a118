//! Half-gates garbling over a [`Tape`]: the safe face of the fused kernels.
//!
//! Scheme: half gates (Zahur, Rosulek, Evans, Eurocrypt 2015) with free XOR and point-and-permute. Hash: `H(x, t) =
//! E(start ^ t, s(x)) ^ s(x)`, AES-128 with a fresh key for every half gate and the linear orthomorphism `s(lo, hi) =
//! (hi, lo ^ hi)` (Guo, Katz, Wang, Weng, Yu, Crypto 2020: concrete security does not fall with the number of gates or
//! of sessions, in the ideal-cipher model). `start` is random for each delta and public once labels are fixed.
//!
//! Cost of an AND gate: two key expansions each side, four AES calls for the garbler, two for the evaluator, 32 bytes.
//!
//! A gate's tweak is its number since the state was made: a [`Garbler`] owns its delta and its counter together, is not
//! `Clone`, and never counts backwards, so no key serves two gates under one delta.

use zeroize::{Zeroize, ZeroizeOnDrop};

use crate::arch::Backend;
use crate::arch::garble as kernels;
use crate::arch::garble::KeyRing;
use crate::memory::block::Block;
use crate::tape::Tape;
use crate::tape::part::Part;

/// A free-XOR offset: 128 random bits whose bit 0 is one, so that the two labels of a wire differ in their permute bit.
#[derive(Zeroize, ZeroizeOnDrop)]
pub struct Delta(Block);

impl Delta {
    /// The offset made of 128 random bits.
    pub fn new(random: Block) -> Delta {
        Delta(random.with_lsb(true))
    }

    /// The offset itself, to be used as the correlation of an oblivious transfer.
    pub fn block(&self) -> Block {
        self.0
    }
}

/// The garbler's state for one circuit instance after another under one delta.
pub struct Garbler {
    backend: Backend,
    delta: Delta,
    keys: KeyRing,
}

impl Garbler {
    /// A garbler with a fresh delta; `start` is the random start of the gate keys, and must not be used with
    /// another delta.
    pub fn new(backend: Backend, delta: Delta, start: Block) -> Garbler {
        Garbler { backend, delta, keys: KeyRing::new(start) }
    }

    /// The offset between the labels of every wire.
    pub fn delta(&self) -> Block {
        self.delta.0
    }

    /// Garbles a stretch of a tape: `slots` hold the labels for zero (slot 0 is overwritten with zero, slot 1 with
    /// delta), and two blocks for each AND gate are written to `tables`.
    ///
    /// # Panics
    /// If `slots` is shorter than the tape needs or `tables` is not exactly two blocks for each AND gate.
    pub fn garble(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &mut [Block]) {
        self.garble_copies::<1>(part, slots, tables);
    }

    /// As [`Garbler::garble`], [`Tape::COPIES`] circuits at once: the copies of a slot follow each other, and
    /// so do those of the blocks of an AND gate. A chain of gates, which leaves AES units idle in one circuit,
    /// keeps them full in many.
    ///
    /// # Panics
    /// As [`Garbler::garble`], with as many slots and blocks for each copy; if a tape has more than 2^24 slots.
    pub fn garble_side_by_side(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &mut [Block]) {
        self.garble_copies::<{ Tape::COPIES }>(part, slots, tables);
    }

    fn garble_copies<const N: usize>(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &mut [Block]) {
        check_lengths(part, N, slots, tables);
        slots[..N].fill(Block::ZERO);
        slots[N..2 * N].fill(self.delta.0);
        kernels::garble::<N>(self.backend, &mut self.keys, self.delta.0, part, slots, tables);
    }
}

fn check_lengths(part: &Part<'_>, copies: usize, slots: &[Block], tables: &[Block]) {
    let wanted = part.tape().slots().max(2);
    assert!(wanted <= Tape::MAX_SLOTS as usize / copies, "too many slots for {copies} copies");
    assert!(slots.len() >= copies * wanted, "too few slots");
    assert_eq!(tables.len(), 2 * copies * part.ands(), "two blocks for each AND gate");
}

/// The evaluator's state: the same counter, without delta.
pub struct Evaluator {
    backend: Backend,
    keys: KeyRing,
}

impl Evaluator {
    /// An evaluator for a [`Garbler`] with the same `start`, from its first gate on.
    pub fn new(backend: Backend, start: Block) -> Evaluator {
        Evaluator { backend, keys: KeyRing::new(start) }
    }

    /// Evaluates a stretch of a tape: `slots` hold active labels (slots 0 and 1 are overwritten with zero).
    ///
    /// # Panics
    /// If `slots` is shorter than the tape needs or `tables` is not exactly two blocks for each AND gate.
    pub fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
        self.evaluate_copies::<1>(part, slots, tables);
    }

    /// As [`Evaluator::evaluate`], [`Tape::COPIES`] circuits at once, as [`Garbler::garble_side_by_side`] garbles them.
    ///
    /// # Panics
    /// As [`Garbler::garble_side_by_side`].
    pub fn evaluate_side_by_side(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
        self.evaluate_copies::<{ Tape::COPIES }>(part, slots, tables);
    }

    fn evaluate_copies<const N: usize>(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &[Block]) {
        check_lengths(part, N, slots, tables);
        slots[..2 * N].fill(Block::ZERO);
        kernels::evaluate::<N>(self.backend, &mut self.keys, part, slots, tables);
    }
}
