//! Bytes read piece by piece: whatever is missing or too much is an error.

use crate::error::{Error, Result};

/// A reader: the bytes that are left.
pub(crate) struct Reader<'a> {
    rest: &'a [u8],
    /// The name of what is read, for errors.
    what: &'static str,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(rest: &'a [u8], what: &'static str) -> Reader<'a> {
        Reader { rest, what }
    }

    pub(crate) fn malformed(&self, why: &str) -> Error {
        Error::Malformed(format!("{}: {why}", self.what))
    }

    pub(crate) fn take(&mut self, count: usize) -> Result<&'a [u8]> {
        let (taken, rest) = self.rest.split_at_checked(count).ok_or_else(|| self.malformed("it is cut short"))?;
        self.rest = rest;
        Ok(taken)
    }

    pub(crate) fn array<const N: usize>(&mut self) -> Result<[u8; N]> {
        Ok(self.take(N)?.try_into().expect("as many were taken"))
    }

    pub(crate) fn byte(&mut self) -> Result<u8> {
        Ok(self.array::<1>()?[0])
    }

    pub(crate) fn flag(&mut self) -> Result<bool> {
        match self.byte()? {
            0 => Ok(false),
            1 => Ok(true),
            _ => Err(self.malformed("a flag is neither set nor clear")),
        }
    }

    pub(crate) fn number(&mut self) -> Result<u64> {
        Ok(u64::from_le_bytes(self.array()?))
    }

    pub(crate) fn text(&mut self) -> Result<String> {
        let length = u16::from_le_bytes(self.array()?);
        let bytes = self.take(length.into())?;
        core::str::from_utf8(bytes).map(str::to_owned).map_err(|_| self.malformed("a name is not UTF-8"))
    }

    /// A number in groups of seven bits, the least significant first, as short as can be.
    #[cfg(feature = "dictionary")]
    pub(crate) fn varint(&mut self) -> Result<u128> {
        let mut number = 0u128;
        for shift in (0..).step_by(7) {
            let byte = self.byte()?;
            let part = u128::from(byte & 0x7f);
            if shift > 126 || part << shift >> shift != part || (byte == 0 && shift > 0) {
                return Err(self.malformed("a number is too long"));
            }
            number |= part << shift;
            if byte < 0x80 {
                break;
            }
        }
        Ok(number)
    }

    pub(crate) fn end(self) -> Result<()> {
        if self.rest.is_empty() { Ok(()) } else { Err(self.malformed("it is too long")) }
    }
}

pub(crate) fn put_text(text: &str, bytes: &mut Vec<u8>) {
    bytes.extend_from_slice(&(text.len() as u16).to_le_bytes());
    bytes.extend_from_slice(text.as_bytes());
}

#[cfg(feature = "dictionary")]
pub(crate) fn put_varint(mut number: u128, bytes: &mut Vec<u8>) {
    while number >= 0x80 {
        bytes.push(number as u8 | 0x80);
        number >>= 7;
    }
    bytes.push(number as u8);
}
