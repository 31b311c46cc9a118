//! How an answer streams: bytes with a checksum, and what is made from the seeds, plain, coded or stored.
//!
//! What is from the seeds goes out as rows, a block of every copy side by side. Plain, all of it travels, and
//! the receiver compares the columns of the checked copies. **Coded** (AMPR14, section 5), what travels are
//! `e` values of the polynomials through the bytes of all copies, from which, with the `t - e` copies that it
//! makes itself, the receiver finds the evaluated ones; a hash of each copy follows. If the values are not
//! those of the bytes hashed, decoding gives something else for *every* choice of copies, so that the abort
//! tells nothing about it. **Stored** (same section; see `stored`), each column is a stream of its own, and
//! the answer has only the hashes.

use std::io::{ErrorKind, Read, Write};

use comity_core::{Backend, Block, Check, ErasureCode, Error, Result, SessionId};
use comity_garble::coded::{CopyDigests, DIGEST, RowDecoder, RowEncoder};
use comity_garble::lockstep::CopyChoice;

use crate::checks;
use crate::files::{CHECKSUM, checksum};
use crate::plan::Copies;
use crate::plan::Travel;

/// An answer that is written.
pub(crate) struct Out<'a> {
    to: &'a mut dyn Write,
    sum: blake3::Hasher,
    /// The writers of its stored copies.
    copies: Vec<&'a mut dyn Write>,
}

impl<'a> Out<'a> {
    pub(crate) fn new(to: &'a mut dyn Write) -> Out<'a> {
        Out { to, sum: checksum(), copies: Vec::new() }
    }

    /// The answer with a writer for each stored copy.
    pub(crate) fn with_copies<W: Write>(mut self, copies: &'a mut [W]) -> Out<'a> {
        self.copies = copies.iter_mut().map(|copy| copy as &mut dyn Write).collect();
        self
    }

    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) unless there is a place for each copy that is stored.
    pub(crate) fn check(&self, copies: Copies) -> Result<()> {
        places(copies, self.copies.len())
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.sum.update(bytes);
        self.write(bytes)
    }

    /// Writes the checksum, after the last byte.
    pub(crate) fn finish(mut self) -> Result<()> {
        let sum = self.sum.finalize();
        self.write(sum.as_bytes())?;
        self.to.flush().map_err(|error| Error::io("writing the answer", error))?;
        self.copies.iter_mut().try_for_each(|copy| copy.flush()).map_err(|error| Error::io(STORING, error))
    }

    /// Writes the next blocks of a stored copy.
    fn store(&mut self, copy: usize, column: &[Block]) -> Result<()> {
        self.copies[copy].write_all(Block::bytes_of(column)).map_err(|error| Error::io(STORING, error))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.to.write_all(bytes).map_err(|error| Error::io("writing the answer", error))
    }
}

const STORING: &str = "writing a stored copy";

/// Holds the number of streams against that of the stored copies.
fn places(copies: Copies, streams: usize) -> Result<()> {
    let wanted = if copies.is_stored() { copies.total() } else { 0 };
    if streams == wanted {
        return Ok(());
    }
    Err(Error::invalid_input(format!("an answer to this query has {wanted} stored copies, and {streams} are given")))
}

/// An answer that is read. Its length is known beforehand.
pub(crate) struct In<'a> {
    from: &'a mut dyn Read,
    /// The readers of its stored copies, of those that are at hand.
    copies: Vec<Option<&'a mut dyn Read>>,
    sum: blake3::Hasher,
    /// Bytes to come, without the checksum.
    left: u64,
    length: u64,
}

