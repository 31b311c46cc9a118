//! The machine and programs on it, and parties that lie online.

use std::sync::{Arc, Mutex};

use comity_circuit::{Observer, PartySet, Program, Recipients};
use comity_core::Check;
use comity_sharing::SharedEngine;
use comity_testing::laws::{bits, chain_and_layer, clear, random_program, rng as drawn};

use super::ideal::Trusted;
use super::*;

/// Outputs of one party, by number.
#[derive(Default)]
struct Outputs(Vec<(usize, Bits)>);

impl Observer for Outputs {
    fn output(&mut self, index: usize, value: Bits) {
        self.0.push((index, value));
    }
}

/// Runs a program at every party on a trusted dealer, or on the real one.
fn run<const N: usize>(program: &Program, inputs: &[Bits], batch: Option<usize>) -> [Vec<(usize, Bits)>; N] {
    Net::<N>::run(|net| {
        let here = here(net.me(), N as u16, SESSION.child("program"));
        let mut rng = rng(5, here.me);
        let dealer: Box<dyn RowDealer> = match batch {
            Some(batch) => Box::new(Trusted::new(here.me, N as u16, 77, batch)),
            None => {
                let budget = Budget::known(program.and_gates(), 10, 1, 4000).unwrap();
                Box::new(Many::new(net, here.child("dealer"), budget, &mut rng).unwrap())
            }
        };
        let mut machine = RowMachine::new(here, dealer, &mut rng);
        machine.plan(program.and_gates());
        machine.prepare(net, 10).unwrap();
        let own = |(input, value): (&comity_circuit::Input, &Bits)| {
            (input.owner.party() == Some(here.me)).then(|| value.clone())
        };
        let inputs: Vec<Option<Bits>> = program.inputs().iter().zip(inputs).map(own).collect();
        let mut outputs = Outputs::default();
        let mut engine = SharedEngine::new(RowSharing::new(net, &mut machine));
        comity_circuit::run(program, &mut engine, &inputs, &mut outputs).unwrap();
        outputs.0
    })
}

fn check<const N: usize>(program: &Program, inputs: &[Bits], batch: Option<usize>) {
    let expected = clear(program, inputs);
    for (party, outputs) in run::<N>(program, inputs, batch).into_iter().enumerate() {
        let to = |index: &usize| program.outputs()[*index].to.includes(PartyId(party as u16));
        let wanted: Vec<usize> = (0..expected.len()).filter(to).collect();
        assert!(outputs.iter().map(|(index, _)| *index).eq(wanted), "the outputs of party {party}");
        assert!(outputs.iter().all(|(index, value)| *value == expected[*index]), "party {party} of {N}");
    }
}

fn random_programs<const N: usize>(programs: u128) {
    for seed in 0..programs {
        let mut rng = drawn(seed + 10 * N as u128);
        let program = random_program(N as u16, 150, true, &mut rng);
        let inputs: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng)).collect();
        check::<N>(&program, &inputs, Some([1, 63, 300][seed as usize % 3]));
    }
}

#[test]
fn random_programs_compute_what_they_compute_in_the_clear() {
    random_programs::<2>(5);
    random_programs::<3>(9);
    random_programs::<5>(5);
    random_programs::<9>(2);
}

#[test]
fn programs_run_on_the_real_dealer() {
    let mut rng = drawn(3);
    let program = random_program(3, 100, true, &mut rng);
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng)).collect();
    check::<3>(&program, &inputs, None);
}

#[test]
fn calls_repeated_and_in_several_turns() {
    let mut rng = drawn(4);
    let program = Program::map(chain_and_layer(1500), 200, &[0]).unwrap();
    let inputs: Vec<Bits> = program.inputs().iter().map(|i| bits(i.bits, &mut rng)).collect();
    check::<3>(&program, &inputs, Some(1 << 14));
}

