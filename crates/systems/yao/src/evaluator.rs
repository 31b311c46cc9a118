//! The evaluator.

use comity_channel::Channel;
use comity_circuit::{Call, Engine, Memory, Observer, Program, Put, Shown};
use comity_core::{Bits, Block, Error, PartyId, Prg, Result};
use comity_garble::EvaluatedStream;
use comity_ot::base::BaseOt;
use comity_ot::{AtLeast, SemiHonest, iknp};
use comity_protocol::{Here, Job};
use rand_core::CryptoRng;

use crate::garbler::missing;
use crate::labels::Garbling;
use crate::{evaluator_has_input, garbler_labels, reveal};

pub(crate) fn run<S: Garbling, B: BaseOt<Model: AtLeast<SemiHonest>>>(
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
    let mut engine = Evaluator::<S> {
        ch,
        me: here.me,
        memory: Memory::default(),
        ot: ot.map(S::receiver),
        labels: garbler_labels(here.backend, &here.session),
        stream: EvaluatedStream::new(S::evaluator(&here)),
    };
    comity_circuit::run(job.program, &mut engine, job.inputs, observer)?;
    engine.ch.flush()
}

struct Evaluator<'a, S: Garbling> {
    ch: &'a mut (dyn Channel + 'a),
    me: PartyId,
    /// Active labels.
    memory: Memory<Block>,
    ot: Option<S::Receiver>,
    labels: Prg,
    stream: EvaluatedStream<S>,
}

impl<S: Garbling> Engine for Evaluator<'_, S> {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.memory = Memory::of(program)?;
        Ok(())
    }

    fn input(&mut self, put: Put, value: Option<&Bits>) -> Result<()> {
        let wires = &mut self.memory[put.wires()];
        if !put.owner.includes(self.me) {
            // Step 2.
            self.labels.fill_blocks(wires);
            return Ok(());
        }
        // Step 3.
        let value = value.filter(|v| v.len() == put.bits).ok_or_else(|| missing(&put))?;
        match &mut self.ot {
            Some(ot) => S::receive(ot, self.ch, value, wires),
            None => Ok(()),
        }
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        // Step 4.
        self.stream.call(call, &mut self.memory, |tables| self.ch.recv(tables))
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        // Step 5.
        reveal(self.ch, self.me, shown.to, &self.memory[shown.wires()])
    }
}
