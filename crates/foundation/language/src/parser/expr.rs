//! Expressions, by precedence.

use comity_circuit::Form;

use super::{MAX_DEPTH, Parsed, Parser};
use crate::ast::*;
use crate::diagnostic::Span;
use crate::lexer::Kind;

/// How deep a tree may become; long sums of many terms are deep as well.
const MAX_TREE: u16 = 2 * MAX_DEPTH;

/// Operators of two operands, from those that bind loosest.
const LEVELS: &[&[(&str, Binary)]] = &[
    &[("||", Binary::Either)],
    &[("&&", Binary::Both)],
    &[
        ("==", Binary::Eq),
        ("!=", Binary::Ne),
        ("<=", Binary::Le),
        ("<", Binary::Lt),
        (">=", Binary::Ge),
        (">", Binary::Gt),
    ],
    &[("|", Binary::Or)],
    &[("^", Binary::Xor)],
    &[("&", Binary::And)],
    &[("<<", Binary::Shl), (">>", Binary::Shr)],
    &[("+", Binary::Add), ("-", Binary::Sub)],
    &[("*", Binary::Mul), ("/", Binary::Div), ("%", Binary::Rem)],
];
/// The level of comparisons, which do not chain.
const COMPARISON: usize = 2;

impl<'s> Parser<'s, '_> {
    pub(super) fn expr(&mut self) -> Parsed<Expr<'s>> {
        self.nested(|parser| parser.binary(0))
    }

    /// The width in `u<W>`: no comparisons, whose `>` would be the closing one.
    pub(super) fn width(&mut self) -> Parsed<Expr<'s>> {
        self.nested(|parser| parser.binary(COMPARISON + 1))
    }

    fn make(&mut self, kind: ExprKind<'s>, span: Span, parts: &[u16]) -> Parsed<Expr<'s>> {
        let depth = 1 + parts.iter().copied().max().unwrap_or(0);
        if depth > MAX_TREE {
            return self.fail(span, format!("more than {MAX_TREE} operations in one another; split it with `let`"));
        }
        Ok(Expr { kind, span, depth })
    }

    /// Precedence climbing: everything that binds at least as tight as this level.
    fn binary(&mut self, level: usize) -> Parsed<Expr<'s>> {
        let mut left = self.unary()?;
        // The level of the operator that was taken last bounds the next one: only looser ones are left.
        let mut compared = false;
        loop {
            let Kind::Symbol(symbol) = self.token().kind else { return Ok(left) };
            let operator = LEVELS.iter().enumerate().skip(level).find_map(|(at, operators)| {
                operators.iter().find(|(text, _)| *text == symbol).map(|&(_, op)| (at, op))
            });
            let Some((at, op)) = operator else { return Ok(left) };
            if at == COMPARISON && std::mem::replace(&mut compared, true) {
                let span = self.span();
                return self.fail(span, "comparisons do not chain; write `a < b && b < c`");
            }
            compared &= at >= COMPARISON;
            self.at += 1;
            let right = self.nested(|parser| parser.binary(at + 1))?;
            let (span, depths) = (left.span.to(right.span), [left.depth, right.depth]);
            left = self.make(ExprKind::Binary(op, Box::new(left), Box::new(right)), span, &depths)?;
        }
    }

    fn unary(&mut self) -> Parsed<Expr<'s>> {
        let start = self.span();
        let op = match self.token().kind {
            Kind::Symbol("!") => Unary::Not,
            Kind::Symbol("-") => Unary::Negate,
            Kind::Symbol("*") if self.elsewhere().is_some() => return self.expected("a value"),
            Kind::Symbol("&" | "*") => {
                return self.fail(start, "there are no references; values are passed as they are");
            }
            _ => {
                let operand = self.postfix()?;
                return self.casts(operand);
            }
        };
        self.at += 1;
        let operand = self.nested(Self::unary_operand)?;
        let (span, depth) = (start.to(operand.span), operand.depth);
        let value = self.make(ExprKind::Unary(op, Box::new(operand)), span, &[depth])?;
        self.casts(value)
    }

    /// The operand of a sign or `!`, which binds tighter than `as`.
    fn unary_operand(&mut self) -> Parsed<Expr<'s>> {
        let start = self.span();
        let op = match self.token().kind {
            Kind::Symbol("!") => Unary::Not,
            Kind::Symbol("-") => Unary::Negate,
            _ => return self.postfix(),
        };
        self.at += 1;
        let operand = self.nested(Self::unary_operand)?;
        let (span, depth) = (start.to(operand.span), operand.depth);
        self.make(ExprKind::Unary(op, Box::new(operand)), span, &[depth])
    }

    fn casts(&mut self, mut value: Expr<'s>) -> Parsed<Expr<'s>> {
        while self.eat_word("as") {
            let ty = self.ty()?;
            let (span, depth) = (value.span.to(ty.span), value.depth);
            value = self.make(ExprKind::Cast(Box::new(value), ty), span, &[depth])?;
        }
        Ok(value)
    }

    fn postfix(&mut self) -> Parsed<Expr<'s>> {
        let mut value = self.primary()?;
        loop {
            let (start, depth) = (value.span, value.depth);
            if self.eat("[") {
                let outer = std::mem::replace(&mut self.bare, false);
                let index = self.expr();
                self.bare = outer;
                let index = index?;
                self.need("]")?;
                let (span, depths) = (start.to(self.last()), [depth, index.depth]);
                value = self.make(ExprKind::Index(Box::new(value), Box::new(index)), span, &depths)?;
            } else if self.eat(".") {
                let span = self.span();
                let name = match self.token().kind.clone() {
                    Kind::Int(..) => {
                        self.at += 1;
                        Name { text: "", span }
                    }
                    _ => self.name("a field's name or number")?,
                };
                if self.eat("(") {
                    let args = self.arguments()?;
                    let depths: Vec<u16> = args.iter().map(|arg| arg.depth).chain([depth]).collect();
                    let span = start.to(self.last());
                    value = self.make(ExprKind::Method(Box::new(value), name, args), span, &depths)?;
                } else {
                    value = self.make(ExprKind::Field(Box::new(value), name), start.to(span), &[depth])?;
                }
            } else {
                return Ok(value);
            }
        }
    }

    fn arguments(&mut self) -> Parsed<Vec<Expr<'s>>> {
        let outer = std::mem::replace(&mut self.bare, false);
        let args = self.list(")", Self::expr);
        self.bare = outer;
        args
    }

    fn primary(&mut self) -> Parsed<Expr<'s>> {
        let start = self.span();
        let leaf = match self.token().kind.clone() {
            Kind::Int(value, suffix) => ExprKind::Int(value, suffix),
            Kind::Float(value, suffix) => ExprKind::Float(value, suffix),
            Kind::Name("true") => ExprKind::Bool(true),
            Kind::Name("false") => ExprKind::Bool(false),
            Kind::Name("if") => return self.condition(),
            Kind::Name("for") => return self.fail(start, "a `for` loop has no value; it is a statement of its own"),
            Kind::Name("match") => return self.fail(start, "there is no `match`; use `if` and `else if`"),
            Kind::Name(_) => return self.named(),
            Kind::Symbol("(") => return self.tuple(),
            Kind::Symbol("[") => return self.array(),
            Kind::Symbol("{") => {
                let block = self.block()?;
                let depth = block.depth;
                return self.make(ExprKind::Block(Box::new(block)), start.to(self.last()), &[depth]);
            }
            _ => return self.expected("a value"),
        };
        self.at += 1;
        self.make(leaf, start, &[])
    }

    fn condition(&mut self) -> Parsed<Expr<'s>> {
        let start = self.span();
        self.at += 1;
        if self.is_word("let") {
            return self.expected("a condition");
        }
        let outer = std::mem::replace(&mut self.bare, true);
        let condition = self.expr();
        self.bare = outer;
        let condition = condition?;
        if self.is("=") {
            let span = self.span();
            return self.fail(span, "`=` assigns; write `==` to compare");
        }
        let then = self.block()?;
        let mut depths = vec![condition.depth, then.depth];
        let otherwise = if self.eat_word("else") {
            let span = self.span();
            let other = if self.is_word("if") {
                self.nested(Self::condition)?
            } else if self.is("{") {
                let block = self.block()?;
                let depth = block.depth;
                self.make(ExprKind::Block(Box::new(block)), span.to(self.last()), &[depth])?
            } else {
                return self.expected("`{` or `if`");
            };
            depths.push(other.depth);
            Some(Box::new(other))
        } else {
            None
        };
        let span = start.to(self.last());
        self.make(ExprKind::If(Box::new(condition), Box::new(then), otherwise), span, &depths)
    }

    fn named(&mut self) -> Parsed<Expr<'s>> {
        let name = self.name("a value")?;
        if self.is("::") {
            let span = self.span();
            return self.fail(span, "functions find their sizes by themselves; there is no `::`");
        }
        if self.eat("(") {
            let args = self.arguments()?;
            let depths: Vec<u16> = args.iter().map(|arg| arg.depth).collect();
            return self.make(ExprKind::Call(name, args), name.span.to(self.last()), &depths);
        }
        if self.is("!") && matches!(self.ahead(1), Kind::Symbol("(")) {
            let span = self.span();
            return self.fail(span, "there are no macros; functions are called without `!`");
        }
        let field = matches!((self.ahead(1), self.ahead(2)), (Kind::Name(_), Kind::Symbol(":")));
        let opens = self.is("{") && !self.bare;
        let literal = opens && (field || name.text.starts_with(char::is_uppercase));
        // Words of the language only here: elsewhere they are names like others.
        if let Some(form) = Form::named(name.text).filter(|_| opens && !literal) {
            let block = self.block()?;
            let depth = block.depth;
            return self.make(ExprKind::Pinned(form, Box::new(block)), name.span.to(self.last()), &[depth]);
        }
        if !literal {
            return self.make(ExprKind::Name(name.text), name.span, &[]);
        }
        self.at += 1;
        let fields = self.list("}", |parser| {
            let field = parser.name("a field's name")?;
            if parser.eat(":") {
                return Ok((field, parser.expr()?));
            }
            let value = parser.make(ExprKind::Name(field.text), field.span, &[])?;
            Ok((field, value))
        })?;
        let depths: Vec<u16> = fields.iter().map(|(_, value)| value.depth).collect();
        self.make(ExprKind::Struct(name, fields), name.span.to(self.last()), &depths)
    }

    fn tuple(&mut self) -> Parsed<Expr<'s>> {
        let start = self.span();
        self.at += 1;
        let mut all = self.arguments()?;
        let comma = matches!(self.tokens[self.at.saturating_sub(2)].kind, Kind::Symbol(","));
        if all.len() == 1 && !comma {
            return Ok(all.remove(0));
        }
        let depths: Vec<u16> = all.iter().map(|value| value.depth).collect();
        self.make(ExprKind::Tuple(all), start.to(self.last()), &depths)
    }

    fn array(&mut self) -> Parsed<Expr<'s>> {
        let start = self.span();
        self.at += 1;
        let outer = std::mem::replace(&mut self.bare, false);
        let result = self.elements(start);
        self.bare = outer;
        result
    }

    fn elements(&mut self, start: Span) -> Parsed<Expr<'s>> {
        if self.eat("]") {
            return self.make(ExprKind::Array(Vec::new()), start.to(self.last()), &[]);
        }
        let first = self.expr()?;
        if self.eat(";") {
            let count = self.expr()?;
            self.need("]")?;
            let depths = [first.depth, count.depth];
            return self.make(ExprKind::Repeat(Box::new(first), Box::new(count)), start.to(self.last()), &depths);
        }
        let mut all = vec![first];
        if self.eat(",") {
            all.extend(self.list("]", Self::expr)?);
        } else {
            self.need("]")?;
        }
        let depths: Vec<u16> = all.iter().map(|value| value.depth).collect();
        self.make(ExprKind::Array(all), start.to(self.last()), &depths)
    }
}
