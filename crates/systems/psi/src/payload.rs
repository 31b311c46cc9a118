//! Sealed payload: encryption with a key that is used once, and a tag, both by BLAKE3.

use comity_core::verdict;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

/// Bytes of a tag.
pub(crate) const TAG: usize = 16;

/// The key of one item's payload.
pub(crate) type Key = Zeroizing<[u8; 32]>;

/// Appends the payload, encrypted, and its tag.
pub(crate) fn seal(key: &Key, payload: &[u8], out: &mut Vec<u8>) {
    let start = out.len();
    out.extend_from_slice(payload);
    mask(key, &mut out[start..]);
    let tag = tag(key, &out[start..]);
    out.extend_from_slice(&tag);
}

/// The payload, if the tag is that of this key.
pub(crate) fn open(key: &Key, sealed: &[u8]) -> Option<Vec<u8>> {
    let (encrypted, theirs) = sealed.split_last_chunk::<TAG>()?;
    if !verdict(tag(key, encrypted).ct_eq(theirs)) {
        return None;
    }
    let mut payload = encrypted.to_vec();
    mask(key, &mut payload);
    Some(payload)
}

/// Adds the key's pad.
fn mask(key: &Key, bytes: &mut [u8]) {
    let mut pad = Zeroizing::new(vec![0; bytes.len()]);
    blake3::Hasher::new_keyed(key).update(b"pad").finalize_xof().fill(&mut pad);
    bytes.iter_mut().zip(&*pad).for_each(|(byte, pad)| *byte ^= pad);
}

/// The tag of what is encrypted.
fn tag(key: &Key, encrypted: &[u8]) -> [u8; TAG] {
    let hash = blake3::Hasher::new_keyed(key).update(b"tag").update(encrypted).finalize();
    *hash.as_bytes().first_chunk().expect("32 bytes")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_sealed_is_opened_by_its_key_alone() {
        let keys: [Key; 2] = [Zeroizing::new([1; 32]), Zeroizing::new([2; 32])];
        for len in [1, 16, 65, 1000] {
            let payload: Vec<u8> = (0..len).map(|i| i as u8).collect();
            let mut sealed = Vec::new();
            seal(&keys[0], &payload, &mut sealed);
            assert_eq!(sealed.len(), len + TAG);
            assert_eq!(open(&keys[0], &sealed), Some(payload));
            assert_eq!(open(&keys[1], &sealed), None);
            for at in [0, len - 1, len, len + TAG - 1] {
                let mut wrong = sealed.clone();
                wrong[at] ^= 4;
                assert_eq!(open(&keys[0], &wrong), None);
            }
        }
        assert_eq!(open(&keys[0], &[0; TAG - 1]), None);
    }

    /// A tag that were of the pad's kind would be a piece of the pad for a payload that somebody knows.
    #[test]
    fn a_tag_is_no_pad() {
        let key = Zeroizing::new([1; 32]);
        let tag = tag(&key, &[]);
        let mut pad = [0; TAG];
        mask(&key, &mut pad);
        assert_ne!(tag, pad);
    }
}
