//! What a loop's body uses and changes, and about how many gates it has.

use std::collections::{BTreeMap, BTreeSet};

use super::Lower;
use super::value::Value;
use crate::ast::Binary;
use crate::builtins::Builtin;
use crate::ir::{Expr, Func, FuncId, Kind, Over, Pattern, Step, Stmt, VarId};
use crate::types::Ty;

/// Turns of an inner loop whose bounds are not known yet.
const UNKNOWN_TURNS: u64 = 1000;

/// The use that a body makes of variables.
#[derive(Default)]
pub(super) struct Uses {
    pub(super) assigned: BTreeSet<VarId>,
    pub(super) used: BTreeSet<VarId>,
    pub(super) declared: BTreeSet<VarId>,
}

impl Uses {
    pub(super) fn of(body: &Expr) -> Uses {
        let mut uses = Uses::default();
        uses.expr(body);
        uses
    }

    fn expr(&mut self, expr: &Expr) {
        if let Kind::Var(id) = expr.kind {
            self.used.insert(id);
        }
        children(expr, &mut |child| self.expr(child), &mut |_| {});
        if let Kind::Block(stmts, _) = &expr.kind {
            for stmt in stmts {
                match stmt {
                    Stmt::Let(pattern, _) | Stmt::For { var: pattern, .. } => self.declare(pattern),
                    Stmt::Assign { var, .. } => {
                        self.assigned.insert(*var);
                        self.used.insert(*var);
                    }
                    Stmt::Expr(_) => {}
                }
            }
        }
    }

    fn declare(&mut self, pattern: &Pattern) {
        match pattern {
            Pattern::Ignore => {}
            Pattern::Var(id) => {
                self.declared.insert(*id);
            }
            Pattern::Parts(parts) => parts.iter().for_each(|part| self.declare(part)),
        }
    }
}

/// Calls a function for each expression directly inside, those of statements included; another for each statement.
fn children<'a>(expr: &'a Expr, each: &mut dyn FnMut(&'a Expr), stmt: &mut dyn FnMut(&'a Stmt)) {
    match &expr.kind {
        Kind::Whole(_) | Kind::Number(_) | Kind::Float(_) | Kind::Bool(_) | Kind::Var(_) | Kind::Const(_) => {}
        Kind::Error => {}
        Kind::Unary(_, a) | Kind::Cast(a) | Kind::Field(a, _) | Kind::Repeat(a) | Kind::Pinned(_, a) => each(a),
        Kind::Binary(_, a, b) | Kind::Index(a, b) => {
            each(a);
            each(b);
        }
        Kind::Call(_, all) | Kind::Builtin(_, all) | Kind::Library(_, all) | Kind::Parts(all) => {
            all.iter().for_each(each)
        }
        Kind::If(condition, then, otherwise) => {
            each(condition);
            each(then);
            if let Some(otherwise) = otherwise {
                each(otherwise);
            }
        }
        Kind::Block(stmts, value) => {
            for one in stmts {
                stmt(one);
                match one {
                    Stmt::Let(_, value) | Stmt::Expr(value) => each(value),
                    Stmt::Assign { path, value, .. } => {
                        for step in path {
                            if let Step::Index(index) = step {
                                each(index);
                            }
                        }
                        each(value);
                    }
                    Stmt::For { over, body, .. } => {
                        match over {
                            Over::Range(from, to, _) => {
                                each(from);
                                each(to);
                            }
                            Over::Each(array) => each(array),
                        }
                        each(body);
                    }
                }
            }
            if let Some(value) = value {
                each(value);
            }
        }
    }
}

/// How a loop's variable is used as a public number.
#[derive(Default)]
pub(super) struct Wants {
    /// Whether inner loops are bounded by the variable: the loop has to be unrolled.
    pub(super) bounds: bool,
    /// Whether the variable decides in a way that a kept loop pays for.
    pub(super) constant: bool,
    /// The turns at which comparisons with the variable change: the first of the part that begins there.
    pub(super) breaks: BTreeSet<i128>,
    /// The common multiple of the numbers that the variable is divided by.
    pub(super) period: i128,
}

/// How an expression depends on a loop's variable: `factor * variable + start`.
#[derive(Clone, Copy)]
enum Shape {
    /// Not at all, or on private values as well.
    Apart,
    Linear(i128, Option<i128>),
    /// The expression depends on it in some other way.
    Other,
}

