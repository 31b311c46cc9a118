//! Arithmetic: all operands of small widths, random ones of others, and the stated AND counts.

use comity_circuit::library::arith;
use comity_circuit::{Builder, Wire};

use crate::{Random, all_pairs, circuit, run};

type Binary = fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Vec<Wire>>;
type Expected = fn(u128, u128, usize) -> Vec<u128>;

fn mask(n: usize) -> u128 {
    u128::MAX >> (128 - n)
}

fn signed(x: u128, n: usize) -> i128 {
    (x as i128) << (128 - n) >> (128 - n)
}

/// Checks an operation on two words of width n: all operands for n up to 4, random ones for others. The circuit must
/// have `ands(n)` AND gates.
fn check(name: &str, widths: &[usize], build: Binary, expected: Expected, ands: fn(usize) -> usize) {
    let mut random = Random(7);
    for &n in widths {
        let c = circuit([n, n], |b, [x, y]| build(b, x, y));
        assert_eq!(c.counts().and, ands(n) as u64, "{name}{n}: ANDs");
        let batches = if n <= 4 { all_pairs(n) } else { (0..4).map(|_| [random.words(n), random.words(n)]).collect() };
        for [x, y] in batches {
            let out = run(&c, &[x, y]);
            for k in 0..64 {
                let got: Vec<u128> = out.iter().map(|value| value[k]).collect();
                assert_eq!(got, expected(x[k], y[k], n), "{name}{n}({}, {})", x[k], y[k]);
            }
        }
    }
}

const WIDTHS: [usize; 12] = [1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 64, 128];

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
fn comparisons_agree_with_the_machine() {
    macro_rules! compares {
        ($($name:ident $unsigned:tt $ands:expr;)*) => {$(
            check(stringify!($name), &WIDTHS, |b, x, y| vec![vec![arith::$name(b, x, y)]],
                |x, y, _| vec![u128::from(x $unsigned y)], $ands);
        )*};
    }
    compares! {
        lt < |n| n; le <= |n| n; gt > |n| n; ge >= |n| n;
        eq == |n| n - 1; ne != |n| n - 1;
    }
    macro_rules! compares_signed {
        ($($name:ident $op:tt;)*) => {$(
            check(stringify!($name), &WIDTHS, |b, x, y| vec![vec![arith::$name(b, x, y)]],
                |x, y, n| vec![u128::from(signed(x, n) $op signed(y, n))], |n| n);
        )*};
    }
    compares_signed! { lt_signed <; le_signed <=; gt_signed >; ge_signed >=; }
    check(
        "is_zero",
        &WIDTHS,
        |b, x, _| vec![vec![arith::is_zero(b, x)]],
        |x, _, _| vec![u128::from(x == 0)],
        |n| n - 1,
    );
}

#[test]
fn the_smaller_and_the_greater_cost_two_ands_a_bit() {
    // Of single bits the smaller is x & y and the greater x | y: the comparison's AND is shared with the selection's.
    let ands = |n: usize| 2 * n;
    let widths = &WIDTHS[1..];
    check("min", widths, |b, x, y| vec![arith::min(b, x, y)], |x, y, _| vec![x.min(y)], ands);
    check("max", widths, |b, x, y| vec![arith::max(b, x, y)], |x, y, _| vec![x.max(y)], ands);
    check(
        "min_signed",
        widths,
        |b, x, y| vec![arith::min_signed(b, x, y)],
        |x, y, n| vec![if signed(x, n) < signed(y, n) { x } else { y }],
        ands,
    );
    check(
        "max_signed",
        widths,
        |b, x, y| vec![arith::max_signed(b, x, y)],
        |x, y, n| vec![if signed(x, n) < signed(y, n) { y } else { x }],
        ands,
    );
}

