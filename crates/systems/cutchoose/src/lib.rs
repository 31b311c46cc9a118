//! Malicious two-party computation in a single execution, by cut-and-choose (Wang, Malozemoff, Katz, Eurocrypt 2017).
//!
//! **Functionality**: secure evaluation of a program; each output goes to one party or to both. With abort: a party that cheats
//! may end the run, also after it has its own output (fairness is not claimed).
//!
//! **Adversary**: malicious, either party. A cheating garbler is caught, or the output is right, but with probability
//! `1 / (2^rho - 1)` and what 128-bit keys leave.
//!
//! **Idea**. The garbler garbles the program `rho` times. The evaluator chooses in secret which copies it evaluates; the others it
//! gets the seeds of, makes them again and compares. If the garbler cheats in a copy that is checked it is caught. If
//! it cheats in a copy that is evaluated and another one is honest, the outputs differ, and two different outputs hold
//! the key to the garbler's input: the evaluator computes the result from both inputs in the clear, and the garbler does
//! not learn that this happened. A cheat escapes only if exactly the evaluated copies are bad: one guess among
//! `2^rho - 1`.
//!
//! **Protocol**: the steps in the code are those of Figures 3 and 4. `transfer`: steps 1 and 2; `consistency`: 3 and
//! 4; `gates`, `intake` and `outputs`: 5 and 6; `recovery`: 7; `consistency` again: 8. The checks of step 9 are made as soon as
//! what they look at is there, so that nothing is stored for them. [`prepare`] and [`Prepared`] are the offline and the online
//! phase, [`Form`] says how the garbled circuits travel.
//!
//! **Assumptions**: DDH in ristretto255 and what the OT needs (gap CDH, random oracle); AES-128 as an ideal cipher; BLAKE3 as a
//! random oracle, with 256 bits wherever something is committed to. All copies share the key of a gate's hash, which costs
//! `log2(2 rho)` bits of its concrete security (ePrint 2019/1168).
//!
//! **What leaks**. The evaluator's time depends a little on how many copies it evaluates, since checking a copy takes longer
//! than evaluating it: a garbler that measures this exactly knows how many there are, and its guess is right with `rho / (2^rho - 1)`,
//! which is `log2(rho)` bits less to guess (5.3 at rho = 40; none in coded form, where the number is fixed). Nothing else that leaves
//! the evaluator before the garbler's last message depends on its choice. By whether a check aborts, two inputs of the evaluator
//! can be told apart with at most `2^-(rho - 1)` (selective failure, `probe`). Sizes are public: the program, and who gives
//! and learns how many bits.
//!
//! **Cost** for `s` copies (`s = rho`, or in coded form the number that [`Form`] says), in bytes:
//!
//! | for | garbler sends | evaluator sends |
//! |---|---|---|
//! | AND gate | 32 s, or coded 32 for each evaluated copy | |
//! | encoded input bit of the evaluator (1.2 to 3 for each bit) | 32 s | 4 |
//! | input bit of the garbler | 32 s + 4 | |
//! | output bit | 32 s + 64 + 16 | |
//! | output bit to the garbler | 12 AND gates for the tag, an input bit if only it learns it | 1/8 |
//! | run | 208 s, base OTs and trees about 12 KiB | about 12 KiB |
//!
//! Rounds do not depend on the program: base OTs, the extension's check, the committing OT's check and opening, step 7.
//! Memory: a label of each copy for each wire of the program and for inputs that wait to be put in, and one buffer of tables.
//!
//! **Corrections followed, and differences from the paper**
//! - The evaluated copies are a uniform set that is not empty; the paper's may be, and then an honest run fails.
//! - Several recovered inputs, not more than two, make step 8 fail; and Lemma 4 needs two input bits of the garbler: one alone
//!   gets company, and with none there is nothing to recover.
//! - The garbler's input labels are checked by a linear check over all bits of a copy, not by commitments (`consistency`); the rows
//!   of the output tables are encrypted before they are committed to (`outputs`), `Delta` is hashed to the group (`recovery`).
//! - Recovery is always computed, with the program in the clear, whether it is needed or not, so that a garbler that waits for
//!   its outputs cannot tell by the time.
//! - The garbler's outputs are padded and tagged inside the garbled circuit (`plan`), as in Lindell and Pinkas 2007.
//! - One committing extension runs the other way (section 4.2 speaks of an ordinary one too; no step of the figures uses it).

