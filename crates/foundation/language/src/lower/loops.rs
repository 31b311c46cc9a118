//! Loops: unrolled, split, or kept.
//!
//! A loop of few gates is unrolled. A longer one is kept: its body is walked once, with the loop's variable as a number
//! that moves, so that elements at indices linear in it are found by the program's strides. Before that the loop is
//! split where comparisons with its variable change, so that in each part they are decided; and if the variable is
//! divided by small numbers, several turns are taken at once, such that quotient and remainder are linear.
//! What is left is read from tables.

use std::rc::Rc;

use super::affine::{Affine, LoopId};
use super::emit::{Item, Loop};
use super::scan::Uses;
use super::value::Value;
use super::{Failure, Limits, Lower};
use crate::diagnostic::Span;
use crate::ir::{Expr, Func, Over, Pattern};
use crate::types::Ty;

/// Parts into which a loop is split, at most.
const PARTS: usize = 24;
/// Kept loops inside each other, at most; each may take two of the program's.
const MAX_KEPT: usize = 7;

/// The turns of a loop, and the body of each.
struct Turns<'m> {
    func: &'m Func,
    pattern: &'m Pattern,
    /// The array that is gone through, and its type.
    array: Option<(Value, &'m Ty)>,
    body: &'m Expr,
    at: Span,
}

impl<'m> Lower<'m> {
    pub(super) fn for_loop(
        &mut self,
        func: &'m Func,
        pattern: &'m Pattern,
        over: &'m Over,
        body: &'m Expr,
        at: Span,
    ) -> Result<(), Failure> {
        self.spend(1, at)?;
        let uses = Uses::of(body);
        let (from, to, array) = match over {
            Over::Range(from, to, inclusive) => {
                let (low, high) = (self.bound(func, from)?, self.bound(func, to)?);
                (low, high + i128::from(*inclusive), None)
            }
            Over::Each(array) => {
                let value = self.place(func, array)?;
                let ty = func.ty(array);
                // The body may change the variable whose elements it goes through.
                let changes = Uses::of(array).used.intersection(&uses.assigned).next().is_some();
                let value = if changes { self.snapshot(&value, ty, array.span)? } else { value };
                (0, i128::from(ty.parts()), Some((value, ty)))
            }
        };
        if to <= from {
            return Ok(());
        }
        let turns = Turns { func, pattern, array, body, at };
        self.turns(turns, &uses, from, to)
    }

    /// A bound of a loop.
    fn bound(&mut self, func: &'m Func, expr: &'m Expr) -> Result<i128, Failure> {
        let value = self.expr(func, expr)?;
        let ty = func.ty(expr);
        match Lower::as_public(&value, ty) {
            Some(number) => number.as_constant().ok_or_else(|| {
                Failure::new(
                    expr.span,
                    "this bound differs from turn to turn of a loop that is too long to be unrolled",
                )
            }),
            None => {
                let message = "the bounds of a loop are public, and this depends on private values; \
                               loop up to the largest possible number, with an `if` inside";
                Err(Failure::new(expr.span, message))
            }
        }
    }

    fn turns(&mut self, mut turns: Turns<'m>, uses: &Uses, from: i128, to: i128) -> Result<(), Failure> {
        let count = |from: i128, to: i128| u64::try_from(to - from).unwrap_or(u64::MAX);
        // An inner loop's own bounds may depend on this variable: estimated at its largest.
        self.bind_turn(&turns, &Affine::constant(from))?;
        let one = self.cost(turns.func, turns.body).saturating_add(1);
        let fits = |times: u64, limit: u64| one.saturating_mul(times) <= limit;
        let Limits { unroll, unroll_for_constants } = self.limits;
        if fits(count(from, to), unroll) {
            return self.unroll(&turns, from, to);
        }
        let wants = match turns.pattern {
            Pattern::Var(id) if turns.array.is_none() => self.wants(turns.func, *id, turns.body),
            _ => super::scan::Wants { period: 1, ..Default::default() },
        };
        if wants.bounds {
            // What is unrolled inside is there once for each turn.
            let inner = (self.limits.unroll / count(from, to).max(1)).max(self.limits.unroll.min(1 << 8));
            let outer = std::mem::replace(&mut self.limits.unroll, inner);
            let done = self.unroll(&turns, from, to);
            self.limits.unroll = outer;
            return done;
        }
        if wants.constant && fits(count(from, to), unroll_for_constants) {
            return self.unroll(&turns, from, to);
        }
        if let Some((value @ Value::Parts(_), ty)) = &mut turns.array {
            *value = Value::Stored(self.store(value, ty, turns.at)?, None);
        }
        let breaks: Vec<i128> = wants.breaks.into_iter().filter(|&at| at > from && at < to).collect();
        let breaks = if breaks.len() < PARTS { breaks } else { Vec::new() };
        let ends = breaks.into_iter().chain([to]);
        let mut start = from;
        for end in ends {
            if fits(count(start, end), unroll) || end - start == 1 {
                self.unroll(&turns, start, end)?;
            } else {
                self.keep(&turns, uses, start, end, wants.period)?;
            }
            start = end;
        }
        Ok(())
    }

