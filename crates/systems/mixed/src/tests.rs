//! A listener who has its own shares, too, to runs that lead inputs through every conversion.

use comity_circuit::{Builder, Program, Recipients, Wire};
use comity_core::Result;
use comity_library::arith;
use comity_protocol::{Card, Job, Party, Protocol, Supplies};
use comity_share::triples::OtKind;
use comity_testing::laws::{Laws, holds, listener_to};
use comity_testing::ot::DealtBaseOts;

use crate::engine::MixedEngine;
use crate::form::{Assignment, CircuitForms, Form};
use crate::material::FromOt;
use crate::memory::regions;
use crate::plans::{Plan, Plans};
use crate::protocol::{Mixed, run_on};

/// Operations, each in a form of its own, that leave bits of both inputs in what they give: a sum of words its lowest.
fn led(adders: Form) -> (Program, Assignment) {
    const BITS: usize = 3;
    let mut b = Builder::new();
    let (x, y) = (b.input("x", BITS).to_vec(), b.input("y", BITS).to_vec());
    let turned: Vec<Wire> = [1, 2, 0].map(|bit| y[bit]).to_vec();
    let mut forms = Vec::new();
    let mut last = x;
    let mut next = |b: &mut Builder, form: Form, op: fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>, with: &[Wire]| {
        last = op(b, &last, with);
        forms.push(form);
        last.clone()
    };
    // From words to labels, to shares of bits, to words, to shares of bits, to labels, to words.
    next(&mut b, Form::Arithmetic, arith::add, &y);
    next(&mut b, Form::Yao, arith::xor, &y);
    next(&mut b, Form::Boolean, arith::xor, &turned);
    next(&mut b, Form::Arithmetic, arith::add, &y);
    next(&mut b, Form::Boolean, arith::xor, &turned);
    next(&mut b, Form::Yao, arith::xor, &y);
    let led = next(&mut b, Form::Arithmetic, arith::add, &y);
    // What is told of them hides them.
    let out = arith::and(&mut b, &led, &y);
    forms.push(Form::Yao);
    b.output("out", &out);
    let program = Program::from_circuit(b.finish()).unwrap().with_owner(1, 1).unwrap();
    let program = program.with_recipients(0, Recipients::All).unwrap();
    assert_eq!(program.circuits()[0].notes().len(), forms.len());
    let circuits = vec![CircuitForms { notes: forms, gates: Form::Yao, adders }];
    let regions = regions(&program).iter().map(|_| Form::Arithmetic).collect();
    (program, Assignment { circuits, regions })
}

/// The protocol under the assignment of [`led`], whose parties say what they hold: a bit a byte, so that the law looks
/// at every one.
struct Led(Assignment);

fn held(engine: &MixedEngine<'_, '_, '_>) {
    let (words, bits, labels) = engine.held();
    words.iter().for_each(|word| holds(vec![*word as u8]));
    bits.iter().for_each(|bit| holds(vec![*bit]));
    labels.iter().for_each(|label| holds(vec![label.lsb().into()]));
}

impl Protocol for Led {
    fn card(&self) -> &'static Card {
        Mixed.card()
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        let from = FromOt::<DealtBaseOts>::new(OtKind::SoftSpoken);
        run_on(&mut me.sub("mixed"), &Plans::new(job.program, &self.0), job, from, held)
    }
}

/// The conversions of a program's one circuit: words that become labels, words that become shares of bits, bits that
/// become words, labels that become shares, and shares that become labels.
fn conversions(program: &Program, assignment: &Assignment) -> [usize; 5] {
    let plans = Plans::new(program, assignment);
    let Some(Plan::Staged(stages)) = program.steps().iter().find_map(|step| plans.of_step(step)) else {
        panic!("there is no one form for all")
    };
    let count = |of: fn(&crate::stages::Stage) -> usize| stages.stages.iter().map(of).sum::<usize>();
    [
        count(|stage| stage.openings.len()),
        count(|stage| stage.added.len()),
        count(|stage| stage.closings.len()),
        count(|stage| stage.split.len()),
        count(|stage| stage.joined.len()),
    ]
}

#[test]
fn nothing_is_heard_of_what_is_led_through_every_conversion() {
    let (program, assignment) = led(Form::Yao);
    // Of each kind as many as there are on the way, or more.
    let [openings, added, closings, split, joined] = conversions(&program, &assignment);
    assert!(openings >= 2 && added == 0 && closings >= 2, "{openings} {added} {closings}");
    assert!(split >= 9 && joined >= 3, "{split} {joined}");
    listener_to(&Led(assignment), &Laws::USUAL, 1500, &program);
}

#[test]
fn nothing_is_heard_of_what_is_led_through_adders_on_shares_of_bits() {
    let (program, assignment) = led(Form::Boolean);
    let [openings, added, closings, split, joined] = conversions(&program, &assignment);
    assert!(openings == 0 && added >= 2 && closings >= 2, "{openings} {added} {closings}");
    assert!(split >= 3 && joined >= 6, "{split} {joined}");
    listener_to(&Led(assignment), &Laws::USUAL, 1500, &program);
}
