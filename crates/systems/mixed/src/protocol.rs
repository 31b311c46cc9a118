//! The protocol as comity's front knows it.

use comity_arith::costs::OtsFrom;
use comity_arith::dealers::ADDER_TABLES;
use comity_arith::{Arith, WordMachine, prepare_adders};
use comity_circuit::{Goal, Program};
use comity_core::{Error, Params, Result};
use comity_gmw::dealers::TRIPLES;
use comity_gmw::{BitMachine, Gmw};
use comity_ot::base::{BaseOt, Simplest};
use comity_ot::{AtLeast, SemiHonest};
use comity_protocol::{
    Adversary, Ahead, Card, CardKind, Corrupt, Costing, Default, Job, Need, Opt, Options, Outline, Party, Press,
    Protocol, Supplies, Takes, Talk, Values,
};
use comity_share::triples::OtKind;

use crate::chosen::{NET, SHARING, chosen};
use crate::engine::{Machines, MixedEngine};
use crate::form::Assignment;
use crate::material::{FromOt, OnStore, STORED, Source, TABLES, garbled_ahead, needs};
use crate::plans::Plans;

/// Three forms of shares in one computation, whole: see the [crate](crate).
pub struct Mixed;

static CARD: Card = Card {
    name: "mixed",
    kind: CardKind::Protocol,
    paper: "Demmler, Schneider, Zohner: ABY (NDSS 2015)",
    parties: 2..=2,
    adversary: Adversary::SemiHonest,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Size,
    offline: &STORED,
    options: &[
        SHARING,
        NET,
        Opt {
            name: "dealer",
            values: Values::OneOf(&["softspoken", "iknp", "silent"]),
            default: Default::Given("softspoken"),
            agreed: true,
            about: "Which OT extension triples and conversions are made from: softspoken, iknp, or silent (for slow networks)",
        },
        TABLES,
    ],
    phases: &["setup", "offline", "inputs", "gates", "outputs"],
    summary: "shares of words, shares of bits and garbled circuits in one computation (ABY), with conversions",
    protects: "a party that follows the protocol learns nothing but its outputs, whatever it computes afterwards",
    risk: "a peer that breaks the rules could learn the other party's inputs, or make outputs wrong, unnoticed",
    about: "Sums and products of numbers run on shares of words, all else as garbled circuits or on shares of bits; what goes from one to the \
            other is converted: a word of 64 bits to labels costs 2.3 kilobytes, back to a word 0.5. It runs every program.",
};

pub(crate) fn extension(options: &Options) -> OtKind {
    match options.word("dealer") {
        "iknp" => OtKind::Iknp,
        "silent" => OtKind::Silent,
        _ => OtKind::SoftSpoken,
    }
}

/// Runs a program under an assignment, over these base OTs, where [`Mixed`] has [`Simplest`]. Outputs for this
/// party go to the observer.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) where the inputs do not fit the program; those of the OTs and of the
/// channel.
pub fn run_with<B: BaseOt<Model: AtLeast<SemiHonest>>>(
    me: &mut Party<'_, '_>,
    assignment: &Assignment,
    job: &Job<'_>,
) -> Result<()> {
    let plans = Plans::new(job.program, assignment);
    run_on(me, &plans, job, FromOt::<B>::new(extension(job.options)), |_| ())
}

/// As [`run_with`], by these plans and on material from this source. `ended` sees what this party holds in the end.
pub(crate) fn run_on<'d>(
    me: &mut Party<'_, '_>,
    plans: &Plans,
    job: &Job<'_>,
    mut from: impl Source<'d>,
    ended: impl FnOnce(&MixedEngine<'_, '_, '_>),
) -> Result<()> {
    let taken = plans.taken(job.program);
    if garbled_ahead(job.options) && taken.opened > 0 && !from.has_adders() {
        return Err(Error::invalid_input(format!(
            "tables=prepared takes {} from a store, and this run has none: make some with `comity prepare {} --protocol \
                mixed --option tables=prepared` and name the store, or leave the option out, at both parties",
            ADDER_TABLES.name,
            job.program.name()
        )));
    }
    me.observer.phase("setup");
    let words = if taken.multiplies() { Some(from.words(&mut me.sub("dealer of products"))?) } else { None };
    let conversions = match taken.converts {
        true => Some(from.conversions(&mut me.sub("conversions"), taken.ots[1] > 0)?),
        false => None,
    };
    let bits = if taken.ands == 0 { None } else { Some(from.bits(&mut me.sub("dealer of triples"))?) };
    let words = WordMachine::setup(me, words, conversions)?;
    let bits = BitMachine::setup(me, bits)?;
    let mut machines = Machines { words, bits };
    me.observer.phase("offline");
    machines.words.prepare(me.net, &taken.products)?;
    machines.words.prepare_matrices(me.net, &taken.matrices)?;
    machines.bits.plan(taken.ands);
    machines.bits.prepare(me.net)?;
    let here = me.here.me;
    let mut engine = MixedEngine::new(me.net, here, &mut machines, plans);
    comity_circuit::run(job.program, &mut engine, job.inputs, me.observer)?;
    ended(&engine);
    me.net.flush()
}

impl Protocol for Mixed {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        let plans = &chosen(of.program, of.options)?.plans;
        let from = if garbled_ahead(of.options) { OtsFrom::Store } else { extension(of.options).into() };
        if from == OtsFrom::Store {
            // The parties tell each other which lots they have, too.
            talk.about();
        }
        crate::costs::run(of.program, plans, from, talk);
        Ok(())
    }

    fn fits(&self, program: &Program, options: &Options, _: Params) -> Result<()> {
        chosen(program, options).map(drop)
    }

    fn agrees_on(&self, program: &Program, options: &Options) -> Result<Vec<(&'static str, String)>> {
        Ok(vec![("plan", chosen(program, options)?.digest())])
    }

    fn outline(&self, of: &Costing<'_>) -> Result<Option<Outline>> {
        Ok(Some(chosen(of.program, of.options)?.outline(of.program)))
    }

    fn needs(&self, program: &Program, options: &Options, params: Params) -> Result<Vec<Need>> {
        needs(program, &chosen(program, options)?.plans, options, params)
    }

    fn amount(&self, _: u64, _: &Options, _: Params) -> Result<Need> {
        Err(Error::invalid_input("mixed uses up several materials, how much of each depends on the program: name one"))
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        let plans = &chosen(job.program, job.options)?.plans;
        let (mut me, shelves) = (me.sub("mixed"), from.shelves());
        match shelves.is_empty() {
            true => run_on(&mut me, plans, job, FromOt::<Simplest>::new(extension(job.options)), |_| ()),
            false => run_on(&mut me, plans, job, OnStore(shelves), |_| ()),
        }
    }

    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        from: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        if ahead.make.material == ADDER_TABLES.name {
            return prepare_adders(me, ahead, extension(ahead.options), to);
        }
        let maker: &dyn Protocol = if ahead.make.material == TRIPLES.name { &Gmw } else { &Arith };
        maker.prepare(me, ahead, from, to)
    }
}
