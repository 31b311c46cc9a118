//! The cipher of one lot: the STREAM construction over ChaCha20-Poly1305.

use comity_core::{SessionId, declassify_all};
use ring::aead::{Aad, CHACHA20_POLY1305, LessSafeKey, Nonce, UnboundKey};

use crate::folder::Folder;
use crate::key::derived;
use crate::meta::Meta;

/// The first bytes of a record.
const MAGIC: &[u8; 16] = b"comity lot v2\n\n\n";

/// Bytes of a chunk of a batch before it is encrypted; the last one may be shorter.
pub(crate) const CHUNK: usize = 64 << 10;

/// Bytes that encryption adds to a chunk.
pub(crate) const TAG: usize = 16;

/// Bytes of a head before the encrypted meta: magic, salt, and the length of what follows.
const PREFIX: usize = 16 + 32 + 4;

/// The most bytes of a head.
pub(crate) const HEAD: usize = PREFIX + Meta::MOST + TAG;

/// The use of a nonce: it is the nonce's last byte.
#[derive(Clone, Copy)]
pub(crate) enum Use {
    /// A chunk with more after it.
    Chunk = 0,
    /// The last chunk of its batch.
    Last = 1,
    /// The meta.
    Meta = 2,
}

/// The cipher of one batch of a lot. The key serves this lot only, so that nonces need not be random: a nonce
/// is the number of the batch (4 bytes), the number of the chunk (7 bytes) and the use (1 byte). *ring* does
/// not wipe its copy of the key.
#[derive(Clone)]
pub(crate) struct Seal {
    key: LessSafeKey,
    batch: u32,
    chunks: u64,
    /// The text that every chunk is bound to: the hash of the meta, which has the id in it.
    bound: [u8; 32],
}

impl Seal {
    /// The head of a new lot's record, and the cipher of its batch 0.
    pub(crate) fn new(folder: &Folder, salt: [u8; 32], number: u64, meta: &Meta) -> (Vec<u8>, Seal) {
        let mut sealed = meta.encode(number);
        let (key, bound) = (key(folder, &salt, &meta.id), *blake3::hash(&sealed).as_bytes());
        let mut seal = Seal { key, batch: 0, chunks: 0, bound };
        seal.seal(Use::Meta, &mut sealed);
        let len = (sealed.len() as u32).to_le_bytes();
        (MAGIC.iter().copied().chain(salt).chain(len).chain(sealed).collect(), seal)
    }

    /// The cipher of a batch.
    pub(crate) fn batch(&self, batch: u32) -> Seal {
        Seal { batch, chunks: 0, ..self.clone() }
    }

    /// The number and the meta in the head of the record with this id, the cipher of its batch 0, and what
    /// follows the head.
    pub(crate) fn open_head<'r>(
        folder: &Folder,
        id: &SessionId,
        record: &'r [u8],
    ) -> Option<(u64, Meta, Seal, &'r [u8])> {
        let (prefix, rest) = record.split_first_chunk::<PREFIX>()?;
        let (magic, prefix) = prefix.split_first_chunk::<16>()?;
        let (salt, len) = prefix.split_first_chunk::<32>()?;
        let len = u32::from_le_bytes(len.try_into().ok()?);
        let (sealed, rest) = rest.split_at_checked(usize::try_from(len).ok()?)?;
        let mut seal = Seal { key: key(folder, salt, id), batch: 0, chunks: 0, bound: [0; 32] };
        let mut sealed = sealed.to_vec();
        let len = seal.open(Use::Meta, &mut sealed).filter(|_| magic == MAGIC)?.len();
        let plain = &mut sealed[..len];
        declassify_all(plain, "whom and what a lot is for is shown to whoever has the key");
        seal.bound = *blake3::hash(plain).as_bytes();
        let (number, meta) = Meta::decode(plain)?;
        Some((number, meta, seal, rest)).filter(|(_, meta, ..)| meta.id == *id)
    }

    /// Encrypts in place.
    pub(crate) fn seal(&mut self, for_: Use, bytes: &mut Vec<u8>) {
        let (nonce, bound) = self.next(for_);
        let sealed = self.key.seal_in_place_append_tag(nonce, Aad::from(bound), bytes);
        sealed.expect("a chunk is far below the cipher's limit");
        declassify_all(bytes, "a ciphertext is for all to read");
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
        nonce[..4].copy_from_slice(&self.batch.to_le_bytes());
        // The eighth byte of the number is never reached: the file would have 2^72 bytes.
        nonce[4..11].copy_from_slice(&self.chunks.to_le_bytes()[..7]);
        self.chunks += 1;
        (Nonce::assume_unique_for_key(nonce), self.bound)
    }
}

/// The key of a lot.
fn key(folder: &Folder, salt: &[u8; 32], id: &SessionId) -> LessSafeKey {
    let key = derived("comity store v2 key of a lot", &[&folder.root[..], salt, &id.to_bytes()]);
    LessSafeKey::new(UnboundKey::new(&CHACHA20_POLY1305, &key[..]).expect("the key has the cipher's 32 bytes"))
}
