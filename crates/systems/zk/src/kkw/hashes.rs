//! What an execution commits to, and the hash of all that goes out before the challenge.

use super::{LAST, PARTIES, SEED};
use crate::sliced::{TapeKey, keyed};
use crate::system::System;

/// The hashes of one proof: each is under keys that come from its salt, its parameters and its statement.
pub(super) struct Hashes {
    pub(super) tape: TapeKey,
    pub(super) tree: [u8; 32],
    party: [u8; 32],
    execution: [u8; 32],
    said: [u8; 32],
    first: [u8; 32],
}

impl Hashes {
    /// The hashes of the proof with this salt, of so many executions.
    pub(super) fn new(executions: usize, statement: &[u8; 32], salt: &[u8; 32]) -> Hashes {
        let (code, executions) = ([System::Kkw.code()], (executions as u64).to_le_bytes());
        let parts: [&[u8]; 4] = [&code, &executions, statement, salt];
        let key = |domain: &str| keyed(domain, &parts);
        Hashes {
            tape: TapeKey::new(&parts),
            tree: key("comity zk kkw tree v1"),
            party: key("comity zk kkw party v1"),
            execution: key("comity zk kkw execution v1"),
            said: key("comity zk kkw said v1"),
            first: key("comity zk kkw first v1"),
        }
    }

    /// The commitment to a party: to its seed, and the last one's corrections.
    pub(super) fn party(&self, execution: usize, party: usize, seed: &[u8; SEED], corrections: &[u8]) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_keyed(&self.party);
        hash.update(&place(execution, party).to_le_bytes()).update(seed);
        if party == LAST {
            hash.update(corrections);
        }
        *hash.finalize().as_bytes()
    }

    /// The hash `h_j` of all parties' commitments.
    pub(super) fn execution(&self, execution: usize, parties: &[[u8; 32]; PARTIES]) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_keyed(&self.execution);
        hash.update(&(execution as u64).to_le_bytes()).update(parties.as_flattened());
        *hash.finalize().as_bytes()
    }

    /// The hash `h'_j` of what is said in an execution: masked inputs, and a word of the parties' bits for each AND gate and for their shares
    /// of each output's mask. It is blinded.
    pub(super) fn said(&self, execution: usize, blinding: &[u8; 32], inputs: &[u8], said: &[u8]) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_keyed(&self.said);
        hash.update(&(execution as u64).to_le_bytes()).update(blinding).update(inputs).update(said);
        *hash.finalize().as_bytes()
    }

    /// The hash of the first message: of `h_j` and `h'_j` of all executions.
    pub(super) fn first(&self, all: &[[[u8; 32]; 2]]) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_keyed(&self.first);
        hash.update(all.as_flattened().as_flattened());
        *hash.finalize().as_bytes()
    }
}

/// The place of a party of an execution, which no other one has.
pub(super) fn place(execution: usize, party: usize) -> u64 {
    (PARTIES * execution + party) as u64
}
