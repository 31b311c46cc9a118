//! Garbling under the standard assumption that AES is a pseudorandom function, and under no other.
//!
//! **Source**: Gueron, Lindell, Nof, Pinkas: Fast Garbling of Circuits Under Standard Assumptions (CCS 2015),
//! as deliverable D13.3, section 2.1, describes it: no free XOR, whose offset between all labels asks for
//! circular security; two rows for an AND gate by sums alone, one row for an XOR gate; the key schedules of
//! many keys pipelined. The equations here are comity's own, from that description.
//!
//! **How**: labels are keys of AES: 127 secret bits, and the permute bit in bit 0. `F_k(g, side, r)` is AES
//! under `k` of the gate's number, the side of the gate that `k` is the label of, and a row; no key meets a
//! point twice, not even where both inputs of a gate are one wire, since the sides differ. With `i` and `j`
//! the permute bits of the inputs' labels:
//! - AND: `K_r = F_A(g, 0, r) ^ F_B(g, 1, r)` for each row `r = 2 i + j`. What the evaluator finds is `K_r ^
//!   j T1 ^ i T2`, and the rows `T1`, `T2` are such that this is `K_0` in the rows whose value is that of row
//!   0, and `K_1 ^ K_2 ^ K_3` in the others. Bit 0 is apart: there, `T1`, `T2` and a third bit that counts in
//!   row 3 encrypt the output's permute bits, so that a sum of labels tells no bit of them.
//! - XOR: `A` and `B` are translated, `A` to `F_A(g, 0, i)` and `B` to `F_B(g, 1, j) ^ j T`, where the row
//!   `T` makes the offset of both translations one; their sum is the output. Its permute bit is `i ^ j`; bit
//!   0 of `T` is zero.
//! - NOT: the two labels trade places. Nothing is sent or computed.
//!
//! **Adversary**: an evaluator who has one label of each input wire learns the active label of each wire and
//! nothing else ([`Private`]). Given its keys, what it sees of a gate is uniform but for the one row that it
//! opens: three unknown `K_r` are three blocks that hide `T1`, `T2` and the inactive label, and their bits 0
//! the three bits (a test counts all of them).
//!
//! **Assumption**: AES-128 is a pseudorandom function, with keys of which one bit is public. How the
//! evaluator gets its labels has assumptions of its own, as the sessions have.
//!
//! **Differences from the paper**: each XOR gate translates all of its labels, four AES calls to garble and
//! two to evaluate, where the paper counts three, and one or two. Leaving one label of `B` as it is makes the
//! output's labels differ from it by what the evaluator knows: where another gate reads `B`, its labels are
//! then related keys, which the assumption says nothing on. Row 0 of an AND gate fixes its output's permute
//! bit, which saves one of four bits.
//!
//! **Cost** of an AND gate: 32 bytes and one bit, the bits of a [`Part`] in whole bytes; four key schedules
//! and eight AES calls to garble, two and two to evaluate. Of an XOR gate: 16 bytes; four and four, two and
//! two.

mod evaluator;
mod garbler;
mod prf;
mod runs;
#[cfg(test)]
mod tests;

use comity_core::{Backend, Block, Part, Tape, TapeGate};
use rand_core::CryptoRng;

use crate::scheme::{Private, Scheme};

pub use evaluator::StandardEvaluator;
pub use garbler::StandardGarbler;

/// Garbling under standard assumptions: see the [module](self).
pub struct Standard;

impl Standard {
    /// A garbler; from `rng` comes the seed of the labels that are never active.
    pub fn garbler(backend: Backend, rng: &mut dyn CryptoRng) -> StandardGarbler {
        StandardGarbler::new(backend, rng)
    }

    /// The evaluator of what a garbler garbles, from its first gate on.
    pub fn evaluator(backend: Backend) -> StandardEvaluator {
        StandardEvaluator::new(backend)
    }
}

impl Scheme for Standard {
    const AND_ROWS: usize = 2;
    const XOR_ROWS: usize = 1;
    const UNEVEN: bool = true;
    type Garbler = StandardGarbler;
    type Evaluator = StandardEvaluator;

    /// The rows of all gates but NOTs, then a bit for each AND gate.
    fn bytes(part: &Part<'_>) -> usize {
        Block::BYTES * gate_rows(part) + part.ands().div_ceil(8)
    }
}

/// With a proof from the assumption that AES is a pseudorandom function: Theorem 1 of the paper, and what the
/// [module](self) says of the rows.
impl Private for Standard {}

/// The rows of a stretch of a tape, without the bits.
fn gate_rows(part: &Part<'_>) -> usize {
    let sums: usize = part.gates().map(|(xors, _)| xors.iter().filter(|gate| unary(gate).is_none()).count()).sum();
    Standard::AND_ROWS * part.ands() + Standard::XOR_ROWS * sums
}

/// An XOR gate with a constant: the slot that is not constant (or the second one), and whether the gate is a
/// NOT of it.
fn unary(gate: &TapeGate) -> Option<(usize, bool)> {
    let one = |slot: usize| slot == Tape::ONE as usize;
    let constant = |slot: usize| slot == Tape::ZERO as usize || one(slot);
    match (gate.a(), gate.b()) {
        (a, b) if constant(a) => Some((b, one(a))),
        (a, b) if constant(b) => Some((a, one(b))),
        _ => None,
    }
}

/// The active label of a constant, which is public. That of zero is what an evaluator's memory holds where
/// nothing was written.
const fn active(bit: bool) -> Block {
    Block::ZERO.with_lsb(bit)
}

/// Asserts the contract of both sides' slots and tables.
fn check(part: &Part<'_>, slots: usize, tables: usize) {
    assert!(slots >= part.tape().slots().max(2), "too few slots");
    assert_eq!(tables, Standard::rows(part), "the blocks of the tables");
}

/// The sums of row `r` to what was hashed: `T1` in rows 1 and 3, `T2` in rows 2 and 3, and bit 0 of `last` in
/// row 3.
fn opened(hashed: Block, [i, j]: [bool; 2], [first, second]: [Block; 2], last: bool) -> Block {
    hashed ^ first.masked(j) ^ second.masked(i) ^ active(i & j & last)
}
