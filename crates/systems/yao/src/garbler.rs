//! The garbler.

use comity_channel::Channel;
use comity_circuit::{Call, Engine, Memory, Observer, Program, Put, Shown};
use comity_core::{Bits, Block, Delta, Error, PartyId, Prg, Result};
use comity_garble::{GarbledStream, HalfGates};
use comity_ot::base::BaseOt;
use comity_ot::{AtLeast, CotSender, SemiHonest, iknp};
use comity_protocol::{Here, Job};
use rand_core::CryptoRng;

use crate::{evaluator_has_input, garbler_labels, gate_keys, reveal};

pub(crate) fn run<B: BaseOt<Model: AtLeast<SemiHonest>>>(
    ch: &mut dyn Channel,
    here: Here,
    job: &Job<'_>,
    rng: &mut dyn CryptoRng,
    observer: &mut dyn Observer,
) -> Result<()> {
    let mut random = [0; Block::BYTES];
    rng.fill_bytes(&mut random);
    let delta = Delta::new(Block::new(random));
    // Step 1.
    let ot = match evaluator_has_input(job.program, here.me) {
        true => Some(iknp::Sender::setup::<B>(ch, &here.session.child("input OT"), here.backend, delta.block(), rng)?),
        false => None,
    };
    let mut engine = Garbling {
        ch,
        me: here.me,
        memory: Memory::default(),
        ot,
        labels: garbler_labels(here.backend, &here.session),
        stream: GarbledStream::new(HalfGates::garbler(here.backend, delta, gate_keys(&here.session))),
    };
    comity_circuit::run(job.program, &mut engine, job.inputs, observer)?;
    engine.flush()?;
    engine.ch.flush()
}

struct Garbling<'a> {
    ch: &'a mut (dyn Channel + 'a),
    me: PartyId,
    /// Labels for zero.
    memory: Memory<Block>,
    ot: Option<iknp::Sender>,
    labels: Prg,
    stream: GarbledStream<HalfGates>,
}

impl Garbling<'_> {
    /// Sends the tables that are still buffered, before any other message.
    fn flush(&mut self) -> Result<()> {
        self.stream.flush(|tables| self.ch.send(tables))
    }
}

impl Engine for Garbling<'_> {
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
            self.labels.fill_blocks(wires);
            for (wire, bit) in wires.iter_mut().zip(value.iter()) {
                *wire ^= self.stream.delta().masked(bit);
            }
            Ok(())
        } else {
            // Step 3.
            self.stream.flush(|tables| self.ch.send(tables))?;
            match &mut self.ot {
                Some(ot) => ot.extend(self.ch, wires),
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
        reveal(self.ch, self.me, shown.to, &self.memory[shown.wires()])
    }
}

/// The error of a missing value, which is the caller's fault: [`comity_circuit::run`] checks values before
/// they get here.
pub(crate) fn missing(put: &Put) -> Error {
    let Put { index, bits, .. } = put;
    Error::invalid_input(format!("input value {index} of {bits} bits is missing or has another length"))
}
