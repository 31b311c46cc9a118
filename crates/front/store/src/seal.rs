//! The cipher of one entry or deal: the STREAM construction over ChaCha20-Poly1305.

use std::path::Path;

use comity_core::{Error, SessionId};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};
use zeroize::Zeroizing;

use crate::folder::Folder;
use crate::meta::Meta;

/// What is encrypted. The two have unrelated keys.
#[derive(Clone, Copy)]
pub(crate) enum Content {
    /// An entry: one part.
    Entry,
    /// A deal: a part for each block.
    Deal,
}

impl Content {
    /// The first bytes of the file that holds the meta.
    fn magic(self) -> &'static [u8; 16] {
        match self {
            Content::Entry => b"comity entry v1\n",
            Content::Deal => b"comity deal v1\n\n",
        }
    }

    /// What the key is derived for.
    fn context(self) -> &'static str {
        match self {
            Content::Entry => "comity store v1 key of an entry",
            Content::Deal => "comity store v1 key of a deal",
        }
    }
}

/// Bytes of a chunk of a part before it is encrypted; the last one may be shorter.
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
    /// The last chunk of its part.
    Last = 1,
    /// The meta.
    Meta = 2,
}

/// The cipher of one part of an entry or a deal. The key serves this entry or deal only, so that nonces need not be random: a
/// nonce is the number of the part (4 bytes), the number of the chunk (7 bytes) and the use (1 byte). *ring* does not wipe its
/// copy of the key.
#[derive(Clone)]
pub(crate) struct Seal {
    key: LessSafeKey,
    part: u32,
    chunks: u64,
    /// What every chunk is bound to: the hash of the meta, which has the id in it.
    bound: [u8; 32],
}

impl Seal {
    /// The head of a new entry or deal, and the cipher of its part 0.
    pub(crate) fn new(folder: &Folder, kind: Content, salt: [u8; 32], number: u64, meta: &Meta) -> (Vec<u8>, Seal) {
        let mut sealed = meta.encode(number);
        let (key, bound) = (key(folder, kind, &salt, &meta.id), *blake3::hash(&sealed).as_bytes());
        let mut seal = Seal { key, part: 0, chunks: 0, bound };
        seal.seal(Use::Meta, &mut sealed);
        (kind.magic().iter().copied().chain(salt).chain(sealed).collect(), seal)
    }

    /// The cipher of a part of a deal.
    pub(crate) fn part(&self, part: u32) -> Seal {
        Seal { part, chunks: 0, ..self.clone() }
    }

    /// The number and the meta in the head of what has this id, and the cipher of its part 0.
    pub(crate) fn open_head(
        folder: &Folder,
        kind: Content,
        id: &SessionId,
        head: &[u8; HEAD],
    ) -> Option<(u64, Meta, Seal)> {
        let (magic, rest) = head.split_first_chunk::<16>()?;
        let (salt, sealed) = rest.split_first_chunk::<32>()?;
        let mut seal = Seal { key: key(folder, kind, salt, id), part: 0, chunks: 0, bound: [0; 32] };
        let mut sealed = sealed.to_vec();
        let plain = seal.open(Use::Meta, &mut sealed).filter(|_| magic == kind.magic())?;
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
        nonce[..4].copy_from_slice(&self.part.to_le_bytes());
        // The eighth byte of the number is never reached: the file would have 2^72 bytes.
        nonce[4..11].copy_from_slice(&self.chunks.to_le_bytes()[..7]);
        self.chunks += 1;
        (Nonce::assume_unique_for_key(nonce), self.bound)
    }
}

/// The key of an entry or a deal.
fn key(folder: &Folder, kind: Content, salt: &[u8; 32], id: &SessionId) -> LessSafeKey {
    let mut hash = blake3::Hasher::new_derive_key(kind.context());
    hash.update(&folder.root[..]).update(salt).update(&id.to_bytes());
    let key = Zeroizing::new(*hash.finalize().as_bytes());
    LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key[..]).expect("the key has the cipher's 32 bytes"))
}

/// Whoever meets this can do nothing but give up the entry.
pub(crate) fn damaged(path: &Path) -> Error {
    Error::store(format!("{} is damaged, or not of this store: delete it", path.display()))
}
