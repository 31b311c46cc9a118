//! Running a program from beginning to end.

use comity_channel::Channel;
use comity_circuit::{Observer, Program};
use comity_core::{Bits, Error, PartyId, Result, SessionId};

use crate::engine::Sharing;
use crate::{Dealer, Machine};

/// Runs this party's side of a program on a dealer's material. `inputs[i]` is there exactly for this party's values. Outputs for
/// this party go to the observer.
///
/// Phases: `offline`, in which the dealer makes masks for all inputs, and triples up to a batch; then those of the program.
/// Triples beyond the first batch are made when they are needed.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) where the inputs do not fit the program or the program is not for two parties; those of the
/// [`Machine`] and of the channel.
pub fn run_with(
    ch: &mut dyn Channel,
    session: &SessionId,
    dealer: Box<dyn Dealer + '_>,
    program: &Program,
    inputs: &[Option<Bits>],
    observer: &mut dyn Observer,
) -> Result<()> {
    check(dealer.party(), program, inputs)?;
    let mut ch = ch;
    let mut machine = Machine::new(&session.child("machine"), dealer);
    machine.plan(program.and_gates());
    observer.phase("offline");
    for circuit in program.lowered() {
        circuit.layered();
    }
    let masks =
        [0, 1].map(|party: u16| program.inputs().iter().filter(|i| i.owner.includes(party)).map(|i| i.bits).sum());
    machine.prepare(&mut ch, masks)?;
    comity_circuit::run(program, &mut Sharing::new(&mut ch, &mut machine), inputs, observer)?;
    ch.flush()
}

/// Whether this party can run the program on these inputs.
pub(crate) fn check(party: u32, program: &Program, inputs: &[Option<Bits>]) -> Result<()> {
    if program.parties() > 2 || party > 1 {
        return Err(Error::invalid_input(format!(
            "tinyot is for two parties, 0 and 1; this is party {party} of a program for {}",
            program.parties()
        )));
    }
    program.check_plain()?;
    Ok(program.check_inputs(Some(PartyId(party as u16)), inputs)?)
}
