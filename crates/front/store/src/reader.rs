//! `BatchReader`: a batch that is being used; and a look at one that is not yet.

use std::fs::{self, File};
use std::io::{self, ErrorKind, Read};
use std::path::PathBuf;
use std::sync::Arc;

use comity_core::Result;
use zeroize::Zeroizing;

use crate::folder::{Folder, failed};
use crate::seal::{CHUNK, Seal, TAG, Use};

/// A batch that is being used: nobody gets it again. It is deleted on drop.
///
/// No byte is given out that was not authenticated. In a damaged file the damaged chunk, and all after it,
/// give an [`io::Error`] of the kind [`ErrorKind::InvalidData`].
pub struct BatchReader {
    /// The store's lock.
    _folder: Arc<Folder>,
    chunks: Chunks,
}

impl BatchReader {
    /// Reads this file.
    pub(crate) fn new(folder: Arc<Folder>, path: PathBuf, file: File, seal: Seal) -> Result<BatchReader> {
        Ok(BatchReader { _folder: folder, chunks: Chunks::new(path, file, seal)? })
    }
}

impl Read for BatchReader {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        self.chunks.read(into)
    }
}

impl Drop for BatchReader {
    fn drop(&mut self) {
        // If this fails, opening the store removes it.
        let _ = fs::remove_file(&self.chunks.path);
    }
}

/// Reads all of a batch that is not used up by this, and gives out nothing of it.
///
/// # Errors
/// [`Store`](comity_core::Kind) if the file is damaged, or cannot be read.
pub(crate) fn check(path: PathBuf, seal: Seal) -> Result<()> {
    let cannot = |error| failed("cannot read", &path, error);
    let file = File::open(&path).map_err(cannot)?;
    let mut chunks = Chunks::new(path.clone(), file, seal)?;
    while chunks.state == State::More {
        chunks.next().map_err(cannot)?;
    }
    Ok(())
}

/// A sealed file, chunk after chunk.
struct Chunks {
    path: PathBuf,
    file: File,
    seal: Seal,
    /// Bytes of the file that are not read yet.
    left: u64,
    buffer: Zeroizing<Vec<u8>>,
    /// The part of the buffer that is plain text not given out yet.
    fresh: std::ops::Range<usize>,
    state: State,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum State {
    More,
    Ended,
    Damaged,
}

impl Chunks {
    fn new(path: PathBuf, file: File, seal: Seal) -> Result<Chunks> {
        let left = file.metadata().map_err(|error| failed("cannot read", &path, error))?.len();
        let buffer = Zeroizing::new(vec![0; CHUNK + TAG]);
        Ok(Chunks { path, file, seal, left, buffer, fresh: 0..0, state: State::More })
    }

    /// Decrypts the next chunk.
    fn next(&mut self) -> io::Result<()> {
        let len = self.left.min((CHUNK + TAG) as u64) as usize;
        // The length is not authenticated, but which chunk is the last one is: this guess is tried.
        let last = self.left == len as u64;
        self.state = State::Damaged;
        let bytes = &mut self.buffer[..len];
        self.file.read_exact(bytes)?;
        let plain = self.seal.open(if last { Use::Last } else { Use::Chunk }, bytes);
        self.fresh = 0..plain.ok_or_else(|| damaged(&self.path))?.len();
        self.left -= len as u64;
        self.state = if last { State::Ended } else { State::More };
        Ok(())
    }
}

fn damaged(path: &std::path::Path) -> io::Error {
    io::Error::new(ErrorKind::InvalidData, format!("{} is damaged", path.display()))
}

impl Read for Chunks {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        while self.fresh.is_empty() && !into.is_empty() {
            match self.state {
                State::More => self.next()?,
                State::Ended => return Ok(0),
                State::Damaged => return Err(damaged(&self.path)),
            }
        }
        let some = into.len().min(self.fresh.len());
        into[..some].copy_from_slice(&self.buffer[self.fresh.start..][..some]);
        self.fresh.start += some;
        Ok(some)
    }
}
