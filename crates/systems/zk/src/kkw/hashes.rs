//! What an execution commits to, and the hash of all that goes out before the challenge.

use comity_core::ShortHash;
use zeroize::Zeroizing;

use super::heard::Said;
use super::{LAST, PARTIES};
use crate::sliced::{TapeKey, keyed};
use crate::system::System;
use crate::tree::{Grown, Seed, Trees, message};

/// The tree of the executions' roots; that of an execution's parties has the execution's number.
pub(super) const EXECUTIONS: u64 = u64::MAX;

/// The hashes of one proof: each is under keys that come from its salt, its parameters and what its statement
/// is bound to.
pub(super) struct Hashes {
    pub(super) tape: TapeKey,
    pub(super) trees: Trees,
    party: ShortHash,
    last: [u8; 32],
    execution: [u8; 32],
    said: [u8; 32],
    first: [u8; 32],
}

impl Hashes {
    /// The hashes of the proof with this salt, of `executions` executions.
    pub(super) fn new(executions: usize, binding: &[u8; 32], salt: &[u8; 32]) -> Hashes {
        let (code, executions) = ([System::Kkw.code()], (executions as u64).to_le_bytes());
        let parts: [&[u8]; 4] = [&code, &executions, binding, salt];
        let key = |domain: &str| keyed(domain, &parts);
        Hashes {
            tape: TapeKey::new(&parts),
            trees: Trees::new(key("comity zk kkw tree v2")),
            party: ShortHash::new(key("comity zk kkw party v2")),
            last: key("comity zk kkw last v2"),
            execution: key("comity zk kkw execution v1"),
            said: key("comity zk kkw said v1"),
            first: key("comity zk kkw first v1"),
        }
    }

    /// The seeds of an execution's parties, from its root.
    pub(super) fn grow(&self, execution: usize, root: &Seed) -> Execution {
        Execution { number: execution, tree: self.trees.grow(execution as u64, root, PARTIES) }
    }

    /// The commitments to an execution's parties: to their seeds, and the last one's corrections.
    pub(super) fn parties(&self, execution: &Execution, corrections: &[u8]) -> [[u8; 32]; PARTIES] {
        let messages = execution.seeds().map(|(place, seed)| message([place, 0, 0], seed)).collect();
        let messages: Zeroizing<Vec<_>> = Zeroizing::new(messages);
        let mut all = [[0; 32]; PARTIES];
        self.party.hash(&messages, &mut all);
        let mut last = blake3::Hasher::new_keyed(&self.last);
        last.update(&messages[LAST]).update(corrections);
        all[LAST] = *last.finalize().as_bytes();
        all
    }

    /// The hash `h_j` of all parties' commitments.
    pub(super) fn execution(&self, execution: usize, parties: &[[u8; 32]; PARTIES]) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_keyed(&self.execution);
        hash.update(&(execution as u64).to_le_bytes()).update(parties.as_flattened());
        *hash.finalize().as_bytes()
    }

    /// Begins the hash `h'_j` of what the parties say in an execution: masked inputs, and a word of the
    /// parties' bits for each AND gate and for their shares of each output's mask. It takes these in as they
    /// are said. It is blinded.
    pub(super) fn said(&self, execution: usize, blinding: &[u8; 32], inputs: &[u8], said: &mut Said) {
        said.begin(&self.said, [&(execution as u64).to_le_bytes(), blinding, inputs]);
    }

    /// The hash of the first message: of `h_j` and `h'_j` of all executions.
    pub(super) fn first(&self, all: &[[[u8; 32]; 2]]) -> [u8; 32] {
        let mut hash = blake3::Hasher::new_keyed(&self.first);
        hash.update(all.as_flattened().as_flattened());
        *hash.finalize().as_bytes()
    }
}

/// An execution with the seeds of its parties; they are zero where they are not known.
pub(super) struct Execution {
    pub(super) number: usize,
    pub(super) tree: Grown,
}

impl Execution {
    /// The parties' seeds, each with its place, which no other party has.
    pub(super) fn seeds(&self) -> impl Iterator<Item = (u64, &Seed)> {
        let first = (PARTIES * self.number) as u64;
        (first..).zip(self.tree.leaves())
    }
}
