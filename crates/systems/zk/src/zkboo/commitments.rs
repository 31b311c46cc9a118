//! What a round commits to, and the hash of all that goes out before the challenge.

use crate::sliced::{TapeKey, keyed};
use crate::system::System;

/// The branches of a round.
pub(super) const BRANCHES: usize = 3;
/// Bytes of the seed of a branch's tape.
pub(super) const SEED: usize = 16;
/// Bytes of a commitment.
pub(super) const COMMITMENT: usize = 32;

/// The hashes of one proof: each is under keys that come from its salt, its system, the number of its rounds
/// and what its statement is bound to.
pub(super) struct Hashes {
    tape: TapeKey,
    view: [u8; 32],
    first: [u8; 32],
}

impl Hashes {
    /// The hashes of the proof with this salt.
    pub(super) fn new(system: System, rounds: usize, binding: &[u8; 32], salt: &[u8; 32]) -> Hashes {
        let (code, rounds) = ([system.code()], (rounds as u64).to_le_bytes());
        let parts: [&[u8]; 4] = [&code, &rounds, binding, salt];
        let tape = TapeKey::new(&parts);
        Hashes { tape, view: keyed("comity zk view v1", &parts), first: keyed("comity zk first v1", &parts) }
    }

    /// The key of the tapes.
    pub(super) fn tape(&self) -> &TapeKey {
        &self.tape
    }

    /// The commitment to a branch: to its seed, from which input share and tape follow, to its input share if
    /// that does not (that of the last branch), and to what its AND gates gave. It hides by the seed's 128
    /// bits.
    pub(super) fn view(
        &self,
        round: usize,
        branch: usize,
        seed: &[u8; SEED],
        share: &[u8],
        view: &[u8],
    ) -> [u8; COMMITMENT] {
        let mut hash = blake3::Hasher::new_keyed(&self.view);
        hash.update(&place(round, branch).to_le_bytes()).update(seed);
        if branch == BRANCHES - 1 {
            hash.update(share);
        }
        hash.update(view);
        *hash.finalize().as_bytes()
    }

    /// The hash of the first message, to which rounds are added in order.
    pub(super) fn first(&self) -> First {
        First(blake3::Hasher::new_keyed(&self.first))
    }
}

/// The place of a branch of a round, which no other one has.
pub(super) fn place(round: usize, branch: usize) -> u64 {
    (BRANCHES * round + branch) as u64
}

/// The hash of the first message: of all commitments and output shares.
pub(super) struct First(blake3::Hasher);

impl First {
    /// Adds the next round. Lengths are the same in all rounds, and follow from the statement.
    pub(super) fn add(&mut self, commitments: &[[u8; COMMITMENT]; BRANCHES], outputs: [&[u8]; BRANCHES]) {
        self.0.update(commitments.as_flattened());
        for share in outputs {
            self.0.update(share);
        }
    }

    /// The hash of all rounds.
    pub(super) fn digest(&self) -> [u8; 32] {
        *self.0.finalize().as_bytes()
    }
}
