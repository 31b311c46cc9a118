//! How a value of one type is made one of another: what a message advises gives the number that is meant, or
//! says when it does not.

use super::infer::Body;
use crate::ast::{Binary, Unary};
use crate::builtins::Builtin;
use crate::ir::{Expr, Kind};
use crate::types::{MAX_WIDTH, Ty};

/// The longest text that is quoted.
const QUOTED: usize = 30;
/// The longest text that is advised.
const ADVISED: usize = 60;

impl Body<'_, '_, '_> {
    /// How an expression of one type is made one of another, for messages; empty if it is not.
    pub(super) fn conversion(&self, expr: &Expr, is: &Ty, want: &Ty) -> String {
        let text = self.text(expr);
        let digits = text.chars().all(|c| c.is_ascii_digit());
        let operand = parenthesized(text);
        match (is, want) {
            (Ty::Var(_) | Ty::Number, Ty::F32 | Ty::F64) if digits => format!("; write `{text}.0`"),
            (Ty::Bool, _) if want.is_int() && *want != Ty::Number => format!("; write `{operand} as {want}`"),
            (Ty::Var(_), Ty::Bool) if !self.is_fraction(is) => format!("; write `{operand} != 0`"),
            (_, Ty::Bool) if is.is_int() => format!("; write `{operand} != 0`"),
            _ if *want == Ty::Number => String::new(),
            _ if (is.is_int() || is.is_float()) && (want.is_int() || want.is_float()) => {
                self.converted(expr, is, want, &operand)
            }
            _ if want.is_unit() => "; end it with `;`, or use it".to_owned(),
            _ => String::new(),
        }
    }

    /// How a number of one type is made one of another.
    fn converted(&self, expr: &Expr, is: &Ty, want: &Ty, operand: &str) -> String {
        let after = format!("{operand} as {want}");
        if is.is_int() && (want.is_float() || want.bits() > is.bits()) && self.overflows(expr) {
            // Converted afterwards, what does not fit the narrow type is lost already.
            let before = self.with_operands_as(expr, want);
            let modulo = format!("modulo 2^{}", is.bits());
            return match &expr.kind {
                Kind::Builtin(Builtin::Sum, values) => {
                    let array = self.text(&values[0]);
                    format!(
                        "; `sum` is {modulo}: convert each element before, as in `for x in {array} {{ s += x as {want}; }}`"
                    )
                }
                Kind::Binary(Binary::Div, left, right)
                    if want.is_float() && !self.overflows(left) && !self.overflows(right) =>
                {
                    format!("; write `{after}` for the whole quotient, or `{before}` for its fraction, too")
                }
                _ if before.len() > ADVISED || before.contains(['\n', '…']) => {
                    format!("; convert its operands, each with `as {want}`: the operation itself is {modulo}")
                }
                _ => format!("; write `{before}`; `{after}` is {modulo}"),
            };
        }
        let rounded = match (is, want) {
            (Ty::F64, Ty::F32) => ", which is rounded".to_owned(),
            (Ty::F32 | Ty::F64, _) if want.is_int() => ", which is rounded towards zero".to_owned(),
            (_, Ty::F32 | Ty::F64) => {
                let exact = if *want == Ty::F32 { 24 } else { 53 };
                let needs = is.bits() - u64::from(is.signed());
                if is.is_int() && needs > exact {
                    format!(", which is rounded from 2^{exact} on")
                } else {
                    String::new()
                }
            }
            _ if keeps(is, want) => String::new(),
            _ => {
                let low = if is.signed() && want.signed() {
                    format!("-{}", power(want.bits() - 1, 0))
                } else {
                    "0".to_owned()
                };
                let bits = |ty: &Ty| ty.bits() - u64::from(ty.signed());
                let high = power(bits(is).min(bits(want)), 1);
                return format!("; if it is from {low} to {high}, write `{after}`");
            }
        };
        format!("; write `{after}`{rounded}")
    }

    /// What makes the two sides of an operation one type; empty if nothing does.
    pub(super) fn meeting(&self, op: Binary, (left, a): (&Expr, &Ty), (right, b): (&Expr, &Ty)) -> String {
        let to_left = || self.conversion(right, b, a);
        let to_right = || self.conversion(left, a, b);
        match (a, b) {
            (Ty::Bool, _) => to_right(),
            (_, Ty::Bool) => to_left(),
            (Ty::Uint(_) | Ty::Int(_), Ty::F32 | Ty::F64) | (Ty::F32, Ty::F64) => to_right(),
            (Ty::Uint(_) | Ty::Int(_), Ty::Uint(_) | Ty::Int(_)) if keeps(a, b) => to_right(),
            (Ty::Uint(_) | Ty::Int(_), Ty::Uint(_) | Ty::Int(_)) if !keeps(b, a) => {
                // One has signs, and the other numbers that are too large for it.
                let needs = |ty: &Ty| ty.bits() + u64::from(!ty.signed());
                let wide = needs(a).max(needs(b)).next_power_of_two().max(8);
                if wide > u64::from(MAX_WIDTH) {
                    return String::new();
                }
                let wide = Ty::Int(wide as u32);
                let [left, right] = [left, right].map(|side| format!("({})", self.with_operands_as(side, &wide)));
                let symbol = op.symbol();
                if left.len() + right.len() > ADVISED || left.contains('…') || right.contains('…') {
                    return format!("; write both `as {wide}`, which holds all numbers of both");
                }
                format!("; write `{left} {symbol} {right}`, which holds all numbers of both")
            }
            _ => to_left(),
        }
    }

    /// Whether an expression computes what its type may not hold: before it is converted, not after.
    fn overflows(&self, expr: &Expr) -> bool {
        match &expr.kind {
            Kind::Unary(Unary::Negate, _) => true,
            Kind::Unary(_, value) => self.overflows(value),
            Kind::Binary(op, ..) if op.compares() => false,
            Kind::Binary(Binary::And | Binary::Or | Binary::Xor, a, b) => self.overflows(a) || self.overflows(b),
            Kind::Binary(Binary::Shr, a, _) => self.overflows(a),
            Kind::Binary(..) => true,
            Kind::Builtin(Builtin::Sum | Builtin::Abs, _) => true,
            Kind::Builtin(Builtin::Min | Builtin::Max, values) => values.iter().any(|value| self.overflows(value)),
            Kind::If(_, then, otherwise) => {
                self.overflows(then) || otherwise.as_ref().is_some_and(|otherwise| self.overflows(otherwise))
            }
            Kind::Block(_, Some(value)) => self.overflows(value),
            _ => false,
        }
    }

    /// An expression with what it is made of converted, as a text; with `…` in it where that has no short one.
    fn with_operands_as(&self, expr: &Expr, want: &Ty) -> String {
        let side = |side: &Expr| {
            let text = self.with_operands_as(side, want);
            if matches!(side.kind, Kind::Binary(..)) { format!("({text})") } else { text }
        };
        match &expr.kind {
            Kind::Number(_) if is_literal(self.text(expr)) => self.text(expr).to_owned(),
            Kind::Binary(op, a, b) if !op.compares() => match op {
                Binary::Shl | Binary::Shr => format!("({}) {} {}", side(a), op.symbol(), parenthesized(self.text(b))),
                _ => format!("{} {} {}", side(a), op.symbol(), side(b)),
            },
            Kind::Unary(op, value) => {
                format!("{}({})", if *op == Unary::Negate { "-" } else { "!" }, self.with_operands_as(value, want))
            }
            Kind::Builtin(builtin @ (Builtin::Abs | Builtin::Min | Builtin::Max), values)
                if values.iter().all(|value| self.of(value).is_leaf()) =>
            {
                let values: Vec<String> = values.iter().map(|value| self.with_operands_as(value, want)).collect();
                format!("{}({})", builtin.name(), values.join(", "))
            }
            Kind::If(..) | Kind::Block(..) | Kind::Builtin(Builtin::Sum, _) => "…".to_owned(),
            _ => format!("{} as {want}", parenthesized(self.text(expr))),
        }
    }

    /// An expression as it is written, if that is short.
    fn text(&self, expr: &Expr) -> &str {
        let source = self.checker.source;
        let (mut start, mut end) = (expr.span.start as usize, expr.span.end as usize);
        // Brackets around the first or the last operand are no part of its place.
        let count = |c: char| source[start..end].matches(c).count();
        let (opened, closed) = (count('('), count(')'));
        for _ in closed..opened {
            end = source[end..].find(')').map_or(end, |at| end + at + 1);
        }
        for _ in opened..closed {
            start = source[..start].rfind('(').unwrap_or(start);
        }
        let text = &source[start..end];
        if text.len() > QUOTED || text.contains('\n') { "..." } else { text }
    }
}

/// Whether a number is written with digits alone, so that its type follows from what stands around it.
fn is_literal(text: &str) -> bool {
    text.starts_with(|c: char| c.is_ascii_digit()) && !text.contains(['u', 'i'])
}

/// Whether every number of one type is one of the other.
fn keeps(is: &Ty, want: &Ty) -> bool {
    match (is.signed(), want.signed()) {
        (true, false) => false,
        (false, true) => want.bits() > is.bits(),
        _ => want.bits() >= is.bits(),
    }
}

/// 2^`bits` - `less`, as people write it.
fn power(bits: u64, less: u64) -> String {
    match (bits, less) {
        (0..=32, _) => ((1u64 << bits) - less).to_string(),
        (_, 0) => format!("2^{bits}"),
        _ => format!("(2^{bits} - {less})"),
    }
}

/// A text that an operator can stand behind.
fn parenthesized(text: &str) -> String {
    let simple = text.chars().all(|c| c.is_alphanumeric() || matches!(c, '_' | '.' | '[' | ']'));
    if simple { text.to_owned() } else { format!("({text})") }
}
