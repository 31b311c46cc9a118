//! The protocol as comity's front knows it.

use comity_circuit::{Goal, Program};
use comity_core::{PartyId, Result};
use comity_garble::{HalfGates, Standard, ThreeHalves};
use comity_ot::base::{BaseOt, Simplest};
use comity_ot::{AtLeast, SemiHonest};
use comity_protocol::{
    Adversary, Card, CardKind, Corrupt, Costing, Default, Job, Opt, OptionValue, Options, Party, Protocol, Supplies,
    Takes, Talk, Values,
};

use crate::labels::Garbling;
use crate::{evaluator, garbler};

/// Yao's protocol, whole: see the [crate](crate).
pub struct Yao;

static CARD: Card = Card {
    name: "yao",
    kind: CardKind::Protocol,
    paper: "Yao 1986; Lindell, Pinkas: A Proof of Security of Yao's Protocol (Journal of Cryptology 2009)",
    parties: 2..=2,
    adversary: Adversary::SemiHonest,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Size,
    offline: &[],
    options: &[
        Opt {
            name: "role",
            values: Values::Part(&["garbler", "evaluator"]),
            default: Default::FromProgram,
            agreed: true,
            about: "The role of this party; the other party has the other role. A party that does not set it takes the role \
                    that is left; if neither sets it, the one with more input bits garbles",
        },
        Opt {
            name: "garbling",
            values: Values::OneOf(Scheme::NAMES),
            default: Default::Given("half-gates"),
            agreed: true,
            about: "How gates are garbled: half-gates (32 bytes an AND gate); three-halves (24.6 bytes, slower: for slow \
                    networks); standard (32.1 bytes an AND and 16 an XOR gate, for which AES need only be a pseudorandom \
                    function). cutchoose and nisc, which garble many copies in lockstep, have half-gates only",
        },
    ],
    phases: &["setup", "inputs", "gates", "outputs"],
    summary: "Yao's garbled circuits with half-gates, for two parties",
    protects: "a party that follows the protocol learns nothing but its outputs, whatever it computes afterwards",
    risk: "a peer that breaks the rules could learn this party's inputs, or make its outputs wrong, unnoticed",
    about: "One garbled circuit, 32 bytes an AND gate. Fewer bytes, and weaker assumptions, are options (`garbling`). The party with more input bits garbles, unless the option `role` says who does. A party that cheats \
            could learn the other's inputs, or make its outputs wrong, unnoticed.",
};

/// The party that garbles.
pub(crate) fn garbling(options: &Options, program: &Program) -> PartyId {
    if options.is_set("role") { options.first("role") } else { crate::garbler(program) }
}

/// The garbling scheme of a run.
#[derive(Clone, Copy)]
pub(crate) enum Scheme {
    /// Half gates.
    HalfGates,
    /// Under standard assumptions.
    Standard,
    /// Three halves.
    ThreeHalves,
}

impl Scheme {
    /// The names of the schemes, as the option has them.
    const NAMES: &[&str] = &["half-gates", "standard", "three-halves"];

    /// The scheme that the options name.
    pub(crate) fn of(options: &Options) -> Scheme {
        match options.word("garbling") {
            "standard" => Scheme::Standard,
            "three-halves" => Scheme::ThreeHalves,
            _ => Scheme::HalfGates,
        }
    }

    /// What has to hold of AES for the garbling.
    fn assumption(self) -> &'static str {
        match self {
            Scheme::HalfGates | Scheme::ThreeHalves => "AES-128 is an ideal cipher",
            Scheme::Standard => "AES-128 is a pseudorandom function",
        }
    }
}

/// Runs a program over these base OTs, where [`Yao`] has [`Simplest`].
///
/// # Errors
/// As [`Protocol::run`].
pub fn run_over<B: BaseOt<Model: AtLeast<SemiHonest>>>(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    job.program.check_inputs(Some(me.me()), job.inputs)?;
    match Scheme::of(job.options) {
        Scheme::HalfGates => run::<HalfGates, B>(me, job),
        Scheme::Standard => run::<Standard, B>(me, job),
        Scheme::ThreeHalves => run::<ThreeHalves, B>(me, job),
    }
}

fn run<S: Garbling, B: BaseOt<Model: AtLeast<SemiHonest>>>(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    let mut me = me.sub("yao");
    let (ch, here, rng, observer) = me.pair()?;
    observer.phase("setup");
    match garbling(job.options, job.program) == here.me {
        true => garbler::run::<S, B>(ch, here, job, rng, observer),
        false => evaluator::run::<S, B>(ch, here, job, rng, observer),
    }
}

impl Protocol for Yao {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn settle(&self, options: &mut Options, program: &Program) {
        options.settle("role", OptionValue::First(crate::garbler(program)));
    }

    fn assumption(&self, options: &Options) -> Option<&'static str> {
        Some(Scheme::of(options).assumption())
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        crate::costs::costs(of, talk);
        Ok(())
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        run_over::<Simplest>(me, job)
    }
}
