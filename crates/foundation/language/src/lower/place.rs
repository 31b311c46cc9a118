//! Variables and their parts: reading and assigning, at public and at private indices.

use std::rc::Rc;

use comity_library::arrays;

use super::affine::Affine;
use super::emit::Digit;
use super::segment::{Bit, Cell};
use super::value::Value;
use super::{Failure, Lower};
use crate::ast::Binary;
use crate::diagnostic::Span;
use crate::ir::{Expr, Func, Kind, Step, VarId};
use crate::types::Ty;

/// Arrays of more bits are not searched at a private index.
const LARGE_SCAN: u64 = 1 << 21;

impl<'m> Lower<'m> {
    /// A value where it is: it may change with the variable that it is a part of.
    pub(super) fn place(&mut self, func: &'m Func, expr: &'m Expr) -> Result<Value, Failure> {
        let at = expr.span;
        match &expr.kind {
            Kind::Var(id) => {
                self.spend(1, at)?;
                let value = self.var(*id, at)?;
                // A loop's variable fits wherever it is used, if it is not too large.
                self.fits(&value, func.ty(expr), at)?;
                Ok(value)
            }
            Kind::Field(value, index) => {
                let place = self.nested(at, |lower| lower.place(func, value))?;
                Ok(self.part(&place, func.ty(value), *index))
            }
            Kind::Index(array, index) => {
                let place = self.nested(at, |lower| lower.place(func, array))?;
                let position = self.expr(func, index)?;
                let (array_ty, index_ty) = (func.ty(array), func.ty(index));
                match Lower::as_public(&position, index_ty) {
                    Some(number) => {
                        self.in_range(&number, array_ty, index.span)?;
                        self.element(&place, array_ty, &number, at)
                    }
                    None => self.search(&place, array_ty, &position, index_ty, at),
                }
            }
            _ => self.expr(func, expr),
        }
    }

    /// Whether an index is in the array in all turns.
    fn in_range(&self, index: &Affine, ty: &Ty, at: Span) -> Result<(), Failure> {
        let count = i128::from(ty.parts());
        match self.range(index) {
            Some((low, high)) if low >= 0 && high < count => Ok(()),
            Some((low, high)) if low == high => {
                let elements = if count == 1 { "1 element".to_owned() } else { format!("{count} elements") };
                let rest = if count > 0 { format!(", from 0 to {}", count - 1) } else { String::new() };
                Err(Failure::new(at, format!("the index is {low}, and the array has {elements}{rest}")))
            }
            Some((low, high)) => Err(Failure::new(
                at,
                format!("the index goes from {low} to {high}, and the array from 0 to {}", count - 1),
            )),
            None => Err(Failure::new(at, "the index is too large")),
        }
    }

    /// The element at a public index.
    pub(super) fn element(&mut self, place: &Value, ty: &Ty, index: &Affine, at: Span) -> Result<Value, Failure> {
        if let Some(index) = index.as_constant() {
            return Ok(self.part(place, ty, index as u64));
        }
        match place {
            Value::Fill(element) => Ok((**element).clone()),
            Value::Stored(cell, home) => Ok(Value::Stored(self.moving(*cell, index, ty.part(0).0.bits())?, *home)),
            Value::Parts(_) => {
                if let Some(cell) = self.constant_cell(place, ty, at)? {
                    return Ok(Value::Stored(self.moving(cell, index, ty.part(0).0.bits())?, None));
                }
                let cell = self.store(place, ty, at)?;
                Ok(Value::Stored(self.moving(cell, index, ty.part(0).0.bits())?, None))
            }
            _ => Err(Failure::internal(at)),
        }
    }

    /// The cell of an element of `bits` bits, whose index moves with loops.
    fn moving(&mut self, cell: Cell, index: &Affine, bits: u64) -> Result<Cell, Failure> {
        let bits = bits as i64;
        let mut terms = self.classes[cell.class as usize].clone();
        terms.extend(index.terms.iter().map(|&(id, factor)| (Digit::Turn(id), factor as i64 * bits)));
        let base = i64::from(cell.base) + index.start as i64 * bits;
        Ok(Cell { class: self.class(terms), base: base as u32 })
    }

