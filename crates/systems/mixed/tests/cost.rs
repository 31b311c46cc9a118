//! What is said of a run's bytes is what it sends, and depends on nothing secret.

use comity_core::{Backend, Result};
use comity_mixed::{Assignment, Form, Mixed, evaluate, run_with};
use comity_ot::base::Simplest;
use comity_protocol::{Card, Job, Party, Protocol, Supplies};
use comity_share::triples::OtKind;
use comity_testing::laws::{random_words, rng, traffic};

use super::programs::random_mix;
use super::{random_assignment, random_inputs, setting};

/// Runs under an assignment, over base OTs as users have them.
struct Whole(Assignment);

impl Protocol for Whole {
    fn card(&self) -> &'static Card {
        Mixed.card()
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        run_with::<Simplest>(&mut me.sub("mixed"), &self.0, job)
    }
}

#[test]
fn bytes_are_what_is_said_before() {
    for seed in 0..12 {
        let mut rng = rng(seed);
        let program = if seed % 2 == 0 { random_words(2, 70, &mut rng) } else { random_mix(&mut rng) };
        let mut assignment = match seed % 4 {
            0 => Assignment::uniform(&program, Form::ALL[seed as usize / 4]),
            _ => random_assignment(&program, &mut rng),
        };
        if seed % 4 == 3 {
            assignment.circuits.iter_mut().for_each(|circuit| circuit.adders = Form::Boolean);
        }
        let said = evaluate(&program, &assignment, OtKind::SoftSpoken);
        let protocol = Whole(assignment);
        let mut bytes = || {
            let inputs = random_inputs(&program, &mut rng);
            let all = traffic(&protocol, 2, &program, &inputs, setting(Backend::detect())).concat();
            all.iter().map(|traffic| traffic.sent).collect::<Vec<u64>>()
        };
        let [one, other] = [bytes(), bytes()];
        assert_eq!(one, other, "program {seed}: lengths do not depend on inputs");
        assert_eq!(one.iter().sum::<u64>() as f64, said.bytes, "program {seed}");
    }
}
