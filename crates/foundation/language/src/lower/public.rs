//! Operations on public numbers: those that everybody knows in every turn of the loops around.
//!
//! One that is linear in the turns stays so, and costs nothing. Any other is computed by gates, in as few
//! bits as its range needs, and takes its range along.

use std::rc::Rc;

use super::affine::Affine;
use super::segment::Bit;
use super::value::Value;
use super::{Failure, Lower};
use crate::ast::Binary;
use crate::builtins::Builtin;
use crate::check::arithmetic;
use crate::diagnostic::Span;
use crate::types::Ty;

/// The smallest and the largest value of a number.
pub(super) type Range = (i128, i128);

/// A public number that is not linear in the turns: its bits, as those of the narrowest type of its range,
/// and the range.
#[derive(Clone, Debug)]
pub(super) struct Ranged {
    pub(super) bits: Rc<[Bit]>,
    pub(super) range: Range,
}

/// The narrowest type that holds all numbers of a range.
fn narrowest((low, high): Range) -> Ty {
    let bits = |value: i128| i128::BITS - value.leading_zeros();
    if low >= 0 { Ty::Uint(bits(high).max(1)) } else { Ty::Int(bits(high.max(!low)) + 1) }
}

/// The range of both.
fn hull(a: Range, b: Range) -> Range {
    (a.0.min(b.0), a.1.max(b.1))
}

fn within((low, high): Range, (least, most): Range) -> bool {
    low >= least && high <= most
}

/// The range of the results of an operation on numbers of these ranges; `None` if it may become too large, or
/// never has a value.
pub(super) fn interval(op: Binary, (a, b): Range, (c, d): Range) -> Option<Range> {
    let among = |lefts: &[i128], rights: &[i128]| {
        let all = lefts.iter().flat_map(|&x| rights.iter().map(move |&y| arithmetic(op, x, y).ok()));
        let all = all.collect::<Option<Vec<i128>>>()?;
        Some((*all.iter().min()?, *all.iter().max()?))
    };
    match op {
        Binary::Add | Binary::Sub | Binary::Mul => among(&[a, b], &[c, d]),
        Binary::Shl | Binary::Shr if c >= 0 => among(&[a, b], &[c, d]),
        // The quotient is largest and smallest by the divisors that are nearest to zero and farthest from it.
        Binary::Div => {
            let divisors: Vec<i128> = [c, d, -1, 1].into_iter().filter(|y| (c..=d).contains(y) && *y != 0).collect();
            let range = among(&[a, b], &divisors)?;
            // What is divided by zero gives ones, in a branch that is not taken then.
            Some(if c <= 0 && d >= 0 { hull(range, (-1, -1)) } else { range })
        }
        Binary::Rem if c == d && c > 0 && a >= 0 && a / c == b / c => Some((a % c, b % c)),
        // The sign is the dividend's; what is divided by zero stays as it is.
        Binary::Rem => {
            let most = c.abs().max(d.abs()) - 1;
            let most = if c <= 0 && d >= 0 { i128::MAX } else { most };
            Some((a.clamp(-most, 0), b.clamp(0, most)))
        }
        Binary::And if c >= 0 && a < 0 => Some((0, d)),
        Binary::And if a >= 0 => Some((0, if c >= 0 { b.min(d) } else { b })),
        Binary::Or | Binary::Xor if a >= 0 && c >= 0 => Some((0, narrowest((0, b.max(d))).range().1)),
        Binary::And | Binary::Or | Binary::Xor => Some(narrowest(hull((a, b), (c, d))).range()),
        _ => None,
    }
}