    /// The element at a private index, found by looking at all elements; zero if there is no such element.
    fn search(&mut self, place: &Value, ty: &Ty, index: &Value, index_ty: &Ty, at: Span) -> Result<Value, Failure> {
        let element = ty.part(0).0.clone();
        self.searchable(ty, at)?;
        if let Value::Fill(_) | Value::Stored(..) | Value::Parts(_) = place {
            let (rows, width) = (ty.parts() as usize, element.bits() as usize);
            if rows == 0 || width == 0 {
                return Ok(self.unflatten(&element, &vec![Bit::Constant(false); width]));
            }
            let all = self.flatten(place, ty, at)?;
            let index = self.leaf(index, index_ty, at)?;
            if let Some(bits) = self.lookup(&all, width, &index, at)? {
                return Ok(self.unflatten(&element, &bits));
            }
            let bits = self.gates(&[&all, &index], at, |b, words| {
                let rows: Vec<_> = words[0].chunks(width).map(<[_]>::to_vec).collect();
                arrays::read(b, &rows, &words[1])
            })?;
            return Ok(self.unflatten(&element, &bits));
        }
        Err(Failure::internal(at))
    }

    fn searchable(&mut self, ty: &Ty, at: Span) -> Result<(), Failure> {
        self.spend(ty.bits() / 8, at)?;
        if ty.bits() > LARGE_SCAN {
            let message = format!(
                "a private index into {ty} looks at all of its elements, which are too many for one circuit; \
                 go through them in a loop, with `if i == index`"
            );
            return Err(Failure::new(at, message));
        }
        self.room(4 * ty.bits(), at)
    }

