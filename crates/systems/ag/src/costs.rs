//! What a run costs: the dealer's objects, masks and rows, with lengths. An estimate, as the dealer's is.

use comity_core::Result;
use comity_protocol::{Costing, Talk};
use comity_triples::costs::{counted, deal_for_two};

use crate::protocol::{kind, objects};

/// AND gates of a chunk of rows.
const CHUNK: u64 = 32_640;

/// Seconds of work for an AND gate besides its triple.
const GATE: f64 = 140e-9;

/// Goes through the messages of a run.
pub(crate) fn costs(of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
    let (ands, garbler) = (of.program.and_gates(), of.options.first("role"));
    counted(kind(of.options))?;
    deal_for_two(of, ands, objects(ands, of.params.rho), talk)?;
    // A mask for each AND gate and input bit, of 31 bits each way, and two opened bits.
    let masks = ands + of.input_bits();
    talk.exchange(masks * 31 / 8 + ands / 4 + 1_200 + of.input_bits() / 8);
    let rows = ands.saturating_mul(32) + ands / 8 + 16 * of.input_bits();
    talk.exchange_each(|from, _| if from == garbler { rows } else { ands / 8 });
    talk.turns(4 * ands.div_ceil(CHUNK).max(1) - 1);
    talk.exchange(of.program.outputs().iter().map(|output| output.bits as u64 / 8 + 32).sum::<u64>() + 128);
    talk.work(GATE * ands as f64);
    Ok(())
}
