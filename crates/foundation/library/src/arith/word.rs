//! Bitwise operations, selection, and shifts by constants.

use comity_circuit::{Builder, Wire, WordOp};

use super::width;
use crate::gadget::gadget;

/// The constant `value` in `bits` bits; higher bits of the value are dropped.
pub fn constant(value: u128, bits: usize) -> Vec<Wire> {
    (0..bits).map(|i| Wire::constant(i < 128 && value >> i & 1 == 1)).collect()
}

/// The word in more bits, those above being zero. No gates.
///
/// # Panics
/// If the word is wider.
pub fn padded(x: &[Wire], bits: usize) -> Vec<Wire> {
    [x, &vec![Wire::ZERO; bits.checked_sub(x.len()).expect("a word is padded to more bits")]].concat()
}

fn zip(x: &[Wire], y: &[Wire], gate: impl FnMut((Wire, Wire)) -> Wire) -> Vec<Wire> {
    width(x, y);
    x.iter().copied().zip(y.iter().copied()).map(gate).collect()
}

/// Bitwise exclusive or. No ANDs.
pub fn xor(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Xor, &[x, y], |b| zip(x, y, |(x, y)| b.xor(x, y)))
}

/// Bitwise and. n ANDs.
pub fn and(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::And, &[x, y], |b| zip(x, y, |(x, y)| b.and(x, y)))
}

/// Bitwise or. n ANDs.
pub fn or(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Or, &[x, y], |b| zip(x, y, |(x, y)| b.or(x, y)))
}

/// Bitwise not. No ANDs.
pub fn not(b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Not, &[x], |b| x.iter().map(|&x| b.not(x)).collect())
}

/// `x` if `select` is one, else `y`. n ANDs.
pub fn mux(b: &mut Builder, select: Wire, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Select, &[&[select], x, y], |b| zip(x, y, |(x, y)| b.mux(select, x, y)))
}

/// `x << by`, zeros shifted in. No gates.
pub fn shl(x: &[Wire], by: usize) -> Vec<Wire> {
    let by = by.min(x.len());
    [&vec![Wire::ZERO; by], &x[..x.len() - by]].concat()
}

/// `x >> by`, zeros shifted in. No gates.
pub fn shr(x: &[Wire], by: usize) -> Vec<Wire> {
    let by = by.min(x.len());
    [&x[by..], &vec![Wire::ZERO; by]].concat()
}

/// `x >> by` of a signed word: the sign is shifted in. No gates.
pub fn sar(x: &[Wire], by: usize) -> Vec<Wire> {
    let by = by.min(x.len());
    [&x[by..], &vec![x[x.len() - 1]; by]].concat()
}

/// `x` rotated by `by` bits to the left, towards the most significant bit. No gates.
pub fn rotl(x: &[Wire], by: usize) -> Vec<Wire> {
    let mut x = x.to_vec();
    let by = by % x.len();
    x.rotate_right(by);
    x
}

/// `x` rotated by `by` bits to the right, towards the least significant bit. No gates.
pub fn rotr(x: &[Wire], by: usize) -> Vec<Wire> {
    let mut x = x.to_vec();
    let by = by % x.len();
    x.rotate_left(by);
    x
}
