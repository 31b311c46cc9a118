//! The bytes of a stored batch: written and read by one codec, with one kind of error.
//!
//! A batch is plain fields one after another, whose lengths both sides know from the state. Encryption,
//! authentication and using a batch once are for whoever stores it ([`Shelf`](crate::Shelf)). What cannot be
//! read is nobody's doing, so that each of these errors is a [`Kind::Store`](comity_core::Kind).

use std::fmt::Display;
use std::io::{Read, Write};

use comity_core::{Bits, Block, Error, Result};
use zeroize::Zeroizing;

/// The form of one kind of batch: how its bytes begin, and how errors name it.
#[derive(Clone, Copy, Debug)]
pub struct BatchForm {
    /// The first bytes, which name the kind and its version.
    pub magic: &'static [u8; 16],
    /// The name of such a batch in errors: `a batch of triples`.
    pub name: &'static str,
}

impl BatchForm {
    /// The bytes of the form's beginning.
    pub const BEGINNING: usize = 16;

    /// Writes the beginning.
    ///
    /// # Errors
    /// As [`BatchForm::put`].
    pub fn begin(&self, to: &mut dyn Write) -> Result<()> {
        self.put(to, self.magic)
    }

    /// Reads the beginning.
    ///
    /// # Errors
    /// If it is that of another form or version.
    pub fn begins(&self, from: &mut dyn Read) -> Result<()> {
        match self.beginning(from)? == *self.magic {
            true => Ok(()),
            false => Err(self.damaged("it does not begin as one of this version does")),
        }
    }

    /// Reads the beginning of a batch that may be of an earlier version.
    ///
    /// # Errors
    /// As [`BatchForm::take`].
    pub fn beginning(&self, from: &mut dyn Read) -> Result<[u8; BatchForm::BEGINNING]> {
        let mut magic = [0; BatchForm::BEGINNING];
        self.take(from, &mut magic)?;
        Ok(magic)
    }

    /// Writes bytes.
    ///
    /// # Errors
    /// If they cannot be written.
    pub fn put(&self, to: &mut dyn Write, bytes: &[u8]) -> Result<()> {
        to.write_all(bytes).map_err(|error| Error::disk(format_args!("cannot store {}", self.name), error))
    }

    /// Fills `bytes` with the next bytes.
    ///
    /// # Errors
    /// If fewer bytes are left.
    pub fn take(&self, from: &mut dyn Read, bytes: &mut [u8]) -> Result<()> {
        from.read_exact(bytes).map_err(|error| self.unreadable(&error))
    }

    /// Writes blocks.
    ///
    /// # Errors
    /// As [`BatchForm::put`].
    pub fn put_blocks(&self, to: &mut dyn Write, blocks: &[Block]) -> Result<()> {
        self.put(to, Block::bytes_of(blocks))
    }

    /// Fills `blocks` with the next blocks.
    ///
    /// # Errors
    /// As [`BatchForm::take`].
    pub fn take_blocks(&self, from: &mut dyn Read, blocks: &mut [Block]) -> Result<()> {
        self.take(from, Block::bytes_of_mut(blocks))
    }

    /// Writes bits, in whole bytes.
    ///
    /// # Errors
    /// As [`BatchForm::put`].
    pub fn put_bits(&self, to: &mut dyn Write, bits: &Bits) -> Result<()> {
        self.put(to, &Zeroizing::new(bits.to_bytes()))
    }

    /// Reads `bits` bits.
    ///
    /// # Errors
    /// As [`BatchForm::take`].
    pub fn take_bits(&self, from: &mut dyn Read, bits: usize) -> Result<Bits> {
        let mut bytes = Zeroizing::new(vec![0; bits.div_ceil(8)]);
        self.take(from, &mut bytes)?;
        Ok(Bits::from_bytes(&bytes, bits))
    }

    /// Makes sure that all has been read.
    ///
    /// # Errors
    /// If there is more.
    pub fn ends(&self, from: &mut dyn Read) -> Result<()> {
        match from.read(&mut [0]) {
            Ok(0) => Ok(()),
            Ok(_) => Err(self.damaged("it has more bytes than it should")),
            Err(error) => Err(self.unreadable(&error)),
        }
    }

    /// The error for a damaged batch; `what` says what is wrong with it.
    pub fn damaged(&self, what: impl Display) -> Error {
        Error::store(format!("{} is damaged: {what}; prepare a new one", self.name))
    }

    fn unreadable(&self, error: &std::io::Error) -> Error {
        Error::store(format!("{} cannot be read: {error}; prepare a new one", self.name))
    }
}

#[cfg(test)]
mod tests {
    use comity_core::Kind;

    use super::*;

    const FORM: BatchForm = BatchForm { magic: b"comity of a test", name: "a batch of a test" };

    fn read(mut from: &[u8]) -> Result<(Block, Bits)> {
        FORM.begins(&mut from)?;
        let mut block = [Block::ZERO];
        FORM.take_blocks(&mut from, &mut block)?;
        let bits = FORM.take_bits(&mut from, 11)?;
        FORM.ends(&mut from)?;
        Ok((block[0], bits))
    }

    #[test]
    fn what_is_written_is_read_and_nothing_else() {
        let (block, bits) = (Block::from_u128(7), Bits::from_bytes(&[0xa5, 0x03], 11));
        let mut bytes = Vec::new();
        FORM.begin(&mut bytes).unwrap();
        FORM.put_blocks(&mut bytes, &[block]).unwrap();
        FORM.put_bits(&mut bytes, &bits).unwrap();
        assert_eq!(read(&bytes).unwrap(), (block, bits));
        let refused = |bytes: &[u8], words: &str| {
            let error = read(bytes).unwrap_err();
            assert!(matches!(&error.kind, Kind::Store(why) if why.contains(words)), "{error}");
        };
        for len in 0..bytes.len() {
            refused(&bytes[..len], "a batch of a test cannot be read");
        }
        refused(&[&bytes[..], &[0]].concat(), "more bytes");
        let mut other = bytes;
        other[15] ^= 1;
        refused(&other, "a batch of a test is damaged: it does not begin as one of this version does");
    }
}