impl<'a> In<'a> {
    pub(crate) fn new(from: &'a mut dyn Read, length: u64) -> In<'a> {
        In { from, copies: Vec::new(), sum: checksum(), left: length - CHECKSUM as u64, length }
    }

    /// The answer with readers of the stored copies that are at hand.
    pub(crate) fn with_copies<R: Read>(mut self, copies: &'a mut [Option<R>]) -> In<'a> {
        self.copies = copies.iter_mut().map(|copy| copy.as_mut().map(|copy| copy as &mut dyn Read)).collect();
        self
    }

    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) unless there is each stored copy that is to be evaluated.
    pub(crate) fn check(&self, copies: Copies, choice: &CopyChoice) -> Result<()> {
        places(copies, self.copies.len())?;
        let missing = copies.is_stored() && choice.evaluated.iter().any(|&i| self.copies[i].is_none());
        if missing { Err(Error::invalid_input("a stored copy that is to be evaluated is not there")) } else { Ok(()) }
    }

    /// Reads the next blocks of a stored copy, if it is at hand.
    fn stored(&mut self, copy: usize, column: &mut [Block]) -> Result<()> {
        let Some(copy) = &mut self.copies[copy] else { return Ok(()) };
        copy.read_exact(Block::bytes_of_mut(column)).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => Error::malformed("a stored copy is cut short"),
            _ => Error::io("reading a stored copy", error),
        })
    }

    pub(crate) fn take(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.left = self.left.checked_sub(bytes.len() as u64).expect("the length of an answer follows from its plan");
        self.read(bytes)?;
        self.sum.update(bytes);
        Ok(())
    }

    /// The next `N` bytes.
    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        let mut bytes = [0; N];
        self.take(&mut bytes)?;
        Ok(bytes)
    }

    fn read(&mut self, bytes: &mut [u8]) -> Result<()> {
        self.from.read_exact(bytes).map_err(|error| match error.kind() {
            ErrorKind::UnexpectedEof => {
                Error::malformed(format!("the answer is cut short: it should have {} bytes", self.length))
            }
            _ => Error::io("reading the answer", error),
        })
    }

    /// Reads the rest, and checks the checksum and that nothing follows.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if the answer is not as its sender wrote it.
    pub(crate) fn finish(mut self) -> Result<()> {
        let mut rest = [0; 4096];
        while self.left > 0 {
            let count = self.left.min(rest.len() as u64) as usize;
            self.take(&mut rest[..count])?;
        }
        let mut sum = [0; CHECKSUM];
        self.read(&mut sum)?;
        if self.sum.finalize() != sum {
            return Err(Error::malformed("the answer was damaged on its way: its checksum is wrong"));
        }
        loop {
            match self.from.read(&mut rest[..1]) {
                Ok(0) => return Ok(()),
                Ok(_) => return Err(Error::malformed(format!("more follows the {} bytes of the answer", self.length))),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("reading the answer", error)),
            }
        }
    }
}

/// The key of the hashes of the copies' rows.
fn digest_key(session: &SessionId) -> [u8; DIGEST] {
    session.child("hash of a copy").to_bytes()
}

/// The way in which rows leave the sender.
pub(crate) enum RowOutlet {
    All,
    Coded(RowEncoder),
    Stored(CopyDigests),
}

impl RowOutlet {
    pub(crate) fn new(backend: Backend, session: &SessionId, copies: Copies) -> RowOutlet {
        let key = digest_key(session);
        match copies.travel() {
            Travel::All => RowOutlet::All,
            Travel::Coded(evaluated) => {
                let code = ErasureCode::new(backend, copies.total(), evaluated.into());
                RowOutlet::Coded(RowEncoder::new(code, &key))
            }
            Travel::Stored => RowOutlet::Stored(CopyDigests::new(&key, copies.total())),
        }
    }

    /// Writes rows of all copies.
    pub(crate) fn put(&mut self, out: &mut Out<'_>, rows: &[Block]) -> Result<()> {
        match self {
            RowOutlet::All => out.put(Block::bytes_of(rows)),
            RowOutlet::Coded(encoder) => out.put(Block::bytes_of(encoder.encode(rows))),
            RowOutlet::Stored(digests) => digests.add_each(rows, 0..out.copies.len(), |i, column| out.store(i, column)),
        }
    }

    /// Writes the hashes of the copies, after the last row.
    pub(crate) fn finish(self, out: &mut Out<'_>) -> Result<()> {
        match self {
            RowOutlet::All => Ok(()),
            RowOutlet::Coded(encoder) => encoder.digests().try_for_each(|digest| out.put(&digest)),
            RowOutlet::Stored(digests) => digests.finish().try_for_each(|digest| out.put(&digest)),
        }
    }
}

