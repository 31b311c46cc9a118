//! What a run costs: the dealer's objects, products and rows, with lengths. An estimate, as the dealer's is.

use comity_core::Result;
use comity_protocol::{Costing, Talk};
use comity_tinyot::costs::{deal_at_once, deal_for_many};

use crate::chunk::room;

/// Seconds of work for an AND gate and pair of parties besides its triple.
const GATE: f64 = 1.2e-6;

/// What the products of masks by further OTs take besides, to each peer: bytes of a set-up, bytes of an AND gate, and turns.
const BY_OT: (u64, u64, u64) = (9_800, 13, 29);

/// Goes through the messages of a run. Turns are those of a run, if its gates fit a chunk.
pub(crate) fn costs(of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
    let (ands, others) = (of.program.and_gates(), u64::from(of.parties - 1));
    let at_once = ands <= room(of.program, of.parties.into()) as u64;
    if at_once {
        deal_at_once(of, ands, talk)?
    } else {
        deal_for_many(of, ands, talk)?
    }
    // Masks and their products, with what is checked, and keys.
    let masks = ands.saturating_mul(6) + 12 * of.input_bits() + 5_500;
    // Party 0 hears all shares and sends all rows to each, or each party does for its part.
    let (share, rows) = (64 * u64::from(of.parties), ands);
    let collector = of.options.word("opener") == "collector";
    talk.exchange_each(|from, to| {
        let each = if !collector {
            128
        } else if from.0 == 0 || to.0 == 0 {
            share
        } else {
            0
        };
        masks.saturating_add(rows.saturating_mul(each))
    });
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
