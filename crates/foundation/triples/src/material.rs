//! The material `shares`: how it is cut into batches and lots, and how systems take it.
//!
//! A lot is made under one set of global keys by exactly the parties that will use it up, two or more; it
//! serves any program, and any system whose wires these bits are. [`Uses`] says what a run takes,
//! [`from_shelf`] and [`rows_from_shelf`] give a dealer of it, which of two parties is of the form of two,
//! and for any number of rows.

use comity_circuit::Program;
use comity_core::{PartyId, Result};
use comity_ot::base::Csw;
use comity_protocol::{Ahead, Need, Party, Press, Shelf, WriteBatch};
use comity_sharing::{Batches, fill_lots, whole_runs};

use crate::dealers::{Ands, DealerKind, dealer};
use crate::many::stored::{RowAmounts, RowMaker, RowsFromShelf};
use crate::many::{self, OfTwo, RowDealer};
use crate::stored::{Amounts, FromShelf, Maker};

/// Triples of a batch, and the same number of random bits, for protocols that mask each AND gate's output,
/// too.
const TRIPLES: usize = 1 << 13;

/// Bits of a batch that are one party's alone, of each party.
const MASKS: usize = 1 << 11;

/// The amounts in a batch of two parties: 1.1 MB.
pub const BATCH: Amounts = Amounts { triples: TRIPLES, masks: [MASKS; 2], shares: TRIPLES };

/// Batches of a lot of two parties, if no program needs more: eight million ANDs, 1.1 GB, some ten seconds to make.
const LOT: u64 = 1 << 10;

/// The bytes that are stored beside a batch's own.
const BESIDE: u64 = 4096;

/// The amounts of a batch among `parties` parties.
pub fn row_batch(parties: u16) -> RowAmounts {
    RowAmounts { parties, triples: TRIPLES, masks: MASKS, shares: TRIPLES }
}

/// A dealer of party `party` of two from a shelf of `shares`.
///
/// # Errors
/// As [`FromShelf::new`].
pub fn from_shelf(shelf: &mut dyn Shelf, party: PartyId) -> Result<FromShelf<'_>> {
    FromShelf::new(shelf, party, BATCH)
}

/// A dealer of party `me` of `parties`, two or more, from a shelf of `shares`.
///
/// # Errors
/// As [`RowsFromShelf::new`].
pub fn rows_from_shelf(shelf: &mut dyn Shelf, me: PartyId, parties: u16) -> Result<Box<dyn RowDealer + '_>> {
    Ok(match parties {
        2 => Box::new(OfTwo::new(Box::new(from_shelf(shelf, me)?))),
        _ => Box::new(RowsFromShelf::new(shelf, me, row_batch(parties))?),
    })
}

/// The material that a run uses up.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Uses {
    /// Triples.
    pub triples: u64,
    /// Bits of one party alone: the most of any party.
    pub masks: u64,
    /// Random bits.
    pub shares: u64,
}

impl Uses {
    /// The material for a program whose inputs are hidden by masks and whose AND gates take a triple each.
    pub fn of(program: &Program) -> Uses {
        let bits = |party| -> u64 {
            let own = program.inputs().iter().filter(|input| input.owner.party() == Some(PartyId(party)));
            own.map(|input| input.bits as u64).sum()
        };
        let masks = (0..program.parties()).map(bits).max().unwrap_or(0);
        Uses { triples: program.and_gates(), masks, shares: 0 }
    }

    /// The use of `triples` triples, for any program.
    pub fn triples(triples: u64) -> Uses {
        Uses { triples, ..Uses::default() }
    }

    /// The whole batches that hold these amounts, at least one. The bytes are those of two parties; among
    /// more, [`stored_bytes`] says how much is stored.
    pub fn need(&self) -> Need {
        let batches = [(self.triples, TRIPLES), (self.masks, MASKS), (self.shares, TRIPLES)];
        let batches = batches.map(|(used, of)| used.div_ceil(of as u64)).into_iter().fold(1, u64::max);
        Need {
            material: "shares",
            units: vec![batches.saturating_mul(TRIPLES as u64)],
            batches,
            bytes: batches.saturating_mul(BATCH.bytes() + BESIDE),
        }
    }
}

