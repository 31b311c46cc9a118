//! The bytes of a batch of tables at one party: a head, and then what a run takes, in the order in which it
//! takes it.
//!
//! They are as secret as the inputs of the run. Encrypting them, and using them once, is for whoever stores
//! them: two runs on the same tables show the sum of their inputs.

use std::collections::VecDeque;
use std::io::{self, Read, Write};

use comity_core::{Bits, Error, PartyId, Result, SessionId};
use comity_share::bits::BitShares;
use zeroize::Zeroizing;

/// The head of a batch of tables.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct TablesHead {
    /// The form of what follows.
    pub form: &'static [u8; 16],
    /// The session in which it was made; the same at the peer.
    pub deal: SessionId,
    /// The digest of the program that it is for.
    pub program: [u8; 32],
    /// The party whose part it is.
    pub party: PartyId,
}

impl TablesHead {
    /// Bytes of a head.
    pub const BYTES: u64 = 16 + 32 + 32 + 1;

    /// Writes the head.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind).
    pub fn write(&self, to: &mut dyn Write) -> Result<()> {
        put(to, self.form)?;
        put(to, &self.deal.to_bytes())?;
        put(to, &self.program)?;
        put(to, &[self.party.0 as u8])
    }

    /// Reads the head of a batch of this form, for this party and program.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) says what else it is.
    pub fn read(
        from: &mut Tables<'_>,
        form: &'static [u8; 16],
        program: [u8; 32],
        party: PartyId,
    ) -> Result<TablesHead> {
        let (mut named, mut deal, mut of, mut whose) = ([0; 16], [0; 32], [0; 32], [0]);
        from.take(&mut named)?;
        if named != *form {
            return Err(damaged("they do not begin as tables of this version and protocol do"));
        }
        from.take(&mut deal)?;
        from.take(&mut of)?;
        from.take(&mut whose)?;
        if of != program {
            return Err(Error::store("the tables are for another program; prepare tables for this one"));
        }
        if u16::from(whose[0]) != party.0 {
            return Err(Error::store(format!("the tables are party {}'s, and this is party {party}", whose[0])));
        }
        Ok(TablesHead { form, deal: SessionId::new(deal), program, party })
    }
}

/// Writes bytes of a batch.
pub(crate) fn put(to: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    to.write_all(bytes).map_err(|error| Error::disk("storing tables", error))
}

/// Writes bits of a batch, in whole bytes.
pub(crate) fn put_bits(to: &mut dyn Write, bits: &BitShares) -> Result<()> {
    let mut bytes = Zeroizing::new(vec![0; bits.len().div_ceil(8)]);
    bits.put_bytes(&mut bytes);
    put(to, &bytes)
}

fn damaged(what: &str) -> Error {
    Error::store(format!("the tables are damaged: {what}; prepare new ones"))
}

fn unreadable(error: &io::Error) -> Error {
    Error::store(format!("the tables cannot be read: {error}; prepare new ones"))
}

/// A batch of tables that is read: what a run needs next comes next. What was read is wiped.
pub struct Tables<'r> {
    from: Box<dyn Read + Send + 'r>,
    buffer: Zeroizing<Vec<u8>>,
    /// What of the buffer was not taken yet.
    start: usize,
    end: usize,
}

impl<'r> Tables<'r> {
    /// The size of the buffer.
    const BUFFER: usize = 1 << 16;

    /// Tables from a reader that has nothing else.
    pub fn new(from: Box<dyn Read + Send + 'r>) -> Tables<'r> {
        Tables { from, buffer: Zeroizing::new(vec![0; Tables::BUFFER]), start: 0, end: 0 }
    }

    /// Fills these bytes.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if there are no more.
    pub fn take(&mut self, bytes: &mut [u8]) -> Result<()> {
        let ready = bytes.len().min(self.end - self.start);
        let (now, rest) = bytes.split_at_mut(ready);
        now.copy_from_slice(&self.buffer[self.start..self.start + ready]);
        self.start += ready;
        if rest.len() >= Tables::BUFFER {
            return self.from.read_exact(rest).map_err(|error| unreadable(&error));
        }
        if rest.is_empty() {
            return Ok(());
        }
        (self.start, self.end) = (0, 0);
        while self.end < rest.len() {
            match self.from.read(&mut self.buffer[self.end..]) {
                Ok(0) => return Err(unreadable(&io::ErrorKind::UnexpectedEof.into())),
                Ok(count) => self.end += count,
                Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
                Err(error) => return Err(unreadable(&error)),
            }
        }
        rest.copy_from_slice(&self.buffer[..rest.len()]);
        self.start = rest.len();
        Ok(())
    }

    /// The next bits, as many as there are in `bits`.
    ///
    /// # Errors
    /// As [`Tables::take`].
    pub fn fill(&mut self, bits: &mut BitShares, room: &mut Vec<u8>) -> Result<()> {
        room.resize(bits.len().div_ceil(8), 0);
        self.take(room)?;
        bits.put_in(room);
        Ok(())
    }

    /// The next bits.
    ///
    /// # Errors
    /// As [`Tables::take`].
    pub fn bits(&mut self, count: usize) -> Result<Bits> {
        let mut bytes = Zeroizing::new(vec![0; count.div_ceil(8)]);
        self.take(&mut bytes)?;
        Ok(Bits::from_bytes(&bytes, count))
    }

    /// That a run has taken all there is.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if there is more.
    pub fn ended(mut self) -> Result<()> {
        match self.end - self.start == 0 && self.from.read(&mut [0]).map_err(|error| unreadable(&error))? == 0 {
            true => Ok(()),
            false => Err(damaged("there are more bytes than the program takes")),
        }
    }
}

/// A batch of tables in memory, for a run in the same session. Its pieces are wiped as they are read.
#[derive(Default)]
pub struct Kept {
    pieces: VecDeque<Zeroizing<Vec<u8>>>,
    /// Bytes of the first piece that were read.
    read: usize,
}

impl Kept {
    /// The size of a piece. All of it is wiped, also what is not used of the last one.
    const PIECE: usize = 1 << 16;
}

impl Write for Kept {
    fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
        let full = self.pieces.back().is_none_or(|piece| piece.len() == Kept::PIECE);
        if full {
            let mut piece = Zeroizing::new(Vec::new());
            piece.try_reserve_exact(Kept::PIECE).map_err(|_| io::ErrorKind::OutOfMemory)?;
            self.pieces.push_back(piece);
        }
        let piece = self.pieces.back_mut().expect("there is a last piece");
        let count = bytes.len().min(Kept::PIECE - piece.len());
        piece.extend_from_slice(&bytes[..count]);
        Ok(count)
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}

impl Read for Kept {
    fn read(&mut self, bytes: &mut [u8]) -> io::Result<usize> {
        let Some(piece) = self.pieces.front() else { return Ok(0) };
        let count = bytes.len().min(piece.len() - self.read);
        bytes[..count].copy_from_slice(&piece[self.read..self.read + count]);
        self.read += count;
        if self.read == piece.len() {
            self.pieces.pop_front();
            self.read = 0;
        }
        Ok(count)
    }
}
