//! Bitwise operations, shifts, and counting.

use comity_circuit::{Builder, Wire};
use comity_library::arith;

use super::{WIDTHS, check, mask, signed};
use crate::{Random, circuit, run};

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
fn zeros_are_counted_from_both_ends() {
    let widths: Vec<usize> = (1..=17).chain([31, 32, 33, 64, 100, 128]).collect();
    check(
        "leading_zeros",
        &widths,
        |b, x, _| vec![arith::leading_zeros(b, x)],
        |x, _, n| vec![(x.leading_zeros() as usize + n - 128) as u128],
        |n| n - 1,
    );
    check(
        "trailing_zeros",
        &widths,
        |b, x, _| vec![arith::trailing_zeros(b, x)],
        |x, _, n| vec![(x.trailing_zeros() as usize).min(n) as u128],
        |n| n - 1,
    );
    check(
        "parity",
        &widths,
        |b, x, _| vec![vec![arith::parity(b, x)]],
        |x, _, _| vec![u128::from(x.count_ones() % 2)],
        |_| 0,
    );
}

type Shift = fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>;

/// Checks shifts of words of n bits by amounts of m bits against what they should give.
fn check_shift(name: &str, build: Shift, expected: fn(u128, u128, usize) -> u128, ands: fn(usize, usize) -> usize) {
    for n in (1..=17usize).chain([31, 32, 33, 64, 96, 128]) {
        let index = (usize::BITS - (n - 1).leading_zeros()) as usize; // bits of weight less than n
        for m in [1, 2, index.max(1), index + 1, index + 3] {
            let c = circuit([n, m], |b, [x, by]| vec![build(b, x, by)]);
            assert_eq!(c.counts().and, ands(n, m) as u64, "{name}: {n} bits by {m} bits");
            let mut random = Random((n + m) as u64);
            let (x, by) = (random.words(n), random.words(m));
            let out = run(&c, &[x, by]);
            for k in 0..64 {
                assert_eq!(out[0][k], expected(x[k], by[k], n), "{name}: {} of {n} bits by {}", x[k], by[k]);
            }
        }
    }
}

/// The number of layers of a shift by an amount of m bits, and that of the ANDs that join its bits that shift out
/// everything.
fn layers(n: usize, m: usize) -> (usize, usize) {
    let index = (usize::BITS - (n - 1).leading_zeros()) as usize;
    if m <= index { (m, 0) } else { (index + 1, m - index - 1) }
}

#[test]
fn secret_amounts_shift() {
    let ands = |n, m| {
        let (layers, join) = layers(n, m);
        layers * n + join
    };
    check_shift("shl", arith::shl_by, |x, by, n| if by < n as u128 { x << by & mask(n) } else { 0 }, ands);
    check_shift("shr", arith::shr_by, |x, by, n| if by < n as u128 { x >> by } else { 0 }, ands);
    check_shift(
        "sar",
        arith::sar_by,
        |x, by, n| (signed(x, n) >> by.min(127)) as u128 & mask(n),
        |n, m| {
            let (layers, join) = layers(n, m);
            if n == 1 { 0 } else { layers * (n - 1) + join }
        },
    );
}

#[test]
fn secret_amounts_rotate() {
    let left = |x: u128, by: u128, n: usize| {
        let by = by as usize % n;
        if by == 0 { x } else { (x << by | x >> (n - by)) & mask(n) }
    };
    fn gcd(a: usize, b: usize) -> usize {
        if b == 0 { a } else { gcd(b, a % b) }
    }
    let ands = |n, m| (0..m).map(|k| n - gcd(n, (1 << k) % n)).sum();
    check_shift("rotl", arith::rotl_by, left, ands);
    check_shift(
        "rotr",
        arith::rotr_by,
        |x, by, n| {
            let by = by as usize % n;
            if by == 0 { x } else { (x >> by | x << (n - by)) & mask(n) }
        },
        ands,
    );
}
