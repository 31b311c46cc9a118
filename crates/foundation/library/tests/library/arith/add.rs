//! Sums, differences, absolute values.

use comity_circuit::Wire;
use comity_library::arith;

use super::{WIDTHS, check, mask, signed};
use crate::{Random, circuit, run};

#[test]
fn addition_and_subtraction_have_the_fewest_ands() {
    check("add", &WIDTHS, |b, x, y| vec![arith::add(b, x, y)], |x, y, n| vec![x.wrapping_add(y) & mask(n)], |n| n - 1);
    check("sub", &WIDTHS, |b, x, y| vec![arith::sub(b, x, y)], |x, y, n| vec![x.wrapping_sub(y) & mask(n)], |n| n - 1);
    check(
        "negate",
        &WIDTHS,
        |b, x, _| vec![arith::negate(b, x)],
        |x, _, n| vec![x.wrapping_neg() & mask(n)],
        |n| n.saturating_sub(2),
    );
    check(
        "increment",
        &WIDTHS,
        |b, x, _| vec![arith::increment(b, x)],
        |x, _, n| vec![x.wrapping_add(1) & mask(n)],
        |n| n.saturating_sub(2),
    );
}

#[test]
fn carries_go_in_and_out() {
    // The carry in is the lowest bit of x.
    check(
        "add_carry",
        &WIDTHS,
        |b, x, y| {
            let (sum, carry) = arith::add_carry(b, x, y, x[0]);
            vec![sum, vec![carry]]
        },
        |x, y, n| {
            let (sum, over) = x.overflowing_add(y);
            let (sum, again) = sum.overflowing_add(x & 1);
            vec![sum & mask(n), u128::from(over || again || sum > mask(n))]
        },
        |n| n - 1, // x + x + y has a free lowest carry
    );
    check(
        "sub_borrow",
        &WIDTHS,
        |b, x, y| {
            let (difference, borrow) = arith::sub_borrow(b, x, y, Wire::ZERO);
            let (_, other) = arith::sub_borrow(b, x, y, Wire::ONE);
            vec![difference, vec![borrow], vec![other]]
        },
        |x, y, n| vec![x.wrapping_sub(y) & mask(n), u128::from(x < y), u128::from(x <= y)],
        |n| 2 * n - 1, // at the lowest bit !x & y and x & !y share their AND
    );
    check(
        "add_carry_out",
        &WIDTHS,
        |b, x, y| vec![vec![arith::add_carry(b, x, y, Wire::ZERO).1]],
        |x, y, n| vec![u128::from(x.checked_add(y).is_none_or(|sum| sum > mask(n)))],
        |n| n,
    );
}

#[test]
fn constants_fold_into_sums() {
    let c = circuit([16], |b, [x]| {
        let k = arith::constant(0b1010_1000, 16);
        vec![arith::add(b, x, &k), arith::sum(b, &[x, &k, x])]
    });
    let x = Random(3).words(16);
    let out = run(&c, &[x]);
    for k in 0..64 {
        assert_eq!(out[0][k], (x[k] + 0b1010_1000) & mask(16));
        assert_eq!(out[1][k], (2 * x[k] + 0b1010_1000) & mask(16));
    }
    let add = circuit([16], |b, [x]| vec![arith::add(b, x, &arith::constant(0b1010_1000, 16))]);
    assert!(arith::constant(u128::MAX, 130)[128..].iter().all(|&w| w == Wire::ZERO));
    // Bits 0 to 2 pass, the carry out of bit 3 is the bit itself, those of bits 4 to 14 cost an AND each.
    assert_eq!(add.counts().and, 11);
}

#[test]
fn sums_of_many_words_save_half_adders() {
    for (terms, ands) in [(1, 0), (2, 31), (3, 61), (4, 92), (5, 121), (6, 152)] {
        let c = circuit([32; 6], |b, words| vec![arith::sum(b, &words[..terms])]);
        assert_eq!(c.counts().and, ands, "{terms} terms");
        let mut random = Random(terms as u64);
        let words: [_; 6] = std::array::from_fn(|_| random.words(32));
        let out = run(&c, &words);
        for k in 0..64 {
            assert_eq!(out[0][k], words[..terms].iter().map(|w| w[k]).sum::<u128>() & mask(32));
        }
    }
}

