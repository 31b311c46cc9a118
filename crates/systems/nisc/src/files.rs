//! What the three kinds of files have in common: how they begin, and the checksum at their end.
//!
//! A file begins with what it is (16 bytes of text), the version (2 bytes), `t` and `e` (2), and the hash of
//! its program (32). All numbers are little-endian. It ends with a BLAKE3 hash of all before.

use comity_core::{Error, Result};
use zeroize::Zeroize;

use crate::plan::Copies;

/// The version of the files, of the CRS and of the protocol.
pub(crate) const VERSION: u16 = 2;

/// Bytes of the checksum at the end.
pub(crate) const CHECKSUM: usize = 32;

/// The kind of a file.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) enum FileKind {
    Query,
    Key,
    Answer,
}

impl FileKind {
    const ALL: [FileKind; 3] = [FileKind::Query, FileKind::Key, FileKind::Answer];

    fn magic(self) -> &'static [u8; 16] {
        match self {
            FileKind::Query => b"comity NISC qry\n",
            FileKind::Key => b"comity NISC key\n",
            FileKind::Answer => b"comity NISC ans\n",
        }
    }

    fn name(self) -> &'static str {
        match self {
            FileKind::Query => "a query",
            FileKind::Key => "the key of a query",
            FileKind::Answer => "an answer",
        }
    }
}

/// The header that a file begins with.
pub(crate) struct Header {
    pub(crate) copies: Copies,
    /// The hash of the program.
    pub(crate) program: [u8; 32],
}

impl Header {
    pub(crate) const BYTES: usize = 16 + 2 + 2 + 32;

    pub(crate) fn to_bytes(&self, kind: FileKind) -> Vec<u8> {
        [&kind.magic()[..], &VERSION.to_le_bytes(), &self.copies.to_bytes(), &self.program].concat()
    }

    /// The header in the first bytes of a file that should be of this kind.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if it is something else, or of another version.
    pub(crate) fn from_bytes(kind: FileKind, bytes: &[u8; Header::BYTES]) -> Result<Header> {
        let (magic, rest) = bytes.split_at(16);
        if magic != kind.magic() {
            let is = FileKind::ALL.into_iter().find(|other| magic == other.magic());
            let is = is.map_or("something else", FileKind::name);
            return Err(Error::malformed(format!("{} was expected here, and this is {is}", kind.name())));
        }
        let version = u16::from_le_bytes([rest[0], rest[1]]);
        if version != VERSION {
            return Err(Error::malformed(format!(
                "this is {} of version {version}, and this program knows version {VERSION}: both sides need one version, and \
                 everything must be made with it",
                kind.name()
            )));
        }
        let copies = Copies::from_bytes([rest[2], rest[3]])?;
        Ok(Header { copies, program: std::array::from_fn(|i| rest[4 + i]) })
    }
}

/// The checksum of a file with these bytes before it. The hash of a key has secrets in its last block.
fn sum(bytes: &[u8]) -> blake3::Hash {
    let mut hasher = checksum();
    let sum = hasher.update(bytes).finalize();
    hasher.zeroize();
    sum
}

/// The hash that a checksum is finished from.
pub(crate) fn checksum() -> blake3::Hasher {
    blake3::Hasher::new_derive_key("comity NISC: the checksum of a file")
}

/// Appends the checksum to a file's bytes.
pub(crate) fn seal(mut bytes: Vec<u8>) -> Vec<u8> {
    let sum = sum(&bytes);
    bytes.extend_from_slice(sum.as_bytes());
    bytes
}

/// The header, and the bytes between it and the checksum, if the latter is right.
///
/// # Errors
/// [`Malformed`](comity_core::Kind).
pub(crate) fn unseal(kind: FileKind, bytes: &[u8]) -> Result<(Header, &[u8])> {
    let short = || Error::malformed(format!("{} bytes are too few for {}", bytes.len(), kind.name()));
    let header = Header::from_bytes(kind, bytes.first_chunk().ok_or_else(short)?)?;
    let (body, sum) = bytes.split_last_chunk::<CHECKSUM>().ok_or_else(short)?;
    if self::sum(body) != *sum {
        return Err(Error::malformed(format!("{} was damaged or cut short: its checksum is wrong", kind.name())));
    }
    Ok((header, body.get(Header::BYTES..).ok_or_else(short)?))
}
