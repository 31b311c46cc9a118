//! Order-revealing encryption: comparisons are those of the numbers, and ciphertexts show no more than is said.

use std::cmp::Ordering;

use comity_core::Backend;
use comity_ope::{Clww, Left, Ore};
use proptest::prelude::*;

fn nonce(number: u64) -> [u8; 16] {
    u128::from(number).to_be_bytes()
}

/// Numbers that often agree in their first bytes.
fn numbers() -> impl Strategy<Value = (u64, u64)> {
    (any::<u64>(), any::<u64>(), 0..=64u32).prop_map(|(a, b, same)| {
        let mask = u64::MAX.checked_shr(same).unwrap_or(0);
        (a, (a & !mask) | (b & mask))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn left_and_right_compare_as_numbers((a, b) in numbers(), key in any::<[u8; 32]>()) {
        let ore = Ore::new(Backend::detect(), &key, 8);
        let right = ore.right(b.into(), nonce(a));
        prop_assert_eq!(right.len(), 528);
        prop_assert_eq!(ore.compare(&ore.left(a.into()), &right), Some(a.cmp(&b)));
        prop_assert_eq!(ore.compare(&ore.left(b.into()), &right), Some(Ordering::Equal));
    }

    #[test]
    fn every_width_compares(a in any::<u128>(), b in any::<u128>(), bytes in 1..=15usize, share in any::<bool>()) {
        let ore = Ore::new(Backend::detect(), &[3; 32], bytes);
        let mask = (1u128 << (8 * bytes)) - 1;
        let (a, b) = (a & mask, if share { (a ^ (b & 0xff)) & mask } else { b & mask });
        let left = ore.left(a);
        prop_assert_eq!(left.to_bytes().len(), Left::bytes(bytes));
        prop_assert_eq!(ore.compare(&left, &ore.right(b, nonce(1))), Some(a.cmp(&b)));
        for end in [0, mask] {
            prop_assert_eq!(ore.compare(&left, &ore.right(end, nonce(2))), Some(a.cmp(&end)));
        }
    }

    #[test]
    fn clww_compares_as_numbers((a, b) in numbers(), key in any::<[u8; 16]>()) {
        let clww = Clww::new(Backend::detect(), key);
        let (one, two) = (clww.encrypt(a), clww.encrypt(b));
        prop_assert_eq!(Clww::compare(one, two), a.cmp(&b));
        // What it leaks: the first bit that differs.
        prop_assert_eq!((one ^ two).leading_zeros() / 2, (a ^ b).leading_zeros());
    }
}

#[test]
fn what_does_not_fit_is_not_compared() {
    let [narrow, wide] = [4, 8].map(|bytes| Ore::new(Backend::detect(), &[3; 32], bytes));
    let right = wide.right(5, nonce(1));
    assert_eq!(wide.compare(&narrow.left(5), &right), None);
    assert_eq!(wide.compare(&wide.left(5), &right[1..]), None);
    // 3 is no digit.
    let broken: Vec<u8> = right.iter().enumerate().map(|(i, byte)| if i < 16 { *byte } else { 0xff }).collect();
    assert_eq!(wide.compare(&wide.left(5), &broken), None);
}

/// Digits of right ciphertexts are uniform, and those of one value under two nonces have nothing in common.
#[test]
fn right_ciphertexts_look_random() {
    let ore = Ore::new(Backend::detect(), &[9; 32], 8);
    let digits = |right: &[u8]| -> Vec<u8> {
        right[16..].iter().flat_map(|byte| (0..4).map(move |k| byte >> (2 * k) & 3)).collect()
    };
    let (mut counts, mut same, mut all) = ([0u32; 4], 0u32, 0u32);
    for number in 0..40u64 {
        let [one, two] = [2 * number, 2 * number + 1].map(|n| digits(&ore.right(77, nonce(n))));
        one.iter().for_each(|digit| counts[usize::from(*digit)] += 1);
        same += one.iter().zip(&two).filter(|(a, b)| a == b).count() as u32;
        all += one.len() as u32;
    }
    assert_eq!(counts[3], 0);
    let sigma = (f64::from(all) * 2.0 / 9.0).sqrt();
    for count in [counts[0], counts[1], counts[2], same] {
        assert!((f64::from(count) - f64::from(all) / 3.0).abs() < 6.0 * sigma, "{counts:?}, {same} of {all}");
    }
}

/// Left ciphertexts of values with another prefix have nothing in common behind it, and each block's
/// positions are a permutation.
#[test]
fn positions_are_permuted_for_each_prefix() {
    let ore = Ore::new(Backend::detect(), &[5; 32], 2);
    let position = |value: u128| ore.left(value).to_bytes()[17 + 16];
    let of = |prefix: u128| -> Vec<u8> { (0..256).map(|low| position(prefix << 8 | low)).collect() };
    let (one, two) = (of(1), of(2));
    let mut sorted = one.clone();
    sorted.sort_unstable();
    assert!(sorted.iter().copied().eq(0..=255), "a permutation");
    let fixed = one.iter().zip(&two).filter(|(a, b)| a == b).count();
    assert!(fixed < 12, "{fixed} of 256 positions are the same under two prefixes");
}

#[test]
fn all_backends_give_equal_bytes() {
    let outputs = Backend::available().into_iter().map(|backend| {
        let ore = Ore::new(backend, &[1; 32], 8);
        (ore.left(99).to_bytes(), ore.right(99, nonce(3)), Clww::new(backend, [2; 16]).encrypt(99))
    });
    let outputs: Vec<_> = outputs.collect();
    assert!(outputs.windows(2).all(|pair| pair[0] == pair[1]));
}

/// The keys of a left ciphertext are of prefix, block and position: where all prefixes are zero, the block
/// alone tells keys of one position apart.
#[test]
fn keys_of_different_blocks_differ() {
    let mut alike = 0;
    for key in 0..8 {
        let left = Ore::new(Backend::detect(), &[key; 32], 15).left(0).to_bytes();
        let blocks: Vec<(&[u8], u8)> = left.chunks(17).map(|block| (&block[..16], block[16])).collect();
        for (i, one) in blocks.iter().enumerate() {
            for other in &blocks[..i] {
                assert_ne!(one.0, other.0, "the keys of two blocks");
                alike += usize::from(one.1 == other.1);
            }
        }
    }
    assert!(alike > 0, "two blocks with one position");
}

/// So are the digits of [`Clww`]: those of zero are masked, each by another number.
#[test]
fn digits_of_different_places_are_masked_apart() {
    let zero = Clww::new(Backend::detect(), [7; 16]).encrypt(0);
    let digits: Vec<u128> = (0..64).map(|i| zero >> (2 * i) & 3).collect();
    assert!([0, 1, 2].iter().all(|digit| digits.iter().filter(|other| *other == digit).count() > 8), "{digits:?}");
}
