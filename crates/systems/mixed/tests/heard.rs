//! What is heard of runs in each form and in all of them, and runs that are broken.

use std::sync::LazyLock;

use comity_circuit::Program;
use comity_core::{Params, Result};
use comity_mixed::{Assignment, CircuitForms, Form, Mixed, regions, run_with};
use comity_ot::base::Simplest;
use comity_protocol::{Ahead, Card, Job, Need, Options, Party, Press, Protocol, Supplies, Takes};
use comity_testing::laws::{Laws, deviations, equal_on_backends, fresh, listener};
use comity_testing::ot::DealtBaseOts;

/// A card of programs of words: the laws take such programs then.
static WORDS: LazyLock<Card> = LazyLock::new(|| Card { takes: Takes::Words, ..Mixed.card().clone() });

/// A protocol with this card, under the assignment that a function makes of each program.
struct Under {
    card: &'static Card,
    assignment: fn(&Program) -> Assignment,
    run: fn(&mut Party<'_, '_>, &Assignment, &Job<'_>) -> Result<()>,
}

impl Under {
    fn words(assignment: fn(&Program) -> Assignment) -> Under {
        Under { card: &WORDS, assignment, run: run_with::<DealtBaseOts> }
    }

    fn gates(assignment: fn(&Program) -> Assignment) -> Under {
        Under { card: Mixed.card(), ..Under::words(assignment) }
    }
}

impl Protocol for Under {
    fn card(&self) -> &'static Card {
        self.card
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        (self.run)(&mut me.sub("mixed"), &(self.assignment)(job.program), job)
    }
}

/// The protocol, for which laws take programs of words.
pub(super) struct Words;

impl Protocol for Words {
    fn card(&self) -> &'static Card {
        &WORDS
    }

    fn needs(&self, program: &Program, options: &Options, params: Params) -> Result<Vec<Need>> {
        Mixed.needs(program, options, params)
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, from: &mut dyn Supplies) -> Result<()> {
        Mixed.run(me, job, from)
    }

    fn prepare(
        &self,
        me: &mut Party<'_, '_>,
        ahead: &Ahead<'_>,
        from: &mut dyn Supplies,
        to: &mut dyn Press,
    ) -> Result<()> {
        Mixed.prepare(me, ahead, from, to)
    }
}

/// One form after another.
fn in_turn(program: &Program) -> Assignment {
    in_turn_by(Form::Yao, program)
}

fn in_turn_by(adders: Form, program: &Program) -> Assignment {
    let form = |i: usize| Form::ALL[i % 3];
    let circuits = program.circuits().iter().map(|circuit| {
        let notes = (0..circuit.notes().len()).map(form).collect();
        CircuitForms { notes, gates: Form::Boolean, adders }
    });
    Assignment { circuits: circuits.collect(), regions: (0..regions(program).len()).map(form).collect() }
}

/// The same, with adders on shares of bits.
fn in_turn_added(program: &Program) -> Assignment {
    in_turn_by(Form::Boolean, program)
}

fn words(program: &Program) -> Assignment {
    Assignment::uniform(program, Form::Arithmetic)
}

fn bits(program: &Program) -> Assignment {
    Assignment::uniform(program, Form::Boolean)
}

fn labels(program: &Program) -> Assignment {
    Assignment::uniform(program, Form::Yao)
}

const MANY: Laws = Laws { listened: 400, ..Laws::USUAL };

#[test]
fn nothing_is_heard_of_words() {
    listener(&Under::words(words), &MANY);
}

#[test]
fn nothing_is_heard_of_words_in_all_forms() {
    listener(&Under::words(in_turn), &MANY);
}

#[test]
fn nothing_is_heard_of_words_that_are_added_on_shares_of_bits() {
    listener(&Under::words(in_turn_added), &MANY);
}

#[test]
fn nothing_is_heard_of_bits() {
    listener(&Under::gates(bits), &MANY);
}

#[test]
fn nothing_is_heard_of_labels() {
    listener(&Under::gates(labels), &MANY);
}

#[test]
fn broken_runs_in_all_forms_end() {
    let laws = Laws { felt: 50, deviations: 36, ..Laws::USUAL };
    deviations(&Under::words(in_turn), &laws);
    deviations(&Under::words(in_turn_added), &laws);
    deviations(&Under::gates(bits), &laws);
    deviations(&Under::gates(labels), &laws);
}

#[test]
fn runs_in_all_forms_are_fresh_and_equal_on_backends() {
    // For a few OTs the first tree's corrections are a byte or so, which two runs have in common now and then, and
    // padding of zeros: that is one window here.
    let laws = Laws { wire: &[], constants: Some(1), ..Laws::USUAL };
    fresh(&Under { run: run_with::<Simplest>, ..Under::words(in_turn) }, &laws);
    equal_on_backends(&Under::words(in_turn), &laws);
    equal_on_backends(&Under::words(in_turn_added), &laws);
    equal_on_backends(&Under::gates(bits), &laws);
}
