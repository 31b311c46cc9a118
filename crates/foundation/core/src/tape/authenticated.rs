//! The gates of authenticated garbling over a [`Tape`]: the safe face of the fused kernels.
//!
//! Scheme: half gates whose permute bits are shared and authenticated (Katz, Ranellucci, Rosulek, Wang,
//! ePrint 2018/578), hashed as in [`Garbler`](crate::Garbler). A label for the *masked* value zero has bit 0
//! zero, so that bit 0 of an active label is the masked value of its wire. With `Z(x)` and `M(x)`, the
//! garbler's and the evaluator's part of `x R` (their sum), `R` the offset, and the masks `l_u`, `l_v`, `l_w`
//! of a gate's inputs and its output:
//!
//! ```text
//! G_0 = H(L_u) + H(L_u + R) + Z(l_v)
//! G_1 = H(L_v) + H(L_v + R) + L_u + Z(l_u)
//! L_w = H(L_u) + H(L_v) + Z(l_u l_v + l_w)
//! A_w = H(A_u) + H(A_v) + a (G_0 + M(l_v)) + b (G_1 + M(l_u) + A_u) + M(l_u l_v + l_w), the active label
//! ```
//!
//! Bit 0 of `L_w` is not part of the label: the garbler tells it, and the evaluator adds it (to the last of
//! its terms). The constant one is a wire of masked value zero under the mask one, so both constants have the
//! label zero.
//!
//! Cost of an AND gate: as half gates, three loads and sums of a register more, and a store.

use crate::arch::Backend;
use crate::arch::garble as kernels;
use crate::arch::garble::KeyRing;
use crate::memory::block::Block;
use crate::tape::Tape;
use crate::tape::gates::Delta;
use crate::tape::part::Part;

/// The starts of the hash keys under one offset: the keys of different starts are all different. Not `Clone`;
/// it lives as long as its offset.
///
/// Each differs from the others in its upper 64 bits, and tweaks count in the lower ones.
pub struct Starts {
    first: Block,
    next: u64,
}

/// A start of hash keys, for one garbler. It is public once labels are fixed.
pub struct Start(Block);

impl Starts {
    /// Starts from `first` on, which must be random for each offset.
    pub fn new(first: Block) -> Starts {
        Starts { first, next: 0 }
    }

    /// The next start.
    ///
    /// # Panics
    /// After 2^64 starts.
    pub fn next_start(&mut self) -> Start {
        let number = self.next;
        self.next = number.checked_add(1).expect("the starts of this offset are used up");
        Start(self.first ^ Block::from_u128(u128::from(number) << 64))
    }
}

impl Start {
    /// The start itself, for the evaluator.
    pub fn block(&self) -> Block {
        self.0
    }
}

/// The garbler's state for one circuit instance after another, from one start on.
pub struct AuthGarbler {
    backend: Backend,
    delta: Delta,
    keys: KeyRing,
}

impl AuthGarbler {
    /// A garbler under this offset, whose bit 0 must be one, with a start of its own.
    pub fn new(backend: Backend, delta: Block, start: Start) -> AuthGarbler {
        AuthGarbler { backend, delta: Delta::new(delta), keys: KeyRing::new(start.0) }
    }

    /// Garbles a stretch of a tape: `slots` hold the labels for the masked value zero (slots 0 and 1 are
    /// overwritten with zero), and two blocks for each AND gate are written to `tables`. `terms` hold
    /// `Z(l_u)` of all AND gates, then `Z(l_v)` of all, then `Z(l_u l_v + l_w)` of all; the last become the
    /// `L_w`, with their bit 0.
    ///
    /// # Panics
    /// If `slots` is shorter than the tape needs, or `tables` or `terms` have another length.
    pub fn garble(&mut self, part: &Part<'_>, slots: &mut [Block], terms: &mut [Block], tables: &mut [Block]) {
        check(part, slots, terms, tables);
        kernels::auth_garble(self.backend, &mut self.keys, self.delta.block(), part, slots, terms, tables);
    }
}

/// The evaluator's state: the same counter, without the offset.
pub struct AuthEvaluator {
    backend: Backend,
    keys: KeyRing,
}

impl AuthEvaluator {
    /// An evaluator for an [`AuthGarbler`] with the same start, from its first gate on.
    pub fn new(backend: Backend, start: Block) -> AuthEvaluator {
        AuthEvaluator { backend, keys: KeyRing::new(start) }
    }

    /// Evaluates a stretch of a tape: `slots` hold active labels (slots 0 and 1 are overwritten with zero).
    /// `terms` hold `M(l_u)` of all AND gates, then `M(l_v)` of all, then `M(l_u l_v + l_w)` of all, with bit
    /// 0 of the `L_w` added to bit 0; the last become the outputs' active labels.
    ///
    /// # Panics
    /// If `slots` is shorter than the tape needs, or `tables` or `terms` have another length.
    pub fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], terms: &mut [Block], tables: &[Block]) {
        check(part, slots, terms, tables);
        kernels::auth_evaluate(self.backend, &mut self.keys, part, slots, terms, tables);
    }
}

/// The lengths that the kernels rely on; and both constants' labels.
fn check(part: &Part<'_>, slots: &mut [Block], terms: &[Block], tables: &[Block]) {
    assert!(slots.len() >= part.tape().slots().max(2), "too few slots");
    assert_eq!(tables.len(), 2 * part.ands(), "two blocks for each AND gate");
    assert_eq!(terms.len(), 3 * part.ands(), "three terms for each AND gate");
    slots[Tape::ZERO as usize] = Block::ZERO;
    slots[Tape::ONE as usize] = Block::ZERO;
}
