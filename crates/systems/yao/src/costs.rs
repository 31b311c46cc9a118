//! What a run costs: the messages of the [protocol](crate), with lengths.

use comity_core::Tape;
use comity_garble::{HalfGates, Scheme as _, Standard, ThreeHalves, parts};
use comity_protocol::{Costing, Talk, Walked};

use crate::evaluator_has_input;
use crate::protocol::{Scheme, garbling};

/// Seconds of work for the base OTs.
const BASE: f64 = 0.018;

/// The bytes of a tape's tables, and the seconds that both parties, at the same time, work on its gates.
fn gates(scheme: Scheme, tape: &Tape) -> (u64, f64) {
    let bytes = match scheme {
        Scheme::HalfGates => parts(tape).map(|part| HalfGates::bytes(&part)).sum::<usize>(),
        Scheme::Standard => parts(tape).map(|part| Standard::bytes(&part)).sum(),
        Scheme::ThreeHalves => parts(tape).map(|part| ThreeHalves::bytes(&part)).sum(),
    };
    // Those of half gates times what AES-128 and SHA-256 took against them in one run.
    let [and, xor] = match scheme {
        Scheme::HalfGates => [18e-9, 0.0],
        Scheme::Standard => [24e-9, 13e-9],
        Scheme::ThreeHalves => [26e-9, 0.0],
    };
    (bytes as u64, and * tape.ands().len() as f64 + xor * tape.xors().len() as f64)
}

/// Says the messages of a run, and the work between them.
pub(crate) fn costs(of: &Costing<'_>, talk: &mut Talk) {
    let garbler = garbling(of.options, of.program);
    let (evaluator, scheme) = (garbler.other(), Scheme::of(of.options));
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
        Walked::Call { circuit, times, .. } => {
            let (bytes, seconds) = gates(scheme, circuit.tape());
            talk.say(garbler, evaluator, bytes.saturating_mul(times));
            talk.work(seconds * times as f64);
        }
        Walked::Output(index) => {
            let output = &of.program.outputs()[index];
            talk.exchange_each(|_, to| if output.to.includes(to) { output.bits.div_ceil(8) as u64 } else { 0 });
        }
    });
}
