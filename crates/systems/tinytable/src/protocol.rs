//! The protocol as comity's front knows it: programs, and tables made ahead.

use comity_circuit::{Goal, Program};
use comity_core::{Error, Params, Result};
use comity_gmw::dealers::{BitDealer, OtTriples};
use comity_ot::base::{BaseOt, Simplest};
use comity_ot::{AtLeast, SemiHonest};
use comity_protocol::{
    Adversary, Ahead, Card, CardKind, Corrupt, Costing, Default, Job, Lot, Material, Need, Opt, Options, Party, Press,
    Protocol, Supplies, Takes, Talk, Values,
};
use comity_share::triples::OtKind;

use crate::costs;
use crate::semi_honest::{prepare_with, run_on, run_with};

/// The material's name, in both forms.
const TABLES: &str = "tables";

/// TinyTable against semi-honest parties, whole: see the [crate](crate).
pub struct TinyTableSemiHonest;

static SEMI_HONEST: Card = Card {
    name: "tinytable-passive",
    kind: CardKind::Protocol,
    paper: "Damgård, Nielsen, Nielsen, Ranellucci: Gate-scrambling Revisited, or: The TinyTable Protocol for 2-Party Secure Computation \
            (ePrint 2016/695), as in PRACTICE deliverable D13.3 (2016), section 2.5",
    parties: 2..=2,
    adversary: Adversary::SemiHonest,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Depth,
    offline: &[Material { name: TABLES, program: true, from: None, options: &["dealer"], units: &["runs"] }],
    options: &[Opt {
        name: "dealer",
        values: Values::OneOf(&["softspoken", "iknp", "silent"]),
        default: Default::Given("softspoken"),
        agreed: true,
        about: "Which OT extension tables are made from: softspoken (7.8 bytes an AND gate), iknp (31.8), or silent (0.3, for slow \
                networks)",
    }],
    phases: &["setup", "offline", "inputs", "gates", "outputs"],
    summary: "scrambled tables of gates, made ahead for one program (TinyTable, 2016), for two parties",
    protects: "parties that follow the protocol learn nothing but their outputs, whatever they compute afterwards",
    risk: "a peer that breaks the rules could learn this party's inputs, or make outputs wrong, unnoticed",
    about: "A table for each AND gate, of which both parties hold a share: 8.3 bytes a gate before the inputs matter (offline), which depend \
            on the program and serve one run of it; then a bit each way, half of gmw, and a round of messages for each layer of AND gates. \
            Without a store the tables are made in the run and kept in memory, three bits a gate. For whom the time from the inputs to \
            the result counts.",
};

fn extension(options: &Options) -> OtKind {
    match options.word("dealer") {
        "iknp" => OtKind::Iknp,
        "silent" => OtKind::Silent,
        _ => OtKind::SoftSpoken,
    }
}

impl Protocol for TinyTableSemiHonest {
    fn card(&self) -> &'static Card {
        &SEMI_HONEST
    }

    fn needs(&self, program: &Program, _: &Options, _: Params) -> Result<Vec<Need>> {
        Ok(vec![Need { material: TABLES, units: vec![1], batches: 1, bytes: costs::table_bytes(program) }])
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        costs::semi_honest(of, extension(of.options), talk);
        Ok(())
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        match from.shelf(TABLES) {
            Some(shelf) => {
                let tables = shelf.take()?.ok_or_else(|| Error::invalid_input("no lot of tables is left"))?;
                run_on(me, job, tables)
            }
            None => run_over::<Simplest>(me, job),
        }
    }

    /// A lot for each run: its masks are its own.
    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        _: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        let nameless = || Error::invalid_input("tinytable-passive prepares runs of a program: name one");
        let program = ahead.program.ok_or_else(nameless)?;
        for run in 0..ahead.make.batches {
            let mut me = me.sub(&format!("lot {run}"));
            to.put(&mut me, &Lot { units: vec![1], batches: 1 }, &mut |me, _, out| {
                let dealer = from_ot::<Simplest>(me, program, ahead.options)?;
                prepare_with(me, program, dealer, out)
            })?;
        }
        Ok(())
    }
}

/// A dealer of triples from OT, in a session of its own; without AND gates there is none.
fn from_ot<B: BaseOt<Model: AtLeast<SemiHonest>>>(
    me: &mut Party<'_, '_>,
    program: &Program,
    options: &Options,
) -> Result<Option<Box<BitDealer<'static>>>> {
    me.observer.phase("setup");
    if program.and_gates() == 0 {
        return Ok(None);
    }
    Ok(Some(Box::new(OtTriples::setup_over::<B>(&mut me.sub("dealer"), extension(options))?)))
}

/// Makes tables in memory, by these base OTs, and runs a program on them.
///
/// # Errors
/// As [`prepare_with`] and [`run_on`].
pub fn run_over<B: BaseOt<Model: AtLeast<SemiHonest>>>(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    let mut me = me.sub("tinytable-passive");
    let dealer = from_ot::<B>(&mut me, job.program, job.options)?;
    run_with(&mut me, dealer, job)
}
