//! Text to tokens.

use std::rc::Rc;

use crate::diagnostic::{Errors, Span};

/// The longest source text, in bytes.
pub(crate) const MAX_SOURCE: usize = 1 << 20;
/// The most bits of a number in the text.
const MAX_NUMBER: usize = 1 << 16;

/// A word, number or symbol and where it stands.
#[derive(Clone, Debug)]
pub(crate) struct Token<'s> {
    pub(crate) kind: Kind<'s>,
    pub(crate) span: Span,
}

#[derive(Clone, Debug, PartialEq)]
pub(crate) enum Kind<'s> {
    Name(&'s str),
    /// A whole number, and the type written behind it.
    Int(Whole, Option<&'s str>),
    /// A number with a fraction, and the type written behind it.
    Float(f64, Option<&'s str>),
    Symbol(&'static str),
    End,
}

/// A whole number from 0 on, as limbs of 64 bits, the least significant first, without zero limbs at the end.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Whole(pub(crate) Rc<[u64]>);

impl Whole {
    /// The number of bits that the number takes.
    pub(crate) fn bits(&self) -> usize {
        self.0.last().map_or(0, |top| 64 * self.0.len() - top.leading_zeros() as usize)
    }

    /// Bit `i`.
    pub(crate) fn bit(&self, i: usize) -> bool {
        self.0.get(i / 64).is_some_and(|limb| limb >> (i % 64) & 1 == 1)
    }

    /// The number, if it has at most 126 bits.
    pub(crate) fn small(&self) -> Option<i128> {
        if self.bits() > 126 {
            return None;
        }
        Some(self.0.iter().rev().fold(0, |value, &limb| value << 64 | i128::from(limb)))
    }

    /// The number with these digits in a base; `None` if it is too large.
    fn parse(digits: impl Iterator<Item = u32>, base: u64) -> Option<Whole> {
        let mut limbs: Vec<u64> = Vec::new();
        for digit in digits {
            let mut carry = u128::from(digit);
            for limb in &mut limbs {
                let value = u128::from(*limb) * u128::from(base) + carry;
                (*limb, carry) = (value as u64, value >> 64);
            }
            if carry > 0 {
                limbs.push(carry as u64);
            }
            if limbs.len() > MAX_NUMBER / 64 {
                return None;
            }
        }
        Some(Whole(limbs.into()))
    }
}

/// The longer ones first.
const SYMBOLS: &[&str] = &[
    "<<=", ">>=", "..=", "->", "=>", "..", "::", "==", "!=", "<=", ">=", "&&", "||", "<<", ">>", "+=", "-=", "*=",
    "/=", "%=", "&=", "|=", "^=", "(", ")", "[", "]", "{", "}", "<", ">", "+", "-", "*", "/", "%", "&", "|", "^", "!",
    "=", ",", ";", ":", ".", "?",
];

/// The symbol that a text begins with.
fn symbol(text: &str) -> Option<&'static str> {
    // Most begin with another byte: a comparison of whole symbols took a fifth of compiling.
    let first = *text.as_bytes().first()?;
    SYMBOLS.iter().copied().find(|symbol| symbol.as_bytes()[0] == first && text.starts_with(*symbol))
}

/// The tokens of a text, the last of which is the end.
pub(crate) fn tokens<'s>(source: &'s str, errors: &mut Errors) -> Vec<Token<'s>> {
    let mut lexer = Lexer { source, at: 0, errors, tokens: Vec::new() };
    while lexer.next() {}
    lexer.tokens
}

struct Lexer<'s, 'e> {
    source: &'s str,
    at: usize,
    errors: &'e mut Errors,
    tokens: Vec<Token<'s>>,
}

