//! KKW18: zero knowledge from a protocol of many parties with preprocessing, in the prover's head.
//!
//! **Source**: Katz, Kolesnikov, Wang (CCS 2018, ePrint 2018/475), section 2: its three-move form, in which
//! one challenge names the executions to be opened and the party that stays hidden in each.
//!
//! **How**: in each of `M` executions 64 parties hold random shares of a mask for each wire, from a tape
//! each, and of the product of the masks of an AND gate's inputs; that these add up, the last party has a
//! correction bit a gate. Then they run the program on masked values, and each says a bit an AND gate. The
//! prover commits to all of it. The challenge names `tau` executions, and a party in each of them. Of all
//! *other* executions the root of the tapes is shown, which says that the corrections were right; of those
//! the tapes of all parties but one, and what that one said.
//!
//! **Soundness**: [`Parameters::bits`] is the formula of section 2.1 for three moves. With the preprocessing
//! and the execution in a challenge each, five moves, the same numbers would be worth far less when hashed;
//! so there is one challenge, after everything.
//!
//! **Differences from the paper**: the hash of what is said in an execution is blinded by 32 bytes that do
//! not come from its root: where the root is shown that hash is else a function of the witness alone, and a
//! PIN is found by search. The output share of the hidden party is computed by the verifier. Trees are of
//! fresh seeds: a common offset would give sums of hidden leaves away. What is hashed and sent is as in
//! [`zkboo`](crate::zkboo): a first message is its hash.
//!
//! **Shape**: eight executions are run side by side, in strips of gates: the tapes of a strip are made and
//! transposed, its gates computed, and what is said in it hashed, before the next one takes their place in
//! the cache.
//!
//! **Cost**: `2 tau` bits an AND gate, and 32 bytes an execution; `64 M` tapes of two bits an AND gate.

mod columns;
mod corrections;
mod hashes;
mod heard;
mod online;
mod parameters;
mod prove;
mod replay;
mod strips;
#[cfg(test)]
pub(crate) mod tests;
mod verify;

use crate::sliced::{TILE, padded};
use crate::statement::Statement;
use crate::tree::{SEED, count};

pub(crate) use parameters::{HIDDEN_NONE, Parameters};
pub(crate) use prove::Committed;
pub(crate) use verify::check;

/// The parties of an execution, a bit of a word each.
const PARTIES: usize = 64;
/// The party that holds the corrections.
const LAST: usize = PARTIES - 1;
/// The executions that run side by side.
const GROUP: usize = 8;

/// The sizes of a statement's executions, in bits.
#[derive(Clone, Copy)]
struct Shape {
    secret: usize,
    ands: usize,
}

impl Shape {
    fn new(statement: &Statement) -> Shape {
        Shape { secret: statement.secret_bits(), ands: statement.and_gates() as usize }
    }

    /// The first column of a tape for AND gates; before it are the masks of secret input bits.
    fn gates(self) -> usize {
        padded(self.secret)
    }

    /// The columns of a tape for `gates` gates: a tile for the masks of their outputs, one for shares of
    /// products, and so on.
    fn of_gates(gates: usize) -> usize {
        2 * padded(gates)
    }

    /// The columns of a tape for a gate's mask and product, from the first one of gates on.
    #[inline(always)]
    fn of_gate(gate: usize) -> [usize; 2] {
        let mask = 2 * (gate / TILE * TILE) + gate % TILE;
        [mask, mask + TILE]
    }

    /// The columns of a tape.
    fn columns(self) -> usize {
        self.gates() + Shape::of_gates(self.ands)
    }

    fn input_bytes(self) -> usize {
        self.secret.div_ceil(8)
    }

    fn gate_bytes(self) -> usize {
        self.ands.div_ceil(8)
    }
}

/// The bytes of the answer to a challenge, which has a hidden party for each execution that it opens.
pub(crate) fn answer_bytes(statement: &Statement, challenge: &[u8]) -> usize {
    let shape = Shape::new(statement);
    let holes: Vec<bool> = challenge.iter().map(|hidden| *hidden != HIDDEN_NONE).collect();
    let executions = challenge.iter().filter(|hidden| **hidden != HIDDEN_NONE);
    let opened = |hidden: &u8| {
        let corrections = if usize::from(*hidden) == LAST { 0 } else { shape.gate_bytes() };
        verify::FIXED + shape.input_bytes() + shape.gate_bytes() + corrections
    };
    let closed = holes.iter().filter(|hole| !**hole).count();
    SEED * count(&holes) + 32 * closed + executions.map(opened).sum::<usize>()
}
