//! Sealed answers: their head, and making one.

use std::io::{ErrorKind, Read, Write};

use comity_circuit::Program;
use comity_core::{Backend, Bits, Error, Result};
use rand_core::CryptoRng;

use crate::file::{CHECKSUM, FileKind, START};
use crate::name::Name;
use crate::query::Query;
use crate::seal::{ENCAPSULATED, Sealer};

/// The head of an answer, which stands in the clear before the sealed rest.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Head {
    /// The digest of the program.
    pub program: [u8; 32],
    /// The fingerprint of the query.
    pub query: [u8; 32],
    /// The name that the sender gives itself.
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
    /// [`Malformed`](comity_core::Kind) if this is no answer, or one of another version.
    pub fn read(from: &mut dyn Read) -> Result<Head> {
        let mut start = [0; START];
        let short = |_| Error::malformed("an answer was expected, and this is something else");
        fill(from, &mut start).and_then(|whole| whole.ok_or(()).map_err(short))?;
        FileKind::Answer.check(&start)?;
        let mut fixed = [0; 32 + 32 + 1];
        let mut name = [0; Name::MAX];
        fill(from, &mut fixed)?.ok_or_else(cut)?;
        let length = usize::from(fixed[64]);
        let wrong = || Error::malformed("the sender's name in the answer is not one");
        let name = name.get_mut(..length).ok_or_else(wrong)?;
        fill(from, name)?.ok_or_else(cut)?;
        let name = str::from_utf8(name).ok().and_then(|name| Name::new(name).ok()).ok_or_else(wrong)?;
        let part = |at: usize| std::array::from_fn(|i| fixed[at + i]);
        Ok(Head { program: part(0), query: part(32), name })
    }
}

/// Reads exactly so many bytes, if there are.
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

/// Answers a query, sealed: see [`comity_nisc::respond()`], and the module's documentation for the seal.
///
/// # Errors
/// As [`comity_nisc::respond()`], and [`Malformed`](comity_core::Kind) if the query's key for answers is none. What was written up to then is no
/// answer.
pub fn respond(
    backend: Backend,
    query: &Query,
    program: &Program,
    inputs: &[Option<Bits>],
    name: &Name,
    rng: &mut dyn CryptoRng,
    out: &mut dyn Write,
) -> Result<()> {
    let mut sealer = Sealer::new(query, name, rng, out)?;
    let context = *sealer.context();
    comity_nisc::respond(backend, query.message(), &context, program, inputs, rng, &mut sealer)?;
    sealer.finish()
}

/// Reads an answer to its end without opening it: its head, and how many bytes it has. The checksum is right.
///
/// # Errors
/// [`Malformed`](comity_core::Kind) if this is no answer, or of another version, or damaged.
pub fn examine(from: &mut dyn Read) -> Result<(Head, u64)> {
    let head = Head::read(from)?;
    let bytes = summed(FileKind::Answer, &head.to_bytes(), from)?;
    Ok((head, bytes))
}

/// Reads a stored copy to its end without opening it, and says how many bytes it has. The checksum is right.
///
/// # Errors
/// As [`examine`].
pub fn examine_copy(from: &mut dyn Read) -> Result<u64> {
    let mut start = [0; START];
    fill(from, &mut start)?.ok_or_else(cut)?;
    FileKind::Copy.check(&start)?;
    summed(FileKind::Copy, &start, from)
}

/// The number of bytes of a file that begins like this, if its checksum is right.
fn summed(kind: FileKind, start: &[u8], from: &mut dyn Read) -> Result<u64> {
    let mut hash = kind.checksum();
    hash.update(start);
    // The last bytes are the checksum, and only the end of the file says which these are.
    let (mut buffer, mut kept, mut bytes) = (vec![0; 64 << 10], 0, start.len() as u64);
    loop {
        let count = match from.read(&mut buffer[kept..]) {
            Ok(count) => count,
            Err(error) if error.kind() == ErrorKind::Interrupted => continue,
            Err(error) => return Err(Error::io("reading the answer", error)),
        };
        bytes += count as u64;
        kept += count;
        if count == 0 {
            break;
        }
        let sure = kept.saturating_sub(CHECKSUM);
        hash.update(&buffer[..sure]);
        buffer.copy_within(sure..kept, 0);
        kept -= sure;
    }
    if bytes < (start.len() + ENCAPSULATED + CHECKSUM) as u64 {
        return Err(cut());
    }
    if !buffer[..kept].try_into().is_ok_and(|sum: [u8; CHECKSUM]| hash.finalize() == sum) {
        return Err(Error::malformed(format!("{} was damaged or cut short: its checksum is wrong", kind.the())));
    }
    Ok(bytes)
}
