//! The protocol as comity's front knows it: programs, and programs garbled ahead.

use comity_circuit::{Goal, Program};
use comity_core::{Error, Params, Result};
use comity_ot::Malicious;
use comity_ot::base::{BaseOt, Csw};
use comity_protocol::{
    Adversary, Ahead, Card, CardKind, Corrupt, Costing, Default, Honest, Job, Lot, Material, Need, Opt, Options, Party,
    Press, Protocol, Shelf, Supplies, Takes, Talk, Values,
};
use comity_share::Joint;
use comity_share::joint::Provisions;
use comity_triples::bucket::Budget;
use comity_triples::many::{Many, RowDealer, objects};
use comity_triples::material::prepare;
use comity_triples::{DealerKind, Uses, rows_from_shelf, stored_bytes};

use crate::chunk::room;
use crate::stored::stored_size;
use crate::triple_masks::TripleMasks;
use crate::{Ground, Masks, Opener, Planned, StringMasks, prepare_with, run_with, use_up};

/// Garbling by many, whole: see the [crate](crate).
pub struct Bmr;

/// What is garbled ahead.
const GARBLED: &str = "garbled";

/// The most leaky ANDs of a dealer's batch: among three 16 MB, and enough for buckets of four in
/// programs of up to some million gates.
pub(crate) const OBJECTS: usize = 3 << 15;

/// The error's text where a store has no garbled program.
pub(crate) const NONE_LEFT: &str = "the store has no garbled program left: prepare more (`comity prepare PROGRAM`) together with the other \
                                    parties, or run without a store";

/// What masks are made of, for any program: material that other protocols use, too.
const SHARES: &str = "shares";

/// Who opens the rows.
pub(crate) const OPENER: Opt = Opt {
    name: "opener",
    values: Values::OneOf(&["balanced", "collector"]),
    default: Default::Given("balanced"),
    agreed: true,
    about: "Who adds up the parties' shares of the garbled circuit and sends the sums to all: each party a part of it, or party 0 \
            all, as in the paper's figure, which has it send half the number of parties times as much",
};

static CARD: Card = Card {
    name: "bmr",
    kind: CardKind::Protocol,
    paper: "Hazay, Scholl, Soria-Vazquez: Low Cost Constant Round MPC Combining BMR and Oblivious Transfer (Asiacrypt 2017)",
    parties: 2..=32,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Size,
    offline: &[
        Material { name: GARBLED, program: true, from: Some(SHARES), options: &["products"], units: &["runs"] },
        Material { name: SHARES, program: false, from: None, options: &[], units: &["AND gates"] },
    ],
    options: &[
        Opt {
            name: "products",
            values: Values::OneOf(&["macs", "ot"]),
            default: Default::Given("macs"),
            agreed: true,
            about: "How wires' masks are multiplied by the parties' offsets: by the MACs of the masks, or by further OTs over masks that \
                    have MACs under other keys, as over any protocol for bits",
        },
        OPENER,
        Opt {
            name: "stored",
            values: Values::OneOf(&["garbled", "shares"]),
            default: Default::Given("garbled"),
            agreed: false,
            about: "What a run takes from its store, and `comity prepare PROGRAM` puts there: the program garbled, or shares for \
                    any program, which tinyot can use up, too",
        },
    ],
    phases: &["setup", "inputs", "gates", "outputs"],
    summary: "one circuit garbled by all parties (Hazay, Scholl, Soria-Vazquez 2017), in few rounds",
    protects: "parties that cheat, even all but one together, learn only their outputs, and are caught before anything else leaves the \
               others, but with probability 2^-rho",
    risk: "any party could stop the run at any time, also when it has its own outputs and others do not, and nobody can tell which it was",
    about: "All parties garble one circuit together, and each evaluates it: some 25 rounds for a program of up to some ten thousand AND \
            gates, however deep, and more for each chunk of a longer one, 2,800 for a million. An AND gate costs each party some 248 bytes to each \
            other one. A run of what is garbled ahead takes 7 rounds between two, and 11 among \
            three, the hello included.",
};

impl Protocol for Bmr {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn needs(&self, program: &Program, options: &Options, _: Params) -> Result<Vec<Need>> {
        if options.word("stored") == SHARES {
            return Ok(vec![shares_for(program, options)]);
        }
        // Parties that the program does not name are not counted: what is stored grows with the number of parties.
        let parties = program.parties().clamp(2, *CARD.parties.end());
        Ok(vec![Need { material: GARBLED, units: vec![1], batches: 1, bytes: stored_size(program, parties, None) }])
    }

    fn amount(&self, units: u64, _: &Options, _: Params) -> Result<Need> {
        Ok(Uses::triples(units).need())
    }

    fn source(&self, program: &Program, options: &Options) -> Option<Need> {
        (options.word("stored") == GARBLED).then(|| shares_for(program, options))
    }

