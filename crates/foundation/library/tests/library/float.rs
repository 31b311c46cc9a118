//! Floats against the machine's own: every pair of numbers of a format of eight bits, and of the others millions of
//! patterns, most of them at the edges.

mod small;
mod wide;

use comity_circuit::{Builder, Wire};
use comity_library::float::FloatFormat;

use crate::Random;

type Binary = fn(FloatFormat, &mut Builder, &[Wire], &[Wire]) -> Vec<Wire>;
type Unary = fn(FloatFormat, &mut Builder, &[Wire]) -> Vec<Wire>;

/// Numbers of a format for an operation of two: exponents at the edges, or near each other, or such that their sum or
/// difference is at the edges; fractions that make ties, carries and cancellation likely.
fn pairs(random: &mut Random, format: FloatFormat) -> [[u128; 64]; 2] {
    let mut pairs = [[0; 64]; 2];
    let [left, right] = &mut pairs;
    for (left, right) in left.iter_mut().zip(right) {
        let (e, f) = (format.exponent(), format.fraction());
        let most = (1u64 << e) - 1;
        let bias = most / 2;
        let x = exponent(random, format);
        let near = random.next() % (f as u64 + 5);
        let y = match random.next() % 8 {
            0 => exponent(random, format),
            1 => x,
            2 => x.saturating_sub(near),
            3 => x + near,
            4 => (bias + near).saturating_sub(x), // a product at the lower edge
            5 => (most + bias).saturating_sub(x).saturating_sub(near % 4), // and at the upper
            6 => (x + bias + near / 2).saturating_sub(most), // a quotient at the upper edge
            _ => x + bias + 2 - near.min(bias),   // and at the lower
        };
        *left = number(random, format, x);
        *right = number(random, format, y.min(most));
        if random.next().is_multiple_of(32) {
            *right = *left ^ u128::from(random.next() % 4) ^ u128::from(random.next() & 1) << (e + f);
        }
    }
    pairs
}

fn exponent(random: &mut Random, format: FloatFormat) -> u64 {
    let most = (1u64 << format.exponent()) - 1;
    match random.next() % 8 {
        0 => 0,
        1 => most,
        2 => 1 + random.next() % 3,
        3 => most - 1 - random.next() % 3,
        4 => most / 2 - 2 + random.next() % 5,
        _ => random.next() & most,
    }
}

/// A number with this exponent field.
fn number(random: &mut Random, format: FloatFormat, exponent: u64) -> u128 {
    let f = format.fraction();
    let all = (1u128 << f) - 1;
    let wide = u128::from(random.next()) << 64 | u128::from(random.next());
    let at = random.next() as usize % f;
    let fraction = match random.next() % 10 {
        0 => 0,
        1 => all,
        2 => 1 << at,
        3 => all ^ 1 << at,
        4 => all >> at,
        5 => all << at,
        6 => wide << at,
        7 => (1 << at) + wide % 3,
        _ => wide,
    } & all;
    let sign = u128::from(random.next() & 1);
    sign << (f + format.exponent()) | u128::from(exponent) << f | fraction
}

/// The word of a single bit.
fn bit(wire: Wire) -> Vec<Wire> {
    vec![wire]
}
