//! Sealed payload: encryption with a key that is used once, and a tag, many items at a time.
//!
//! Block `j` of the pad of an item with key `k` is `P(k, j)`, and the tag of what is encrypted, `c`, is the
//! start of `T(k, c)`; of more than 32 bytes `c` is hashed before. `P` and `T` are BLAKE3 under public keys
//! of their own, of messages of 64 bytes: pseudo-random functions of `k`.

use comity_core::{Block, ShortHash, verdict};
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Bytes of a tag.
pub(crate) const TAG: usize = 16;

/// The most items that are sealed or opened together: their bytes stay in the first-level cache.
pub(crate) const TOGETHER: usize = 128;

/// The key of one item's payload.
pub(crate) type Key = [Block; 2];

/// Bytes of a piece: of a key, of the pad, of the input of a tag.
const PIECE: usize = 32;

/// Seals and opens payload of one width.
pub(crate) struct Sealer {
    width: usize,
    pad: ShortHash,
    tag: ShortHash,
}

impl Sealer {
    /// A sealer for a payload of `width` bytes.
    pub(crate) fn new(width: usize) -> Sealer {
        let hash = |use_of: &str| ShortHash::new(blake3::derive_key(use_of, &[]));
        let (pad, tag) =
            ("comity private set intersection: pad of payload", "comity private set intersection: tag of payload");
        Sealer { width, pad: hash(pad), tag: hash(tag) }
    }

    /// The bytes of an item's payload, sealed.
    pub(crate) fn sealed(&self) -> usize {
        self.width + TAG
    }

    /// Encrypts the payload of the item with each key where it is, and writes the tag behind it.
    pub(crate) fn seal(&self, keys: &[Key], items: &mut [u8]) {
        self.mask(keys, items);
        let tags = self.tags(keys, items);
        for (item, tag) in items.chunks_exact_mut(self.sealed()).zip(tags.iter()) {
            item[self.width..].copy_from_slice(&tag[..TAG]);
        }
    }

    /// Decrypts sealed payload in place. Returns for each item whether it was sealed with its key.
    pub(crate) fn open(&self, keys: &[Key], items: &mut [u8]) -> Vec<bool> {
        let tags = self.tags(keys, items);
        let theirs = items.chunks_exact(self.sealed()).map(|item| &item[self.width..]);
        let right = theirs.zip(tags.iter()).map(|(theirs, tag)| verdict(tag[..TAG].ct_eq(theirs))).collect();
        self.mask(keys, items);
        right
    }

    /// Adds the pad of each key to the payload of its item.
    fn mask(&self, keys: &[Key], items: &mut [u8]) {
        for (number, from) in (0u64..).zip((0..self.width).step_by(PIECE)) {
            let to = self.width.min(from + PIECE);
            let pads = Hashes::of(&self.pad, keys, |_, piece| piece[..8].copy_from_slice(&number.to_le_bytes()));
            for (item, pad) in items.chunks_exact_mut(self.sealed()).zip(pads.iter()) {
                item[from..to].iter_mut().zip(pad).for_each(|(byte, pad)| *byte ^= pad);
            }
        }
    }

    /// The tags of items as they are encrypted, and 16 bytes more.
    fn tags(&self, keys: &[Key], items: &[u8]) -> Hashes {
        Hashes::of(&self.tag, keys, |at, piece| {
            let encrypted = &items[at * self.sealed()..][..self.width];
            match self.width {
                ..=PIECE => piece[..self.width].copy_from_slice(encrypted),
                _ => piece.copy_from_slice(blake3::hash(encrypted).as_bytes()),
            }
        })
    }
}

/// Hashes of keys, each with a piece behind it. In blocks, which are wiped faster than bytes.
struct Hashes(Zeroizing<Vec<Block>>);

