//! Arithmetic and comparison on words of wires.
//!
//! A word is a `&[Wire]`, least significant bit first, of any width from 1; signed words are two's
//! complement. The functions add gates to a [`Builder`](comity_circuit::Builder) and return wires; each
//! states how many AND gates it costs at width n, since these are what a protocol pays for. Constant bits in
//! an operand fold away and cost less.
//!
//! Everything rests on the full adder with one AND gate (Boyar, Peralta, Pochuev: "On the multiplicative
//! complexity of Boolean functions over the basis (∧, ⊕, 1)", 2000), used as a ripple: few ANDs, and as deep
//! as the word is wide. In a builder whose [`Goal`](comity_circuit::Goal) is depth, carries go through trees
//! instead ([`add_prefix`] has them for either goal), and quotients have digits that are chosen ahead. The
//! AND counts that functions state are those for size.
//!
//! Where a function is an operation on words by itself, it [notes](comity_circuit::Builder::noted) that.
//!
//! All functions panic if two operands that should have the same width do not, or if a word is empty.

mod abs;
mod add;
mod bits;
mod columns;
mod compare;
mod divide;
mod modular;
mod mul;
mod prefix;
pub(crate) mod radix4;
mod reciprocal;
mod shift;
mod square;
mod srt;
pub(super) mod wide;
mod word;

pub use abs::{
    abs, abs_diff, abs_diff_signed, add_saturating, add_saturating_signed, negate_if, sub_saturating,
    sub_saturating_signed,
};
pub use add::{add, add_carry, increment, negate, sub, sub_borrow, sum};
pub use bits::{hamming, leading_zeros, parity, popcount, trailing_zeros};
pub use compare::{
    eq, ge, ge_signed, gt, gt_signed, is_zero, le, le_signed, lt, lt_signed, max, max_signed, min, min_signed, ne,
};
pub use divide::{div, div_rem, div_rem_by, div_rem_signed, div_rem_signed_by, div_signed, rem, rem_signed, sqrt};
pub use modular::{add_mod, mul_mod, sub_mod};
pub use mul::{dot, mat_mul, mul, mul_add, mul_full, mul_shift};
pub use prefix::{add_prefix, lt_prefix, sub_prefix};
pub use shift::{rotl_by, rotl_by_signed, rotr_by, rotr_by_signed, sar_by, shl_by, shr_by};
pub use square::{square, square_full};
pub use word::{and, constant, mux, not, or, padded, rotl, rotr, sar, shl, shr, xor};

use comity_circuit::Wire;

use columns::Columns;
pub(crate) use compare::{less, tree};
pub(crate) use divide::public_divisor;
use mul::{join, sum_of_halves};
pub(crate) use srt::{quotient, up};

/// The width of two operands.
fn width(x: &[Wire], y: &[Wire]) -> usize {
    assert!(!x.is_empty(), "a word has at least one bit");
    assert_eq!(x.len(), y.len(), "the operands have the same width");
    x.len()
}
