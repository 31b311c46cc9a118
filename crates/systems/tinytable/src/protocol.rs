//! Both forms as comity's front knows them: programs, and tables made ahead.

use std::io::{Read, Write};

use comity_circuit::{Goal, Program};
use comity_core::{Error, Params, Result};
use comity_gmw::dealers::{BitDealer, OtTriples};
use comity_ot::base::{BaseOt, Csw, Simplest};
use comity_ot::{AtLeast, Malicious, SemiHonest};
use comity_protocol::{
    Adversary, Ahead, Card, CardKind, Corrupt, Costing, Default, Job, Lot, Material, Need, Opt, Options, Party, Press,
    Protocol, Shelf, Supplies, Takes, Talk, Values,
};
use comity_share::triples::OtKind;
use comity_triples::{Ands, DealerKind, TripleDealer, dealer_over};

use crate::boxes::{Boxed, Boxing};
use crate::semi_honest::{prepare_with, run_on, run_with};
use crate::{authenticated, costs};

/// Where both forms come from.
const PAPER: &str = "Damgård, Nielsen, Nielsen, Ranellucci: Gate-scrambling Revisited, or: The TinyTable Protocol for 2-Party Secure \
                     Computation (ePrint 2016/695), as in PRACTICE deliverable D13.3 (2016), section 2.5";

/// The material of the semi-honest form.
const TABLES: &str = "tables";

/// TinyTable against semi-honest parties, whole: see the [crate](crate).
pub struct TinyTableSemiHonest;

static SEMI_HONEST: Card = Card {
    name: "tinytable-passive",
    kind: CardKind::Protocol,
    paper: PAPER,
    parties: 2..=2,
    adversary: Adversary::SemiHonest,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Depth,
    offline: &[Material { name: TABLES, program: true, from: None, options: &["dealer", "tables"], units: &["runs"] }],
    options: &[
        Opt {
            name: "dealer",
            values: Values::OneOf(&["softspoken", "iknp", "silent"]),
            default: Default::Given("softspoken"),
            agreed: true,
            about: "Which OT extension tables are made from: softspoken (7.8 bytes an AND gate), iknp (31.8), or silent (0.3, for slow \
                    networks)",
        },
        Opt {
            name: "tables",
            values: Values::OneOf(Boxing::WORDS),
            default: Default::Given("auto"),
            agreed: true,
            about: "What has a table: gates (each AND gate), sbox (whatever the program calls that is a function of at most 8 bits, \
                    looked up whole, in one round), or auto (sbox where gates would take more rounds and no fewer bits)",
        },
    ],
    phases: &["setup", "offline", "inputs", "gates", "outputs"],
    summary: "scrambled tables of gates, made ahead for one program (TinyTable, 2016), for two parties",
    protects: "parties that follow the protocol learn nothing but their outputs, whatever they compute afterwards",
    risk: "a peer that breaks the rules could learn this party's inputs, or make outputs wrong, unnoticed",
    about: "A table for each AND gate, of which both parties hold a share: 8.3 bytes a gate before the inputs matter (offline), which depend \
            on the program and serve one run of it; then a bit each way, half of gmw, and a round of messages for each layer of AND gates. \
            An S-box that the program calls is looked up whole, in one round. Without a store the tables are made in the run and kept in memory, two bits a gate. For whom the time from the inputs to \
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

    fn needs(&self, program: &Program, options: &Options, _: Params) -> Result<Vec<Need>> {
        let bytes = costs::table_bytes(&Boxed::new(program, Boxing::of(options)));
        Ok(vec![Need { material: TABLES, units: vec![1], batches: 1, bytes }])
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        costs::semi_honest(of, extension(of.options), talk);
        Ok(())
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        match from.shelf(TABLES) {
            Some(shelf) => run_on(me, job, next(shelf)?),
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
        let boxed = Boxed::new(named(self.card(), ahead)?, Boxing::of(ahead.options));
        lots(me, ahead, to, &mut |me, out| {
            let dealer = from_ot::<Simplest>(me, boxed.program(), ahead.options)?;
            prepare_with(me, &boxed, dealer, out)
        })
    }
}

/// A dealer of triples from OT, in a session of its own; `None` for a program without AND gates.
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

/// The material of the malicious form.
const AUTH_TABLES: &str = "authenticated tables";

/// TinyTable against parties that cheat, whole: see the [crate](crate).
pub struct TinyTable;

static MALICIOUS: Card = Card {
    name: "tinytable",
    kind: CardKind::Protocol,
    paper: PAPER,
    parties: 2..=2,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Size,
    offline: &[Material { name: AUTH_TABLES, program: true, from: None, options: &["dealer"], units: &["runs"] }],
    options: &[Opt {
        name: "dealer",
        values: Values::OneOf(&["fast", "nnob12"]),
        default: Default::Given("fast"),
        agreed: true,
        about: "How the authenticated triples are made that tables are made of: from SoftSpoken OT extension and the leaky AND of \
                2018, or as TinyOT of 2012 does",
    }],
    phases: &["setup", "offline", "inputs", "gates", "outputs"],
    summary: "scrambled tables of authenticated bits, made ahead for one program (TinyTable, 2016), for two parties",
    protects: "a party that cheats learns only its outputs, and is caught before anything else leaves this party, but with probability \
               2^-rho",
    risk: "a peer could stop the run at any time, also when it has its own outputs and this party does not",
    about: "Tables of authenticated bits: what tinyot's triples cost, and about 8 bytes an AND gate more, before the inputs matter (offline), \
            for one program and one run of it; then a bit each way, half of tinyot, and a round of messages for each layer of AND gates. \
            Without a store the tables are made in the run and kept in memory, 96 bytes a gate. For whom the time from the inputs to the \
            result counts, on networks with short delays.",
};

pub(crate) fn kind(options: &Options) -> DealerKind {
    match options.word("dealer") {
        "nnob12" => DealerKind::Nnob12,
        _ => DealerKind::Fast,
    }
}

impl Protocol for TinyTable {
    fn card(&self) -> &'static Card {
        &MALICIOUS
    }

    fn needs(&self, program: &Program, _: &Options, _: Params) -> Result<Vec<Need>> {
        Ok(vec![Need { material: AUTH_TABLES, units: vec![1], batches: 1, bytes: authenticated::table_bytes(program) }])
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        costs::malicious(of, talk)
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        match from.shelf(AUTH_TABLES) {
            Some(shelf) => authenticated::run_on(me, job, next(shelf)?),
            None => run_malicious_over::<Csw>(me, job),
        }
    }

    /// A lot for each run, under keys of its own: what is left when a check fails is nothing.
    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        _: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        let program = named(self.card(), ahead)?;
        lots(me, ahead, to, &mut |me, out| {
            let dealer = auth_dealer::<Csw>(me, program, ahead.options)?;
            authenticated::prepare_with(me, program, dealer, out)
        })
    }
}

