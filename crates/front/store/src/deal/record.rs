//! The record of a deal: what it is for, and how much of it is used up. One small file, replaced whole at each step.

use std::fs;
use std::io::ErrorKind;
use std::path::PathBuf;

use comity_core::{Error, Result, SessionId};
use zeroize::Zeroizing;

use crate::Meta;
use crate::folder::{self, Folder, failed};
use crate::seal::{Content, HEAD, Seal};

/// Bytes of a state.
const STATE: usize = 4 + 4 + 1;

/// Bytes of a record: the head, the state, and a MAC on both.
const RECORD: usize = HEAD + STATE + 32;

/// How much of a deal is used up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct State {
    /// The next block; all before it are used up.
    pub(super) next: u32,
    /// How many blocks were dealt.
    pub(super) blocks: u32,
    /// Whether a check has begun whose verdict is not known.
    pub(super) pending: bool,
}

/// What stays the same in the record of a deal.
pub(super) struct Record {
    pub(super) meta: Meta,
    /// The deal's place in the order of all.
    pub(super) number: u64,
    /// The cipher of block 0.
    pub(super) seal: Seal,
    head: Vec<u8>,
    mac: Zeroizing<[u8; 32]>,
}

impl State {
    fn encode(self) -> [u8; STATE] {
        let mut bytes = [u8::from(self.pending); STATE];
        bytes[..4].copy_from_slice(&self.next.to_le_bytes());
        bytes[4..8].copy_from_slice(&self.blocks.to_le_bytes());
        bytes
    }

    /// What [`State::encode`] wrote. The MAC vouches for it.
    fn decode(bytes: &[u8; STATE]) -> State {
        let number = |at: usize| u32::from_le_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]]);
        State { next: number(0), blocks: number(4), pending: bytes[8] != 0 }
    }
}

impl Record {
    /// The record of a new deal. It is not in the folder before [`Record::write`].
    pub(super) fn new(folder: &Folder, salt: [u8; 32], number: u64, meta: &Meta) -> Record {
        let (head, seal) = Seal::new(folder, Content::Deal, salt, number, meta);
        let mac = mac_key(folder, &head, &meta.id);
        Record { meta: meta.clone(), number, seal, head, mac }
    }

    /// The record of the deal with this id, and its state.
    pub(super) fn read(folder: &Folder, id: &SessionId) -> Result<(Record, State)> {
        Record::load(folder, id)?
    }

    /// The same, where damage is told apart from a disk that refuses.
    pub(super) fn load(folder: &Folder, id: &SessionId) -> Result<Result<(Record, State)>> {
        let path = path(folder, id);
        let bytes = fs::read(&path).map_err(|error| match error.kind() {
            ErrorKind::NotFound => Error::invalid_input("the store has no such deal, or it is used up"),
            _ => failed("cannot read", &path, error),
        })?;
        Ok(Record::decode(folder, id, &bytes).ok_or_else(|| {
            let (record, all) = (path.display(), path.with_extension("*"));
            Error::store(format!(
                "{record} is damaged, or not of this store, so that nobody can say what of its deal is used up: delete \
                 {}",
                all.display()
            ))
        }))
    }

    fn decode(folder: &Folder, id: &SessionId, bytes: &[u8]) -> Option<(Record, State)> {
        let bytes: &[u8; RECORD] = bytes.try_into().ok()?;
        let (content, tag) = bytes.split_last_chunk::<32>()?;
        let (head, state) = content.split_first_chunk::<HEAD>()?;
        let mac = mac_key(folder, head, id);
        // This comparison takes the same time wherever the bytes differ.
        if blake3::keyed_hash(&mac, content) != blake3::Hash::from_bytes(*tag) {
            return None;
        }
        let (number, meta, seal) = Seal::open_head(folder, Content::Deal, id, head)?;
        Some((Record { meta, number, seal, head: head.to_vec(), mac }, State::decode(state.try_into().ok()?)))
    }

    /// Puts the record with this state into the folder, in place of the one before. When this returns, that is so after a
    /// crash too; after a crash before that it is one or the other.
    pub(super) fn write(&self, folder: &Folder, state: State) -> Result<()> {
        let content = [&self.head[..], &state.encode()].concat();
        let tag = blake3::keyed_hash(&self.mac, &content);
        let draft = folder.named(&self.meta.id, DRAFT);
        folder::remove(&draft)?;
        folder::new_file(&draft, &[&content[..], tag.as_bytes()].concat())?;
        folder.rename(&draft, &path(folder, &self.meta.id))
    }
}

/// How the name of a record's file ends.
pub(super) const ENDING: &str = "deal";

/// How the name of the next record's file ends, until it is whole.
pub(super) const DRAFT: &str = "deal-partial";

/// What stands before a block's number in its file's name.
const BLOCK: &str = "block-";

/// The file of a record.
pub(super) fn path(folder: &Folder, id: &SessionId) -> PathBuf {
    folder.named(id, ENDING)
}

/// The file of a block.
pub(super) fn block_path(folder: &Folder, id: &SessionId, number: u32) -> PathBuf {
    folder.named(id, &format!("{BLOCK}{number:08x}"))
}

/// The number of the block whose file's name ends so.
pub(super) fn block_number(ending: &str) -> Option<u32> {
    let digits = ending.strip_prefix(BLOCK)?;
    let number = u32::from_str_radix(digits, 16).ok()?;
    (digits == format!("{number:08x}")).then_some(number)
}

/// The key of the MAC on a record: it follows from the store's key and the deal's salt.
fn mac_key(folder: &Folder, head: &[u8], id: &SessionId) -> Zeroizing<[u8; 32]> {
    let mut hash = blake3::Hasher::new_derive_key("comity store v1 state of a deal");
    hash.update(&folder.root[..]).update(&id.to_bytes()).update(head);
    Zeroizing::new(*hash.finalize().as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn states_and_names_are_read_as_written() {
        for state in
            [State { next: 0, blocks: 1, pending: false }, State { next: 0x0102_0304, blocks: u32::MAX, pending: true }]
        {
            assert_eq!(State::decode(&state.encode()), state);
        }
        assert_eq!(block_number("block-0000001f"), Some(31));
        for other in ["block-1f", "block-0000001F", "block-+000001f", "block-00000001f", "block-", "ready"] {
            assert_eq!(block_number(other), None, "{other}");
        }
    }
}
