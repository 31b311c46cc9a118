//! Squaring, for half of a multiplication.
//!
//! As in multiplication, an odd x is a sum of digits that are never zero: x = Σ d_j·2^j with d_(n-1) = 1, and
//! d_j = 1 or -1 as bit j + 1 of x is one or zero. The product of two digits is 1 or -1 as their signs agree
//! or not: no AND. So x² = Σ 4^j + Σ_(i<j) d_i·d_j·2^(i+j+1) costs its n²/2 additions only. An even x is
//! handled as (x + 1)² - (2x + 1).
//!
//! From [`KARATSUBA`] bits on, a square is made of three of half the width.

use comity_circuit::{Builder, Wire, WordOp};

use super::mul::{join, least, sum_of_halves};
use super::{Columns, width};
use crate::gadget::gadget;

/// The narrowest words whose square is cut into three, where the AND counts cross.
const KARATSUBA: usize = 39;
/// The narrowest words the lower half of whose square is cut.
const KARATSUBA_LOW: usize = 120;

/// `x²` modulo 2^n, signed or unsigned. ⌊n²/4⌋ - 2 ANDs for 3 < n < 120, then fewer.
pub fn square(b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Square, &[x], |b| {
        let n = width(x, x);
        if n < least(b, KARATSUBA_LOW) {
            return direct(b, x, n);
        }
        let half = n.div_ceil(2);
        let mut low = square_full(b, &x[..half]);
        low.truncate(n);
        // Twice the product of the halves, modulo 2^(n - half).
        let rest = n - half - 1;
        let cross = super::mul(b, &x[..rest], &x[half..half + rest]);
        let high = super::add(b, &low[half + 1..], &cross);
        low.truncate(half + 1);
        low.extend(high);
        low
    })
}

/// `x²` in 2n bits, unsigned. ⌊n²/2⌋ + n - 3 ANDs for 1 < n < 39, then fewer.
pub fn square_full(b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
    let n = width(x, x);
    if n < least(b, KARATSUBA) {
        return direct(b, x, 2 * n);
    }
    // x² = low + 2^half·(middle - low - high) + 2^(2·half)·high with middle = (x0 + x1)².
    let half = n.div_ceil(2);
    let low = square_full(b, &x[..half]);
    let high = square_full(b, &x[half..]);
    let sum = sum_of_halves(b, x, half);
    let middle = square_full(b, &sum);
    join(b, &low, &high, &middle)
}

/// `x²` modulo 2^bits for bits up to 2n, unsigned.
fn direct(b: &mut Builder, x: &[Wire], bits: usize) -> Vec<Wire> {
    let n = x.len();
    let mut columns = Columns::new(bits);
    if n < 3 {
        for (j, &y) in x.iter().enumerate() {
            columns.bit(2 * j, y);
            for (i, &x) in x[..j].iter().enumerate() {
                columns.bit(i + j + 1, b.and(x, y));
            }
        }
        return columns.sum(b);
    }
    let digit = |i: usize| x.get(i + 1).copied().unwrap_or(Wire::ONE);
    // With a = 1 where the digits' signs agree, d_i·d_j = 2a - 1.
    for j in 0..n {
        for i in 0..j {
            columns.bit(i + j + 2, b.xnor(digit(i), digit(j)));
        }
    }
    // Less 2x + 1 if x is even, whose second bit is zero then: add the complement of n + 1 bits and one, less 2^(n+1).
    let even = b.not(x[0]);
    columns.bit(0, x[0]);
    columns.bit(1, Wire::ONE);
    for (i, &bit) in x.iter().enumerate().skip(1) {
        let term = b.and(bit, even);
        columns.bit(i + 1, b.not(term));
    }
    // The constants that are left, modulo 2^2n: 2·Σ 4^j - (2^n - 1)² + 1 - 2^(n+1) = 2·Σ 4^j.
    (0..n).for_each(|j| columns.bit(2 * j + 1, Wire::ONE));
    columns.sum(b)
}
