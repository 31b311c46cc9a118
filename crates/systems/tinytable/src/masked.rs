//! The online walk over a program: each wire has its masked bit `e_u`, which both parties know.
//!
//! The order in which gates come here is the order in which their tables were made: both walks are those of
//! the same engine, over the same layers, with as many calls side by side ([`LookUps::together`]).

use core::ops::Range;

use comity_channel::Channel;
use comity_circuit::{Call, Put, Recipients, Shown};
use comity_core::{Backend, Bits, Error, PartyId, Result, TapeGate};
use comity_gmw::table::PublicTable;
use comity_protocol::Here;
use comity_share::bits::BitShares;
use comity_sharing::{BitOperands, BitRows, Sharing};

use crate::boxes::{self, Boxed};

/// What a party looks up in, and what it has of the masks.
pub trait LookUps {
    /// How many of so many calls of a circuit of so many slots run side by side: as when the tables were made.
    fn together(slots: usize, times: u64) -> u64;

    /// The masked bits of an input of this party.
    ///
    /// # Errors
    /// Those of the reader.
    fn input(&mut self, value: &Bits) -> Result<Bits>;

    /// Looks up the next gates at their masked inputs `c` and `d`, and gives their masked outputs.
    ///
    /// # Errors
    /// Those of the reader and of the channel.
    fn look_up(&mut self, ch: &mut dyn Channel, c: &BitShares, d: &BitShares) -> Result<&BitShares>;

    /// Looks up the next boxes, all of this table, at the masked bits of their indices: bit `t` of all of them
    /// for each `t`. Gives the masked bits of their rows in the same way.
    ///
    /// # Errors
    /// Those of the reader and of the channel; [`InvalidInput`](comity_core::Kind) where all tables are of gates.
    fn look_up_whole(&mut self, ch: &mut dyn Channel, table: &PublicTable, at: &[BitShares]) -> Result<Vec<BitShares>> {
        let _ = (ch, table, at);
        Err(Error::invalid_input("these tables are of gates alone"))
    }

    /// The output of which these are the masked bits, if this party is a recipient.
    ///
    /// # Errors
    /// Those of the reader and of the channel, and of the checks that an output waits for.
    fn unmask(&mut self, ch: &mut dyn Channel, to: Recipients, masked: Bits) -> Result<Option<Bits>>;
}

/// Masked bits of two parties.
pub struct MaskedSharing<'a, L> {
    ch: &'a mut (dyn Channel + 'a),
    me: PartyId,
    backend: Backend,
    look_ups: L,
    /// What is looked up whole.
    boxed: Option<&'a Boxed<'a>>,
    c: BitShares,
    d: BitShares,
}

impl<'a, L: LookUps> MaskedSharing<'a, L> {
    /// The walk of this party, over a link to its peer.
    pub fn new(
        ch: &'a mut (dyn Channel + 'a),
        here: Here,
        boxed: Option<&'a Boxed<'a>>,
        look_ups: L,
    ) -> MaskedSharing<'a, L> {
        let Here { me, backend, .. } = here;
        MaskedSharing { ch, me, backend, look_ups, boxed, c: BitShares::default(), d: BitShares::default() }
    }

    /// The link, and what was looked up in.
    pub fn into_parts(self) -> (&'a mut (dyn Channel + 'a), L) {
        (self.ch, self.look_ups)
    }

    fn gates(&mut self, mut operands: impl BitOperands) -> Result<()> {
        for count in operands.pieces() {
            [&mut self.c, &mut self.d].into_iter().for_each(BitShares::clear);
            operands.read(count, &mut self.c, &mut self.d);
            // Step 3.
            operands.write(self.look_ups.look_up(self.ch, &self.c, &self.d)?);
        }
        Ok(())
    }
}

impl<L: LookUps> Sharing for MaskedSharing<'_, L> {
    type Rows = BitRows;
    const SHARES: bool = false;

    fn rows(&self) -> BitRows {
        BitRows::default()
    }

    fn together(&self, slots: usize, times: u64) -> u64 {
        L::together(slots, times)
    }

    /// The mask of a constant is zero.
    fn constants(&self, rows: &mut BitRows) {
        rows.fill(0, false);
        rows.fill(1, true);
    }

    fn xors(&self, rows: &mut BitRows, gates: &[TapeGate]) {
        rows.add(self.backend, gates);
    }

    fn ands(&mut self, rows: &mut BitRows, gates: &[TapeGate]) -> Result<()> {
        if let Some(single) = rows.single(gates) {
            return self.gates(single);
        }
        self.gates(rows.lanes(gates))
    }

    // Step 2.
    fn input(&mut self, put: Put, value: Option<&Bits>, to: &mut BitRows) -> Result<()> {
        let mut bytes = vec![0; put.bits.div_ceil(8)];
        match value {
            Some(value) if put.owner.includes(self.me) && value.len() == put.bits => {
                let masked = self.look_ups.input(value)?;
                bytes.copy_from_slice(&masked.to_bytes());
                self.ch.send(&bytes)?;
            }
            None if put.owner.party() == Some(self.me.other()) => self.ch.recv(&mut bytes)?,
            _ => {
                return Err(Error::invalid_input(format!(
                    "input value {} is missing, has another length, or is given by {}",
                    put.index, put.owner
                )));
            }
        }
        to.unpack(&BitShares::from_bytes(&bytes, put.bits), put.start);
        Ok(())
    }

    fn random(&mut self, _: &mut BitRows, _: Range<usize>) -> Result<()> {
        Err(no_random())
    }

    // Step 4.
    fn reveal(&mut self, shown: Shown, from: &BitRows) -> Result<Option<Bits>> {
        let masked = from.pack(shown.wires());
        let masked = Bits::from_words(masked.words().to_vec(), shown.bits);
        self.look_ups.unmask(self.ch, shown.to, masked)
    }

    // Step 3, of boxes.
    fn look_up(&mut self, call: &Call<'_>, memory: &mut BitRows) -> Result<bool> {
        let Some(table) = self.boxed.and_then(|boxed| boxed.table(call.index)) else { return Ok(false) };
        for (first, copies) in boxes::messages(table.delta(), call.times) {
            let at = boxes::indices(call, memory, first, copies);
            let rows = self.look_ups.look_up_whole(self.ch, table, &at)?;
            boxes::put_rows(call, memory, first, &rows);
        }
        Ok(true)
    }
}

/// Programs have no random wires.
pub(crate) fn no_random() -> Error {
    Error::invalid_input("tables are made for a program, and programs draw no random values")
}
