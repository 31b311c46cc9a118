//! The online walk over a program: each wire has its masked bit `e_u`, which both parties know, and where tables
//! do not have it a party's share of its mask.
//!
//! The order in which gates come here is the order in which their tables were made: both walks are those of
//! the same engine, over the same layers, with as many calls side by side ([`LookUps::together`]).

use core::ops::Range;

use comity_channel::Channel;
use comity_circuit::{Call, NoMemory, Place, Put, Recipients, Shown};
use comity_core::{Backend, Bits, Error, PartyId, Result, TapeGate};
use comity_gmw::table::PublicTable;
use comity_protocol::Here;
use comity_share::bits::BitShares;
use comity_sharing::{BitOperands, BitRows, Sharing, WireRows};

use crate::boxes::{self, Boxed};

/// A party's tables, and its shares of the masks, in the order in which the online phase uses them.
pub trait LookUps {
    /// The number of calls that run side by side, of `times` calls of a circuit of `slots` slots: as when the
    /// tables were made.
    fn together(slots: usize, times: u64) -> u64;

    /// The masked bits of an input of this party.
    ///
    /// # Errors
    /// Those of the reader.
    fn input(&mut self, value: &Bits) -> Result<Bits>;

    /// Looks up the next gates at their masked inputs `c` and `d`, and gives their masked outputs. `u` and `v`
    /// are this party's shares of the masks of the inputs, if the sharing keeps them (see
    /// [`MaskedSharing::new`]).
    ///
    /// # Errors
    /// Those of the reader and of the channel.
    fn look_up(&mut self, ch: &mut dyn Channel, at: [&BitShares; 2], masks: [&BitShares; 2]) -> Result<&BitShares>;

    /// This party's shares of the masks of the outputs that were looked up last; after boxes, of one row after
    /// another. Called only if the sharing keeps masks.
    fn masks(&self) -> &BitShares {
        unreachable!("these tables have the masks of their inputs")
    }

    /// Looks up the next boxes, all of this table, at the masked bits of their indices: bit `t` of all of them
    /// for each `t`. Gives the masked bits of their rows in the same way.
    ///
    /// # Errors
    /// Those of the reader and of the channel; [`InvalidInput`](comity_core::Kind) where all tables are of gates.
    fn look_up_whole(&mut self, ch: &mut dyn Channel, table: &PublicTable, at: &[BitShares]) -> Result<Vec<BitShares>> {
        let _ = (ch, table, at);
        Err(Error::invalid_input("all of these tables are of gates: none is looked up whole"))
    }

    /// The output of which these are the masked bits, if this party is a recipient.
    ///
    /// # Errors
    /// Those of the reader and of the channel, and of the checks that an output waits for.
    fn unmask(&mut self, ch: &mut dyn Channel, to: Recipients, masked: Bits) -> Result<Option<Bits>>;
}

/// A party's view of some wires: their masked bits, which both parties know, and its shares of the masks,
/// unless its tables contain these. (The masks of an XOR gate follow from those of its inputs.)
pub struct MaskedRows {
    masked: BitRows,
    masks: Option<BitRows>,
}

impl MaskedRows {
    /// The masks beside those of other rows.
    fn both<'m>(&'m mut self, other: &'m MaskedRows) -> Option<(&'m mut BitRows, &'m BitRows)> {
        self.masks.as_mut().zip(other.masks.as_ref())
    }
}

impl WireRows for MaskedRows {
    fn shape(&mut self, slots: usize, copies: usize) -> core::result::Result<(), NoMemory> {
        self.masked.shape(slots, copies)?;
        self.masks.as_mut().map_or(Ok(()), |masks| masks.shape(slots, copies))
    }

    fn load(&mut self, slot: usize, from: &MaskedRows, at: Place, first: u64) {
        self.load_value(slot..slot + 1, from, at, first);
    }

    fn store(&self, slot: usize, to: &mut MaskedRows, at: Place, first: u64) {
        self.store_value(&[slot as u32], to, at, first);
    }

    fn load_value(&mut self, slots: Range<usize>, from: &MaskedRows, at: Place, first: u64) {
        self.masked.load_value(slots.clone(), &from.masked, at, first);
        if let Some((to, from)) = self.both(from) {
            to.load_value(slots, from, at, first);
        }
    }

    fn store_value(&self, slots: &[u32], to: &mut MaskedRows, at: Place, first: u64) {
        self.masked.store_value(slots, &mut to.masked, at, first);
        if let Some((to, from)) = to.both(self) {
            from.store_value(slots, to, at, first);
        }
    }
}

/// Masked bits of two parties.
pub struct MaskedSharing<'a, L> {
    ch: &'a mut (dyn Channel + 'a),
    me: PartyId,
    backend: Backend,
    look_ups: L,
    /// What is looked up whole.
    boxed: Option<&'a Boxed<'a>>,
    /// Whether the walk has the masks: tables of gates want them that have not.
    masks: bool,
    at: [BitShares; 2],
    of: [BitShares; 2],
}

