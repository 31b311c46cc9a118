//! Operators and casts, by the library's gadgets.

use std::rc::Rc;

use comity_circuit::{Builder, Form, Wire};
use comity_library::arith;
use comity_library::float::FloatFormat;

use super::affine::Affine;
use super::public::Ranged;
use super::segment::Bit;
use super::value::Value;
use super::{Failure, Lower};
use crate::ast::{Binary, Unary};
use crate::diagnostic::Span;
use crate::types::Ty;

/// The widest numbers that are multiplied and divided.
const FACTOR: u64 = 2048;

pub(super) type Word = fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>;
type Test = fn(&mut Builder, &[Wire], &[Wire]) -> Wire;

pub(super) fn format(ty: &Ty) -> FloatFormat {
    if *ty == Ty::F32 { FloatFormat::F32 } else { FloatFormat::F64 }
}

impl Lower<'_> {
    /// The value of `&&` and `||` if the left side decides.
    pub(super) fn short_cut(&self, op: Binary, left: &Value) -> Option<Value> {
        match (op, Lower::as_bool(left)) {
            (Binary::Both, Some(false)) => Some(Value::bool(false)),
            (Binary::Either, Some(true)) => Some(Value::bool(true)),
            _ => None,
        }
    }

    pub(super) fn unary(&mut self, op: Unary, value: &Value, ty: &Ty, at: Span) -> Result<Value, Failure> {
        if let (Value::Public(number), true) = (value, ty.is_int()) {
            let one = Affine::constant(if op == Unary::Not { -1 } else { 0 });
            let negated = one.add(number, -1);
            let (low, high) = ty.range();
            if let Some(negated) = negated.filter(|n| self.range(n).is_some_and(|(a, b)| a >= low && b <= high)) {
                return Ok(Value::Public(Rc::new(negated)));
            }
        }
        if let (Value::Ranged(_), true) = (value, ty.signed()) {
            let from = Value::number(if op == Unary::Not { -1 } else { 0 });
            return self.binary(Binary::Sub, (&from, ty), (value, ty), at);
        }
        self.no_words(ty, at)?;
        let bits = self.leaf(value, ty, at)?;
        let result = self.gates(&[&bits], at, |b, words| match (op, ty) {
            (Unary::Not, _) => arith::not(b, &words[0]),
            (Unary::Negate, Ty::F32 | Ty::F64) => format(ty).neg(b, &words[0]),
            (Unary::Negate, _) => arith::negate(b, &words[0]),
        })?;
        Ok(Value::Bits(result.into()))
    }

    /// An operation; the right side's type differs from the left one's for shifts only.
    pub(super) fn binary(
        &mut self,
        op: Binary,
        (left, ty): (&Value, &Ty),
        (right, by): (&Value, &Ty),
        at: Span,
    ) -> Result<Value, Failure> {
        if ty.is_int() {
            if matches!(op, Binary::Div | Binary::Rem) {
                self.divisor(right, by, at)?;
            }
            if let Some(value) = self.public(op, (left, ty), (right, by), at)? {
                return Ok(value);
            }
        }
        self.gated(op, (left, ty), (right, by), at)
    }

    /// An operation by gates.
    pub(super) fn gated(
        &mut self,
        op: Binary,
        (left, ty): (&Value, &Ty),
        (right, by): (&Value, &Ty),
        at: Span,
    ) -> Result<Value, Failure> {
        match op {
            Binary::Eq => Ok(Value::Bits(Rc::new([self.equal(left, right, ty, at)?]))),
            Binary::Ne => {
                let equal = self.equal(left, right, ty, at)?;
                Ok(Value::Bits(Rc::new([self.not(equal, at)?])))
            }
            Binary::Shl | Binary::Shr => self.shift(op, (left, ty), (right, by), at),
            Binary::Div | Binary::Rem if ty.is_int() => self.divide(op, left, right, ty, at),
            _ => {
                self.no_words(ty, at)?;
                if op == Binary::Mul {
                    self.factor(ty, at)?;
                }
                let (x, y) = (self.leaf(left, ty, at)?, self.leaf(right, ty, at)?);
                let float = ty.is_float().then(|| format(ty));
                let signed = ty.signed();
                let square = op == Binary::Mul && x == y && float.is_none();
                let bits = self.gates(&[&x, &y], at, |b, words| {
                    let (x, y) = (&words[0][..], &words[1][..]);
                    let word: Word = match (op, float) {
                        (Binary::Add, None) => arith::add,
                        (Binary::Sub, None) => arith::sub,
                        (Binary::Mul, None) if square => |b, x, _| arith::square(b, x),
                        (Binary::Mul, None) => arith::mul,
                        (Binary::And | Binary::Both, _) => arith::and,
                        (Binary::Or | Binary::Either, _) => arith::or,
                        (Binary::Xor, _) => arith::xor,
                        (Binary::Add, Some(format)) => return format.add(b, x, y),
                        (Binary::Sub, Some(format)) => return format.sub(b, x, y),
                        (Binary::Mul, Some(format)) => return format.mul(b, x, y),
                        (Binary::Div, Some(format)) => return format.div(b, x, y),
                        (Binary::Rem, Some(format)) => return format.nan(),
                        _ => {
                            let test: Test = match (op, signed) {
                                (Binary::Lt, false) => arith::lt,
                                (Binary::Lt, true) => arith::lt_signed,
                                (Binary::Le, false) => arith::le,
                                (Binary::Le, true) => arith::le_signed,
                                (Binary::Gt, false) => arith::gt,
                                (Binary::Gt, true) => arith::gt_signed,
                                (_, false) => arith::ge,
                                (_, true) => arith::ge_signed,
                            };
                            return vec![match (op, float) {
                                (_, None) => test(b, x, y),
                                (Binary::Lt, Some(format)) => format.lt(b, x, y),
                                (Binary::Le, Some(format)) => format.le(b, x, y),
                                (Binary::Gt, Some(format)) => format.gt(b, x, y),
                                (_, Some(format)) => format.ge(b, x, y),
                            }];
                        }
                    };
                    word(b, x, y)
                })?;
                Ok(Value::Bits(bits.into()))
            }
        }
    }

    /// Whether two values are equal in all parts.
    fn equal(&mut self, a: &Value, b: &Value, ty: &Ty, at: Span) -> Result<Bit, Failure> {
        if holds_float(ty) {
            let mut all = Vec::new();
            if ty.is_leaf() {
                self.no_words(ty, at)?;
                let (x, y) = (self.leaf(a, ty, at)?, self.leaf(b, ty, at)?);
                all = self.gates(&[&x, &y], at, |b, words| vec![format(ty).eq(b, &words[0], &words[1])])?;
            }
            self.spend(ty.parts(), at)?;
            for i in 0..ty.parts() {
                let (a, b) = (self.part(a, ty, i), self.part(b, ty, i));
                all.push(self.equal(&a, &b, ty.part(i).0, at)?);
            }
            return self.every(&all, at);
        }
        let (x, y) = (self.flatten(a, ty, at)?, self.flatten(b, ty, at)?);
        if x.is_empty() {
            return Ok(Bit::Constant(true));
        }
        Ok(self.gates(&[&x, &y], at, |b, words| vec![arith::eq(b, &words[0], &words[1])])?[0])
    }

    /// Fails if numbers of this type are not words, and words are asked for.
    pub(super) fn no_words(&self, ty: &Ty, at: Span) -> Result<(), Failure> {
        if self.pin == Some(Form::Arithmetic) && ty.is_float() {
            let message = format!(
                "`arithmetic` takes whole numbers, and this is {ty}: put it outside of the block, or into `yao` or \
                 `boolean`"
            );
            return Err(Failure::new(at, message));
        }
        Ok(())
    }

    /// Whether all bits are one.
    fn every(&mut self, bits: &[Bit], at: Span) -> Result<Bit, Failure> {
        if bits.is_empty() {
            return Ok(Bit::Constant(true));
        }
        let all = self.gates(&[bits], at, |b, words| {
            let zeros = arith::not(b, &words[0]);
            vec![arith::is_zero(b, &zeros)]
        })?;
        Ok(all[0])
    }

    /// Whether numbers of this type may be multiplied and divided.
    pub(super) fn factor(&self, ty: &Ty, at: Span) -> Result<(), Failure> {
        if ty.bits() > FACTOR {
            let message = format!("numbers of more than {FACTOR} bits are not multiplied or divided, and this is {ty}");
            return Err(Failure::new(at, message));
        }
        Ok(())
    }

    fn shift(
        &mut self,
        op: Binary,
        (left, ty): (&Value, &Ty),
        (right, by_ty): (&Value, &Ty),
        at: Span,
    ) -> Result<Value, Failure> {
        let x = self.leaf(left, ty, at)?;
        let signed = ty.signed();
        // All amounts of a loop that is kept are looked at, as they are in a loop that is unrolled.
        let least = self.public_range(right, by_ty).map(|(least, _)| least);
        if let Some(by) = least.filter(|by| *by < 0) {
            return Err(Failure::new(at, format!("a shift by {by}: the amount is from 0 on")));
        }
        if let Some(by) = self.known(right, by_ty) {
            let by = usize::try_from(by).unwrap_or(usize::MAX).min(x.len());
            let bits = self.gates(&[&x], at, |_, words| match (op, signed) {
                (Binary::Shl, _) => arith::shl(&words[0], by),
                (_, false) => arith::shr(&words[0], by),
                (_, true) => arith::sar(&words[0], by),
            })?;
            return Ok(Value::Bits(bits.into()));
        }
        let by = self.leaf(right, by_ty, at)?;
        let bits = self.gates(&[&x, &by], at, |b, words| {
            let shift: Word = match (op, signed) {
                (Binary::Shl, _) => arith::shl_by,
                (_, false) => arith::shr_by,
                (_, true) => arith::sar_by,
            };
            shift(b, &words[0], &words[1])
        })?;
        Ok(Value::Bits(bits.into()))
    }

    fn divide(&mut self, op: Binary, left: &Value, right: &Value, ty: &Ty, at: Span) -> Result<Value, Failure> {
        self.factor(ty, at)?;
        let public = self.known(right, ty);
        let (x, y) = (self.leaf(left, ty, at)?, self.leaf(right, ty, at)?);
        let (signed, quotient) = (ty.signed(), op == Binary::Div);
        let bits = self.gates(&[&x, &y], at, |b, words| {
            let (x, y) = (&words[0][..], &words[1][..]);
            let (q, r) = match (public, signed) {
                (Some(by), false) => arith::div_rem_by(b, x, by.unsigned_abs()),
                (Some(by), true) => arith::div_rem_signed_by(b, x, by),
                (None, false) => arith::div_rem(b, x, y),
                (None, true) => arith::div_rem_signed(b, x, y),
            };
            if quotient { q } else { r }
        })?;
        Ok(Value::Bits(bits.into()))
    }

    pub(super) fn cast(&mut self, value: &Value, from: &Ty, to: &Ty, at: Span) -> Result<Value, Failure> {
        if from == to {
            return Ok(value.clone());
        }
        if let (true, true, Some(range)) = (from.is_int(), to.is_int(), self.public_range(value, from)) {
            let (low, high) = to.range();
            let number = Lower::as_public(value, from);
            if range.0 >= low && range.1 <= high {
                return Ok(number.map_or_else(|| value.clone(), Value::Public));
            }
            let known = number.and_then(|number| number.as_constant());
            match (known, to.bits()) {
                (Some(value), width @ 1..=126) => {
                    let value = value.rem_euclid(1 << width);
                    return Ok(Value::number(if value > high { value - (1 << width) } else { value }));
                }
                (None, width @ 1..=126) => {
                    let bits = self.leaf(value, from, at)?;
                    return Ok(Ranged::of(&extended(&bits, from, width as usize), to.range()));
                }
                _ => {}
            }
        }
        self.no_words(from, at)?;
        self.no_words(to, at)?;
        let bits = self.leaf(value, from, at)?;
        let width = to.bits() as usize;
        let result = match (from.is_float(), to.is_float()) {
            (false, false) => extended(&bits, from, width),
            (true, true) => self.gates(&[&bits], at, |b, words| format(from).convert(b, &words[0], format(to)))?,
            (false, true) => self.gates(&[&bits], at, |b, words| match from.signed() {
                true => format(to).from_signed(b, &words[0]),
                false => format(to).from_unsigned(b, &words[0]),
            })?,
            (true, false) => {
                let wide = width.max(2);
                let mut result = self.gates(&[&bits], at, |b, words| match to.signed() {
                    true => format(from).to_signed(b, &words[0], wide),
                    false => format(from).to_unsigned(b, &words[0], width),
                })?;
                result.truncate(width);
                result
            }
        };
        Ok(Value::Bits(result.into()))
    }
}

/// As many bits of a value of this type, the sign or zeros above them.
fn extended(bits: &[Bit], ty: &Ty, width: usize) -> Vec<Bit> {
    let fill = if ty.signed() { bits[bits.len() - 1] } else { Bit::Constant(false) };
    let mut bits = bits.to_vec();
    bits.resize(width, fill);
    bits
}

fn holds_float(ty: &Ty) -> bool {
    match ty {
        Ty::F32 | Ty::F64 => true,
        Ty::Array(element, _) => holds_float(element),
        Ty::Tuple(types) => types.iter().any(holds_float),
        Ty::Struct(info) => info.fields.iter().any(|(_, ty)| holds_float(ty)),
        _ => false,
    }
}
