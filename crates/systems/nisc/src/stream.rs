//! How an answer streams: bytes with a checksum, and what is made from the seeds, plain, coded or stored.
//!
//! What is from the seeds goes out as rows, a block of every copy side by side. Plain, all of it travels, and the receiver compares
//! the columns of the checked copies. **Coded** (AMPR14, section 5), what travels are `e` values of the polynomials through the bytes
//! of all copies, from which, with the `t - e` copies that it makes itself, the receiver finds the evaluated ones; a hash of
//! each copy follows. If the values are not those of the bytes hashed, decoding gives something else for *every*
//! choice of copies, so that the abort tells nothing about it. **Stored** (same section; see `stored`), each column is a stream of its
//! own, and the answer has only the hashes.

use std::io::{ErrorKind, Read, Write};

use comity_core::{Backend, Block, Check, ErasureCode, ErasureDecoder, Error, Result, SessionId};

use crate::Copies;
use crate::checks;
use crate::files::{CHECKSUM, checksum};
use crate::plan::{Choice, Form};

/// Where an answer goes.
pub(crate) struct Out<'a> {
    to: &'a mut dyn Write,
    sum: blake3::Hasher,
    /// Where its stored copies go.
    copies: Vec<&'a mut dyn Write>,
}

impl<'a> Out<'a> {
    pub(crate) fn new(to: &'a mut dyn Write) -> Out<'a> {
        Out { to, sum: checksum(), copies: Vec::new() }
    }

    /// With a place for each stored copy.
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

    /// After the last byte: the checksum.
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
    Err(Error::invalid_input(format!(
        "this query takes {wanted} stored copies beside an answer, and there are {streams}"
    )))
}

/// Where an answer comes from. Its length is known beforehand.
pub(crate) struct In<'a> {
    from: &'a mut dyn Read,
    /// Where its stored copies come from, those that are at hand.
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