impl Lower<'_> {
    /// The range of a value that is a public number.
    pub(super) fn public_range(&self, value: &Value, ty: &Ty) -> Option<Range> {
        match value {
            Value::Ranged(number) => Some(number.range),
            _ => self.range(&*Lower::as_public(value, ty)?),
        }
    }

    /// Whether a public number fits the type that it has from here on.
    pub(super) fn fits(&self, value: &Value, ty: &Ty, at: Span) -> Result<(), Failure> {
        match value {
            Value::Public(number) => self.in_type(self.range(number), ty, ty.range(), at),
            Value::Ranged(number) if !within(number.range, ty.range()) => {
                let ((from, to), (low, high)) = (number.range, ty.range());
                let message = format!(
                    "this goes from {from} to {to}, as far as can be seen, which does not fit {ty}, from {low} to {high}; \
                     with `as {ty}` it is taken modulo 2^{}",
                    ty.bits()
                );
                Err(Failure::new(at, message))
            }
            _ => Ok(()),
        }
    }

    pub(super) fn in_type(&self, range: Option<Range>, ty: &Ty, room: Range, at: Span) -> Result<(), Failure> {
        let (low, high) = room;
        let message = match range {
            Some(range) if within(range, room) => return Ok(()),
            Some((value, to)) if value == to => format!("{value} does not fit {ty}, which goes from {low} to {high}"),
            Some((from, to)) => {
                format!("this goes from {from} to {to}, which does not fit {ty}, from {low} to {high}")
            }
            None => "this number becomes too large".to_owned(),
        };
        Err(Failure::new(at, message))
    }

    /// The bits of a public number in a type that it fits.
    pub(super) fn widened(&self, number: &Ranged, ty: &Ty, at: Span) -> Result<Rc<[Bit]>, Failure> {
        let room = if *ty == Ty::Number { (i64::MIN.into(), i64::MAX.into()) } else { ty.range() };
        self.in_type(Some(number.range), ty, room, at)?;
        Ok(number.resized(ty.bits() as usize))
    }

    /// An operation on two values, if both are public numbers.
    pub(super) fn public(
        &mut self,
        op: Binary,
        (left, ty): (&Value, &Ty),
        (right, by): (&Value, &Ty),
        at: Span,
    ) -> Result<Option<Value>, Failure> {
        let (Some(x), Some(y)) = (self.public_range(left, ty), self.public_range(right, by)) else { return Ok(None) };
        let linear = Lower::as_public(left, ty).zip(Lower::as_public(right, by));
        if op.compares() {
            let difference = match &linear {
                Some((a, b)) => a.add(b, -1).and_then(|difference| self.range(&difference)),
                None => interval(Binary::Sub, x, y),
            };
            if let Some(value) = difference.and_then(|difference| decided(op, difference)) {
                return Ok(Some(Value::bool(value)));
            }
            let narrow = narrowest(hull(x, y));
            return self.narrowed(op, (left, ty), (right, by), (&narrow, &narrow), at).map(Some);
        }
        if let Some((a, b)) = linear
            && let Some(value) = self.linear(op, &a, &b, ty, at)?
        {
            return Ok(Some(value));
        }
        match interval(op, x, y) {
            Some(range) if within(range, ty.range()) => {
                let wide = narrowest(hull(x, range));
                let (wide, by_wide) = match op {
                    Binary::Shl | Binary::Shr => (wide, narrowest(y)),
                    _ => (narrowest(hull(hull(x, y), range)), narrowest(hull(hull(x, y), range))),
                };
                let value = self.narrowed(op, (left, ty), (right, by), (&wide, &by_wide), at)?;
                let bits = self.leaf(&value, &wide, at)?;
                Ok(Some(Ranged::of(&bits, range)))
            }
            _ if *ty == Ty::Number => Err(Failure::new(at, "this number becomes too large")),
            // Modulo 2^width.
            _ if ty.bits() <= 126 => {
                let value = self.gated(op, (left, ty), (right, by), at)?;
                let bits = self.leaf(&value, ty, at)?;
                Ok(Some(Ranged::of(&bits, ty.range())))
            }
            _ => Ok(None),
        }
    }

    /// An operation by gates, on public numbers made so narrow.
    fn narrowed(
        &mut self,
        op: Binary,
        (left, ty): (&Value, &Ty),
        (right, by): (&Value, &Ty),
        (wide, by_wide): (&Ty, &Ty),
        at: Span,
    ) -> Result<Value, Failure> {
        let left = self.narrow(left, ty, wide, at)?;
        let right = self.narrow(right, by, by_wide, at)?;
        self.gated(op, (&left, wide), (&right, by_wide), at)
    }

    /// A public number as the bits of a type that it fits.
    fn narrow(&mut self, value: &Value, ty: &Ty, narrow: &Ty, at: Span) -> Result<Value, Failure> {
        let bits = match Lower::as_public(value, ty) {
            Some(number) => self.materialize(&number, narrow, at)?,
            None => self.leaf(value, narrow, at)?,
        };
        Ok(Value::Bits(bits))
    }

    /// An operation on numbers that are linear in the turns, if its result is one.
    fn linear(&mut self, op: Binary, a: &Affine, b: &Affine, ty: &Ty, at: Span) -> Result<Option<Value>, Failure> {
        let result = match (op, a.as_constant(), b.as_constant()) {
            (Binary::Add, ..) => a.add(b, 1),
            (Binary::Sub, ..) => a.add(b, -1),
            (Binary::Mul, Some(factor), _) => Affine::constant(0).add(b, factor),
            (Binary::Mul, _, Some(factor)) => Affine::constant(0).add(a, factor),
            (_, Some(a), Some(b)) => match arithmetic(op, a, b) {
                Ok(value) => Some(Affine::constant(value)),
                Err(message) if *ty == Ty::Number => return Err(Failure::new(at, message)),
                Err(_) => None,
            },
            (Binary::Shl, None, Some(by @ 0..=120)) => Affine::constant(0).add(a, 1 << by),
            (Binary::Div, None, Some(by)) => self.divide_linear(a, by, false),
            (Binary::Rem, None, Some(by)) => self.divide_linear(a, by, true),
            (Binary::Shr, None, Some(by @ 0..=120)) => self.divide_linear(a, 1 << by, false),
            (Binary::And, None, Some(mask)) if mask >= 0 && mask & (mask + 1) == 0 => {
                self.divide_linear(a, mask + 1, true)
            }
            _ => None,
        };
        let Some(result) = result else { return Ok(None) };
        let (low, high) = ty.range();
        if self.range(&result).is_some_and(|range| within(range, (low, high))) {
            return Ok(Some(Value::Public(Rc::new(result))));
        }
        match (ty, result.as_constant()) {
            (Ty::Number, _) => Err(Failure::new(at, "this number becomes too large")),
            (Ty::Uint(width) | Ty::Int(width), Some(value)) if *width <= 126 => {
                let mut value = value.rem_euclid(1 << width);
                if value > high {
                    value -= 1 << width;
                }
                Ok(Some(Value::number(value)))
            }
            _ => Ok(None),
        }
    }

    /// Quotient or remainder of a linear number, if it is linear too in all turns.
    fn divide_linear(&self, a: &Affine, by: i128, remainder: bool) -> Option<Affine> {
        let (low, high) = self.range(a)?;
        if by <= 0 || low < 0 {
            return None;
        }
        if low / by == high / by {
            let whole = low / by;
            return if remainder { a.add(&Affine::constant(whole * by), -1) } else { Some(Affine::constant(whole)) };
        }
        if a.terms.iter().any(|term| term.1 % by != 0) {
            return None;
        }
        if remainder {
            return Some(Affine::constant(a.start.rem_euclid(by)));
        }
        let terms = a.terms.iter().map(|&(id, factor)| (id, factor / by)).collect();
        Some(Affine { start: a.start.div_euclid(by), terms })
    }

    /// The smaller or the larger of two public numbers, if both are.
    pub(super) fn public_choice(
        &mut self,
        builtin: Builtin,
        values: &[Value],
        types: &[&Ty],
        at: Span,
    ) -> Result<Option<Value>, Failure> {
        let ([left, right], [ty, by]) = (values, types) else { return Ok(None) };
        let least = match builtin {
            Builtin::Min => true,
            Builtin::Max => false,
            _ => return Ok(None),
        };
        if !ty.is_int() {
            return Ok(None);
        }
        let (Some(x), Some(y)) = (self.public_range(left, ty), self.public_range(right, by)) else { return Ok(None) };
        // One of them is so in all turns.
        if x.1 <= y.0 || y.1 <= x.0 {
            return Ok(Some(if (x.1 <= y.0) == least { left.clone() } else { right.clone() }));
        }
        let range = if least { (x.0.min(y.0), x.1.min(y.1)) } else { (x.0.max(y.0), x.1.max(y.1)) };
        let wide = narrowest(hull(x, y));
        let values = [self.narrow(left, ty, &wide, at)?, self.narrow(right, by, &wide, at)?];
        let value = self.gated_builtin(builtin, &values, &[&wide, &wide], &wide, at)?;
        let bits = self.leaf(&value, &wide, at)?;
        Ok(Some(Ranged::of(&bits, range)))
    }

    /// Refuses a public divisor that is zero in a turn.
    pub(super) fn divisor(&self, value: &Value, ty: &Ty, at: Span) -> Result<(), Failure> {
        let Some((low, high)) = self.public_range(value, ty) else { return Ok(()) };
        if low == 0 && high == 0 {
            return Err(Failure::new(at, "a division by zero"));
        }
        // In a branch that depends on the turn, it is the branch that says when to divide.
        if low > 0 || high < 0 || self.guards > 0 {
            return Ok(());
        }
        let zero = Lower::as_public(value, ty).and_then(|number| number.is_ever_zero(|id| self.times(id)));
        let message = match zero {
            Some(false) => return Ok(()),
            Some(true) => format!("a division by zero: this divisor goes from {low} to {high} in a loop"),
            None => format!(
                "this divisor goes from {low} to {high} in a loop, so that it may be zero; divide where it is not, as in \
                 `if d != 0 {{ x / d }} else {{ 0 }}`"
            ),
        };
        Err(Failure::new(at, message))
    }
}

