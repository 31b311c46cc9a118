//! What a run costs: the dealer's messages and the openings, with lengths; an estimate, as the dealer's are.

use comity_core::Result;
use comity_protocol::{Costing, Talk};
use comity_triples::costs::{counted, deal_for_many, deal_for_two};
use comity_triples::fast;

use crate::protocol::kind;

/// The messages of a run.
pub(crate) fn costs(of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
    let ands = of.program.and_gates();
    if of.parties == 2 {
        counted(kind(of.options))?;
        deal_for_two(of, ands, fast::OBJECTS, talk)?;
    } else {
        deal_for_many(of, ands, usize::MAX, talk)?;
        // What all have to see alike is told to each, and echoed.
        talk.exchange(6_700 + 11 * ands);
        talk.turns(22);
    }
    // Masks of inputs, with what is checked.
    talk.exchange(4 * of.input_bits() + of.input_bits() / 8 + 700);
    talk.exchange(ands / 4);
    talk.turns(of.program.totals().and_depth);
    talk.exchange(of.program.outputs().iter().map(|output| output.bits as u64 / 8 + 48).sum());
    Ok(())
}