struct Watch<'l, 'm> {
    lower: &'l Lower<'m>,
    wants: Wants,
    shapes: BTreeMap<VarId, Shape>,
    /// The variable is passed on to a function: only bounds are looked for.
    inside: u32,
}

impl Lower<'_> {
    /// How a loop's variable is used in its body.
    pub(super) fn wants(&self, func: &Func, var: VarId, body: &Expr) -> Wants {
        let wants = Wants { period: 1, ..Wants::default() };
        let shapes = BTreeMap::from([(var, Shape::Linear(1, Some(0)))]);
        let mut watch = Watch { lower: self, wants, shapes, inside: 0 };
        watch.visit(func, body);
        watch.wants
    }
}

impl Watch<'_, '_> {
    fn shape(&self, func: &Func, expr: &Expr) -> Shape {
        match &expr.kind {
            Kind::Number(value) => Shape::Linear(0, Some(*value)),
            Kind::Var(id) => match (self.shapes.get(id), self.inside) {
                (Some(shape), _) => *shape,
                (None, 0) => match self.lower.frame.get(*id) {
                    Some(Some(Value::Public(number))) => Shape::Linear(0, number.as_constant()),
                    _ => Shape::Apart,
                },
                _ => Shape::Apart,
            },
            Kind::Cast(value) if func.ty(value).is_int() && func.ty(expr).is_int() => self.shape(func, value),
            Kind::Binary(op, a, b) => {
                let (x, y) = (self.shape(func, a), self.shape(func, b));
                let depends =
                    |shape: Shape| matches!(shape, Shape::Other | Shape::Linear(1.., _) | Shape::Linear(..=-1, _));
                if !depends(x) && !depends(y) {
                    return match (x, y) {
                        (Shape::Linear(_, x), Shape::Linear(_, y)) => {
                            let value = x.zip(y).and_then(|(x, y)| crate::check::arithmetic(*op, x, y).ok());
                            Shape::Linear(0, value)
                        }
                        _ => Shape::Apart,
                    };
                }
                match (op, x, y) {
                    (_, Shape::Apart, _) | (_, _, Shape::Apart) => Shape::Apart,
                    (Binary::Add, Shape::Linear(f, x), Shape::Linear(g, y)) => {
                        Shape::Linear(f.saturating_add(g), x.zip(y).and_then(|(x, y)| x.checked_add(y)))
                    }
                    (Binary::Sub, Shape::Linear(f, x), Shape::Linear(g, y)) => {
                        Shape::Linear(f.saturating_sub(g), x.zip(y).and_then(|(x, y)| x.checked_sub(y)))
                    }
                    (Binary::Mul, Shape::Linear(f, x), Shape::Linear(0, Some(y)))
                    | (Binary::Mul, Shape::Linear(0, Some(y)), Shape::Linear(f, x)) => {
                        Shape::Linear(f.saturating_mul(y), x.and_then(|x| x.checked_mul(y)))
                    }
                    (Binary::Shl, Shape::Linear(f, x), Shape::Linear(0, Some(y @ 0..=60))) => {
                        Shape::Linear(f.saturating_mul(1 << y), x.and_then(|x| x.checked_mul(1 << y)))
                    }
                    _ => Shape::Other,
                }
            }
            _ => Shape::Apart,
        }
    }

    fn depends(&self, func: &Func, expr: &Expr) -> bool {
        match self.shape(func, expr) {
            Shape::Apart => false,
            Shape::Linear(factor, _) => factor != 0,
            Shape::Other => true,
        }
    }

    fn visit(&mut self, func: &Func, expr: &Expr) {
        match &expr.kind {
            Kind::Index(_, index) => self.index(func, index),
            Kind::Binary(op, a, b) => self.operation(func, *op, a, b),
            Kind::Call(id, args) => {
                let shapes: Vec<Shape> = args.iter().map(|arg| self.shape(func, arg)).collect();
                if args.iter().any(|arg| self.depends(func, arg)) && self.inside < 8 {
                    let callee = self.lower.func(*id);
                    let inner = callee.params.iter().copied().zip(shapes).collect();
                    let outer = std::mem::replace(&mut self.shapes, inner);
                    self.inside += 1;
                    callee.body.iter().for_each(|body| self.visit(callee, body));
                    self.inside -= 1;
                    self.shapes = outer;
                }
            }
            Kind::Block(stmts, _) => {
                // In order, so that variables are known before they are used.
                for stmt in stmts {
                    match stmt {
                        Stmt::Let(Pattern::Var(id), value) => {
                            let shape = self.shape(func, value);
                            self.shapes.insert(*id, shape);
                        }
                        Stmt::Assign { path, .. } => {
                            for step in path {
                                if let Step::Index(index) = step {
                                    self.index(func, index);
                                }
                            }
                        }
                        Stmt::For { over: Over::Range(from, to, _), .. } => {
                            self.wants.bounds |= self.depends(func, from) || self.depends(func, to);
                        }
                        _ => {}
                    }
                }
            }
            _ => {}
        }
        let mut inside: Vec<&Expr> = Vec::new();
        children(expr, &mut |child| inside.push(child), &mut |_| {});
        for child in inside {
            self.visit(func, child);
        }
    }

