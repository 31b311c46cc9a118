//! What is kept of a garbled program until its inputs are there: a batch, as bytes.
//!
//! A head, then in the order of the program: of each input the shares of its masks; of each chunk the shares
//! of the outputs' masks and of the products, and at the evaluator the rows and bits that the garbler sent.
//! All lengths follow from the program.
//!
//! **Once.** A batch serves one run ([`Shelf`](comity_protocol::Shelf) sees to it). The evaluator that saw
//! two runs on one batch would hold both labels of a wire, and with them the garbler's key; and of an input
//! two maskings with one mask.

use std::io::{Read, Write};

use comity_circuit::Program;
use comity_core::{Block, Error, PartyId, Result};
use comity_share::{GlobalKey, Share};
use zeroize::Zeroizing;

/// The form of a batch's bytes.
const MAGIC: &[u8; 16] = b"comity ag 1\0\0\0\0\n";

/// The bytes of a batch of this program at either party, at most.
pub(crate) fn size(program: &Program) -> u64 {
    let inputs: u64 = program.inputs().iter().map(|input| input.bits as u64).sum();
    let ands = program.and_gates();
    // Bits are whole bytes for each stretch.
    4096 + 32 * inputs + ands.saturating_mul(2 * 32 + 2 * 16 + 1)
}

/// The head of a batch.
pub(crate) struct Head {
    pub(crate) party: PartyId,
    pub(crate) garbler: PartyId,
    /// The digest of the program.
    pub(crate) program: [u8; 32],
    /// This party's global key.
    pub(crate) key: GlobalKey,
    /// At the garbler the seed of the inputs' labels, at the evaluator the start of the hash keys.
    pub(crate) block: Block,
}

impl Head {
    pub(crate) fn write(&self, to: &mut dyn Write) -> Result<()> {
        put(to, MAGIC)?;
        put(to, &[self.party.0 as u8, self.garbler.0 as u8])?;
        put(to, &self.program)?;
        put(to, Block::bytes_of(&[self.key.block(), self.block]))
    }

    /// Reads the head of a batch of this program, party and garbler.
    pub(crate) fn read(from: &mut dyn Read, program: &Program, party: PartyId, garbler: PartyId) -> Result<Head> {
        let mut magic = [0; 18];
        take(from, &mut magic)?;
        if magic[..16] != MAGIC[..] {
            return Err(damaged("it does not begin as one of this version does"));
        }
        if magic[16..] != [party.0 as u8, garbler.0 as u8] {
            return Err(damaged("it is for other roles than this run"));
        }
        let mut digest = [0; 32];
        take(from, &mut digest)?;
        if digest != program.digest() {
            return Err(damaged("it is for another program"));
        }
        let mut blocks = Zeroizing::new([Block::ZERO; 2]);
        take(from, Block::bytes_of_mut(&mut *blocks))?;
        let key = GlobalKey::new(blocks[0]).ok_or_else(|| damaged("its global key does not end in a one bit"))?;
        Ok(Head { party, garbler, program: digest, key, block: blocks[1] })
    }
}

/// Writes bytes to a batch.
pub(crate) fn put(to: &mut dyn Write, bytes: &[u8]) -> Result<()> {
    to.write_all(bytes).map_err(|error| Error::disk("storing a garbled program", error))
}

/// Reads bytes of a batch.
pub(crate) fn take(from: &mut dyn Read, bytes: &mut [u8]) -> Result<()> {
    from.read_exact(bytes)
        .map_err(|error| Error::store(format!("a garbled program cannot be read: {error}; prepare a new one")))
}

/// Reads shares of a batch.
pub(crate) fn take_shares(from: &mut dyn Read, shares: &mut [Share]) -> Result<()> {
    take(from, Share::bytes_of_mut(shares))?;
    match shares.iter().any(|share| share.key().lsb()) {
        true => Err(damaged("the key of a share does not end in a zero bit")),
        false => Ok(()),
    }
}

/// The end of a batch.
pub(crate) fn end(from: &mut dyn Read) -> Result<()> {
    match from.read(&mut [0]) {
        Ok(0) => Ok(()),
        _ => Err(damaged("there is more of it than the program has")),
    }
}

fn damaged(what: &str) -> Error {
    Error::store(format!("a garbled program is damaged: {what}; prepare a new one"))
}
