//! What a run costs: the dealer's objects, products and rows, with lengths. An estimate, as the dealer's is.

use comity_core::Result;
use comity_protocol::{Costing, Talk};
use comity_tinyot::costs::deal_for_many;

/// Seconds of work for an AND gate and pair of parties besides its triple.
const GATE: f64 = 1.2e-6;

/// Goes through the messages of a run.
pub(crate) fn costs(of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
    let (ands, others) = (of.program.and_gates(), u64::from(of.parties - 1));
    deal_for_many(of, ands, talk)?;
    // Bytes to each peer for an AND gate: the rows of all parties' entries, masks, and the correlations of their products. Party 0
    // sends all rows to each, or each party its part of them and its shares.
    let rows = if of.options.word("opener") == "collector" { 64 * u64::from(of.parties) } else { 128 };
    let gate = rows + 6;
    talk.exchange(ands.saturating_mul(gate) + 12 * of.input_bits() + 5_500);
    talk.turns(8);
    talk.exchange(of.program.outputs().iter().map(|output| output.bits as u64 / 8 + 32).sum::<u64>());
    talk.work(GATE * ands as f64 * (others * others) as f64);
    Ok(())
}
