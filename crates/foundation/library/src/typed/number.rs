//! `Uint` and `Int`: secret integers of any width.

use std::marker::PhantomData;

use comity_circuit::{Builder, Type, Wire};

use super::{Bool, Design, Operand, Place, Value};
use crate::arith;

/// A secret integer of a [`Design`], signed in two's complement or unsigned.
#[derive(Clone, Copy)]
pub struct Number<'d, S> {
    design: &'d Design,
    place: Place,
    sign: PhantomData<S>,
}

/// A secret unsigned integer.
pub type Uint<'d> = Number<'d, Unsigned>;
/// A secret signed integer.
pub type Int<'d> = Number<'d, Signed>;

/// The sign of [`Uint`].
#[derive(Clone, Copy, Debug)]
pub struct Unsigned;
/// The sign of [`Int`].
#[derive(Clone, Copy, Debug)]
pub struct Signed;

/// A sign: [`Unsigned`] or [`Signed`].
pub trait Sign: Copy + sealed::Sealed + 'static {
    /// Whether numbers may be negative.
    const SIGNED: bool;
}

impl Sign for Unsigned {
    const SIGNED: bool = false;
}

impl Sign for Signed {
    const SIGNED: bool = true;
}

mod sealed {
    /// A seal, so that nobody else's types are signs.
    pub trait Sealed {}
    impl Sealed for super::Unsigned {}
    impl Sealed for super::Signed {}
}

impl<'d, S: Sign> Number<'d, S> {
    pub(super) fn new(design: &'d Design, place: Place) -> Number<'d, S> {
        Number { design, place, sign: PhantomData }
    }

    /// The number of bits.
    pub fn bits(self) -> usize {
        self.place.bits
    }

    /// Bit `at`, counted from the least significant one.
    ///
    /// # Panics
    /// If there is no such bit.
    #[track_caller]
    pub fn bit(self, at: usize) -> Bool<'d> {
        assert!(at < self.bits(), "bit {at} of a number of {} bits", self.bits());
        Bool::new(self.design, self.design.state().wires[self.place.first + at])
    }