impl<'s> Lexer<'s, '_> {
    fn rest(&self) -> &'s str {
        &self.source[self.at..]
    }

    fn span(&self, start: usize) -> Span {
        Span { start: start as u32, end: self.at as u32 }
    }

    /// Takes characters while they fit.
    fn take(&mut self, fits: impl Fn(char) -> bool) -> &'s str {
        let rest = self.rest();
        let end = rest.find(|c| !fits(c)).unwrap_or(rest.len());
        self.at += end;
        &rest[..end]
    }

    fn push(&mut self, start: usize, kind: Kind<'s>) {
        let span = self.span(start);
        self.tokens.push(Token { kind, span });
    }

    /// One token, or what stands between tokens. False at the end.
    fn next(&mut self) -> bool {
        let (start, rest) = (self.at, self.rest());
        let Some(first) = rest.chars().next() else {
            self.push(start, Kind::End);
            return false;
        };
        if first.is_whitespace() {
            self.take(char::is_whitespace);
        } else if rest.starts_with("//") {
            self.take(|c| c != '\n');
        } else if rest.starts_with("/*") {
            self.comment();
        } else if first.is_ascii_digit() {
            self.number();
        } else if first.is_alphabetic() || first == '_' {
            let name = self.take(|c| c.is_alphanumeric() || c == '_');
            self.push(start, Kind::Name(name));
        } else if let Some(symbol) = symbol(rest) {
            self.at += symbol.len();
            self.push(start, Kind::Symbol(symbol));
        } else {
            self.at += first.len_utf8();
            let message = match first {
                '"' | '\'' => "there is no text in this language; use numbers".to_owned(),
                c if c.is_control() => "a control character".to_owned(),
                c => format!("`{c}` has no meaning here"),
            };
            let span = self.span(start);
            self.errors.add(span, message);
            if matches!(first, '"' | '\'') {
                self.take(|c| c != first && c != '\n');
                self.at += self.rest().starts_with(first) as usize;
            }
        }
        true
    }

    fn comment(&mut self) {
        let start = self.at;
        let mut depth = 0usize;
        while self.at < self.source.len() {
            let rest = self.rest();
            if rest.starts_with("/*") {
                (depth, self.at) = (depth + 1, self.at + 2);
            } else if rest.starts_with("*/") {
                (depth, self.at) = (depth - 1, self.at + 2);
                if depth == 0 {
                    return;
                }
            } else {
                self.at += rest.chars().next().map_or(1, char::len_utf8);
            }
        }
        self.errors
            .add(Span { start: start as u32, end: start as u32 + 2 }, "this comment has no end: `*/` is missing");
    }

    fn number(&mut self) {
        let start = self.at;
        // `.0.1` are fields, not a number with a fraction.
        let field = matches!(self.tokens.last(), Some(Token { kind: Kind::Symbol("."), .. }));
        let base = match self.rest().get(..2) {
            Some("0x") => 16,
            Some("0b") => 2,
            Some("0o") => 8,
            _ => 10,
        };
        if base != 10 {
            self.at += 2;
        }
        let from = self.at;
        let digits = self.take(|c| c.is_digit(base) || c == '_');
        let mut fraction = false;
        if base == 10 && !field {
            let mut rest = self.rest().chars();
            if rest.next() == Some('.') && rest.next().is_some_and(|c| c.is_ascii_digit()) {
                fraction = true;
                self.at += 1;
                self.take(|c| c.is_ascii_digit() || c == '_');
            }
            let mut rest = self.rest().chars().peekable();
            if rest.next_if(|&c| c == 'e' || c == 'E').is_some() {
                let sign = rest.next_if(|&c| c == '+' || c == '-').is_some();
                if rest.peek().is_some_and(char::is_ascii_digit) {
                    fraction = true;
                    self.at += 1 + usize::from(sign);
                    self.take(|c| c.is_ascii_digit() || c == '_');
                }
            }
        }
        let text: String = self.source[from..self.at].chars().filter(|&c| c != '_').collect();
        let suffix = Some(self.take(|c| c.is_alphanumeric() || c == '_')).filter(|suffix| !suffix.is_empty());
        let span = self.span(start);
        if fraction {
            let value = text.parse().unwrap_or(f64::NAN);
            return self.push(start, Kind::Float(value, suffix));
        }
        if text.is_empty() {
            self.errors.add(span, "a number without digits");
        }
        let value = Whole::parse(digits.chars().filter_map(|c| c.to_digit(base)), u64::from(base));
        if value.is_none() {
            self.errors.add(span, format!("a number has at most {MAX_NUMBER} bits"));
        }
        self.push(start, Kind::Int(value.unwrap_or_else(|| Whole(Rc::new([]))), suffix));
    }
}
