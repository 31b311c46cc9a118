//! The operators.

use std::ops::{
    Add, AddAssign, BitAnd, BitAndAssign, BitOr, BitOrAssign, BitXor, BitXorAssign, Div, DivAssign, Mul, MulAssign,
    Neg, Not, Rem, RemAssign, Shl, ShlAssign, Shr, ShrAssign, Sub, SubAssign,
};

use comity_circuit::{Builder, Wire};

use super::{Bool, Int, Number, Sign, Uint, Value};
use crate::arith;

/// An operand on the right of an operator or in a comparison: a value of the same type, or a Rust value that is
/// taken as a constant of that type.
#[diagnostic::on_unimplemented(
    message = "`{Self}` is no operand beside `{T}`",
    label = "not a value of that type, nor a Rust integer or bool that could be a constant of it",
    note = "`as_uint` and `as_int` turn numbers into each other, `to_uint` makes a number of a Bool"
)]
pub trait Operand<T> {
    /// The operand as a value of the same type as `value`.
    fn like(self, value: &T) -> T;
}

impl<'d, V: Value<'d>> Operand<V> for V {
    fn like(self, _: &V) -> V {
        self
    }
}

impl<'d> Operand<Bool<'d>> for bool {
    fn like(self, value: &Bool<'d>) -> Bool<'d> {
        value.constant(self)
    }
}

macro_rules! literals {
    ($($integer:ty)*) => {$(
        impl<'d, S: Sign> Operand<Number<'d, S>> for $integer {
            #[track_caller]
            #[allow(unused_comparisons, reason = "of unsigned integers too")]
            fn like(self, value: &Number<'d, S>) -> Number<'d, S> {
                value.constant(self < 0, if self < 0 { (self as u128).wrapping_neg() } else { self as u128 })
            }
        }
    )*};
}

literals!(u8 u16 u32 u64 u128 usize i8 i16 i32 i64 i128 isize);

/// The amount of a shift: a `usize` that everybody knows, for no gates, or a secret [`Uint`] of any width,
/// for about n ANDs a bit of it. All bits are gone if it is n or more; the sign stays.
pub trait Amount<'d, S> {
    /// The number shifted to the left, zeros shifted in.
    fn left(self, number: Number<'d, S>) -> Number<'d, S>;
    /// The number shifted to the right; zeros are shifted in, or the sign of a signed one.
    fn right(self, number: Number<'d, S>) -> Number<'d, S>;
}

impl<'d, S: Sign> Amount<'d, S> for usize {
    #[track_caller]
    fn left(self, number: Number<'d, S>) -> Number<'d, S> {
        number.unary(|_, x| arith::shl(x, self))
    }

    #[track_caller]
    fn right(self, number: Number<'d, S>) -> Number<'d, S> {
        number.unary(|_, x| if S::SIGNED { arith::sar(x, self) } else { arith::shr(x, self) })
    }
}

impl<'d, S: Sign> Amount<'d, S> for Uint<'d> {
    #[track_caller]
    fn left(self, number: Number<'d, S>) -> Number<'d, S> {
        number.with(self, arith::shl_by)
    }

    #[track_caller]
    fn right(self, number: Number<'d, S>) -> Number<'d, S> {
        number.with(self, if S::SIGNED { arith::sar_by } else { arith::shr_by })
    }
}

/// `x · y` modulo 2^n.
fn product(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    if x == y { arith::square(b, x) } else { arith::mul(b, x, y) }
}

/// `x / y` and `x % y`. A constant divisor saves gates.
fn quotient<S: Sign>(b: &mut Builder, x: &[Wire], y: &[Wire]) -> (Vec<Wire>, Vec<Wire>) {
    match arith::public_divisor(y, S::SIGNED) {
        Some(number) if S::SIGNED => arith::div_rem_signed_by(b, x, number as i128),
        Some(number) => arith::div_rem_by(b, x, number),
        None if S::SIGNED => arith::div_rem_signed(b, x, y),
        None => arith::div_rem(b, x, y),
    }
}

/// An operator between numbers of one type, and its assigning form.
macro_rules! arithmetic {
    ($($about:literal, $Op:ident $op:ident, $Assign:ident $assign:ident, $gates:expr;)*) => {$(
        impl<'d, S: Sign, T: Operand<Number<'d, S>>> $Op<T> for Number<'d, S> {
            type Output = Number<'d, S>;

            #[doc = $about]
            #[track_caller]
            fn $op(self, other: T) -> Number<'d, S> {
                self.arithmetic(other, $gates)
            }
        }

        impl<'d, S: Sign, T: Operand<Number<'d, S>>> $Assign<T> for Number<'d, S> {
            #[track_caller]
            fn $assign(&mut self, other: T) {
                *self = self.$op(other);
            }
        }
    )*};
}

arithmetic! {
    "Modulo 2^n. n - 1 ANDs.", Add add, AddAssign add_assign, arith::add;
    "Modulo 2^n. n - 1 ANDs.", Sub sub, SubAssign sub_assign, arith::sub;
    "Modulo 2^n. About n²/2 ANDs; half of that for a square.", Mul mul, MulAssign mul_assign, product;
    "Rounded towards zero; all bits are one if the divisor is 0. About n²/2 ANDs, fewer if the divisor is constant.",
        Div div, DivAssign div_assign, |b, x, y| quotient::<S>(b, x, y).0;
    "With the sign of the dividend, which it is if the divisor is 0. About n²/2 ANDs, fewer if the divisor is constant.",
        Rem rem, RemAssign rem_assign, |b, x, y| quotient::<S>(b, x, y).1;
    "n ANDs.", BitAnd bitand, BitAndAssign bitand_assign, arith::and;
    "n ANDs.", BitOr bitor, BitOrAssign bitor_assign, arith::or;
    "No ANDs.", BitXor bitxor, BitXorAssign bitxor_assign, arith::xor;
}

/// An operator between bits, and its assigning form.
macro_rules! logic {
    ($($about:literal, $Op:ident $op:ident, $Assign:ident $assign:ident, $gate:expr;)*) => {$(
        impl<'d, T: Operand<Bool<'d>>> $Op<T> for Bool<'d> {
            type Output = Bool<'d>;

            #[doc = $about]
            #[track_caller]
            fn $op(self, other: T) -> Bool<'d> {
                self.gate(other.like(&self), $gate)
            }
        }

        impl<'d, T: Operand<Bool<'d>>> $Assign<T> for Bool<'d> {
            #[track_caller]
            fn $assign(&mut self, other: T) {
                *self = self.$op(other);
            }
        }
    )*};
}

