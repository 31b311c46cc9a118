//! Running a program from beginning to end.

use comity_channel::Channel;
use comity_circuit::Observer;
use comity_core::Result;
use comity_protocol::{Here, Job};
use comity_sharing::SharedEngine;

use crate::machine::Machine;
use crate::sharing::PairSharing;
use comity_triples::TripleDealer;

/// Runs this party's side of a program on a dealer's material. Outputs for this party go to the observer. The
/// session must serve this run alone. The caller has [checked](comity_protocol::Card::fits) that the program
/// is for two parties.
///
/// Phases: `offline`, in which the dealer makes masks for all inputs, and triples up to a batch; then those
/// of the program. Triples beyond the first batch are made when they are needed.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) where the inputs do not fit the program; those of the [`Machine`] and
/// of the channel.
pub fn run_with(
    ch: &mut dyn Channel,
    here: Here,
    dealer: Box<dyn TripleDealer + '_>,
    job: &Job<'_>,
    observer: &mut dyn Observer,
) -> Result<()> {
    let Job { program, inputs, .. } = *job;
    program.check_inputs(Some(here.me), inputs)?;
    let mut machine = Machine::new(here.child("machine"), dealer);
    machine.plan(program.and_gates());
    observer.phase("offline");
    for circuit in program.lowered() {
        circuit.layered();
    }
    let masks =
        [0, 1].map(|party: u16| program.inputs().iter().filter(|i| i.owner.includes(party)).map(|i| i.bits).sum());
    machine.prepare(ch, masks)?;
    comity_circuit::run(program, &mut SharedEngine::new(PairSharing::new(ch, &mut machine)), inputs, observer)?;
    ch.flush()
}
