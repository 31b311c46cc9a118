//! Mixed protocols: what every protocol must do, and programs under random assignments.

mod conversions;
mod cost;
mod heard;
mod opened;
mod prepared;
mod programs;
mod stored;

use comity_circuit::Program;
use comity_core::{Backend, Bits, Params, Prg, Result};
use comity_mixed::{Assignment, CircuitForms, Form, Mixed, regions, run_with};
use comity_protocol::{Card, Job, Party, Protocol, Supplies};
use comity_testing::laws;
use comity_testing::laws::{Laws, Setting, bits, check};
use comity_testing::ot::DealtBaseOts;

laws!(Mixed, Laws { programs: 1, deviations: 12, ..Laws::USUAL });

/// Runs under an assignment, over dealt base OTs.
struct Assigned(Assignment);

impl Protocol for Assigned {
    fn card(&self) -> &'static Card {
        Mixed.card()
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        run_with::<DealtBaseOts>(&mut me.sub("mixed"), &self.0, job)
    }
}

fn setting(backend: Backend) -> Setting {
    Setting { params: Params::default(), backend, options: &[], session: 1 }
}

fn random_form(rng: &mut Prg) -> Form {
    Form::ALL[(rng.block().to_u128() % 3) as usize]
}

/// A random form for each operation and each region.
fn random_assignment(program: &Program, rng: &mut Prg) -> Assignment {
    let circuits = program.circuits().iter().map(|circuit| CircuitForms {
        notes: circuit.notes().iter().map(|_| random_form(rng)).collect(),
        gates: random_form(rng),
        adders: random_form(rng),
    });
    let circuits = circuits.collect();
    Assignment { circuits, regions: regions(program).iter().map(|_| random_form(rng)).collect() }
}

fn random_inputs(program: &Program, rng: &mut Prg) -> Vec<Bits> {
    program.inputs().iter().map(|input| bits(input.bits, rng)).collect()
}

/// Runs a program in each pure form, and under random assignments, against the evaluator.
fn runs(program: &Program, random: usize, rng: &mut Prg) {
    for form in Form::ALL {
        let inputs = random_inputs(program, rng);
        check(&Assigned(Assignment::uniform(program, form)), 2, program, &inputs, setting(Backend::detect()));
    }
    for _ in 0..random {
        let inputs = random_inputs(program, rng);
        let assignment = random_assignment(program, rng);
        check(&Assigned(assignment), 2, program, &inputs, setting(Backend::detect()));
    }
}

#[test]
fn forms_are_found_by_their_names() {
    for form in Form::ALL {
        assert_eq!(Form::named(form.name()), Some(form));
        assert_eq!(form.to_string(), form.name());
    }
    assert_eq!(Form::named("words"), None);
}
