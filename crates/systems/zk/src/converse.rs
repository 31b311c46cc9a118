//! Whole conversations over a channel.

use comity_channel::Channel;
use comity_core::{Bits, Commitment, Result};
use comity_garble::{PrivacyFree, RowReduced};
use comity_protocol::{Here, Honest};
use rand_core::CryptoRng;

use crate::conversation::{FIRST, OPENING, ProofTerms, Prover, Verifier};
use crate::garbled;
use crate::statement::Statement;
use crate::system::{Soundness, System};
use crate::vole;

/// A way to prove in conversation.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Conversation {
    /// A system of three moves, at this level, before which the verifier commits to its challenge.
    ThreeMoves(System, Soundness),
    /// MACs on wires: for statements of any size, with 125 bits.
    Vole,
    /// A garbled circuit: for statements of any size, with 127 bits.
    Garbled,
    /// As `Garbled`, with a row for XOR gates, too, as garbling was first published: more bytes, for
    /// comparison.
    GarbledRows,
}

impl Conversation {
    /// The name of the way in flags, reports and the hello.
    pub fn name(self) -> &'static str {
        match self {
            Conversation::ThreeMoves(system, _) => system.name(),
            Conversation::Vole => "vole",
            Conversation::Garbled => "gc",
            Conversation::GarbledRows => "gc-rows",
        }
    }

    /// The bits of soundness: a prover without a witness passes with probability `2^-bits`, not counting what
    /// it computes to find a key of the verifier's (the page of the crate counts that).
    pub fn bits(self) -> u32 {
        match self {
            Conversation::ThreeMoves(_, level) => level.bits(),
            Conversation::Vole => 125,
            Conversation::Garbled | Conversation::GarbledRows => 127,
        }
    }
}

/// Proves a statement to the peer. `witness` has the value of each secret input. `Ok` does not mean that the
/// peer believes the proof.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind), before anything is sent, if the values do not fit, if they do not
/// make the statement true, or if it is too large for the system;
/// [`WRONG_LABELS`](crate::checks::WRONG_LABELS), [`WRONG_TABLES`](crate::checks::WRONG_TABLES) and those of
/// the OT if the verifier cheats with a garbled circuit, [`WRONG_CHALLENGE`](crate::checks::WRONG_CHALLENGE)
/// if it does in a system of three moves; those of the channel.
pub fn prove_to(
    ch: &mut dyn Channel,
    here: Here,
    statement: &Statement,
    witness: &[Option<Bits>],
    way: Conversation,
    rng: &mut dyn CryptoRng,
) -> Result<()> {
    match way {
        Conversation::ThreeMoves(system, level) => {
            let terms = ProofTerms { session: here.session, statement, system, level };
            let mut commitment = [0; Commitment::BYTES];
            ch.recv(&mut commitment)?;
            let prover = Prover::new(here.backend, terms, witness, Commitment::new(commitment), rng)?;
            ch.send(&prover.first())?;
            let mut opening = [0; OPENING];
            ch.recv(&mut opening)?;
            ch.send(&prover.answer(&opening)?)?;
            ch.flush()
        }
        Conversation::Vole => {
            let secret = statement.secret(&statement.with_witness(witness)?);
            vole::prove((ch, &here.session), here.backend, statement, &secret, rng, &mut Honest)
        }
        Conversation::Garbled => {
            let secret = statement.secret(&statement.with_witness(witness)?);
            garbled::prove::<PrivacyFree>((ch, &here.session), here.backend, statement, &secret, rng, &mut Honest)
        }
        Conversation::GarbledRows => {
            let secret = statement.secret(&statement.with_witness(witness)?);
            garbled::prove::<RowReduced>((ch, &here.session), here.backend, statement, &secret, rng, &mut Honest)
        }
    }
}

/// Has the peer prove a statement. This party itself chose the statement and the way.
///
/// # Errors
/// Those of [`verify`](crate::verify); with MACs on wires [`WRONG_GATES`](crate::checks::WRONG_GATES),
/// [`OTHER_MACS`](crate::checks::OTHER_MACS) and those of the OTs; with a garbled circuit
/// [`OTHER_OUTPUTS`](crate::checks::OTHER_OUTPUTS), [`WRONG_COMMITMENT`](crate::checks::WRONG_COMMITMENT) and
/// those of the OT; those of the channel.
pub fn verify_from(
    ch: &mut dyn Channel,
    here: Here,
    statement: &Statement,
    way: Conversation,
    rng: &mut dyn CryptoRng,
) -> Result<()> {
    match way {
        Conversation::ThreeMoves(system, level) => {
            let terms = ProofTerms { session: here.session, statement, system, level };
            let verifier = Verifier::new(here.backend, terms, rng)?;
            ch.send(&verifier.commitment().to_bytes())?;
            let mut first = [0; FIRST];
            ch.recv(&mut first)?;
            let asked = verifier.ask(first);
            ch.send(asked.opening())?;
            let mut answer = vec![0; asked.answer_bytes()];
            ch.recv(&mut answer)?;
            asked.finish(&answer).map(drop)
        }
        Conversation::Vole => vole::verify((ch, &here.session), here.backend, statement, rng, &mut Honest),
        Conversation::Garbled => {
            garbled::verify::<PrivacyFree>((ch, &here.session), here.backend, statement, rng, &mut Honest)
        }
        Conversation::GarbledRows => {
            garbled::verify::<RowReduced>((ch, &here.session), here.backend, statement, rng, &mut Honest)
        }
    }
}
