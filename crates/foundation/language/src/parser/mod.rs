//! Tokens to a syntax tree: recursive descent.
//!
//! After a mistake parsing goes on at the next statement or item, so that several mistakes are found in one run.

mod expr;

use crate::ast::*;
use crate::diagnostic::{Errors, Span, did_you_mean};
use crate::lexer::{self, Kind, Token};

/// Expressions, types and blocks inside each other, at most.
pub(crate) const MAX_DEPTH: u16 = 96;

/// Parsing of this part was given up; the mistake is noted.
struct Stop;
type Parsed<T> = Result<T, Stop>;

/// The syntax tree of a text. It is of use only if there are no mistakes.
pub(crate) fn parse<'s>(source: &'s str, errors: &mut Errors) -> File<'s> {
    let tokens = lexer::tokens(source, errors);
    let mut parser = Parser { tokens, at: 0, depth: 0, bare: false, errors };
    let mut file = File::default();
    while !parser.at_end() {
        let start = parser.at;
        if parser.item(&mut file).is_err() {
            parser.skip_item(start);
        }
    }
    file
}

const ITEMS: [&str; 4] = ["parties", "const", "struct", "fn"];
const WORDS: [&str; 12] = ["const", "struct", "fn", "let", "mut", "if", "else", "for", "in", "as", "true", "false"];

struct Parser<'s, 'e> {
    tokens: Vec<Token<'s>>,
    at: usize,
    depth: u16,
    /// No struct literals here: the brace opens the block of an `if` or `for`.
    bare: bool,
    errors: &'e mut Errors,
}