#[test]
fn words_select_shift_and_combine() {
    check(
        "mux",
        &WIDTHS[1..],
        |b, x, y| vec![arith::mux(b, x[0], x, y)],
        |x, y, _| vec![if x & 1 == 1 { x } else { y }],
        |n| n,
    );
    check(
        "bitwise",
        &WIDTHS,
        |b, x, y| vec![arith::xor(b, x, y), arith::and(b, x, y), arith::or(b, x, y), arith::not(b, x)],
        |x, y, n| vec![x ^ y, x & y, x | y, !x & mask(n)],
        |n| n, // and and or share
    );
    for by in [0, 1, 5, 7, 8, 9, 20] {
        let c = circuit([8], |_, [x]| {
            vec![arith::shl(x, by), arith::shr(x, by), arith::sar(x, by), arith::rotl(x, by), arith::rotr(x, by)]
        });
        assert!(c.gates().is_empty());
        let x = Random(by as u64).words(8);
        let out = run(&c, &[x]);
        for k in 0..64 {
            let x = x[k] as u8;
            let expected = [
                x.checked_shl(by as u32).unwrap_or(0),
                x.checked_shr(by as u32).unwrap_or(0),
                (x as i8 >> by.min(7)) as u8,
                x.rotate_left(by as u32),
                x.rotate_right(by as u32),
            ];
            assert_eq!(out.iter().map(|v| v[k] as u8).collect::<Vec<_>>(), expected, "{x} by {by}");
        }
    }
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
fn population_counts_have_the_fewest_ands() {
    for n in (1..=33).chain([63, 64, 65, 100, 128]) {
        let c = circuit([n, n], |b, [x, y]| vec![arith::popcount(b, x), arith::hamming(b, x, y)]);
        assert_eq!(c.counts().and, 2 * (n as u64 - u64::from(n.count_ones())), "popcount{n}");
        let mut random = Random(n as u64);
        let (x, y) = (random.words(n), random.words(n));
        let out = run(&c, &[x, y]);
        for k in 0..64 {
            assert_eq!(out[0][k], u128::from(x[k].count_ones()));
            assert_eq!(out[1][k], u128::from((x[k] ^ y[k]).count_ones()));
        }
    }
}

#[test]
fn products_agree_with_the_machine() {
    let low = |n: usize| if n < 3 { n * n - n + 1 } else { (n * n + 3 * n - 4) / 2 };
    let widths: Vec<usize> = (1..=64).collect();
    check("mul", &widths, |b, x, y| vec![arith::mul(b, x, y)], |x, y, n| vec![x.wrapping_mul(y) & mask(n)], low);
    let full: Vec<usize> = (1..30).collect();
    check(
        "mul_full",
        &full,
        |b, x, y| vec![arith::mul_full(b, x, y)],
        |x, y, _| vec![x * y],
        |n| if n < 3 { 2 * n * n - n } else { n * n + 3 * n - 3 },
    );
}

#[test]
fn wide_products_are_cut_and_still_right() {
    // Products of more than 128 bits, checked modulo primes below 2^32.
    for n in [29, 30, 31, 33, 55, 64, 98, 99, 100, 128, 130, 256] {
        let c = circuit([n, n], |b, [x, y]| vec![arith::mul_full(b, x, y), arith::mul(b, x, y)]);
        let mut random = Random(n as u64);
        let mut word =
            |_| if random.next().is_multiple_of(4) { vec![!0u64; n] } else { (0..n).map(|_| random.next()).collect() };
        let (x, y) = (word(0), word(1));
        let out = super::evaluate(&c, &[&x[..], &y].concat());
        assert_eq!(out[..n], out[2 * n..]);
        for k in 0..64 {
            let bits = |word: &[u64]| word.iter().map(|w| (w >> k & 1) as u32).collect::<Vec<u32>>();
            assert_eq!(bits(&out[..2 * n]), schoolbook(&bits(&x), &bits(&y)), "{n} bits, instance {k}");
        }
    }
}

/// The product of numbers given bit by bit.
fn schoolbook(x: &[u32], y: &[u32]) -> Vec<u32> {
    let mut sums = vec![0; x.len() + y.len()];
    for (i, x) in x.iter().enumerate() {
        for (j, y) in y.iter().enumerate() {
            sums[i + j] += x & y;
        }
    }
    let mut carry = 0;
    let digit = |sum: u32| {
        let total = sum + carry;
        carry = total >> 1;
        total & 1
    };
    sums.into_iter().map(digit).collect()
}

#[test]
#[should_panic(expected = "the same width")]
fn operands_of_different_widths_are_refused() {
    circuit([3, 4], |b, [x, y]| vec![arith::add(b, x, y)]);
}
