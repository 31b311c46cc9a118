//! Proofs in conversation: three messages, and a challenge that the verifier draws when it has the first one.
//!
//! The challenge is no hash, so a cheat has one try: 40 and 80 bits are there, too. The verifier is convinced and nobody else
//! is: with the challenge chosen before, anybody makes such a conversation (`simulated` in the tests does).

use comity_core::{Backend, Bits, Error, Result, SessionId};
use rand_core::CryptoRng;

use crate::challenge;
use crate::draw::Draw;
use crate::kkw::{self, Parameters};
use crate::proof::Valid;
use crate::statement::Statement;
use crate::system::{Soundness, System};
use crate::voleith;
use crate::zkboo;

/// Bytes of a first message: the salt and the hash.
pub const FIRST: usize = 64;

/// A prover's side of a system, when it has committed.
pub(crate) enum Committed<'a> {
    Boo(zkboo::Committed),
    Kkw(kkw::Committed<'a>),
    Vole(voleith::Committed),
}

/// Commits, in the system's way: in this session, or for a file.
pub(crate) fn commit<'a>(
    backend: Backend,
    statement: &'a Statement,
    witness: &[Option<Bits>],
    system: System,
    level: Soundness,
    session: Option<&SessionId>,
    rng: &mut dyn CryptoRng,
) -> Result<Committed<'a>> {
    statement.fits_a_file()?;
    let inputs = statement.with_witness(witness)?;
    let mut draw = Draw::new(rng, session, system, challenge::count(system, level) as u64, statement, &inputs);
    Ok(match system {
        System::ZkBoo | System::ZkbPlusPlus => {
            let rounds = level.rounds();
            Committed::Boo(zkboo::Committed::new(backend, system, rounds, statement, &inputs, &mut draw)?)
        }
        System::Kkw => {
            Committed::Kkw(kkw::Committed::new(backend, Parameters::of(level), statement, &inputs, &mut draw)?)
        }
        System::VoleInTheHead => {
            let parameters = voleith::Parameters::FILE;
            Committed::Vole(voleith::Committed::new(backend, parameters, statement, &inputs, &mut draw)?)
        }
    })
}

impl Committed<'_> {
    pub(crate) fn salt(&self) -> &[u8; 32] {
        match self {
            Committed::Boo(committed) => committed.salt(),
            Committed::Kkw(committed) => committed.salt(),
            Committed::Vole(committed) => committed.salt(),
        }
    }

    pub(crate) fn first(&self) -> &[u8; 32] {
        match self {
            Committed::Boo(committed) => committed.first(),
            Committed::Kkw(committed) => committed.first(),
            Committed::Vole(committed) => committed.first(),
        }
    }

    pub(crate) fn answer(self, challenge: &[u8]) -> Result<Vec<u8>> {
        match self {
            Committed::Boo(committed) => Ok(committed.answer(challenge)),
            Committed::Kkw(committed) => committed.answer(challenge),
            Committed::Vole(committed) => Ok(committed.answer(challenge)),
        }
    }
}

/// Checks an answer to a challenge, in the system's way. `said` are salt and hash of the first message.
pub(crate) fn check(
    backend: Backend,
    system: System,
    statement: &Statement,
    [salt, first]: [&[u8; 32]; 2],
    challenge: &[u8],
    answer: &[u8],
) -> Result<()> {
    match system {
        System::ZkBoo | System::ZkbPlusPlus => zkboo::check(backend, system, statement, salt, first, challenge, answer),
        System::Kkw => kkw::check(backend, statement, salt, first, challenge, answer),
        System::VoleInTheHead => {
            voleith::check(backend, voleith::Parameters::FILE, statement, salt, first, challenge, answer)
        }
    }
}

/// A prover that has committed and waits for the challenge. It answers one.
pub struct Prover<'a> {
    committed: Committed<'a>,
    system: System,
    level: Soundness,
}

impl<'a> Prover<'a> {
    /// Commits. `witness` has the value of each secret input. `session` is that of this conversation alone, with something in it that
    /// the verifier drew: it keeps a generator that repeats itself from giving the same commitments to two challenges, which
    /// together would show the witness.
    ///
    /// # Errors
    /// As [`prove`](crate::prove), and [`InvalidInput`](comity_core::Kind) of a system for files only.
    pub fn new(
        backend: Backend,
        session: &SessionId,
        statement: &'a Statement,
        witness: &[Option<Bits>],
        system: System,
        level: Soundness,
        rng: &mut dyn CryptoRng,
    ) -> Result<Prover<'a>> {
        system.converses()?;
        let committed = commit(backend, statement, witness, system, level, Some(session), rng)?;
        Ok(Prover { committed, system, level })
    }

    /// The first message.
    pub fn first(&self) -> [u8; FIRST] {
        let mut first = [0; FIRST];
        first[..32].copy_from_slice(self.committed.salt());
        first[32..].copy_from_slice(self.committed.first());
        first
    }

    /// The bytes of a challenge.
    pub fn challenge_bytes(&self) -> usize {
        challenge::count(self.system, self.level)
    }

    /// The answer to a challenge.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if it is no challenge of this level.
    pub fn answer(self, challenge: &[u8]) -> Result<Vec<u8>> {
        if !challenge::fits(self.system, self.level, challenge) {
            let (system, bits) = (self.system, self.level.bits());
            return Err(Error::malformed(format!("what came is no challenge of {system} with {bits} bits")));
        }
        self.committed.answer(challenge)
    }
}

/// A verifier that has drawn its challenge and waits for the answer.
pub struct Verifier<'a> {
    backend: Backend,
    statement: &'a Statement,
    system: System,
    level: Soundness,
    first: [u8; FIRST],
    challenge: Vec<u8>,
}

impl<'a> Verifier<'a> {
    /// Takes the first message and draws a challenge. The level, like the statement, is the verifier's own.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the statement is too large for this system, or the system for files only.
    pub fn new(
        backend: Backend,
        statement: &'a Statement,
        system: System,
        level: Soundness,
        first: [u8; FIRST],
        rng: &mut dyn CryptoRng,
    ) -> Result<Verifier<'a>> {
        system.converses()?;
        statement.fits_a_file()?;
        let challenge = challenge::drawn(system, level, rng);
        Ok(Verifier { backend, statement, system, level, first, challenge })
    }

    /// The challenge: a byte for each round or execution.
    pub fn challenge(&self) -> &[u8] {
        &self.challenge
    }

    /// The bytes of the answer.
    pub fn answer_bytes(&self) -> usize {
        match self.system {
            System::ZkBoo | System::ZkbPlusPlus => zkboo::answer_bytes(self.system, self.statement, &self.challenge),
            System::Kkw => kkw::answer_bytes(self.statement, &self.challenge),
            System::VoleInTheHead => voleith::answer_bytes(self.statement, voleith::Parameters::FILE),
        }
    }

    /// Takes the answer: whether the prover is believed.
    ///
    /// # Errors
    /// As [`verify`](crate::verify).
    pub fn finish(self, answer: &[u8]) -> Result<Valid> {
        let [salt, first] = [0, 32].map(|at| core::array::from_fn(|i| self.first[at + i]));
        check(self.backend, self.system, self.statement, [&salt, &first], &self.challenge, answer)?;
        Ok(Valid { system: self.system, soundness: self.level })
    }
}