/// The way in which rows reach the receiver.
pub(crate) struct RowIntake<'a> {
    choice: &'a CopyChoice,
    arriving: Vec<Block>,
    form: Arrival,
}

enum Arrival {
    All,
    Coded(RowDecoder),
    Stored(CopyDigests),
}

impl<'a> RowIntake<'a> {
    pub(crate) fn new(backend: Backend, session: &SessionId, copies: Copies, choice: &'a CopyChoice) -> RowIntake<'a> {
        let key = digest_key(session);
        let form = match copies.travel() {
            Travel::All => Arrival::All,
            Travel::Coded(evaluated) => {
                let code = ErasureCode::new(backend, copies.total(), evaluated.into());
                Arrival::Coded(RowDecoder::new(&code, choice, &key))
            }
            Travel::Stored => Arrival::Stored(CopyDigests::new(&key, copies.total())),
        };
        RowIntake { choice, arriving: Vec::new(), form }
    }

    /// Reads rows: `known` are those of the checked copies as their seeds give them, and those of the
    /// evaluated copies are written to `missing`.
    ///
    /// # Errors
    /// `wrong` if a checked copy arrived as something else; if the copies are coded or stored
    /// [`finish`](RowIntake::finish) tells.
    pub(crate) fn take(
        &mut self,
        input: &mut In<'_>,
        known: &[Block],
        missing: &mut [Block],
        wrong: &'static Check,
    ) -> Result<()> {
        let CopyChoice { checked, evaluated } = self.choice;
        let rows = missing.len() / evaluated.len();
        match &mut self.form {
            Arrival::All => {
                let width = checked.len() + evaluated.len();
                self.arriving.resize(rows * width, Block::ZERO);
                input.take(Block::bytes_of_mut(&mut self.arriving))?;
                let mut difference = Block::ZERO;
                let mut known = known.iter();
                for (row, missing) in self.arriving.chunks_exact(width).zip(missing.chunks_exact_mut(evaluated.len())) {
                    for (&i, known) in checked.iter().zip(&mut known) {
                        let bits = (row[i] ^ *known).to_u128();
                        difference = Block::from_u128(difference.to_u128() | bits);
                    }
                    missing.iter_mut().zip(evaluated).for_each(|(to, &i)| *to = row[i]);
                }
                if difference == Block::ZERO { Ok(()) } else { Err(wrong.into()) }
            }
            Arrival::Coded(decoder) => decoder.decode(self.choice, known, missing, |coded| input.take(coded)),
            Arrival::Stored(digests) => {
                digests.add(known, checked.iter().copied());
                let mut next = 0;
                self.arriving.resize(rows, Block::ZERO);
                // All that are at hand keep step, so that who sees the reading does not see which ones are evaluated.
                for i in 0..checked.len() + evaluated.len() {
                    input.stored(i, &mut self.arriving)?;
                    if evaluated.get(next) == Some(&i) {
                        digests.add_column(i, &self.arriving);
                        let places = missing.iter_mut().skip(next).step_by(evaluated.len());
                        places.zip(&self.arriving).for_each(|(to, from)| *to = *from);
                        next += 1;
                    }
                }
                Ok(())
            }
        }
    }

    /// Checks, after the last row, that the copies are those that were hashed.
    ///
    /// # Errors
    /// [`GarbledCircuit`](crate::checks::GARBLED_CIRCUIT) if a checked copy is not, else
    /// [`CodedCircuit`](crate::checks::CODED_CIRCUIT) if an evaluated one is not.
    pub(crate) fn finish(self, input: &mut In<'_>) -> Result<()> {
        let (arrived, wrong) = (|| input.array(), [checks::GARBLED_CIRCUIT, checks::CODED_CIRCUIT]);
        match self.form {
            Arrival::All => Ok(()),
            Arrival::Coded(decoder) => decoder.check(self.choice, arrived, wrong),
            Arrival::Stored(digests) => digests.check(self.choice, arrived, wrong),
        }
    }
}