#[test]
fn absolute_values_are_unsigned() {
    check(
        "abs",
        &WIDTHS,
        |b, x, _| vec![arith::abs(b, x)],
        |x, _, n| vec![signed(x, n).unsigned_abs() & mask(n)],
        |n| n - 1,
    );
    check(
        "abs_diff",
        &WIDTHS,
        |b, x, y| vec![arith::abs_diff(b, x, y)],
        |x, y, _| vec![x.abs_diff(y)],
        |n| if n == 1 { 0 } else { 2 * n - 1 },
    );
    check(
        "abs_diff_signed",
        &WIDTHS,
        |b, x, y| vec![arith::abs_diff_signed(b, x, y)],
        |x, y, n| vec![signed(x, n).abs_diff(signed(y, n))],
        |n| if n == 1 { 0 } else { 2 * n - 1 },
    );
    check(
        "negate_if",
        &WIDTHS,
        |b, x, y| vec![arith::negate_if(b, y[0], x)],
        |x, y, n| vec![if y & 1 == 1 { x.wrapping_neg() & mask(n) } else { x }],
        |n| n - 1,
    );
}

#[test]
fn saturating_sums_stay_in_range() {
    let widths = &WIDTHS[..WIDTHS.len() - 1]; // sums of 127 bits and fewer fit the machine's words
    check(
        "add_saturating",
        widths,
        |b, x, y| vec![arith::add_saturating(b, x, y)],
        |x, y, n| vec![(x + y).min(mask(n))],
        |n| 2 * n,
    );
    check(
        "sub_saturating",
        widths,
        |b, x, y| vec![arith::sub_saturating(b, x, y)],
        |x, y, _| vec![x.saturating_sub(y)],
        |n| if n == 1 { 1 } else { 2 * n },
    );
    macro_rules! signed_ones {
        ($($name:ident $op:tt;)*) => {$(
            check(
                stringify!($name),
                widths,
                |b, x, y| vec![arith::$name(b, x, y)],
                |x, y, n| {
                    let top = (mask(n) >> 1) as i128;
                    vec![(signed(x, n) $op signed(y, n)).clamp(-top - 1, top) as u128 & mask(n)]
                },
                |n| 2 * n - 1,
            );
        )*};
    }
    signed_ones! { add_saturating_signed +; sub_saturating_signed -; }
}

#[test]
fn prefix_sums_of_carries_are_shallow() {
    for (name, build, expected) in [
        ("add_prefix", arith::add_prefix as super::Word, u128::wrapping_add as fn(u128, u128) -> u128),
        ("sub_prefix", arith::sub_prefix, u128::wrapping_sub),
    ] {
        for n in (1..=33usize).chain([63, 64, 65, 100, 127, 128]) {
            let c = circuit([n, n], |b, [x, y]| vec![build(b, x, y)]);
            assert_eq!(c.counts().and_depth, u64::from(n.next_power_of_two().ilog2()), "{name}{n}");
            if n.is_power_of_two() {
                let k = n.ilog2() as usize;
                assert_eq!(c.counts().and, (n * k - usize::from(n > 1)) as u64, "{name}{n}");
            }
            let mut random = Random(n as u64);
            let (x, y) = (random.words(n), random.words(n));
            let out = run(&c, &[x, y]);
            for k in 0..64 {
                assert_eq!(out[0][k], expected(x[k], y[k]) & mask(n), "{name}{n}({}, {})", x[k], y[k]);
            }
        }
    }
}

#[test]
#[should_panic(expected = "the same width")]
fn operands_of_different_widths_are_refused() {
    circuit([3, 4], |b, [x, y]| vec![arith::add(b, x, y)]);
}