/// Inputs of all, an AND of the first two, and an output, on a trusted dealer: what the honest parties get.
fn by_hand<const N: usize>(
    cheats: u16,
    to: Recipients,
    conducts: impl Fn(PartyId) -> Lie + Sync,
) -> Vec<(PartyId, Result<Option<Bits>>)> {
    let ends = Net::<N>::run(|net| {
        let me = net.me();
        let here = here(me, N as u16, SESSION.child("by hand"));
        let dealer = Box::new(Trusted::new(me, N as u16, 7, 10));
        let mut machine = RowMachine::with(here, dealer, &mut rng(6, me), conducts(me));
        let ended = sum_and_product(&mut machine, net, to);
        if ended.is_err() {
            // After an error it refuses everything.
            assert!(machine.check(net).is_err() && machine.random(net, 1).is_err());
        }
        if me.0 < cheats {
            for peer in net.peers() {
                while net.link(peer).recv(&mut [0]).is_ok() {}
            }
        }
        (me, ended)
    });
    ends.into_iter().filter(|(me, _)| me.0 >= cheats).collect()
}

/// What each party puts in: 20 bits.
fn input(party: u16) -> Bits {
    (0..20).map(|i| (i * 7 + 3 * usize::from(party)) % 5 < 2).collect()
}

fn sum_and_product(machine: &mut RowMachine<'_, Lie>, net: &mut Mesh<'_>, to: Recipients) -> Result<Option<Bits>> {
    let mut sum: Option<RowShares> = None;
    for owner in (0..machine.parties()).map(PartyId) {
        let own = (owner == net.me()).then(|| input(owner.0));
        let rows = machine.input(net, owner, own.as_ref(), 20)?;
        match &mut sum {
            Some(sum) => sum.add(&rows),
            None => sum = Some(rows),
        }
    }
    machine.reveal(net, to, &sum.unwrap())
}

fn expected(parties: u16) -> Bits {
    let mut sum = Bits::zeros(20);
    (0..parties).for_each(|party| sum.xor_assign(&input(party)));
    sum
}

#[test]
fn outputs_go_to_whom_they_are_for_and_to_nobody_else() {
    let some = |parties: &[u16]| Recipients::Parties(parties.iter().map(|&party| PartyId(party)).collect::<PartySet>());
    for to in [Recipients::All, some(&[1]), some(&[0, 2]), some(&[0, 1, 2, 3])] {
        let heard = Arc::new(Mutex::new(Vec::new()));
        let ends = by_hand::<4>(0, to, |me| {
            let heard = heard.clone();
            lie(move |act| {
                if let JointAct::Hears { what, bytes, .. } = act
                    && what.contains("for some")
                    && !bytes.is_empty()
                {
                    heard.lock().unwrap().push(me);
                }
            })
        });
        for (me, ended) in ends {
            assert!(ended.unwrap() == to.includes(me).then(|| expected(4)), "party {me}, {to}");
        }
        // Shares of what is for some reach nobody else.
        assert!(heard.lock().unwrap().iter().all(|&me| to.includes(me)));
    }
}

fn named(ends: &[(PartyId, Result<Option<Bits>>)], check: &'static Check) -> bool {
    let mut found = ends.iter().filter_map(|(_, ended)| ended.as_ref().err()?.check()).peekable();
    found.peek().is_some() && found.all(|found| found == check)
}

/// Changes a byte of messages of this name, towards some.
fn says(message: &'static str, at: usize, towards: impl Fn(PartyId) -> bool + Send + 'static) -> Lie {
    lie(move |act| {
        if let JointAct::Says { what, peer, bytes } = act
            && what == message
            && towards(peer)
            && bytes.len() > at
        {
            bytes[at] ^= 1;
        }
    })
}