    /// The loop's variable, or the element, in a turn.
    fn bind_turn(&mut self, turns: &Turns<'m>, number: &Affine) -> Result<(), Failure> {
        let (func, pattern, at) = (turns.func, turns.pattern, turns.at);
        match &turns.array {
            None => self.bind(func, pattern, Value::Public(Rc::new(number.clone())), &Ty::Number, at),
            Some((array, ty)) => {
                let element = self.element(array, ty, number, at)?;
                self.bind(func, pattern, element, ty.part(0).0, at)
            }
        }
    }

    fn unroll(&mut self, turns: &Turns<'m>, from: i128, to: i128) -> Result<(), Failure> {
        for turn in from..to {
            self.spend(1, turns.at)?;
            self.bind_turn(turns, &Affine::constant(turn))?;
            self.expr(turns.func, turns.body)?;
        }
        Ok(())
    }

    /// Keeps a loop, with `period` of its turns in each turn of the program's loop.
    fn keep(&mut self, turns: &Turns<'m>, uses: &Uses, from: i128, to: i128, period: i128) -> Result<(), Failure> {
        let (func, at) = (turns.func, turns.at);
        if self.items.len() > MAX_KEPT {
            return Err(Failure::new(at, format!("more than {MAX_KEPT} long loops inside each other")));
        }
        let times = u64::try_from((to - from) / period).unwrap_or(u64::MAX);
        if times > 1 << 40 {
            return Err(Failure::new(at, "a loop has at most 2^40 turns"));
        }
        for &var in uses.assigned.difference(&uses.declared) {
            let value = self.var(var, at)?;
            let home = self.settle(&value, &func.vars[var].ty, at)?;
            self.frame[var] = Some(home);
        }
        for &var in uses.used.difference(&uses.declared) {
            // Arrays that may be read at moving indices have to be in the memory; constants are put there on demand.
            let ty = &func.vars[var].ty;
            if let (Some(Some(value @ Value::Parts(_))), true) = (self.frame.get(var).cloned(), holds_array(ty))
                && !self.is_constant(&value, ty)
            {
                self.frame[var] = Some(Value::Stored(self.store(&value, ty, at)?, None));
            }
        }
        self.flush(at)?;
        self.close();
        let id = self.loops.len() as LoopId;
        self.loops.push(Loop { times, counted: false });
        self.items.push(Vec::new());
        for r in 0..period {
            self.bind_turn(turns, &Affine { start: from + r, terms: vec![(id, period)] })?;
            self.expr(func, turns.body)?;
        }
        self.flush(at)?;
        self.close();
        let mut items = self.items.pop().unwrap_or_default();
        self.finish(&mut items);
        for &var in &uses.declared {
            self.frame[var] = None;
        }
        if let Some(outer) = self.items.last_mut().filter(|_| !items.is_empty()) {
            outer.push(Item::Loop(id, items));
        }
        self.unroll(turns, from + period * i128::from(times), to)
    }
}

/// Whether a value of this type has elements.
fn holds_array(ty: &Ty) -> bool {
    match ty {
        Ty::Array(_, count) => *count > 1,
        Ty::Tuple(types) => types.iter().any(holds_array),
        Ty::Struct(info) => info.fields.iter().any(|(_, ty)| holds_array(ty)),
        _ => false,
    }
}
