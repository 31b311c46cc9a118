//! Expressions.

use comity_circuit::Program;

use super::consts::ConstState;
use super::infer::{Body, Later};
use super::{Generic, builtin_type};
use crate::ast::{self, Binary, ExprKind, Name, Unary};
use crate::builtins::{BUILTINS, Builtin};
use crate::diagnostic::{Span, did_you_mean};
use crate::ir::{Expr, Kind};
use crate::lexer::Whole;
use crate::types::Ty;

impl<'s> Body<'_, 's, '_> {
    /// Checks an expression. The type that is wanted is a hint: the caller checks that it is of that type.
    pub(super) fn expr(&mut self, expr: &ast::Expr<'s>, want: Option<&Ty>) -> Expr {
        if !self.checker.enter(expr.span) {
            return self.wrong(expr.span);
        }
        let checked = self.entered(expr, want);
        self.checker.leave();
        checked
    }

    fn entered(&mut self, expr: &ast::Expr<'s>, want: Option<&Ty>) -> Expr {
        let span = expr.span;
        match &expr.kind {
            ExprKind::Int(value, suffix) => self.whole(value, *suffix, false, span),
            ExprKind::Float(value, suffix) => {
                let ty = match suffix {
                    None => self.fresh(true),
                    Some("f32") => Ty::F32,
                    Some("f64") => Ty::F64,
                    Some(other) => {
                        self.error(span, format!("there is no type `{other}` of numbers with a fraction"));
                        Ty::Error
                    }
                };
                self.make(Kind::Float(*value), ty, span)
            }
            ExprKind::Bool(value) => self.make(Kind::Bool(*value), Ty::Bool, span),
            ExprKind::Name(name) => self.name(name, span),
            ExprKind::Unary(op, operand) => self.unary(*op, operand, want, span),
            ExprKind::Binary(op, left, right) => self.binary(*op, left, right, want, span),
            ExprKind::Cast(value, ty) => {
                let generics = self.generics.clone();
                let ty = self.checker.ty(ty, &generics);
                let value = self.expr(value, None);
                let from = self.of(&value);
                self.later(Later::Cast(from), &ty, span);
                self.make(Kind::Cast(Box::new(value)), ty, span)
            }
            ExprKind::Call(name, args) => self.call(*name, args, want, span),
            ExprKind::Method(value, name, args) => self.method(value, *name, args, span),
            ExprKind::Field(value, name) => {
                let value = self.expr(value, None);
                match self.field(&self.of(&value), *name) {
                    Some((index, ty)) => self.make(Kind::Field(Box::new(value), index), ty, span),
                    None => self.wrong(span),
                }
            }
            ExprKind::Index(value, index) => {
                let value = self.expr(value, None);
                let ty = self.of(&value);
                let (index, element) = self.index(&ty, index, value.span);
                self.make(Kind::Index(Box::new(value), Box::new(index)), element, span)
            }
            ExprKind::Array(elements) => {
                let mut element = match want.map(|want| self.shallow(want)) {
                    Some(Ty::Array(element, _)) => Some((*element).clone()),
                    _ => None,
                };
                let mut parts = Vec::with_capacity(elements.len());
                for part in elements {
                    let part = self.expr(part, element.as_ref());
                    let is = self.of(&part);
                    parts.push(match &element {
                        Some(element) => self.expect(part, element, "an element"),
                        None => part,
                    });
                    element.get_or_insert(is);
                }
                let count = parts.len() as u64;
                let Some(element) = element else {
                    self.error(span, "an array without elements has no type; leave it out");
                    return self.wrong(span);
                };
                self.of_parts(Kind::Parts(parts), Ty::Array(element.into(), count), span)
            }
            ExprKind::Repeat(element, count) => {
                let hint = match want.map(|want| self.shallow(want)) {
                    Some(Ty::Array(element, _)) => Some((*element).clone()),
                    _ => None,
                };
                let element = self.expr(element, hint.as_ref());
                let generics = self.generics.clone();
                let Some(count) = self.checker.size(count, &generics, 0, Program::MAX_WIRES, "an array's length")
                else {
                    return self.wrong(span);
                };
                let ty = Ty::Array(self.of(&element).into(), count);
                self.of_parts(Kind::Repeat(Box::new(element)), ty, span)
            }
            ExprKind::Tuple(elements) => {
                let wants = match want.map(|want| self.shallow(want)) {
                    Some(Ty::Tuple(types)) if types.len() == elements.len() => Some(types),
                    _ => None,
                };
                let part = |(i, part): (usize, &ast::Expr<'s>)| {
                    let want = wants.as_ref().map(|types| types[i].clone());
                    let part = self.expr(part, want.as_ref());
                    match &want {
                        Some(want) => self.expect(part, want, "this part"),
                        None => part,
                    }
                };
                let parts: Vec<Expr> = elements.iter().enumerate().map(part).collect();
                let ty = Ty::Tuple(parts.iter().map(|part| self.of(part)).collect());
                self.of_parts(Kind::Parts(parts), ty, span)
            }
            ExprKind::Struct(name, fields) => self.structure(*name, fields, span),
            ExprKind::If(condition, then, otherwise) => {
                self.condition(condition, then, otherwise.as_deref(), want, span)
            }
            ExprKind::Block(block) => self.block(block, want),
            ExprKind::Pinned(form, block) => {
                let block = self.block(block, want);
                let ty = self.of(&block);
                self.make(Kind::Pinned(*form, Box::new(block)), ty, span)
            }
        }
    }

