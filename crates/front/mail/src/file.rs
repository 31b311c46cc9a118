//! What the four kinds of files have in common: how they begin and end, and reading their fields.
//!
//! A file begins with what it is (16 bytes of text) and its version (2 bytes, little-endian, as all numbers).
//! It ends with a BLAKE3 hash of all before. What a field says of lengths is held against the bytes that are
//! there.

use blake3::Hasher;
use comity_core::{Error, Result};
use zeroize::Zeroize;

/// The version of the files.
pub(crate) const VERSION: u16 = 2;

/// Bytes before the first field.
pub(crate) const START: usize = 16 + 2;

/// Bytes of the checksum at the end.
pub(crate) const CHECKSUM: usize = 32;

/// The kinds of files.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum FileKind {
    /// A [`Query`](crate::Query).
    Query,
    /// A [`QueryKey`](crate::QueryKey).
    Key,
    /// A sealed answer.
    Answer,
    /// A sealed copy of the garbled circuit, stored beside an answer.
    Copy,
}

impl FileKind {
    const ALL: [FileKind; 4] = [FileKind::Query, FileKind::Key, FileKind::Answer, FileKind::Copy];

    /// The number of bytes that show a file's kind.
    pub const BYTES: usize = 16;

    /// The kind of a file that begins with these bytes; `None` if it is of no such kind.
    pub fn of(start: &[u8]) -> Option<FileKind> {
        FileKind::ALL.into_iter().find(|kind| start.starts_with(kind.magic()))
    }

    fn magic(self) -> &'static [u8; FileKind::BYTES] {
        match self {
            FileKind::Query => b"comity query   \n",
            FileKind::Key => b"comity key     \n",
            FileKind::Answer => b"comity answer  \n",
            FileKind::Copy => b"comity copy    \n",
        }
    }

    /// The kind's name, with its article.
    pub(crate) fn name(self) -> &'static str {
        match self {
            FileKind::Query => "a query",
            FileKind::Key => "the key of a query",
            FileKind::Answer => "an answer",
            FileKind::Copy => "a stored copy",
        }
    }

    /// The kind's name, with the article of one that was spoken of.
    pub(crate) fn the(self) -> &'static str {
        match self {
            FileKind::Query => "the query",
            FileKind::Key => "the key of a query",
            FileKind::Answer => "the answer",
            FileKind::Copy => "a stored copy of the answer",
        }
    }

    /// The first bytes of a file.
    pub(crate) fn start(self) -> Vec<u8> {
        [&self.magic()[..], &VERSION.to_le_bytes()].concat()
    }

    /// Refuses the first bytes of a file of another kind or version.
    pub(crate) fn check(self, start: &[u8; START]) -> Result<()> {
        let (magic, version) = start.split_at(FileKind::BYTES);
        if magic != self.magic() {
            let is = FileKind::of(magic).map_or("something else", FileKind::name);
            return Err(Error::malformed(format!("{} was expected, and this is {is}", self.name())));
        }
        let version = u16::from_le_bytes([version[0], version[1]]);
        if version != VERSION {
            return Err(Error::malformed(format!(
                "this is {} of version {version}, and this program takes version {VERSION}: {}",
                self.name(),
                self.instead(version)
            )));
        }
        Ok(())
    }

    /// The advice for a file of another version.
    fn instead(self, version: u16) -> &'static str {
        if version > VERSION {
            return "it is of a newer comity, and so this one has to be updated";
        }
        // An answer of version 1 could be passed off as somebody else's: no way back is offered.
        match self {
            FileKind::Query => "its publisher has to update comity and publish a new query, which you then answer",
            FileKind::Key => "publish a new query, which makes a new key, and ask for answers to that",
            FileKind::Answer | FileKind::Copy => {
                "publish a new query, if yours is of that version too, and ask for an answer to it"
            }
        }
    }

    /// The hash that a checksum is finished from.
    pub(crate) fn checksum(self) -> Hasher {
        Hasher::new_derive_key(match self {
            FileKind::Query => "comity mail: the fingerprint of a query",
            FileKind::Key => "comity mail: the checksum of a key",
            FileKind::Answer => "comity mail: the checksum of an answer",
            FileKind::Copy => "comity mail: the checksum of a stored copy",
        })
    }

    /// The checksum of a file with these bytes before it. That of a key has secrets in its last block.
    pub(crate) fn sum(self, bytes: &[u8]) -> blake3::Hash {
        let mut hasher = self.checksum();
        let sum = hasher.update(bytes).finalize();
        hasher.zeroize();
        sum
    }

    /// The fields of a whole file, and its checksum, which is right.
    pub(crate) fn fields(self, bytes: &[u8]) -> Result<(Fields<'_>, [u8; CHECKSUM])> {
        let short = || Error::malformed(format!("{} bytes are too few for {}", bytes.len(), self.name()));
        self.check(bytes.first_chunk().ok_or_else(short)?)?;
        let (body, sum) = bytes.split_last_chunk::<CHECKSUM>().ok_or_else(short)?;
        if self.sum(body) != *sum {
            return Err(Error::malformed(format!("{} was damaged or cut short: its checksum is wrong", self.name())));
        }
        Ok((Fields { rest: body.get(START..).ok_or_else(short)?, kind: self }, *sum))
    }
}

/// The fields of a file, one after another.
pub(crate) struct Fields<'a> {
    rest: &'a [u8],
    kind: FileKind,
}

impl<'a> Fields<'a> {
    /// The next `count` bytes.
    pub(crate) fn bytes(&mut self, count: usize) -> Result<&'a [u8]> {
        let short = || Error::malformed(format!("{} ends in the middle of a field", self.kind.name()));
        let (bytes, rest) = self.rest.split_at_checked(count).ok_or_else(short)?;
        self.rest = rest;
        Ok(bytes)
    }

    /// The next bytes, as many as the array has.
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut array = [0; N];
        array.copy_from_slice(self.bytes(N)?);
        Ok(array)
    }

    /// The bytes that are left.
    pub(crate) fn rest(self) -> &'a [u8] {
        self.rest
    }
}

/// A digest for people, in hex.
pub(crate) fn hex(digest: &[u8]) -> String {
    digest.iter().map(|byte| format!("{byte:02x}")).collect()
}
