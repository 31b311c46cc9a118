use comity_channel::{Recorded, Replay};
use comity_core::Kind;

use super::*;

/// A list's bytes.
fn encode(masks: &[u128], bits: u32) -> Vec<u8> {
    let mut ch = Recorded::new(Replay::of_peer(Vec::new()), 1 << 20);
    MaskList::new(masks.len(), bits).send(&mut ch, masks).unwrap();
    ch.recorder().recording().sent
}

/// The list of `n` masks with these bytes.
fn decode(bytes: &[u8], n: usize, bits: u32) -> Result<Vec<u128>> {
    let mut masks = Vec::new();
    MaskList::new(n, bits).receive(&mut Replay::of_peer(bytes.to_vec()), |some| masks.extend_from_slice(some))?;
    Ok(masks)
}

/// Masks of a generator, sorted.
fn masks(n: usize, bits: u32) -> Vec<u128> {
    let mut hash = blake3::Hasher::new().update(&(n as u64 * 1000 + u64::from(bits)).to_le_bytes()).finalize_xof();
    let mut masks: Vec<u128> = (0..n)
        .map(|_| {
            let mut bytes = [0; 16];
            hash.fill(&mut bytes);
            u128::from_le_bytes(bytes) >> (128 - bits)
        })
        .collect();
    masks.sort_unstable();
    masks
}

#[test]
fn lists_come_back_and_have_the_length_that_is_said() {
    for n in [0, 1, 2, 3, 4, 5, 127, 128, 129, 1000, 20_000] {
        for bits in [1, 2, 7, 8, 40, 63, 64, 65, 82, 100, 127, 128] {
            let masks = masks(n, bits);
            let bytes = encode(&masks, bits);
            assert_eq!(bytes.len(), MaskList::new(n, bits).len(), "{n} masks of {bits} bits");
            assert_eq!(decode(&bytes, n, bits).unwrap(), masks, "{n} masks of {bits} bits");
        }
    }
    // The ends, and masks that are the same.
    for masks in [vec![0; 9], vec![u128::MAX; 9], vec![0, 0, 0, u128::MAX, u128::MAX]] {
        assert_eq!(decode(&encode(&masks, 128), masks.len(), 128).unwrap(), masks);
    }
    let n = 1 << 20;
    assert_eq!(MaskList::new(n, 82).len(), n * 64 / 8, "two bits more than log2(n) less");
}

#[test]
fn what_is_no_list_is_refused() {
    let (n, bits) = (100, 82);
    let good = encode(&masks(n, bits), bits);
    let upper = MaskList::new(n, bits).bytes()[0];
    let why = |bytes: &[u8]| match decode(bytes, n, bits).unwrap_err().kind {
        Kind::Malformed(why) => why,
        other => format!("{other:?}"),
    };
    let with = |change: fn(&mut Vec<u8>, usize)| {
        let mut bytes = good.clone();
        change(&mut bytes, upper);
        why(&bytes)
    };
    // A mask too many, one too few, one beyond the end, two that change places.
    assert!(with(|bytes, _| bytes[0] = 0xff).contains("masks and not 100"));
    assert!(with(|bytes, _| bytes[0] = 0).contains("masks and not 100"));
    let last = |bytes: &mut Vec<u8>, upper: usize| {
        let last = bytes[..upper].iter().rposition(|&byte| byte != 0).unwrap();
        bytes[last] &= bytes[last] - 1;
        bytes[upper - 1] |= 0x80;
    };
    assert!(with(last).contains("too large"));
    let same = encode(&[5, 6], 20);
    let swapped: Vec<u8> = [&same[..1], &encode(&[6, 6], 20)[1..]].concat();
    assert!(decode(&swapped, 2, 20).is_ok(), "the same mask twice is a list");
    let mut bits = Writer { out: Vec::new(), waiting: 0, bits: 0 };
    bits.put(6, 19);
    bits.put(5, 19);
    let unsorted = [&same[..1], &bits.finish()].concat();
    assert!(decode(&unsorted, 2, 20).unwrap_err().to_string().contains("not in order"));
    // Bits that fill the last byte.
    let three = encode(&masks(3, 60), 60);
    let mut filled = three.clone();
    *filled.last_mut().unwrap() |= 0x80;
    assert!(
        decode(&three, 3, 60).is_ok() && decode(&filled, 3, 60).unwrap_err().to_string().contains("after the last")
    );
    // Cut short.
    assert!(matches!(decode(&good[..good.len() - 1], n, 82).unwrap_err().kind, Kind::Closed));
}

#[test]
fn each_list_has_one_encoding() {
    // Whatever is taken is what its masks are encoded to.
    for seed in 0..4000u64 {
        let mut bytes = vec![0; MaskList::new(3, 6).len()];
        blake3::Hasher::new().update(&seed.to_le_bytes()).finalize_xof().fill(&mut bytes);
        if let Ok(masks) = decode(&bytes, 3, 6) {
            assert_eq!(encode(&masks, 6), bytes);
        }
    }
    let all: usize = (0..=u16::MAX).filter(|n| decode(&[&n.to_le_bytes()[..], &[0]].concat(), 2, 9).is_ok()).count();
    assert!(all > 0);
}

/// Masks that are there, that are not, and that come twice, in lists of every shape.
#[test]
fn masks_are_found_without_reading_the_list() {
    for (n, bits) in [(0, 20), (1, 1), (1, 128), (2, 2), (7, 3), (100, 5), (100, 82), (1000, 64), (1000, 75), (3, 128)]
    {
        let there = masks(n, bits);
        let list = encode(&there, bits);
        let mut sought = [masks(n + 40, bits), there.iter().step_by(3).copied().collect()].concat();
        sought.sort_unstable();
        let mut found = Vec::new();
        MaskList::new(n, bits).find(&list, sought.iter().copied(), |nth, rank| found.push((nth, rank)));
        let expected: Vec<usize> = (0..sought.len()).filter(|nth| there.binary_search(&sought[*nth]).is_ok()).collect();
        assert_eq!(found.iter().map(|found| found.0).collect::<Vec<_>>(), expected, "{n} masks of {bits} bits");
        assert!(found.iter().all(|&(nth, rank)| there[rank] == sought[nth]));
        // The first of equal masks is found.
        assert!(found.iter().all(|&(_, rank)| rank == 0 || there[rank - 1] < there[rank]));
    }
}
