//! Garbling with AES as a pseudorandom function over a [`Tape`], without free XOR: the safe face of the fused
//! kernels.
//!
//! **Source**: Gueron, Lindell, Nof, Pinkas: Fast Garbling of Circuits Under Standard Assumptions (CCS 2015),
//! as deliverable D13.3, section 2.1, describes it: two rows for an AND gate by sums alone, one row for an
//! XOR gate; the key schedules of many keys pipelined. The equations here are comity's own, from that
//! description.

use zeroize::Zeroizing;

use crate::arch::Backend;
use crate::arch::garble as kernels;
use crate::memory::block::Block;
use crate::tape::Tape;
use crate::tape::labels::Labels;
use crate::tape::part::Part;

/// The numbers of gates, each of which is taken once.
pub(crate) struct Numbers(u64);

impl Numbers {
    /// Takes the numbers of the next gates, from a multiple of four on.
    pub(crate) fn take(&mut self, gates: usize) -> u64 {
        let first = self.0.checked_next_multiple_of(4);
        let end = first.and_then(|first| first.checked_add(gates as u64));
        self.0 = end.expect("the numbers of gates are used up");
        self.0 - gates as u64
    }
}

/// The garbler's state for one circuit instance after another.
///
/// Labels are keys of AES: 127 secret bits, and the permute bit in bit 0. `F_k(g, side, r)` is AES under `k` of the
/// gate's number, the side of the gate that `k` is the label of, and a row. With `i` and `j` the permute bits of the
/// inputs' labels, `A_i` and `B_j` these labels, and `p`, `q` the permute bits of the labels for zero:
///
/// ```text
/// AND: K_r = F_{A_i}(g, 0, r) + F_{B_j}(g, 1, r) for each row r = 2 i + j;   D = K_0 + K_1 + K_2 + K_3, its bit 0 set
///      T1 = K_0 + K_1 + p D,   T2 = K_0 + K_2 + q D,   and one bit t: bit 0 of K_0 + K_1 + K_2 + K_3, inverted
///      labels for zero and for one: K_0 + p q D, and that + D;   evaluated: K_r + j T1 + i T2 + i j t
/// XOR: A'_i = F_{A_i}(g, 0, i),   B'_j = F_{B_j}(g, 1, j);   D = A'_0 + A'_1, its bit 0 set
///      T = B'_0 + B'_1 + D, its bit 0 cleared
///      labels whose permute bits are 0 and 1: A'_0 + B'_0, its bit 0 cleared, and that + D
///      evaluated: A'_i + B'_j + j T, its bit 0 made i + j
/// ```
///
/// Where the odd row, that of the labels for one, is not row 0, three of the rows open to `K_0` and the odd one to
/// `K_0 + D`; where it is, the others open to the latter.
///
/// Gates are numbered in the order of [`Run`](crate::Run)s; the numbers of a run's sums, and those of a segment's AND
/// gates, begin with a multiple of four, so that they never carry in a group.
pub struct PrfGarbler {
    backend: Backend,
    numbers: Numbers,
    delta: Zeroizing<Block>,
    constants: Zeroizing<[Labels; 2]>,
}

impl PrfGarbler {
    /// A garbler whose constants are wires: that of zero has the labels zero and `delta`, as has memory to
    /// which nothing was written; `one` is that of one. `delta` is secret and has bit 0 set.
    pub fn new(backend: Backend, delta: Block, one: Labels) -> PrfGarbler {
        let constants = Zeroizing::new([Labels::default(), one]);
        PrfGarbler { backend, numbers: Numbers(0), delta: Zeroizing::new(delta), constants }
    }

    /// The secret `delta` that [`PrfGarbler::new`] was given.
    pub fn delta(&self) -> Block {
        *self.delta
    }

    /// The wire of a constant.
    pub fn constant(&self, bit: bool) -> Labels {
        // The bit is public: a constant's.
        self.constants[usize::from(bit)]
    }

    /// Garbles a stretch of a tape: `slots` hold wires (slots 0 and 1 are overwritten with the constants). `rows`
    /// takes a block for each of the [`sums`](Part::sums) and two for each AND gate, in the order of the runs; `bits`
    /// a byte for each AND gate, zero or one.
    ///
    /// # Panics
    /// If `slots` is shorter than the tape wants, or `rows` or `bits` has another length.
    pub fn garble(&mut self, part: &Part<'_>, slots: &mut [Labels], rows: &mut [Block], bits: &mut [u8]) {
        check(part, slots.len(), [rows.len(), bits.len()]);
        (slots[Tape::ZERO as usize], slots[Tape::ONE as usize]) = (self.constants[0], self.constants[1]);
        kernels::prf_garble(self.backend, &mut self.numbers, *self.delta, part, slots, (rows, bits));
    }
}

/// The evaluator's state: the numbers of gates.
pub struct PrfEvaluator {
    backend: Backend,
    numbers: Numbers,
}

impl PrfEvaluator {
    /// An evaluator of what a [`PrfGarbler`] garbles, from its first gate on.
    pub fn new(backend: Backend) -> PrfEvaluator {
        PrfEvaluator { backend, numbers: Numbers(0) }
    }

    /// Evaluates a stretch of a tape: `slots` hold active labels (slots 0 and 1 are overwritten with the blocks zero
    /// and one). Only bit 0 of each byte of `bits` counts.
    ///
    /// # Panics
    /// If `slots` is shorter than the tape wants, or `rows` or `bits` has another length.
    pub fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], rows: &[Block], bits: &[u8]) {
        check(part, slots.len(), [rows.len(), bits.len()]);
        (slots[Tape::ZERO as usize], slots[Tape::ONE as usize]) = (Block::ZERO, Block::ZERO.with_lsb(true));
        kernels::prf_evaluate(self.backend, &mut self.numbers, part, slots, (rows, bits));
    }
}

/// Asserts the contract of both sides' slots and tables.
fn check(part: &Part<'_>, slots: usize, [rows, bits]: [usize; 2]) {
    assert!(slots >= part.tape().slots().max(2), "too few slots");
    assert!(rows == part.sums() + 2 * part.ands() && bits == part.ands(), "the rows and the bits of the gates");
}
