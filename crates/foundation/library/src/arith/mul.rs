//! Multiplication: every partial product costs an XOR instead of an AND, and wide words are cut in half.
//!
//! Schoolbook multiplication ANDs each bit of x with each bit of y and adds the rows up: about 2n² ANDs for the full
//! product, n² for its lower half. But an odd y is a sum of digits that are never zero, y = 2^(n-1) + Σ ±2^j for
//! j < n - 1, the sign of digit j being bit j + 1 of y. Then a row is x or -x: x XORed with the sign, plus the sign.
//! Only the additions cost ANDs, half as many as before. An even y is handled as (y + 1) - 1, for about 2n ANDs more.
//!
//! From [`KARATSUBA`] bits on the full product is made of three of half the width (Karatsuba, Ofman 1962), which also
//! helps the lower half from [`KARATSUBA_LOW`] bits on. Both limits are where the AND counts cross.

use comity_circuit::{Builder, Goal, Wire, WordOp};

use super::columns::Columns;
use super::{add, add_carry, padded, sub, width};
use crate::gadget::gadget;

/// The narrowest words whose full product is cut into three.
const KARATSUBA: usize = 30;
/// The narrowest words the lower half of whose product is cut into a full and two lower ones.
const KARATSUBA_LOW: usize = 99;

/// The narrowest words that are cut for depth: it takes some ten layers more.
const KARATSUBA_DEPTH: usize = 200;

/// The narrowest words that are cut, where it is `size` for size.
pub(super) fn least(b: &Builder, size: usize) -> usize {
    match b.goal() {
        Goal::Size => size,
        Goal::Depth => KARATSUBA_DEPTH.max(size),
    }
}

/// `x · y` modulo 2^n, signed or unsigned. (n² + 3n - 4) / 2 ANDs for 1 < n < 99, then fewer.
pub fn mul(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Mul, &[x, y], |b| {
        let n = width(x, y);
        if n < least(b, KARATSUBA_LOW) {
            return direct(b, x, y, n);
        }
        let half = n.div_ceil(2);
        let rest = n - half;
        let mut low = mul_full(b, &x[..half], &y[..half]);
        low.truncate(n);
        let one = mul(b, &x[..rest], &y[half..]);
        let other = mul(b, &x[half..], &y[..rest]);
        let cross = add(b, &one, &other);
        let high = add(b, &low[half..], &cross);
        low.truncate(half);
        low.extend(high);
        low
    })
}

/// `x · y` in 2n bits, unsigned. n² + 3n - 3 ANDs for 2 < n < 30, then fewer: about n^1.6.
pub fn mul_full(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::MulWide, &[x, y], |b| {
        let n = width(x, y);
        if n < least(b, KARATSUBA) {
            return direct(b, x, y, 2 * n);
        }
        // x·y = low + 2^half·(middle - low - high) + 2^(2·half)·high with middle = (x0 + x1)(y0 + y1).
        let half = n.div_ceil(2);
        let low = mul_full(b, &x[..half], &y[..half]);
        let high = mul_full(b, &x[half..], &y[half..]);
        let x_sum = sum_of_halves(b, x, half);
        let y_sum = sum_of_halves(b, y, half);
        let middle = mul_full(b, &x_sum, &y_sum);
        join(b, &low, &high, &middle)
    })
}

/// `low + 2^half·(middle - low - high) + 2^(2·half)·high` for a low part of 2·half bits, in as many bits as
/// both have. About 7·half ANDs.
pub(super) fn join(b: &mut Builder, low: &[Wire], high: &[Wire], middle: &[Wire]) -> Vec<Wire> {
    let half = low.len() / 2;
    let bits = half + high.len();
    if b.goal() == Goal::Depth {
        // All at once: the terms that are taken off as complements, each with a one more at its low end.
        let mut columns = Columns::new(bits);
        columns.word(0, &low[half..]);
        columns.word(half, high);
        columns.word(0, middle);
        for term in [low, high] {
            columns.word(0, &super::not(b, &padded(term, bits)));
            columns.bit(0, Wire::ONE);
        }
        return [&low[..half], &columns.sum(b)].concat();
    }
    let mut middle = middle[..2 * half + 1].to_vec(); // the sum of the crossed products has no more bits
    for term in [low, high] {
        middle = sub(b, &middle, &padded(term, 2 * half + 1));
    }
    let mut columns = Columns::new(bits);
    columns.word(0, &low[half..]);
    columns.word(half, high);
    columns.word(0, &middle);
    [&low[..half], &columns.sum(b)].concat()
}

/// The sum of a word's lower half and its upper one, with its carry.
pub(super) fn sum_of_halves(b: &mut Builder, x: &[Wire], half: usize) -> Vec<Wire> {
    let (mut sum, carry) = add_carry(b, &x[..half], &padded(&x[half..], half), Wire::ZERO);
    sum.push(carry);
    sum
}

/// `x · y` modulo 2^bits for bits up to 2n, unsigned.
fn direct(b: &mut Builder, x: &[Wire], y: &[Wire], bits: usize) -> Vec<Wire> {
    let mut columns = Columns::new(bits);
    rows(b, &mut columns, x, y, bits);
    columns.sum(b)
}

