//! Tests over the ideal protocol for bits.

mod cheats;
mod ideal;

use comity_circuit::Program;
use comity_core::{Params, Result};
use comity_protocol::{Adversary, Card, CardKind, Corrupt, Job, Party, Protocol, Supplies, Takes};
use comity_testing::laws::{self, Laws, Setting};

use crate::run_with;
use ideal::Ideal;

/// Garbling over ideal masks, as a protocol of its own.
struct OverIdeal;

static CARD: Card = Card {
    name: "bmr over ideal bits",
    kind: CardKind::Protocol,
    paper: "none",
    parties: 2..=9,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    offline: &[],
    options: &[],
    phases: &["setup", "inputs", "gates", "outputs"],
    summary: "a test",
    protects: "nothing",
    risk: "all",
    about: "A test.",
};

impl Protocol for OverIdeal {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        let here = me.here;
        let mut masks = Ideal::new(here.session.child("ideal"), here.me.0.into(), here.parties.into());
        run_with(me, &mut masks, job)
    }
}

comity_testing::laws!(OverIdeal, Laws { deviations: 60, ..Laws::USUAL });

/// A circuit of more gates than a chunk of nine parties holds, among nine.
#[test]
fn long_programs_take_several_chunks() {
    let program = Program::map(laws::chain_and_layer(16), 700, &[]).unwrap();
    let mut rng = laws::rng(7);
    let inputs: Vec<_> = program.inputs().iter().map(|input| laws::bits(input.bits, &mut rng)).collect();
    assert!(program.and_gates() > (crate::engine::CHUNK / 9) as u64);
    let setting =
        Setting { params: Params::default(), backend: comity_core::Backend::detect(), options: &[], session: 3 };
    laws::check(&OverIdeal, 9, &program, &inputs, setting);
}
