//! Tokens to a syntax tree: recursive descent.
//!
//! After a mistake parsing goes on at the next statement or item, so that several mistakes are found in one run.

mod expr;
mod stmt;

use crate::ast::*;
use crate::diagnostic::{Errors, Span, did_you_mean};
use crate::elsewhere;
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

    /// The words for the token that stands here, for messages.
    fn found(&self) -> String {
        match &self.token().kind {
            Kind::Name(name) => format!("`{name}`"),
            Kind::Int(..) | Kind::Float(..) => "a number".into(),
            Kind::Symbol(symbol) => format!("`{symbol}`"),
            Kind::End => "the end of the file".into(),
        }
    }

    /// What is written instead of a word of another language, if one stands here.
    fn elsewhere(&self) -> Option<&'static str> {
        let before = self.at.checked_sub(1).and_then(|at| self.tokens.get(at))?;
        elsewhere::at(&before.kind, &self.token().kind)
    }

    fn expected<T>(&mut self, what: &str) -> Parsed<T> {
        let (found, span) = (self.found(), self.span());
        if let Some(hint) = self.elsewhere() {
            return self.fail(span, hint);
        }
        self.fail(span, format!("expected {what}, found {found}"))
    }

    /// A symbol that has to be here.
    fn need(&mut self, symbol: &str) -> Parsed<()> {
        if self.eat(symbol) {
            return Ok(());
        }
        if symbol == "]" && matches!(self.token().kind, Kind::Symbol(":" | ".." | "..=")) {
            return self.fail(self.span(), elsewhere::SLICE);
        }
        if let Some(hint) = self.elsewhere() {
            return self.fail(self.span(), hint);
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

    fn to(&mut self) -> Parsed<To<'s>> {
        if !self.eat_word("to") {
            return Ok(To::Unsaid);
        }
        let span = self.span();
        if self.eat("(") { Ok(To::These(self.list(")", Self::who)?, span)) } else { self.who().map(To::One) }
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
}
