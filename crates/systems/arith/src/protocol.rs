//! The protocol as comity's front knows it.

use std::io::Write;

use comity_circuit::{Goal, Program};
use comity_core::{Error, Params, Result};
use comity_ot::base::Simplest;
use comity_protocol::{
    Adversary, Ahead, Card, CardKind, Corrupt, Costing, Default, Job, Need, Opt, Options, Party, Press, Protocol,
    Supplies, Takes, Talk, Values, WriteBatch,
};
use comity_share::triples::OtKind;
use comity_sharing::{Batches, fill_lots, whole_runs};

use crate::conversions::{CELLS, Conversions, OT_BATCH, OtMaker, OtMaterial, TableMaker};
use crate::dealers::{MATERIALS, StoredWords, WORD_BATCH, WordDealer, WordMaterial, from_ot, need_of_words, needs};
use crate::engine::{Taken, WordEngine};
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
    offline: &MATERIALS,
    options: &[Opt {
        name: "dealer",
        values: Values::OneOf(&["softspoken", "iknp", "silent"]),
        default: Default::Given("softspoken"),
        agreed: true,
        about: "Which OT extension triples are made from: softspoken (1,016 bytes for a product of 64 bits), iknp (2,552), or silent \
                (540, for slow networks)",
    }],
    phases: &["setup", "offline", "inputs", "gates", "outputs"],
    summary: "additive shares of words modulo 2^k, for computations on numbers",
    protects: "a party that follows the protocol learns nothing but its outputs, whatever it computes afterwards",
    risk: "a peer that breaks the rules could learn the other party's inputs, or make outputs wrong, unnoticed",
    about: "Words are shared as numbers: sums and products with constants cost nothing, a product of 64 bits one kilobyte before the inputs \
            matter (offline) and 32 bytes after. Comparisons, divisions and shifts go by small garbled circuits: 2 to 7 kilobytes a comparison of \
            64 bits, 75 a quotient. It runs what computes on numbers of up to 128 bits, and refuses, by the line, computations on bits.",
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

/// Batches of triples of a lot, if no program needs more: a million products, 25 MB.
const LOT: u64 = 1 << 8;

/// Batches of OTs of a lot, if no program needs more: a million OTs, 17 MB.
const OT_LOT: u64 = 1 << 6;

/// Writes batches by a maker that the first one sets up.
fn batches_by<M: 'static>(
    setup: impl Fn(&mut Party<'_, '_>) -> Result<M> + 'static,
    write: impl Fn(&mut M, &mut Party<'_, '_>, &mut dyn Write) -> Result<()> + 'static,
) -> Box<WriteBatch<'static>> {
    let mut maker = None;
    Box::new(move |me, _, out| {
        let maker = match &mut maker {
            Some(maker) => maker,
            none => {
                me.observer.phase("setup");
                let made = setup(me)?;
                me.observer.phase("offline");
                none.insert(made)
            }
        };
        write(maker, me, out)
    })
}

fn triples_by(material: WordMaterial, kind: OtKind) -> Box<WriteBatch<'static>> {
    let setup = move |me: &mut Party<'_, '_>| from_ot(&mut me.sub("dealer"), kind);
    batches_by(setup, move |dealer, me, out| {
        let triples = dealer.deal(me.net, material.product(), WORD_BATCH)?;
        material.write(&triples, me.here.me, out)
    })
}

/// Makes the adders of conversions: the material of [`dealers::ADDER_TABLES`](crate::dealers::ADDER_TABLES).
///
/// # Errors
/// Those of the OTs, of the channel and of the shelf.
pub fn prepare_adders(me: &mut Party<'_, '_>, ahead: &Ahead<'_>, kind: OtKind, to: &mut dyn Press) -> Result<()> {
    let of = Batches { units: CELLS as u64, lot: whole_runs(OT_LOT, ahead.together) };
    fill_lots(me, ahead, to, of, |_| batches_by(move |me| TableMaker::setup::<Simplest>(me, kind), TableMaker::write))
}

fn ots_by(material: OtMaterial, kind: OtKind) -> Box<WriteBatch<'static>> {
    batches_by(move |me| OtMaker::setup::<Simplest>(me, material, kind), OtMaker::write)
}

/// Runs a program on the triples of a dealer, which is asked for if the program has products, and with
/// conversions, which are asked for if it needs them, with OTs one way or both. Outputs for this party go to
/// the observer.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) where the program is not on words, or the inputs do not fit it; those
/// of the dealer and of the channel.
pub fn run_with<'d>(
    me: &mut Party<'_, '_>,
    dealer: impl FnOnce(&mut Party<'_, '_>) -> Result<Box<dyn WordDealer + 'd>>,
    conversions: impl FnOnce(&mut Party<'_, '_>, bool) -> Result<Conversions<'d>>,
    job: &Job<'_>,
) -> Result<()> {
    let layout = layout(job.program)?;
    let taken = Taken::new(job.program, &layout);
    let [any, both] = taken.ots.map(|ots| ots > 0);
    me.observer.phase("setup");
    let dealer = if taken.multiplies() { Some(dealer(&mut me.sub("dealer"))?) } else { None };
    let conversions = if any { Some(conversions(&mut me.sub("conversions"), both)?) } else { None };
    let mut machine = WordMachine::setup(me, dealer, conversions)?;
    me.observer.phase("offline");
    machine.prepare(me.net, &taken.products)?;
    machine.prepare_matrices(me.net, &taken.matrices)?;
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

    fn needs(&self, program: &Program, _: &Options, _: Params) -> Result<Vec<Need>> {
        let Taken { products, matrices, ots } = Taken::new(program, &layout(program)?);
        let needs = needs(&products, &matrices, ots);
        // A run on a store uses something of it up.
        Ok(if needs.is_empty() { vec![need_of_words(WordMaterial::Narrow, 1)] } else { needs })
    }

    fn amount(&self, units: u64, _: &Options, _: Params) -> Result<Need> {
        Ok(need_of_words(WordMaterial::Narrow, units.max(1).div_ceil(WORD_BATCH as u64)))
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        crate::costs::costs(of, extension(of.options), talk)
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        let kind = extension(job.options);
        let mut me = me.sub("arith");
        let mut shelves = from.shelves();
        if shelves.is_empty() {
            let conversions = |me: &mut Party<'_, '_>, both: bool| Conversions::setup(me, kind, both);
            return run_with(&mut me, |me| Ok(from_ot(me, kind)?), conversions, job);
        }
        let words = WordMaterial::ALL.map(|material| shelves.remove(material.name()));
        let ots = OtMaterial::ALL.map(|material| shelves.remove(material.name()));
        run_with(&mut me, |_| Ok(Box::new(StoredWords::new(words))), |me, _| Conversions::stored(me, ots, None), job)
    }

    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        _: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        let (name, kind) = (ahead.make.material, extension(ahead.options));
        let of = |units: usize, lot: u64| Batches { units: units as u64, lot: whole_runs(lot, ahead.together) };
        if let Some(material) = WordMaterial::ALL.into_iter().find(|material| material.name() == name) {
            return fill_lots(me, ahead, to, of(WORD_BATCH, LOT), |_| triples_by(material, kind));
        }
        let material = OtMaterial::ALL.into_iter().find(|material| material.name() == name);
        let material = material.ok_or_else(|| Error::invalid_input(format!("arith makes no {name}")))?;
        fill_lots(me, ahead, to, of(OT_BATCH, OT_LOT), |_| ots_by(material, kind))
    }
}
