//! The protocol as comity's front knows it.

use comity_circuit::{Goal, Program};
use comity_core::{Error, Params, PartyId, Result};
use comity_ot::Malicious;
use comity_ot::base::{BaseOt, Csw};
use comity_protocol::{
    Adversary, Ahead, Card, CardKind, Corrupt, Costing, Default, Honest, Job, Lot, Material, Need, Opt, OptionValue,
    Options, Party, Press, Protocol, Supplies, Takes, Talk, Values,
};

use crate::intake::Form;
use crate::prepared::{Prepared, prepare, prepared_size};
use crate::transfer::Extended;
use crate::{evaluator, garbler, plan};

/// The cut-and-choose protocol, whole: see the [crate](crate).
pub struct CutChoose;

static CARD: Card = Card {
    name: "cutchoose",
    kind: CardKind::Protocol,
    paper: "Wang, Malozemoff, Katz: Faster Secure Two-Party Computation in the Single-Execution Setting (Eurocrypt 2017)",
    parties: 2..=2,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Size,
    offline: &[Material { name: "copies", program: true, from: None, options: &["role", "coded"], units: &["runs"] }],
    options: &[
        Opt {
            name: "role",
            values: Values::Part(&["garbler", "evaluator"]),
            default: Default::FromProgram,
            agreed: true,
            about: "The role of this party; the other party has the other role. A party that does not set it takes the \
                role that is left; if neither sets it, the roles are those that send fewer bytes",
        },
        Opt {
            name: "coded",
            values: Values::Switch,
            default: Default::Given("no"),
            agreed: true,
            about: "Send the garbled circuits coded: about half the bytes, more work for both; for slow networks",
        },
    ],
    phases: &["setup", "inputs", "gates", "outputs", "checks"],
    summary: "rho garbled circuits, cut and choose (Wang, Malozemoff, Katz 2017), for two parties",
    protects: "a party that cheats learns only its outputs, and is caught or changes nothing, but for one guess in \
               2^rho - 1",
    risk: "a peer could stop the run at any time, also when it has its own outputs and this party does not",
    about: "RHO garbled circuits, of which the evaluator checks some and evaluates the others: a cheat is caught, or does no \
            harm. Costs 32 bytes an AND gate and copy: RHO times what yao sends. The evaluator's time depends a little on how \
            many copies it evaluates.",
};

/// The party that garbles.
fn garbling(options: &Options) -> PartyId {
    options.first("role")
}

impl Protocol for CutChoose {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn fits(&self, _: &Program, options: &Options, params: Params) -> Result<()> {
        if Form::of(options) == Form::Coded && params.rho > Form::MOST_CODED {
            let most = Form::MOST_CODED;
            return Err(Error::invalid_input(format!(
                "garbled circuits are sent coded for rho up to {most}: leave `coded` out, or lower rho"
            )));
        }
        Ok(())
    }

    fn settle(&self, options: &mut Options, program: &Program) {
        options.settle("role", OptionValue::First(plan::garbler(program)));
    }

    fn needs(&self, program: &Program, options: &Options, params: Params) -> Result<Vec<Need>> {
        if Form::of(options) == Form::Coded {
            return Err(Error::invalid_input("stored copies cannot be coded: leave `coded` out, or the store"));
        }
        let bytes = prepared_size(program, garbling(options), params);
        Ok(vec![Need { material: "copies", units: vec![1], batches: 1, bytes }])
    }

    fn costs(&self, of: &Costing<'_>, talk: &mut Talk) -> Result<()> {
        crate::costs::costs(of, talk)
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        let Job { program, inputs, options } = *job;
        program.check_inputs(Some(me.me()), inputs)?;
        if let Some(shelf) = from.shelf("copies") {
            let batch = shelf.take()?.ok_or_else(|| Error::invalid_input("no lot of copies is left"))?;
            let (ch, here, rng, observer) = me.pair()?;
            let prepared = Prepared::open(batch, here.backend, here.me, program)?;
            if prepared.garbler() != garbling(options) || prepared.params() != here.params {
                return Err(Error::invalid_input("the lot is for other roles or parameters than this run"));
            }
            return prepared.load(program, inputs)?.run(ch, rng, observer);
        }
        run_over::<Csw>(me, job)
    }

    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        _: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        let nameless = || Error::invalid_input("cutchoose prepares runs of a program: name one");
        let (program, garbler) = (ahead.program.ok_or_else(nameless)?, garbling(ahead.options));
        for run in 0..ahead.make.batches {
            let mut me = me.sub(&format!("lot {run}"));
            let lot = Lot { units: vec![1], batches: 1 };
            to.put(&mut me, &lot, &mut |me, _, out| prepare(me, program, garbler, out))?;
        }
        Ok(())
    }
}

/// Runs a program in one phase, by these base OTs. Outputs for this party go to the observer.
///
/// # Errors
/// Those of the channel, and the [checks](crate::checks).
pub fn run_over<B: BaseOt<Model = Malicious>>(me: &mut Party<'_, '_>, job: &Job<'_>) -> Result<()> {
    let mut me = me.sub("cutchoose");
    let (ch, here, rng, observer) = me.pair()?;
    match garbling(job.options) == here.me {
        true => garbler::run(ch, here, job, &Extended::<B>::NEW, rng, observer, &mut Honest),
        false => evaluator::run(ch, here, job, &Extended::<B>::NEW, rng, observer, &mut Honest),
    }
}
