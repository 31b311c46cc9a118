//! Floating-point numbers as IEEE 754 defines them: any binary format, correctly rounded to nearest, ties to even.
//!
//! A number is one word: fraction, exponent and sign from the least significant bit on, so that hex reads as
//! the machine's bit pattern. Subnormal numbers, infinities and signed zeros are all there. A NaN of any kind
//! may come in; the one that comes out is the [`FloatFormat::nan`], positive and quiet with nothing else in
//! its fraction. There are no flags and no traps.
//!
//! What a float costs beside its integer arithmetic is shifts by secret amounts, about p·log2 p ANDs each for p bits
//! of precision. So an addition aligns and normalizes in one path; a product or quotient that is too small for a
//! normal number is shifted right in the same step that normalizes it; and of two factors only one is normalized
//! beforehand, since two subnormal ones give zero. Rounding adds to exponent and fraction as to one number, in which
//! the hidden bit counts as one more in the exponent: a subnormal number that is rounded up becomes a normal one by
//! itself.

mod add;
mod compare;
mod convert;
mod divide;
mod integer;
mod mul;
mod round;
mod shift;
mod sqrt;

use comity_circuit::{Builder, Wire};

use super::arith;

/// A binary floating-point format.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct FloatFormat {
    exponent: usize,
    fraction: usize,
}

impl FloatFormat {
    /// binary16, half precision.
    pub const F16: FloatFormat = FloatFormat::new(5, 10);
    /// bfloat16: the upper half of binary32.
    pub const BF16: FloatFormat = FloatFormat::new(8, 7);
    /// binary32, single precision.
    pub const F32: FloatFormat = FloatFormat::new(8, 23);
    /// binary64, double precision.
    pub const F64: FloatFormat = FloatFormat::new(11, 52);
    /// binary128, quadruple precision.
    pub const F128: FloatFormat = FloatFormat::new(15, 112);

    /// The format with `exponent` bits of exponent, `fraction` bits of fraction, and a sign.
    ///
    /// # Panics
    /// If the exponent has more than 20 bits, the fraction fewer than 2, or the exponent too few for the fraction:
    /// a format's precision, which is `fraction + 1`, is less than 2^(exponent - 1).
    pub const fn new(exponent: usize, fraction: usize) -> FloatFormat {
        assert!(exponent <= 20 && fraction >= 2, "a format has at most 20 bits of exponent and at least 2 of fraction");
        assert!(exponent > 0 && fraction + 1 < 1 << (exponent - 1), "the exponent has enough bits for the fraction");
        FloatFormat { exponent, fraction }
    }

    /// The bits of a number.
    pub const fn bits(self) -> usize {
        1 + self.exponent + self.fraction
    }

    /// The bits of the exponent.
    pub const fn exponent(self) -> usize {
        self.exponent
    }

    /// The bits of the fraction, the hidden bit not counted.
    pub const fn fraction(self) -> usize {
        self.fraction
    }

    /// The NaN that operations return: positive and quiet, 0x7fc00000 in binary32.
    pub fn nan(self) -> Vec<Wire> {
        let zeros = vec![Wire::ZERO; self.fraction - 1];
        [&zeros[..], &vec![Wire::ONE; self.exponent + 1], &[Wire::ZERO]].concat()
    }

    /// The bits of a significand, with the hidden bit.
    const fn precision(self) -> usize {
        self.fraction + 1
    }

    /// The exponent field of 1.0.
    const fn bias(self) -> usize {
        (1 << (self.exponent - 1)) - 1
    }

    /// The fields of a number.
    fn split(self, x: &[Wire]) -> Fields<'_> {
        assert_eq!(x.len(), self.bits(), "the number has {} bits", self.bits());
        let (magnitude, sign) = (&x[..x.len() - 1], x[x.len() - 1]);
        let (fraction, exponent) = magnitude.split_at(self.fraction);
        Fields { sign, magnitude, exponent, fraction }
    }

    /// `-x`: the sign flipped, that of a NaN too. No ANDs.
    ///
    /// # Panics
    /// If the number has another width.
    pub fn neg(self, b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
        let x = self.split(x);
        [x.magnitude, &[b.not(x.sign)]].concat()
    }

    /// `|x|`: the sign cleared, that of a NaN too. No gates.
    ///
    /// # Panics
    /// If the number has another width.
    pub fn abs(self, x: &[Wire]) -> Vec<Wire> {
        [self.split(x).magnitude, &[Wire::ZERO]].concat()
    }
}

/// The fields of a number; the magnitude is fraction and exponent.
struct Fields<'a> {
    sign: Wire,
    magnitude: &'a [Wire],
    exponent: &'a [Wire],
    fraction: &'a [Wire],
}

/// The kind of a number.
struct Kind {
    /// Whether the exponent field is zero: zero or subnormal.
    small: Wire,
    /// Whether the exponent field is all ones: infinite or NaN.
    special: Wire,
    /// Whether it is not a number.
    nan: Wire,
}

impl Fields<'_> {
    /// The kind of the number. 2e + f - 2 ANDs.
    fn kind(&self, b: &mut Builder) -> Kind {
        let (small, special) = (arith::is_zero(b, self.exponent), all_ones(b, self.exponent));
        Kind { small, special, nan: self.nan(b) }
    }

    /// Whether it is a NaN. e + f - 1 ANDs.
    fn nan(&self, b: &mut Builder) -> Wire {
        let (special, fraction) = (all_ones(b, self.exponent), any(b, self.fraction));
        b.and(special, fraction)
    }

    /// The exponent field, but one for subnormal numbers, which have the exponent of the smallest normal ones.
    fn scale(&self, b: &mut Builder, small: Wire) -> Vec<Wire> {
        let mut scale = self.exponent.to_vec();
        scale[0] = b.xor(scale[0], small); // it was zero
        scale
    }
}

/// Whether any bit is one.
fn any(b: &mut Builder, bits: &[Wire]) -> Wire {
    if bits.is_empty() {
        return Wire::ZERO;
    }
    let none = arith::is_zero(b, bits);
    b.not(none)
}

/// Whether all bits are one.
fn all_ones(b: &mut Builder, bits: &[Wire]) -> Wire {
    let negated = arith::not(b, bits);
    arith::is_zero(b, &negated)
}

/// The bits, each XORed with `flip`.
fn flip(b: &mut Builder, bits: &[Wire], flip: Wire) -> Vec<Wire> {
    bits.iter().map(|&bit| b.xor(bit, flip)).collect()
}

/// The bits, each ANDed with `keep`.
fn mask(b: &mut Builder, bits: &[Wire], keep: Wire) -> Vec<Wire> {
    bits.iter().map(|&bit| b.and(bit, keep)).collect()
}

/// A word in more bits, or its lower ones.
fn resized(x: &[Wire], bits: usize) -> Vec<Wire> {
    (0..bits).map(|i| x.get(i).copied().unwrap_or(Wire::ZERO)).collect()
}