    /// An expression of this type, unless it is too large.
    fn of_parts(&mut self, kind: Kind, ty: Ty, span: Span) -> Expr {
        match self.checker.small(ty, span) {
            Ty::Error => self.wrong(span),
            ty if self.deep(&ty).bits() > Program::MAX_WIRES => {
                let what = if matches!(ty, Ty::Array(..)) { "array" } else { "value" };
                self.error(span, format!("this {what} has more than 2^32 bits, which no program's memory holds"));
                self.wrong(span)
            }
            ty => self.make(kind, ty, span),
        }
    }

    fn whole(&mut self, value: &Whole, suffix: Option<&'s str>, negative: bool, span: Span) -> Expr {
        let ty = match suffix {
            None => self.fresh(false),
            Some(name) => match builtin_type(name) {
                Some(Ok(ty)) if ty.is_int() => ty,
                Some(Ok(ty)) => {
                    self.error(span, format!("a number of type {ty} is written with a point: `1.0`"));
                    Ty::Error
                }
                Some(Err(message)) => {
                    self.error(span, message);
                    Ty::Error
                }
                None => {
                    self.error(span, format!("`{name}` after a number is not a type; write `5u32`, `5i8` and so on"));
                    Ty::Error
                }
            },
        };
        match value.small() {
            Some(number) => {
                let number = if negative { -number } else { number };
                self.later(Later::Fits(number), &ty, span);
                self.make(Kind::Number(number), ty, span)
            }
            None => {
                self.later(Later::FitsBits(value.bits()), &ty, span);
                self.make(Kind::Whole(value.clone()), ty, span)
            }
        }
    }

    fn number(&mut self, value: i128, ty: Option<Ty>, span: Span) -> Expr {
        let ty = ty.unwrap_or_else(|| self.fresh(false));
        self.later(Later::Fits(value), &ty, span);
        self.make(Kind::Number(value), ty, span)
    }

    fn name(&mut self, name: &'s str, span: Span) -> Expr {
        if let Some(&(_, id)) = self.scope.iter().rev().find(|(text, _)| *text == name) {
            let ty = if self.vars[id].counter { self.fresh(false) } else { self.vars[id].ty.clone() };
            return self.make(Kind::Var(id), ty, span);
        }
        match self.generics.get(name).cloned() {
            Some(Generic::Number(value)) => return self.number(value, None, span),
            Some(Generic::Type(ty)) => {
                self.error(span, format!("`{name}` is the type {ty}; a value is needed"));
                return self.wrong(span);
            }
            None => {}
        }
        if let Some(&index) = self.checker.const_names.get(name) {
            return match self.checker.constant(index) {
                ConstState::Number(value, ty) => self.number(value, ty, span),
                ConstState::Value(id, ty) => self.make(Kind::Const(id), ty, span),
                _ => self.wrong(span),
            };
        }
        if self.checker.functions.contains_key(name) || BUILTINS.iter().any(|(text, ..)| *text == name) {
            self.error(span, format!("`{name}` is a function; call it: `{name}(...)`"));
            return self.wrong(span);
        }
        let mut hint = {
            let locals = self.scope.iter().rev().map(|(name, _)| *name);
            let consts = self.checker.const_names.keys().copied();
            did_you_mean(name, locals.chain(consts).chain(self.generics.keys().copied()))
        };
        if self.checker.structs.contains_key(name) {
            hint = format!("; a value of struct `{name}` is written `{name} {{ ... }}`");
        } else if self.checker.file.parties.iter().any(|party| party.text == name) {
            hint = "; it is a party, whose values are the parameters of `main`".to_owned();
        }
        self.error(span, format!("there is no variable or constant `{name}`{hint}"));
        self.wrong(span)
    }