    /// With the stored copies that are at hand.
    pub(crate) fn with_copies<R: Read>(mut self, copies: &'a mut [Option<R>]) -> In<'a> {
        self.copies = copies.iter_mut().map(|copy| copy.as_mut().map(|copy| copy as &mut dyn Read)).collect();
        self
    }

    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) unless there is each stored copy that is to be evaluated.
    pub(crate) fn check(&self, copies: Copies, choice: &Choice) -> Result<()> {
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

    /// The next bytes, so many.
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

    /// Reads what is left, and looks at the checksum and that nothing follows.
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

/// Running hashes of what is made from the seeds.
pub(crate) struct Digests {
    hashers: Vec<blake3::Hasher>,
    column: Vec<Block>,
}

impl Digests {
    fn new(session: &SessionId, copies: usize) -> Digests {
        let key = session.child("hash of a copy").to_bytes();
        Digests { hashers: vec![blake3::Hasher::new_keyed(&key); copies], column: Vec::new() }
    }

    /// Takes in rows of some copies. What each of them adds goes to `each`, too.
    fn update(
        &mut self,
        rows: &[Block],
        copies: impl ExactSizeIterator<Item = usize>,
        mut each: impl FnMut(usize, &[Block]) -> Result<()>,
    ) -> Result<()> {
        let width = copies.len();
        for (k, i) in copies.enumerate() {
            self.column.clear();
            self.column.extend(rows.iter().skip(k).step_by(width));
            self.hashers[i].update(Block::bytes_of(&self.column));
            each(i, &self.column)?;
        }
        Ok(())
    }
}

/// For rows that are only hashed.
fn only(_: usize, _: &[Block]) -> Result<()> {
    Ok(())
}

impl Drop for Digests {
    fn drop(&mut self) {
        use zeroize::Zeroize;
        self.column.zeroize();
    }
}

/// How rows leave the sender.
pub(crate) enum Outlet {
    All,
    Coded { code: ErasureCode, coded: Vec<Block>, digests: Digests },
    Stored(Digests),
}

impl Outlet {
    pub(crate) fn new(backend: Backend, session: &SessionId, copies: Copies) -> Outlet {
        let digests = || Digests::new(session, copies.total());
        match copies.form() {
            Form::All => Outlet::All,
            Form::Coded(evaluated) => {
                let code = ErasureCode::new(backend, copies.total(), evaluated.into());
                Outlet::Coded { code, coded: Vec::new(), digests: digests() }
            }
            Form::Stored => Outlet::Stored(digests()),
        }
    }

    /// Writes rows of all copies.
    pub(crate) fn put(&mut self, out: &mut Out<'_>, rows: &[Block]) -> Result<()> {
        match self {
            Outlet::All => out.put(Block::bytes_of(rows)),
            Outlet::Coded { code, coded, digests } => {
                coded.resize(rows.len() / code.messages() * code.coded(), Block::ZERO);
                code.encode_rows(rows, coded);
                digests.update(rows, 0..code.messages(), only)?;
                out.put(Block::bytes_of(coded))
            }
            Outlet::Stored(digests) => digests.update(rows, 0..digests.hashers.len(), |i, column| out.store(i, column)),
        }
    }

    /// After the last row.
    pub(crate) fn finish(self, out: &mut Out<'_>) -> Result<()> {
        match self {
            Outlet::All => Ok(()),
            Outlet::Coded { digests, .. } | Outlet::Stored(digests) => {
                digests.hashers.iter().try_for_each(|hasher| out.put(hasher.finalize().as_bytes()))
            }
        }
    }
}

/// How rows reach the receiver.
pub(crate) struct Intake<'a> {
    choice: &'a Choice,
    arriving: Vec<Block>,
    form: Arrival,
}

enum Arrival {
    All,
    Coded { decoder: ErasureDecoder, digests: Digests },
    Stored(Digests),
}

impl<'a> Intake<'a> {
    pub(crate) fn new(backend: Backend, session: &SessionId, copies: Copies, choice: &'a Choice) -> Intake<'a> {
        let digests = || Digests::new(session, copies.total());
        let form = match copies.form() {
            Form::All => Arrival::All,
            Form::Coded(evaluated) => {
                let code = ErasureCode::new(backend, copies.total(), evaluated.into());
                Arrival::Coded { decoder: code.decoder(&choice.evaluated), digests: digests() }
            }
            Form::Stored => Arrival::Stored(digests()),
        };
        Intake { choice, arriving: Vec::new(), form }
    }

    /// Reads rows: `known` are those of the checked copies as their seeds give them, and those of the evaluated copies are
    /// written to `missing`.
    ///
    /// # Errors
    /// `wrong` if a checked copy arrived as something else; if the copies are coded or stored [`finish`](Intake::finish) tells.
    pub(crate) fn take(
        &mut self,
        input: &mut In<'_>,
        known: &[Block],
        missing: &mut [Block],
        wrong: &'static Check,
    ) -> Result<()> {
        let Choice { checked, evaluated } = self.choice;
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
            Arrival::Coded { decoder, digests } => {
                self.arriving.resize(missing.len(), Block::ZERO);
                input.take(Block::bytes_of_mut(&mut self.arriving))?;
                decoder.decode_rows(known, &self.arriving, missing);
                digests.update(known, checked.iter().copied(), only)?;
                digests.update(missing, evaluated.iter().copied(), only)
            }
            Arrival::Stored(digests) => {
                digests.update(known, checked.iter().copied(), only)?;
                let mut next = 0;
                self.arriving.resize(rows, Block::ZERO);
                // All that are at hand keep step, so that who sees the reading does not see which ones are evaluated.
                for i in 0..checked.len() + evaluated.len() {
                    input.stored(i, &mut self.arriving)?;
                    if evaluated.get(next) == Some(&i) {
                        digests.hashers[i].update(Block::bytes_of(&self.arriving));
                        let places = missing.iter_mut().skip(next).step_by(evaluated.len());
                        places.zip(&self.arriving).for_each(|(to, from)| *to = *from);
                        next += 1;
                    }
                }
                Ok(())
            }
        }
    }

    /// After the last row: the copies must be what was hashed.
    ///
    /// # Errors
    /// [`GarbledCircuit`](crate::checks::GARBLED_CIRCUIT) if a checked copy is not, else
    /// [`CodedCircuit`](crate::checks::CODED_CIRCUIT) if an evaluated one is not.
    pub(crate) fn finish(self, input: &mut In<'_>) -> Result<()> {
        let (Arrival::Coded { digests, .. } | Arrival::Stored(digests)) = self.form else { return Ok(()) };
        let right = digests.hashers.iter().map(|hasher| Ok(hasher.finalize() == input.array::<32>()?));
        let right = right.collect::<Result<Vec<bool>>>()?;
        let all = |copies: &[usize]| copies.iter().all(|&i| right[i]);
        if !all(&self.choice.checked) {
            return Err(checks::GARBLED_CIRCUIT.into());
        }
        if all(&self.choice.evaluated) { Ok(()) } else { Err(checks::CODED_CIRCUIT.into()) }
    }
}
