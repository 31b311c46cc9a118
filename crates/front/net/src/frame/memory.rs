//! Frames that lie in memory, for those who test what becomes of them.

use std::cell::RefCell;

use comity_core::{Error, Result};

use super::{FrameReader, Source, Wait};

/// A stream in memory, read in pieces of bounded size.
pub(super) struct Memory<'a>(pub(super) &'a [u8], pub(super) usize);

impl Source for Memory<'_> {
    fn read(&mut self, into: &mut [u8], _wait: Wait) -> Result<usize> {
        let count = self.0.len().min(into.len()).min(self.1);
        assert!(!into.is_empty(), "a read must be able to go on");
        if count == 0 {
            return Err(Error::closed());
        }
        let (now, later) = self.0.split_at(count);
        into[..count].copy_from_slice(now);
        self.0 = later;
        Ok(count)
    }
}

/// Takes a stream of frames apart, receiving the numbers of bytes that `pieces` gives. Returns the bytes
/// received up to the first receive that did not get all of its bytes, and why that failed. Not for users:
/// fuzzing reads frames by this, thousands of times as often as sockets let it.
#[doc(hidden)]
pub fn unframe(stream: &[u8], pieces: impl IntoIterator<Item = usize>) -> (Vec<u8>, Option<Error>) {
    // To make a reader's buffer takes longer than to read most streams.
    thread_local!(static READER: RefCell<FrameReader> = RefCell::new(FrameReader::new()));
    READER.with_borrow_mut(|reader| {
        reader.restart();
        let (mut source, mut got) = (Memory(stream, usize::MAX), Vec::new());
        for piece in pieces {
            let before = got.len();
            got.resize(before + piece, 0);
            if let Err(error) = reader.recv(&mut source, &mut got[before..]) {
                got.truncate(before);
                return (got, Some(error));
            }
        }
        (got, None)
    })
}
