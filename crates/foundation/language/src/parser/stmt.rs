//! Blocks and statements.

use super::{Parsed, Parser, Stop};
use crate::ast::*;
use crate::diagnostic::did_you_mean;
use crate::lexer::Kind;

impl<'s> Parser<'s, '_> {
    pub(super) fn block(&mut self) -> Parsed<Block<'s>> {
        self.nested(|parser| {
            let outer = std::mem::replace(&mut parser.bare, false);
            let block = parser.block_inside();
            parser.bare = outer;
            block
        })
    }

    fn block_inside(&mut self) -> Parsed<Block<'s>> {
        let start = self.span();
        self.need("{")?;
        let (mut stmts, mut value, mut failed) = (Vec::new(), None, false);
        while !self.eat("}") {
            if self.at_end() {
                return self.fail(start, "this `{` is never closed");
            }
            let before = self.at;
            match self.stmt(&mut stmts) {
                Ok(None) => {}
                Ok(end) => {
                    value = end.map(Box::new);
                    self.need("}")?;
                    break;
                }
                Err(Stop) => {
                    failed = true;
                    if !self.skip_stmt(before) {
                        return Err(Stop);
                    }
                }
            }
        }
        if failed {
            // The mistakes are noted; what follows the block is parsed all the same.
            (stmts, value) = (Vec::new(), None);
        }
        let parts = stmts.iter().map(depth).chain(value.as_ref().map(|value| value.depth));
        let depth = parts.max().unwrap_or(0).saturating_add(1);
        Ok(Block { stmts, value, span: start.to(self.last()), depth })
    }

    /// Goes on behind the next `;` or before the `}` of this block. False if neither comes before the next
    /// function.
    fn skip_stmt(&mut self, start: usize) -> bool {
        // Braces that the failed statement has opened.
        let mut open = 0i32;
        for token in &self.tokens[start..self.at.min(self.tokens.len())] {
            match token.kind {
                Kind::Symbol("{") => open += 1,
                Kind::Symbol("}") => open -= 1,
                _ => {}
            }
        }
        loop {
            match self.token().kind {
                Kind::End => return false,
                Kind::Name("fn") if open <= 0 => return false,
                Kind::Symbol("{") => open += 1,
                Kind::Symbol("}") if open <= 0 => return true,
                Kind::Symbol("}") => open -= 1,
                Kind::Symbol(";") if open <= 0 => {
                    self.at += 1;
                    return true;
                }
                _ => {}
            }
            self.at += 1;
        }
    }

    /// A statement; or the expression at the block's end, which is its value.
    fn stmt(&mut self, stmts: &mut Vec<Stmt<'s>>) -> Parsed<Option<Expr<'s>>> {
        let span = self.span();
        match self.token().kind {
            Kind::Symbol(";") => {
                self.at += 1;
                return Ok(None);
            }
            Kind::Name("let") => {
                self.at += 1;
                let pattern = self.pattern()?;
                let ty = if self.eat(":") { Some(self.ty()?) } else { None };
                if self.is(";") {
                    return self.fail(self.last(), "a variable needs a value: `let x = 0;`");
                }
                self.need("=")?;
                let value = self.expr()?;
                self.need(";")?;
                stmts.push(Stmt::Let { pattern, ty, value });
                return Ok(None);
            }
            Kind::Name("for") => {
                self.at += 1;
                stmts.push(self.for_loop()?);
                return Ok(None);
            }
            Kind::Name("while" | "loop") => {
                return self.fail(
                    span,
                    "the number of turns must be known to all: write `for i in 0..100 { ... }`, with an `if` inside",
                );
            }
            Kind::Name("return") => {
                return self.fail(span, "there is no `return`: the value of a function is the expression at its end");
            }
            Kind::Name("break" | "continue") => {
                return self.fail(span, "every turn of a loop is done; put the part to skip into an `if`");
            }
            Kind::Name("match") => return self.fail(span, "there is no `match`; use `if` and `else if`"),
            Kind::Name("const" | "fn" | "struct") => {
                let word = self.found();
                return self.fail(span, format!("{word} stands outside of functions"));
            }
            _ => {}
        }
        let value = self.expr()?;
        const ASSIGN: [(&str, Option<Binary>); 11] = [
            ("=", None),
            ("+=", Some(Binary::Add)),
            ("-=", Some(Binary::Sub)),
            ("*=", Some(Binary::Mul)),
            ("/=", Some(Binary::Div)),
            ("%=", Some(Binary::Rem)),
            ("<<=", Some(Binary::Shl)),
            (">>=", Some(Binary::Shr)),
            ("&=", Some(Binary::And)),
            ("|=", Some(Binary::Or)),
            ("^=", Some(Binary::Xor)),
        ];
        if let Some(&(symbol, op)) = ASSIGN.iter().find(|(symbol, _)| self.is(symbol)) {
            let at = self.span();
            self.need(symbol)?;
            let right = self.expr()?;
            self.need(";")?;
            stmts.push(Stmt::Assign { target: value, op, value: right, span: at });
            return Ok(None);
        }
        if self.eat(";") {
            stmts.push(Stmt::Expr { value });
            return Ok(None);
        }
        if self.is("}") {
            return Ok(Some(value));
        }
        if matches!(value.kind, ExprKind::If(..) | ExprKind::Block(_) | ExprKind::Pinned(..)) {
            stmts.push(Stmt::Expr { value });
            return Ok(None);
        }
        if let (Kind::Name(name), ExprKind::Name(first)) = (&self.token().kind, &value.kind) {
            let guess = did_you_mean(first, ["let", "for", "if", "const"]);
            if !guess.is_empty() {
                let message = format!("`{first} {name}` is not a statement{guess}");
                return self.fail(value.span, message);
            }
        }
        self.need(";")?;
        Ok(None)
    }

    fn for_loop(&mut self) -> Parsed<Stmt<'s>> {
        let var = self.pattern()?;
        if !self.eat_word("in") {
            return self.expected("`in`, as in `for i in 0..10 { ... }`");
        }
        let outer = std::mem::replace(&mut self.bare, true);
        let over = self.over();
        self.bare = outer;
        let over = over?;
        let body = self.block()?;
        Ok(Stmt::For { var, over, body })
    }

    fn over(&mut self) -> Parsed<Over<'s>> {
        let from = self.expr()?;
        let inclusive = self.is("..=");
        if !self.eat("..=") && !self.eat("..") {
            return Ok(Over::Each(from));
        }
        let to = self.expr()?;
        Ok(Over::Range { from, to, inclusive })
    }

    fn pattern(&mut self) -> Parsed<Pattern<'s>> {
        self.nested(|parser| {
            let start = parser.span();
            if parser.eat("(") {
                let all = parser.list(")", Self::pattern)?;
                return Ok(Pattern::Tuple(all, start.to(parser.last())));
            }
            let mutable = parser.eat_word("mut");
            Ok(Pattern::Name { name: parser.name("a variable's name")?, mutable })
        })
    }
}

fn depth(stmt: &Stmt) -> u16 {
    match stmt {
        Stmt::Let { value, .. } | Stmt::Expr { value } => value.depth,
        Stmt::Assign { target, value, .. } => target.depth.max(value.depth),
        Stmt::For { over: Over::Range { from, to, .. }, body, .. } => from.depth.max(to.depth).max(body.depth),
        Stmt::For { over: Over::Each(over), body, .. } => over.depth.max(body.depth),
    }
}
