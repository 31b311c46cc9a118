//! What a run costs: the messages of the [protocol](crate), with lengths.

use comity_protocol::{Costing, Talk, Walked};

use crate::evaluator_has_input;
use crate::protocol::garbling;

/// Seconds of work for an AND gate, garbled and evaluated at the same time, and for the base OTs.
const GATE: f64 = 18e-9;
const BASE: f64 = 0.018;

/// Goes through the messages of a run.
pub(crate) fn costs(of: &Costing<'_>, talk: &mut Talk) {
    let garbler = garbling(of.options, of.program);
    let evaluator = garbler.other();
    if evaluator_has_input(of.program, garbler) {
        // Simplest OT: a point, and one for each bit of delta.
        talk.say(evaluator, garbler, 32);
        talk.say(garbler, evaluator, 128 * 32);
        talk.work(BASE);
    }
    of.walk(talk, &mut |talk, step| match step {
        Walked::Input(index) => {
            let input = &of.program.inputs()[index];
            if input.owner.includes(evaluator) && input.bits > 0 {
                talk.say(evaluator, garbler, 128 * input.bits.div_ceil(8) as u64);
            }
        }
        Walked::Call { ands, times, .. } => {
            talk.say(garbler, evaluator, ands.saturating_mul(times).saturating_mul(32));
            talk.work(GATE * ands.saturating_mul(times) as f64);
        }
        Walked::Output(index) => {
            let output = &of.program.outputs()[index];
            talk.exchange_each(|_, to| if output.to.includes(to) { output.bits.div_ceil(8) as u64 } else { 0 });
        }
    });
}
