//! Proofs in conversation.

use comity::{Session, Watch};
use comity_terminal::console::{emit, note};
use comity_terminal::failure::{Failure, Outcome};
use comity_terminal::json::to_line;
use comity_zk::{Conversation, Soundness, Statement};
use serde::Serialize;

use super::args::{MeetArgs, ProveArgs, SystemArg, VerifyArgs};
use super::{hex, known, system};
use crate::interrupt;
use crate::session::within;

/// The object that `--json` prints at the prover.
#[derive(Serialize)]
struct Shown {
    system: &'static str,
    soundness_bits: u32,
    /// The hash of the statement.
    statement: String,
}

/// The prover's side.
pub(super) fn prove(args: &ProveArgs) -> Outcome {
    let way = way(args.how.system, args.how.soundness)?;
    let (statement, witness) = known(args)?;
    let (session, address) = session(0, &args.how.meet)?;
    let watch = &mut Meeting { who: "party 0, the prover", seconds: args.how.meet.link.timeout.as_secs() };
    session.prove(&statement, &witness, way, watch).map_err(|e| Failure::from(e).with_peer(address))?;
    let (system, soundness_bits) = (way.name(), way.bits());
    if args.how.json {
        return emit(&to_line(&Shown { system, soundness_bits, statement: hex(statement.digest()) }));
    }
    emit("the proof is over; the verifier knows whether it is convinced\n")
}

/// The verifier's side: the system, and the bits of its soundness.
pub(super) fn verify(args: &VerifyArgs, statement: &Statement) -> Outcome<(&'static str, u32)> {
    let way = way(args.how.system, args.how.soundness)?;
    let (session, address) = session(1, &args.how.meet)?;
    let watch = &mut Meeting { who: "party 1, the verifier", seconds: args.how.meet.link.timeout.as_secs() };
    session.verify(statement, way, watch).map_err(|e| Failure::from(e).with_peer(address))?;
    Ok((way.name(), way.bits()))
}

fn way(arg: SystemArg, bits: Option<u32>) -> Outcome<Conversation> {
    let way = match arg {
        SystemArg::Auto | SystemArg::Vole => Conversation::Vole,
        SystemArg::Gc => Conversation::Garbled,
        SystemArg::GcRows => Conversation::GarbledRows,
        SystemArg::Voleith => {
            return Err(Failure::input(
                "--system voleith: all its challenges are hashes, so it proves in files only: with --interactive take `vole`",
            ));
        }
        _ => Conversation::ThreeMoves(system(arg)?, bits.map_or(Ok(Soundness::Bits128), Soundness::of_bits)?),
    };
    match bits {
        Some(bits) if bits > way.bits() => Err(Failure::input(format!(
            "--soundness {bits}: {} has {} bits in conversation; take --system zkb++, zkboo or kkw",
            way.name(),
            way.bits()
        ))),
        _ => Ok(way),
    }
}

/// The session that the flags ask for, and the address in them.
fn session(party: u16, args: &MeetArgs) -> Outcome<(Session<'static>, &str)> {
    interrupt::on();
    let session = within(args.link.session(party)?.stopped_by(interrupt::stop()), args.deadline);
    match (&args.listen, &args.connect, &args.relay) {
        (Some(address), ..) => Ok((session.listen(address), address)),
        (None, Some(address), _) => Ok((session.connect(address), address)),
        (None, None, Some(address)) => Ok((session.relay(address), address)),
        (None, None, None) => Err(Failure::input(
            "where is the other side? One adds --listen ADDR, the other --connect ADDR, such as 127.0.0.1:7000, or \
                both --relay ADDR",
        )),
    }
}

/// Tells the person at the terminal how the two sides meet.
struct Meeting {
    who: &'static str,
    seconds: u64,
}

impl Watch for Meeting {
    fn listening(&mut self, address: &str) {
        note(&format!("{}: waiting for the peer at {address}, up to {} s", self.who, self.seconds));
    }

    fn at_relay(&mut self, relay: &str) {
        note(&format!("{}: waiting for the peer at the relay {relay}, up to {} s", self.who, self.seconds));
    }

    fn turned_away(&mut self, why: &str) {
        note(&format!("{}: turned away a stranger: {why}", self.who));
    }
}