impl Ranged {
    /// The number of these bits, which are as many as its range needs or more.
    pub(super) fn of(bits: &[Bit], range: Range) -> Value {
        let bits: Rc<[Bit]> = bits[..narrowest(range).bits() as usize].into();
        Value::Ranged(Rc::new(Ranged { bits, range }))
    }

    /// As many of the bits, the sign or zeros above them.
    pub(super) fn resized(&self, width: usize) -> Rc<[Bit]> {
        let fill = if self.range.0 < 0 { self.bits[self.bits.len() - 1] } else { Bit::Constant(false) };
        let mut bits = self.bits.to_vec();
        bits.resize(width, fill);
        bits.into()
    }
}

/// The result of a comparison of two numbers, if the range of their difference decides it.
fn decided(op: Binary, (low, high): Range) -> Option<bool> {
    match op {
        Binary::Lt if high < 0 => Some(true),
        Binary::Lt if low >= 0 => Some(false),
        Binary::Le if high <= 0 => Some(true),
        Binary::Le if low > 0 => Some(false),
        Binary::Gt if low > 0 => Some(true),
        Binary::Gt if high <= 0 => Some(false),
        Binary::Ge if low >= 0 => Some(true),
        Binary::Ge if high < 0 => Some(false),
        Binary::Eq if low == 0 && high == 0 => Some(true),
        Binary::Eq if low > 0 || high < 0 => Some(false),
        Binary::Ne if low == 0 && high == 0 => Some(false),
        Binary::Ne if low > 0 || high < 0 => Some(true),
        _ => None,
    }
}
