//! The record of a lot: what it is for, and how much of it is used up. One small file, replaced whole at each step.

use std::fs::File;
use std::io::{ErrorKind, Read};
use std::path::PathBuf;

use comity_core::{Error, Result, SessionId, declassify, declassify_all};
use zeroize::Zeroizing;

use crate::folder::{self, Folder, failed};
use crate::key::derived;
use crate::meta::Meta;
use crate::seal::{HEAD, Seal};

/// Bytes of a state.
const STATE: usize = 4 + 4 + 1;

/// The most bytes of a record: the head, the state, and a MAC on both.
const RECORD: usize = HEAD + STATE + 32;

/// The state of a lot: how much of it is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct State {
    /// The next batch; all before it are used up.
    pub(crate) next: u32,
    /// The number of batches that were made.
    pub(crate) batches: u32,
    /// Whether a check has begun whose verdict is not known.
    pub(crate) pending: bool,
}

/// The part of a lot's record that stays the same.
pub(crate) struct Record {
    pub(crate) meta: Meta,
    /// The lot's place in the order of all.
    pub(crate) number: u64,
    /// The cipher of batch 0.
    pub(crate) seal: Seal,
    head: Vec<u8>,
    mac: Zeroizing<[u8; 32]>,
}

impl State {
    fn encode(self) -> [u8; STATE] {
        let mut bytes = [u8::from(self.pending); STATE];
        bytes[..4].copy_from_slice(&self.next.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.batches.to_le_bytes());
        bytes
    }

    /// The state that [`State::encode`] wrote. The MAC vouches for it.
    fn decode(bytes: &[u8; STATE]) -> State {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        State { next: number(0), batches: number(4), pending: bytes[8] != 0 }
    }
}

impl Record {
    /// The record of a new lot. It is not in the folder before [`Record::write`].
    pub(crate) fn new(folder: &Folder, salt: [u8; 32], number: u64, meta: &Meta) -> Record {
        let (head, seal) = Seal::new(folder, salt, number, meta);
        let mac = mac_key(folder, &meta.id, &head);
        Record { meta: meta.clone(), number, seal, head, mac }
    }

    /// The record of the lot with this id, and its state.
    pub(crate) fn read(folder: &Folder, id: &SessionId) -> Result<(Record, State)> {
        Record::load(folder, id)?
    }

    /// As [`Record::read`], with damage told apart from a disk that refuses.
    pub(crate) fn load(folder: &Folder, id: &SessionId) -> Result<Result<(Record, State)>> {
        let path = path(folder, id);
        let mut bytes = Vec::new();
        let read = File::open(&path).and_then(|file| file.take(RECORD as u64 + 1).read_to_end(&mut bytes));
        read.map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::invalid_input("the store has no such lot, or it is used up"),
            _ => failed("cannot read", &path, error),
        })?;
        Ok(Record::decode(folder, id, &bytes).ok_or_else(|| {
            let (record, all) = (path.display(), path.with_extension("*"));
            Error::store(format!(
                "{record} is damaged, or belongs to another store, so what is left of its lot is unknown: delete {}",
                all.display()
            ))
        }))
    }

    fn decode(folder: &Folder, id: &SessionId, bytes: &[u8]) -> Option<(Record, State)> {
        let (content, tag) = bytes.split_last_chunk::<32>()?;
        let (head, state) = content.split_last_chunk::<STATE>()?;
        let mac = mac_key(folder, id, head);
        // This comparison takes the same time wherever the bytes differ.
        let right = blake3::keyed_hash(&mac, content) == blake3::Hash::from_bytes(*tag);
        if !declassify(right, "the owner is told of a changed record") {
            return None;
        }
        let (number, meta, seal, rest) = Seal::open_head(folder, id, head)?;
        let record = Record { meta, number, seal, head: head.to_vec(), mac };
        rest.is_empty().then(|| (record, State::decode(state)))
    }

    /// Puts the record with this state into the folder, in place of the one before. When this returns, that
    /// is so after a crash too; after a crash before that it is one or the other. Returns its bytes.
    pub(crate) fn write(&self, folder: &Folder, state: State) -> Result<u64> {
        let mut bytes = [&self.head[..], &state.encode()].concat();
        bytes.extend(blake3::keyed_hash(&self.mac, &bytes).as_bytes());
        declassify_all(&mut bytes, "a record is for all to read, and what is secret in it is sealed");
        let draft = folder.named(&self.meta.id, DRAFT);
        folder::remove(&draft)?;
        folder::new_file(&draft, &bytes)?;
        folder.rename(&draft, &path(folder, &self.meta.id))?;
        Ok(bytes.len() as u64)
    }
}

/// The ending of the name of a record's file.
pub(crate) const ENDING: &str = "lot";

/// The ending of the name of the next record's file, until it is whole.
pub(crate) const DRAFT: &str = "lot-partial";

/// The text before a batch's number in its file's name.
const BATCH: &str = "batch-";

/// The file of a record.
pub(crate) fn path(folder: &Folder, id: &SessionId) -> PathBuf {
    folder.named(id, ENDING)
}

/// The file of a batch.
pub(crate) fn batch_path(folder: &Folder, id: &SessionId, number: u32) -> PathBuf {
    folder.named(id, &format!("{BATCH}{number:08x}"))
}

/// The number of the batch whose file's name ends so.
pub(crate) fn batch_number(ending: &str) -> Option<u32> {
    let digits = ending.strip_prefix(BATCH)?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    (digits == format!("{number:08x}")).then_some(number)
}

/// The key of the MAC on a record: it follows from the store's key, and the lot's id and head.
fn mac_key(folder: &Folder, id: &SessionId, head: &[u8]) -> Zeroizing<[u8; 32]> {
    derived("comity store v2 state of a lot", &[&folder.root[..], &id.to_bytes(), head])
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_names_are_read_as_written() {
        for state in [
            State { next: 0, batches: 1, pending: false },
            State { next: 0x0102_0304, batches: u32::MAX, pending: true },
        ] {
            assert_eq!(State::decode(&state.encode()), state);
        }
        assert_eq!(batch_number("batch-0000001f"), Some(31));
        for other in ["batch-1f", "batch-0000001F", "batch-+000001f", "batch-00000001f", "batch-", "lot"] {
            assert_eq!(batch_number(other), None, "{other}");
        }
    }
}
