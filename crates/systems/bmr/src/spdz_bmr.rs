//! SPDZ-BMR as comity's front knows it: garbling by many whose masks are shares in a field.

use comity_circuit::{Goal, Program};
use comity_core::{Block, Error, Params, Result};
use comity_protocol::{
    Adversary, Ahead, Card, CardKind, Corrupt, Costing, Default, Honest, Job, Lot, Material, Need, Opt, Options, Party,
    Press, ProgramBound, Protocol, Shelf, Supplies, Takes, Talk, Values,
};
use comity_spdz::material::{FIELD, FieldUses, MATERIAL, fields_from_shelf, fresh, prepare, stored_bytes};
use comity_spdz::{FieldMachine, FieldSource};

use crate::field_masks::FieldMasks;
use crate::masks::Xor;
use crate::planned::garbled_xors;
use crate::protocol::{NONE_LEFT, OPENER, ground};
use crate::stored::stored_size;
use crate::{Planned, prepare_with, run_with, use_up};

/// Garbling by many on shares in a field, whole: see the [crate](crate).
pub struct SpdzBmr;

/// What is garbled ahead.
const GARBLED: &str = "field garbled";

static CARD: Card = Card {
    name: "spdz-bmr",
    kind: CardKind::Protocol,
    paper: "Lindell, Pinkas, Smart, Yanai: Efficient Constant Round Multi-party Computation Combining BMR and SPDZ \
            (Crypto 2015); with free XOR as in Hazay, Scholl, Soria-Vazquez (Asiacrypt 2017), table 4",
    parties: 2..=16,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Size,
    offline: &[
        Material { name: GARBLED, program: true, from: Some(FIELD), options: &["xor"], units: &["runs"] },
        MATERIAL,
    ],
    options: &[
        Opt {
            name: "xor",
            values: Values::OneOf(&["free", "garbled"]),
            default: Default::Given("free"),
            agreed: true,
            about: "Whether XOR gates are free, or garbled as AND gates are, as in the paper: then each has a triple \
                    for each party, and all that is assumed of what hides the rows is that it is a pseudo-random \
                    function, since a run opens them when inputs are fixed, those that were garbled ahead, too",
        },
        OPENER,
        Opt {
            name: "stored",
            values: Values::OneOf(&["garbled", "field"]),
            default: Default::Given("garbled"),
            agreed: false,
            about: "What a run takes from its store, and `comity prepare PROGRAM` puts there: the program garbled, or \
                    shares in a field for any program, which spdz can use up, too",
        },
    ],
    phases: &["setup", "inputs", "gates", "outputs"],
    summary: "one circuit garbled by all parties on shares in a field (Lindell, Pinkas, Smart, Yanai 2015)",
    protects: "parties that cheat, even all but one together, learn only their outputs, and are caught before anything \
               else leaves the others, but with probability 2^-126 for each check",
    risk: "any party could stop the run at any time, also when it has its own outputs and others do not, and nobody can \
           tell which it was",
    about: "Garbles as bmr does, but for its masks, which are shares in GF(2^128) with triples from oblivious transfer: \
            3 n + 1 triples of 13 kilobytes an AND gate to each other one of n parties, some 400 times what bmr sends. \
            It is here as the construction that bmr is measured against. What is garbled ahead runs as fast as bmr's.",
};

/// How XOR gates are garbled.
fn xor(options: &Options) -> Xor {
    if options.word("xor") == "garbled" { Xor::Garbled } else { Xor::Free }
}

/// The material that a program uses up among `parties` parties: a product for each AND gate, those of three
/// of its bits with
/// offsets of all, and those of one bit of each bit of an output, and of each XOR gate that has rows. Behind
/// each of these gates is a mask, and an offset if wires have their own.
fn uses(program: &Program, parties: u16, xor: Xor) -> FieldUses {
    let Planned { shares, ands, .. } = Planned::of(program);
    let outputs = shares - ands;
    let xors = if xor == Xor::Garbled { garbled_xors(program) } else { 0 };
    let gates = Gates { ands, sums: outputs.saturating_add(xors) };
    gates.uses(parties, xor, FieldUses::of(program).masks)
}

/// Gates that are garbled: AND gates, and those of outputs and of sums.
struct Gates {
    ands: u64,
    sums: u64,
}

impl Gates {
    fn uses(self, parties: u16, xor: Xor, masks: u64) -> FieldUses {
        let Gates { ands, sums } = self;
        let strings = ands.saturating_mul(3).saturating_add(sums).saturating_mul(parties.into());
        let shares = ands.saturating_add(sums);
        let elements = if xor == Xor::Garbled { shares } else { 1 };
        FieldUses { products: ands.saturating_add(strings), shares, masks, elements }
    }
}

/// The parties for which stored material is counted: those that the program names.
fn named(program: &Program) -> u16 {
    program.parties().clamp(2, *CARD.parties.end())
}

