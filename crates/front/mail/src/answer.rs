//! Sealed answers: making one, and looking at one.

use std::io::{ErrorKind, Read, Write};

use comity_circuit::Program;
use comity_core::{Backend, Bits, Error, Result};
use rand_core::CryptoRng;

use crate::envelope::ENCAPSULATED;
use crate::file::{CHECKSUM, FileKind, START};
use crate::head::{Head, cut, fill};
use crate::name::Name;
use crate::query::Query;
use crate::seal::Sealer;

/// Answers a query, sealed: see [`comity_nisc::respond()`], and the module's documentation for the seal.
///
/// # Errors
/// As [`comity_nisc::respond()`], and [`Malformed`](comity_core::Kind) if the query's key for answers is not
/// a point of the group. The bytes written up to then are not an answer.
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

/// Reads an answer to its end without opening it, and checks its checksum. Returns its head and its number of
/// bytes.
///
/// # Errors
/// [`Malformed`](comity_core::Kind) if it is not an answer, or is damaged, or has another version.
pub fn examine(from: &mut dyn Read) -> Result<(Head, u64)> {
    let head = Head::read(from)?;
    let bytes = summed(FileKind::Answer, &head.to_bytes(), from)?;
    Ok((head, bytes))
}

/// Reads a stored copy to its end without opening it, and checks its checksum. Returns its number of bytes.
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
