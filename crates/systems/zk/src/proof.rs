//! `Proof`: a proof as bytes, made and checked without anybody else.

use std::io::Read;

use comity_core::{Backend, Bits, Error, Result};
use rand_core::CryptoRng;

use crate::challenge;
use crate::checks;
use crate::conversation::{answer_bytes, check, commit};
use crate::statement::Statement;
use crate::system::{Soundness, System};

/// The first bytes of a proof.
const MAGIC: &[u8; 8] = b"comityzk";
/// The version of the encoding, and of all that is hashed.
const VERSION: u8 = 2;
/// The level of every proof in a file.
const LEVEL: Soundness = Soundness::Bits128;

/// The least bits of soundness of a proof in a file, in every system: whoever computes `q` hashes forges one
/// with probability about `q 2^-126`.
pub const FILE_BITS: u32 = 126;

/// The head of a proof in a file: its system, its statement and its first message, as the file claims them.
#[derive(Clone)]
pub struct ProofHead {
    system: System,
    salt: [u8; 32],
    statement: [u8; 32],
    first: [u8; 32],
}

/// A proof in a file: head and answer. A proof has one encoding, and nobody can make another one from it.
///
/// A verifier trusts nothing in it: it takes the system and the salt from it, and all else from its own
/// [`Statement`].
pub struct Proof {
    head: ProofHead,
    answer: Vec<u8>,
}

/// The result of a check that passed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Valid {
    /// The system of the proof.
    pub system: System,
    /// The level of soundness with which it was checked.
    pub soundness: Soundness,
}

impl Valid {
    /// The bits of soundness: those of the level, or fewer if the system has fewer.
    pub fn bits(&self) -> u32 {
        self.system.bits(self.soundness)
    }
}

impl ProofHead {
    /// Bytes of a head: magic, version, system, salt, digest of the statement, hash of the first message.
    pub const BYTES: usize = 10 + 3 * 32;

    /// The head that a proof with these bytes begins with.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if these are not the bytes of a proof, or it has another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<ProofHead> {
        let mut rest = bytes;
        if rest.split_off(..MAGIC.len()) != Some(MAGIC) {
            return Err(Error::malformed("the file is not a proof of `comity zk`"));
        }
        let cut = || Error::malformed("the proof ends in its head");
        let version = *rest.split_off_first().ok_or_else(cut)?;
        if version != VERSION {
            return Err(Error::malformed(format!("a proof of version {version}; this version reads {VERSION}")));
        }
        let system = System::of_code(*rest.split_off_first().ok_or_else(cut)?)?;
        let mut field = || rest.split_off(..32).and_then(|field| field.try_into().ok()).ok_or_else(cut);
        let (salt, statement, first) = (field()?, field()?, field()?);
        Ok(ProofHead { system, salt, statement, first })
    }

    /// Reads the head of a proof, and no byte more.
    ///
    /// # Errors
    /// As [`from_bytes`](ProofHead::from_bytes), and [`Io`](comity_core::Kind) of the source.
    pub fn read(source: &mut dyn Read) -> Result<ProofHead> {
        ProofHead::from_bytes(&some(source, ProofHead::BYTES)?)
    }

    /// The system that the proof claims.
    pub fn system(&self) -> System {
        self.system
    }

    /// The digest of the statement that the proof claims.
    pub fn statement(&self) -> &[u8; 32] {
        &self.statement
    }

    /// The bits of soundness that a proof of this system has in a file.
    pub fn bits(&self) -> u32 {
        self.system.bits(LEVEL)
    }

    /// The challenge, if the proof is of this statement.
    fn challenge(&self, statement: &Statement) -> Result<Vec<u8>> {
        statement.fits_a_file()?;
        if self.statement != *statement.digest() {
            return Err(checks::OTHER_STATEMENT.into());
        }
        Ok(challenge::hashed(self.system, LEVEL, statement, &self.salt, &self.first))
    }
}