logic! {
    "One AND.", BitAnd bitand, BitAndAssign bitand_assign, Builder::and;
    "One AND.", BitOr bitor, BitOrAssign bitor_assign, Builder::or;
    "No AND.", BitXor bitxor, BitXorAssign bitxor_assign, Builder::xor;
}

impl<'d, S: Sign, A: Amount<'d, S>> Shl<A> for Number<'d, S> {
    type Output = Number<'d, S>;

    #[track_caller]
    fn shl(self, by: A) -> Number<'d, S> {
        by.left(self)
    }
}

impl<'d, S: Sign, A: Amount<'d, S>> Shr<A> for Number<'d, S> {
    type Output = Number<'d, S>;

    #[track_caller]
    fn shr(self, by: A) -> Number<'d, S> {
        by.right(self)
    }
}

impl<'d, S: Sign, A: Amount<'d, S>> ShlAssign<A> for Number<'d, S> {
    #[track_caller]
    fn shl_assign(&mut self, by: A) {
        *self = by.left(*self);
    }
}

impl<'d, S: Sign, A: Amount<'d, S>> ShrAssign<A> for Number<'d, S> {
    #[track_caller]
    fn shr_assign(&mut self, by: A) {
        *self = by.right(*self);
    }
}

impl<'d, S: Sign> Not for Number<'d, S> {
    type Output = Number<'d, S>;

    /// The number with each bit negated. No ANDs.
    #[track_caller]
    fn not(self) -> Number<'d, S> {
        self.unary(arith::not)
    }
}

impl<'d> Neg for Int<'d> {
    type Output = Int<'d>;

    /// The negative of the number modulo 2^n. n - 2 ANDs.
    #[track_caller]
    fn neg(self) -> Int<'d> {
        self.unary(arith::negate)
    }
}

impl<'d> Not for Bool<'d> {
    type Output = Bool<'d>;

    /// The bit negated. No AND.
    #[track_caller]
    fn not(self) -> Bool<'d> {
        self ^ true
    }
}