/// A dealer of authenticated triples, in a session of its own.
fn auth_dealer<B: BaseOt<Model = Malicious>>(
    me: &mut Party<'_, '_>,
    program: &Program,
    options: &Options,
) -> Result<Box<dyn TripleDealer>> {
    me.observer.phase("setup");
    let (ch, here, rng, _) = me.pair()?;
    dealer_over::<B>(ch, here.child("dealer"), kind(options), Ands::Exactly(program.and_gates()), rng)
}

/// Makes authenticated tables in memory, by these base OTs, and runs a program on them.
///
/// # Errors
/// As [`authenticated::prepare_with`] and [`authenticated::run_on`].
pub fn run_malicious_over<B: BaseOt<Model = Malicious>>(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    let mut me = me.sub("tinytable");
    let dealer = auth_dealer::<B>(&mut me, job.program, job.options)?;
    authenticated::run_with(&mut me, dealer, job)
}

/// The program that material is ordered for.
fn named<'p>(card: &Card, ahead: &Ahead<'p>) -> Result<&'p Program> {
    ahead.program.ok_or_else(|| Error::invalid_input(format!("{} prepares runs of a program: name one", card.name)))
}

/// A lot for each run.
fn lots(
    me: &mut Party<'_, '_>,
    ahead: &Ahead<'_>,
    to: &mut dyn Press,
    write: &mut dyn FnMut(&mut Party<'_, '_>, &mut dyn Write) -> Result<()>,
) -> Result<()> {
    for run in 0..ahead.make.batches {
        let mut me = me.sub(&format!("lot {run}"));
        to.put(&mut me, &Lot { units: vec![1], batches: 1 }, &mut |me, _, out| write(me, out))?;
    }
    Ok(())
}

/// The tables of a lot, which are all of it.
fn next(shelf: &mut dyn Shelf) -> Result<Box<dyn Read + Send + '_>> {
    shelf.take()?.ok_or_else(|| Error::invalid_input("no lot of tables is left"))
}