impl Hashes {
    /// The hash of each key and a piece that `fill` writes into zeros.
    fn of(hash: &ShortHash, keys: &[Key], fill: impl Fn(usize, &mut [u8])) -> Hashes {
        let mut messages = Zeroizing::new(vec![Block::ZERO; ShortHash::MESSAGE / Block::BYTES * keys.len()]);
        let bytes = Block::bytes_of_mut(&mut messages).as_chunks_mut().0;
        for (at, (message, key)) in bytes.iter_mut().zip(keys).enumerate() {
            let (start, piece) = message.split_at_mut(PIECE);
            start.copy_from_slice(Block::bytes_of(key));
            fill(at, piece);
        }
        let mut hashes = Zeroizing::new(vec![Block::ZERO; PIECE / Block::BYTES * keys.len()]);
        hash.hash(bytes, Block::bytes_of_mut(&mut hashes).as_chunks_mut().0);
        Hashes(hashes)
    }

    fn iter(&self) -> impl Iterator<Item = &[u8; PIECE]> {
        Block::bytes_of(&self.0).as_chunks().0.iter()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const KEYS: [Key; 3] = [key(1), key(2), key(3)];

    const fn key(number: u128) -> Key {
        [Block::from_u128(number), Block::from_u128(9)]
    }

    /// Payload of three items of this width, with room for tags.
    fn items(width: usize) -> Vec<u8> {
        let item = |at: usize| (0..width + TAG).map(move |i| if i < width { (at + i) as u8 } else { 0 });
        (0..KEYS.len()).flat_map(item).collect()
    }

    #[test]
    fn what_is_sealed_is_opened_by_its_key_alone() {
        for width in [1, 16, 31, 32, 33, 64, 65, 1000] {
            let (sealer, plain) = (Sealer::new(width), items(width));
            let mut sealed = plain.clone();
            sealer.seal(&KEYS, &mut sealed);
            let open = |keys: &[Key], mut sealed: Vec<u8>| {
                let right = sealer.open(keys, &mut sealed);
                let same = sealed.chunks(width + TAG).zip(plain.chunks(width + TAG));
                (right, same.map(|(one, other)| one[..width] == other[..width]).collect::<Vec<_>>())
            };
            assert_eq!(open(&KEYS, sealed.clone()), (vec![true; 3], vec![true; 3]), "{width}");
            // The keys of two in each other's place.
            let (right, same) = open(&[KEYS[1], KEYS[0], KEYS[2]], sealed.clone());
            assert_eq!(right, [false, false, true]);
            assert!(width < 4 || same == right, "{width}");
            for at in [0, width - 1, width, width + TAG - 1] {
                let mut wrong = sealed.clone();
                wrong[width + TAG + at] ^= 4;
                assert_eq!(open(&KEYS, wrong).0, [true, false, true], "byte {at} of {width}");
            }
            // One by one it is the same.
            let mut single = plain[..width + TAG].to_vec();
            sealer.seal(&KEYS[..1], &mut single);
            assert_eq!(single, sealed[..width + TAG]);
        }
        assert!(Sealer::new(5).open(&[], &mut []).is_empty());
    }

    /// Pads of zeros: what is added to payload, block by block.
    #[test]
    fn pads_differ_by_key_and_block_and_are_no_tags() {
        let sealer = Sealer::new(96);
        let mut all = vec![0; 3 * sealer.sealed()];
        sealer.seal(&KEYS, &mut all);
        let mut blocks: Vec<&[u8]> = all.chunks(96 + TAG).flat_map(|item| item[..96].chunks(TAG)).collect();
        // A tag that were of the pad's kind would be a piece of the pad for a payload that somebody knows.
        let tags = sealer.tags(&KEYS, &vec![0; 3 * sealer.sealed()]);
        blocks.extend(tags.iter().flat_map(|tag| tag.chunks(TAG)));
        let small = Sealer::new(8).tags(&KEYS, &[0; 3 * (8 + TAG)]);
        blocks.extend(small.iter().flat_map(|tag| tag.chunks(TAG)));
        let count = blocks.len();
        blocks.sort_unstable();
        blocks.dedup();
        assert_eq!((count, blocks.len()), (3 * (6 + 2 + 2), count));
    }
}
