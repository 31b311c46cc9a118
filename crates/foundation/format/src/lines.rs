//! Lines and the numbers in them.

use std::io::{BufRead, Read};

use crate::error::{Malformation, ReadError};

/// The longest line that is read: a MAND of tens of thousands of gates.
const LONGEST: usize = 1 << 20;

/// The lines of a file that hold something, without comments.
pub(super) struct Lines<R> {
    from: R,
    bytes: Vec<u8>,
    /// The part of the line before a comment.
    end: usize,
    number: u64,
    unread: bool,
}

/// A line of a file.
#[derive(Clone, Copy)]
pub(super) struct Line<'a> {
    bytes: &'a [u8],
    pub(super) number: u64,
}

/// A header line: its numbers, each with its column.
pub(super) struct Header {
    pub(super) numbers: Vec<u64>,
    pub(super) line: u64,
}

impl<R: BufRead> Lines<R> {
    pub(super) fn new(from: R) -> Lines<R> {
        Lines { from, bytes: Vec::new(), end: 0, number: 0, unread: false }
    }

    /// The next line that is not blank; `None` at the end of the file.
    pub(super) fn next(&mut self) -> Result<Option<Line<'_>>, ReadError> {
        while !std::mem::take(&mut self.unread) {
            self.bytes.clear();
            self.end = 0;
            self.number += 1;
            let limit = LONGEST as u64 + 1;
            if self.from.by_ref().take(limit).read_until(b'\n', &mut self.bytes)? == 0 {
                return Ok(None);
            }
            let line = Line { bytes: &self.bytes, number: self.number };
            if self.bytes.len() > LONGEST {
                return Err(line.error(Malformation::LineTooLong { limit: LONGEST }));
            }
            if let Err(error) = std::str::from_utf8(&self.bytes) {
                return Err(line.error_at(error.valid_up_to(), Malformation::NotUtf8));
            }
            self.end = content(&self.bytes).len();
            if self.bytes[..self.end].iter().any(|byte| !byte.is_ascii_whitespace()) {
                break;
            }
        }
        Ok((self.end > 0).then_some(Line { bytes: &self.bytes[..self.end], number: self.number }))
    }

    /// Puts the last line back: the next call of [`Lines::next`] gives it again.
    pub(super) fn unread(&mut self) {
        self.unread = true;
    }

    /// The line last read, or the one after the last at the end of the file.
    pub(super) fn here(&self) -> u64 {
        self.number
    }

    /// The next line, all of numbers.
    pub(super) fn header(&mut self, expected: &'static str) -> Result<Header, ReadError> {
        match self.next()? {
            Some(line) => Ok(Header { numbers: line.numbers()?, line: line.number }),
            None => Err(malformed(self.here(), Malformation::HeaderMissing { expected })),
        }
    }
}

impl Header {
    /// An error of this line.
    pub(super) fn error(&self, what: Malformation) -> ReadError {
        malformed(self.line, what)
    }
}

/// An error of a whole line.
pub(super) fn malformed(line: u64, what: Malformation) -> ReadError {
    ReadError::Malformed { line, column: None, what }
}

impl<'a> Line<'a> {
    /// The words of the line, each with the byte where it starts.
    pub(super) fn words(self) -> impl Iterator<Item = (usize, &'a [u8])> {
        let mut at = 0;
        std::iter::from_fn(move || {
            at += self.bytes[at..].iter().position(|byte| !byte.is_ascii_whitespace())?;
            let rest = &self.bytes[at..];
            let end = rest.iter().position(u8::is_ascii_whitespace).unwrap_or(rest.len());
            let word = (at, &rest[..end]);
            at += end;
            Some(word)
        })
    }

    /// Whether the last word is a gate's name.
    pub(super) fn ends_in_a_name(self) -> bool {
        self.words().last().is_some_and(|(_, word)| word.iter().all(u8::is_ascii_uppercase))
    }

    /// The line as numbers.
    pub(super) fn numbers(self) -> Result<Vec<u64>, ReadError> {
        self.words().map(|(at, word)| self.number(at, word)).collect()
    }

    pub(super) fn number(self, at: usize, word: &[u8]) -> Result<u64, ReadError> {
        let mut number = 0u64;
        for &byte in word {
            if !byte.is_ascii_digit() {
                return Err(self.error_at(at, Malformation::NotANumber { found: shown(word) }));
            }
            number = number
                .checked_mul(10)
                .and_then(|number| number.checked_add(u64::from(byte - b'0')))
                .ok_or_else(|| self.error_at(at, Malformation::NumberTooLarge))?;
        }
        Ok(number)
    }

    pub(super) fn error(self, what: Malformation) -> ReadError {
        malformed(self.number, what)
    }

    pub(super) fn error_at(self, at: usize, what: Malformation) -> ReadError {
        ReadError::Malformed { line: self.number, column: Some(at + 1), what }
    }
}

/// The part of a line before a comment.
fn content(line: &[u8]) -> &[u8] {
    let starts = |i: usize| line[i] == b'#' || line[i..].starts_with(b"//");
    let end =
        line.iter().enumerate().filter(|(_, byte)| matches!(byte, b'#' | b'/')).map(|(i, _)| i).find(|&i| starts(i));
    &line[..end.unwrap_or(line.len())]
}

/// A word of a file, safe and short enough for a message.
pub(super) fn shown(word: &[u8]) -> String {
    let text = String::from_utf8_lossy(word);
    let start: String = text.chars().take(20).flat_map(char::escape_debug).collect();
    if text.chars().nth(20).is_some() { start + "…" } else { start }
}
