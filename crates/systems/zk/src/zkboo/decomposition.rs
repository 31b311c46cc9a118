//! The linear (2,3)-decomposition over GF(2).
//!
//! A wire has three shares that add up to its bit, one in each branch. An AND gate `c` of wires `a` and `b`
//! gives branch `i` the share `a_i b_i + a_{i+1} b_i + a_i b_{i+1} + R_i(c) + R_{i+1}(c)`: two branches are
//! all that it takes to compute one. The constant one, and public values, are shares of the first branch
//! alone.

use crate::sliced::{Word, and, xor};

/// `phi_i` of an AND gate: branch `i`'s share of a product, from its own shares and those of the next branch,
/// and both tapes.
#[inline(always)]
pub(super) fn phi<const W: usize>(a: [Word<W>; 2], b: [Word<W>; 2], tapes: [Word<W>; 2]) -> Word<W> {
    let products = xor(and(xor(a[0], a[1]), b[0]), and(a[0], b[1]));
    xor(products, xor(tapes[0], tapes[1]))
}
