//! `DealWriter`: a deal in the making.

use std::fs::File;
use std::io::{self, Write};
use std::sync::Arc;

use comity_core::{Error, Result};
use zeroize::Zeroizing;

use super::record::{self, Record, State};
use super::{Busy, destroy};
use crate::folder::{self, Folder, failed};
use crate::seal::{CHUNK, HEAD, Seal, TAG, Use};

/// A deal in the making: blocks, one after another. It is there when [`DealWriter::finish`] returns; dropped before that it
/// leaves nothing.
pub struct DealWriter {
    folder: Arc<Folder>,
    record: Record,
    blocks: u32,
    bytes: u64,
    /// Whether a block could not be written: then nothing more is.
    broken: bool,
    finished: bool,
    _busy: Busy,
}

impl DealWriter {
    pub(super) fn new(folder: Arc<Folder>, record: Record, busy: Busy) -> DealWriter {
        DealWriter { folder, record, blocks: 0, bytes: HEAD as u64, broken: false, finished: false, _busy: busy }
    }

    /// The next block: one call of [`Deal::take`](crate::Deal::take) will give it. It is on the disk when this returns.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses or refused before, or there are 2^32 - 1 blocks already.
    pub fn block(&mut self, bytes: &[u8]) -> Result<()> {
        let number = self.blocks;
        if self.broken || number == u32::MAX {
            return Err(Error::store("a block could not be written, or the deal has 2^32 - 1 of them"));
        }
        // What a block's key has encrypted is not written again under it with other bytes.
        self.broken = true;
        let path = record::block_path(&self.folder, &self.record.meta.id, number);
        let mut file = folder::create(&path)?;
        let written = write(&mut file, self.record.seal.part(number), bytes);
        let written = written.and_then(|bytes| file.sync_all().map(|()| bytes));
        self.bytes += written.map_err(|error| failed("cannot write", &path, error))?;
        (self.blocks, self.broken) = (number + 1, false);
        Ok(())
    }

    /// Completes the deal; it is on the disk when this returns. Returns its size on the disk, in bytes.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the disk refuses, or a block could not be written: then the deal is not there.
    pub fn finish(mut self) -> Result<u64> {
        if self.broken {
            return Err(Error::store("a block of the deal could not be written"));
        }
        // The record names the blocks, so their names have to be on the disk before it.
        self.folder.sync()?;
        self.record.write(&self.folder, State { next: 0, blocks: self.blocks, pending: false })?;
        self.finished = true;
        Ok(self.bytes)
    }
}

/// Encrypts and writes a block; returns the bytes written.
fn write(file: &mut File, mut seal: Seal, bytes: &[u8]) -> io::Result<u64> {
    let mut written = 0;
    let mut chunks = bytes.chunks(CHUNK).peekable();
    let mut buffer = Zeroizing::new(Vec::with_capacity(CHUNK + TAG));
    loop {
        // A block without bytes is one empty chunk.
        buffer.extend_from_slice(chunks.next().unwrap_or_default());
        let last = chunks.peek().is_none();
        seal.seal(if last { Use::Last } else { Use::Chunk }, &mut buffer);
        file.write_all(&buffer)?;
        written += buffer.len() as u64;
        if last {
            return Ok(written);
        }
        buffer.clear();
    }
}

impl Drop for DealWriter {
    fn drop(&mut self) {
        if !self.finished {
            // If this fails, opening the store does it.
            let _ = destroy(&self.folder, &self.record.meta.id);
        }
    }
}