    /// `x == y`. n - 1 ANDs.
    #[track_caller]
    pub fn eq(self, other: impl Operand<Self>) -> Bool<'d> {
        self.relation(other, arith::eq)
    }

    /// `x != y`. n - 1 ANDs.
    #[track_caller]
    pub fn ne(self, other: impl Operand<Self>) -> Bool<'d> {
        self.relation(other, arith::ne)
    }

    /// `x < y`. n ANDs.
    #[track_caller]
    pub fn lt(self, other: impl Operand<Self>) -> Bool<'d> {
        self.relation(other, if S::SIGNED { arith::lt_signed } else { arith::lt })
    }

    /// `x <= y`. n ANDs.
    #[track_caller]
    pub fn le(self, other: impl Operand<Self>) -> Bool<'d> {
        self.relation(other, if S::SIGNED { arith::le_signed } else { arith::le })
    }

    /// `x > y`. n ANDs.
    #[track_caller]
    pub fn gt(self, other: impl Operand<Self>) -> Bool<'d> {
        self.relation(other, if S::SIGNED { arith::gt_signed } else { arith::gt })
    }

    /// `x >= y`. n ANDs.
    #[track_caller]
    pub fn ge(self, other: impl Operand<Self>) -> Bool<'d> {
        self.relation(other, if S::SIGNED { arith::ge_signed } else { arith::ge })
    }

    /// The smaller of both numbers. 2n ANDs.
    #[track_caller]
    pub fn min(self, other: impl Operand<Self>) -> Self {
        self.arithmetic(other, if S::SIGNED { arith::min_signed } else { arith::min })
    }

    /// The greater of both numbers. 2n ANDs.
    #[track_caller]
    pub fn max(self, other: impl Operand<Self>) -> Self {
        self.arithmetic(other, if S::SIGNED { arith::max_signed } else { arith::max })
    }

    /// The same number in more bits: zeros in front, or copies of the sign. No gates.
    ///
    /// # Panics
    /// If the number has more bits.
    #[track_caller]
    pub fn widen(self, bits: usize) -> Self {
        let have = self.bits();
        assert!(bits >= have, "{} is not widened to {bits} bits; truncate it", self.ty());
        self.unary(|_, x| {
            let fill = if S::SIGNED { x[have - 1] } else { Wire::ZERO };
            [x, &vec![fill; bits - have]].concat()
        })
    }

    /// The lowest bits of the number. No gates.
    ///
    /// # Panics
    /// If the number has fewer bits, or `bits` is 0.
    #[track_caller]
    pub fn truncate(self, bits: usize) -> Self {
        assert!(0 < bits && bits <= self.bits(), "{} is not truncated to {bits} bits; widen it", self.ty());
        Number::new(self.design, Place { bits, ..self.place })
    }

    /// The same bits as an unsigned number. No gates.
    pub fn as_uint(self) -> Uint<'d> {
        Number::new(self.design, self.place)
    }

    /// The same bits as a signed number. No gates.
    pub fn as_int(self) -> Int<'d> {
        Number::new(self.design, self.place)
    }

    /// The number rotated to the left, towards the most significant bit. No gates.
    #[track_caller]
    pub fn rotate_left(self, by: usize) -> Self {
        self.unary(|_, x| arith::rotl(x, by))
    }

    /// The number rotated to the right, towards the least significant bit. No gates.
    #[track_caller]
    pub fn rotate_right(self, by: usize) -> Self {
        self.unary(|_, x| arith::rotr(x, by))
    }

    /// The number of bits that are one, in ⌊log2 n⌋ + 1 bits. Fewer than n ANDs.
    #[track_caller]
    pub fn popcount(self) -> Uint<'d> {
        self.design.binary(self.place, self.place, |b, x, _| arith::popcount(b, x))
    }

    /// The number of bits in which the two differ, in ⌊log2 n⌋ + 1 bits. Fewer than n ANDs.
    #[track_caller]
    pub fn hamming(self, other: impl Operand<Self>) -> Uint<'d> {
        (self ^ other).popcount()
    }

    /// The number of zeros above the highest one, in ⌊log2 n⌋ + 1 bits; n if there is no one. n - 1 ANDs.
    #[track_caller]
    pub fn leading_zeros(self) -> Uint<'d> {
        self.design.binary(self.place, self.place, |b, x, _| arith::leading_zeros(b, x))
    }

    /// `x · y / 2^by` modulo 2^n, the product with all its bits, rounded to the nearest number and from the middle
    /// upwards: the product of numbers with `by` bits behind the point. A product of n + by bits.
    ///
    /// ```
    /// use comity_circuit::Recipients;
    /// use comity_library::typed::{Design, I};
    ///
    /// // Sixteen bits before the point, sixteen behind it.
    /// let d = Design::new("area");
    /// let (x, y) = (d.input("x", 0, I(32)), d.input("y", 1, I(32)));
    /// d.output("area", Recipients::All, x.mul_shift(y, 16));
    /// # Ok::<(), comity_circuit::ProgramError>(())
    /// ```
    #[track_caller]
    pub fn mul_shift(self, other: impl Operand<Self>, by: usize) -> Self {
        let (x, y) = (self.widen(self.bits() + by), self.partner(other).widen(self.bits() + by));
        if by == 0 { x * y } else { x.arithmetic(y, |b, x, y| arith::mul_shift(b, x, y, by)) }
    }

    /// |x - y|, unsigned. 2n - 1 ANDs.
    #[track_caller]
    pub fn abs_diff(self, other: impl Operand<Self>) -> Uint<'d> {
        self.arithmetic(other, if S::SIGNED { arith::abs_diff_signed } else { arith::abs_diff }).as_uint()
    }

    /// A number from this one.
    #[track_caller]
    pub(super) fn unary(self, gates: impl FnOnce(&mut Builder, &[Wire]) -> Vec<Wire>) -> Self {
        self.design.binary(self.place, self.place, |b, x, _| gates(b, x))
    }

    /// A number from this one and another of the same width.
    #[track_caller]
    pub(super) fn arithmetic(
        self,
        other: impl Operand<Self>,
        gates: impl FnOnce(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>,
    ) -> Self {
        let other = self.partner(other);
        self.design.binary(self.place, other.place, gates)
    }

    /// A number from this one and one of any width.
    #[track_caller]
    pub(super) fn with(self, other: Uint<'d>, gates: impl FnOnce(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>) -> Self {
        self.design.same(other.design);
        self.design.binary(self.place, other.place, gates)
    }

    #[track_caller]
    fn relation(
        self,
        other: impl Operand<Self>,
        gate: impl FnOnce(&mut Builder, &[Wire], &[Wire]) -> Wire,
    ) -> Bool<'d> {
        let other = self.partner(other);
        self.design.relation(self.place, other.place, gate)
    }

    /// The other operand, of the same design and width.
    #[track_caller]
    pub(super) fn partner(self, other: impl Operand<Self>) -> Self {
        let other = other.like(&self);
        self.design.same(other.design);
        let (left, right) = (self.ty(), other.ty());
        assert!(left == right, "{left} on the left, {right} on the right: widen or truncate one of them");
        other
    }

    /// A constant beside this number.
    #[track_caller]
    pub(super) fn constant(self, negative: bool, magnitude: u128) -> Self {
        self.design.number(&literal::<S>(negative, magnitude, self.bits()))
    }
}

