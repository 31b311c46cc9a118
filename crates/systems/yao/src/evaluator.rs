//! The evaluator.

use comity_channel::Channel;
use comity_circuit::{Call, Engine, Observer, Owner, Recipients};
use comity_core::{Bits, Block, Error, PartyId, Prg, Result};
use comity_garble::{EvaluatedStream, HalfGates};
use comity_ot::base::BaseOt;
use comity_ot::{AtLeast, CotReceiver, SemiHonest, iknp};
use comity_protocol::{Here, Job};
use rand_core::CryptoRng;

use crate::garbler::missing;
use crate::{evaluator_has_input, garbler_labels, gate_keys, reveal};

pub(crate) fn run<B: BaseOt<Model: AtLeast<SemiHonest>>>(
    ch: &mut dyn Channel,
    here: Here,
    job: &Job<'_>,
    rng: &mut dyn CryptoRng,
    observer: &mut dyn Observer,
) -> Result<()> {
    // Step 1.
    let ot = match evaluator_has_input(job.program, here.me.other()) {
        true => Some(iknp::Receiver::setup::<B>(ch, &here.session.child("input OT"), here.backend, rng)?),
        false => None,
    };
    let mut engine = Evaluating {
        ch,
        me: here.me,
        ot,
        labels: garbler_labels(here.backend, &here.session),
        stream: EvaluatedStream::new(HalfGates::evaluator(here.backend, gate_keys(&here.session))),
    };
    comity_circuit::run(job.program, &mut engine, job.inputs, observer)?;
    engine.ch.flush()
}

struct Evaluating<'a> {
    ch: &'a mut (dyn Channel + 'a),
    me: PartyId,
    ot: Option<iknp::Receiver>,
    labels: Prg,
    stream: EvaluatedStream<HalfGates>,
}

impl Engine for Evaluating<'_> {
    /// The active label.
    type Wire = Block;
    type Error = Error;

    fn input(&mut self, index: usize, owner: Owner, value: Option<&Bits>, _: usize, wires: &mut [Block]) -> Result<()> {
        if !owner.includes(self.me) {
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
        reveal(self.ch, self.me, to, wires)
    }
}
