//! Unification, and the state of checking one function's body.

use super::{Checker, Generics};
use crate::ast::Name;
use crate::diagnostic::Span;
use crate::ir::{Expr, Kind, TypeId, Var, VarId};
use crate::types::{MAX_NUMBER, Ty};

/// Checking of one body.
pub(super) struct Body<'c, 's, 'e> {
    pub(super) checker: &'c mut Checker<'s, 'e>,
    pub(super) generics: Generics<'s>,
    /// The names that are seen here, the latest last.
    pub(super) scope: Vec<(&'s str, VarId)>,
    pub(super) vars: Vec<Local>,
    types: Vec<Ty>,
    unknown: Vec<Unknown>,
    /// The types of numbers that are computed exactly, and of what each gives.
    exact: Vec<(Ty, Ty)>,
    /// The claims that can be checked only when all types are known.
    later: Vec<(Later, Ty, Span)>,
}

pub(super) struct Local {
    pub(super) name: String,
    pub(super) ty: Ty,
    pub(super) mutable: bool,
    /// A loop's variable: a number that fits wherever it is used.
    pub(super) counter: bool,
    pub(super) param: bool,
    pub(super) span: Span,
}

/// A type to be inferred.
#[derive(Default)]
struct Unknown {
    known: Option<Ty>,
    float: bool,
    /// Whether this is the type of a variable that changes, and so has a certain width.
    wide: bool,
}

