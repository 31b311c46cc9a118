//! GF(2^128): a published product, the laws of a field, and equal results on every backend.

use comity_core::{Backend, Block, gf128};
use proptest::prelude::*;

/// An element as GCM writes it: the coefficient of x^0 is the most significant bit of the first byte.
fn gcm(bytes: [u8; 16]) -> Block {
    Block::new(bytes.map(u8::reverse_bits))
}

/// The product from the definition.
fn by_shifts(a: Block, b: Block) -> Block {
    let (mut power, mut product) = (a.to_u128(), 0);
    for i in 0..128 {
        product ^= if b.to_u128() >> i & 1 == 1 { power } else { 0 };
        power = (power << 1) ^ if power >> 127 == 1 { 0x87 } else { 0 };
    }
    Block::from_u128(product)
}

#[test]
fn gcm_test_case_2() {
    // McGrew and Viega, "The Galois/Counter Mode of Operation", appendix B: H, C, X_1 and GHASH.
    let h = gcm(0x66e9_4bd4_ef8a_2c3b_884c_fa59_ca34_2b2e_u128.to_be_bytes());
    let c = gcm(0x0388_dace_60b6_a392_f328_c2b9_71b2_fe78_u128.to_be_bytes());
    let x1 = gcm(0x5e2e_c746_9170_6288_2c85_b068_5353_deb7_u128.to_be_bytes());
    let length = gcm(0x80_u128.to_be_bytes());
    let ghash = gcm(0xf38c_bb1a_d692_23dc_c345_7ae5_b6b0_f885_u128.to_be_bytes());
    for backend in Backend::available() {
        assert!(gf128::mul(backend, c, h) == x1, "{backend}");
        assert!(gf128::mul(backend, x1 ^ length, h) == ghash, "{backend}");
    }
}

#[test]
fn the_polynomial_is_the_documented_one() {
    for backend in Backend::available() {
        let (x, top) = (Block::from_u128(2), Block::from_u128(1 << 127));
        assert!(gf128::mul(backend, x, top) == Block::from_u128(0x87), "{backend}");
        let ones = Block::from_u128(u128::MAX);
        assert!(gf128::mul(backend, ones, ones) == by_shifts(ones, ones), "{backend}");
    }
}

#[test]
fn every_element_but_zero_has_an_inverse() {
    for backend in Backend::available() {
        let a = Block::from_u128(0x0123_4567_89ab_cdef_0f1e_2d3c_4b5a_6978);
        // a^(2^128 - 2) = a^2 * a^4 * ... * a^(2^127).
        let (mut power, mut inverse) = (a, Block::from_u128(1));
        for _ in 1..128 {
            power = gf128::mul(backend, power, power);
            inverse = gf128::mul(backend, inverse, power);
        }
        assert!(gf128::mul(backend, a, inverse) == Block::from_u128(1), "{backend}");
    }
}

#[test]
fn an_empty_inner_product_is_zero() {
    for backend in Backend::available() {
        assert!(gf128::inner_product(backend, &[], &[]) == Block::ZERO);
    }
}

#[test]
#[should_panic(expected = "two vectors of one length")]
fn lengths_must_agree() {
    gf128::inner_product(Backend::detect(), &[Block::ZERO], &[]);
}

prop_compose! {
    fn block()(value in any::<u128>()) -> Block {
        Block::from_u128(value)
    }
}

proptest! {
    #[test]
    fn laws(a in block(), b in block(), c in block()) {
        for backend in Backend::available() {
            let mul = |a, b| gf128::mul(backend, a, b);
            prop_assert!(mul(a, b) == by_shifts(a, b));
            prop_assert!(mul(a, b) == mul(b, a));
            prop_assert!(mul(a, mul(b, c)) == mul(mul(a, b), c));
            prop_assert!(mul(a, b ^ c) == mul(a, b) ^ mul(a, c));
            prop_assert!(mul(a, Block::from_u128(1)) == a);
            prop_assert!(mul(a, Block::ZERO) == Block::ZERO);
        }
    }

    #[test]
    fn inner_products(pairs in prop::collection::vec((block(), block()), 0..40)) {
        let (a, b): (Vec<Block>, Vec<Block>) = pairs.iter().copied().unzip();
        let expected = pairs.iter().fold(Block::ZERO, |sum, &(a, b)| sum ^ by_shifts(a, b));
        for backend in Backend::available() {
            prop_assert!(gf128::inner_product(backend, &a, &b) == expected);
        }
    }

    #[test]
    fn products_one_by_one(pairs in prop::collection::vec((block(), block()), 0..40)) {
        let (a, b): (Vec<Block>, Vec<Block>) = pairs.iter().copied().unzip();
        for backend in Backend::available() {
            let mut products = a.clone();
            gf128::multiply(backend, &mut products, &b);
            for ((product, &a), &b) in products.into_iter().zip(&a).zip(&b) {
                prop_assert!(product == by_shifts(a, b), "{backend}");
            }
        }
    }

    #[test]
    fn values_of_polynomials(
        points in prop::collection::vec((block(), block()), 0..40),
        coefficients in prop::collection::vec(block(), 0..6),
    ) {
        let (points, start): (Vec<_>, Vec<_>) = points.into_iter().unzip();
        for backend in Backend::available() {
            let mut out = start.clone();
            gf128::add_polynomial(backend, &coefficients, &points, &mut out);
            for ((&point, &start), out) in points.iter().zip(&start).zip(out) {
                let (mut power, mut expected) = (point, start);
                for &coefficient in &coefficients {
                    expected ^= by_shifts(coefficient, power);
                    power = by_shifts(power, point);
                }
                prop_assert!(out == expected, "{}", backend);
            }
        }
    }
}
