//! Three halves over a [`Tape`]: the safe face of the fused kernels.
//!
//! **Source**: Rosulek, Roy: Three Halves Make a Whole? Beating the Half-Gates Lower Bound for Garbled
//! Circuits (Crypto 2021).

use crate::arch::Backend;
use crate::arch::garble as kernels;
use crate::arch::garble::KeyRing;
use crate::hash::prg::Prg;
use crate::memory::block::Block;
use crate::tape::Tape;
use crate::tape::gates::Delta;
use crate::tape::part::Part;

/// Bytes of `G0` to `G2` of a gate.
const SUMS: usize = 24;

/// The garbler's state for one circuit instance after another under one delta.
///
/// A label is two halves of 64 bits, `(L, R)`; its permute bit is bit 0 of `L`. A gate hashes the
/// labels of `a`, of `b` and of their sum, each under a tweak of its own, to 64 bits and one more. With permute bits
/// `i`, `j` of the active labels `A`, `B`, and `X = A + B`, the evaluator finds
///
/// ```text
/// C_L = H(A) + H(X) + i G0 + (i + j) G2 + row 1 of R (A_L, A_R, B_L, B_R)
/// C_R = H(B) + H(X) + j G1 + (i + j) G2 + row 2 of R (A_L, A_R, B_L, B_R)
/// R   = R'_ij + r1 S1 + r2 S2,   R'_ij = (1 + i) 0010, (1 + j) 0100,   S1 = 1110, 1001,   S2 = 1001, 0111
/// r1  = z0 + i z2 + (i + j) z4 + h(A) + h(X),   r2 = z1 + j z3 + (i + j) z4 + h(B) + h(X)
/// ```
///
/// where `h` is the hash's 65th bit. `G0`, `G1`, `G2` are 64 bits each, the `z` five bits that encrypt, for
/// each pair of permute bits, the `r1` and `r2` that make its equations hold: the garbler hides which row is
/// the odd one under two random bits of its own a gate, `p` and `q`. Both come for all gates of a stretch, not packed.
///
/// Gate `g` hashes under the keys `start ^ (4g + k)`, `k` of zero to two: a tweak in four is not used, so that those
/// of a group of gates are numbers that never carry.
pub struct SlicedGarbler {
    backend: Backend,
    delta: Delta,
    keys: KeyRing<3>,
    /// Two bits a gate that hide which row is the odd one.
    hiding: Prg,
}

impl SlicedGarbler {
    /// A garbler with a fresh delta. `start` is the random start of the gate keys, never used with another delta or
    /// another scheme; the bits that hide odd rows come from `seed`, which is secret.
    pub fn new(backend: Backend, delta: Delta, start: Block, seed: Block) -> SlicedGarbler {
        SlicedGarbler { backend, delta, keys: KeyRing::new(start), hiding: Prg::new(backend, seed) }
    }

    /// The offset between the labels of every wire.
    pub fn delta(&self) -> Block {
        self.delta.block()
    }

    /// Garbles a stretch of a tape: `slots` hold the labels for zero (slot 0 is overwritten with zero, slot 1 with
    /// delta). For each AND gate, `sums` takes 24 bytes, `G0` and `G1` of all gates and then `G2` of all, and
    /// `bits` a byte whose bits 0 to 4 are `z0` to `z4`, the others zero.
    ///
    /// # Panics
    /// If `slots` is shorter than the tape wants, or `sums` or `bits` has another length.
    pub fn garble(&mut self, part: &Part<'_>, slots: &mut [Block], sums: &mut [u8], bits: &mut [u8]) {
        check(part, slots.len(), [sums.len(), bits.len()]);
        let delta = self.delta.block();
        (slots[Tape::ZERO as usize], slots[Tape::ONE as usize]) = (Block::ZERO, delta);
        self.hiding.fill(bits);
        kernels::three_halves_garble(self.backend, &mut self.keys, delta, part, slots, (sums, bits));
    }
}

/// The evaluator's state: the same counter, no delta.
pub struct SlicedEvaluator {
    backend: Backend,
    keys: KeyRing<3>,
}

impl SlicedEvaluator {
    /// An evaluator of what a [`SlicedGarbler`] with the same `start` garbles, from its first gate on.
    pub fn new(backend: Backend, start: Block) -> SlicedEvaluator {
        SlicedEvaluator { backend, keys: KeyRing::new(start) }
    }

    /// Evaluates a stretch of a tape: `slots` hold active labels (slots 0 and 1 are overwritten with zero). Bits 5 to
    /// 7 of a byte of `bits` are not looked at.
    ///
    /// # Panics
    /// If `slots` is shorter than the tape wants, or `sums` or `bits` has another length.
    pub fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], sums: &[u8], bits: &[u8]) {
        check(part, slots.len(), [sums.len(), bits.len()]);
        (slots[Tape::ZERO as usize], slots[Tape::ONE as usize]) = (Block::ZERO, Block::ZERO);
        kernels::three_halves_evaluate(self.backend, &mut self.keys, part, slots, (sums, bits));
    }
}

/// Asserts the contract of both sides' slots and tables.
fn check(part: &Part<'_>, slots: usize, [sums, bits]: [usize; 2]) {
    assert!(slots >= part.tape().slots().max(2), "too few slots");
    assert!(sums == SUMS * part.ands() && bits == part.ands(), "24 bytes of sums and one of bits for each AND gate");
}
