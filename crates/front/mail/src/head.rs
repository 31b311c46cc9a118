//! `Head`: what stands in the clear before a sealed answer.

use std::io::{ErrorKind, Read};

use comity_core::{Error, Result};

use crate::file::{FileKind, START};
use crate::name::Name;

/// The head of an answer, which precedes the sealed rest and is not encrypted.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The digest of the program.
    pub program: [u8; 32],
    /// The fingerprint of the query.
    pub query: [u8; 32],
    /// The name that the sender gave itself.
    pub name: Name,
}

impl Head {
    pub(crate) fn to_bytes(&self) -> Vec<u8> {
        let mut bytes = FileKind::Answer.start();
        bytes.extend_from_slice(&self.program);
        bytes.extend_from_slice(&self.query);
        bytes.push(self.name.as_str().len() as u8);
        bytes.extend_from_slice(self.name.as_str().as_bytes());
        bytes
    }

    /// Reads the head of an answer.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if it is not an answer, or has another version.
    pub fn read(from: &mut dyn Read) -> Result<Head> {
        let mut start = [0; START];
        let short = |_| Error::malformed("an answer was expected, and this is something else");
        fill(from, &mut start).and_then(|whole| whole.ok_or(()).map_err(short))?;
        FileKind::Answer.check(&start)?;
        let mut fixed = [0; 32 + 32 + 1];
        let mut name = [0; Name::MAX];
        fill(from, &mut fixed)?.ok_or_else(cut)?;
        let length = usize::from(fixed[64]);
        let wrong = || Error::malformed("the sender's name in the answer is not a valid name");
        let name = name.get_mut(..length).ok_or_else(wrong)?;
        fill(from, name)?.ok_or_else(cut)?;
        let name = str::from_utf8(name).ok().and_then(|name| Name::new(name).ok()).ok_or_else(wrong)?;
        let part = |at: usize| std::array::from_fn(|i| fixed[at + i]);
        Ok(Head { program: part(0), query: part(32), name })
    }
}

/// Fills `bytes`; `None` if fewer are left.
pub(crate) fn fill(from: &mut dyn Read, bytes: &mut [u8]) -> Result<Option<()>> {
    match from.read_exact(bytes) {
        Ok(()) => Ok(Some(())),
        Err(error) if error.kind() == ErrorKind::UnexpectedEof => Ok(None),
        Err(error) => Err(Error::io("reading the answer", error)),
    }
}

pub(crate) fn cut() -> Error {
    Error::malformed("the answer is cut short")
}