/// The most bytes that one of `parties` parties stores for a need of `shares`.
pub fn stored_bytes(need: &Need, parties: u16) -> u64 {
    match parties {
        2 => need.bytes,
        _ => need.batches.saturating_mul(row_batch(parties).bytes() + BESIDE),
    }
}

/// Makes `shares` ahead: between two parties by a dealer of this kind, among more by
/// [`Many`](crate::many::Many). A lot suffices for a whole number of runs.
///
/// # Errors
/// Those of the dealer, and of the press.
pub fn prepare(me: &mut Party<'_, '_>, ahead: &Ahead<'_>, kind: DealerKind, to: &mut dyn Press) -> Result<()> {
    let parties = me.here.parties;
    let of = Batches { units: TRIPLES as u64, lot: lot(parties, ahead.together) };
    fill_lots(me, ahead, to, of, |ands| if parties == 2 { of_two(kind, ands) } else { of_many(ands) })
}

/// Writes batches of two parties, from a dealer for `ands` ANDs that the first batch sets up.
fn of_two(kind: DealerKind, ands: u64) -> Box<WriteBatch<'static>> {
    let mut maker: Option<Maker<'static>> = None;
    Box::new(move |me, _, out| {
        let (ch, here, rng, observer) = me.pair()?;
        let maker = match &mut maker {
            Some(maker) => maker,
            none => {
                observer.phase("setup");
                let dealer = dealer(ch, here.child("dealer"), kind, Ands::Exactly(ands), rng)?;
                observer.phase("offline");
                none.insert(Maker::new(dealer))
            }
        };
        maker.make(ch, &BATCH)?.write(out)
    })
}

/// Writes batches of many parties, from a dealer for `ands` ANDs that the first batch sets up.
fn of_many(ands: u64) -> Box<WriteBatch<'static>> {
    let mut maker: Option<RowMaker<'static>> = None;
    Box::new(move |me, _, out| {
        let Party { net, here, rng, observer } = me;
        let maker = match &mut maker {
            Some(maker) => maker,
            none => {
                observer.phase("setup");
                let dealer = many::dealer_over::<Csw>(net, *here, Ands::Exactly(ands), *rng)?;
                observer.phase("offline");
                none.insert(RowMaker::new(Box::new(dealer)))
            }
        };
        maker.make(net, &row_batch(here.parties))?.write(out)
    })
}

/// The number of batches of a lot among `parties` parties from which runs take `together` each: whole runs,
/// so that no batch is left over. A batch grows with the number of parties, and a lot does not.
fn lot(parties: u16, together: u64) -> u64 {
    whole_runs((2 * LOT / u64::from(parties)).max(1), together)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_lot_holds_whole_runs() {
        assert_eq!([lot(2, 0), lot(2, 1), lot(2, 4)], [LOT, LOT, LOT / 4 * 4]);
        assert_eq!([lot(2, LOT + 1), lot(2, 700)], [LOT + 1, 700]);
        assert_eq!([lot(3, 0), lot(3, 5), lot(16, 200)], [682, 680, 200]);
    }

    #[test]
    fn a_run_takes_whole_batches() {
        let batches = |triples, masks, shares| Uses { triples, masks, shares }.need().batches;
        assert_eq!([batches(0, 0, 0), batches(8192, 2048, 8192), batches(8193, 1, 1)], [1, 1, 2]);
        assert_eq!([batches(1, 2049, 1), batches(1, 1, 3 << 13)], [2, 3]);
        let need = Uses::default().need();
        assert_eq!(stored_bytes(&need, 2), need.bytes);
        // A third more than half as much again: 48 bytes a party for each triple, and what goes with it.
        assert!((need.bytes * 3 / 2..need.bytes * 5 / 3).contains(&stored_bytes(&need, 3)));
    }
}
