//! `Guard`: a reader between a text and its parser, which sees what the parser does not tell.

use std::cell::{Cell, RefCell};
use std::collections::VecDeque;
use std::io::{self, Read};
use std::rc::Rc;

use crate::error::Error;

/// The most bytes of a record, up to the size of a buffer: a quote that is not closed ends there, and so does
/// a field of a gigabyte.
pub(crate) const MOST: u64 = 16 << 20;

/// The findings of a guard.
#[derive(Default)]
pub(crate) struct Seen {
    /// Bytes since the last record ended.
    pub(crate) since: Cell<u64>,
    /// Whether there was a byte that no text has.
    pub(crate) nul: Cell<bool>,
    /// The records that are before each blank line which the parser has not passed yet.
    blank: RefCell<VecDeque<u64>>,
}

impl Seen {
    /// The number of blank lines that the parser passed before it had `records` records.
    pub(crate) fn passed(&self, records: u64) -> u64 {
        let mut blank = self.blank.borrow_mut();
        let passed = blank.iter().take_while(|before| **before < records).count();
        blank.drain(..passed);
        passed as u64
    }
}

/// A reader that fails where a record grows too long, and at a quote where none may be: the parser would take
/// it for a part of the field, or make one record of several.
pub(crate) struct Guard<R> {
    inner: R,
    seen: Rc<Seen>,
    quotes: Quotes,
}

impl<R: Read> Guard<R> {
    /// A guard of fields with this delimiter between them, if quotes have a meaning.
    pub(crate) fn new(inner: R, delimiter: Option<u8>) -> (Guard<R>, Rc<Seen>) {
        let seen = Rc::new(Seen::default());
        let quotes = Quotes { delimiter, line: 1, before: b'\n', open: None, closed: false, records: 0 };
        (Guard { inner, seen: Rc::clone(&seen), quotes }, seen)
    }
}

impl<R: Read> Read for Guard<R> {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        if self.seen.since.get() > MOST {
            return Err(io::Error::other(too_long()));
        }
        let count = self.inner.read(into)?;
        let bytes = &into[..count];
        self.seen.since.set(self.seen.since.get() + count as u64);
        let mut blank = self.seen.blank.borrow_mut();
        let checked =
            if count > 0 || into.is_empty() { self.quotes.check(bytes, &mut blank) } else { self.quotes.end() };
        checked
            .map_err(|error| io::Error::other(error.and("If quotes have no meaning in this file, add --no-quoting")))?;
        if memchr::memchr(0, bytes).is_some() {
            self.seen.nul.set(true);
        }
        Ok(count)
    }
}

/// Where quotes may be: one opens a field at its very beginning, two in a field stand for one, and behind the
/// one that closes it come a delimiter, the end of the line or of the file. A line without a byte outside of
/// quotes is blank, and no record.
struct Quotes {
    /// The byte between fields; `None` if quotes have no meaning.
    delimiter: Option<u8>,
    /// The line of the next byte.
    line: u64,
    /// The last byte.
    before: u8,
    /// The line in which the field's quote was opened that is not closed.
    open: Option<u64>,
    /// Whether the last byte is a quote in a field: it closes it, or is the first of two.
    closed: bool,
    /// The records that have ended.
    records: u64,
}

impl Quotes {
    /// Looks at the next bytes of the text, and adds its blank lines.
    fn check(&mut self, bytes: &[u8], blank: &mut VecDeque<u64>) -> Result<(), Error> {
        if self.delimiter.is_none() {
            return self.pass(bytes, blank);
        }
        let mut from = 0;
        for at in memchr::memchr_iter(b'"', bytes) {
            self.pass(&bytes[from..at], blank)?;
            from = at + 1;
            match self.open {
                // The second of two.
                Some(_) if self.closed => self.closed = false,
                Some(_) => self.closed = true,
                None if self.starts() => self.open = Some(self.line),
                None => return Err(self.wrong("a field has a quote (\") inside, but does not begin with one")),
            }
            self.before = b'"';
        }
        self.pass(&bytes[from..], blank)
    }

    /// Takes bytes that are no quotes.
    fn pass(&mut self, bytes: &[u8], blank: &mut VecDeque<u64>) -> Result<(), Error> {
        let (Some(first), Some(last)) = (bytes.first(), bytes.last()) else { return Ok(()) };
        let mut before = self.before;
        if self.closed {
            self.before = *first;
            if !self.starts() {
                return Err(self.wrong(
                    "after the quote (\") that closes a field there must be the delimiter or the end of the line",
                ));
            }
            (self.closed, self.open) = (false, None);
        }
        self.before = *last;
        self.line += memchr::memchr_iter(b'\n', bytes).count() as u64;
        if self.open.is_none() {
            for at in memchr::memchr2_iter(b'\n', b'\r', bytes) {
                before = if at == 0 { before } else { bytes[at - 1] };
                match (before, bytes[at]) {
                    // One end of a line, in two bytes.
                    (b'\r', b'\n') => {}
                    (b'\n' | b'\r', _) => blank.push_back(self.records),
                    _ => self.records += 1,
                }
            }
        }
        Ok(())
    }

    /// Whether a field begins behind the last byte.
    fn starts(&self) -> bool {
        matches!(self.before, b'\n' | b'\r') || self.delimiter == Some(self.before)
    }

    /// The text ends here.
    fn end(&self) -> Result<(), Error> {
        match self.open {
            Some(line) if !self.closed => Err(Error::new(format!(
                "line {line}: a quote (\") is not closed, so the rest of the file would be one field"
            ))),
            _ => Ok(()),
        }
    }

    fn wrong(&self, what: &str) -> Error {
        Error::new(format!("line {}: {what}", self.line))
    }
}

/// The words for a record that is too long.
pub(crate) fn too_long() -> String {
    format!("a record has more than {} MiB: a quote may be unclosed, or the file is not a table", MOST >> 20)
}