/// A check for the end.
#[derive(Clone, Debug)]
pub(super) enum Later {
    /// The number fits the type.
    Fits(i128),
    /// A number of this width in bits fits the type.
    FitsBits(usize),
    /// The operator takes such a type.
    Numeric(&'static str),
    Whole(&'static str),
    Bitwise(&'static str),
    Signed,
    Cast(Ty),
}

impl<'c, 's, 'e> Body<'c, 's, 'e> {
    pub(super) fn new(checker: &'c mut Checker<'s, 'e>, generics: Generics<'s>) -> Self {
        Body {
            checker,
            generics,
            scope: Vec::new(),
            vars: Vec::new(),
            types: Vec::new(),
            unknown: Vec::new(),
            exact: Vec::new(),
            later: Vec::new(),
        }
    }

    /// A new variable.
    pub(super) fn declare(&mut self, name: Name<'s>, ty: Ty, mutable: bool, counter: bool) -> VarId {
        if mutable {
            self.make_wide(&ty);
        }
        let id = self.vars.len();
        let param = id == self.scope.len() && self.types.is_empty();
        self.vars.push(Local { name: name.text.to_owned(), ty, mutable, counter, param, span: name.span });
        self.scope.push((name.text, id));
        id
    }

    fn make_wide(&mut self, ty: &Ty) {
        match self.shallow(ty) {
            Ty::Var(id) => self.unknown[id as usize].wide = true,
            Ty::Array(element, _) => self.make_wide(&element),
            Ty::Tuple(types) => types.iter().for_each(|ty| self.make_wide(ty)),
            _ => {}
        }
    }

    pub(super) fn error(&mut self, at: Span, message: impl Into<String>) {
        self.checker.errors.add(at, message);
    }

    pub(super) fn later(&mut self, check: Later, ty: &Ty, at: Span) {
        self.later.push((check, ty.clone(), at));
    }

    pub(super) fn fresh(&mut self, float: bool) -> Ty {
        self.unknown.push(Unknown { float, ..Unknown::default() });
        Ty::Var(self.unknown.len() as u32 - 1)
    }

    /// The type of what is computed exactly from numbers of this type: one of its own, which it has to fit.
    pub(super) fn exact(&mut self, operand: Ty) -> Ty {
        let result = self.fresh(false);
        self.exact.push((operand, result.clone()));
        result
    }

    pub(super) fn make(&mut self, kind: Kind, ty: Ty, span: Span) -> Expr {
        self.types.push(ty);
        Expr { kind, ty: self.types.len() - 1, span }
    }

    pub(super) fn wrong(&mut self, span: Span) -> Expr {
        self.make(Kind::Error, Ty::Error, span)
    }

    pub(super) fn type_at(&self, id: TypeId) -> Ty {
        self.shallow(&self.types[id])
    }

    pub(super) fn of(&self, expr: &Expr) -> Ty {
        self.type_at(expr.ty)
    }

    /// The type as far as it is known, its parts left as they are.
    pub(super) fn shallow(&self, ty: &Ty) -> Ty {
        let mut ty = ty.clone();
        while let Ty::Var(id) = ty {
            match &self.unknown[id as usize].known {
                Some(known) => ty = known.clone(),
                None => return ty,
            }
        }
        ty
    }

    /// The type as far as it is known.
    pub(super) fn deep(&self, ty: &Ty) -> Ty {
        match self.shallow(ty) {
            Ty::Array(element, count) => Ty::Array(self.deep(&element).into(), count),
            Ty::Tuple(types) => Ty::Tuple(types.iter().map(|ty| self.deep(ty)).collect()),
            ty => ty,
        }
    }

    /// Makes two types one. False if they differ.
    pub(super) fn unify(&mut self, a: &Ty, b: &Ty) -> bool {
        match (self.shallow(a), self.shallow(b)) {
            (Ty::Error, _) | (_, Ty::Error) => true,
            (Ty::Var(x), Ty::Var(y)) if x == y => true,
            (Ty::Var(x), Ty::Var(y)) => {
                if self.unknown[x as usize].float != self.unknown[y as usize].float {
                    return false;
                }
                self.unknown[y as usize].wide |= self.unknown[x as usize].wide;
                self.unknown[x as usize].known = Some(Ty::Var(y));
                true
            }
            (Ty::Var(x), ty) | (ty, Ty::Var(x)) => {
                let fits = if self.unknown[x as usize].float { ty.is_float() } else { ty.is_int() };
                if fits {
                    self.unknown[x as usize].known = Some(ty);
                }
                fits
            }
            (Ty::Array(a, n), Ty::Array(b, m)) => n == m && self.unify(&a, &b),
            (Ty::Tuple(a), Ty::Tuple(b)) => a.len() == b.len() && a.iter().zip(b.iter()).all(|(a, b)| self.unify(a, b)),
            (a, b) => a == b,
        }
    }

    /// The expression, which has to be of this type.
    pub(super) fn expect(&mut self, expr: Expr, ty: &Ty, what: &str) -> Expr {
        let is = self.types[expr.ty].clone();
        if self.unify(&is, ty) {
            return expr;
        }
        let mut blamed = &expr;
        while let Kind::Block(_, Some(value)) | Kind::Pinned(_, value) = &blamed.kind {
            blamed = value;
        }
        let (is, want) = (self.deep(&is), self.deep(ty));
        let hint = self.conversion(blamed, &is, &want);
        let wanted =
            if want.is_unit() { "has no value here".to_owned() } else { format!("is {} here", self.show(&want)) };
        let span = blamed.span;
        self.error(span, format!("{what} {wanted}, and this is {}{hint}", self.show(&is)));
        self.wrong(span)
    }

    /// The type, for messages.
    pub(super) fn show(&self, ty: &Ty) -> String {
        if self.is_fraction(ty) { "a number with a fraction".to_owned() } else { self.deep(ty).to_string() }
    }

    /// Whether this is the type of a number with a fraction, whose width is not known yet.
    pub(super) fn is_fraction(&self, ty: &Ty) -> bool {
        matches!(self.shallow(ty), Ty::Var(id) if self.unknown[id as usize].float)
    }

    /// All types are known now; the checks that waited for them are done.
    pub(super) fn finish(mut self) -> (Vec<Var>, Vec<Ty>) {
        // What is wider than numbers without a type is computed in its own; the parts of what is made of
        // parts come after it.
        for (operand, result) in std::mem::take(&mut self.exact).into_iter().rev() {
            let wide = matches!(self.shallow(&result), Ty::Uint(bits) | Ty::Int(bits) if bits > MAX_NUMBER);
            if wide && matches!(self.shallow(&operand), Ty::Var(_)) {
                self.unify(&operand, &result);
            }
        }
        for id in 0..self.unknown.len() {
            if self.unknown[id].known.is_none() {
                let Unknown { float, wide, .. } = self.unknown[id];
                let default = match (float, wide) {
                    (true, _) => Ty::F64,
                    (false, true) => Ty::Uint(32),
                    (false, false) => Ty::Number,
                };
                self.unknown[id].known = Some(default);
            }
        }
        for (check, ty, at) in std::mem::take(&mut self.later) {
            let ty = self.deep(&ty);
            if let Some(message) = self.complaint(check, &ty) {
                self.error(at, message);
            }
        }
        let types = self.types.iter().map(|ty| self.deep(ty)).collect();
        let var = |var: &Local| Var { ty: self.deep(&var.ty), mutable: var.mutable };
        let vars = self.vars.iter().map(var).collect();
        (vars, types)
    }

    fn complaint(&self, check: Later, ty: &Ty) -> Option<String> {
        if *ty == Ty::Error {
            return None;
        }
        match check {
            Later::Fits(value) => {
                let (low, high) = ty.range();
                let whole = ty.is_int() && (value < low || value > high);
                whole.then(|| match ty {
                    Ty::Number => format!("{value} is too large for a number without a type"),
                    _ => format!("{value} does not fit {ty}, which goes from {low} to {high}"),
                })
            }
            Later::FitsBits(bits) => {
                let room = ty.bits() - u64::from(ty.signed() && ty.is_int());
                (ty.is_int() && bits as u64 > room)
                    .then(|| format!("this number has {bits} bits, and {ty} holds {room}"))
            }
            Later::Numeric(symbol) if !ty.is_int() && !ty.is_float() => {
                Some(format!("`{symbol}` takes numbers, and this is {ty}"))
            }
            Later::Whole(symbol) if !ty.is_int() => Some(format!("`{symbol}` takes whole numbers, and this is {ty}")),
            Later::Bitwise(symbol) if !ty.is_int() && *ty != Ty::Bool => {
                Some(format!("`{symbol}` takes whole numbers or bools, and this is {ty}"))
            }
            Later::Signed => match ty {
                Ty::Uint(width) => Some(format!(
                    "{ty} has no negative numbers; make it `i{width}`, or write `0 - x` for the number modulo 2^{width}"
                )),
                _ if ty.is_int() || ty.is_float() => None,
                _ => Some(format!("`-` takes a number, and this is {ty}")),
            },
            Later::Cast(from) => {
                let from = self.deep(&from);
                let number = |ty: &Ty| ty.is_int() || ty.is_float();
                match (&from, ty) {
                    (Ty::Error, _) => None,
                    (from, Ty::Bool) if from.is_int() => Some("a number is made a bool by `!= 0`".to_owned()),
                    (from, to) if number(from) && number(to) => None,
                    (Ty::Bool, to) if to.is_int() || *to == Ty::Bool => None,
                    (from, to) if from == to => None,
                    (from, to) => Some(format!("{from} is not made {to} by `as`, which is for numbers and bools")),
                }
            }
            _ => None,
        }
    }
}