    fn index(&mut self, func: &Func, index: &Expr) {
        self.wants.constant |= matches!(self.shape(func, index), Shape::Other);
    }

    fn operation(&mut self, func: &Func, op: Binary, a: &Expr, b: &Expr) {
        let (Shape::Linear(f, x), Shape::Linear(g, y)) = (self.shape(func, a), self.shape(func, b)) else { return };
        let Some(factor) = f.checked_sub(g).filter(|_| f != 0 || g != 0) else { return };
        match op {
            _ if op.compares() => match x.zip(y).and_then(|(x, y)| x.checked_sub(y)) {
                Some(start) if factor != 0 => {
                    // factor * i + start changes its sign around here.
                    let root = (-start).div_euclid(factor);
                    self.wants.breaks.extend((-1..=1).map(|step| root.saturating_add(step)));
                }
                Some(_) => {}
                None => self.wants.constant = true,
            },
            Binary::Div | Binary::Rem | Binary::Shr | Binary::And if f != 0 => {
                let divisor = match (op, y) {
                    (Binary::Div | Binary::Rem, Some(by @ 1..=64)) => by,
                    (Binary::Shr, Some(by @ 0..=6)) => 1 << by,
                    (Binary::And, Some(mask @ 0..=63)) if mask & (mask + 1) == 0 => mask + 1,
                    _ => return,
                };
                let period = divisor / gcd(divisor, f.abs());
                let common = self.wants.period / gcd(self.wants.period, period) * period;
                if common <= 64 {
                    self.wants.period = common;
                }
            }
            _ => {}
        }
    }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

/// The gates of operations, about; and the turns of loops as far as they are known.
struct Cost<'l, 'm> {
    lower: &'l mut Lower<'m>,
    ranges: BTreeMap<VarId, (i128, i128)>,
    /// The function is the one that is walked at present, so its variables have values.
    outer: bool,
}

impl<'m> Lower<'m> {
    /// About how many gates an expression has.
    pub(super) fn cost(&mut self, func: &'m Func, expr: &'m Expr) -> u64 {
        let mut cost = Cost { lower: self, ranges: BTreeMap::new(), outer: true };
        cost.expr(func, expr)
    }

