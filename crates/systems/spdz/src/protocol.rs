//! The protocol as comity's front knows it: programs, material made ahead, sessions by hand.

use comity_circuit::{Goal, Program};
use comity_core::{Block, Params, Result};
use comity_protocol::{
    Adversary, Ahead, Card, CardKind, Corrupt, Costing, Job, Need, Options, Party, Press, Protocol, Reactive, Supplies,
    Takes, Talk,
};
use comity_sharing::{ByHand, Lasting, ShareRows, SharedEngine};

use crate::machine::FieldMachine;
use crate::material::{FIELD, FieldUses, MATERIAL, fields_from_shelf, fresh, prepare, stored_bytes};
use crate::sharing::FieldSharing;
use crate::source::FieldSource;

/// SPDZ over GF(2^128), whole: see the [crate](crate).
pub struct Spdz;

static CARD: Card = Card {
    name: "spdz",
    kind: CardKind::Protocol,
    paper: "Damgard, Pastro, Smart, Zakarias: Multiparty Computation from Somewhat Homomorphic Encryption (Crypto 2012); \
            Keller, Orsini, Scholl: MASCOT: Faster Malicious Arithmetic Secure Computation with Oblivious Transfer (CCS 2016)",
    parties: 2..=16,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: true,
    goal: Goal::Size,
    offline: &[MATERIAL],
    options: &[],
    phases: &["setup", "offline", "inputs", "gates", "outputs"],
    summary: "authenticated shares in GF(2^128) (Damgard, Pastro, Smart, Zakarias 2012), made from oblivious transfer \
              (Keller, Orsini, Scholl 2016)",
    protects: "parties that cheat, even all but one together, learn only their outputs, and are caught before anything \
               else leaves the others, but with probability 2^-126 for each check",
    risk: "any party could stop the run at any time, also when it has its own outputs and others do not, and nobody can \
           tell which it was",
    about: "Shares in a field. For programs of bits it is far slower than tinyot, which does the same: an AND gate costs \
            26 kilobytes between every two parties ahead of time, where tinyot has 0.2, then 32 bytes and a round of \
            messages for each layer of AND gates. It is here for what is built on shares of field elements.",
};

/// The least number of AND gates that triples are made for by hand, when no triples are left: the most of one
/// checked batch.
const AT_LEAST: u64 = 511;

/// Runs this party's side of a program on this material. Outputs for this party go to the observer.
fn run_with(me: &mut Party<'_, '_>, source: Box<dyn FieldSource<Block> + '_>, job: &Job<'_>) -> Result<()> {
    let Party { net, here, rng, observer } = me;
    let program = job.program;
    let mut machine = FieldMachine::new(here.child("machine"), source, *rng);
    machine.plan(program.and_gates());
    observer.phase("offline");
    for circuit in program.lowered() {
        circuit.layered();
    }
    machine.prepare(net, FieldUses::of(program).masks as usize)?;
    let mut engine = SharedEngine::new(FieldSharing::new(net, &mut machine));
    comity_circuit::run(program, &mut engine, job.inputs, *observer)?;
    drop(engine);
    net.flush()
}

impl Protocol for Spdz {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn needs(&self, program: &Program, _: &Options, _: Params) -> Result<Vec<Need>> {
        Ok(vec![FieldUses::of(program).need()])
    }

    fn amount(&self, units: u64, _: &Options, _: Params) -> Result<Need> {
        Ok(FieldUses { products: units, ..FieldUses::default() }.need())
    }

    fn lacks(&self, program: &Program, _: &Need, batches: u64) -> Option<String> {
        Some(FieldUses::of(program).lacks(batches))
    }

    fn stored_bytes(&self, need: &Need, parties: u16) -> u64 {
        stored_bytes(need, parties)
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        crate::costs::costs(of, &FieldUses::of(of.program), talk);
        Ok(())
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        let mut me = me.sub("spdz");
        me.observer.phase("setup");
        let source: Box<dyn FieldSource<Block> + '_> = match from.shelf(FIELD) {
            Some(shelf) => Box::new(fields_from_shelf(shelf, me.here)?),
            None => fresh(me.net, me.here, me.rng)?,
        };
        run_with(&mut me, source, job)
    }

    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        _: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        prepare(me, ahead, to)
    }

    fn reactive(&self, me: &mut Party<'_, '_>, _: &Options) -> Result<Box<dyn Reactive>> {
        let Party { net, here, rng, .. } = me.sub("spdz by hand");
        let source = fresh(net, here, rng)?;
        Ok(Box::new(ByHand::new(Kept(FieldMachine::new(here.child("machine"), source, rng)))))
    }
}

/// A computation by hand.
struct Kept(FieldMachine<'static, Block>);

impl Lasting for Kept {
    type Rows = ShareRows<Block>;
    type Sharing<'a, 'n: 'a> = FieldSharing<'a, 'static, 'n>;
    const AT_LEAST: u64 = AT_LEAST;

    fn sharing<'a, 'n: 'a>(&'a mut self, me: &'a mut Party<'_, 'n>) -> Result<FieldSharing<'a, 'static, 'n>> {
        Ok(FieldSharing::new(me.net, &mut self.0))
    }

    fn plan(&mut self, ands: u64) {
        self.0.plan(ands);
    }
}
