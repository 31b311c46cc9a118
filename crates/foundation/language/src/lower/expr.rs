//! Expressions.

use std::rc::Rc;

use comity_circuit::Form;

use super::affine::Affine;
use super::scan::Uses;
use super::segment::{Bit, Cell};
use super::value::{LARGE, Value};
use super::{Failure, Lower};
use crate::ast::Binary;
use crate::diagnostic::Span;
use crate::ir::{Expr, Func, FuncId, Kind, Pattern, Stmt, VarId};
use crate::types::Ty;

impl<'m> Lower<'m> {
    /// The value of an expression, whatever changes later.
    pub(super) fn expr(&mut self, func: &'m Func, expr: &'m Expr) -> Result<Value, Failure> {
        self.spend(1, expr.span)?;
        let value = self.nested(expr.span, |lower| lower.expr_inside(func, expr))?;
        self.fits(&value, func.ty(expr), expr.span)?;
        Ok(value)
    }

    fn expr_inside(&mut self, func: &'m Func, expr: &'m Expr) -> Result<Value, Failure> {
        let (at, ty) = (expr.span, func.ty(expr));
        match &expr.kind {
            Kind::Number(value) => Ok(Value::number(*value)),
            Kind::Whole(whole) => {
                Ok(Value::Bits((0..ty.bits()).map(|i| Bit::Constant(whole.bit(i as usize))).collect()))
            }
            Kind::Bool(value) => Ok(Value::bool(*value)),
            Kind::Float(value) => {
                let (bits, width) = match ty {
                    Ty::F32 => (u64::from((*value as f32).to_bits()), 32),
                    _ => (value.to_bits(), 64),
                };
                Ok(Value::Bits((0..width).map(|i| Bit::Constant(bits >> i & 1 == 1)).collect()))
            }
            Kind::Var(_) | Kind::Index(..) | Kind::Field(..) => {
                let value = self.place(func, expr)?;
                self.snapshot(&value, ty, at)
            }
            Kind::Const(id) => self.constant(*id, at),
            Kind::Unary(op, operand) => {
                let value = self.expr(func, operand)?;
                self.unary(*op, &value, func.ty(operand), at)
            }
            Kind::Binary(op, a, b) => {
                let left = self.expr(func, a)?;
                if let Some(value) = self.short_cut(*op, &left) {
                    return Ok(value);
                }
                let right = self.expr(func, b)?;
                self.binary(*op, (&left, func.ty(a)), (&right, func.ty(b)), at)
            }
            Kind::Cast(value) => {
                let from = func.ty(value);
                let value = self.expr(func, value)?;
                self.cast(&value, from, ty, at)
            }
            Kind::Call(id, args) => {
                let args = self.places(func, args)?;
                self.call(*id, args, at)
            }
            Kind::Builtin(builtin, args) => {
                let values = self.places(func, args)?;
                let types: Vec<&Ty> = args.iter().map(|arg| func.ty(arg)).collect();
                self.builtin(*builtin, &values, &types, ty, at)
            }
            Kind::Library(circuit, args) => {
                let values = self.places(func, args)?;
                let types: Vec<&Ty> = args.iter().map(|arg| func.ty(arg)).collect();
                self.library(circuit, &values, &types, ty, at)
            }
            Kind::Parts(parts) => {
                let mut values = Vec::with_capacity(parts.len());
                for part in parts {
                    values.push(self.expr(func, part)?);
                }
                Ok(Value::Parts(Rc::new(values)))
            }
            Kind::Repeat(element) => Ok(Value::Fill(Rc::new(self.expr(func, element)?))),
            Kind::If(condition, then, otherwise) => self.branch(func, condition, then, otherwise.as_deref(), ty, at),
            Kind::Block(stmts, value) => {
                for stmt in stmts {
                    self.stmt(func, stmt)?;
                }
                match value {
                    Some(value) => self.expr(func, value),
                    None => Ok(Value::Parts(Rc::new(Vec::new()))),
                }
            }
            Kind::Pinned(form, block) => self.pinned(*form, |lower| lower.expr_inside(func, block)),
            Kind::Error => Err(Failure::internal(at)),
        }
    }

    /// The value at a function's end, when its variables do not change any more.
    pub(super) fn tail(&mut self, func: &'m Func, expr: &'m Expr) -> Result<Value, Failure> {
        match &expr.kind {
            Kind::Block(stmts, Some(value)) => {
                for stmt in stmts {
                    self.stmt(func, stmt)?;
                }
                self.nested(expr.span, |lower| lower.tail(func, value))
            }
            Kind::Pinned(form, block) => self.pinned(*form, |lower| lower.tail(func, block)),
            Kind::Parts(parts) => {
                let values: Result<Vec<_>, _> = parts.iter().map(|part| self.place(func, part)).collect();
                Ok(Value::Parts(Rc::new(values?)))
            }
            _ => self.place(func, expr),
        }
    }

