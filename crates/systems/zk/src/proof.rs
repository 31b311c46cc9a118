//! `Proof`: a proof as bytes, made and checked without anybody else.

use comity_core::{Backend, Bits, Error, Result};
use rand_core::CryptoRng;

use crate::challenge;
use crate::checks;
use crate::conversation::{check, commit};
use crate::statement::Statement;
use crate::system::{Soundness, System};

/// The first bytes of a proof.
const MAGIC: &[u8; 8] = b"comityzk";
/// The version of the encoding, and of all that is hashed.
const VERSION: u8 = 2;
/// Magic, version, system, salt, digest of the statement, hash of the first message.
const HEAD: usize = 10 + 3 * 32;
/// The level of every proof in a file.
const LEVEL: Soundness = Soundness::Bits128;

/// A proof in a file: head and answer. There is one encoding of a proof, and nobody can make another one of it.
///
/// Nothing of it is believed. A verifier takes the system and the salt from it, and all else from its own [`Statement`].
pub struct Proof {
    system: System,
    salt: [u8; 32],
    statement: [u8; 32],
    first: [u8; 32],
    answer: Vec<u8>,
}

/// What a proof that holds says.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Valid {
    /// The system of the proof.
    pub system: System,
    /// The level of soundness with which it was checked.
    pub soundness: Soundness,
}

impl Proof {
    /// The proof in these bytes. Whether it holds, [`verify`] says.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if this is no proof, or one of another version.
    pub fn from_bytes(bytes: &[u8]) -> Result<Proof> {
        let mut rest = bytes;
        if rest.split_off(..MAGIC.len()) != Some(MAGIC) {
            return Err(Error::malformed("this is no proof of `comity zk`"));
        }
        let cut = || Error::malformed("the proof ends in its head");
        let version = *rest.split_off_first().ok_or_else(cut)?;
        if version != VERSION {
            return Err(Error::malformed(format!("a proof of version {version}; this version reads {VERSION}")));
        }
        let system = System::of_code(*rest.split_off_first().ok_or_else(cut)?)?;
        let mut field = || rest.split_off(..32).and_then(|field| field.try_into().ok()).ok_or_else(cut);
        let (salt, statement, first) = (field()?, field()?, field()?);
        Ok(Proof { system, salt, statement, first, answer: rest.to_vec() })
    }

    /// The bytes of the proof.
    pub fn to_bytes(&self) -> Vec<u8> {
        let head = [&MAGIC[..], &[VERSION, self.system.code()], &self.salt, &self.statement, &self.first];
        let mut bytes = head.concat();
        debug_assert_eq!(bytes.len(), HEAD);
        bytes.extend(&self.answer);
        bytes
    }

    /// The system that the proof says it is of.
    pub fn system(&self) -> System {
        self.system
    }

    /// The digest of the statement that the proof says it is of.
    pub fn statement(&self) -> &[u8; 32] {
        &self.statement
    }

    /// The bytes of the proof.
    pub fn size(&self) -> usize {
        HEAD + self.answer.len()
    }
}

/// Proves a statement: `witness` has the value of each secret input. The proof has 128 bits of soundness.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) if the values are missing, too many or of another width, if the statement is not true of them, or
/// if it is too large for a file.
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
    Ok(Proof { system, salt, statement: *statement.digest(), first, answer: committed.answer(&challenge)? })
}

/// Checks a proof of this statement, which is the verifier's own, and with it the level of soundness.
///
/// # Errors
/// [`OTHER_STATEMENT`](checks::OTHER_STATEMENT) if the proof is of another statement; then those of the system's checks:
/// [`WRONG_VIEW`](checks::WRONG_VIEW), [`WRONG_OPENING`](checks::WRONG_OPENING), and
/// [`Malformed`](comity_core::Kind) if the answer does not decode. [`InvalidInput`](comity_core::Kind) if the statement is too large for a
/// file.
pub fn verify(backend: Backend, statement: &Statement, proof: &Proof) -> Result<Valid> {
    statement.fits_a_file()?;
    let Proof { system, salt, first, answer, .. } = proof;
    if proof.statement != *statement.digest() {
        return Err(checks::OTHER_STATEMENT.into());
    }
    let challenge = challenge::hashed(*system, LEVEL, statement, salt, first);
    check(backend, *system, &statement.in_a_file(), [salt, first], &challenge, answer)?;
    Ok(Valid { system: *system, soundness: LEVEL })
}
