//! Shifts and rotations by a secret amount: a layer of multiplexers for each bit of the amount.
//!
//! The amount is an unsigned word of any width. Its bits of weight n and above do nothing but shift everything out,
//! all together; a rotation counts modulo n.

use comity_circuit::{Builder, Wire, WordOp};

use super::compare::tree;
use crate::gadget::gadget;

use super::width;

/// `x << by`; 0 if `by` is n or more. n ANDs for each bit of `by` whose weight is less than n. If `by` has m
/// other bits, one at least, n + m - 1 more.
pub fn shl_by(b: &mut Builder, x: &[Wire], by: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Shl, &[x, by], |b| {
        let mut x: Vec<Wire> = x.iter().rev().copied().collect();
        x = shift_down(b, &x, by, Wire::ZERO);
        x.reverse();
        x
    })
}

/// `x >> by`; 0 if `by` is n or more. As [`shl_by`].
pub fn shr_by(b: &mut Builder, x: &[Wire], by: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Shr, &[x, by], |b| shift_down(b, x, by, Wire::ZERO))
}

/// `x >> by` of a signed word: the sign is shifted in, so that all bits are the sign if `by` is n or more. As
/// [`shl_by`], less one for each layer.
pub fn sar_by(b: &mut Builder, x: &[Wire], by: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::ShrSigned, &[x, by], |b| shift_down(b, x, by, x[width(x, x) - 1]))
}

/// Shifts towards the lowest bit; `fill` comes in.
fn shift_down(b: &mut Builder, x: &[Wire], by: &[Wire], fill: Wire) -> Vec<Wire> {
    let n = width(x, x);
    let (inner, outer) = by.split_at(layers(n).min(by.len()));
    let mut x = x.to_vec();
    for (k, &select) in inner.iter().enumerate() {
        x = (0..n).map(|i| b.mux(select, x.get(i + (1 << k)).copied().unwrap_or(fill), x[i])).collect();
    }
    let out = tree(b, [&[Wire::ZERO], outer].concat(), Builder::or);
    x.into_iter().map(|bit| b.mux(out, fill, bit)).collect()
}

/// The number of powers of two less than n.
fn layers(n: usize) -> usize {
    (usize::BITS - (n - 1).leading_zeros()) as usize
}

/// `x` rotated by `by` bits to the left, towards the most significant bit. For each bit of `by`, of weight w, n less
/// the greatest common divisor of n and w: for n = 2^k and k bits k·n - n + 1 ANDs.
pub fn rotl_by(b: &mut Builder, x: &[Wire], by: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Rotl, &[x, by], |b| rotated(b, x, by, false))
}

/// As [`rotl_by`], by a signed number of bits: by a negative one to the right.
pub fn rotl_by_signed(b: &mut Builder, x: &[Wire], by: &[Wire]) -> Vec<Wire> {
    rotated(b, x, by, true)
}

fn rotated(b: &mut Builder, x: &[Wire], by: &[Wire], signed: bool) -> Vec<Wire> {
    let n = width(x, x);
    let mut step = 1 % n;
    let mut x = x.to_vec();
    for (i, &select) in by.iter().enumerate() {
        // The sign has its weight below zero.
        let negative = signed && i + 1 == by.len();
        x = rotate_if(b, &x, select, if negative { (n - step) % n } else { step });
        step = 2 * step % n;
    }
    x
}

/// `x` rotated by `by` bits to the right, towards the least significant bit. As [`rotl_by`].
pub fn rotr_by(b: &mut Builder, x: &[Wire], by: &[Wire]) -> Vec<Wire> {
    b.quiet(|b| reversed(&rotl_by(b, &reversed(x), by)))
}

/// As [`rotr_by`], by a signed number of bits: by a negative one to the left.
pub fn rotr_by_signed(b: &mut Builder, x: &[Wire], by: &[Wire]) -> Vec<Wire> {
    reversed(&rotl_by_signed(b, &reversed(x), by))
}

fn reversed(x: &[Wire]) -> Vec<Wire> {
    x.iter().rev().copied().collect()
}

/// Rotates by a public step if `select` is one. Bits move in cycles, and the sum of a cycle stays the same: so the last
/// bit of each follows from the others without an AND.
fn rotate_if(b: &mut Builder, x: &[Wire], select: Wire, step: usize) -> Vec<Wire> {
    let n = x.len();
    let mut rotated = x.to_vec();
    if step == 0 {
        return rotated;
    }
    for start in 0..gcd(n, step) {
        let mut changes = Wire::ZERO;
        let mut to = (start + step) % n;
        while to != start {
            let differ = b.xor(x[to], x[(to + n - step) % n]);
            let change = b.and(select, differ);
            rotated[to] = b.xor(x[to], change);
            changes = b.xor(changes, change);
            to = (to + step) % n;
        }
        rotated[start] = b.xor(x[start], changes);
    }
    rotated
}

fn gcd(a: usize, b: usize) -> usize {
    if b == 0 { a } else { gcd(b, a % b) }
}