    fn cost_of_call(&mut self, id: FuncId) -> u64 {
        if let Some(&cost) = self.costs.get(&id) {
            return cost;
        }
        let func = self.func(id);
        let mut cost = Cost { lower: self, ranges: BTreeMap::new(), outer: false };
        let cost = func.body.as_ref().map_or(0, |body| cost.expr(func, body));
        self.costs.insert(id, cost);
        cost
    }
}

impl<'m> Cost<'_, 'm> {
    fn expr(&mut self, func: &'m Func, expr: &'m Expr) -> u64 {
        let ty = func.ty(expr);
        let own = match &expr.kind {
            Kind::Binary(op, a, b) => {
                let ty = func.ty(a);
                let (n, public) = (ty.bits(), self.range(func, a).is_some() && self.range(func, b).is_some());
                match op {
                    _ if public => 1,
                    Binary::Mul if ty.is_float() => 8 * n * n,
                    Binary::Mul => n.saturating_mul(n).saturating_mul(3),
                    Binary::Div | Binary::Rem => n.saturating_mul(n).saturating_mul(4),
                    Binary::Shl | Binary::Shr if self.range(func, b).is_some() => 1,
                    Binary::Shl | Binary::Shr => 40 * n,
                    _ if ty.is_float() => 60 * n,
                    _ => 5 * n,
                }
            }
            Kind::Index(array, index) if self.range(func, index).is_none() => func.ty(array).bits().saturating_mul(4),
            Kind::Cast(value) if ty.is_float() || func.ty(value).is_float() => 3000,
            Kind::Unary(..) if ty.is_int() => 3 * ty.bits(),
            Kind::If(..) => 4 * ty.bits().min(1 << 30),
            Kind::Library(circuit, _) => circuit.gates().len() as u64,
            Kind::Call(id, _) => self.lower.cost_of_call(*id),
            Kind::Builtin(builtin, args) => {
                let n = args.first().map_or(1, |arg| func.ty(arg).bits());
                let bits = |ty: &Ty| ty.bits().saturating_mul(3);
                match builtin {
                    Builtin::Dot => n.saturating_mul(bits(ty)),
                    // Each word of the first matrix is in as many products as a row of the result has words.
                    Builtin::MatMul => {
                        n.saturating_mul(ty.part(0).0.parts()).saturating_mul(bits(ty.part(0).0.part(0).0))
                    }
                    Builtin::MulShift => n.saturating_mul(n).saturating_mul(9),
                    Builtin::Sort => n.saturating_mul(200),
                    Builtin::WideMul | Builtin::Sqrt => n.saturating_mul(n).saturating_mul(6),
                    Builtin::RotateLeft | Builtin::RotateRight => 20 * n,
                    _ => n.saturating_mul(12),
                }
            }
            Kind::Pinned(..) => 0,
            _ => 1,
        };
        let mut total = own;
        match &expr.kind {
            Kind::Block(stmts, value) => {
                for stmt in stmts {
                    total = total.saturating_add(self.stmt(func, stmt));
                }
                if let Some(value) = value {
                    total = total.saturating_add(self.expr(func, value));
                }
            }
            _ => {
                let mut inside: Vec<&'m Expr> = Vec::new();
                children(expr, &mut |child| inside.push(child), &mut |_| {});
                for child in inside {
                    total = total.saturating_add(self.expr(func, child));
                }
            }
        }
        total
    }

    fn stmt(&mut self, func: &'m Func, stmt: &'m Stmt) -> u64 {
        match stmt {
            Stmt::Let(Pattern::Var(id), value) if self.range(func, value).is_some() => {
                if let Some(range) = self.range(func, value) {
                    self.ranges.insert(*id, range);
                }
                1
            }
            Stmt::Let(_, value) | Stmt::Expr(value) => 1u64.saturating_add(self.expr(func, value)),
            Stmt::Assign { var, path, op, value, .. } => {
                let mut cost = 1 + func.ty(value).bits() / 8;
                let mut ty = &func.vars[*var].ty;
                for step in path {
                    if let Step::Index(index) = step {
                        cost = cost.saturating_add(self.expr(func, index));
                        if self.range(func, index).is_none() {
                            cost = cost.saturating_add(ty.bits().saturating_mul(4));
                        }
                        ty = ty.part(0).0;
                    }
                }
                let n = func.ty(value).bits();
                let operation = match op {
                    None => 0,
                    Some(Binary::Mul | Binary::Div | Binary::Rem) => n.saturating_mul(n).saturating_mul(3),
                    Some(_) if *func.ty(value) == Ty::Bool => 1,
                    Some(_) => 5 * n,
                };
                cost.saturating_add(operation).saturating_add(self.expr(func, value))
            }
            Stmt::For { var, over, body, .. } => {
                let turns = match over {
                    Over::Range(from, to, inclusive) => match (self.range(func, from), self.range(func, to)) {
                        (Some((from, low)), Some((_, to))) => {
                            let _ = low;
                            if let Pattern::Var(id) = var {
                                self.ranges.insert(*id, (from, to));
                            }
                            u64::try_from(to - from + i128::from(*inclusive)).unwrap_or(0)
                        }
                        _ => UNKNOWN_TURNS,
                    },
                    Over::Each(array) => func.ty(array).parts(),
                };
                turns.saturating_mul(self.expr(func, body).saturating_add(1))
            }
        }
    }

    /// The range of a public number.
    fn range(&self, func: &Func, expr: &Expr) -> Option<(i128, i128)> {
        match &expr.kind {
            Kind::Number(value) => Some((*value, *value)),
            Kind::Var(id) => match self.ranges.get(id) {
                Some(range) => Some(*range),
                None if self.outer => match self.lower.frame.get(*id) {
                    Some(Some(value)) => self.lower.public_range(value, &func.vars[*id].ty),
                    _ => None,
                },
                None => None,
            },
            Kind::Cast(value) if func.ty(expr).is_int() => self.range(func, value),
            Kind::Binary(op, a, b) => super::public::interval(*op, self.range(func, a)?, self.range(func, b)?),
            _ => None,
        }
    }
}
