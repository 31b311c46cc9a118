//! Proofs in conversation: three messages, and a challenge that the verifier draws when it has the first one.
//!
//! The challenge is no hash, so a cheat has one try: 40 and 80 bits are there, too. The verifier is convinced and nobody else
//! is: with the challenge chosen before, anybody makes such a conversation (`simulated` in the tests does).

use comity_core::{Backend, Bits, Result};
use rand_core::CryptoRng;

use crate::challenge;
use crate::draw::Draw;
use crate::proof::Valid;
use crate::statement::Statement;
use crate::system::{Soundness, System};
use crate::zkboo::{self, Committed};

/// Bytes of a first message: the salt and the hash.
pub const FIRST: usize = 64;

/// A prover that has committed and waits for the challenge. It answers one.
pub struct Prover {
    committed: Committed,
}

impl Prover {
    /// Commits. `witness` has the value of each secret input.
    ///
    /// # Errors
    /// As [`prove`](crate::prove).
    pub fn new(
        backend: Backend,
        statement: &Statement,
        witness: &[Option<Bits>],
        system: System,
        level: Soundness,
        rng: &mut dyn CryptoRng,
    ) -> Result<Prover> {
        statement.fits_a_file()?;
        let inputs = statement.with_witness(witness)?;
        let rounds = level.rounds();
        let mut draw = Draw::new(rng, system, rounds as u64, statement, &inputs);
        Ok(Prover { committed: Committed::new(backend, system, rounds, statement, &inputs, &mut draw)? })
    }

    /// The first message.
    pub fn first(&self) -> [u8; FIRST] {
        let mut first = [0; FIRST];
        first[..32].copy_from_slice(self.committed.salt());
        first[32..].copy_from_slice(self.committed.first());
        first
    }

    /// The answer to a challenge.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if it is no challenge of this level.
    pub fn answer(self, received: &[u8]) -> Result<Vec<u8>> {
        let trits = challenge::received(received, self.committed.rounds())?;
        Ok(self.committed.answer(trits))
    }
}

/// A verifier that has drawn its challenge and waits for the answer.
pub struct Verifier<'a> {
    backend: Backend,
    statement: &'a Statement,
    system: System,
    level: Soundness,
    first: [u8; FIRST],
    trits: Vec<u8>,
}

impl<'a> Verifier<'a> {
    /// Takes the first message and draws a challenge. The level, like the statement, is the verifier's own.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the statement is too large for this system.
    pub fn new(
        backend: Backend,
        statement: &'a Statement,
        system: System,
        level: Soundness,
        first: [u8; FIRST],
        rng: &mut dyn CryptoRng,
    ) -> Result<Verifier<'a>> {
        statement.fits_a_file()?;
        let trits = challenge::drawn(level.rounds(), rng);
        Ok(Verifier { backend, statement, system, level, first, trits })
    }

    /// The challenge: a byte a round.
    pub fn challenge(&self) -> &[u8] {
        &self.trits
    }

    /// The bytes of the answer.
    pub fn answer_bytes(&self) -> usize {
        zkboo::answer_bytes(self.system, self.statement, &self.trits)
    }

    /// Takes the answer: whether the prover is believed.
    ///
    /// # Errors
    /// As [`verify`](crate::verify).
    pub fn finish(self, answer: &[u8]) -> Result<Valid> {
        let [salt, first] = [0, 32].map(|at| core::array::from_fn(|i| self.first[at + i]));
        zkboo::check(self.backend, self.system, self.statement, &salt, &first, &self.trits, answer)?;
        Ok(Valid { system: self.system, soundness: self.level })
    }
}
