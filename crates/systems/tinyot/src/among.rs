//! Programs and sessions by hand among three parties and more: the [`RowMachine`] on the
//! [dealer of many](comity_triples::many).

use comity_core::{Block, Result};
use comity_ot::Malicious;
use comity_ot::base::{BaseOt, Csw};
use comity_protocol::{Job, Party, Shelf};
use comity_sharing::{ByHand, Lasting, ShareRows, SharedEngine};
use comity_triples::many::dealer_over;
use comity_triples::{Ands, RowDealer, rows_from_shelf};

use crate::many::{RowMachine, RowSharing};
use crate::protocol::AT_LEAST;

/// Runs this party's side of a program from beginning to end, by these base OTs. Outputs for this party go to
/// the observer.
pub(crate) fn run_over<B: BaseOt<Model = Malicious>>(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    me.observer.phase("setup");
    let dealer = dealer_over::<B>(me.net, me.here, Ands::Exactly(job.program.and_gates()), me.rng)?;
    run_with(me, Box::new(dealer), job)
}

/// As [`run_over`], on material that was made ahead.
pub(crate) fn run_on(me: &mut Party<'_, '_>, shelf: &mut dyn Shelf, job: &Job<'_>) -> Result<()> {
    let dealer = rows_from_shelf(shelf, me.here.me, me.here.parties)?;
    run_with(me, dealer, job)
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
    comity_circuit::run(program, &mut SharedEngine::new(RowSharing::new(net, &mut machine)), job.inputs, *observer)?;
    net.flush()
}

/// A session by hand, for at most `most` ANDs.
pub(crate) fn by_hand(me: &mut Party<'_, '_>, most: u64) -> Result<ByHand<Kept>> {
    let dealer = dealer_over::<Csw>(me.net, me.here, Ands::UpTo(most), me.rng)?;
    Ok(ByHand::new(Kept(RowMachine::new(me.here.child("machine"), Box::new(dealer), me.rng))))
}

/// A computation by hand.
pub(crate) struct Kept(RowMachine<'static>);

impl Lasting for Kept {
    type Rows = ShareRows<Block>;
    type Sharing<'a, 'n: 'a> = RowSharing<'a, 'static, 'n>;
    const AT_LEAST: u64 = AT_LEAST;

    fn sharing<'a, 'n: 'a>(&'a mut self, me: &'a mut Party<'_, 'n>) -> Result<RowSharing<'a, 'static, 'n>> {
        Ok(RowSharing::new(me.net, &mut self.0))
    }

    fn plan(&mut self, ands: u64) {
        self.0.plan(ands);
    }
}
