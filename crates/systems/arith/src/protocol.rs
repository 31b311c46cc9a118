//! The protocol as comity's front knows it.

use std::collections::BTreeMap;

use comity_circuit::{Goal, Program};
use comity_core::{Error, Params, Result};
use comity_protocol::{
    Adversary, Ahead, Card, CardKind, Corrupt, Costing, Default, Job, Material, Need, Opt, Options, Party, Press,
    Protocol, Supplies, Takes, Talk, Values, WriteBatch,
};
use comity_share::triples::OtKind;
use comity_sharing::{Batches, fill_lots, whole_runs};

use crate::conversions::Conversions;
use crate::dealers::{StoredWords, WORD_BATCH, WordDealer, WordMaterial, from_ot};
use crate::engine::{Taken, WordEngine};
use crate::layout::Layout;
use crate::machine::{WordMachine, one_by_one};

/// Computation on words, whole: see the [crate](crate).
pub struct Arith;

const fn of_card(material: WordMaterial, units: &'static [&'static str]) -> Material {
    Material { name: material.name(), program: false, from: None, options: &["dealer"], units }
}

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
    offline: &[
        of_card(WordMaterial::Narrow, &["products of up to 64 bits"]),
        of_card(WordMaterial::Wide, &["wider products"]),
    ],
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

/// Batches of a lot, if no program needs more: a million products, 25 MB.
const LOT: u64 = 1 << 8;

/// The need of `batches` batches of this material.
fn need(material: WordMaterial, batches: u64) -> Need {
    Need {
        material: material.name(),
        units: vec![batches.saturating_mul(WORD_BATCH as u64)],
        batches,
        bytes: batches.saturating_mul(material.batch_bytes(WORD_BATCH) + 4096),
    }
}

/// Writes batches of a dealer that the first one sets up.
fn material_of(material: WordMaterial, kind: OtKind) -> Box<WriteBatch<'static>> {
    let mut dealer = None;
    Box::new(move |me, _, out| {
        let dealer = match &mut dealer {
            Some(dealer) => dealer,
            none => {
                me.observer.phase("setup");
                let dealer = from_ot(&mut me.sub("dealer"), kind)?;
                me.observer.phase("offline");
                none.insert(dealer)
            }
        };
        let triples = dealer.deal(me.net, material.product(), WORD_BATCH)?;
        material.write(&triples, me.here.me, out)
    })
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
    conversions: impl FnOnce(&mut Party<'_, '_>, bool) -> Result<Conversions>,
    job: &Job<'_>,
) -> Result<()> {
    let layout = layout(job.program)?;
    let taken = Taken::new(job.program, &layout);
    let [any, both] = taken.converts;
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
        let mut batches = [0; 2];
        // Squares are products on a store, those of matrices too, and each width has batches of its own.
        let mut products = BTreeMap::new();
        let taken = Taken::new(program, &layout(program)?);
        let of_matrices = taken.matrices.into_iter().map(|(what, count)| one_by_one(what, count));
        for (what, count) in taken.products.into_iter().chain(of_matrices) {
            let all: &mut u64 = products.entry(what.bits).or_default();
            *all = all.saturating_add(count);
        }
        for (bits, count) in products {
            batches[WordMaterial::of(bits) as usize] += count.div_ceil(WORD_BATCH as u64);
        }
        // A run on a store uses something of it up.
        batches[0] = batches[0].max(u64::from(batches[1] == 0));
        let needs = WordMaterial::ALL.into_iter().zip(batches).filter(|(_, batches)| *batches > 0);
        Ok(needs.map(|(material, batches)| need(material, batches)).collect())
    }

    fn amount(&self, units: u64, _: &Options, _: Params) -> Result<Need> {
        Ok(need(WordMaterial::Narrow, units.max(1).div_ceil(WORD_BATCH as u64)))
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        crate::costs::costs(of, extension(of.options), talk)
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        let kind = extension(job.options);
        let stored = WordMaterial::ALL.into_iter().any(|material| from.shelf(material.name()).is_some());
        let mut me = me.sub("arith");
        let conversions = |me: &mut Party<'_, '_>, both: bool| Conversions::setup(me, kind, both);
        match stored {
            true => run_with(&mut me, |_| Ok(Box::new(StoredWords::new(from))), conversions, job),
            false => run_with(&mut me, |me| Ok(from_ot(me, kind)?), conversions, job),
        }
    }

    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        _: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        let material = WordMaterial::ALL.into_iter().find(|material| material.name() == ahead.make.material);
        let material =
            material.ok_or_else(|| Error::invalid_input(format!("arith makes no {}", ahead.make.material)))?;
        let of = Batches { units: WORD_BATCH as u64, lot: whole_runs(LOT, ahead.together) };
        let kind = extension(ahead.options);
        fill_lots(me, ahead, to, of, |_| material_of(material, kind))
    }
}
