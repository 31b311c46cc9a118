//! The program after checking: names resolved, sizes known, every expression with its type.

use std::rc::Rc;

use comity_circuit::{Circuit, Form, Goal, Owner, Recipients};

use crate::ast::{Binary, Unary};
use crate::builtins::Builtin;
use crate::diagnostic::{Lines, Span};
use crate::lexer::Whole;
use crate::types::Ty;

pub(crate) type VarId = usize;
pub(crate) type FuncId = usize;
/// Index into [`Func::types`].
pub(crate) type TypeId = usize;

/// Everything that `main` needs.
pub(crate) struct Module {
    /// The goal of the circuits of the library that are called, and of all others.
    pub(crate) goal: Goal,
    pub(crate) funcs: Vec<Func>,
    pub(crate) main: FuncId,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) lines: Lines,
}

pub(crate) struct Input {
    pub(crate) name: String,
    pub(crate) owner: Owner,
    pub(crate) ty: Ty,
}

pub(crate) struct Output {
    pub(crate) name: String,
    pub(crate) to: Recipients,
    pub(crate) ty: Ty,
}

/// A function for certain sizes; or a constant, which is a function without parameters.
#[derive(Default)]
pub(crate) struct Func {
    pub(crate) params: Vec<VarId>,
    pub(crate) vars: Vec<Var>,
    pub(crate) types: Vec<Ty>,
    pub(crate) body: Option<Expr>,
}

pub(crate) struct Var {
    pub(crate) ty: Ty,
    pub(crate) mutable: bool,
}

pub(crate) struct Expr {
    pub(crate) kind: Kind,
    pub(crate) ty: TypeId,
    pub(crate) span: Span,
}

pub(crate) enum Kind {
    Whole(Whole),
    /// A public number, as constants and sizes are.
    Number(i128),
    Float(f64),
    Bool(bool),
    Var(VarId),
    Const(FuncId),
    Unary(Unary, Box<Expr>),
    Binary(Binary, Box<Expr>, Box<Expr>),
    Cast(Box<Expr>),
    Call(FuncId, Vec<Expr>),
    Builtin(Builtin, Vec<Expr>),
    Library(Rc<Circuit>, Vec<Expr>),
    /// A field of a struct or tuple.
    Field(Box<Expr>, u64),
    Index(Box<Expr>, Box<Expr>),
    /// An array, tuple or struct of these parts.
    Parts(Vec<Expr>),
    Repeat(Box<Expr>),
    If(Box<Expr>, Box<Expr>, Option<Box<Expr>>),
    Block(Vec<Stmt>, Option<Box<Expr>>),
    /// A block whose operations are pinned to a form.
    Pinned(Form, Box<Expr>),
    /// The place of a mistake.
    Error,
}

pub(crate) enum Stmt {
    Let(Pattern, Expr),
    Assign { var: VarId, path: Vec<Step>, op: Option<Binary>, value: Expr, span: Span },
    For { var: Pattern, over: Over, body: Expr, span: Span },
    Expr(Expr),
}

pub(crate) enum Over {
    /// A range from the first number up to the second, included or not.
    Range(Expr, Expr, bool),
    Each(Expr),
}

pub(crate) enum Pattern {
    Ignore,
    Var(VarId),
    Parts(Vec<Pattern>),
}

/// A step from a value to a part of it.
pub(crate) enum Step {
    Field(u64),
    Index(Expr),
}

impl Func {
    pub(crate) fn ty(&self, expr: &Expr) -> &Ty {
        &self.types[expr.ty]
    }
}
