//! The bytes of a batch of tables at one party: a head, and then what a run takes, in the order in which it
//! takes it.
//!
//! They are as secret as the inputs of the run. Encrypting them, and using them once, is for whoever stores
//! them: two runs on the same tables show the sum of their inputs.

use std::collections::VecDeque;
use std::io::{self, Read, Write};

use comity_core::{Bits, Block, Error, PartyId, Result, SessionId};
use comity_protocol::BatchForm;
use comity_share::bits::BitShares;
use zeroize::Zeroizing;

/// The head of a batch of tables, behind the beginning of its form.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TablesHead {
    /// The session in which it was made; the same at the peer.
    pub deal: SessionId,
    /// The digest of the program that it is for, and of what is looked up in it.
    pub program: [u8; 32],
    /// The party whose part it is.
    pub party: PartyId,
}

impl TablesHead {
    /// Bytes of a head, with those of the form.
    pub const BYTES: u64 = 16 + 32 + 32 + 1;

    /// Writes the beginning of a batch of this form, and the head.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind).
    pub fn write(&self, form: &BatchForm, to: &mut dyn Write) -> Result<()> {
        form.begin(to)?;
        form.put(to, &self.deal.to_bytes())?;
        form.put(to, &self.program)?;
        form.put(to, &[self.party.0 as u8])
    }

    /// Reads the head of a batch for this party and program.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if the batch is for another program or party, or damaged.
    pub fn read(from: &mut Tables<'_>, program: [u8; 32], party: PartyId) -> Result<TablesHead> {
        let (mut deal, mut of, mut whose) = ([0; 32], [0; 32], [0]);
        from.form.begins(&mut from.bytes)?;
        from.take(&mut deal)?;
        from.take(&mut of)?;
        from.take(&mut whose)?;
        if of != program {
            return Err(Error::store(
                "the tables are for another program, or look up other parts of it whole: prepare tables for this one",
            ));
        }
        if u16::from(whose[0]) != party.0 {
            return Err(Error::store(format!("the tables are party {}'s, and this is party {party}", whose[0])));
        }
        Ok(TablesHead { deal: SessionId::new(deal), program, party })
    }
}

/// Writes bits of a batch, in whole bytes.
pub(crate) fn put_bits(form: &BatchForm, to: &mut dyn Write, bits: &BitShares) -> Result<()> {
    let mut bytes = Zeroizing::new(vec![0; bits.len().div_ceil(8)]);
    bits.put_bytes(&mut bytes);
    form.put(to, &bytes)
}

/// A batch of tables that is read: what a run needs next comes next. What was read is wiped.
pub struct Tables<'r> {
    form: &'static BatchForm,
    bytes: Buffered<'r>,
    /// What was read last.
    room: Zeroizing<Vec<u8>>,
}

impl<'r> Tables<'r> {
    /// Tables of this form, from a reader that has nothing else.
    pub fn new(form: &'static BatchForm, from: Box<dyn Read + Send + 'r>) -> Tables<'r> {
        let buffer = Zeroizing::new(vec![Block::ZERO; Buffered::BLOCKS].into_boxed_slice());
        Tables { form, bytes: Buffered { from, buffer, start: 0, end: 0 }, room: Zeroizing::default() }
    }

    /// Fills these bytes.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if there are no more.
    pub fn take(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.form.take(&mut self.bytes, bytes)
    }

    /// The next bytes, `len` of them.
    ///
    /// # Errors
    /// As [`Tables::take`].
    pub fn next(&mut self, len: usize) -> Result<&[u8]> {
        if self.room.len() < len {
            // Memory that is moved is not wiped where it was.
            self.room = Zeroizing::new(vec![0; len]);
        }
        let next = &mut self.room[..len];
        self.form.take(&mut self.bytes, next)?;
        Ok(next)
    }

    /// The next bits, as many as there are in `bits`.
    ///
    /// # Errors
    /// As [`Tables::take`].
    pub fn fill(&mut self, bits: &mut BitShares) -> Result<()> {
        bits.put_in(self.next(bits.len().div_ceil(8))?);
        Ok(())
    }

    /// The next bits.
    ///
    /// # Errors
    /// As [`Tables::take`].
    pub fn bits(&mut self, count: usize) -> Result<Bits> {
        self.form.take_bits(&mut self.bytes, count)
    }

    /// Checks that the run has used the whole batch.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if there is more.
    pub fn ended(mut self) -> Result<()> {
        self.form.ends(&mut self.bytes)
    }

    /// The error of tables in which this is wrong.
    pub(crate) fn damaged(&self, what: &str) -> Error {
        self.form.damaged(what)
    }
}

/// A reader whose buffer is wiped.
struct Buffered<'r> {
    from: Box<dyn Read + Send + 'r>,
    buffer: Zeroizing<Box<[Block]>>,
    /// The bytes of the buffer that were not taken yet.
    start: usize,
    end: usize,
}

impl Buffered<'_> {
    /// Blocks of the buffer: 16 KiB.
    const BLOCKS: usize = 1 << 10;
}

impl Read for Buffered<'_> {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let buffer = Block::bytes_of_mut(&mut self.buffer);
        if self.start == self.end {
            if bytes.len() >= buffer.len() {
                return self.from.read(bytes);
            }
            (self.start, self.end) = (0, 0);
            self.end = self.from.read(buffer)?;
        }
        let count = bytes.len().min(self.end - self.start);
        bytes[..count].copy_from_slice(&buffer[self.start..][..count]);
        self.start += count;
        Ok(count)
    }
}

/// A batch of tables in memory, for a run in the same session. Its pieces are wiped as they are read.
#[derive(Default)]
pub struct Kept {
    pieces: VecDeque<Zeroizing<Box<[Block]>>>,
    /// Bytes of the first piece that were read, and of the last one that were written.
    read: usize,
    written: usize,
}

impl Kept {
    /// Blocks of a piece, 64 KiB. (Blocks are wiped sixteen bytes at a time, bytes one by one.)
    const BLOCKS: usize = 1 << 12;
    const PIECE: usize = Kept::BLOCKS * Block::BYTES;
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        if self.pieces.is_empty() || self.written == Kept::PIECE {
            let mut piece = Vec::new();
            piece.try_reserve_exact(Kept::BLOCKS).map_err(|_| io::ErrorKind::OutOfMemory)?;
            piece.resize(Kept::BLOCKS, Block::ZERO);
            self.pieces.push_back(Zeroizing::new(piece.into_boxed_slice()));
            self.written = 0;
        }
        let piece = Block::bytes_of_mut(self.pieces.back_mut().expect("there is a last piece"));
        let count = bytes.len().min(Kept::PIECE - self.written);
        piece[self.written..][..count].copy_from_slice(&bytes[..count]);
        self.written += count;
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Kept {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let end = if self.pieces.len() == 1 { self.written } else { Kept::PIECE };
        let Some(piece) = self.pieces.front() else { return Ok(0) };
        let count = bytes.len().min(end - self.read);
        bytes[..count].copy_from_slice(&Block::bytes_of(piece)[self.read..][..count]);
        self.read += count;
        if self.read == end {
            self.pieces.pop_front();
            self.read = 0;
        }
        Ok(count)
    }
}
