//! The protocol as comity's front knows it.

use comity_arith::dealers::{WordDealer, from_ot_over};
use comity_arith::{Conversions, WordMachine};
use comity_circuit::{Goal, Program};
use comity_core::{Params, Result};
use comity_gmw::BitMachine;
use comity_gmw::dealers::{BitDealer, OtTriples};
use comity_ot::base::{BaseOt, Simplest};
use comity_ot::{AtLeast, SemiHonest};
use comity_protocol::{
    Adversary, Card, CardKind, Corrupt, Costing, Default, Job, Opt, Options, Outline, Party, Protocol, Supplies, Takes,
    Talk, Values,
};
use comity_share::triples::OtKind;

use crate::chosen::{NET, SHARING, chosen};
use crate::engine::{Machines, MixedEngine};
use crate::form::Assignment;
use crate::plans::{Plans, Taken};

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
    offline: &[],
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
    let kind = extension(job.options);
    let plans = Plans::new(job.program, assignment);
    let taken = plans.taken(job.program);
    let Taken { ands, converts: [any, both], .. } = taken;
    me.observer.phase("setup");
    let words: Option<Box<dyn WordDealer>> = match taken.multiplies() {
        false => None,
        true => Some(from_ot_over::<B>(&mut me.sub("dealer of products"), kind)?),
    };
    let conversions =
        if any || both { Some(Conversions::setup_over::<B>(&mut me.sub("conversions"), kind, both)?) } else { None };
    let bits: Option<Box<BitDealer<'_>>> = match ands {
        0 => None,
        _ => Some(Box::new(OtTriples::setup_over::<B>(&mut me.sub("dealer of triples"), kind)?)),
    };
    let words = WordMachine::setup(me, words, conversions)?;
    let bits = BitMachine::setup(me, bits)?;
    let mut machines = Machines { words, bits };
    me.observer.phase("offline");
    machines.words.prepare(me.net, &taken.products)?;
    machines.words.prepare_matrices(me.net, &taken.matrices)?;
    machines.bits.plan(ands);
    machines.bits.prepare(me.net)?;
    let here = me.here.me;
    let mut engine = MixedEngine::new(me.net, here, &mut machines, &plans);
    comity_circuit::run(job.program, &mut engine, job.inputs, me.observer)?;
    me.net.flush()
}

impl Protocol for Mixed {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        crate::costs::costs(of, &chosen(of.program, of.options)?.assignment, extension(of.options), talk)
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

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        run_with::<Simplest>(&mut me.sub("mixed"), &chosen(job.program, job.options)?.assignment, job)
    }
}
