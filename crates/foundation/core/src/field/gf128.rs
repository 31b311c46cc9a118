//! The field GF(2^128): binary polynomials modulo x^128 + x^7 + x^2 + x + 1. Bit `i` of a [`Block`] is the
//! coefficient of x^i.
//!
//! This is the polynomial of GCM in natural bit order. Addition is `^`. Linear checks (consistency of OT
//! extension, batched MACs) are inner products with a challenge.

use crate::arch::Backend;
use crate::memory::block::Block;

/// The product of two elements.
pub fn mul(backend: Backend, a: Block, b: Block) -> Block {
    inner_product(backend, &[a], &[b])
}

/// The sum of the products `a[i] * b[i]`, reduced once at the end.
///
/// # Panics
/// If the lengths differ.
pub fn inner_product(backend: Backend, a: &[Block], b: &[Block]) -> Block {
    assert_eq!(a.len(), b.len(), "an inner product is of two vectors of one length");
    backend.gf128_inner_product(a, b)
}

/// Replaces each `a[i]` by the product `a[i] * b[i]`.
///
/// # Panics
/// If the lengths differ.
pub fn multiply(backend: Backend, a: &mut [Block], b: &[Block]) {
    assert_eq!(a.len(), b.len(), "the products of two vectors of one length");
    backend.gf128_products(a, b);
}

/// Adds to each `out[i]` the value at `points[i]` of the polynomial `c[0] x + c[1] x^2 + ...` with these
/// coefficients. One coefficient makes it a product with a scalar.
///
/// # Panics
/// If there are not as many points as outputs.
pub fn add_polynomial(backend: Backend, coefficients: &[Block], points: &[Block], out: &mut [Block]) {
    assert_eq!(points.len(), out.len(), "a point for each output");
    backend.gf128_add_polynomial(coefficients, points, out);
}