impl<'s> Parser<'s, '_> {
    fn token(&self) -> &Token<'s> {
        &self.tokens[self.at.min(self.tokens.len() - 1)]
    }

    fn ahead(&self, by: usize) -> &Kind<'s> {
        &self.tokens[(self.at + by).min(self.tokens.len() - 1)].kind
    }

    fn span(&self) -> Span {
        self.token().span
    }

    /// The token before this one.
    fn last(&self) -> Span {
        self.tokens[self.at.saturating_sub(1).min(self.tokens.len() - 1)].span
    }

    fn at_end(&self) -> bool {
        self.token().kind == Kind::End
    }

    fn is(&self, symbol: &str) -> bool {
        matches!(self.token().kind, Kind::Symbol(s) if s == symbol)
    }

    fn is_word(&self, word: &str) -> bool {
        matches!(self.token().kind, Kind::Name(s) if s == word)
    }

    fn eat(&mut self, symbol: &str) -> bool {
        let is = self.is(symbol);
        self.at += usize::from(is);
        is
    }

    fn eat_word(&mut self, word: &str) -> bool {
        let is = self.is_word(word);
        self.at += usize::from(is);
        is
    }

    fn fail<T>(&mut self, at: Span, message: impl Into<String>) -> Parsed<T> {
        self.errors.add(at, message);
        Err(Stop)
    }

    /// What stands here, for messages.
    fn found(&self) -> String {
        match &self.token().kind {
            Kind::Name(name) => format!("`{name}`"),
            Kind::Int(..) | Kind::Float(..) => "a number".into(),
            Kind::Symbol(symbol) => format!("`{symbol}`"),
            Kind::End => "the end of the file".into(),
        }
    }

    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let (found, span) = (self.found(), self.span());
        self.fail(span, format!("expected {what}, found {found}"))
    }

    /// A symbol that has to be here.
    fn need(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat(symbol) {
            return Ok(());
        }
        if matches!(symbol, ";" | ")" | "]" | "}" | ",") {
            // What is missing is missing behind what stands before.
            let Span { end, .. } = self.last();
            let found = self.found();
            return self.fail(Span { start: end, end }, format!("expected `{symbol}` here, before {found}"));
        }
        self.expected(&format!("`{symbol}`"))
    }

    fn name(&mut self, what: &str) -> Parsed<Name<'s>> {
        match self.token().kind {
            Kind::Name(text) if WORDS.contains(&text) => {
                let span = self.span();
                self.fail(span, format!("expected {what}, but `{text}` is a word of the language"))
            }
            Kind::Name(text) => {
                let span = self.span();
                self.at += 1;
                Ok(Name { text, span })
            }
            _ => self.expected(what),
        }
    }

    /// Runs a part that nests.
    fn nested<T>(&mut self, part: impl FnOnce(&mut Self) -> Parsed<T>) -> Parsed<T> {
        if self.depth >= MAX_DEPTH {
            let span = self.span();
            return self.fail(span, format!("nested more than {MAX_DEPTH} deep; split it with `let` or functions"));
        }
        self.depth += 1;
        let result = part(self);
        self.depth -= 1;
        result
    }

    /// Things between commas, up to a closing symbol, which is taken.
    fn list<T>(&mut self, close: &str, mut one: impl FnMut(&mut Self) -> Parsed<T>) -> Parsed<Vec<T>> {
        let mut all = Vec::new();
        while !self.eat(close) {
            all.push(one(self)?);
            if !self.eat(",") {
                if self.is(close) {
                    continue;
                }
                let Span { end, .. } = self.last();
                let found = self.found();
                return self.fail(Span { start: end, end }, format!("expected `,` or `{close}` here, before {found}"));
            }
        }
        Ok(all)
    }

    /// Goes on at the next item.
    fn skip_item(&mut self, start: usize) {
        if self.at == start {
            self.at += 1;
        }
        let starts = |parser: &Self| {
            let line_start = ITEMS.iter().any(|word| parser.is_word(word));
            line_start && !matches!(parser.ahead(1), Kind::Symbol(_))
        };
        while !self.at_end() && !starts(self) {
            self.at += 1;
        }
    }

    fn item(&mut self, file: &mut File<'s>) -> Parsed<()> {
        let span = self.span();
        match self.token().kind {
            Kind::Name("parties") => {
                self.at += 1;
                if !file.parties.is_empty() {
                    return self.fail(span, "the parties are listed twice; name them all in one line");
                }
                loop {
                    file.parties.push(self.name("a party's name")?);
                    if !self.eat(",") {
                        break;
                    }
                }
                self.need(";")
            }
            Kind::Name("const") => {
                self.at += 1;
                let name = self.name("the constant's name")?;
                let ty = if self.eat(":") { Some(self.ty()?) } else { None };
                self.need("=")?;
                let value = self.expr()?;
                self.need(";")?;
                file.consts.push(Const { name, ty, value });
                Ok(())
            }
            Kind::Name("struct") => {
                self.at += 1;
                let name = self.name("the struct's name")?;
                self.need("{")?;
                let fields = self.list("}", |parser| {
                    let name = parser.name("a field's name")?;
                    parser.need(":")?;
                    Ok((name, parser.ty()?))
                })?;
                self.eat(";");
                file.structs.push(Struct { name, fields });
                Ok(())
            }
            Kind::Name("fn") => {
                let function = self.function()?;
                file.functions.push(function);
                Ok(())
            }
            Kind::Name("pub") => self.fail(span, "everything in a file is seen in all of it; leave `pub` out"),
            Kind::Name("use" | "mod" | "import") => {
                self.fail(span, "a program is one file; the library's circuits are called by their names")
            }
            Kind::Name(name) => {
                let guess = did_you_mean(name, ITEMS);
                self.fail(span, format!("expected `parties`, `const`, `struct` or `fn`, found `{name}`{guess}"))
            }
            _ => self.expected("`parties`, `const`, `struct` or `fn`"),
        }
    }

    fn function(&mut self) -> Parsed<Function<'s>> {
        self.at += 1;
        let name = self.name("the function's name")?;
        let generics = if self.eat("<") {
            self.list(">", |parser| {
                parser.eat_word("const");
                let name = parser.name("a parameter such as `N`")?;
                if parser.eat(":") {
                    parser.ty()?;
                }
                Ok(name)
            })?
        } else {
            Vec::new()
        };
        self.need("(")?;
        let params = self.list(")", |parser| {
            let mutable = parser.eat_word("mut");
            let name = parser.name("a parameter's name")?;
            if !parser.is(":") {
                let span = parser.span();
                return parser.fail(span, format!("say what `{0}` is: `{0}: u32`", name.text));
            }
            parser.at += 1;
            let ty = parser.ty()?;
            let from = if parser.eat_word("from") { Some(parser.who()?) } else { None };
            Ok(Param { name, mutable, ty, from })
        })?;
        let outputs = if self.eat("->") { self.outputs()? } else { Outputs::None };
        if !self.is("{") {
            return self.expected("`{` and the function's body");
        }
        let body = self.block()?;
        Ok(Function { name, generics, params, outputs, body })
    }

    fn outputs(&mut self) -> Parsed<Outputs<'s>> {
        if self.is("(") && matches!(self.ahead(1), Kind::Name(_)) && matches!(self.ahead(2), Kind::Symbol(":")) {
            self.at += 1;
            let all = self.list(")", |parser| {
                let name = parser.name("an output's name")?;
                parser.need(":")?;
                let ty = parser.ty()?;
                Ok((name, ty, parser.to()?))
            })?;
            return Ok(Outputs::Named(all));
        }
        let ty = self.ty()?;
        Ok(Outputs::One(ty, self.to()?))
    }

    fn to(&mut self) -> Parsed<Option<Who<'s>>> {
        if self.eat_word("to") { Ok(Some(self.who()?)) } else { Ok(None) }
    }

    fn who(&mut self) -> Parsed<Who<'s>> {
        let span = self.span();
        let kind = match self.token().kind.clone() {
            Kind::Int(number, None) => WhoKind::Number(number),
            Kind::Name(name) => WhoKind::Name(name),
            _ => return self.expected("a party's name or number"),
        };
        self.at += 1;
        Ok(Who { kind, span })
    }

    fn ty(&mut self) -> Parsed<Type<'s>> {
        self.nested(|parser| {
            let start = parser.span();
            let kind = if parser.eat("[") {
                let element = parser.ty()?;
                if !parser.is(";") {
                    return parser.expected("`;` and the array's length, as in `[u32; 8]`");
                }
                parser.at += 1;
                let length = parser.expr()?;
                parser.need("]")?;
                TypeKind::Array(Box::new(element), Box::new(length))
            } else if parser.eat("(") {
                let mut types = parser.list(")", Self::ty)?;
                let comma = matches!(parser.tokens[parser.at.saturating_sub(2)].kind, Kind::Symbol(","));
                if types.len() == 1 && !comma {
                    return Ok(types.remove(0));
                }
                TypeKind::Tuple(types)
            } else {
                let name = parser.name("a type")?;
                match name.text {
                    "u" | "i" if parser.eat("<") => {
                        // Above comparison, whose `>` would be the closing one.
                        let width = Box::new(parser.width()?);
                        parser.need(">")?;
                        if name.text == "u" { TypeKind::Uint(width) } else { TypeKind::Int(width) }
                    }
                    text => TypeKind::Name(text),
                }
            };
            Ok(Type { kind, span: start.to(parser.last()) })
        })
    }

    fn block(&mut self) -> Parsed<Block<'s>> {
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

    /// Goes on behind the next `;` or before the `}` of this block. False if there is none before the next function.
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
                return self.fail(span, "all turns of a loop are done; put what is to be left out into an `if`");
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
        if matches!(value.kind, ExprKind::If(..) | ExprKind::Block(_)) {
            stmts.push(Stmt::Expr { value });
            return Ok(None);
        }
        if let Kind::Name(name) = self.token().kind {
            if let ExprKind::Name(first) = value.kind {
                let guess = did_you_mean(first, ["let", "for", "if", "const"]);
                if !guess.is_empty() {
                    return self.fail(value.span, format!("`{first} {name}` is no statement{guess}"));
                }
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
