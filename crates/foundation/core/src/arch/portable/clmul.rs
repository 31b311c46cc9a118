//! Multiplication of binary polynomials in plain Rust.
//!
//! Integer multiplication is carry-less where the operands have holes for the carries: each operand is split by
//! position modulo 4, so that at most 16 terms meet in a place four bits wide, and the surplus of the topmost
//! place falls off the end. The high half is the low half of the product of the reversed operands. This is
//! constant time where the machine's multiplication is (Pornin, "BearSSL: constant-time multiplication").

use crate::memory::block::Block;

/// The low 64 bits of the carry-less product.
fn low(x: u64, y: u64) -> u64 {
    const HOLES: [u64; 4] =
        [0x1111_1111_1111_1111, 0x2222_2222_2222_2222, 0x4444_4444_4444_4444, 0x8888_8888_8888_8888];
    let mut product = 0;
    for (i, place) in HOLES.iter().enumerate() {
        let mut sum = 0;
        for j in 0..4 {
            sum ^= (x & HOLES[j]).wrapping_mul(y & HOLES[(4 + i - j) % 4]);
        }
        product |= sum & place;
    }
    product
}

/// The carry-less product of two 64-bit polynomials.
fn mul64(x: u64, y: u64) -> u128 {
    let high = low(x.reverse_bits(), y.reverse_bits()).reverse_bits() >> 1;
    u128::from(high) << 64 | u128::from(low(x, y))
}

/// The unreduced product of two 128-bit polynomials: low and high half.
fn mul128(x: u128, y: u128) -> (u128, u128) {
    let (x0, x1, y0, y1) = (x as u64, (x >> 64) as u64, y as u64, (y >> 64) as u64);
    let (low, high) = (mul64(x0, y0), mul64(x1, y1));
    let middle = mul64(x0 ^ x1, y0 ^ y1) ^ low ^ high;
    (low ^ middle << 64, high ^ middle >> 64)
}

/// The remainder modulo x^128 + x^7 + x^2 + x + 1.
pub(crate) fn reduce(low: u128, high: u128) -> u128 {
    // high * x^128 = high * (x^7 + x^2 + x + 1); what that pushes past the top is at most seven bits.
    let spill = high >> 127 ^ high >> 126 ^ high >> 121;
    let high = high ^ spill;
    low ^ high ^ high << 1 ^ high << 2 ^ high << 7
}

/// The sum of the products of the pairs, reduced once.
pub(crate) fn inner_product(a: &[Block], b: &[Block]) -> Block {
    let (mut low, mut high) = (0, 0);
    for (a, b) in a.iter().zip(b) {
        let product = mul128(a.to_u128(), b.to_u128());
        low ^= product.0;
        high ^= product.1;
    }
    Block::from_u128(reduce(low, high))
}

/// Replaces each `a[i]` by `a[i] b[i]`.
pub(crate) fn products(a: &mut [Block], b: &[Block]) {
    for (a, b) in a.iter_mut().zip(b) {
        let (low, high) = mul128(a.to_u128(), b.to_u128());
        *a = Block::from_u128(reduce(low, high));
    }
}

/// Adds the values of a polynomial without a constant term, point by point.
pub(crate) fn add_polynomial(coefficients: &[Block], points: &[Block], out: &mut [Block]) {
    for (out, &point) in out.iter_mut().zip(points) {
        let sum = coefficients.iter().rev().fold(Block::ZERO, |sum, &coefficient| {
            let (low, high) = mul128((sum ^ coefficient).to_u128(), point.to_u128());
            Block::from_u128(reduce(low, high))
        });
        *out ^= sum;
    }
}