fn liars_are_seen<const N: usize>(cheats: u16) {
    use comity_share::checks::{EQUIVOCATION, WRONG_MAC};
    let last = PartyId(N as u16 - 1);
    let only = Recipients::only(last);
    let lying =
        |make: &(dyn Fn() -> Lie + Sync), to| by_hand::<N>(cheats, to, |me| if me.0 == 0 { make() } else { honest() });
    // A share of an output for one, its product.
    for message in ["shares for some", "products for some"] {
        let ends = lying(&|| says(message, 0, |_| true), only);
        let seen: Vec<_> = ends.into_iter().filter(|(me, _)| *me == last).collect();
        assert!(named(&seen, WRONG_MAC), "{message}");
    }
    if N - usize::from(cheats) > 1 {
        // The masked input told differently, and a share of an output.
        for message in ["announced bits", "opened bits"] {
            let ends = lying(&|| says(message, 0, move |peer| peer == last), Recipients::All);
            assert!(named(&ends, EQUIVOCATION) && ends.iter().all(|(_, ended)| ended.is_err()), "{message}");
        }
        // And nothing is revealed to one alone after that.
        let ends = lying(&|| says("announced bits", 0, move |peer| peer == last), only);
        assert!(ends.iter().all(|(_, ended)| ended.is_err()));
    }
    let ends = lying(&|| says("settlement", 3, |_| true), Recipients::All);
    assert!(named(&ends, WRONG_MAC));
}

#[test]
fn lies_online_are_seen() {
    liars_are_seen::<2>(1);
    liars_are_seen::<3>(1);
    liars_are_seen::<3>(2);
    liars_are_seen::<5>(4);
}

/// What the protocol refuses with three parties, and what it does by hand.
#[test]
fn the_protocol_is_for_three_too() {
    use comity_protocol::{Empty, Job, Options, Party, Protocol};

    use crate::TinyOt;

    let ends = Net::<3>::run(|net| {
        let here = Here { params: Params::new(128, 4).unwrap(), ..here(net.me(), 3, SESSION.child("by hand")) };
        let (rng, observer) = (&mut rng(8, here.me), &mut Outputs::default());
        let mut me = Party { net, here, rng, observer };
        let program = Program::from_circuit(chain_and_layer(5)).unwrap();
        let mut options = Options::new(TinyOt.card());
        options.set(here.me, "dealer", "nnob12").unwrap();
        let own = |input: &comity_circuit::Input| input.owner.includes(here.me).then(|| Bits::zeros(input.bits));
        let inputs: Vec<Option<Bits>> = program.inputs().iter().map(own).collect();
        let job = Job { program: &program, inputs: &inputs, options: &options };
        let refused = TinyOt.run(&mut me, &job, &mut Empty);
        assert!(refused.is_err_and(|error| error.to_string().contains("nnob12 of tinyot is for two parties")));
        assert!(TinyOt.reactive(&mut me, &options).is_err());

        let options = Options::new(TinyOt.card());
        let mut session = TinyOt.reactive(&mut me, &options).unwrap();
        let values: Vec<_> = program
            .inputs()
            .iter()
            .zip([0, 2])
            .map(|(input, owner)| {
                let value = (here.me.0 == owner).then(|| bits(input.bits, &mut drawn(owner.into())));
                session.input(&mut me, PartyId(owner), input.bits, value.as_ref()).unwrap()
            })
            .collect();
        let outputs = session.call(&mut me, &program, &values.iter().collect::<Vec<_>>()).unwrap();
        let random = session.random(&mut me, 9).unwrap();
        let mut revealed: Vec<Bits> = Vec::new();
        for output in &outputs {
            revealed.push(session.reveal(&mut me, Recipients::All, output).unwrap().unwrap());
        }
        (revealed, session.reveal(&mut me, Recipients::All, &random).unwrap().unwrap())
    });
    let program = Program::from_circuit(chain_and_layer(5)).unwrap();
    let inputs: Vec<Bits> =
        program.inputs().iter().zip([0u128, 2]).map(|(input, owner)| bits(input.bits, &mut drawn(owner))).collect();
    let expected = clear(&program, &inputs);
    assert!(ends.iter().all(|(revealed, random)| *revealed == expected && *random == ends[0].1));
}
