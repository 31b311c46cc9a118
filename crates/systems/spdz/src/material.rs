//! Field material as shelves keep it: how much a batch holds, how many batches a use takes, and who makes
//! them.
//!
//! It is for any program, and for any protocol on shares in GF(2^128).

use comity_channel::Mesh;
use comity_circuit::{Program, Recipients};
use comity_core::{Block, PartyId, Result};
use comity_field_shares::FieldDealer;
use comity_protocol::{Ahead, Here, Material, Need, Party, Press, Shelf, WriteBatch};
use comity_sharing::{Batches, fill_lots, whole_runs};
use rand_core::CryptoRng;

use crate::source::{FieldSource, Fresh};
use crate::stored::{FieldAmounts, FieldBatch, FieldsFromShelf};

/// The material's name.
pub const FIELD: &str = "field";

/// The material, for a protocol's card.
pub const MATERIAL: Material = Material { name: FIELD, program: false, from: None, options: &[], units: &["products"] };

/// Triples of a batch.
const TRIPLES: usize = 1 << 11;

/// Shared bits of a batch, and bits of each party: of either kind a quarter of the number of triples.
const BITS: usize = 1 << 9;

/// Elements of each party in a batch: one for each bit, for uses that put in one beside each bit.
const ELEMENTS: usize = BITS;

/// Batches of a lot, if no program needs more.
const LOT: u64 = 1 << 6;

/// What is stored beside a batch's own bytes.
const BESIDE: u64 = 4096;

/// The amounts in a batch of `parties` parties.
fn batch(parties: u16) -> FieldAmounts {
    FieldAmounts { parties, triples: TRIPLES, shares: BITS, masks: BITS, elements: ELEMENTS }
}

/// How much of each kind something uses up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct FieldUses {
    /// Products.
    pub products: u64,
    /// Bits that nobody knows.
    pub shares: u64,
    /// Bits of one party alone: the most of any party.
    pub masks: u64,
    /// Elements of one party alone.
    pub elements: u64,
}

impl FieldUses {
    /// The uses of a program whose AND gates are products: a bit of a party for each bit that it puts in, and
    /// for each output bit that it learns and some other party does not.
    pub fn of(program: &Program) -> FieldUses {
        let of = |party| -> u64 {
            let put_in = program.inputs().iter().filter(|input| input.owner.party() == Some(party));
            let learnt = program.outputs().iter().filter(|output| output.to != Recipients::All);
            let learnt = learnt.filter(|output| output.to.includes(party));
            put_in.map(|input| input.bits as u64).sum::<u64>() + learnt.map(|output| output.bits as u64).sum::<u64>()
        };
        let masks = (0..program.parties()).map(|party| of(PartyId(party))).max().unwrap_or(0);
        FieldUses { products: program.and_gates(), masks, ..FieldUses::default() }
    }

    /// The shortfall if there are only `batches` batches: of products, and of masks or offsets of wires.
    pub fn lacks(&self, batches: u64) -> String {
        let lacks = |used: u64, of: usize| used.saturating_sub(batches.saturating_mul(of as u64));
        let products = lacks(self.products, TRIPLES);
        let wires = lacks(self.shares, BITS).max(lacks(self.masks, BITS)).max(lacks(self.elements, ELEMENTS));
        let both = [(products, "products of gates"), (wires, "masks of wires")];
        let both = both.into_iter().filter(|(count, _)| *count > 0).map(|(count, what)| format!("{count} {what}"));
        both.collect::<Vec<_>>().join(" and ")
    }

    /// The number of batches that hold these uses: at least one.
    pub fn need(&self) -> Need {
        let kinds = [(self.products, TRIPLES), (self.shares, BITS), (self.masks, BITS), (self.elements, ELEMENTS)];
        let batches = kinds.map(|(used, of)| used.div_ceil(of as u64)).into_iter().fold(1, u64::max);
        Need {
            material: FIELD,
            units: vec![batches.saturating_mul(TRIPLES as u64)],
            batches,
            bytes: batches.saturating_mul(batch(2).bytes() + BESIDE),
        }
    }
}

/// The most bytes that one of `parties` parties stores for a need.
pub fn stored_bytes(need: &Need, parties: u16) -> u64 {
    need.batches.saturating_mul(batch(parties).bytes() + BESIDE)
}

/// A source of material that is made when it is asked for.
///
/// # Errors
/// As [`FieldDealer::setup`].
pub fn fresh(net: &mut Mesh<'_>, here: Here, rng: &mut dyn CryptoRng) -> Result<Box<dyn FieldSource<Block>>> {
    Ok(Box::new(Fresh(FieldDealer::<Block>::setup(net, here.child("dealer"), rng)?)))
}

/// A source of what is on a shelf of this material.
///
/// # Errors
/// As [`FieldsFromShelf::new`].
pub fn fields_from_shelf(shelf: &mut dyn Shelf, here: Here) -> Result<FieldsFromShelf<'_>> {
    FieldsFromShelf::new(shelf, here.me, batch(here.parties))
}

/// Makes material ahead. Lots hold whole runs.
///
/// # Errors
/// Those of the dealer, and of the press.
pub fn prepare(me: &mut Party<'_, '_>, ahead: &Ahead<'_>, to: &mut dyn Press) -> Result<()> {
    let of = Batches { units: TRIPLES as u64, lot: whole_runs(LOT, ahead.together) };
    fill_lots(me, ahead, to, of, |_| written())
}

/// Writes batches of a dealer that the first one sets up.
fn written() -> Box<WriteBatch<'static>> {
    let mut source = None;
    Box::new(move |me, _, out| {
        let Party { net, here, rng, observer } = me;
        let source = match &mut source {
            Some(source) => source,
            none => {
                observer.phase("setup");
                let source = fresh(net, *here, *rng)?;
                observer.phase("offline");
                none.insert(source)
            }
        };
        FieldBatch::make(&mut **source, net, &batch(here.parties))?.write(out)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_use_takes_whole_batches() {
        let batches =
            |products, shares, masks, elements| FieldUses { products, shares, masks, elements }.need().batches;
        assert_eq!([batches(0, 0, 0, 0), batches(2048, 512, 512, 512), batches(2049, 0, 0, 0)], [1, 1, 2]);
        assert_eq!([batches(1, 1025, 0, 0), batches(1, 0, 513, 0), batches(1, 0, 0, 1537)], [3, 2, 4]);
        let lacks = |products, shares| FieldUses { products, shares, ..FieldUses::default() }.lacks(2);
        assert_eq!(lacks(4097, 1026), "1 products of gates and 2 masks of wires");
        assert_eq!([lacks(4096, 1025), lacks(5000, 3)], ["1 masks of wires", "904 products of gates"]);
        let need = FieldUses::default().need();
        assert_eq!((stored_bytes(&need, 2), need.bytes), (need.bytes, batch(2).bytes() + BESIDE));
        // Bits and elements of one more party.
        assert_eq!(stored_bytes(&need, 3) - need.bytes, 32 * 1024);
    }
}
