//! How an answer streams: bytes with a checksum, and in them what is made from the seeds, plain or coded.
//!
//! What is from the seeds goes out as rows, a block of every copy side by side. Plain, all of it travels, and the receiver compares
//! the columns of the checked copies. **Coded** (AMPR14, section 5), what travels are `e` values of the polynomials through the bytes
//! of all copies, from which, with the `t - e` copies that it makes itself, the receiver finds the evaluated ones; a hash of
//! each copy follows. If the values are not those of the bytes hashed, decoding gives something else for *every*
//! choice of copies, so that the abort tells nothing about it.

use std::io::{ErrorKind, Read, Write};

use comity_core::{Backend, Block, ErasureCode, ErasureDecoder, Error, Misbehaviour, Result, SessionId};

use crate::Copies;
use crate::files::{CHECKSUM, checksum};
use crate::plan::Choice;

/// Where an answer goes.
pub(crate) struct Out<'a> {
    to: &'a mut dyn Write,
    sum: blake3::Hasher,
}

impl<'a> Out<'a> {
    pub(crate) fn new(to: &'a mut dyn Write) -> Out<'a> {
        Out { to, sum: checksum() }
    }

    pub(crate) fn put(&mut self, bytes: &[u8]) -> Result<()> {
        self.sum.update(bytes);
        self.write(bytes)
    }

    /// After the last byte: the checksum.
    pub(crate) fn finish(mut self) -> Result<()> {
        let sum = self.sum.finalize();
        self.write(sum.as_bytes())?;
        self.to.flush().map_err(|error| Error::io("writing the answer", error))
    }

    fn write(&mut self, bytes: &[u8]) -> Result<()> {
        self.to.write_all(bytes).map_err(|error| Error::io("writing the answer", error))
    }
}

/// Where an answer comes from. Its length is known beforehand.
pub(crate) struct In<'a> {
    from: &'a mut dyn Read,
    sum: blake3::Hasher,
    /// Bytes to come, without the checksum.
    left: u64,
    length: u64,
}

impl<'a> In<'a> {
    pub(crate) fn new(from: &'a mut dyn Read, length: u64) -> In<'a> {
        In { from, sum: checksum(), left: length - CHECKSUM as u64, length }
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
                Error::Malformed(format!("the answer is cut short: it should have {} bytes", self.length))
            }
            _ => Error::io("reading the answer", error),
        })
    }

    /// Reads what is left, and looks at the checksum and that nothing follows.
    ///
    /// # Errors
    /// [`Error::Malformed`] if the answer is not as its sender wrote it.
    pub(crate) fn finish(mut self) -> Result<()> {
        let mut rest = [0; 4096];
        while self.left > 0 {
            let count = self.left.min(rest.len() as u64) as usize;
            self.take(&mut rest[..count])?;
        }
        let mut sum = [0; CHECKSUM];
        self.read(&mut sum)?;
        if self.sum.finalize() != sum {
            return Err(Error::Malformed("the answer was damaged on its way: its checksum is wrong".into()));
        }
        loop {
            match self.from.read(&mut rest[..1]) {
                Ok(0) => return Ok(()),
                Ok(_) => return Err(Error::Malformed(format!("more follows the {} bytes of the answer", self.length))),
                Err(error) if error.kind() == ErrorKind::Interrupted => {}
                Err(error) => return Err(Error::io("reading the answer", error)),
            }
        }
    }
}

/// Running hashes of what is made from the seeds.
struct Digests {
    hashers: Vec<blake3::Hasher>,
    column: Vec<Block>,
}

impl Digests {
    fn new(session: &SessionId, copies: usize) -> Digests {
        let key = session.child("hash of a copy").to_bytes();
        Digests { hashers: vec![blake3::Hasher::new_keyed(&key); copies], column: Vec::new() }
    }

    /// Takes in rows of some copies.
    fn update(&mut self, rows: &[Block], copies: impl ExactSizeIterator<Item = usize>) {
        let width = copies.len();
        for (k, i) in copies.enumerate() {
            self.column.clear();
            self.column.extend(rows.iter().skip(k).step_by(width));
            self.hashers[i].update(Block::bytes_of(&self.column));
        }
    }
}