/// Masks for a program, of what is on this shelf, or new ones.
fn masks<'s>(
    me: &mut Party<'_, '_>,
    shelf: Option<&'s mut dyn Shelf>,
    program: &Program,
    xor: Xor,
) -> Result<FieldMasks<'s>> {
    let Party { net, here, rng, observer } = me;
    observer.phase("setup");
    let source: Box<dyn FieldSource<Block> + 's> = match shelf {
        Some(_) if here.parties > named(program) => {
            return Err(Error::invalid_input(format!(
                "stored shares in a field are counted for the {} parties that the program names, and there are {}: \
                 name all of them in the program, or run without a store",
                named(program),
                here.parties
            )));
        }
        Some(shelf) => Box::new(fields_from_shelf(shelf, *here)?),
        None => fresh(net, *here, *rng)?,
    };
    let uses = uses(program, here.parties, xor);
    let mut machine = FieldMachine::new(here.child("machine"), source, *rng);
    machine.plan(uses.products);
    machine.prepare(net, usize::try_from(uses.masks).unwrap_or(usize::MAX))?;
    match xor {
        Xor::Free => FieldMasks::setup(net, Box::new(machine), uses.shares),
        Xor::Garbled => Ok(FieldMasks::of_wires(net, Box::new(machine), uses.shares)),
    }
}

impl Protocol for SpdzBmr {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn needs(&self, program: &Program, options: &Options, _: Params) -> Result<Vec<Need>> {
        if options.word("stored") == FIELD {
            return Ok(vec![uses(program, named(program), xor(options)).need()]);
        }
        let xors = (xor(options) == Xor::Garbled).then(|| garbled_xors(program));
        let bytes = stored_size(program, named(program), xors);
        Ok(vec![Need { material: GARBLED, units: vec![1], batches: 1, bytes }])
    }

    fn amount(&self, units: u64, _: &Options, _: Params) -> Result<Need> {
        Ok(FieldUses { products: units, ..FieldUses::default() }.need())
    }

    /// Every wire that is no input's is taken to be behind a gate.
    fn amount_within(&self, bound: &ProgramBound, options: &Options, _: Params) -> Result<Need> {
        let &ProgramBound { parties, ands, wires } = bound;
        let sums = wires.checked_sub(ands).ok_or_else(|| {
            Error::invalid_input(format!(
                "no program has {ands} AND gates and {wires} wires: behind each gate there is one (--wires)"
            ))
        })?;
        Ok(Gates { ands, sums }.uses(parties, xor(options), wires).need())
    }

    fn source(&self, program: &Program, options: &Options) -> Option<Need> {
        (options.word("stored") == "garbled").then(|| uses(program, named(program), xor(options)).need())
    }

    /// Of the two ways to garble XOR gates the one that has this need.
    fn lacks(&self, program: &Program, need: &Need, batches: u64) -> Option<String> {
        let uses = [Xor::Free, Xor::Garbled].map(|xor| uses(program, named(program), xor));
        uses.into_iter().find(|uses| uses.need() == *need).map(|uses| uses.lacks(batches))
    }

    fn stored_bytes(&self, need: &Need, parties: u16) -> u64 {
        if need.material == FIELD { stored_bytes(need, parties) } else { need.bytes }
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        let xors = if xor(of.options) == Xor::Garbled { garbled_xors(of.program) } else { 0 };
        crate::costs::on_a_field(of, &uses(of.program, of.parties, xor(of.options)), xors, talk);
        Ok(())
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        if let Some(shelf) = from.shelf(GARBLED) {
            let batch = shelf.take()?.ok_or_else(|| Error::invalid_input(NONE_LEFT))?;
            return use_up(&mut me.sub("spdz-bmr, prepared"), &mut { batch }, job, &mut Honest);
        }
        let mut me = me.sub("spdz-bmr");
        let mut masks = masks(&mut me, from.shelf(FIELD), job.program, xor(job.options))?;
        run_with(&mut me, ground(&mut masks, job.options), job)
    }

    fn assumption(&self, options: &Options) -> Option<&'static str> {
        Some(match xor(options) {
            Xor::Free => "AES-128 is an ideal cipher: the keys of all wires of a party differ by one offset",
            Xor::Garbled => "what hides the rows is AES-128 as a pseudo-random function",
        })
    }

    /// What is garbled is of offsets of its own, and stays good if the shelf's lot ends later.
    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        from: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        let program = match ahead.program {
            Some(program) if ahead.make.material == GARBLED => program,
            _ => return prepare(me, ahead, to),
        };
        for run in 0..ahead.make.batches {
            let mut me = me.sub(&format!("lot {run}"));
            to.put(&mut me, &Lot { units: vec![1], batches: 1 }, &mut |me, _, out| {
                let mut masks = masks(me, from.shelf(FIELD), program, xor(ahead.options))?;
                prepare_with(me, ground(&mut masks, ahead.options), program, out, &mut Honest)
            })?;
        }
        Ok(())
    }
}
