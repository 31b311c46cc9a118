//! The bytes of a batch: plain fields one after another, whose lengths both sides know from the program. Encryption,
//! authentication and using a batch once are for whoever stores them.

use std::io::{Read, Write};

use comity_core::{Bits, Block, Error, Result};
use zeroize::Zeroizing;

/// Writes blocks to a batch.
pub(crate) fn put(to: &mut dyn Write, blocks: &[Block]) -> Result<()> {
    put_bytes(to, Block::bytes_of(blocks))
}

/// Writes bytes to a batch.
pub(crate) fn put_bytes(to: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    to.write_all(bytes).map_err(|error| Error::disk("storing a batch of copies", error))
}

/// Writes bits to a batch.
pub(crate) fn put_bits(to: &mut dyn Write, bits: &Bits) -> Result<()> {
    put_bytes(to, &Zeroizing::new(bits.to_bytes()))
}

/// Reads blocks of a batch.
pub(crate) fn take(from: &mut dyn Read, blocks: &mut [Block]) -> Result<()> {
    take_bytes(from, Block::bytes_of_mut(blocks))
}

/// Reads bytes of a batch.
pub(crate) fn take_bytes(from: &mut dyn Read, bytes: &mut [u8]) -> Result<()> {
    from.read_exact(bytes)
        .map_err(|error| Error::store(format!("the batch of copies cannot be read: {error}; prepare new copies")))
}

/// Reads `bits` bits of a batch.
pub(crate) fn take_bits(from: &mut dyn Read, bits: usize) -> Result<Bits> {
    let mut bytes = Zeroizing::new(vec![0; bits.div_ceil(8)]);
    take_bytes(from, &mut bytes)?;
    Ok(Bits::from_bytes(&bytes, bits))
}