    pub(super) fn assign(
        &mut self,
        func: &'m Func,
        (var, path): (VarId, &'m [Step]),
        op: Option<Binary>,
        value: &'m Expr,
        mask: Option<Bit>,
        at: Span,
    ) -> Result<(), Failure> {
        self.spend(1, at)?;
        let mut right = self.expr(func, value)?;
        if let Some(bit) = mask {
            let ty = func.ty(value);
            let zero = Value::Bits(vec![Bit::Constant(false); ty.bits() as usize].into());
            right = self.join(bit, &right, &zero, ty, at)?;
        }
        let root = self.var(var, at)?;
        // The indices are computed once, from left to right.
        let mut ty = &func.vars[var].ty;
        let mut steps = Vec::with_capacity(path.len());
        for step in path {
            let (next, to) = match step {
                Step::Field(i) => (Position::Part(*i), ty.part(*i).0),
                Step::Index(index) => {
                    let position = self.expr(func, index)?;
                    let index_ty = func.ty(index);
                    let next = match Lower::as_public(&position, index_ty) {
                        Some(number) => {
                            self.in_range(&number, ty, index.span)?;
                            match number.as_constant() {
                                Some(i) => Position::Part(i as u64),
                                None => Position::Moving(number),
                            }
                        }
                        None => Position::Secret(self.leaf(&position, index_ty, at)?),
                    };
                    (next, ty.part(0).0)
                }
            };
            steps.push(next);
            ty = to;
        }
        let right_ty = func.ty(value);
        let change = Change { op, right: &right, right_ty, at };
        // The variable's own value is taken out, so that it is changed in place where nobody else has it.
        self.frame[var] = None;
        let root = self.change(root, &func.vars[var].ty, &steps, &change)?;
        self.frame[var] = Some(root);
        Ok(())
    }

    /// The value with a part of it changed.
    fn change(&mut self, value: Value, ty: &Ty, steps: &[Position], change: &Change) -> Result<Value, Failure> {
        let at = change.at;
        let Some((step, rest)) = steps.split_first() else {
            let new = match change.op {
                None => change.right.clone(),
                Some(op) => {
                    let old = self.snapshot(&value, ty, at)?;
                    self.binary(op, (&old, ty), (change.right, change.right_ty), at)?
                }
            };
            return match value {
                Value::Stored(cell, Some(home)) => {
                    self.put(home, cell, &new, ty, at)?;
                    Ok(value)
                }
                _ => Ok(new),
            };
        };
        match (step, value) {
            (Position::Part(i), value @ Value::Stored(_, Some(_))) => {
                let part = self.part(&value, ty, *i);
                self.change(part, ty.part(*i).0, rest, change)?;
                Ok(value)
            }
            (Position::Moving(index), Value::Stored(cell, Some(home))) => {
                let part = Value::Stored(self.moving(cell, index, ty.part(0).0.bits())?, Some(home));
                self.change(part, ty.part(0).0, rest, change)?;
                Ok(Value::Stored(cell, Some(home)))
            }
            (Position::Part(i), value) => {
                let mut parts = self.take_apart(value, ty, at)?;
                let list = Rc::make_mut(&mut parts);
                let part = std::mem::replace(&mut list[*i as usize], Value::bool(false));
                list[*i as usize] = self.change(part, ty.part(*i).0, rest, change)?;
                Ok(Value::Parts(parts))
            }
            (Position::Moving(index), value) => {
                // An array that is no variable of the loop around: searched like at a private index.
                let index = self.materialize(index, &Ty::Number, at)?;
                self.change_secret(value, ty, &index, rest, change)
            }
            (Position::Secret(index), value) => self.change_secret(value, ty, index, rest, change),
        }
    }

    /// Changes the element at a private index: every element is kept or changed.
    fn change_secret(
        &mut self,
        value: Value,
        ty: &Ty,
        index: &[Bit],
        rest: &[Position],
        change: &Change,
    ) -> Result<Value, Failure> {
        let at = change.at;
        self.searchable(ty, at)?;
        let element = ty.part(0).0.clone();
        let (count, width) = (ty.parts(), element.bits() as usize);
        if count == 0 || width == 0 {
            return Ok(value);
        }
        // The new element is the same wherever it goes.
        let direct = rest.is_empty() && change.op.is_none();
        let new = if direct {
            change.right.clone()
        } else {
            let all = self.flatten(&value, ty, at)?;
            let bits = self.gates(&[&all, index], at, |b, words| {
                let rows: Vec<_> = words[0].chunks(width).map(<[_]>::to_vec).collect();
                arrays::read(b, &rows, &words[1])
            })?;
            let old = self.unflatten(&element, &bits);
            self.change(old, &element, rest, change)?
        };
        let new = self.flatten(&new, &element, at)?;
        let here = self.gates(&[index], at, |b, words| arrays::demux(b, &words[0], count as usize))?;
        let home = matches!(value, Value::Stored(_, Some(_)));
        let mut parts = Vec::new();
        for (i, here) in (0..count).zip(here) {
            let part = self.part(&value, ty, i);
            let old: Rc<[Bit]> = self.flatten(&part, &element, at)?.into();
            let bits = self.choose(here, &new.clone().into(), &old, at)?;
            let new = self.unflatten(&element, &bits);
            if let Value::Stored(cell, Some(home)) = part {
                self.put(home, cell, &new, &element, at)?;
            } else {
                parts.push(new);
            }
        }
        Ok(if home { value } else { Value::Parts(Rc::new(parts)) })
    }

    /// Changes a home.
    fn put(&mut self, home: u32, cell: Cell, value: &Value, ty: &Ty, at: Span) -> Result<(), Failure> {
        if ty.is_leaf() {
            let bits = self.leaf(value, ty, at)?;
            return self.remember(home, cell, bits, at);
        }
        self.spend(ty.parts(), at)?;
        if ty.bits() > super::value::LARGE && !matches!(value, Value::Parts(_)) && self.levels.is_empty() {
            self.flush(at)?;
            self.store_at(cell, value, ty, at)?;
            self.close();
            return Ok(());
        }
        for i in 0..ty.parts() {
            let (part, start) = ty.part(i);
            self.put(home, cell.at(start), &self.part(value, ty, i), part, at)?;
        }
        Ok(())
    }

    /// The parts of a value.
    pub(super) fn take_apart(&mut self, value: Value, ty: &Ty, at: Span) -> Result<Rc<Vec<Value>>, Failure> {
        if let Value::Parts(parts) = value {
            return Ok(parts);
        }
        self.spend(ty.parts(), at)?;
        Ok(Rc::new((0..ty.parts()).map(|i| self.part(&value, ty, i)).collect()))
    }
}

/// An assignment: the operator, if there is one, and the value.
struct Change<'a> {
    op: Option<Binary>,
    right: &'a Value,
    right_ty: &'a Ty,
    at: Span,
}

/// A step from a value to a part of it.
enum Position {
    Part(u64),
    Moving(Rc<Affine>),
    Secret(Rc<[Bit]>),
}
