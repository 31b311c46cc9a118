//! Semi-honest two-party computation by garbled circuits (Yao 1986; as in Lindell and Pinkas, J. Cryptology
//! 2009).
//!
//! **Functionality**: secure evaluation of a program; each output goes to one party or to both.
//!
//! **Adversary**: semi-honest, either party. A garbler who cheats can garble another program and so learn the
//! evaluator's input, or change the result; an evaluator who cheats can, through the OT extension, learn
//! delta and with it the garbler's input. Against a cheating peer this crate promises only that it does not
//! panic or hang, and that its memory is bounded.
//!
//! **Assumptions**: gap Diffie-Hellman and a random oracle in ristretto255 (base OT), AES-128 as a
//! pseudo-random generator and, where OTs are hashed, as a random permutation, BLAKE3 as a random oracle
//! (sessions). Of the garbling by itself: AES-128 as an ideal cipher, or, under standard assumptions, as a
//! pseudorandom function.
//!
//! **Protocol**. The party with more input bits garbles, so that few OTs are needed ([`garbler`]), unless the
//! option `role` says who does. Which garbling it is they agree on: half gates, three halves, or one under standard
//! assumptions, which has no free XOR.
//! 1. *Setup*: 128 base OTs make the garbler the sender of an OT extension. With free XOR its correlation is
//!    the garbling's delta itself, else one that is drawn for it. No setup if the evaluator has no input.
//! 2. *Inputs of the garbler*: the active labels are pseudo-random and public, from the session id; the other
//!    label is the active one plus delta, or drawn. Which one stands for zero the garbler knows. Nothing is
//!    sent.
//! 3. *Inputs of the evaluator*: with free XOR the extension's correlation is the pair of labels: the
//!    garbler's `q_j` is the label for zero, the evaluator's `t_j = q_j ^ x_j delta` the active one. Without,
//!    both are hashed (random OT): labels are the two pads, and a label's permute bit is the bit that it
//!    stands for, which the evaluator knows.
//! 4. *Gates*: streamed.
//! 5. *Outputs*: permute bits go to each recipient, in one message each way.
//!
//! **Cost**: 32 bytes for an AND gate; with three halves 24 and five bits; under standard assumptions 32 and
//! a bit, and 16 for an XOR gate. 16 for an input bit of the evaluator, none for one of the garbler, one bit
//! for an output bit and recipient; about 10 KiB for the base OTs. Rounds: one for the setup, half a one for
//! each input value of the evaluator, half a one for each output value; gates add none.

mod costs;
mod evaluator;
mod garbler;
mod labels;
mod protocol;

use comity_channel::Channel;
use comity_circuit::{Program, Recipients};
use comity_core::{Backend, Bits, Block, PartyId, Prg, Result, SessionId};

pub use protocol::{Yao, run_over};

/// The party that garbles: the one with more input bits, party 0 on a tie.
pub fn garbler(program: &Program) -> PartyId {
    let of = |party: u16| program.inputs().iter().filter(move |i| i.owner.includes(party)).map(|i| i.bits as u64);
    PartyId(u16::from(of(1).sum::<u64>() > of(0).sum::<u64>()))
}

/// The public active labels of the garbler's inputs, in the order of the program.
fn garbler_labels(backend: Backend, session: &SessionId) -> Prg {
    Prg::new(backend, session.block("active labels of the garbler's inputs"))
}

/// The public start of the gate keys of a session: a hash of both parties' nonces.
pub fn gate_keys(session: &SessionId) -> Block {
    session.block("start of the gate keys")
}

/// Whether the evaluator has an input.
fn evaluator_has_input(program: &Program, garbler: PartyId) -> bool {
    program.inputs().iter().any(|i| !i.owner.includes(garbler))
}

/// Step 5, the same for both sides: reveals an output value, which is the XOR of both sides' permute bits. Each side
/// sends its bits to the other if that one learns the value. For any garbling whose permute bits are bit 0 of labels.
///
/// # Errors
/// Those of the channel.
pub fn reveal(ch: &mut dyn Channel, me: PartyId, to: Recipients, wires: &[Block]) -> Result<Option<Bits>> {
    reveal_bits(ch, me, to, wires.iter().map(|label| label.lsb()).collect())
}

/// Reveals an output value of which this side has these permute bits.
fn reveal_bits(ch: &mut dyn Channel, me: PartyId, to: Recipients, ours: Bits) -> Result<Option<Bits>> {
    if to.includes(me.other().0) {
        ch.send(&ours.to_bytes())?;
    }
    if !to.includes(me) {
        return Ok(None);
    }
    let mut theirs = vec![0; ours.len().div_ceil(8)];
    ch.recv(&mut theirs)?;
    let mut value = Bits::from_bytes(&theirs, ours.len());
    value.xor_assign(&ours);
    Ok(Some(value))
}
