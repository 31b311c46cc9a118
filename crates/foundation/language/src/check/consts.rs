//! Constants, and numbers that have to be known while checking: lengths and widths.

use super::{Body, Checker, Generic, Generics};
use crate::ast::{Binary, Expr, ExprKind, Unary};
use crate::diagnostic::{Span, did_you_mean};
use crate::ir::{Func, FuncId};
use crate::types::Ty;

#[derive(Clone)]
pub(super) enum ConstState {
    Unseen,
    Inside,
    /// A number; with a type if one is written.
    Number(i128, Option<Ty>),
    /// Something else: a function without parameters computes it.
    Value(FuncId, Ty),
    Wrong,
}

/// Why an expression is no number that is known while checking.
pub(super) enum NoNumber {
    /// An expression of another kind than those that are computed here.
    Other(Span),
    /// A mistake; noted if it has no text.
    Wrong(Span, String),
}

impl<'s> Checker<'s, '_> {
    /// The value of constant `index`.
    pub(super) fn constant(&mut self, index: usize) -> ConstState {
        let item = &self.file.consts[index];
        match &self.consts[index] {
            ConstState::Unseen => {}
            ConstState::Inside => {
                self.errors.add(item.name.span, format!("`{}` is made of itself", item.name.text));
                self.consts[index] = ConstState::Wrong;
                return ConstState::Wrong;
            }
            known => return known.clone(),
        }
        if !self.enter(item.name.span) {
            self.consts[index] = ConstState::Wrong;
            return ConstState::Wrong;
        }
        self.consts[index] = ConstState::Inside;
        let ty = item.ty.as_ref().map(|ty| self.ty(ty, &Generics::new()));
        let number = match &ty {
            Some(ty) if !ty.is_int() => Err(NoNumber::Other(item.value.span)),
            _ => self.number(&item.value, &Generics::new()),
        };
        let state = match number {
            Ok(value) => {
                let (low, high) = ty.as_ref().map_or((i128::MIN, i128::MAX), Ty::range);
                if value < low || value > high {
                    let ty = ty.as_ref().map_or_else(String::new, Ty::to_string);
                    let message = format!("{value} does not fit {ty}, which goes from {low} to {high}");
                    self.errors.add(item.value.span, message);
                    ConstState::Wrong
                } else {
                    ConstState::Number(value, ty)
                }
            }
            // It may be no more than a wide number.
            Err(NoNumber::Wrong(_, message)) if message == TOO_LARGE && ty.is_some() => self.value(index, ty.as_ref()),
            Err(NoNumber::Wrong(at, message)) => {
                if !message.is_empty() {
                    self.errors.add(at, message);
                }
                ConstState::Wrong
            }
            Err(NoNumber::Other(_)) => self.value(index, ty.as_ref()),
        };
        self.leave();
        if !matches!(self.consts[index], ConstState::Wrong) {
            self.consts[index] = state;
        }
        self.consts[index].clone()
    }

    /// A constant that is computed when the program is lowered.
    fn value(&mut self, index: usize, ty: Option<&Ty>) -> ConstState {
        let item = &self.file.consts[index];
        let mut body = Body::new(self, Generics::new());
        let value = body.expr(&item.value, ty);
        let value = match ty {
            Some(ty) => body.expect(value, ty, "the constant"),
            None => value,
        };
        let (vars, types) = body.finish();
        let ty = types[value.ty].clone();
        let id = self.funcs.len();
        self.funcs.push(Func { params: Vec::new(), vars, types, body: Some(value) });
        ConstState::Value(id, ty)
    }

    /// A length or width, in its range.
    pub(super) fn size(
        &mut self,
        expr: &Expr<'s>,
        generics: &Generics<'s>,
        low: u64,
        high: u64,
        what: &str,
    ) -> Option<u64> {
        let (at, message) = match self.number(expr, generics) {
            Ok(value) => match u64::try_from(value).ok().filter(|value| (low..=high).contains(value)) {
                Some(size) => return Some(size),
                None => (expr.span, format!("{what} is from {low} to {high}, and this is {value}")),
            },
            Err(NoNumber::Wrong(_, message)) if message.is_empty() => return None,
            Err(NoNumber::Wrong(at, message)) => (at, message),
            Err(NoNumber::Other(at)) => {
                (at, format!("{what} is a constant; this is not known before the program runs"))
            }
        };
        self.errors.add(at, message);
        None
    }

    /// The value of an expression of constants.
    pub(super) fn number(&mut self, expr: &Expr<'s>, generics: &Generics<'s>) -> Result<i128, NoNumber> {
        if !self.enter(expr.span) {
            return Err(NoNumber::Wrong(expr.span, String::new()));
        }
        let value = self.computed(expr, generics);
        self.leave();
        value
    }

    fn computed(&mut self, expr: &Expr<'s>, generics: &Generics<'s>) -> Result<i128, NoNumber> {
        let wrong = |message: &str| NoNumber::Wrong(expr.span, message.to_owned());
        match &expr.kind {
            ExprKind::Int(value, None) => value.small().ok_or(NoNumber::Other(expr.span)),
            ExprKind::Name(name) => match (generics.get(name), self.const_names.get(name)) {
                (Some(Generic::Number(value)), _) => Ok(*value),
                (Some(Generic::Type(ty)), _) => Err(wrong(&format!("`{name}` is the type {ty}; a number is needed"))),
                (None, Some(&index)) => match self.constant(index) {
                    ConstState::Number(value, _) => Ok(value),
                    ConstState::Wrong => Err(wrong("")),
                    _ => Err(NoNumber::Other(expr.span)),
                },
                (None, None) => {
                    let names = self.const_names.keys().copied().chain(generics.keys().copied());
                    let near = did_you_mean(name, names);
                    Err(wrong(&format!("there is no constant `{name}`{near}")))
                }
            },
            ExprKind::Unary(Unary::Negate, operand) => Ok(-self.number(operand, generics)?),
            ExprKind::Binary(op, a, b) => {
                if op.compares() || matches!(op, Binary::Both | Binary::Either) {
                    return Err(NoNumber::Other(expr.span));
                }
                let (a, b) = (self.number(a, generics)?, self.number(b, generics)?);
                arithmetic(*op, a, b).map_err(wrong)
            }
            _ => Err(NoNumber::Other(expr.span)),
        }
    }
}

const TOO_LARGE: &str = "this number is too large";

/// Arithmetic on public numbers.
pub(crate) fn arithmetic(op: Binary, a: i128, b: i128) -> Result<i128, &'static str> {
    let amount = || u32::try_from(b).map_err(|_| "the amount of a shift is from 0 on");
    let value = match op {
        Binary::Add => a.checked_add(b),
        Binary::Sub => a.checked_sub(b),
        Binary::Mul => a.checked_mul(b),
        Binary::Div | Binary::Rem if b == 0 => return Err("a division by zero"),
        Binary::Div => a.checked_div(b),
        Binary::Rem => a.checked_rem(b),
        Binary::Shl => amount().map(|by| if by < 126 { a.checked_mul(1 << by) } else { (a == 0).then_some(0) })?,
        Binary::Shr => Some(a >> amount()?.min(127)),
        Binary::And => Some(a & b),
        Binary::Or => Some(a | b),
        Binary::Xor => Some(a ^ b),
        _ => None,
    };
    // The margin lets sums of such numbers be taken without a check.
    value.filter(|value| value.unsigned_abs() < 1 << 126).ok_or(TOO_LARGE)
}
