//! Proofs in conversation: four messages.
//!
//! 1. The verifier draws a seed, from which its challenge follows, and commits to it.
//! 2. The prover commits: salt and hash of its first message.
//! 3. The verifier opens the seed.
//! 4. The prover checks the opening, and answers the challenge.
//!
//! **Soundness**: the commitment hides the seed, so that a cheat has one try: 40 and 80 bits are there, too.
//!
//! **Zero knowledge, and that the prover can deny**, also against a verifier that does not follow the rules:
//! it cannot let the challenge depend on the prover's first message. Were step 1 not there, it could send the
//! hash that a proof in a file has for its challenge, and would leave with such a file. The simulator needs
//! no witness and programs no oracle: it reads the seed in the call of BLAKE3 that gave the commitment
//! (without such a call the verifier opens nothing, but with probability 2^-256), makes a first message for
//! the challenge that is known then (`simulated` in the tests does), and answers if the verifier opens. So
//! whatever such a verifier shows afterwards, it could have made alone. Nor do the hashes of a conversation
//! ever fit a file: session and commitment are in the keys of all of them ([`Bound`]).
//!
//! What this does not give: whoever draws the seed and is there while the conversation runs, hands the
//! verifier its commitment and later its opening, *is* the verifier, and is convinced. That the two talked
//! may be seen elsewhere: a handshake of TLS is signed.
//!
//! **A prover that is put back** to an earlier state (a virtual machine, say) meets a verifier that repeats
//! its own nonce in the same session. The randomness of the prover follows from the commitment as well: for
//! the same one it says the same again, and for another one it says nothing that has a seed in common with
//! what it said (Canetti, Goldreich, Goldwasser, Micali, STOC 2000, have the idea).

use comity_core::{Backend, Bits, Commitment, Opening, Result, SessionId, declassify};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::bound::Bound;
use crate::challenge;
use crate::checks;
use crate::draw::Draw;
use crate::kkw::{self, Parameters};
use crate::proof::Valid;
use crate::statement::Statement;
use crate::system::{Soundness, System};
use crate::voleith;
use crate::zkboo;

/// Bytes of the prover's first message: the salt and the hash.
pub const FIRST: usize = 64;
/// Bytes of the verifier's opening: the seed of its challenge, and the salt of its commitment.
pub const OPENING: usize = 64;

/// The label of the verifier's commitment.
const CHALLENGE: &str = "verifier: seed of the challenge";

/// A prover's side of a system, when it has committed.
pub(crate) enum Committed<'a> {
    Boo(zkboo::Committed),
    Kkw(kkw::Committed<'a>),
    Vole(voleith::Committed),
}

/// Commits, in the system's way.
pub(crate) fn commit<'a>(
    backend: Backend,
    bound: &Bound<'a>,
    witness: &[Option<Bits>],
    (system, level): (System, Soundness),
    rng: &mut dyn CryptoRng,
) -> Result<Committed<'a>> {
    let statement = bound.statement;
    statement.fits_a_file()?;
    let inputs = statement.with_witness(witness)?;
    let mut draw = Draw::new(rng, system, challenge::count(system, level) as u64, bound, &inputs);
    Ok(match system {
        System::ZkBoo | System::ZkbPlusPlus => {
            let rounds = level.rounds();
            Committed::Boo(zkboo::Committed::new(backend, system, rounds, bound, &inputs, &mut draw)?)
        }
        System::Kkw => Committed::Kkw(kkw::Committed::new(backend, Parameters::of(level), bound, &inputs, &mut draw)?),
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
    bound: &Bound<'_>,
    [salt, first]: [&[u8; 32]; 2],
    challenge: &[u8],
    answer: &[u8],
) -> Result<()> {
    match system {
        System::ZkBoo | System::ZkbPlusPlus => zkboo::check(backend, system, bound, salt, first, challenge, answer),
        System::Kkw => kkw::check(backend, bound, salt, first, challenge, answer),
        System::VoleInTheHead => {
            voleith::check(backend, voleith::Parameters::FILE, bound.statement, salt, first, challenge, answer)
        }
    }
}

/// The bytes of the answer to a challenge.
pub(crate) fn answer_bytes(system: System, statement: &Statement, challenge: &[u8]) -> usize {
    match system {
        System::ZkBoo | System::ZkbPlusPlus => zkboo::answer_bytes(system, statement, challenge),
        System::Kkw => kkw::answer_bytes(statement, challenge),
        System::VoleInTheHead => voleith::answer_bytes(statement, voleith::Parameters::FILE),
    }
}

/// The terms that both sides of a conversation agreed on before it.
#[derive(Clone, Copy)]
pub struct ProofTerms<'a> {
    /// The session, which must serve this conversation alone.
    pub session: SessionId,
    /// The statement that is proved.
    pub statement: &'a Statement,
    /// The system.
    pub system: System,
    /// The level of soundness.
    pub level: Soundness,
}

impl<'a> ProofTerms<'a> {
    /// The session of the verifier's commitment: an opening under other terms does not fit it.
    fn committing(&self) -> SessionId {
        let how = [self.system.code(), self.level.bits() as u8];
        SessionId::derive("comity zk challenge v2", &[&self.session.to_bytes(), self.statement.digest(), &how])
    }

