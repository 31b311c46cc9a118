//! The garbler.

use comity_channel::Channel;
use comity_circuit::{Call, Engine, Memory, Observer, Program, Put, Shown};
use comity_core::{Bits, Block, Error, PartyId, Prg, Result};
use comity_garble::{Garble, GarbledStream};
use comity_ot::base::BaseOt;
use comity_ot::{AtLeast, SemiHonest, iknp};
use comity_protocol::{Here, Job};
use rand_core::CryptoRng;

use crate::labels::{Garbling, WireOf};
use crate::{evaluator_has_input, garbler_labels, reveal_bits};

pub(crate) fn run<S: Garbling, B: BaseOt<Model: AtLeast<SemiHonest>>>(
    ch: &mut dyn Channel,
    here: Here,
    job: &Job<'_>,
    rng: &mut dyn CryptoRng,
    observer: &mut dyn Observer,
) -> Result<()> {
    // Step 1.
    let (garbler, correlation) = S::garbler(&here, rng);
    let ot = match evaluator_has_input(job.program, here.me) {
        true => Some(iknp::Sender::setup::<B>(ch, &here.session.child("input OT"), here.backend, correlation, rng)?),
        false => None,
    };
    let mut engine = Garbler::<S> {
        ch,
        me: here.me,
        memory: Memory::default(),
        ot: ot.map(S::sender),
        labels: garbler_labels(here.backend, &here.session),
        stream: GarbledStream::new(garbler),
    };
    comity_circuit::run(job.program, &mut engine, job.inputs, observer)?;
    engine.flush()?;
    engine.ch.flush()
}

struct Garbler<'a, S: Garbling> {
    ch: &'a mut (dyn Channel + 'a),
    me: PartyId,
    memory: Memory<WireOf<S>>,
    ot: Option<S::Sender>,
    labels: Prg,
    stream: GarbledStream<S>,
}

impl<S: Garbling> Garbler<'_, S> {
    /// Sends the tables that are still buffered, before any other message.
    fn flush(&mut self) -> Result<()> {
        self.stream.flush(|tables| self.ch.send(tables))
    }
}

impl<S: Garbling> Engine for Garbler<'_, S> {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.memory = Memory::of(program)?;
        Ok(())
    }

    fn input(&mut self, put: Put, value: Option<&Bits>) -> Result<()> {
        let wires = &mut self.memory[put.wires()];
        if put.owner.includes(self.me) {
            // Step 2.
            let value = value.filter(|v| v.len() == put.bits).ok_or_else(|| missing(&put))?;
            let mut active = vec![Block::ZERO; wires.len()];
            self.labels.fill_blocks(&mut active);
            for ((wire, active), bit) in wires.iter_mut().zip(active).zip(value.iter()) {
                *wire = S::own(self.stream.scheme(), active, bit);
            }
            Ok(())
        } else {
            // Step 3.
            self.stream.flush(|tables| self.ch.send(tables))?;
            match &mut self.ot {
                Some(ot) => S::send(self.stream.scheme(), ot, self.ch, wires),
                None => Ok(()),
            }
        }
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        // Step 4.
        self.stream.call(call, &mut self.memory, |tables| self.ch.send(tables))
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        // Step 5.
        self.flush()?;
        let (scheme, wires) = (self.stream.scheme(), &self.memory[shown.wires()]);
        let ours = wires.iter().map(|wire| scheme.label(wire, false).lsb()).collect();
        reveal_bits(self.ch, self.me, shown.to, ours)
    }
}

/// The error for a missing input value. Only a caller that does not go through [`comity_circuit::run`], which checks
/// values, gets it.
pub(crate) fn missing(put: &Put) -> Error {
    let Put { index, bits, .. } = put;
    Error::invalid_input(format!("input value {index} of {bits} bits is missing or has another length"))
}