impl Drop for Digests {
    fn drop(&mut self) {
        use zeroize::Zeroize;
        self.column.zeroize();
    }
}

/// How rows leave the sender.
pub(crate) struct Outlet(Option<Coder>);

struct Coder {
    code: ErasureCode,
    coded: Vec<Block>,
    digests: Digests,
}

impl Outlet {
    pub(crate) fn new(backend: Backend, session: &SessionId, copies: Copies) -> Outlet {
        Outlet(copies.evaluated().map(|evaluated| Coder {
            code: ErasureCode::new(backend, copies.total(), evaluated),
            coded: Vec::new(),
            digests: Digests::new(session, copies.total()),
        }))
    }

    /// Writes rows of all copies.
    pub(crate) fn put(&mut self, out: &mut Out<'_>, rows: &[Block]) -> Result<()> {
        let Some(Coder { code, coded, digests }) = &mut self.0 else { return out.put(Block::bytes_of(rows)) };
        coded.resize(rows.len() / code.messages() * code.coded(), Block::ZERO);
        code.encode_rows(rows, coded);
        digests.update(rows, 0..code.messages());
        out.put(Block::bytes_of(coded))
    }

    /// After the last row.
    pub(crate) fn finish(self, out: &mut Out<'_>) -> Result<()> {
        let Some(coder) = self.0 else { return Ok(()) };
        coder.digests.hashers.iter().try_for_each(|hasher| out.put(hasher.finalize().as_bytes()))
    }
}

/// How rows reach the receiver.
pub(crate) struct Intake<'a> {
    choice: &'a Choice,
    arriving: Vec<Block>,
    form: Option<Decoder>,
}

struct Decoder {
    decoder: ErasureDecoder,
    digests: Digests,
}

impl<'a> Intake<'a> {
    pub(crate) fn new(backend: Backend, session: &SessionId, copies: Copies, choice: &'a Choice) -> Intake<'a> {
        let form = copies.evaluated().map(|evaluated| Decoder {
            decoder: ErasureCode::new(backend, copies.total(), evaluated).decoder(&choice.evaluated),
            digests: Digests::new(session, copies.total()),
        });
        Intake { choice, arriving: Vec::new(), form }
    }

    /// Reads rows: `known` are those of the checked copies as their seeds give them, and those of the evaluated copies are
    /// written to `missing`.
    ///
    /// # Errors
    /// `wrong` if a checked copy arrived as something else; if the copies are coded [`finish`](Intake::finish) tells.
    pub(crate) fn take(
        &mut self,
        input: &mut In<'_>,
        known: &[Block],
        missing: &mut [Block],
        wrong: Misbehaviour,
    ) -> Result<()> {
        let Choice { checked, evaluated } = self.choice;
        let rows = missing.len() / evaluated.len();
        match &mut self.form {
            None => {
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
            Some(Decoder { decoder, digests }) => {
                self.arriving.resize(missing.len(), Block::ZERO);
                input.take(Block::bytes_of_mut(&mut self.arriving))?;
                decoder.decode_rows(known, &self.arriving, missing);
                digests.update(known, checked.iter().copied());
                digests.update(missing, evaluated.iter().copied());
                Ok(())
            }
        }
    }

    /// After the last row: the copies must be what was hashed.
    ///
    /// # Errors
    /// [`GarbledCircuit`](Misbehaviour::GarbledCircuit) if a checked copy is not, else
    /// [`CodedCircuit`](Misbehaviour::CodedCircuit) if an evaluated one is not.
    pub(crate) fn finish(self, input: &mut In<'_>) -> Result<()> {
        let Some(Decoder { digests, .. }) = self.form else { return Ok(()) };
        let right = digests.hashers.iter().map(|hasher| Ok(hasher.finalize() == input.array::<32>()?));
        let right = right.collect::<Result<Vec<bool>>>()?;
        let all = |copies: &[usize]| copies.iter().all(|&i| right[i]);
        if !all(&self.choice.checked) {
            return Err(Misbehaviour::GarbledCircuit.into());
        }
        if all(&self.choice.evaluated) { Ok(()) } else { Err(Misbehaviour::CodedCircuit.into()) }
    }
}
