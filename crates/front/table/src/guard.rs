//! `Guard`: a reader between a text and its parser, which sees what the parser does not tell.

use std::cell::Cell;
use std::io::{self, Read};
use std::rc::Rc;

/// Bytes of a record at most, but for what a buffer holds: a quote that is not closed ends there, and so does a field of a gigabyte.
pub(crate) const MOST: u64 = 16 << 20;

/// What a guard has seen.
#[derive(Default)]
pub(crate) struct Seen {
    /// Bytes since the last record ended.
    pub(crate) since: Cell<u64>,
    /// Whether the number of quotes is odd.
    pub(crate) odd: Cell<bool>,
    /// Whether there was a byte that no text has.
    pub(crate) nul: Cell<bool>,
}

/// A reader that fails where a record grows too long.
pub(crate) struct Guard<R> {
    inner: R,
    seen: Rc<Seen>,
}

impl<R: Read> Guard<R> {
    pub(crate) fn new(inner: R) -> (Guard<R>, Rc<Seen>) {
        let seen = Rc::new(Seen::default());
        (Guard { inner, seen: Rc::clone(&seen) }, seen)
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
        let quotes = memchr::memchr_iter(b'"', bytes).count();
        self.seen.odd.set(self.seen.odd.get() ^ (quotes % 2 == 1));
        if memchr::memchr(0, bytes).is_some() {
            self.seen.nul.set(true);
        }
        Ok(count)
    }
}

/// The words for a record that is too long.
pub(crate) fn too_long() -> String {
    format!("a record has more than {} MiB: is a quote not closed, or is this no table?", MOST >> 20)
}