impl<'a, L: LookUps> MaskedSharing<'a, L> {
    /// The online phase of this party, over a link to its peer. Without `boxed` each gate has a table, which
    /// contains the masks of the gate's inputs. With `boxed` only the other gates have tables, without masks:
    /// if there are such gates, the sharing keeps this party's shares of all masks.
    pub fn new(
        ch: &'a mut (dyn Channel + 'a),
        here: Here,
        boxed: Option<&'a Boxed<'a>>,
        look_ups: L,
    ) -> MaskedSharing<'a, L> {
        let Here { me, backend, .. } = here;
        let masks = boxed.is_some_and(|boxed| boxed.gates() > 0);
        let strings = || [BitShares::default(), BitShares::default()];
        MaskedSharing { ch, me, backend, look_ups, boxed, masks, at: strings(), of: strings() }
    }

    /// The link, and the tables.
    pub fn into_parts(self) -> (&'a mut (dyn Channel + 'a), L) {
        (self.ch, self.look_ups)
    }

    fn gates(&mut self, mut masked: impl BitOperands, mut masks: Option<impl BitOperands>) -> Result<()> {
        for count in masked.pieces() {
            let MaskedSharing { at: [c, d], of: [u, v], .. } = self;
            [&mut *c, &mut *d, &mut *u, &mut *v].into_iter().for_each(BitShares::clear);
            masked.read(count, c, d);
            if let Some(masks) = &mut masks {
                masks.read(count, u, v);
            }
            // Step 3.
            masked.write(self.look_ups.look_up(self.ch, [c, d], [u, v])?);
            if let Some(masks) = &mut masks {
                masks.write(self.look_ups.masks());
            }
        }
        Ok(())
    }
}

impl<L: LookUps> Sharing for MaskedSharing<'_, L> {
    type Rows = MaskedRows;
    const SHARES: bool = false;

    fn rows(&self) -> MaskedRows {
        let rows = || BitRows::new(self.backend);
        MaskedRows { masked: rows(), masks: self.masks.then(rows) }
    }

    fn together(&self, slots: usize, times: u64) -> u64 {
        L::together(slots, times)
    }

    /// The mask of a constant is zero.
    fn constants(&self, rows: &mut MaskedRows) {
        rows.masked.fill(0, false);
        rows.masked.fill(1, true);
        if let Some(masks) = &mut rows.masks {
            masks.fill(0, false);
            masks.fill(1, false);
        }
    }

    fn xors(&self, rows: &mut MaskedRows, gates: &[TapeGate]) {
        rows.masked.add(gates);
        if let Some(masks) = &mut rows.masks {
            masks.add(gates);
        }
    }

    fn ands(&mut self, rows: &mut MaskedRows, gates: &[TapeGate]) -> Result<()> {
        let MaskedRows { masked, masks } = rows;
        if let Some(single) = masked.single(gates) {
            return self.gates(single, masks.as_mut().and_then(|masks| masks.single(gates)));
        }
        self.gates(masked.lanes(gates), masks.as_mut().map(|masks| masks.lanes(gates)))
    }

    // Step 2.
    fn input(&mut self, put: Put, value: Option<&Bits>, to: &mut MaskedRows) -> Result<()> {
        let mut bytes = vec![0; put.bits.div_ceil(8)];
        let mut own = BitShares::from_words(vec![0; put.bits.div_ceil(64)], put.bits);
        match value {
            Some(value) if put.owner.includes(self.me) && value.len() == put.bits => {
                let masked = self.look_ups.input(value)?;
                bytes.copy_from_slice(&masked.to_bytes());
                let sums = masked.words().iter().zip(value.words());
                own.words_mut().iter_mut().zip(sums).for_each(|(mask, (masked, value))| *mask = masked ^ value);
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
        to.masked.unpack(&BitShares::from_bytes(&bytes, put.bits), put.start);
        if let Some(masks) = &mut to.masks {
            masks.unpack(&own, put.start);
        }
        Ok(())
    }

    fn random(&mut self, _: &mut MaskedRows, _: Range<usize>) -> Result<()> {
        Err(no_random())
    }

    // Step 4.
    fn reveal(&mut self, shown: Shown, from: &MaskedRows) -> Result<Option<Bits>> {
        let masked = from.masked.pack(shown.wires());
        let masked = Bits::from_words(masked.words().to_vec(), shown.bits);
        self.look_ups.unmask(self.ch, shown.to, masked)
    }

    // Step 3, of boxes.
    fn look_up(&mut self, call: &Call<'_>, memory: &mut MaskedRows) -> Result<bool> {
        let Some(table) = self.boxed.and_then(|boxed| boxed.table(call.index)) else { return Ok(false) };
        for (first, copies) in boxes::messages(table.delta(), call.times) {
            let at = boxes::indices(call, &memory.masked, first, copies);
            let rows = self.look_ups.look_up_whole(self.ch, table, &at)?;
            boxes::put_rows(call, &mut memory.masked, first, &rows);
            if let Some(masks) = &mut memory.masks {
                boxes::put_rows(call, masks, first, &boxes::parted(self.look_ups.masks(), copies));
            }
        }
        Ok(true)
    }
}

/// Programs have no random wires.
pub(crate) fn no_random() -> Error {
    Error::invalid_input("tables are made for a program, and programs draw no random values")
}
