//! Division and square roots.

use comity_library::arith;

use super::{check, mask, signed};
use crate::{Random, circuit, run};

const WIDTHS: [usize; 14] = [1, 2, 3, 4, 5, 6, 7, 8, 13, 16, 32, 63, 64, 128];

fn quotient(x: u128, y: u128, n: usize) -> u128 {
    x.checked_div(y).unwrap_or(mask(n))
}

fn remainder(x: u128, y: u128) -> u128 {
    x.checked_rem(y).unwrap_or(x)
}

fn quotient_signed(x: u128, y: u128, n: usize) -> u128 {
    let (x, y) = (signed(x, n), signed(y, n));
    (if y == 0 { -1 } else { x.wrapping_div(y) }) as u128 & mask(n)
}

fn remainder_signed(x: u128, y: u128, n: usize) -> u128 {
    let (x, y) = (signed(x, n), signed(y, n));
    (if y == 0 { x } else { x.wrapping_rem(y) }) as u128 & mask(n)
}

#[test]
fn quotients_and_remainders_agree_with_the_machine() {
    check(
        "div",
        &WIDTHS,
        |b, x, y| vec![arith::div(b, x, y)],
        |x, y, n| vec![quotient(x, y, n)],
        |n| if n == 1 { 1 } else { (n * n + 5 * n - 6) / 2 },
    );
    check(
        "rem",
        &WIDTHS,
        |b, x, y| vec![arith::rem(b, x, y)],
        |x, y, _| vec![remainder(x, y)],
        |n| if n == 1 { 1 } else { (n * n + 9 * n - 8) / 2 },
    );
    check(
        "div_rem",
        &WIDTHS,
        |b, x, y| {
            let (quotient, remainder) = arith::div_rem(b, x, y);
            vec![quotient, remainder]
        },
        |x, y, n| vec![quotient(x, y, n), remainder(x, y)],
        |n| if n == 1 { 1 } else { (n * n + 9 * n - 8) / 2 },
    );
}

#[test]
fn signed_quotients_are_rounded_towards_zero() {
    check(
        "div_signed",
        &WIDTHS,
        |b, x, y| vec![arith::div_signed(b, x, y)],
        |x, y, n| vec![quotient_signed(x, y, n)],
        |n| (n * n + 13 * n - 12) / 2,
    );
    check(
        "rem_signed",
        &WIDTHS,
        |b, x, y| vec![arith::rem_signed(b, x, y)],
        |x, y, n| vec![remainder_signed(x, y, n)],
        |n| if n == 1 { 1 } else { (n * n + 15 * n - 14) / 2 },
    );
    check(
        "div_rem_signed",
        &WIDTHS,
        |b, x, y| {
            let (quotient, remainder) = arith::div_rem_signed(b, x, y);
            vec![quotient, remainder]
        },
        |x, y, n| vec![quotient_signed(x, y, n), remainder_signed(x, y, n)],
        |n| if n == 1 { 1 } else { (n * n + 19 * n - 16) / 2 },
    );
}

#[test]
fn public_divisors_cost_far_less() {
    for n in [1, 2, 3, 5, 8, 16, 33, 64, 128] {
        let mut divisors = vec![
            1,
            2,
            3,
            5,
            6,
            7,
            10,
            12,
            100,
            127,
            128,
            641,
            1 << 31,
            1_000_000_007,
            mask(n),
            mask(n) - 1,
            mask(n) / 2 + 1,
            mask(n) / 3,
        ];
        divisors.retain(|&d| d != 0);
        for d in divisors {
            let c = circuit([n], |b, [x]| {
                let (quotient, remainder) = arith::div_rem_by(b, x, d);
                vec![quotient, remainder]
            });
            let odd = d >> d.trailing_zeros();
            let (bits, left) = (128 - odd.leading_zeros() as usize, n.saturating_sub(d.trailing_zeros() as usize));
            let most = if odd == 1 || d > mask(n) { 0 } else { bits * (left - bits + 1) + bits };
            assert!(c.counts().and <= most as u64, "{n} bits by {d}: {} ANDs", c.counts().and);
            let mut random = Random(n as u64);
            let mut x = random.words(n);
            for k in 0..8 {
                x[k] = (d.wrapping_mul(x[k + 8] % 9).wrapping_add(k as u128).wrapping_sub(4)) & mask(n);
            }
            let out = run(&c, &[x]);
            for k in 0..64 {
                assert_eq!((out[0][k], out[1][k]), (x[k] / d, x[k] % d), "{} / {d} in {n} bits", x[k]);
            }
        }
    }
}

#[test]
fn public_divisors_may_be_negative() {
    for n in [2, 5, 8, 33, 64] {
        for d in [1, -1, 3, -3, 8, -8, 10, -100, i128::MIN, i128::MAX] {
            let c = circuit([n], |b, [x]| {
                let (quotient, remainder) = arith::div_rem_signed_by(b, x, d);
                vec![quotient, remainder]
            });
            let x = Random(n as u64).words(n);
            let out = run(&c, &[x]);
            for k in 0..64 {
                let number = signed(x[k], n);
                let want = [number / d, number % d].map(|v| v as u128 & mask(n));
                assert_eq!([out[0][k], out[1][k]], want, "{number} / {d} in {n} bits");
            }
        }
    }
}

#[test]
#[should_panic(expected = "a public divisor is not 0")]
fn a_public_divisor_of_zero_is_refused() {
    circuit([4], |b, [x]| vec![arith::div_rem_by(b, x, 0).0]);
}

#[test]
fn roots_are_rounded_down() {
    for n in (1..=17usize).chain([31, 32, 63, 64, 127, 128]) {
        let c = circuit([n], |b, [x]| vec![arith::sqrt(b, x)]);
        let digits = n.div_ceil(2);
        assert!(c.counts().and as usize <= digits * (digits + 3) / 2, "{n} bits: {}", c.counts().and);
        let mut random = Random(n as u64);
        for turn in 0..(1usize << n.min(12)).div_ceil(64) {
            let x = if n <= 12 {
                std::array::from_fn(|k| (64 * turn + k) as u128 & mask(n))
            } else {
                let mut x = random.words(n);
                for k in 0..8 {
                    // Squares and their neighbours.
                    let root = x[k + 8] & mask(n / 2);
                    x[k] = (root * root).wrapping_add(k as u128 % 3).wrapping_sub(1) & mask(n);
                }
                x
            };
            let out = run(&c, &[x]);
            for k in 0..64 {
                assert_eq!(out[0][k], x[k].isqrt(), "the root of {} in {n} bits", x[k]);
            }
        }
    }
}