    fn unary(&mut self, op: Unary, operand: &ast::Expr<'s>, want: Option<&Ty>, span: Span) -> Expr {
        if let (Unary::Negate, ExprKind::Int(value, suffix)) = (op, &operand.kind)
            && value.small().is_some()
        {
            return self.whole(value, *suffix, true, span);
        }
        let operand = self.expr(operand, want);
        let ty = self.of(&operand);
        let check = if op == Unary::Negate { Later::Signed } else { Later::Bitwise("!") };
        self.later(check, &ty, span);
        let exact = op == Unary::Negate && self.is_number(&operand);
        let ty = if exact { self.exact(ty) } else { ty };
        self.make(Kind::Unary(op, Box::new(operand)), ty, span)
    }

    /// Whether an expression is a number without a type: made of literals, constants, sizes and variables of loops.
    pub(super) fn is_number(&self, expr: &Expr) -> bool {
        match &expr.kind {
            Kind::Number(_) => matches!(self.of(expr), Ty::Var(_)),
            Kind::Var(id) => self.vars[*id].counter,
            Kind::Unary(Unary::Negate, operand) => self.is_number(operand),
            Kind::Binary(op, left, right) => !op.compares() && self.is_number(left) && self.is_number(right),
            Kind::Builtin(Builtin::Min | Builtin::Max, values) => {
                values.len() == 2 && values.iter().all(|value| self.is_number(value))
            }
            _ => false,
        }
    }

    /// The hint that an operand takes from the other one.
    fn other(&self, expr: &Expr) -> Option<Ty> {
        Some(self.of(expr)).filter(|ty| !matches!(ty, Ty::Var(_) | Ty::Error))
    }

    fn binary(
        &mut self,
        op: Binary,
        left: &ast::Expr<'s>,
        right: &ast::Expr<'s>,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let symbol = op.symbol();
        match op {
            Binary::Both | Binary::Either => {
                let sides = [left, right].map(|side| {
                    let side = self.expr(side, Some(&Ty::Bool));
                    self.expect(side, &Ty::Bool, &format!("each side of `{symbol}`"))
                });
                let [left, right] = sides;
                self.make(Kind::Binary(op, Box::new(left), Box::new(right)), Ty::Bool, span)
            }
            Binary::Shl | Binary::Shr => {
                let left = self.expr(left, want);
                let right = self.expr(right, None);
                let (ty, by) = (self.of(&left), self.of(&right));
                self.later(Later::Whole(symbol), &ty, left.span);
                self.later(Later::Whole(symbol), &by, right.span);
                let exact = self.is_number(&left) && self.is_number(&right);
                let ty = if exact { self.exact(ty) } else { ty };
                self.make(Kind::Binary(op, Box::new(left), Box::new(right)), ty, span)
            }
            _ => {
                let left = self.expr(left, want.filter(|_| !op.compares()));
                let hint = self.other(&left);
                let right = self.expr(right, hint.as_ref());
                self.operands(op, left, right, span)
            }
        }
    }

    /// An operation on two values of one type.
    pub(super) fn operands(&mut self, op: Binary, left: Expr, right: Expr, span: Span) -> Expr {
        let symbol = op.symbol();
        let (a, b) = (self.of(&left), self.of(&right));
        if !self.unify(&a, &b) {
            let (a, b) = (self.deep(&a), self.deep(&b));
            let hint = self.meeting(op, (&left, &a), (&right, &b));
            let (a, b) = (self.show(&a), self.show(&b));
            self.error(span, format!("`{symbol}` takes two values of one type; these are {a} and {b}{hint}"));
            return self.wrong(span);
        }
        let ty = self.shallow(&a);
        match op {
            Binary::Eq | Binary::Ne => {}
            Binary::And | Binary::Or | Binary::Xor => self.later(Later::Bitwise(symbol), &ty, span),
            _ => self.later(Later::Numeric(symbol), &ty, span),
        }
        let result = match op.compares() {
            true => Ty::Bool,
            // Computed exactly, and so no value of the type that its parts would have.
            false if self.is_number(&left) && self.is_number(&right) => self.exact(ty),
            false => ty,
        };
        self.make(Kind::Binary(op, Box::new(left), Box::new(right)), result, span)
    }

    /// Which part of a value a field is.
    pub(super) fn field(&mut self, ty: &Ty, name: Name<'s>) -> Option<(u64, Ty)> {
        let text = if name.text.is_empty() {
            &self.checker.source[name.span.start as usize..name.span.end as usize]
        } else {
            name.text
        };
        let message = match ty {
            Ty::Error => return None,
            Ty::Struct(info) => {
                if let Some(index) = info.fields.iter().position(|(field, _)| field == text) {
                    return Some((index as u64, info.fields[index].1.clone()));
                }
                let near = did_you_mean(text, info.fields.iter().map(|(field, _)| field.as_str()));
                let all: Vec<String> = info.fields.iter().map(|(field, _)| format!("`{field}`")).collect();
                let hint = if near.is_empty() { format!("; it has {}", all.join(", ")) } else { near };
                format!("{ty} has no field `{text}`{hint}")
            }
            Ty::Tuple(types) => match text.parse::<usize>() {
                Ok(index) if index < types.len() => return Some((index as u64, types[index].clone())),
                _ => format!("{} has the parts `.0` to `.{}`", self.deep(ty), types.len().saturating_sub(1)),
            },
            Ty::Array(..) if text == "len" => "the length of an array is written `len(array)`".to_owned(),
            Ty::Array(..) => format!("an array has no field `{text}`; its elements are written `array[0]`"),
            _ => format!("{ty} has no fields", ty = self.deep(ty)),
        };
        self.error(name.span, message);
        None
    }

