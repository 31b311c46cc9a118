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
use comity_core::{Block, PartyId, Result};
use comity_protocol::BatchForm;
use comity_share::{GlobalKey, Share};
use zeroize::Zeroizing;

/// The form of a batch.
pub(crate) const FORM: BatchForm = BatchForm { magic: b"comity ag 1\0\0\0\0\n", name: "a garbled program" };

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
        FORM.begin(to)?;
        FORM.put(to, &[self.party.0 as u8, self.garbler.0 as u8])?;
        FORM.put(to, &self.program)?;
        FORM.put_blocks(to, &[self.key.block(), self.block])
    }

    /// Reads the head of a batch of this program, party and garbler.
    pub(crate) fn read(from: &mut dyn Read, program: &Program, party: PartyId, garbler: PartyId) -> Result<Head> {
        FORM.begins(from)?;
        let mut roles = [0; 2];
        FORM.take(from, &mut roles)?;
        if roles != [party.0 as u8, garbler.0 as u8] {
            return Err(FORM.damaged("it is for other roles than this run"));
        }
        let mut digest = [0; 32];
        FORM.take(from, &mut digest)?;
        if digest != program.digest() {
            return Err(FORM.damaged("it is for another program"));
        }
        let mut blocks = Zeroizing::new([Block::ZERO; 2]);
        FORM.take_blocks(from, &mut *blocks)?;
        let key = GlobalKey::new(blocks[0]).ok_or_else(|| FORM.damaged("its global key does not end in a one bit"))?;
        Ok(Head { party, garbler, program: digest, key, block: blocks[1] })
    }
}

/// Reads shares of a batch.
pub(crate) fn take_shares(from: &mut dyn Read, shares: &mut [Share]) -> Result<()> {
    FORM.take(from, Share::bytes_of_mut(shares))?;
    match shares.iter().any(|share| share.key().lsb()) {
        true => Err(FORM.damaged("the key of a share does not end in a zero bit")),
        false => Ok(()),
    }
}
