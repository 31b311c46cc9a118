//! Division by a public number in few layers: multiplication by its reciprocal.
//!
//! For x < 2^n and an odd d of l bits, l > 1, and M = ⌊2^(n + l) / d⌋ + 1, the quotient of x and d is ⌊x·M /
//! 2^(n + l)⌋ (Granlund, Montgomery: "Division by invariant integers using multiplication", PLDI 1994,
//! theorem 4.2). A product with a public number is a sum of shifted words, one for each digit of it; with
//! digits 1, 0 and -1, a third is not zero.

use comity_circuit::{Builder, Wire};

use super::{Columns, not, padded};

/// The widest words: the ANDs grow with the square.
pub(super) const WIDEST: usize = 256;

/// The quotient of `x` and an odd `d` of at least 2 bits, in the width of `x`, and the remainder, in that of `d`.
pub(super) fn div_rem(b: &mut Builder, x: &[Wire], d: u128) -> (Vec<Wire>, Vec<Wire>) {
    let (n, l) = (x.len(), (128 - d.leading_zeros()) as usize);
    let mut product = Columns::new(2 * n + l);
    multiply(b, &mut product, (x, 2 * n + l), &digits(reciprocal(d, n + l)), false);
    let quotient = product.sum(b).split_off(n + l);
    let mut rest = Columns::new(l);
    rest.word(0, x);
    let low = padded(&quotient[..n.min(l)], l);
    multiply(b, &mut rest, (&low, l), &digits((0..l).map(|i| d >> i & 1 == 1).collect()), true);
    (quotient, rest.sum(b))
}

/// The bits of ⌊2^bits / d⌋ + 1, least significant first.
fn reciprocal(d: u128, bits: usize) -> Vec<bool> {
    let mut rest = 0u128;
    let mut quotient: Vec<bool> = (0..=bits)
        .map(|i| {
            let over = rest >> 127 == 1;
            rest = rest << 1 | u128::from(i == 0);
            let one = over || rest >= d;
            rest = if one { rest.wrapping_sub(d) } else { rest };
            one
        })
        .collect();
    quotient.reverse();
    let mut carry = true;
    for bit in &mut quotient {
        (*bit, carry) = (*bit ^ carry, *bit & carry);
    }
    quotient
}

/// The digits 1, 0 and -1 of a number. At least one of two neighbours is zero.
fn digits(bits: Vec<bool>) -> Vec<i8> {
    let mut carry = 0;
    let bit = |i: usize| i8::from(bits.get(i).copied().unwrap_or(false));
    (0..bits.len() + 1)
        .map(|i| {
            let sum = bit(i) + carry;
            // An odd sum is -1 and a carry if the next bit is one.
            let digit = if sum == 1 { 1 - 2 * bit(i + 1) } else { 0 };
            carry = (sum - digit) / 2;
            digit
        })
        .collect()
}

/// Adds `x` times a public number, or takes it off, modulo 2^bits.
fn multiply(b: &mut Builder, sum: &mut Columns, (x, bits): (&[Wire], usize), digits: &[i8], less: bool) {
    let complement = not(b, x);
    for (i, &digit) in digits.iter().enumerate() {
        match digit * if less { -1 } else { 1 } {
            0 => {}
            1 => sum.word(i, x),
            _ => {
                // The complement and one, less 2^n: as many ones from there on.
                sum.word(i, &complement);
                sum.bit(i, Wire::ONE);
                (i + x.len()..bits).for_each(|at| sum.bit(at, Wire::ONE));
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reciprocals_and_digits_are_those_of_the_number() {
        for (d, bits) in [(3u128, 10usize), (5, 100), (7, 19), (1_000_003, 64), ((1 << 63) + 1, 126)] {
            let value = |bits: &[bool]| bits.iter().rev().fold(0u128, |sum, &bit| sum << 1 | u128::from(bit));
            let reciprocal = reciprocal(d, bits);
            assert_eq!(value(&reciprocal), (1u128 << bits) / d + 1, "{d}");
            let digits = digits(reciprocal.clone());
            let sum = digits.iter().rev().fold(0i128, |sum, &digit| 2 * sum + i128::from(digit));
            assert_eq!(sum as u128, value(&reciprocal));
            assert!(digits.windows(2).all(|pair| pair[0] == 0 || pair[1] == 0));
        }
    }
}
