//! ZKBoo, and ZKB++: zero knowledge from a decomposition of the program in three branches.
//!
//! **Source**: Giacomelli, Madsen, Orlandi (USENIX Security 2016), in deliverable D13.3 section 3.7 with
//! figures 3.4 and 3.5; Chase et al. (CCS 2017, ePrint 2017/279), ZKB++. Function names are the steps of
//! figure 3.5.
//!
//! **How**: in each round the prover shares its secret among three branches and runs the program on the
//! shares; each branch sees what it computes and what the next one does. It commits to all three. The
//! verifier names `e`, and sees branches `e` and `e + 1`: they say nothing on the secret, and a wrong gate
//! shows with probability 1/3 at least.
//!
//! **ZKB++** is the same run: it shows less of it. View `e` follows from view `e + 1` and both seeds, so it
//! is computed and not sent; commitments to opened branches likewise (also here in ZKBoo, where the paper
//! sends all three).
//!
//! **Differences from the papers**: the first message is sent as its hash, from which the challenge comes,
//! and which the verifier makes again from what is opened; so there is one encoding of a proof and no
//! commitment that nobody looks at. Every hash and tape is under a salt. Input shares of two branches come
//! from their seeds in both systems. ZKB++'s variant by Unruh is not there.

mod commitments;
mod decomposition;
mod prove;
#[cfg(test)]
pub(crate) mod tests;
mod verify;

use crate::sliced::{padded, words};
use crate::statement::Statement;
use crate::system::System;
use commitments::{COMMITMENT, SEED};

pub(crate) use prove::Committed;
pub(crate) use verify::check;

/// The bytes of the answer to a challenge.
pub(crate) fn answer_bytes(system: System, statement: &Statement, trits: &[u8]) -> usize {
    Shape::new(statement, trits.len()).answer_bytes(system, trits)
}

/// The sizes of a statement's rounds, in bits.
struct Shape {
    rounds: usize,
    secret: usize,
    ands: usize,
    outputs: usize,
}

impl Shape {
    fn new(statement: &Statement, rounds: usize) -> Shape {
        let ands = statement.and_gates() as usize;
        Shape { rounds, secret: statement.secret_bits(), ands, outputs: statement.outputs().len() }
    }

    /// The columns of a tape: secret input bits, then, in new tiles, AND gates.
    fn columns(&self) -> usize {
        padded(self.secret) + self.ands
    }

    fn share_bytes(&self) -> usize {
        self.secret.div_ceil(8)
    }

    fn view_bytes(&self) -> usize {
        self.ands.div_ceil(8)
    }

    fn output_bytes(&self) -> usize {
        self.outputs.div_ceil(8)
    }

    /// The bytes of an answer to a challenge, a trit for each round: input shares of the last branch are sent
    /// where that is opened.
    fn answer_bytes(&self, system: System, trits: &[u8]) -> usize {
        let views = if system == System::ZkBoo { 2 } else { 1 };
        let shares = trits.iter().filter(|trit| **trit != 0).count();
        self.rounds * (2 * SEED + COMMITMENT + views * self.view_bytes()) + shares * self.share_bytes()
    }
}
