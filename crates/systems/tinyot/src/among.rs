//! Programs and sessions by hand among three parties and more: the [`RowMachine`] on the dealer of [`many`].

use std::any::Any;

use comity_channel::Mesh;
use comity_circuit::{Call, Engine, Program, Put, Recipients, Shown};
use comity_core::{Bits, Error, PartyId, Result};
use comity_protocol::{Here, Job, Party, Reactive, Shares, Shelf, WriteBatch};
use comity_share::RowShares;
use rand_core::CryptoRng;

use crate::bucket::Budget;
use crate::dealers::Ands;
use crate::many::stored::RowMaker;
use crate::many::{self, Many, RowDealer, RowMachine, RowSharing};
use crate::material::{row_batch, rows_from_shelf};
use crate::protocol::{AT_LEAST, Nobody};

/// The dealer of many, for so many ANDs, set up with all others.
fn dealer(net: &mut Mesh<'_>, here: Here, ands: Ands, rng: &mut dyn CryptoRng) -> Result<Many> {
    let (rho, objects) = (here.params.rho, many::objects(here.parties));
    let budget = match ands {
        Ands::Exactly(ands) => Budget::known(ands, rho, 1, objects),
        Ands::UpTo(most) => Budget::open(most, rho, 1, objects),
    }?;
    Many::new(net, here.child("dealer"), budget, rng)
}

/// Runs this party's side of a program from beginning to end. Outputs for this party go to the observer.
pub(crate) fn run(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    me.observer.phase("setup");
    let dealer = dealer(me.net, me.here, Ands::Exactly(job.program.and_gates()), me.rng)?;
    run_with(me, Box::new(dealer), job)
}

/// As [`run`], on material that was made ahead.
pub(crate) fn run_on(me: &mut Party<'_, '_>, shelf: &mut dyn Shelf, job: &Job<'_>) -> Result<()> {
    let dealer = rows_from_shelf(shelf, me.here.me, me.here.parties)?;
    run_with(me, dealer, job)
}

/// Writes batches of a dealer of many that the first one sets up, for so many ANDs.
pub(crate) fn material(ands: u64) -> Box<WriteBatch<'static>> {
    let mut maker: Option<RowMaker<'static>> = None;
    Box::new(move |me, _, out| {
        let Party { net, here, rng, observer } = me;
        let maker = match &mut maker {
            Some(maker) => maker,
            none => {
                observer.phase("setup");
                let dealer = dealer(net, *here, Ands::Exactly(ands), *rng)?;
                observer.phase("offline");
                none.insert(RowMaker::new(Box::new(dealer)))
            }
        };
        maker.make(net, &row_batch(here.parties))?.write(out)
    })
}

/// Runs this party's side of a program on a dealer's material.
pub(crate) fn run_with(me: &mut Party<'_, '_>, dealer: Box<dyn RowDealer + '_>, job: &Job<'_>) -> Result<()> {
    let Party { net, here, rng, observer } = me;
    let program = job.program;
    let mut machine = RowMachine::new(here.child("machine"), dealer, *rng);
    machine.plan(program.and_gates());
    observer.phase("offline");
    for circuit in program.lowered() {
        circuit.layered();
    }
    let bits = |party| program.inputs().iter().filter(|i| i.owner.includes(party)).map(|i| i.bits).sum();
    machine.prepare(net, (0..here.parties).map(bits).max().unwrap_or(0))?;
    let mut engine = RowSharing::new(net, &mut machine);
    comity_circuit::run(program, &mut engine, job.inputs, *observer)?;
    drop(engine);
    net.flush()
}

/// A session by hand, for so many ANDs at most.
pub(crate) fn by_hand(me: &mut Party<'_, '_>, most: u64) -> Result<ByHand> {
    let dealer = dealer(me.net, me.here, Ands::UpTo(most), me.rng)?;
    Ok(ByHand { machine: RowMachine::new(me.here.child("machine"), Box::new(dealer), me.rng) })
}

/// A computation by hand.
pub(crate) struct ByHand {
    machine: RowMachine<'static>,
}

fn held(shares: &Shares) -> Result<&RowShares> {
    let held: &dyn Any = &*shares.held;
    held.downcast_ref().ok_or_else(|| Error::invalid_input("the value is another protocol's"))
}

fn shares(rows: RowShares) -> Shares {
    Shares { bits: rows.len(), held: Box::new(rows) }
}

impl Reactive for ByHand {
    fn input(&mut self, me: &mut Party<'_, '_>, owner: PartyId, bits: usize, value: Option<&Bits>) -> Result<Shares> {
        self.machine.input(me.net, owner, value, bits).map(shares)
    }

    fn random(&mut self, me: &mut Party<'_, '_>, bits: usize) -> Result<Shares> {
        self.machine.random(me.net, bits).map(shares)
    }

    fn call(&mut self, me: &mut Party<'_, '_>, program: &Program, values: &[&Shares]) -> Result<Vec<Shares>> {
        let values: Vec<&RowShares> = values.iter().map(|value| held(value)).collect::<Result<_>>()?;
        self.machine.plan(program.and_gates().max(AT_LEAST));
        let engine = RowSharing::new(me.net, &mut self.machine);
        let mut calling = Calling { engine, values: &values, outputs: Vec::new() };
        comity_circuit::run(program, &mut calling, &vec![None; values.len()], &mut Nobody)?;
        Ok(calling.outputs.into_iter().map(shares).collect())
    }

    fn reveal(&mut self, me: &mut Party<'_, '_>, to: Recipients, value: &Shares) -> Result<Option<Bits>> {
        self.machine.reveal(me.net, to, held(value)?)
    }
}

/// The engine of a call: inputs are values that are there, outputs stay shared.
struct Calling<'v, 'e, 'n> {
    engine: RowSharing<'e, 'static, 'n>,
    values: &'v [&'v RowShares],
    outputs: Vec<RowShares>,
}

impl Engine for Calling<'_, '_, '_> {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.engine.begin(program)
    }

    fn input(&mut self, put: Put, _: Option<&Bits>) -> Result<()> {
        self.engine.put(put.start, self.values[put.index]);
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        self.engine.call(call)
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        self.outputs.push(self.engine.rows(shown.start, shown.bits));
        Ok(None)
    }
}