    /// The index into a value of this type, and the element's type.
    pub(super) fn index(&mut self, ty: &Ty, index: &ast::Expr<'s>, at: Span) -> (Expr, Ty) {
        let index = self.expr(index, None);
        let is = self.of(&index);
        self.later(Later::Whole("[]"), &is, index.span);
        match ty {
            Ty::Array(element, _) => {
                let element = self.shallow(element);
                (index, element)
            }
            Ty::Error => (index, Ty::Error),
            _ => {
                let hint = match ty {
                    Ty::Tuple(_) => "; its parts are written `.0`, `.1`",
                    Ty::Uint(_) | Ty::Int(_) => "; its bits are `bits(x)`, an array of bool",
                    _ => "",
                };
                self.error(at, format!("this is {}, not an array{hint}", self.deep(ty)));
                (index, Ty::Error)
            }
        }
    }

    fn structure(&mut self, name: Name<'s>, fields: &[(Name<'s>, ast::Expr<'s>)], span: Span) -> Expr {
        let Some(info) = self.checker.structure(name.text) else {
            if !self.checker.structs.contains_key(name.text) {
                let near = did_you_mean(name.text, self.checker.structs.keys().copied());
                self.error(name.span, format!("there is no struct `{}`{near}", name.text));
            }
            return self.wrong(span);
        };
        let ty = Ty::Struct(info.clone());
        let mut parts: Vec<Option<Expr>> = info.fields.iter().map(|_| None).collect();
        for (field, value) in fields {
            let Some((index, want)) = self.field(&ty, *field) else { continue };
            let value = self.expr(value, Some(&want));
            let value = self.expect(value, &want, &format!("field `{}`", field.text));
            if parts[index as usize].replace(value).is_some() {
                self.error(field.span, format!("field `{}` is given twice", field.text));
            }
        }
        let missing: Vec<String> = info
            .fields
            .iter()
            .zip(&parts)
            .filter(|(_, part)| part.is_none())
            .map(|((field, _), _)| format!("`{field}`"))
            .collect();
        if !missing.is_empty() {
            let known = fields.iter().all(|(field, _)| info.fields.iter().any(|(name, _)| name == field.text));
            if known {
                self.error(span, format!("a value is missing for {} of {}", missing.join(", "), info.name));
            }
            return self.wrong(span);
        }
        self.make(Kind::Parts(parts.into_iter().flatten().collect()), ty, span)
    }

    fn condition(
        &mut self,
        condition: &ast::Expr<'s>,
        then: &ast::Block<'s>,
        otherwise: Option<&ast::Expr<'s>>,
        want: Option<&Ty>,
        span: Span,
    ) -> Expr {
        let condition = self.expr(condition, Some(&Ty::Bool));
        let condition = Box::new(self.expect(condition, &Ty::Bool, "a condition"));
        let then_span = then.value.as_ref().map_or(then.span, |value| value.span);
        let then = self.block(then, want);
        let Some(otherwise) = otherwise else {
            let is = self.of(&then);
            if !is.is_unit() && is != Ty::Error {
                let is = self.deep(&is);
                self.error(
                    then_span,
                    format!("this `if` gives {is} and has no `else`; end it with `;`, or add `else`"),
                );
            }
            return self.make(Kind::If(condition, Box::new(then), None), Ty::unit(), span);
        };
        let hint = self.other(&then).or_else(|| want.cloned());
        let otherwise = self.expr(otherwise, hint.as_ref());
        let (a, b) = (self.of(&then), self.of(&otherwise));
        if !self.unify(&a, &b) {
            let (a, b) = (self.deep(&a), self.deep(&b));
            let hint = self.conversion(&otherwise, &b, &a);
            let (a, b) = (self.show(&a), self.show(&b));
            self.error(otherwise.span, format!("both branches give one type; the first gives {a}, and this {b}{hint}"));
            return self.wrong(span);
        }
        let ty = if a == Ty::Error { b } else { a };
        self.make(Kind::If(condition, Box::new(then), Some(Box::new(otherwise))), ty, span)
    }
}
