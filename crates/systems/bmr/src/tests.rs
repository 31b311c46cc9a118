//! Tests over the ideal protocol for bits.

#[allow(clippy::single_match, reason = "a lie matches the acts that it changes, be it one")]
mod cheats;
#[allow(clippy::single_match, reason = "a lie matches the acts that it changes, be it one")]
mod coalitions;
mod counted;
mod dealing;
mod field;
mod ideal;
mod independence;
mod order;
mod rounds;
mod shares;
mod stored;
mod strings;
mod whole;

use comity_channel::{Counted, Counter, Mesh, PerPeer, memory_mesh};
use comity_circuit::{Goal, Program, Recipients};
use comity_core::{Backend, Block, Params, Result, SessionId};
use comity_protocol::{Adversary, Card, CardKind, Corrupt, Here, Honest, Job, Party, Protocol, Supplies, Takes};
use comity_share::Beside;
use comity_testing::laws::{self, Laws, Setting};
use comity_triples::bucket::Budget;
use comity_triples::many::{Many, objects};

use crate::stored::stored_size;
use crate::{BitMpc, Ground, MaskOpening, Opener, Planned, TripleMasks, prepare_with, run_with, use_up};
use ideal::Ideal;

/// The place of a party in a test of this name.
fn place(net: &Mesh<'_>, name: &str) -> Here {
    let session = SessionId::derive("test", &[name.as_bytes()]);
    Here::new(net.me(), net.parties(), session)
}

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
        run_with(me, Ground { masks: &mut masks, opener: Opener::Balanced }, job)
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
        let ground = Ground { masks: &mut masks, opener: Opener::Collector };
        prepare_with(&mut me.sub("ahead"), ground, job.program, &mut kept, &mut Honest)?;
        assert!(kept.len() as u64 <= stored_size(job.program, here.parties, None));
        let mut kept = &kept[..];
        use_up(me, &mut kept, job, &mut Honest)?;
        assert!(kept.is_empty(), "all that was written is read");
        Ok(())
    }
}

comity_testing::laws!(OverIdeal, Laws { deviations: 60, listened: 0, constants: None, ..Laws::USUAL });

mod ahead {
    use super::*;

    comity_testing::laws!(Ahead, Laws { deviations: 60, listened: 0, constants: None, ..Laws::USUAL });
}

/// A circuit of more gates than a chunk of nine parties holds, among nine.
#[test]
fn long_programs_take_several_chunks() {
    let program = Program::map(laws::chain_and_layer(16), 480, &[]).unwrap();
    let mut rng = laws::rng(7);
    let inputs: Vec<_> = program.inputs().iter().map(|input| laws::bits(input.bits, &mut rng)).collect();
    assert!(program.and_gates() > (crate::chunk::CHUNK / 9) as u64);
    let setting =
        Setting { params: Params::default(), backend: comity_core::Backend::detect(), options: &[], session: 3 };
    laws::check(&OverIdeal, 9, &program, &inputs, setting);
    laws::check(&Ahead, 9, &program, &inputs, setting);
}

/// What two of three are to learn goes to these two alone: the third hears nothing that grows with it.
#[test]
fn what_is_opened_to_some_does_not_reach_the_others() {
    let learned = |bits: usize| {
        let links = memory_mesh(3, Some(comity_testing::PATIENCE));
        std::thread::scope(|scope| {
            let party = move |links: PerPeer<_>| {
                let links = links.map(|_, link| Counted::new(link));
                let counters: Vec<Counter> = links.iter().map(|(_, link)| link.counter()).collect();
                let mut net = Mesh::new(links);
                let me = net.me();
                let session = SessionId::derive("test", &[b"some"]);
                let (here, mut rng) = (Here::new(me, 3, session), laws::rng(me.0.into()));
                let budget = Budget::known(1, 40, 1, objects(3)).unwrap();
                let dealer = Many::new(&mut net, here.child("dealer"), budget, &mut rng).unwrap();
                let mut masks = TripleMasks::new(here, Box::new(dealer), Planned::default(), &mut rng);
                let mut rows = vec![Block::ZERO; 3 * 1000];
                masks.random(&mut net, &mut rows).unwrap();
                let heard = || counters.iter().map(|counter| counter.counts().received).sum::<u64>();
                let before = heard();
                let to = Recipients::Parties([0u16, 1].into_iter().collect());
                let opened = [MaskOpening { rows: &rows[..3 * bits], to }];
                let nothing = Beside::nothing(&net);
                masks.products(&mut net, [&[], &[]], &mut [], &opened, &nothing).unwrap();
                let (mut values, _) = masks.settle(&mut net, &nothing).unwrap();
                (values.remove(0), heard() - before)
            };
            let parties: Vec<_> = links.into_iter().map(|links| scope.spawn(move || party(links))).collect();
            parties.into_iter().map(|party| party.join().unwrap()).collect::<Vec<_>>()
        })
    };
    let (few, many) = (learned(8), learned(1000));
    assert!(many[0].0 == many[1].0 && many[0].0.as_ref().is_some_and(|value| value.len() == 1000));
    assert!(many[2].0.is_none() && many[0].1 > few[0].1);
    assert_eq!(many[2].1, few[2].1, "bytes that the third hears");
}
