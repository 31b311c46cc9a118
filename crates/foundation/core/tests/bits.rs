//! `Bits` against a vector of booleans.

use comity_core::Bits;
use proptest::prelude::*;

fn bools() -> impl Strategy<Value = Vec<bool>> {
    prop_oneof![prop::collection::vec(any::<bool>(), 0..10), prop::collection::vec(any::<bool>(), 0..300)]
}

fn bits(from: &[bool]) -> Bits {
    from.iter().copied().collect()
}

/// Checks that the bits are those of the vector, and that what is past the end is zero.
fn check(bits: &Bits, expected: &[bool]) {
    assert_eq!(bits.len(), expected.len());
    assert_eq!(bits.is_empty(), expected.is_empty());
    assert_eq!(bits.iter().collect::<Vec<_>>(), expected);
    assert_eq!(bits.words().len(), expected.len().div_ceil(64));
    let ones: u32 = bits.words().iter().map(|w| w.count_ones()).sum();
    assert_eq!(ones as usize, expected.iter().filter(|b| **b).count());
}

proptest! {
    #[test]
    fn built_in_every_way(expected in bools()) {
        let built = bits(&expected);
        check(&built, &expected);
        let mut pushed = Bits::default();
        expected.iter().for_each(|&bit| pushed.push(bit));
        check(&pushed, &expected);
        let mut set = Bits::zeros(expected.len());
        expected.iter().enumerate().for_each(|(i, &bit)| set.set(i, bit));
        check(&set, &expected);
        check(&Bits::from_bytes(&built.to_bytes(), built.len()), &expected);
        check(&Bits::from_words(built.words().to_vec(), built.len()), &expected);
    }

    #[test]
    fn surplus_input_is_dropped(words in prop::collection::vec(any::<u64>(), 0..6), cut in any::<prop::sample::Index>()) {
        let bytes: Vec<u8> = words.iter().flat_map(|w| w.to_le_bytes()).collect();
        let all: Vec<bool> = (0..64 * words.len()).map(|i| words[i / 64] >> (i % 64) & 1 == 1).collect();
        let len = cut.index(all.len() + 1);
        check(&Bits::from_words(words, len), &all[..len]);
        check(&Bits::from_bytes(&bytes, len), &all[..len]);
        prop_assert_eq!(Bits::from_bytes(&bytes, len).to_bytes().len(), len.div_ceil(8));
    }

    #[test]
    fn joined_and_cut(a in bools(), b in bools(), from in any::<prop::sample::Index>(), to in any::<prop::sample::Index>()) {
        let mut joined = bits(&a);
        joined.extend_from(&bits(&b));
        let expected = [a, b].concat();
        check(&joined, &expected);
        let end = to.index(expected.len() + 1);
        let start = from.index(end + 1);
        check(&joined.slice(start, end - start), &expected[start..end]);
        // A slice is a string like any other.
        let mut again = joined.slice(start, end - start);
        again.push(true);
        check(&again, &[&expected[start..end], &[true]].concat());
    }

    #[test]
    fn sums(pairs in prop::collection::vec(any::<(bool, bool)>(), 0..200)) {
        let (a, b): (Vec<bool>, Vec<bool>) = pairs.iter().copied().unzip();
        let mut sum = bits(&a);
        sum.xor_assign(&bits(&b));
        check(&sum, &pairs.iter().map(|(a, b)| a ^ b).collect::<Vec<_>>());
    }

    #[test]
    fn equality(a in bools(), flip in any::<prop::sample::Index>()) {
        prop_assert_eq!(bits(&a), bits(&a));
        let mut longer = bits(&a);
        longer.push(false);
        prop_assert_ne!(&longer, &bits(&a));
        let mut other = longer.clone();
        let i = flip.index(other.len());
        other.set(i, !other.get(i));
        prop_assert_ne!(other, longer);
    }
}

#[test]
fn debug_hides_the_bits() {
    assert_eq!(format!("{:?}", bits(&[true; 70])), "Bits(70 bits)");
}

#[test]
#[should_panic(expected = "bit 3 of 3")]
fn get_past_the_end() {
    Bits::zeros(3).get(3);
}

#[test]
#[should_panic(expected = "bit 64 of 3")]
fn set_past_the_end() {
    Bits::zeros(3).set(64, true);
}

#[test]
#[should_panic(expected = "from 18446744073709551615 on of 3")]
fn slice_past_the_end() {
    Bits::zeros(3).slice(usize::MAX, 2);
}

#[test]
#[should_panic(expected = "9 bits wanted from 1 bytes")]
fn too_few_bytes() {
    Bits::from_bytes(&[0], 9);
}

#[test]
#[should_panic(expected = "65 bits wanted from 1 words")]
fn too_few_words() {
    Bits::from_words(vec![0], 65);
}

#[test]
#[should_panic(expected = "of one length")]
fn sum_of_different_lengths() {
    Bits::zeros(3).xor_assign(&Bits::zeros(4));
}