    /// The statement as it is proved in this conversation.
    fn bound(&self, commitment: &Commitment) -> Bound<'a> {
        self.statement.in_conversation(&self.session, commitment)
    }

    /// Whether these terms are of a conversation, and have room for the statement.
    fn check(&self) -> Result<()> {
        self.system.converses()?;
        self.statement.fits_a_file()
    }
}

/// A prover that has committed and waits for the opening of the challenge. It answers one opening.
pub struct Prover<'a> {
    terms: ProofTerms<'a>,
    commitment: Commitment,
    committed: Committed<'a>,
}

impl<'a> Prover<'a> {
    /// Step 2: commits, once the verifier has committed. `witness` has the value of each secret input.
    ///
    /// # Errors
    /// As [`prove`](crate::prove), and [`InvalidInput`](comity_core::Kind) if the system is for files only.
    pub fn new(
        backend: Backend,
        terms: ProofTerms<'a>,
        witness: &[Option<Bits>],
        commitment: Commitment,
        rng: &mut dyn CryptoRng,
    ) -> Result<Prover<'a>> {
        terms.check()?;
        let committed = commit(backend, &terms.bound(&commitment), witness, (terms.system, terms.level), rng)?;
        Ok(Prover { terms, commitment, committed })
    }

    /// The first message.
    pub fn first(&self) -> [u8; FIRST] {
        let mut first = [0; FIRST];
        first[..32].copy_from_slice(self.committed.salt());
        first[32..].copy_from_slice(self.committed.first());
        first
    }

    /// Step 4: the answer to the challenge that the verifier opens.
    ///
    /// # Errors
    /// [`WRONG_CHALLENGE`](checks::WRONG_CHALLENGE) if the verifier committed to something else.
    pub fn answer(self, opening: &[u8; OPENING]) -> Result<Vec<u8>> {
        let [seed, salt] = halves(opening);
        if !self.commitment.verify(self.terms.committing(), CHALLENGE, &seed, &Opening::new(salt)) {
            return Err(checks::WRONG_CHALLENGE.into());
        }
        self.committed.answer(&challenge::of_seed(self.terms.system, self.terms.level, &seed))
    }
}

/// A verifier that has committed to its challenge and waits for the first message.
pub struct Verifier<'a> {
    backend: Backend,
    terms: ProofTerms<'a>,
    commitment: Commitment,
    seed: Zeroizing<[u8; 32]>,
    salt: Opening,
}

impl<'a> Verifier<'a> {
    /// Step 1: draws the seed of a challenge. The verifier itself chooses the level, as it does the
    /// statement.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the statement is too large for this system, or the system for files only.
    pub fn new(backend: Backend, terms: ProofTerms<'a>, rng: &mut dyn CryptoRng) -> Result<Verifier<'a>> {
        terms.check()?;
        let mut seed = Zeroizing::new([0; 32]);
        rng.fill_bytes(&mut *seed);
        let (commitment, salt) = comity_core::commit(terms.committing(), CHALLENGE, &*seed, rng);
        let commitment = declassify(commitment, "the prover is told the commitment");
        Ok(Verifier { backend, terms, commitment, seed, salt })
    }

    /// The commitment, which leaves before the prover sends anything.
    pub fn commitment(&self) -> Commitment {
        self.commitment
    }

    /// Step 3: takes the first message and opens the challenge.
    pub fn ask(self, first: [u8; FIRST]) -> Asked<'a> {
        let mut opening = [0; OPENING];
        opening[..32].copy_from_slice(&*self.seed);
        opening[32..].copy_from_slice(&self.salt.to_bytes());
        let opening = declassify(opening, "the prover is told the seed of the challenge, and the salt");
        let [seed, _] = halves(&opening);
        let challenge = challenge::of_seed(self.terms.system, self.terms.level, &seed);
        Asked {
            backend: self.backend,
            terms: self.terms,
            bound: self.terms.bound(&self.commitment),
            first,
            opening,
            challenge,
        }
    }
}

/// A verifier that has opened its challenge and waits for the answer.
pub struct Asked<'a> {
    backend: Backend,
    terms: ProofTerms<'a>,
    bound: Bound<'a>,
    first: [u8; FIRST],
    opening: [u8; OPENING],
    challenge: Vec<u8>,
}

impl Asked<'_> {
    /// The opening, for the prover.
    pub fn opening(&self) -> &[u8; OPENING] {
        &self.opening
    }

    /// The bytes of the answer.
    pub fn answer_bytes(&self) -> usize {
        answer_bytes(self.terms.system, self.terms.statement, &self.challenge)
    }

    /// Checks the answer. `Ok` means that the prover is believed.
    ///
    /// # Errors
    /// As [`verify`](crate::verify).
    pub fn finish(self, answer: &[u8]) -> Result<Valid> {
        let [salt, first] = halves(&self.first);
        check(self.backend, self.terms.system, &self.bound, [&salt, &first], &self.challenge, answer)?;
        Ok(Valid { system: self.terms.system, soundness: self.terms.level })
    }
}

/// The two halves of a message.
fn halves(message: &[u8; 64]) -> [[u8; 32]; 2] {
    [0, 32].map(|at| core::array::from_fn(|i| message[at + i]))
}
