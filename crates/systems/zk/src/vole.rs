//! Zero knowledge from MACs on wires: for statements of any size, in conversation, at a bit an AND gate.
//!
//! **Source**: QuickSilver (Yang, Sarkar, Weng, Wang, CCS 2021, ePrint 2021/076), section 4, for circuits
//! over GF(2), on correlated OTs.
//!
//! **How**
//! 1. Correlated OTs (COTs) give the prover random bits `r` with MACs `M`, the verifier keys `K = M + r Delta`.
//! 2. For each secret bit, and what each AND gate gives, `w`, the prover sends `w + r`: with it the
//!    verifier's key becomes one of `w`. XOR gates are sums on both sides.
//! 3. A gate `w = a b` has `K_a K_b + K_w Delta = A_0 + A_1 Delta`, with `A_0 = M_a M_b` and
//!    `A_1 = a M_b + b M_a + M_w` that the prover knows; if `w` is wrong there is a term `Delta^2` that it
//!    cannot answer for. After the bits of a batch of gates have come the verifier sends a seed, and both sum
//!    up with the coefficients that follow from it.
//! 4. In the end the prover sends both sums, masked by 128 COTs that serve nothing else, and the verifier compares.
//! 5. With them it sends a hash of the MACs of the outputs, which are those of the expected values or guessed.
//!
//! **When**: a seed leaves after all bits of its batch are there. A prover that knows the coefficients before
//! sends wrong bits for gates whose coefficients sum up to nothing, and such are to be found among a few more
//! than 128.
//!
//! **Adversary**: malicious, either party. A prover without a witness passes if Delta, of which 127 bits are
//! secret, is one of the two zeros of what is left of a wrong gate, 2^-126, if it guesses Delta for the MACs
//! of the outputs, 2^-127, or if the wrong gates' coefficients cancel, 2^-128: 2^-125 in all, and what the
//! COTs leak does not change that on average (its page has the leak). It can try keys by itself against the
//! silent generator's trees, and `q` calls of AES find Delta with probability `q 2^-122`. A verifier gets
//! bits under a one-time pad, sums under another one, and a hash that it can compute itself if the statement
//! is true. Delta serves one conversation.
//!
//! **Assumptions**: those of the COTs, of which up to [`SILENT_FROM`] come from SoftSpoken, more from the
//! silent generator, learning parity with noise included; BLAKE3 for the hash of the outputs.
//!
//! **Cost**: a bit an AND gate and secret bit, and what their COTs cost (4 bytes by SoftSpoken, else 0.15);
//! three products in GF(2^128) an AND gate. Both sides keep the wires of the program, and the prover two
//! batches of gates, 24 MiB.

mod correlations;
mod prover;
#[cfg(test)]
mod tests;
mod verifier;

use comity_core::{Block, SessionId};

use crate::statement::Statement;

pub(crate) use prover::prove;
pub(crate) use verifier::verify;

/// Bits of a batch: as many are sent at a time, and have coefficients of their own.
const BATCH: usize = 1 << 18;
/// COTs from which on the silent generator's set-up is worth it.
const SILENT_FROM: u64 = 1 << 21;
/// COTs that mask the prover's sums.
const MASKS: usize = 128;

/// The session of a proof: of this statement, in this session.
fn session_of(session: &SessionId, statement: &Statement) -> SessionId {
    SessionId::derive("comity zk vole v1", &[&session.to_bytes(), statement.digest()])
}

/// The number of bits that have MACs: the secret ones, and the outputs of AND gates.
fn bits_of(statement: &Statement) -> u64 {
    statement.secret_bits() as u64 + statement.and_gates()
}

/// The hash of the MACs of all outputs.
fn digest(session: &SessionId, macs: &[Block]) -> [u8; 32] {
    SessionId::derive("comity zk vole outputs v1", &[&session.to_bytes(), Block::bytes_of(macs)]).to_bytes()
}