    fn stored_bytes(&self, need: &Need, parties: u16) -> u64 {
        if need.material == SHARES { stored_bytes(need, parties) } else { need.bytes }
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        crate::costs::costs(of, talk)
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        if let Some(shelf) = from.shelf(GARBLED) {
            let batch = shelf.take()?.ok_or_else(|| Error::invalid_input(NONE_LEFT))?;
            return use_up(&mut me.sub("bmr, prepared"), &mut { batch }, job, &mut Honest);
        }
        if let Some(shelf) = from.shelf(SHARES) {
            let mut me = me.sub("bmr on shares");
            let mut masks = masks_of_shares(&mut me, shelf, job.program, job.options)?;
            return run_with(&mut me, ground(&mut *masks, job.options), job);
        }
        run_over::<Csw>(me, job)
    }

    /// A program garbled on new shares has global keys of its own. One garbled on stored shares has those of their
    /// lot, under which there are shares for other runs and further garbled programs. A check that fails while a
    /// program is garbled ends the lot; programs that are garbled already stay good. So does the lot if evaluation
    /// gives a key that is not one of the wire's two: its owner holds the whole key against two, so that all
    /// that a failure tells is that its offset is not what somebody guessed of 126 bits; each is evaluated
    /// once, and its rows are hashed in a session of its own.
    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        from: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        let program = match ahead.program {
            Some(program) if ahead.make.material == GARBLED => program,
            _ => return prepare(me, ahead, DealerKind::Fast, to),
        };
        for run in 0..ahead.make.batches {
            let mut me = me.sub(&format!("lot {run}"));
            to.put(&mut me, &Lot { units: vec![1], batches: 1 }, &mut |me, _, out| {
                let mut masks = match from.shelf(SHARES) {
                    Some(shelf) => masks_of_shares(me, shelf, program, ahead.options)?,
                    None => masks::<Csw>(me, program, ahead.options)?,
                };
                prepare_with(me, ground(&mut *masks, ahead.options), program, out, &mut Honest)
            })?;
        }
        Ok(())
    }
}

/// Runs a program on new material, by these base OTs. Outputs for this party go to the observer.
///
/// # Errors
/// Those of the masks and of the channels, and the [checks](crate::checks).
pub fn run_over<B: BaseOt<Model = Malicious>>(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    let mut me = me.sub("bmr");
    let mut masks = masks::<B>(&mut me, job.program, job.options)?;
    run_with(&mut me, ground(&mut *masks, job.options), job)
}

/// These masks, and who opens the rows.
pub(crate) fn ground<'m>(masks: &'m mut dyn Masks, options: &Options) -> Ground<'m> {
    Ground { masks, opener: opener(options) }
}

/// Who opens the rows.
pub(crate) fn opener(options: &Options) -> Opener {
    if options.word("opener") == "collector" { Opener::Collector } else { Opener::Balanced }
}

/// The material that a program asks for among `parties` parties.
fn planned(program: &Program, parties: u16, options: &Options) -> Planned {
    if options.word("products") == "macs" { Planned::of(program) } else { Planned::below_strings(program, parties) }
}

/// The stored shares that a program takes. With products by OT they are counted for the most parties that there can
/// be, whose chunks are the smallest: fewer parties leave some of them for other runs.
fn shares_for(program: &Program, options: &Options) -> Need {
    let Planned { shares, own, ands } = planned(program, *CARD.parties.end(), options);
    Uses { triples: ands, masks: own, shares }.need()
}

/// Masks for a program, of stored shares.
fn masks_of_shares<'s>(
    me: &mut Party<'_, '_>,
    shelf: &'s mut dyn Shelf,
    program: &Program,
    options: &Options,
) -> Result<Box<dyn Masks + 's>> {
    let dealer = rows_from_shelf(shelf, me.here.me, me.here.parties)?;
    masks_of::<Csw>(me, dealer, planned(program, me.here.parties, options), options)
}

/// Masks for a program, from new keys.
fn masks<B: BaseOt<Model = Malicious>>(
    me: &mut Party<'_, '_>,
    program: &Program,
    options: &Options,
) -> Result<Box<dyn Masks>> {
    me.observer.phase("setup");
    let here = me.here.child("masks");
    let planned @ Planned { shares, own, ands } = planned(program, here.parties, options);
    let budget = Budget::known(ands, here.params.rho, 1, objects(here.parties).min(OBJECTS))?;
    // What is made with the set-up stays until it is used: of a program of several chunks nothing is.
    let short = ands <= room(program, here.parties.into()) as u64;
    let bits = short.then(|| usize::try_from(shares.saturating_add(own)).unwrap_or(usize::MAX));
    let dealer = Many::over::<B>(me.net, here.child("dealer"), budget, bits, me.rng)?;
    masks_of::<B>(me, Box::new(dealer), planned, options)
}

/// Masks of this dealer, for the planned amounts.
fn masks_of<'d, B: BaseOt<Model = Malicious>>(
    me: &mut Party<'_, '_>,
    dealer: Box<dyn RowDealer + 'd>,
    planned: Planned,
    options: &Options,
) -> Result<Box<dyn Masks + 'd>> {
    let here = me.here.child("masks");
    let bits = TripleMasks::new(here, dealer, planned, me.rng);
    if options.word("products") == "macs" {
        return Ok(Box::new(bits));
    }
    let joint = Joint::over::<B>(me.net, here.child("offsets"), Provisions::default(), me.rng, Honest)?;
    Ok(Box::new(StringMasks::new(bits, joint)))
}
