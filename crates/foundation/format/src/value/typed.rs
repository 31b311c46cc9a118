//! Values of a [`Type`], from text: numbers, `true`, `[1, 2]`, `(1, true)`, `{price: 3, item: 4}`, and JSON.
//!
//! The type leads the reader, so that no text makes it nest deeper than the type does, and bits are allocated for what
//! is read alone. What is too much or too little is named by its path, as a program would: `bids[3].price`.

use comity_core::Bits;
use strsim::damerau_levenshtein;

use super::number::{self, NumberError};
use super::{FloatWidth, Type, rows};
use crate::BYTE_ORDER_MARK;

/// The reason why a text is not a value of a type, and where. The value itself, which may be secret, is never
/// repeated.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("{path}: {what}")]
pub struct TypedError {
    /// The line of the text, counted from 1.
    pub line: usize,
    /// The character of the line, counted from 1.
    pub column: usize,
    /// The path to the part of the value: `bids[3].price`.
    pub path: String,
    /// The fault of the part, and what would be right.
    pub what: String,
}

/// Reads a value of a type; `name` is what messages call it.
///
/// | type | is written |
/// | --- | --- |
/// | a number | `-12`, `1_000`, `0xff`, `0b101`, `0o17`; in quotes, too |
/// | a bool | `true` or `false`, `1` or `0` |
/// | a float | `1.5`, `-2e-3`, `inf`, `NaN`: the nearest float is taken |
/// | bits | `0x` and one hex digit for every four bits, or `bits:` and the wires in order |
/// | an array | `[1, 2, 3]`, or without brackets: one element a line, fields of an element between commas or spaces, perhaps with a first line of their names (CSV). An array of `u8` also as `"text"`, `text:` and the rest of the line, or `hex:` and its bytes in order |
/// | a tuple | `(1, true)` or `[1, true]` |
/// | a struct | `{price: 3, item: 4}`, names in quotes or not, in any order; or `(3, 4)` in the order of its fields |
///
/// `bits:` and the wires in order is possible for a value of any type. White space between the parts, and a comma after
/// the last, do not matter.
///
/// # Errors
/// [`TypedError`], with the place in the text and in the value.
pub fn read(name: &str, ty: &Type, text: &str) -> Result<Bits, TypedError> {
    let mut reader = Reader::new(name, text);
    if text.starts_with(BYTE_ORDER_MARK) {
        reader.at = BYTE_ORDER_MARK.len();
    }
    reader.space();
    let rest = reader.rest();
    if let Some(wires) = rest.strip_prefix("bits:") {
        return whole_bits(&mut reader, wires.trim_end(), ty.bits());
    }
    // A column's name may stand in quotes, too, but values come after it.
    let quoted = rest
        .strip_prefix('"')
        .is_some_and(|inner| inner.split_once('"').is_none_or(|(_, more)| more.trim().is_empty()));
    let bytes = |element: &Type| *element == Type::Uint(8) && (quoted || rest.starts_with("hex:"));
    match ty {
        Type::Array(element, count) if **element == Type::Uint(8) && rest.starts_with("text:") => {
            let line = rest.lines().next().unwrap_or_default();
            let (at, letters) = (reader.at, &line["text:".len()..]);
            reader.at += line.len();
            reader.bytes(at, letters.bytes(), *count)?;
        }
        Type::Array(element, count) if !rest.starts_with('[') && !bytes(element) => {
            rows::read(&mut reader, element, *count)?;
        }
        // `u64:7` is possible where it says what the type says.
        Type::Uint(_) | Type::Int(_) if rest.contains(':') => {
            let number = super::parse(rest.trim_end(), ty.bits(), super::BitOrder::Lsb);
            return number.map_err(|what| reader.wrong(what.to_string()));
        }
        _ => reader.value(ty)?,
    }
    reader.space();
    if reader.at < text.len() {
        return Err(reader.wrong(format!("there is more after the value, which is a {}", ty.describe())));
    }
    Ok(reader.out)
}

fn whole_bits(reader: &mut Reader, wires: &str, takes: usize) -> Result<Bits, TypedError> {
    reader.at += "bits:".len();
    for c in wires.chars() {
        match c {
            '0' | '1' => reader.out.push(c == '1'),
            _ => return Err(reader.wrong("after `bits:` the wires stand in order, 0 or 1 each")),
        }
        reader.at += c.len_utf8();
    }
    match reader.out.len() {
        given if given == takes => Ok(std::mem::take(&mut reader.out)),
        given => Err(reader.wrong(format!("{given} bits are given; the value has {takes}"))),
    }
}

