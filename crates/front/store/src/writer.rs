//! `LotWriter`: a lot in the making, and `BatchWriter`: a batch of it.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use comity_core::{Error, Result};
use zeroize::Zeroizing;

use crate::folder::{self, Folder, failed};
use crate::lot::{Busy, destroy};
use crate::record::{self, Record, State};
use crate::seal::{CHUNK, Seal, TAG, Use};

/// A lot in the making: batches, one after another. It exists once [`LotWriter::finish`] has returned;
/// dropped before that, it leaves nothing.
pub struct LotWriter {
    folder: Arc<Folder>,
    record: Record,
    batches: u32,
    bytes: u64,
    /// Whether a batch could not be written: then nothing more is.
    broken: bool,
    finished: bool,
    _busy: Busy,
}

impl LotWriter {
    pub(crate) fn new(folder: Arc<Folder>, record: Record, busy: Busy) -> LotWriter {
        LotWriter { folder, record, batches: 0, bytes: 0, broken: false, finished: false, _busy: busy }
    }

    /// Writes the next batch, as `write` gives it piece by piece. It is on the disk when this returns. One
    /// call of [`OpenLot::take`](crate::OpenLot::take) will give it out.
    ///
    /// # Errors
    /// The errors of `write`; [`Store`](comity_core::Kind) if the disk refuses or has refused before, or if
    /// the lot has 2^32 - 1 batches already.
    pub fn batch(&mut self, write: impl FnOnce(&mut BatchWriter) -> Result<()>) -> Result<()> {
        let number = self.batches;
        if self.broken || number == u32::MAX {
            return Err(Error::store("a batch could not be written, or the lot has 2^32 - 1 of them"));
        }
        // What a batch's key has encrypted is not written again under it with other bytes.
        self.broken = true;
        let path = record::batch_path(&self.folder, &self.record.meta.id, number);
        let mut writer = BatchWriter::new(folder::create(&path)?, self.record.seal.batch(number));
        write(&mut writer)?;
        self.bytes += writer.finish().map_err(|error| failed("cannot write", &path, error))?;
        (self.batches, self.broken) = (number + 1, false);
        Ok(())
    }

    /// Completes the lot; it is on the disk when this returns. Returns its size on the disk, in bytes.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses, or a batch could not be written: then the lot does
    /// not exist.
    pub fn finish(mut self) -> Result<u64> {
        if self.broken {
            return Err(Error::store("a batch of the lot could not be written"));
        }
        // The record names the batches, so their names have to be on the disk before it.
        self.folder.sync()?;
        self.bytes += self.record.write(&self.folder, State { next: 0, batches: self.batches, pending: false })?;
        self.finished = true;
        Ok(self.bytes)
    }
}

impl Drop for LotWriter {
    fn drop(&mut self) {
        if !self.finished {
            // If this fails, opening the store does it.
            let _ = destroy(&self.folder, &self.record.meta.id);
        }
    }
}

/// A batch in the making: its bytes are encrypted chunk by chunk.
pub struct BatchWriter {
    file: File,
    seal: Seal,
    /// The bytes that are not on their way yet: up to a chunk.
    buffer: Zeroizing<Vec<u8>>,
    bytes: u64,
    /// Whether a chunk could not be written: then nothing more is.
    broken: bool,
}

impl BatchWriter {
    fn new(file: File, seal: Seal) -> BatchWriter {
        let buffer = Zeroizing::new(Vec::with_capacity(CHUNK + TAG));
        BatchWriter { file, seal, buffer, bytes: 0, broken: false }
    }

    /// Completes the batch, all of it on the disk. A batch without bytes is one empty chunk. Returns the bytes there.
    fn finish(mut self) -> io::Result<u64> {
        self.put(Use::Last)?;
        self.file.sync_all()?;
        Ok(self.bytes)
    }

    /// Encrypts the buffer, and writes it.
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

impl Write for BatchWriter {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        // The last chunk goes out at the end, so a full one waits for a byte after it.
        if self.broken || (self.buffer.len() == CHUNK && !bytes.is_empty()) {
            self.put(Use::Chunk)?;
        }
        let some = bytes.len().min(CHUNK - self.buffer.len());
        self.buffer.extend_from_slice(&bytes[..some]);
        Ok(some)
    }

    /// Does nothing: only the end of the batch has it on the disk.
    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
