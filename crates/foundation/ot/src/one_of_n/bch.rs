//! The binary BCH code [511, 76, >= 171], and with a parity bit [512, 76, >= 172].
//!
//! Its words are the multiples of the least binary polynomial that has the roots alpha^1 to alpha^170, for a primitive
//! element alpha of GF(2^9). These 170 successive powers make the distance at least 171 (the BCH bound). A
//! bit that makes every weight even adds one.

use std::sync::OnceLock;

/// Bits of a message.
pub(super) const MESSAGE: usize = 76;

/// Bits of a word of the cyclic code: one for each element of GF(2^9) but zero.
const CYCLIC: usize = 511;

/// Bits of a word with its parity bit.
pub(super) const LENGTH: usize = CYCLIC + 1;

/// The distance that is asked of the cyclic code.
const DESIGNED: usize = 171;

/// The least number of bits in which two words with the parity bit differ.
pub(super) const DISTANCE: usize = DESIGNED + 1;

/// The primitive polynomial x^9 + x^4 + 1 that GF(2^9) is made with.
const FIELD: u16 = 1 << 9 | 1 << 4 | 1;

/// The powers of alpha, which is x.
fn powers() -> [u16; CYCLIC] {
    let mut power = 1;
    std::array::from_fn(|_| {
        let now = power;
        power <<= 1;
        if power >> 9 == 1 {
            power ^= FIELD;
        }
        now
    })
}

/// Whether alpha^i is a root of all words: the exponents 1 to 170 and what squaring makes of them, since a binary
/// polynomial has with each root also its square.
fn roots() -> [bool; CYCLIC] {
    let mut roots = [false; CYCLIC];
    for first in 1..DESIGNED {
        let mut exponent = first;
        while !roots[exponent] {
            roots[exponent] = true;
            exponent = 2 * exponent % CYCLIC;
        }
    }
    roots
}

/// The product of `x - root` over all roots, lowest coefficient first. All of them are 0 or 1.
fn generator() -> Vec<u16> {
    let powers = powers();
    let mut log = [0; LENGTH];
    for (exponent, &power) in powers.iter().enumerate() {
        log[usize::from(power)] = exponent;
    }
    let times = |a: u16, exponent: usize| match a {
        0 => 0,
        a => powers[(log[usize::from(a)] + exponent) % CYCLIC],
    };
    let mut product = vec![1];
    for (exponent, _) in roots().iter().enumerate().filter(|(_, root)| **root) {
        let mut next = vec![0; product.len() + 1];
        for (i, &coefficient) in product.iter().enumerate() {
            next[i + 1] ^= coefficient;
            next[i] ^= times(coefficient, exponent);
        }
        product = next;
    }
    product
}

/// The code with its parity bit in systematic form: bit `i` of a word is the sum of the message bits that are set in
/// element `i`. The message is the word's start, the checks follow, the parity bit is the last one.
pub(super) fn columns() -> &'static [u128; LENGTH] {
    static COLUMNS: OnceLock<[u128; LENGTH]> = OnceLock::new();
    COLUMNS.get_or_init(|| {
        let generator = generator();
        let degree = generator.len() - 1;
        debug_assert_eq!(degree, CYCLIC - MESSAGE);
        let mut columns = [0; LENGTH];
        // x^degree modulo the generator, then times x for each message bit.
        let mut remainder: Vec<u16> = generator[..degree].to_vec();
        for bit in 0..MESSAGE {
            columns[bit] |= 1 << bit;
            let mut parity = 1;
            for (column, &coefficient) in columns[MESSAGE..].iter_mut().zip(&remainder) {
                *column |= u128::from(coefficient) << bit;
                parity ^= coefficient;
            }
            columns[CYCLIC] |= u128::from(parity) << bit;
            let top = remainder.pop().expect("a remainder has as many coefficients as the degree");
            remainder.insert(0, 0);
            for (coefficient, generator) in remainder.iter_mut().zip(&generator) {
                *coefficient ^= top * generator;
            }
        }
        columns
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A word from its definition: the bits of column after column.
    fn encode(message: u128) -> [bool; LENGTH] {
        columns().map(|column| (column & message).count_ones() % 2 == 1)
    }

    fn weight(message: u128) -> usize {
        encode(message).into_iter().filter(|&bit| bit).count()
    }

    /// Multiplication in GF(2^9), by the school method.
    fn multiply(a: u16, b: u16) -> u16 {
        let mut product = (0..9).filter(|i| b >> i & 1 == 1).fold(0u32, |sum, i| sum ^ u32::from(a) << i);
        for i in (9..18).rev() {
            if product >> i & 1 == 1 {
                product ^= u32::from(FIELD) << (i - 9);
            }
        }
        product as u16
    }

    #[test]
    fn alpha_is_primitive() {
        let powers = powers();
        let mut sorted = powers;
        sorted.sort_unstable();
        assert!(sorted.iter().zip(1..).all(|(&power, i)| power == i), "every element but zero is a power");
        for (i, &power) in powers.iter().enumerate() {
            assert_eq!(multiply(power, 2), powers[(i + 1) % CYCLIC]);
        }
    }

    #[test]
    fn the_defining_set_gives_the_distance() {
        let roots = roots();
        // Closed under squaring: then the least polynomial with these roots is binary.
        assert!((0..CYCLIC).all(|i| !roots[i] || roots[2 * i % CYCLIC]));
        assert_eq!(roots.iter().filter(|&&root| root).count(), CYCLIC - MESSAGE);
        // The BCH bound: one more than the roots in a row.
        assert!(roots[1..DESIGNED].iter().all(|&root| root));
        assert!(!roots[DESIGNED], "the designed distance is the best that the bound gives");
        let generator = generator();
        assert_eq!(generator.len(), CYCLIC - MESSAGE + 1);
        assert!(generator.iter().all(|&coefficient| coefficient <= 1));
    }

    #[test]
    fn every_word_has_the_roots() {
        let powers = powers();
        for bit in 0..MESSAGE {
            let word = encode(1 << bit);
            assert_eq!(word.iter().filter(|&&bit| bit).count() % 2, 0);
            // As a polynomial the checks come first.
            let polynomial = word[MESSAGE..CYCLIC].iter().chain(&word[..MESSAGE]);
            let set: Vec<usize> = polynomial.enumerate().filter(|(_, bit)| **bit).map(|(i, _)| i).collect();
            for root in 1..DESIGNED {
                let value = set.iter().fold(0, |sum, &i| sum ^ powers[i * root % CYCLIC]);
                assert_eq!(value, 0, "message bit {bit}, alpha^{root}");
            }
        }
    }

    #[test]
    fn no_light_word_is_found() {
        let mut least = LENGTH;
        // All sums of up to three rows, and of many at random.
        for a in 0..MESSAGE {
            for b in 0..=a {
                for c in 0..=b {
                    least = least.min(weight(1 << a | 1 << b | 1 << c));
                }
            }
        }
        let mut state = 0x9e37_79b9_7f4a_7c15_u128;
        for _ in 0..20_000 {
            state = state.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(1);
            let message = (state ^ state >> 64) & ((1 << MESSAGE) - 1);
            if message != 0 {
                least = least.min(weight(message));
            }
        }
        assert!((DISTANCE..LENGTH / 2).contains(&least), "weight {least}");
    }
}
