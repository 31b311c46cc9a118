//! Hashes of output labels, and what is decoded from the labels that were found.

use comity_core::Bits;

use super::*;

/// `H` is keyed by the session and takes in the label, the bit and `b`, each of which alone makes another hash.
#[test]
fn h_of_a_label_depends_on_its_place() {
    let session = SessionId::derive("a test of H", &[]);
    let mut hashes = Hashes::new(Backend::detect(), &session);
    // More than a stretch, all of one label.
    let labels = vec![Block::from_u128(7 << 64 | 5); 3 * STRETCH + 2];
    let digests = hashes.labels(11, &labels).to_vec();
    let key = session.child("hashes of output labels").to_bytes();
    for (at, digest) in digests.iter().enumerate() {
        let mut message = [0; 64];
        message[..16].copy_from_slice(&labels[0].to_bytes());
        message[16..24].copy_from_slice(&(11 + at as u64 / 2).to_le_bytes());
        message[24] = (at % 2) as u8;
        assert_eq!(digest, blake3::keyed_hash(&key, &message).as_bytes(), "{at}");
        assert_eq!(digests.iter().filter(|other| *other == digest).count(), 1, "{at}");
    }
}

/// The outputs that step 6 makes of the labels found, `(Delta_{i,0}, Delta_{i,1})` for each bit.
fn decoded(found: &[[Option<u128>; 2]], valid: bool) -> Decoded {
    let session = SessionId::derive("a test of decoding", &[]);
    let mut results =
        Results::new(Backend::detect(), &session, &CopyChoice::new(&Bits::from_bytes(&[1], 1)), found.len());
    for label in found.as_flattened() {
        // What was not found is garbage.
        results.found.push(Block::from_u128(label.unwrap_or(0xbad)));
        results.seen.push(if label.is_some() { u64::MAX } else { 0 });
    }
    results.valid = vec![0, if valid { u64::MAX } else { 0 }];
    results.decode(FRESH)
}

const FRESH: Block = Block::from_u128(0xf4e5);

#[test]
fn one_delta_recovers_and_two_are_ambiguous() {
    let (zero, one, both, other) = ([Some(9), None], [None, Some(9)], [Some(9), Some(9 ^ 7)], [Some(20), Some(20 ^ 6)]);
    let same = [Some(20), Some(20 ^ 7)];
    // Whether copies disagree, whether that is ambiguous, and Omega.
    for (found, disagree, ambiguous, omega) in [
        (&[][..], false, false, None),
        (&[zero, one, zero], false, false, None),
        (&[both], true, false, Some(7)),
        (&[zero, both, one], true, false, Some(7)),
        (&[both, same], true, false, Some(7)),
        (&[both, zero, same, one, both], true, false, Some(7)),
        (&[both, other], true, true, Some(7)),
        (&[other, both], true, true, Some(6)),
        (&[both, same, one, other], true, true, Some(7)),
        (&[other, both, both], true, true, Some(6)),
        (&[both, other, both], true, true, Some(7)),
    ] {
        let flags = |decoded: &Decoded| [decoded.invalid, decoded.disagree].map(bool::from);
        let with_valid = decoded(found, true);
        assert_eq!(flags(&with_valid), [false, disagree], "{found:?}");
        assert_eq!(bool::from(with_valid.ambiguous), ambiguous, "{found:?}");
        assert!(with_valid.omega == omega.map_or(FRESH, Block::from_u128), "{found:?}");
        // Where no copy is valid nothing is recovered, and Omega does not say more.
        let without = decoded(found, false);
        assert_eq!(flags(&without), [true, false], "{found:?}");
        assert!(without.omega == FRESH, "{found:?}");
        for (i, [_, label]) in found.iter().enumerate() {
            assert_eq!(with_valid.bits.get(i), label.is_some(), "{found:?}");
        }
    }
}

#[test]
fn hashes_are_equal_only_if_every_bit_is() {
    let digest = *blake3::hash(b"a digest").as_bytes();
    assert_eq!(equal(&digest, &digest), u64::MAX);
    for bit in 0..256 {
        let mut other = digest;
        other[bit / 8] ^= 1 << (bit % 8);
        assert_eq!(equal(&digest, &other), 0, "bit {bit}");
        // The same difference in another word does not take the first one away.
        other[(bit / 8 + 8) % 32] ^= 1 << (bit % 8);
        assert_eq!(equal(&digest, &other), 0, "bit {bit}, twice");
    }
}