/// A reader: a text, how far it is read, and the bits so far.
pub(super) struct Reader<'a> {
    pub(super) text: &'a str,
    pub(super) at: usize,
    pub(super) out: Bits,
    name: &'a str,
    /// The path into the value: indices and names of fields, outermost first.
    path: Vec<Part<'a>>,
}

/// One step into a value.
#[derive(Clone, Copy)]
pub(super) enum Part<'a> {
    Index(usize),
    Field(&'a str),
}

/// The elements of a list, by their indices.
fn indexed<'a>(types: impl IntoIterator<Item = &'a Type>) -> impl Iterator<Item = (Part<'a>, &'a Type)> {
    types.into_iter().enumerate().map(|(index, ty)| (Part::Index(index), ty))
}

impl<'a> Reader<'a> {
    fn new(name: &'a str, text: &'a str) -> Reader<'a> {
        Reader { text, at: 0, out: Bits::default(), name, path: Vec::new() }
    }

    /// The rest of the text, not read yet.
    pub(super) fn rest(&self) -> &'a str {
        &self.text[self.at..]
    }

    pub(super) fn space(&mut self) {
        self.at = self.text.len() - self.rest().trim_start().len();
    }

    /// An error here.
    pub(super) fn wrong(&self, what: impl Into<String>) -> TypedError {
        self.wrong_at(self.at, what)
    }

    pub(super) fn wrong_at(&self, at: usize, what: impl Into<String>) -> TypedError {
        let before = self.text.get(..at).unwrap_or(self.text);
        let line = before.matches('\n').count() + 1;
        let column = before.chars().rev().take_while(|&c| c != '\n' && c != '\u{feff}').count() + 1;
        let mut path = self.name.to_owned();
        for part in &self.path {
            match part {
                Part::Index(index) => path += &format!("[{index}]"),
                Part::Field(name) => path += &format!(".{name}"),
            }
        }
        TypedError { line, column, path, what: what.into() }
    }

    /// Reads a part of the value.
    pub(super) fn inside<T>(
        &mut self,
        part: Part<'a>,
        read: impl FnOnce(&mut Self) -> Result<T, TypedError>,
    ) -> Result<T, TypedError> {
        self.path.push(part);
        let result = read(self)?;
        self.path.pop();
        Ok(result)
    }

    fn value(&mut self, ty: &'a Type) -> Result<(), TypedError> {
        self.space();
        match ty {
            Type::Array(element, count) => self.array(element, *count),
            Type::Tuple(types) => {
                let close = self.open(&[('(', ')'), ('[', ']')], ty)?;
                self.list(close, indexed(types), types.len(), "elements")
            }
            Type::Struct { name, fields } => {
                // As a program writes it, the type's name may stand in front.
                if self.rest().strip_prefix(name.as_str()).is_some_and(|rest| rest.trim_start().starts_with('{')) {
                    self.at += name.len();
                    self.space();
                }
                match self.open(&[('{', '}'), ('(', ')'), ('[', ']')], ty)? {
                    '}' => self.fields(fields),
                    close => {
                        let parts = fields.iter().map(|(name, ty)| (Part::Field(name), ty));
                        self.list(close, parts, fields.len(), "fields")
                    }
                }
            }
            _ => {
                let (at, word) = self.word()?;
                self.scalar(ty, at, word)
            }
        }
    }

    /// Reads an opening bracket; returns the one that closes it.
    fn open(&mut self, pairs: &[(char, char)], ty: &Type) -> Result<char, TypedError> {
        let next = self.rest().chars().next();
        let Some(&(_, close)) = pairs.iter().find(|(open, _)| Some(*open) == next) else {
            let opens: Vec<String> = pairs.iter().map(|(open, _)| format!("`{open}`")).collect();
            return Err(self.wrong(format!("{} is wanted, which begins with {}", ty.describe(), opens.join(" or "))));
        };
        self.at += 1;
        Ok(close)
    }

    /// Whether the closing bracket comes next, which is then read.
    fn closes(&mut self, close: char) -> bool {
        self.space();
        let closes = self.rest().starts_with(close);
        self.at += usize::from(closes);
        closes
    }

    /// Reads the comma between two parts, or sees the closing bracket, which stays.
    fn comma(&mut self, close: char) -> Result<(), TypedError> {
        self.space();
        match self.rest().chars().next() {
            Some(',') => self.at += 1,
            Some(c) if c == close => {}
            None => return Err(self.wrong(format!("the text ends where `,` or `{close}` is wanted"))),
            Some(_) => return Err(self.wrong(format!("`,` or `{close}` is wanted here"))),
        }
        Ok(())
    }

    fn list(
        &mut self,
        close: char,
        parts: impl Iterator<Item = (Part<'a>, &'a Type)>,
        count: usize,
        what: &str,
    ) -> Result<(), TypedError> {
        let start = self.at;
        let few = |r: &Self, given| r.wrong_at(start, format!("{given} {what} are given where {count} are wanted"));
        for (given, (part, ty)) in parts.enumerate() {
            if self.closes(close) {
                return Err(few(self, given));
            }
            self.inside(part, |r| r.value(ty))?;
            self.comma(close)?;
        }
        if self.closes(close) {
            Ok(())
        } else {
            Err(self.wrong(format!("more than the {count} {what} that are wanted")))
        }
    }

    fn array(&mut self, element: &'a Type, count: usize) -> Result<(), TypedError> {
        if *element == Type::Uint(8) {
            if self.rest().starts_with('"') {
                let (at, text) = self.word()?;
                return self.bytes(at, text.bytes(), count);
            }
            if let Some(rest) = self.rest().strip_prefix("hex:") {
                let digits = &rest[..rest.find(|c: char| !c.is_ascii_hexdigit()).unwrap_or(rest.len())];
                let at = self.at;
                self.at += "hex:".len() + digits.len();
                if digits.len() % 2 == 1 {
                    return Err(self.wrong("hex has two digits for each byte, and here their number is odd"));
                }
                let nibble = |c: u8| (c as char).to_digit(16).unwrap_or(0) as u8;
                let bytes = digits.as_bytes().chunks_exact(2).map(|two| nibble(two[0]) << 4 | nibble(two[1]));
                return self.bytes(at, bytes, count);
            }
        }
        if !self.rest().starts_with('[') {
            return Err(
                self.wrong(format!("an array of {count} values of the type {element} is wanted, as in [1, 2, 3]"))
            );
        }
        self.at += 1;
        self.list(']', indexed(std::iter::repeat_n(element, count)), count, "elements")
    }

    fn bytes(&mut self, at: usize, bytes: impl Iterator<Item = u8>, count: usize) -> Result<(), TypedError> {
        let before = self.out.len();
        bytes.for_each(|byte| (0..8).for_each(|i| self.out.push(byte >> i & 1 == 1)));
        match (self.out.len() - before) / 8 {
            given if given == count => Ok(()),
            given => Err(self.wrong_at(at, format!("{given} bytes are given where {count} are wanted"))),
        }
    }

    fn fields(&mut self, fields: &'a [(String, Type)]) -> Result<(), TypedError> {
        let start = self.at;
        // Fields come in any order, and their bits in the type's.
        let mut values: Vec<Option<Bits>> = vec![None; fields.len()];
        while !self.closes('}') {
            let (at, key) = self.word()?;
            let Some(index) = fields.iter().position(|(name, _)| name == key) else {
                let names = fields.iter().map(|(name, _)| name.as_str());
                return Err(self.wrong_at(at, no_field(key, names)));
            };
            let (name, ty) = &fields[index];
            if values[index].is_some() {
                return Err(self.wrong_at(at, format!("the field `{name}` is given twice")));
            }
            self.space();
            if !self.rest().starts_with(':') {
                return Err(self.wrong(format!("`:` is wanted after the field's name `{name}`")));
            }
            self.at += 1;
            let before = std::mem::take(&mut self.out);
            self.inside(Part::Field(name), |r| r.value(ty))?;
            values[index] = Some(std::mem::replace(&mut self.out, before));
            self.comma('}')?;
        }
        for ((name, ty), value) in fields.iter().zip(values) {
            let Some(value) = value else {
                return Err(self.wrong_at(start, format!("the field `{name}`, a {ty}, is missing")));
            };
            self.out.extend_from(&value);
        }
        Ok(())
    }

    /// Reads a word, or a text in quotes without these, and tells where it begins.
    fn word(&mut self) -> Result<(usize, &'a str), TypedError> {
        self.space();
        let (rest, at) = (self.rest(), self.at);
        if let Some(inner) = rest.strip_prefix('"') {
            let Some(end) = inner.find('"') else {
                return Err(self.wrong("the text in quotes does not end"));
            };
            if let Some(back) = inner[..end].find('\\') {
                return Err(
                    self.wrong_at(at + 1 + back, "a text in quotes is taken as it stands; `\\` is not possible in it")
                );
            }
            self.at += end + 2;
            return Ok((at + 1, &inner[..end]));
        }
        let end = rest.find(|c: char| c.is_whitespace() || ",:[](){}\"".contains(c)).unwrap_or(rest.len());
        // `bits:0101` is one word.
        let end = match &rest[..end] {
            "bits" if rest[end..].starts_with(':') => {
                let digits = &rest[end + 1..];
                end + 1 + digits.find(|c: char| !c.is_ascii_alphanumeric()).unwrap_or(digits.len())
            }
            _ => end,
        };
        self.at += end;
        Ok((at, &rest[..end]))
    }

    /// Reads a value that is no list of others, from its text, which stands at `at`.
    pub(super) fn scalar(&mut self, ty: &Type, at: usize, word: &str) -> Result<(), TypedError> {
        if word.is_empty() && !matches!(ty, Type::Bits(0)) {
            let object = self.text.get(at..).is_some_and(|rest| rest.starts_with('{'));
            let why = if object { ", and no object: the fields of one go into a struct" } else { "" };
            return Err(self.wrong_at(at, format!("a value of the type {} is wanted here{why}", ty.describe())));
        }
        match ty {
            Type::Uint(bits) => self.number(ty, at, word, *bits, false)?,
            Type::Int(bits) => self.number(ty, at, word, *bits, true)?,
            Type::Bool => match word {
                "true" | "1" => self.out.push(true),
                "false" | "0" => self.out.push(false),
                _ => return Err(self.wrong_at(at, "`true` or `false` is wanted")),
            },
            Type::Float(FloatWidth::F32) => {
                let value: f32 = self.float(at, word)?;
                self.out.extend_from(&Bits::from_bytes(&value.to_bits().to_le_bytes(), 32));
            }
            Type::Float(FloatWidth::F64) => {
                let value: f64 = self.float(at, word)?;
                self.out.extend_from(&Bits::from_bytes(&value.to_bits().to_le_bytes(), 64));
            }
            Type::Bits(bits) => {
                let told = |e: super::ValueError| e.to_string();
                let hex = word.strip_prefix("0x").filter(|_| !word.contains(':'));
                let value = match hex.map_or(word, |_| word) {
                    _ if *bits == 0 && word.is_empty() => Ok(Bits::default()),
                    text if hex.is_some() || text.starts_with("bits:") => {
                        super::parse(text, *bits, super::BitOrder::Lsb).map_err(told)
                    }
                    _ => Err(format!(
                        "{bits} bits are written as 0x and {} hex digits, or bits: and the wires",
                        bits.div_ceil(4)
                    )),
                };
                let value = value.map_err(|what| self.wrong_at(at, what))?;
                self.out.extend_from(&value);
            }
            Type::Array(..) | Type::Tuple(_) | Type::Struct { .. } => {
                return Err(self.wrong_at(at, format!("{} is wanted here", ty.describe())));
            }
        }
        Ok(())
    }

    fn number(&mut self, ty: &Type, at: usize, word: &str, bits: usize, signed: bool) -> Result<(), TypedError> {
        match number::parse(word, bits, signed) {
            Ok(value) => self.out.extend_from(&value),
            Err(NumberError::Range) => {
                let range = number::range(bits, signed);
                return Err(self.wrong_at(at, format!("the number does not fit {ty}, {range}")));
            }
            Err(NumberError::Character(_)) if matches!(word, "true" | "false") => {
                return Err(self.wrong_at(at, format!("a number of the type {ty} is wanted, not a bool")));
            }
            Err(NumberError::Character(_)) if word.contains('.') && word.parse::<f64>().is_ok() => {
                return Err(self.wrong_at(
                    at,
                    format!(
                        "a whole number of the type {ty} is wanted, and this number has a fraction: give it in a \
                            smaller unit, such as cents, or make the type f64"
                    ),
                ));
            }
            Err(NumberError::Character(i)) => {
                return Err(
                    self.wrong_at(at + i, format!("a number of the type {ty} is wanted: decimal, or hex after 0x"))
                );
            }
        }
        Ok(())
    }

    fn float<T: std::str::FromStr>(&self, at: usize, word: &str) -> Result<T, TypedError> {
        word.parse().map_err(|_| self.wrong_at(at, "a number such as 1.5, -2e-3, inf or NaN is wanted"))
    }
}

/// The message that there is no such field, and which one may have been meant.
pub(super) fn no_field<'a>(key: &str, names: impl Iterator<Item = &'a str> + Clone) -> String {
    let near = |name: &&str| damerau_levenshtein(name, key) <= key.chars().count() / 3;
    let shown: String = key.chars().take(40).flat_map(char::escape_debug).collect();
    let hint = match names.clone().filter(near).min_by_key(|name| damerau_levenshtein(name, key)) {
        Some(name) => format!("; did you mean `{name}`?"),
        None => String::new(),
    };
    let all: Vec<String> = names.map(|name| format!("`{name}`")).collect();
    format!("there is no field `{shown}`{hint} (the fields are {})", all.join(", "))
}
