//! The protocol as comity's front knows it: programs, and programs garbled ahead.

use comity_circuit::{Goal, Program};
use comity_core::{Error, Params, PartyId, Result};
use comity_protocol::{
    Adversary, Ahead, Card, CardKind, Corrupt, Default, Honest, Job, Lot, Material, Need, Opt, Options, Party,
    Protocol, Shelf, Supplies, Takes, Values,
};
use comity_share::Joint;
use comity_tinyot::bucket::Budget;
use comity_tinyot::many::{Many, objects};

use crate::stored::stored_size;
use crate::triple_masks::{Planned, TripleMasks};
use crate::{Masks, StringMasks, prepare_with, run_with, use_up};

/// Garbling by many, whole: see the [crate](crate).
pub struct Bmr;

/// What is garbled ahead.
const GARBLED: &str = "garbled";

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
    offline: &[Material { name: GARBLED, program: true, from: None, units: &["runs"] }],
    options: &[Opt {
        name: "products",
        values: Values::OneOf(&["macs", "ot"]),
        default: Default::Given("macs"),
        agreed: true,
        about: "How wires' masks are multiplied by the parties' offsets: by the MACs of the masks, or by further OTs over masks that have \
                MACs under other keys, as over any protocol for bits",
    }],
    phases: &["setup", "inputs", "gates", "outputs"],
    summary: "one circuit garbled by all parties (Hazay, Scholl, Soria-Vazquez 2017), in few rounds",
    protects: "parties that cheat, even all but one together, learn only their outputs, and are caught before anything else leaves the \
               others, but with probability 2^-rho",
    risk: "any party could stop the run at any time, also when it has its own outputs and others do not, and nobody can tell which it was",
    about: "All parties garble one circuit together, and each evaluates it: some 30 rounds for a program of up to some ten thousand AND \
            gates, however deep. An AND gate costs each party some 245 bytes to each other one. What is garbled ahead takes two rounds.",
};

impl Protocol for Bmr {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn needs(&self, program: &Program, _: &Options, _: Params) -> Result<Need> {
        // Who has no name in the program takes part for its own sake: what is stored grows with the number of parties.
        let parties = program.parties().clamp(2, *CARD.parties.end());
        Ok(Need { material: GARBLED, units: vec![1], batches: 1, bytes: stored_size(program, parties) })
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        if let Some(shelf) = from.shelf(GARBLED) {
            let batch = shelf.take()?.ok_or_else(|| Error::invalid_input("no garbled program is left"))?;
            return use_up(&mut me.sub("bmr, prepared"), &mut { batch }, job, &mut Honest);
        }
        let mut me = me.sub("bmr");
        let mut masks = masks(&mut me, job.program, job.options)?;
        run_with(&mut me, &mut *masks, job)
    }

    /// Each run has global keys of its own, so that a check which fails ends one run and no other.
    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        _: &mut dyn Supplies,
        to: &mut dyn Shelf,
    ) -> Result<()> {
        let program = ahead.program.ok_or_else(|| Error::invalid_input("bmr garbles a program: name one"))?;
        for run in 0..ahead.make.batches {
            let mut me = me.sub(&format!("lot {run}"));
            to.put(&mut me, &Lot { units: vec![1], batches: 1 }, &mut |me, _, out| {
                let mut masks = masks(me, program, ahead.options)?;
                prepare_with(me, &mut *masks, program, out, &mut Honest)
            })?;
        }
        Ok(())
    }
}

/// Masks for a program, from new keys.
fn masks(me: &mut Party<'_, '_>, program: &Program, options: &Options) -> Result<Box<dyn Masks>> {
    me.observer.phase("setup");
    let here = me.here.child("masks");
    let ands = program.and_gates();
    let budget = Budget::known(ands, here.params.rho, 1, objects(here.parties))?;
    let of = |party: u16| program.inputs().iter().filter(move |input| input.owner.includes(PartyId(party)));
    let own = |party: u16| of(party).map(|input| input.bits as u64).sum();
    let own = (0..here.parties).map(own).max().unwrap_or(0);
    let by_macs = options.word("products") == "macs";
    // With the masking bits of a check of products.
    let shares = if by_macs { ands } else { ands.saturating_add(128) };
    let bits = usize::try_from(shares.saturating_add(own)).unwrap_or(usize::MAX);
    let dealer = Many::new_for(me.net, here.child("dealer"), budget, bits, me.rng)?;
    let bits = TripleMasks::new(here, Box::new(dealer), Planned { shares, own, ands }, me.rng);
    if by_macs {
        return Ok(Box::new(bits));
    }
    let joint = Joint::setup(me.net, here.child("offsets"), me.rng)?;
    Ok(Box::new(StringMasks::new(bits, joint)))
}