    /// Walks a part whose operations are pinned to a form.
    fn pinned<T>(&mut self, form: Form, part: impl FnOnce(&mut Self) -> Result<T, Failure>) -> Result<T, Failure> {
        let outer = self.pin.replace(form);
        let result = part(self);
        self.pin = outer;
        result
    }

    /// The value when the variables in whose homes it is are gone: it stays where it is.
    pub(super) fn retire(&mut self, value: Value, ty: &Ty, at: Span) -> Result<Value, Failure> {
        if ty.is_leaf() {
            return self.snapshot(&value, ty, at);
        }
        Ok(match value {
            Value::Stored(cell, Some(_)) => {
                self.flush(at)?;
                Value::Stored(cell, None)
            }
            Value::Parts(parts) => {
                let mut retired = Vec::with_capacity(parts.len());
                for (i, part) in (0..).zip(parts.iter()) {
                    retired.push(match part {
                        Value::Bits(_) | Value::Public(_) | Value::Ranged(_) => part.clone(),
                        _ => self.retire(part.clone(), ty.part(i).0, at)?,
                    });
                }
                Value::Parts(Rc::new(retired))
            }
            other => other,
        })
    }

    fn places(&mut self, func: &'m Func, args: &'m [Expr]) -> Result<Vec<Value>, Failure> {
        args.iter().map(|arg| self.place(func, arg)).collect()
    }

    /// A constant's value; it is computed once.
    pub(super) fn constant(&mut self, id: FuncId, at: Span) -> Result<Value, Failure> {
        if let Some(value) = self.consts.get(&id) {
            return Ok(value.clone());
        }
        let value = self.call(id, Vec::new(), at)?;
        let func = self.func(id);
        let ty = func.body.as_ref().map_or(Ty::unit(), |body| func.ty(body).clone());
        let bits = self.flatten(&value, &ty, at)?;
        if bits.iter().any(|bit| !matches!(bit, Bit::Constant(_))) {
            return Err(Failure::new(at, "this constant is not known while compiling"));
        }
        self.consts.insert(id, value.clone());
        Ok(value)
    }

    /// A constant in the memory, for indices that are not known while compiling.
    pub(super) fn constant_cell(&mut self, value: &Value, ty: &Ty, at: Span) -> Result<Option<Cell>, Failure> {
        if !self.is_constant(value, ty) {
            return Ok(None);
        }
        let bits = self.flatten(value, ty, at)?;
        let constant = |bit: &Bit| matches!(bit, Bit::Constant(_));
        if bits.is_empty() || !bits.iter().all(constant) {
            return Ok(None);
        }
        let bools: Vec<bool> = bits.iter().map(|bit| *bit == Bit::Constant(true)).collect();
        if let Some(&cell) = self.constant_cells.get(&bools) {
            return Ok(Some(cell));
        }
        let cell = self.allocate(bits.len() as u64, at)?;
        self.constant_cells.insert(bools, cell);
        let mut b = comity_circuit::Builder::new();
        let wire = |bit: &Bit| comity_circuit::Wire::constant(*bit == Bit::Constant(true));
        b.output("", &bits.iter().map(wire).collect::<Vec<_>>());
        let call = super::Call {
            circuit: Rc::new(b.finish()),
            args: Vec::new(),
            outs: vec![(cell, bits.len() as u64)],
            times: 1,
            strides: (Vec::new(), vec![0]),
        };
        self.prologue.push(super::Item::Circuit(Box::new(call)));
        Ok(Some(cell))
    }

    /// Whether all bits of a value are known.
    pub(super) fn is_constant(&self, value: &Value, ty: &Ty) -> bool {
        match value {
            Value::Public(number) => number.as_constant().is_some(),
            Value::Ranged(_) => false,
            Value::Bits(bits) => bits.iter().all(|bit| matches!(bit, Bit::Constant(_))),
            Value::Parts(parts) => (0..).zip(parts.iter()).all(|(i, part)| self.is_constant(part, ty.part(i).0)),
            Value::Fill(element) => self.is_constant(element, ty.part(0).0),
            Value::Stored(..) => false,
        }
    }

    fn branch(
        &mut self,
        func: &'m Func,
        condition: &'m Expr,
        then: &'m Expr,
        otherwise: Option<&'m Expr>,
        ty: &Ty,
        at: Span,
    ) -> Result<Value, Failure> {
        let value = self.expr(func, condition)?;
        let unit = || Value::Parts(Rc::new(Vec::new()));
        match Lower::as_bool(&value) {
            Some(true) => return self.expr(func, then),
            Some(false) => return otherwise.map_or(Ok(unit()), |otherwise| self.expr(func, otherwise)),
            None => {}
        }
        let bit = self.leaf(&value, &Ty::Bool, at)?[0];
        let guard = u32::from(self.has_turns(func, condition));
        self.guards += guard;
        let value = self.undecided(func, bit, then, otherwise, ty, at);
        self.guards -= guard;
        value
    }

