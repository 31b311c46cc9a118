//! JSON, read piece by piece: what nobody needs is passed over and never held.

use super::netlist::{Result, check_name, wrong};

/// The deepest nesting that is passed over.
const DEEPEST: usize = 64;

pub(super) struct Json<'a> {
    text: &'a str,
    at: usize,
}

impl<'a> Json<'a> {
    pub(super) fn new(text: &'a str) -> Json<'a> {
        Json { text, at: 0 }
    }

    /// The place where the next piece begins.
    pub(super) fn at(&mut self) -> usize {
        let rest = &self.text[self.at..];
        self.at = self.text.len() - rest.trim_start_matches([' ', '\t', '\r', '\n']).len();
        self.at
    }

    /// The first byte of the next piece; zero at the end.
    pub(super) fn peek(&mut self) -> u8 {
        let at = self.at();
        self.text.as_bytes().get(at).copied().unwrap_or(0)
    }

    fn expect(&mut self, byte: u8) -> Result<()> {
        if self.peek() == byte {
            self.at += 1;
            return Ok(());
        }
        let what = if self.at == self.text.len() { "the file ends where" } else { "something else stands where" };
        wrong(self.at, format!("{what} `{}` is wanted", byte as char))
    }

    /// Calls `member` for each member of an object, with the place and text of its key; it has to read the value.
    pub(super) fn object(&mut self, mut member: impl FnMut(&mut Self, usize, String) -> Result<()>) -> Result<()> {
        self.list(b'{', b'}', |json| {
            let (at, key) = (json.at(), json.string()?);
            check_name(at, &key)?;
            json.expect(b':')?;
            member(json, at, key)
        })
    }

    /// Calls `element` for each element of an array; it has to read it.
    pub(super) fn array(&mut self, element: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.list(b'[', b']', element)
    }

    fn list(&mut self, open: u8, close: u8, mut element: impl FnMut(&mut Self) -> Result<()>) -> Result<()> {
        self.expect(open)?;
        if self.peek() == close {
            self.at += 1;
            return Ok(());
        }
        loop {
            element(self)?;
            if self.peek() != b',' {
                return self.expect(close);
            }
            self.at += 1;
        }
    }

    pub(super) fn string(&mut self) -> Result<String> {
        self.expect(b'"')?;
        let (start, mut text) = (self.at, String::new());
        let mut chars = self.text[start..].char_indices();
        while let Some((i, c)) = chars.next() {
            match c {
                '"' => {
                    self.at = start + i + 1;
                    return Ok(text);
                }
                '\\' => {
                    let escaped = chars.next().map(|(_, c)| c);
                    text.push(match escaped {
                        Some(c @ ('"' | '\\' | '/')) => c,
                        Some('b') => '\u{8}',
                        Some('f') => '\u{c}',
                        Some('n') => '\n',
                        Some('r') => '\r',
                        Some('t') => '\t',
                        Some('u') => {
                            let digits: Option<u32> =
                                (0..4).try_fold(0, |code, _| Some(16 * code + chars.next()?.1.to_digit(16)?));
                            match digits {
                                // Half of a pair stands for itself; no name needs it.
                                Some(code) => char::from_u32(code).unwrap_or(char::REPLACEMENT_CHARACTER),
                                None => return wrong(start + i, "four hex digits are wanted after `\\u`"),
                            }
                        }
                        _ => return wrong(start + i, "an escape that JSON does not have"),
                    });
                }
                c if c < ' ' => return wrong(start + i, "a control character in a string"),
                c => text.push(c),
            }
        }
        wrong(start - 1, "the string does not end")
    }

    /// Reads a whole number that is not negative.
    pub(super) fn number(&mut self) -> Result<u64> {
        let at = self.at();
        let rest = &self.text[at..];
        let end = rest.find(|c: char| !c.is_ascii_digit()).unwrap_or(rest.len());
        match rest[..end].parse() {
            Ok(number) if !rest[end..].starts_with(['.', 'e', 'E']) => {
                self.at = at + end;
                Ok(number)
            }
            _ => wrong(at, "a whole number is wanted"),
        }
    }

    /// Passes over a value.
    pub(super) fn skip(&mut self) -> Result<()> {
        self.skip_inside(0)
    }

    fn skip_inside(&mut self, depth: usize) -> Result<()> {
        let at = self.at();
        if depth > DEEPEST {
            return wrong(at, format!("more than {DEEPEST} lists inside each other"));
        }
        match self.peek() {
            b'{' => self.object(|json, _, _| json.skip_inside(depth + 1)),
            b'[' => self.array(|json| json.skip_inside(depth + 1)),
            b'"' => self.string().map(drop),
            _ => {
                let rest = &self.text[at..];
                let end = rest.find(|c: char| !c.is_ascii_alphanumeric() && !"+-.".contains(c)).unwrap_or(rest.len());
                self.at = at + end;
                if end == 0 { wrong(at, "a value is wanted") } else { Ok(()) }
            }
        }
    }

    /// Checks that nothing but blanks follows.
    pub(super) fn end(&mut self) -> Result<()> {
        let at = self.at();
        if at == self.text.len() { Ok(()) } else { wrong(at, "there is more after the end") }
    }
}