impl Proof {
    /// The proof in these bytes. It is not checked: [`verify`] does that.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if these are not the bytes of a proof, or it has another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Proof> {
        Ok(Proof { head: ProofHead::from_bytes(bytes)?, answer: bytes[ProofHead::BYTES..].to_vec() })
    }

    /// Reads a proof that a verifier will check against its statement, from an untrusted source: the head,
    /// and then at most one byte more than an answer for this statement has.
    ///
    /// # Errors
    /// Those of [`ProofHead::read`], [`OTHER_STATEMENT`](checks::OTHER_STATEMENT), and
    /// [`Malformed`](comity_core::Kind) if bytes follow after the proof.
    pub fn read(source: &mut dyn Read, statement: &Statement) -> Result<Proof> {
        let head = ProofHead::read(source)?;
        let wanted = answer_bytes(head.system, statement, &head.challenge(statement)?);
        let answer = some(source, wanted + 1)?;
        if answer.len() > wanted {
            let message = format!("a proof with an answer of more than {wanted} bytes; {wanted} are wanted");
            return Err(Error::malformed(message));
        }
        Ok(Proof { head, answer })
    }

    /// The bytes of the proof.
    pub fn to_bytes(&self) -> Vec<u8> {
        let ProofHead { system, salt, statement, first } = &self.head;
        let mut bytes = [&MAGIC[..], &[VERSION, system.code()], salt, statement, first].concat();
        debug_assert_eq!(bytes.len(), ProofHead::BYTES);
        bytes.extend(&self.answer);
        bytes
    }

    /// The head.
    pub fn head(&self) -> &ProofHead {
        &self.head
    }

    /// The bytes of the proof.
    pub fn size(&self) -> usize {
        ProofHead::BYTES + self.answer.len()
    }
}

/// The next bytes of a source, as many as there are, and no more than these.
fn some(source: &mut dyn Read, most: usize) -> Result<Vec<u8>> {
    let mut bytes = Vec::new();
    source.take(most as u64).read_to_end(&mut bytes).map_err(|e| Error::io("reading a proof", e))?;
    Ok(bytes)
}

/// Proves a statement: `witness` has the value of each secret input. The proof has at least [`FILE_BITS`]
/// bits of soundness.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) if the values are missing, too many or of another width, if they do
/// not make the statement true, or if it is too large for a file.
pub fn prove(
    backend: Backend,
    statement: &Statement,
    witness: &[Option<Bits>],
    system: System,
    rng: &mut dyn CryptoRng,
) -> Result<Proof> {
    let committed = commit(backend, &statement.in_a_file(), witness, (system, LEVEL), rng)?;
    let (salt, first) = (*committed.salt(), *committed.first());
    let challenge = challenge::hashed(system, LEVEL, statement, &salt, &first);
    let head = ProofHead { system, salt, statement: *statement.digest(), first };
    Ok(Proof { head, answer: committed.answer(&challenge)? })
}

/// Checks a proof of this statement. The verifier itself chose the statement; the level is that of a file.
///
/// # Errors
/// [`OTHER_STATEMENT`](checks::OTHER_STATEMENT) if the proof is of another statement; then those of the
/// system's checks: [`WRONG_VIEW`](checks::WRONG_VIEW), [`WRONG_OPENING`](checks::WRONG_OPENING), and
/// [`Malformed`](comity_core::Kind) if the answer does not decode. [`InvalidInput`](comity_core::Kind) if the
/// statement is too large for a file.
pub fn verify(backend: Backend, statement: &Statement, proof: &Proof) -> Result<Valid> {
    let Proof { head, answer } = proof;
    let challenge = head.challenge(statement)?;
    let ProofHead { system, salt, first, .. } = head;
    check(backend, *system, &statement.in_a_file(), [salt, first], &challenge, answer)?;
    Ok(Valid { system: *system, soundness: LEVEL })
}
