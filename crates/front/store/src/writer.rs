//! `Writer`: an entry in the making.

use std::fs::{self, File};
use std::io::{self, Write};
use std::sync::Arc;

use comity_core::{Result, SessionId};
use zeroize::Zeroize;

use crate::folder::{self, Folder, Stage, failed};
use crate::seal::{CHUNK, Seal, TAG, Use};

/// An entry in the making. Dropped before [`Writer::finish`] it leaves nothing.
pub struct Writer {
    folder: Arc<Folder>,
    id: SessionId,
    file: File,
    seal: Seal,
    /// What is not on its way yet: up to a chunk.
    buffer: Vec<u8>,
    bytes: u64,
    /// Whether a chunk could not be written: then nothing more is.
    broken: bool,
    finished: bool,
}

impl Writer {
    pub(crate) fn new(folder: Arc<Folder>, id: SessionId, head: &[u8], seal: Seal) -> Result<Writer> {
        let path = folder.path(&id, Stage::Partial);
        let file = folder::create(&path)?;
        let buffer = Vec::with_capacity(CHUNK + TAG);
        let mut writer =
            Writer { folder, id, file, seal, buffer, bytes: head.len() as u64, broken: false, finished: false };
        writer.file.write_all(head).map_err(|error| failed("cannot write", &path, error))?;
        Ok(writer)
    }

    /// Completes the entry; it is on the disk when this returns. Returns its size on the disk, in bytes.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses; then the entry is not there.
    pub fn finish(mut self) -> Result<u64> {
        let path = self.folder.path(&self.id, Stage::Partial);
        let written = self.put(Use::Last).and_then(|()| self.file.sync_all());
        written.map_err(|error| failed("cannot write", &path, error))?;
        // From here on there is nothing that a drop should remove.
        self.finished = true;
        self.folder.promote(&self.id, Stage::Partial, Stage::Ready)?;
        Ok(self.bytes)
    }

    /// Encrypts what is in the buffer, and writes it.
    fn put(&mut self, for_: Use) -> io::Result<()> {
        if self.broken {
            return Err(io::Error::other("an earlier part could not be written"));
        }
        self.broken = true;
        self.seal.seal(for_, &mut self.buffer);
        self.file.write_all(&self.buffer)?;
        self.bytes += self.buffer.len() as u64;
        self.buffer.clear();
        self.broken = false;
        Ok(())
    }
}

impl Write for Writer {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The last chunk goes out at the end, so a full one waits for a byte after it.
        if self.broken || (self.buffer.len() == CHUNK && !bytes.is_empty()) {
            self.put(Use::Chunk)?;
        }
        let some = bytes.len().min(CHUNK - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..some]);
        Ok(some)
    }

    /// Does nothing: only [`Writer::finish`] makes an entry.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Drop for Writer {
    fn drop(&mut self) {
        self.buffer.zeroize();
        if !self.finished {
            // If this fails, opening the store removes it.
            let _ = fs::remove_file(self.folder.path(&self.id, Stage::Partial));
        }
    }
}