    /// Whether an expression is of a public number that differs from turn to turn.
    fn has_turns(&self, func: &'m Func, expr: &'m Expr) -> bool {
        let moves = |id: VarId| match self.frame.get(id) {
            Some(Some(value @ (Value::Public(_) | Value::Ranged(_)))) => !self.is_constant(value, &func.vars[id].ty),
            _ => false,
        };
        Uses::of(expr).used.into_iter().any(moves)
    }

    /// The value of a branch whose condition is not known while compiling.
    fn undecided(
        &mut self,
        func: &'m Func,
        bit: Bit,
        then: &'m Expr,
        otherwise: Option<&'m Expr>,
        ty: &Ty,
        at: Span,
    ) -> Result<Value, Failure> {
        let unit = || Value::Parts(Rc::new(Vec::new()));
        if let (Some(additions), None) = (additions(func, then), otherwise) {
            for stmt in additions {
                if let Stmt::Assign { var, path, op, value, span } = stmt {
                    self.assign(func, (*var, path), *op, value, Some(bit), *span)?;
                }
            }
            return Ok(unit());
        }
        let not = self.not(bit, at)?;
        let before = self.frame.clone();
        self.enter(bit);
        let one = self.expr(func, then)?;
        let first = self.leave();
        let changed = std::mem::replace(&mut self.frame, before);
        self.overlay = first.before.clone();
        self.enter(not);
        let other = otherwise.map_or(Ok(unit()), |otherwise| self.expr(func, otherwise))?;
        let second = self.leave();
        self.join_overlays(bit, first, second, at)?;
        let value = self.join(bit, &one, &other, ty, at)?;
        for (id, one) in changed.into_iter().enumerate() {
            let joined = match (one, self.frame[id].take()) {
                (Some(one), Some(other)) => Some(self.join(bit, &one, &other, &func.vars[id].ty, at)?),
                _ => None,
            };
            self.frame[id] = joined;
        }
        Ok(value)
    }

    pub(super) fn stmt(&mut self, func: &'m Func, stmt: &'m Stmt) -> Result<(), Failure> {
        match stmt {
            Stmt::Let(pattern, value) => {
                let ty = func.ty(value);
                let at = value.span;
                let value = self.expr(func, value)?;
                self.bind(func, pattern, value, ty, at)
            }
            Stmt::Expr(value) => self.expr(func, value).map(drop),
            Stmt::Assign { var, path, op, value, span } => self.assign(func, (*var, path), *op, value, None, *span),
            Stmt::For { var, over, body, span } => self.for_loop(func, var, over, body, *span),
        }
    }

    pub(super) fn bind(
        &mut self,
        func: &'m Func,
        pattern: &'m Pattern,
        value: Value,
        ty: &Ty,
        at: Span,
    ) -> Result<(), Failure> {
        match pattern {
            Pattern::Ignore => {}
            Pattern::Var(id) => {
                let var = &func.vars[*id];
                let value = if !var.mutable {
                    value
                } else if ty.bits() > LARGE {
                    let value = self.snapshot(&value, ty, at)?;
                    self.settle(&value, ty, at)?
                } else {
                    self.snapshot(&value, ty, at)?
                };
                self.frame[*id] = Some(value);
            }
            Pattern::Parts(parts) => {
                for (i, pattern) in (0..).zip(parts) {
                    let part = self.part(&value, ty, i);
                    self.bind(func, pattern, part, ty.part(i).0, at)?;
                }
            }
        }
        Ok(())
    }

    /// The value as a public number that is the same in all turns.
    pub(super) fn known(&self, value: &Value, ty: &Ty) -> Option<i128> {
        Lower::as_public(value, ty).and_then(|number: Rc<Affine>| number.as_constant())
    }
}

/// The statements of a block that only adds numbers to variables, or subtracts them. Where the condition does not hold
/// zeros are added: that costs a mask of what is added, nothing for a constant, where a branch costs a multiplexer of
/// what is changed. That later statements see what earlier ones did not do matters no more than what they add.
fn additions<'m>(func: &Func, block: &'m Expr) -> Option<&'m [Stmt]> {
    let Kind::Block(stmts, None) = &block.kind else { return None };
    let adds = |stmt: &Stmt| match stmt {
        Stmt::Assign { op: Some(Binary::Add | Binary::Sub), value, .. } => {
            matches!(func.ty(value), Ty::Uint(_) | Ty::Int(_))
        }
        _ => false,
    };
    stmts.iter().all(adds).then_some(stmts)
}