/// Adds `x · y` to the columns of a sum modulo 2^bits, for bits up to 2n.
fn rows(b: &mut Builder, columns: &mut Columns, x: &[Wire], y: &[Wire], bits: usize) {
    let n = x.len();
    if n < 3 {
        for (j, &y) in y.iter().enumerate() {
            for (i, &x) in x.iter().enumerate() {
                columns.bit(i + j, b.and(x, y));
            }
        }
        return;
    }
    let negative: Vec<Wire> = y.iter().map(|&bit| b.not(bit)).collect();
    for (j, &negative) in negative[1..].iter().enumerate() {
        // As a word of n bits, ±x is (x ^ negative) + negative - 2^n·negative; the last term is 2^n·positive - 2^n.
        for (i, &x) in x.iter().enumerate().take(bits - j) {
            columns.bit(i + j, b.xor(x, negative));
        }
        columns.bit(j, negative);
        columns.bit(n + j, y[j + 1]);
    }
    columns.word(n - 1, x);
    // Subtract x if y is even: add its complement and one, less 2^n. All the powers that were taken off add up to
    // -2^(2n-1), which is 2^(2n-1) modulo 2^2n.
    for (i, &x) in x.iter().enumerate() {
        let even = b.and(x, negative[0]);
        columns.bit(i, b.not(even));
    }
    columns.bit(0, Wire::ONE);
    columns.bit(2 * n - 1, Wire::ONE);
}

/// `x · y + z` modulo 2^n. A product, and n - 1 ANDs or fewer.
pub fn mul_add(b: &mut Builder, x: &[Wire], y: &[Wire], z: &[Wire]) -> Vec<Wire> {
    let n = width(x, y);
    width(x, z);
    if n >= least(b, KARATSUBA_LOW) {
        let product = mul(b, x, y);
        return add(b, &product, z);
    }
    let mut columns = Columns::new(n);
    rows(b, &mut columns, x, y, n);
    columns.word(0, z);
    columns.sum(b)
}

/// The sum of `x[i] · y[i]` over all i, modulo 2^n for words of n bits: a product for each i, and n - 1 ANDs
/// or fewer for each of them but one.
///
/// # Panics
/// If there are no words, or not as many in `x` as in `y`.
pub fn dot(b: &mut Builder, x: &[Vec<Wire>], y: &[Vec<Wire>]) -> Vec<Wire> {
    assert_eq!(x.len(), y.len(), "as many words on both sides");
    let args: Vec<&[Wire]> = x.iter().chain(y).map(Vec::as_slice).collect();
    b.noted(gadget, WordOp::Dot { n: x.len() as u32 }, &args, |b| sum_of_products(b, x.iter().zip(y)))
}

/// The product of a matrix of m rows and n columns and one of n rows and p columns, whose words lie row after
/// row, modulo 2^k for words of k bits: a [`dot`] of n products for each word of it.
///
/// # Panics
/// If there are no words, or other numbers of them.
pub fn mat_mul(b: &mut Builder, [m, n, p]: [usize; 3], x: &[Vec<Wire>], y: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    assert_eq!((x.len(), y.len()), (m * n, n * p), "the words of both matrices");
    let args: Vec<&[Wire]> = x.iter().chain(y).map(Vec::as_slice).collect();
    let op = WordOp::MatMul { m: m as u32, n: n as u32, p: p as u32 };
    b.noted(gadget, op, &args, |b| {
        let mut entry = |at: usize| {
            let (row, column) = (at / p, at % p);
            sum_of_products(b, x[row * n..][..n].iter().zip(y[column..].iter().step_by(p)))
        };
        (0..m * p).map(&mut entry).collect::<Vec<_>>()
    })
}

fn sum_of_products<'w>(b: &mut Builder, pairs: impl Iterator<Item = (&'w Vec<Wire>, &'w Vec<Wire>)>) -> Vec<Wire> {
    let mut columns: Option<Columns> = None;
    for (x, y) in pairs {
        let n = width(x, y);
        let columns = columns.get_or_insert_with(|| Columns::new(n));
        assert_eq!(n, columns.width(), "the words have the same width");
        if n < least(b, KARATSUBA_LOW) {
            rows(b, columns, x, y, n);
        } else {
            columns.word(0, &mul(b, x, y));
        }
    }
    columns.expect("a sum has terms").sum(b)
}

/// `(x · y + 2^(fraction-1)) >> fraction` in n - fraction bits, the product being modulo 2^n: of numbers with
/// `fraction` bits behind the point their product, rounded to the nearest one and from the middle upwards. A product,
/// and n - fraction - 1 ANDs or fewer. Extended by `fraction` bits first, with the sign or with zeros, words give all
/// their bits.
///
/// # Panics
/// If `fraction` is zero, or not below n.
pub fn mul_shift(b: &mut Builder, x: &[Wire], y: &[Wire], fraction: usize) -> Vec<Wire> {
    let n = width(x, y);
    assert!((1..n).contains(&fraction), "{fraction} bits behind the point of a product of {n}");
    b.noted(gadget, WordOp::MulShift { fraction: fraction as u32 }, &[x, y], |b| {
        let half: Vec<Wire> = (0..n).map(|bit| Wire::constant(bit + 1 == fraction)).collect();
        mul_add(b, x, y, &half).split_off(fraction)
    })
}