pub mod checks;
mod conduct;
mod consistency;
mod copies;
mod evaluator;
mod garbler;
mod gates;
mod intake;
mod mac;
mod outputs;
mod plan;
mod prepared;
mod probe;
mod recovery;
mod rows;
mod saved;
#[cfg(test)]
mod tests;
mod transfer;

pub use prepared::{Loaded, Prepared, prepare, prepared_size};
pub use probe::Probe;

use comity_channel::Channel;
use comity_circuit::{Observer, Program};
use comity_core::{Backend, Bits, Block, Error, Params, PartyId, Result, SessionId};
use rand_core::CryptoRng;

use crate::conduct::Honest;

/// How a party runs.
#[derive(Clone, Copy, Debug)]
pub struct Config {
    /// What the machine can run.
    pub backend: Backend,
    /// This party: 0 or 1.
    pub party: u32,
    /// The party that garbles; both have the same.
    pub garbler: u32,
    /// The security parameters: there are `rho` copies, or some more if they are coded.
    pub params: Params,
    /// How the garbled circuits travel; both have the same.
    pub form: Form,
}

/// How the garbled circuits travel.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub enum Form {
    /// All copies: 32 bytes for each of the `rho` copies and each AND gate. The fastest where the network is.
    #[default]
    All,
    /// An erasure code of them, half as many bytes, and more work for both: for slow networks.
    Coded,
}

impl Form {
    /// The most that rho can be in coded form.
    pub const MOST_CODED: u32 = 127;
}

/// The party that should garble, as far as bytes tell: an input bit costs 32 bytes a copy at the garbler and about
/// 128 at the evaluator, an output bit for the garbler some 400 more. Party 0 on a tie.
pub fn garbler(program: &Program) -> u32 {
    let cost = |garbler: u16| -> u64 {
        let inputs = program.inputs().iter().map(|i| i.bits as u64 * if i.owner.includes(garbler) { 32 } else { 128 });
        let outputs = program.outputs().iter().filter(|o| o.to.includes(garbler)).map(|o| o.bits as u64 * 400);
        inputs.sum::<u64>() + outputs.sum::<u64>()
    };
    u32::from(cost(1) < cost(0))
}

/// Runs this party's side of a program. `inputs[i]` is there exactly for this party's values. Outputs for this party go
/// to the observer, when all checks are done.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) where the inputs do not fit the program or the program is not for two parties; else what the
/// channel reports, and [`Misbehaved`](comity_core::Kind) for each check that fails.
pub fn run(
    ch: &mut dyn Channel,
    session: &SessionId,
    config: &Config,
    program: &Program,
    inputs: &[Option<Bits>],
    rng: &mut dyn CryptoRng,
    observer: &mut dyn Observer,
) -> Result<()> {
    check(config, program)?;
    program.check_inputs(Some(PartyId(config.party as u16)), inputs)?;
    let session = session.child("cutchoose");
    if config.party == config.garbler {
        garbler::run(ch, &session, config, program, inputs, rng, observer, &mut Honest)
    } else {
        evaluator::run(ch, &session, config, program, inputs, rng, observer, &mut Honest)
    }
}

/// Whether this program is one for these parties.
fn check(config: &Config, program: &Program) -> Result<()> {
    if program.parties() > 2 || config.party > 1 || config.garbler > 1 {
        return Err(Error::invalid_input(format!(
            "cutchoose is for two parties, 0 and 1; this is party {} of a program for {}",
            config.party,
            program.parties()
        )));
    }
    if config.form == Form::Coded && config.params.rho > Form::MOST_CODED {
        return Err(Error::invalid_input("coded copies are for rho up to 127"));
    }
    Ok(program.check_plain()?)
}

/// The public start of the gate keys: a hash of both parties' nonces. It serves all copies, each with its own delta.
fn gate_keys(session: &SessionId) -> Block {
    session.block("start of the gate keys")
}