impl<'d> Uint<'d> {
    /// `x · y` in 2n bits. About n² ANDs for small n, n^1.6 for large ones.
    #[track_caller]
    pub fn wide_mul(self, other: impl Operand<Self>) -> Uint<'d> {
        self.arithmetic(other, arith::mul_full)
    }

    /// ⌊√x⌋ in ⌈n/2⌉ bits. About n²/8 ANDs.
    #[track_caller]
    pub fn sqrt(self) -> Uint<'d> {
        self.unary(arith::sqrt)
    }
}

impl<'d> Int<'d> {
    /// Whether the number is below zero: its top bit. No gates.
    #[track_caller]
    pub fn is_negative(self) -> Bool<'d> {
        self.bit(self.bits() - 1)
    }

    /// |x|, unsigned. n - 1 ANDs.
    #[track_caller]
    pub fn abs(self) -> Uint<'d> {
        self.unary(arith::abs).as_uint()
    }
}

/// The wires of a constant that fits.
#[track_caller]
pub(super) fn literal<S: Sign>(negative: bool, magnitude: u128, bits: usize) -> Vec<Wire> {
    let room = if S::SIGNED { bits.saturating_sub(1) } else { bits };
    let limit = if room < 128 { 1 << room } else { 0 }; // 0: more than a u128 holds
    let fits = match negative {
        false => limit == 0 || magnitude < limit,
        true => S::SIGNED && (limit == 0 || magnitude <= limit),
    };
    let (minus, letter) = (if negative { "-" } else { "" }, if S::SIGNED { 'i' } else { 'u' });
    assert!(fits && bits > 0, "{minus}{magnitude} does not fit {letter}{bits}");
    let value = if negative { magnitude.wrapping_neg() } else { magnitude };
    let fill = negative && magnitude != 0;
    (0..bits).map(|i| Wire::constant(if i < 128 { value >> i & 1 == 1 } else { fill })).collect()
}

impl<'d, S: Sign> Value<'d> for Number<'d, S> {
    fn ty(&self) -> Type {
        if S::SIGNED { Type::Int(self.place.bits) } else { Type::Uint(self.place.bits) }
    }

    fn design(&self) -> Option<&'d Design> {
        Some(self.design)
    }

    fn collect(&self, wires: &mut Vec<Wire>) {
        wires.extend(&self.design.state().wires[self.place.range()]);
    }

    fn over(&self, wires: &mut dyn Iterator<Item = Wire>) -> Self {
        self.design.number(&wires.take(self.place.bits).collect::<Vec<_>>())
    }
}
