//! The evaluator.

use comity_channel::Channel;
use comity_circuit::{Call, Engine, Observer, Owner, Program, Recipients};
use comity_core::{Bits, Block, Error, Evaluator, Prg, Result, SessionId};
use comity_garble::{EvaluatedStream, HalfGates};
use comity_ot::base::Simplest;
use comity_ot::{DeltaReceiver, iknp};
use rand_core::CryptoRng;

use crate::garbler::missing;
use crate::{Config, evaluator_has_input, garbler_labels, gate_keys, reveal};

pub(crate) fn run(
    ch: &mut dyn Channel,
    session: &SessionId,
    config: &Config,
    program: &Program,
    inputs: &[Option<Bits>],
    rng: &mut dyn CryptoRng,
    observer: &mut dyn Observer,
) -> Result<()> {
    // Step 1.
    let ot = match evaluator_has_input(program) {
        true => Some(iknp::Receiver::setup::<Simplest>(ch, &session.child("input OT"), config.backend, rng)?),
        false => None,
    };
    let mut engine = Evaluating {
        ch,
        party: config.party,
        ot,
        labels: garbler_labels(config.backend, session),
        stream: EvaluatedStream::new(HalfGates::evaluator(config.backend, gate_keys(session))),
    };
    comity_circuit::run(program, &mut engine, inputs, observer)?;
    engine.ch.flush()
}

struct Evaluating<'a> {
    ch: &'a mut (dyn Channel + 'a),
    party: u32,
    ot: Option<iknp::Receiver>,
    labels: Prg,
    stream: EvaluatedStream<Evaluator>,
}

impl Engine for Evaluating<'_> {
    /// The active label.
    type Wire = Block;
    type Error = Error;

    fn input(&mut self, index: usize, owner: Owner, value: Option<&Bits>, _: usize, wires: &mut [Block]) -> Result<()> {
        if !owner.includes(self.party as u16) {
            // Step 2.
            self.labels.fill_blocks(wires);
            return Ok(());
        }
        // Step 3.
        let value = value.filter(|v| v.len() == wires.len()).ok_or_else(|| missing(index, wires.len()))?;
        match &mut self.ot {
            Some(ot) => ot.extend(self.ch, value, wires),
            None => Ok(()),
        }
    }

    fn call(&mut self, call: &Call<'_>, memory: &mut [Block]) -> Result<()> {
        // Step 4.
        self.stream.call(call, memory, |tables| self.ch.recv(tables))
    }

    fn reveal(&mut self, _: usize, to: Recipients, _: usize, wires: &[Block]) -> Result<Option<Bits>> {
        // Step 5.
        reveal(self.ch, self.party, to, wires)
    }
}
