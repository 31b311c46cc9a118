//! The cipher of one entry: the STREAM construction over ChaCha20-Poly1305.

use std::path::Path;

use comity_core::{Error, SessionId};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use zeroize::Zeroizing;

use crate::folder::Folder;
use crate::meta::Meta;

/// The first bytes of an entry.
const MAGIC: &[u8; 16] = b"comity entry v1\n";

/// Bytes of a chunk of an entry before it is encrypted; the last one may be shorter.
pub(crate) const CHUNK: usize = 64 << 10;

/// Bytes that encryption adds to a chunk.
pub(crate) const TAG: usize = 16;

/// Bytes before the first chunk: magic, salt, and the encrypted meta.
pub(crate) const HEAD: usize = 16 + 32 + Meta::BYTES + TAG;

/// What a nonce is for: it is the nonce's last byte.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    /// A chunk with more after it.
    Chunk = 0,
    /// The last chunk.
    Last = 1,
    /// The meta.
    Meta = 2,
}

/// The cipher of one entry. Its key serves this entry only, so that nonces need not be random: a nonce is the number of the
/// part (4 bytes; an entry is whole in this version, and the number zero), the number of the chunk (7 bytes) and the use
/// (1 byte). *ring* does not wipe its copy of the key.
pub(crate) struct Seal {
    key: LessSafeKey,
    chunks: u64,
    /// What every chunk is bound to: the hash of the meta, which has the entry's id in it.
    bound: [u8; 32],
}

impl Seal {
    /// The head of a new entry, and its cipher.
    pub(crate) fn new(folder: &Folder, salt: [u8; 32], number: u64, meta: &Meta) -> (Vec<u8>, Seal) {
        let mut sealed = meta.encode(number);
        let mut seal = Seal { key: key(folder, &salt, &meta.id), chunks: 0, bound: *blake3::hash(&sealed).as_bytes() };
        seal.seal(Use::Meta, &mut sealed);
        (MAGIC.iter().copied().chain(salt).chain(sealed).collect(), seal)
    }

    /// The number and the meta in the head of an entry of this id, and its cipher.
    pub(crate) fn open_head(folder: &Folder, id: &SessionId, head: &[u8; HEAD]) -> Option<(u64, Meta, Seal)> {
        let (magic, rest) = head.split_first_chunk::<16>()?;
        let (salt, sealed) = rest.split_first_chunk::<32>()?;
        let mut seal = Seal { key: key(folder, salt, id), chunks: 0, bound: [0; 32] };
        let mut sealed = sealed.to_vec();
        let plain = seal.open(Use::Meta, &mut sealed).filter(|_| magic == MAGIC)?;
        seal.bound = *blake3::hash(plain).as_bytes();
        let (number, meta) = Meta::decode(plain.try_into().ok()?)?;
        Some((number, meta, seal)).filter(|(_, meta, _)| meta.id == *id)
    }

    /// Encrypts in place.
    pub(crate) fn seal(&mut self, for_: Use, bytes: &mut Vec<u8>) {
        let (nonce, bound) = self.next(for_);
        let sealed = self.key.seal_in_place_append_tag(nonce, Aad::from(bound), bytes);
        sealed.expect("a chunk is far below the cipher's limit");
    }

    /// Decrypts in place; `None` if these are not the bytes that come next.
    pub(crate) fn open<'a>(&mut self, for_: Use, bytes: &'a mut [u8]) -> Option<&'a [u8]> {
        let (nonce, bound) = self.next(for_);
        Some(self.key.open_in_place(nonce, Aad::from(bound), bytes).ok()?)
    }

    /// The next nonce of this use, and what its bytes are bound to: the meta to nothing but the key.
    fn next(&mut self, for_: Use) -> (Nonce, [u8; 32]) {
        let mut nonce = [0; 12];
        nonce[11] = for_ as u8;
        if let Use::Meta = for_ {
            return (Nonce::assume_unique_for_key(nonce), [0; 32]);
        }
        // The eighth byte of the number is never reached: the file would have 2^72 bytes.
        nonce[4..11].copy_from_slice(&self.chunks.to_le_bytes()[..7]);
        self.chunks += 1;
        (Nonce::assume_unique_for_key(nonce), self.bound)
    }
}

/// The key of an entry.
fn key(folder: &Folder, salt: &[u8; 32], id: &SessionId) -> LessSafeKey {
    let mut hash = blake3::Hasher::new_derive_key("comity store v1 key of an entry");
    hash.update(&folder.root[..]).update(salt).update(&id.to_bytes());
    let key = Zeroizing::new(*hash.finalize().as_bytes());
    LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key[..]).expect("the key has the cipher's 32 bytes"))
}

/// Whoever meets this can do nothing but give up the entry.
pub(crate) fn damaged(path: &Path) -> Error {
    Error::InvalidInput(format!("{} is damaged, or not of this store: delete it", path.display()))
}
