//! `ShortHash`: keyed BLAKE3 of many 64-byte messages at once.

use blake3::IncrementCounter;
use blake3::platform::Platform;
use zeroize::ZeroizeOnDrop;

/// The hashes of a call: twice what the widest machine computes side by side, so that a call costs little next to them.
const GROUP: usize = 32;

// Flags of BLAKE3's compression (its paper, section 2.2): a message of one block is start, end and root in one.
const START: u8 = 1 << 0;
const END: u8 = 1 << 1;
const ROOT: u8 = 1 << 3;
const KEYED: u8 = 1 << 4;

/// Keyed BLAKE3 of messages of 64 bytes: equal to `blake3::keyed_hash`, many at a time.
///
/// 256 bits of output, collision resistant with 128 bits even if the key is known: for commitments, and where
/// a public value must fix a secret one. The key separates sessions and uses (it is a salt, and may be
/// public); the message contains the rest, in 64 bytes of fixed layout. If messages or key are secret, it is
/// a pseudorandom function. The key is wiped on drop.
///
/// *Cost.* A message is one block of BLAKE3, and 16 (AVX-512), 8 (AVX2) or 4 (SSE, NEON) are computed side by
/// side: 11 ns a hash with AVX-512, where the public function, which computes one at a time, takes 83. A call
/// with fewer messages than lanes takes longer for each: give it many.
#[derive(ZeroizeOnDrop)]
pub struct ShortHash {
    key: [u32; 8],
    #[zeroize(skip)]
    platform: Platform,
}

impl ShortHash {
    /// Bytes in a message.
    pub const MESSAGE: usize = 64;

    /// The hash with this key.
    pub fn new(key: [u8; 32]) -> ShortHash {
        // The crate remembers what the machine can do, and so do we: nothing is asked per hash.
        ShortHash { key: words(&key), platform: Platform::detect() }
    }

    /// Writes the hash of every message, in order.
    ///
    /// # Panics
    /// If `out` does not have a place for each message.
    pub fn hash(&self, messages: &[[u8; 64]], out: &mut [[u8; 32]]) {
        assert_eq!(messages.len(), out.len(), "one hash for each message");
        let Some(first) = messages.first() else { return };
        // `hash_many` is what `blake3` itself hashes trees with. It is public but not documented, since it is not
        // promised to stay; no promised function hashes more than one message at a time. A new version of the crate
        // that changed it would not build, or fail the test that holds it against `keyed_hash`; the lock file
        // keeps such a version out until then. In its place `keyed_hash` in a loop gives the same bytes, slower.
        let mut group = [first; GROUP];
        for (messages, out) in messages.chunks(GROUP).zip(out.chunks_mut(GROUP)) {
            let group = &mut group[..messages.len()];
            group.iter_mut().zip(messages).for_each(|(slot, message)| *slot = message);
            let (key, counter) = (&self.key, IncrementCounter::No);
            self.platform.hash_many(group, key, 0, counter, KEYED, START, END | ROOT, out.as_flattened_mut());
        }
    }
}

/// The words that BLAKE3 makes of a key.
fn words(key: &[u8; 32]) -> [u32; 8] {
    let bytes = key.as_chunks().0;
    core::array::from_fn(|i| u32::from_le_bytes(bytes[i]))
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Every kind of machine that this one can be.
    fn platforms() -> Vec<Platform> {
        let platforms = [Platform::portable(), Platform::detect()].into_iter();
        #[cfg(any(target_arch = "x86", target_arch = "x86_64"))]
        let platforms = platforms.chain([Platform::sse2(), Platform::sse41(), Platform::avx2()].into_iter().flatten());
        platforms.collect()
    }

    #[test]
    #[cfg_attr(miri, ignore = "safe code")]
    fn equal_to_the_public_function() {
        // All bytes differ between the messages, and every count has its own way through groups and lanes.
        let mut bytes = vec![0; 64 * 131];
        blake3::Hasher::new().update(b"messages").finalize_xof().fill(&mut bytes);
        let messages = bytes.as_chunks().0;
        for (i, platform) in platforms().into_iter().enumerate() {
            let key = *blake3::hash(&[i as u8]).as_bytes();
            let hash = ShortHash { platform, ..ShortHash::new(key) };
            for count in (0..70).chain([131]) {
                let mut out = vec![[0; 32]; count];
                hash.hash(&messages[..count], &mut out);
                for (message, out) in messages.iter().zip(&out) {
                    assert_eq!(out, blake3::keyed_hash(&key, message).as_bytes(), "{platform:?}, {count} messages");
                }
            }
        }
    }

    #[test]
    #[should_panic(expected = "one hash for each message")]
    fn a_wrong_count_is_refused() {
        ShortHash::new([0; 32]).hash(&[[0; 64]; 2], &mut [[0; 32]; 3]);
    }
}
