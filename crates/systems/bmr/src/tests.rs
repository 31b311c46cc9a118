//! Tests over the ideal protocol for bits.

mod cheats;
mod ideal;
mod whole;

use comity_circuit::{Goal, Program};
use comity_core::{Params, Result};
use comity_protocol::{Adversary, Card, CardKind, Corrupt, Honest, Job, Party, Protocol, Supplies, Takes};
use comity_testing::laws::{self, Laws, Setting};

use crate::stored::stored_size;
use crate::{prepare_with, run_with, use_up};
use ideal::Ideal;

/// Garbling over ideal masks, as a protocol of its own.
struct OverIdeal;

/// The same, in two steps.
struct Ahead;

static CARD: Card = Card {
    name: "bmr over ideal bits",
    kind: CardKind::Protocol,
    paper: "none",
    parties: 2..=9,
    adversary: Adversary::Malicious,
    corrupt: Corrupt::AllButOne,
    takes: Takes::Any,
    reactive: false,
    goal: Goal::Size,
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

impl Protocol for Ahead {
    fn card(&self) -> &'static Card {
        &CARD
    }

    fn run(&self, me: &mut Party<'_, '_>, job: &Job<'_>, _: &mut dyn Supplies) -> Result<()> {
        job.program.check_inputs(Some(me.me()), job.inputs)?;
        let (here, mut kept) = (me.here, Vec::new());
        let mut masks = Ideal::new(here.session.child("ideal"), here.me.0.into(), here.parties.into());
        prepare_with(&mut me.sub("ahead"), &mut masks, job.program, &mut kept, &mut Honest)?;
        assert!(kept.len() as u64 <= stored_size(job.program, here.parties));
        let mut kept = &kept[..];
        use_up(me, &mut kept, job, &mut Honest)?;
        assert!(kept.is_empty(), "all that was written is read");
        Ok(())
    }
}

comity_testing::laws!(OverIdeal, Laws { deviations: 60, ..Laws::USUAL });

mod ahead {
    use super::*;

    comity_testing::laws!(Ahead, Laws { deviations: 60, ..Laws::USUAL });
}

/// A circuit of more gates than a chunk of nine parties holds, among nine.
#[test]
fn long_programs_take_several_chunks() {
    let program = Program::map(laws::chain_and_layer(16), 700, &[]).unwrap();
    let mut rng = laws::rng(7);
    let inputs: Vec<_> = program.inputs().iter().map(|input| laws::bits(input.bits, &mut rng)).collect();
    assert!(program.and_gates() > (crate::chunk::CHUNK / 9) as u64);
    let setting =
        Setting { params: Params::default(), backend: comity_core::Backend::detect(), options: &[], session: 3 };
    laws::check(&OverIdeal, 9, &program, &inputs, setting);
    laws::check(&Ahead, 9, &program, &inputs, setting);
}
