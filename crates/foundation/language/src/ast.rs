//! The syntax tree, as it is written.

use comity_circuit::Form;

use crate::diagnostic::Span;
use crate::lexer::Whole;

#[derive(Clone, Copy, Debug)]
pub(crate) struct Name<'s> {
    pub(crate) text: &'s str,
    pub(crate) span: Span,
}

#[derive(Debug, Default)]
pub(crate) struct File<'s> {
    pub(crate) parties: Vec<Name<'s>>,
    pub(crate) consts: Vec<Const<'s>>,
    pub(crate) structs: Vec<Struct<'s>>,
    pub(crate) functions: Vec<Function<'s>>,
}

#[derive(Debug)]
pub(crate) struct Const<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) ty: Option<Type<'s>>,
    pub(crate) value: Expr<'s>,
}

#[derive(Debug)]
pub(crate) struct Struct<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) fields: Vec<(Name<'s>, Type<'s>)>,
}

#[derive(Debug)]
pub(crate) struct Function<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) generics: Vec<Name<'s>>,
    pub(crate) params: Vec<Param<'s>>,
    pub(crate) outputs: Outputs<'s>,
    pub(crate) body: Block<'s>,
}

#[derive(Debug)]
pub(crate) struct Param<'s> {
    pub(crate) name: Name<'s>,
    pub(crate) mutable: bool,
    pub(crate) ty: Type<'s>,
    pub(crate) from: Option<Who<'s>>,
}

/// A party: by name, by number; behind `to` also `all`.
#[derive(Clone, Debug)]
pub(crate) struct Who<'s> {
    pub(crate) kind: WhoKind<'s>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug)]
pub(crate) enum WhoKind<'s> {
    Name(&'s str),
    Number(Whole),
}

/// Who learns an output: nothing was said, `to ann`, or `to (ann, ben)`.
#[derive(Clone, Debug)]
pub(crate) enum To<'s> {
    Unsaid,
    One(Who<'s>),
    These(Vec<Who<'s>>, Span),
}

impl To<'_> {
    /// The place of what was said about recipients, if something was.
    pub(crate) fn span(&self) -> Option<Span> {
        match self {
            To::Unsaid => None,
            To::One(who) => Some(who.span),
            To::These(_, span) => Some(*span),
        }
    }
}

/// The outputs, which stand behind `->`.
#[derive(Debug)]
pub(crate) enum Outputs<'s> {
    None,
    One(Type<'s>, To<'s>),
    Named(Vec<(Name<'s>, Type<'s>, To<'s>)>),
}

#[derive(Debug)]
pub(crate) struct Type<'s> {
    pub(crate) kind: TypeKind<'s>,
    pub(crate) span: Span,
}

#[derive(Debug)]
pub(crate) enum TypeKind<'s> {
    Name(&'s str),
    /// `u<W>`
    Uint(Box<Expr<'s>>),
    /// `i<W>`
    Int(Box<Expr<'s>>),
    Array(Box<Type<'s>>, Box<Expr<'s>>),
    Tuple(Vec<Type<'s>>),
}

#[derive(Debug)]
pub(crate) struct Block<'s> {
    pub(crate) stmts: Vec<Stmt<'s>>,
    pub(crate) value: Option<Box<Expr<'s>>>,
    pub(crate) span: Span,
    pub(crate) depth: u16,
}

#[derive(Debug)]
pub(crate) enum Stmt<'s> {
    Let { pattern: Pattern<'s>, ty: Option<Type<'s>>, value: Expr<'s> },
    Assign { target: Expr<'s>, op: Option<Binary>, value: Expr<'s>, span: Span },
    For { var: Pattern<'s>, over: Over<'s>, body: Block<'s> },
    Expr { value: Expr<'s> },
}

#[derive(Debug)]
pub(crate) enum Over<'s> {
    Range { from: Expr<'s>, to: Expr<'s>, inclusive: bool },
    Each(Expr<'s>),
}

#[derive(Debug)]
pub(crate) enum Pattern<'s> {
    Name { name: Name<'s>, mutable: bool },
    Tuple(Vec<Pattern<'s>>, Span),
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Unary {
    Not,
    Negate,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Binary {
    Add,
    Sub,
    Mul,
    Div,
    Rem,
    Shl,
    Shr,
    And,
    Or,
    Xor,
    Eq,
    Ne,
    Lt,
    Le,
    Gt,
    Ge,
    /// `&&`
    Both,
    /// `||`
    Either,
}

#[derive(Debug)]
pub(crate) struct Expr<'s> {
    pub(crate) kind: ExprKind<'s>,
    pub(crate) span: Span,
    /// How deep the tree is.
    pub(crate) depth: u16,
}

#[derive(Debug)]
pub(crate) enum ExprKind<'s> {
    Int(Whole, Option<&'s str>),
    Float(f64, Option<&'s str>),
    Bool(bool),
    Name(&'s str),
    Unary(Unary, Box<Expr<'s>>),
    Binary(Binary, Box<Expr<'s>>, Box<Expr<'s>>),
    Cast(Box<Expr<'s>>, Type<'s>),
    Call(Name<'s>, Vec<Expr<'s>>),
    Method(Box<Expr<'s>>, Name<'s>, Vec<Expr<'s>>),
    Field(Box<Expr<'s>>, Name<'s>),
    Index(Box<Expr<'s>>, Box<Expr<'s>>),
    Array(Vec<Expr<'s>>),
    Repeat(Box<Expr<'s>>, Box<Expr<'s>>),
    Tuple(Vec<Expr<'s>>),
    Struct(Name<'s>, Vec<(Name<'s>, Expr<'s>)>),
    If(Box<Expr<'s>>, Box<Block<'s>>, Option<Box<Expr<'s>>>),
    Block(Box<Block<'s>>),
    /// `arithmetic { .. }`, and the same for the other forms.
    Pinned(Form, Box<Block<'s>>),
}

impl Binary {
    pub(crate) fn symbol(self) -> &'static str {
        use Binary::*;
        match self {
            Add => "+",
            Sub => "-",
            Mul => "*",
            Div => "/",
            Rem => "%",
            Shl => "<<",
            Shr => ">>",
            And => "&",
            Or => "|",
            Xor => "^",
            Eq => "==",
            Ne => "!=",
            Lt => "<",
            Le => "<=",
            Gt => ">",
            Ge => ">=",
            Both => "&&",
            Either => "||",
        }
    }

    /// Whether this is `==` or the like, which gives a bool.
    pub(crate) fn compares(self) -> bool {
        matches!(self, Binary::Eq | Binary::Ne | Binary::Lt | Binary::Le | Binary::Gt | Binary::Ge)
    }
}
