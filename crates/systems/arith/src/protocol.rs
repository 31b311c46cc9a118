//! The protocol as comity's front knows it.

use comity_circuit::{Goal, Program};
use comity_core::{Params, Result};
use comity_protocol::{
    Adversary, Card, CardKind, Corrupt, Costing, Default, Job, Opt, Options, Party, Protocol, Supplies, Takes, Talk,
    Values,
};
use comity_share::triples::OtKind;

use crate::dealers::{WordDealer, from_ot};
use crate::engine::{WordEngine, products_of};
use crate::layout::Layout;
use crate::machine::WordMachine;

/// Computation on words, whole: see the [crate](crate).
pub struct Arith;

static CARD: Card = Card {
    name: "arith",
    kind: CardKind::Protocol,
    paper: "Gilboa: Two Party RSA Key Generation (Crypto 1999); Beaver: Efficient Multiparty Protocols Using Circuit Randomization \
            (Crypto 1991); Demmler, Schneider, Zohner: ABY (NDSS 2015), arithmetic sharing",
    parties: 2..=2,
    adversary: Adversary::SemiHonest,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Words,
    reactive: false,
    goal: Goal::Size,
    offline: &[],
    options: &[Opt {
        name: "dealer",
        values: Values::OneOf(&["softspoken", "iknp", "silent"]),
        default: Default::Given("softspoken"),
        agreed: true,
        about: "Which OT extension triples are made from: softspoken (1,016 bytes for a product of 64 bits), iknp (2,552), or silent \
                (540, for slow networks)",
    }],
    phases: &["setup", "offline", "inputs", "gates", "outputs"],
    summary: "additive shares of words modulo 2^k, for sums and products",
    protects: "a party that follows the protocol learns nothing but its outputs, whatever it computes afterwards",
    risk: "a peer that breaks the rules could learn the other party's inputs, or make outputs wrong, unnoticed",
    about: "Words are shared as numbers: sums and products with constants cost nothing, a product of 64 bits one kilobyte before the inputs \
            matter (offline) and 32 bytes after. It runs what adds, subtracts and multiplies words of up to 128 bits, and refuses, by \
            the line, comparisons, divisions and computations on bits.",
};

fn extension(options: &Options) -> OtKind {
    match options.word("dealer") {
        "iknp" => OtKind::Iknp,
        "silent" => OtKind::Silent,
        _ => OtKind::SoftSpoken,
    }
}

fn layout(program: &Program) -> Result<Layout> {
    Layout::new(program).map_err(|refusal| refusal.error(program))
}

/// Runs a program on the triples of a dealer, which is asked for if the program has products. Outputs for
/// this party go to the observer.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) where the program is not on words, or the inputs do not fit it; those of
/// the dealer and of the channel.
pub fn run_with(
    me: &mut Party<'_, '_>,
    dealer: impl FnOnce(&mut Party<'_, '_>) -> Result<Box<dyn WordDealer>>,
    job: &Job<'_>,
) -> Result<()> {
    let layout = layout(job.program)?;
    let products = products_of(job.program, &layout);
    me.observer.phase("setup");
    let dealer = if products.is_empty() { None } else { Some(dealer(&mut me.sub("dealer"))?) };
    let mut machine = WordMachine::setup(me, dealer)?;
    me.observer.phase("offline");
    machine.prepare(me.net, products)?;
    let mut engine = WordEngine::new(me.net, &mut machine, &layout);
    comity_circuit::run(job.program, &mut engine, job.inputs, me.observer)?;
    me.net.flush()
}

impl Protocol for Arith {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn fits(&self, program: &Program, _: &Options, _: Params) -> Result<()> {
        layout(program).map(drop)
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        crate::costs::costs(of, extension(of.options), talk)
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        let kind = extension(job.options);
        run_with(&mut me.sub("arith"), |me| Ok(from_ot(me, kind)?), job)
    }
}
