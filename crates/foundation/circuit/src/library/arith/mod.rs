//! Arithmetic and comparison on words of wires.
//!
//! A word is a `&[Wire]`, least significant bit first, of any width from 1; signed words are two's complement. The
//! functions add gates to a [`Builder`](crate::Builder) and return wires; each states how many AND gates it costs at
//! width n, since these are what a protocol pays for. Constant bits in an operand fold away and cost less.
//!
//! Everything rests on the full adder with one AND gate (Boyar, Peralta, Pochuev: "On the multiplicative complexity of
//! Boolean functions over the basis (∧, ⊕, 1)", 2000), used as a ripple: few ANDs, and as deep as the word is wide.
//!
//! All functions panic if two operands that should have the same width do not, or if a word is empty.

mod add;
mod columns;
mod compare;
mod mul;
mod word;

pub use add::{add, add_carry, hamming, increment, negate, popcount, sub, sub_borrow, sum};
pub use compare::{
    eq, ge, ge_signed, gt, gt_signed, is_zero, le, le_signed, lt, lt_signed, max, max_signed, min, min_signed, ne,
};
pub use mul::{mul, mul_full};
pub use word::{and, constant, mux, not, or, rotl, rotr, sar, shl, shr, xor};

use crate::Wire;

/// The width of two operands.
fn width(x: &[Wire], y: &[Wire]) -> usize {
    assert!(!x.is_empty(), "a word has at least one bit");
    assert_eq!(x.len(), y.len(), "the operands have the same width");
    x.len()
}
