//! What a run costs: base OTs, triples, conversions, tables and openings, with lengths.

use comity_arith::costs::{AND, OT, OtsFrom, chosen_ots, garbled, make_matrices, make_products, setup, told};
use comity_circuit::{Lowered, Program, Step};
use comity_core::PartyId;
use comity_gmw::costs as shares;
use comity_protocol::Talk;
use comity_share::triples::OtKind;
use comity_sharing::BitRows;

use crate::cut::Held;
use crate::form::{Assignment, Form};
use crate::graph::FormCost;
use crate::plans::{Plan, Plans, Taken, together};
use crate::stages::{Runs, Stage, Stages};

/// Seconds of work for an AND on shares of bits.
const GATE: f64 = 4e-9;
const GARBLER: PartyId = PartyId(0);
const EVALUATOR: PartyId = PartyId(1);

/// The cost of a run of a program under an assignment.
pub fn evaluate(program: &Program, assignment: &Assignment, extension: OtKind) -> FormCost {
    let mut talk = Talk::new(2);
    run(program, &Plans::new(program, assignment), extension.into(), &mut talk);
    let bytes = (talk.sent(GARBLER) + talk.sent(EVALUATOR)) as f64;
    FormCost { bytes, rounds: talk.delays() as f64 / 2.0, ns: talk.seconds() * 1e9 }
}

/// Goes through the messages of a run of these plans. One on a store opens words by adders that were garbled ahead.
pub(crate) fn run(program: &Program, plans: &Plans, from: OtsFrom, talk: &mut Talk) {
    let taken = plans.taken(program);
    match from {
        OtsFrom::Extension(extension) => made(&taken, extension, talk),
        OtsFrom::Store => seeds(talk),
    }
    let mut outputs = program.outputs().iter();
    steps(program, program.steps(), (plans, from), talk, &mut |talk| {
        let output = outputs.next().expect("an output for each reveal");
        talk.exchange_each(|_, to| if output.to.includes(to) { output.bits.div_ceil(8) as u64 } else { 0 });
    });
}

/// The seeds of the streams, of words and of bits.
fn seeds(talk: &mut Talk) {
    talk.exchange(16);
    talk.exchange(16);
}

/// The messages by which all is made that a run takes.
fn made(taken: &Taken, extension: OtKind, talk: &mut Talk) {
    let any = taken.multiplies();
    let Taken { products, matrices, ands, converts, ots, .. } = taken;
    if any {
        setup(extension, [true; 2], talk);
    }
    if *converts {
        setup(extension, [true, ots[1] > 0], talk);
    }
    if *ands > 0 {
        shares::setup(2, extension, talk);
    }
    seeds(talk);
    for (&what, &count) in products {
        make_products(what, count, extension, talk);
    }
    for (&what, &count) in matrices {
        make_matrices(what, count, extension, talk);
    }
    shares::dealing(*ands, &|talk, count| shares::triples(count, 2, extension, talk), talk);
}

fn steps(program: &Program, all: &[Step], of: (&Plans, OtsFrom), talk: &mut Talk, reveal: &mut dyn FnMut(&mut Talk)) {
    for step in all {
        match step {
            Step::Input { owner, to, .. } => {
                let held = of.0.memory.held(to.start as usize, to.bits as usize);
                if held == Held::Bits(Form::Yao) && owner.includes(EVALUATOR) && to.bits > 0 {
                    ots(to.bits, of.1, talk);
                }
            }
            Step::Call { circuit, times, .. } => match of.0.of_step(step).expect("it is a call") {
                Plan::Whole(form, lowered) => {
                    let lowered = lowered.as_ref().unwrap_or_else(|| &program.lowered()[*circuit]);
                    gates(*form, lowered, *times, talk);
                }
                Plan::Staged(stages) => calls(of.0, stages, *times, of.1, talk),
            },
            Step::Repeat { times, body } => {
                talk.repeat(*times, &mut |talk| steps(program, body, of, talk, &mut |_| {}));
            }
            Step::Reveal { .. } => reveal(talk),
        }
    }
}

fn ots(count: u64, from: OtsFrom, talk: &mut Talk) {
    chosen_ots(count, [GARBLER, EVALUATOR], from, talk);
    talk.work(count as f64 * OT);
}

/// Calls of gates in one form of bits.
fn gates(form: Form, circuit: &Lowered, times: u64, talk: &mut Talk) {
    let ands = (circuit.tape().ands().len() as u64).saturating_mul(times);
    if form == Form::Yao {
        return garbled(ands, talk);
    }
    BitRows::messages(circuit, times, |ands, turns| {
        talk.repeat(turns, &mut |talk| talk.exchange(2 * ands.div_ceil(8)));
    });
    talk.work(GATE * ands as f64);
}

/// Calls that are cut into parts.
fn calls(plans: &Plans, stages: &Stages, times: u64, from: OtsFrom, talk: &mut Talk) {
    let side_by_side = together(stages, times);
    let turn = |talk: &mut Talk, copies: u64| {
        for stage in &stages.stages {
            conversions(plans, stage, copies, from, talk);
            for part in &stage.parts {
                match part {
                    Runs::Gates { form, circuit, .. } => gates(*form, circuit, copies, talk),
                    Runs::Words { circuit, .. } => {
                        circuit.messages().for_each(|layer| layer.talk(copies, from, talk));
                    }
                }
            }
        }
    };
    talk.repeat(times / side_by_side, &mut |talk| turn(talk, side_by_side));
    if !times.is_multiple_of(side_by_side) {
        turn(talk, times % side_by_side);
    }
}

/// The messages by which stored adders open words of so many bits altogether.
fn opened(bits: u64, talk: &mut Talk) {
    talk.say(GARBLER, EVALUATOR, bits.div_ceil(8));
    talk.say(EVALUATOR, GARBLER, bits.div_ceil(8));
    talk.say(GARBLER, EVALUATOR, 16 * bits);
    // They were garbled before.
    talk.work(bits as f64 * AND / 2.0);
}

fn conversions(plans: &Plans, stage: &Stage, copies: u64, from: OtsFrom, talk: &mut Talk) {
    if let Some(adder) = &stage.adder {
        gates(Form::Boolean, adder, copies, talk);
    }
    if !stage.openings.is_empty() {
        let bits: u64 = stage.openings.iter().map(|opening| u64::from(opening.bits)).sum();
        if from == OtsFrom::Store {
            opened(bits * copies, talk);
        } else {
            ots(bits * copies, from, talk);
            let ands = |bits: u32| plans.adder(bits).tape().ands().len() as u64;
            garbled(stage.openings.iter().map(|opening| ands(opening.bits)).sum::<u64>() * copies, talk);
        }
    }
    if !stage.joined.is_empty() {
        ots(stage.joined.len() as u64 * copies, from, talk);
    }
    let mut lifts = [0, 0];
    for closing in &stage.closings {
        let bits = closing.bits.len() as u64;
        for i in 0..bits - 1 {
            lifts = [lifts[0] + 1, lifts[1] + bits - i];
        }
    }
    told(lifts, copies, [GARBLER, EVALUATOR], from, talk);
}
