//! What a run costs: the dealer's objects, products and rows, with lengths. An estimate, as the dealer's is.

use comity_core::Result;
use comity_protocol::{Costing, Talk};
use comity_spdz::material::FieldUses;
use comity_triples::costs::{deal_at_once, deal_for_many};

use crate::chunk::room;
use crate::protocol::OBJECTS;
use crate::triple_masks::MOST;

/// Seconds of work for an AND gate and pair of parties besides its triple.
const GATE: f64 = 1.2e-6;

/// What the products of masks by further OTs take besides, to each peer: bytes of a set-up, bytes of an AND
/// gate, and turns.
const BY_OT: (u64, u64, u64) = (9_800, 13, 29);

/// Turns besides the triples' of ten thousand gates in programs of several chunks, for shares, masks and the
/// chunks themselves: this number, and one more for each party. Measured; within a tenth.
const SEVERAL: u64 = 15;

/// Turns of a chunk on shares in a field, and products that are opened in one.
const ON_A_FIELD: u64 = 24;
const PIECE: u64 = 1 << 12;

/// Turns of a second deal, where a program of one chunk has more gates than are dealt at a time.
const AGAIN: u64 = 46;

/// Goes through the messages of a run. Turns are those of a run, if its gates are dealt at once.
pub(crate) fn costs(of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
    let (ands, others) = (of.program.and_gates(), u64::from(of.parties - 1));
    let at_once = ands <= room(of.program, of.parties.into()) as u64;
    if at_once {
        deal_at_once(of, ands, talk)?;
        talk.turns(if ands > MOST as u64 { AGAIN } else { 0 });
    } else {
        deal_for_many(of, ands, OBJECTS, talk)?;
        talk.turns(ands / 10_000 * (SEVERAL + u64::from(of.parties)));
    }
    // Masks and their products, with what is checked, and keys.
    let outputs = output_bits(of);
    let masks = ands.saturating_mul(6) + 12 * of.input_bits() + 5 * outputs + 5_500;
    rows(of, ands, masks, talk);
    talk.turns(if of.parties == 2 { 7 } else { 8 });
    if of.options.word("products") == "ot" {
        let (setup, gate, turns) = BY_OT;
        talk.exchange(setup + ands.saturating_mul(gate));
        talk.turns(turns - 1);
    }
    talk.exchange(of.program.outputs().iter().map(|output| output.bits as u64 / 8 + 32).sum::<u64>());
    talk.work(GATE * ands as f64 * (others * others) as f64);
    Ok(())
}

/// The same on shares in a field, of which a run uses up `uses`: two elements a product are opened, an
/// element a bit of an output, and keys of inputs. `xors` XOR gates have rows.
pub(crate) fn on_a_field(of: &Costing<'_>, uses: &FieldUses, xors: u64, talk: &mut Talk) {
    let (gates, others) = (of.program.and_gates().saturating_add(xors), u64::from(of.parties - 1));
    comity_spdz::costs::deal(of.parties, uses, talk);
    let masks = 32 * uses.products + 16 * output_bits(of) + 16 * of.input_bits() + 1_500;
    rows(of, gates, masks, talk);
    let chunks = gates.div_ceil(room(of.program, of.parties.into()) as u64).max(1);
    talk.turns(chunks * ON_A_FIELD + u64::from(of.parties) + uses.products / PIECE);
    talk.work(GATE * gates as f64 * (others * others) as f64);
}

fn output_bits(of: &Costing<'_>) -> u64 {
    of.program.outputs().iter().map(|output| output.bits as u64).sum()
}

/// Shares and sums of rows: party 0 hears all shares and sends all rows to each, or each party does for its part;
/// an output's bit has half the rows of a gate. `beside` are further bytes from each party to each other one.
fn rows(of: &Costing<'_>, gates: u64, beside: u64, talk: &mut Talk) {
    let (share, rows) = (64 * u64::from(of.parties), gates.saturating_add(output_bits(of).div_ceil(2)));
    let collector = of.options.word("opener") == "collector";
    talk.exchange_each(|from, to| {
        let each = if !collector {
            128
        } else if from.0 == 0 || to.0 == 0 {
            share
        } else {
            0
        };
        beside.saturating_add(rows.saturating_mul(each))
    });
}
