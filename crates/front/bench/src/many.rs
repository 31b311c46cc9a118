//! Authenticated shares of many parties, a thread each, over TCP on this machine: how fast triples are dealt,
//! and how fast they are used.

use std::time::Instant;

use comity_channel::{Mesh, Result};
use comity_circuit::{Builder, Program, Wire};
use comity_core::{Bits, Block, Params, SessionId};
use comity_net::SystemRng;
use comity_protocol::{Dealer, Here};
use comity_share::Share;
use comity_sharing::SharedEngine;
use comity_terminal::failure::Outcome;
use comity_tinyot::Machine;
use comity_tinyot::many::{RowMachine, RowSharing};
use comity_triples::bucket::Budget;
use comity_triples::many::{Many, objects};
use comity_triples::{Ands, DealerKind, dealer};

use crate::mesh::among;
use crate::suite::{Bench, Suite};

/// Setting up, and triples.
pub(super) const SHARES: Bench = Bench {
    name: "shares",
    about: "authenticated triples of many parties over TCP on this machine, a thread each, and their set-up",
    ceiling: None,
    run: shares,
};

/// Independent ANDs, and AES.
pub(super) const ANDS: Bench = Bench {
    name: "tinyot",
    about: "independent ANDs, and AES, of two parties and more over TCP on this machine, a thread each, on triples that are there",
    ceiling: None,
    run: ands,
};

/// Triples of a batch: one for which buckets of three, or with nine parties of four, are enough at rho = 40.
const TRIPLES: [(u16, u64); 3] = [(3, 1 << 19), (5, 1 << 18), (9, 1 << 16)];

/// Samples of each.
const SAMPLES: usize = 5;

/// ANDs of a gate's copies, and of a sample.
const COPIES: usize = 1 << 10;
const GATES: usize = 1 << 6;

fn here(net: &Mesh<'_>, turn: usize) -> Here {
    let session = SessionId::derive("benchmark of shares", &[&turn.to_le_bytes()]);
    Here::new(net.me(), net.parties(), session)
}

fn shares(suite: &mut Suite) -> Outcome {
    let net = suite.network();
    for (parties, triples) in TRIPLES {
        let name = format!("shares.n{parties}");
        if !suite.wants(&name) {
            continue;
        }
        let found = among(parties, net, |net| {
            let mut times = Vec::new();
            for turn in 0..=SAMPLES {
                let budget = Budget::known(triples, Params::default().rho, 1, objects(parties))?;
                let start = begin(net)?;
                let mut dealer = Many::new(net, here(net, turn), budget, &mut SystemRng)?;
                times.push(end(net, start)?);
                let start = begin(net)?;
                let mut dealt = 0;
                while dealt < triples as usize {
                    dealt += dealer.deal(net, triples as usize - dealt)?.len();
                }
                times.push(dealt as f64 / end(net, start)?);
            }
            Ok(times.split_off(2))
        })?;
        let of = |i: usize| found.iter().skip(i).step_by(2).copied().collect();
        suite.record(&format!("{name}.setup"), "s", None, of(0));
        suite.record(&format!("{name}.triples"), "triples/s", None, of(1));
    }
    Ok(())
}

fn ands(suite: &mut Suite) -> Outcome {
    let net = suite.network();
    let program = {
        let mut builder = Builder::new();
        let (x, y) = (builder.input("x", GATES), builder.input("y", GATES));
        let products: Vec<Wire> = x.iter().zip(&y).map(|(&x, &y)| builder.and(x, y)).collect();
        builder.output("xy", &products);
        Program::from_circuit(builder.finish()).expect("a program of one circuit")
    };
    if suite.wants("tinyot.n2.ands") {
        let found = among(2, net, ands_of_two)?;
        suite.record("tinyot.n2.ands", "AND/s", None, found);
    }
    for parties in [3, 5, 9] {
        let name = format!("tinyot.n{parties}.ands");
        if !suite.wants(&name) {
            continue;
        }
        let circuit = program.lowered()[0].layered();
        // The first layer has XORs only.
        let [linear, layer, ..] = circuit.layers() else { unreachable!("the circuit has a layer of ANDs") };
        let gates = &circuit.gates()[linear.xors..][..layer.ands];
        let turn = gates.len() * COPIES;
        let found = among(parties, net, |net| {
            let all = (turn * (SAMPLES + 1)) as u64;
            let budget = Budget::known(all, Params::default().rho, 1, objects(parties))?;
            let here = here(net, 0);
            let dealer = Many::new(net, here.child("dealer"), budget, &mut SystemRng)?;
            let mut machine = RowMachine::new(here.child("machine"), Box::new(dealer), &mut SystemRng);
            let mut wires = vec![Block::ZERO; circuit.slots() * COPIES * usize::from(parties)];
            let mut rates = Vec::new();
            for _ in 0..=SAMPLES {
                machine.plan(turn as u64);
                machine.prepare(net, 0)?;
                let start = begin(net)?;
                machine.ands(net, &mut wires, gates, COPIES)?;
                machine.check(net)?;
                rates.push(turn as f64 / end(net, start)?);
            }
            Ok(rates.split_off(1))
        })?;
        suite.record(&name, "AND/s", None, found);
    }
    for parties in [3, 5] {
        let name = format!("tinyot.n{parties}.aes.online");
        if suite.wants(&name) {
            let found = among(parties, net, aes)?;
            suite.record(&name, "s", None, found);
        }
    }
    Ok(())
}

/// Two parties have a machine of their own.
fn ands_of_two(net: &mut Mesh<'_>) -> Result<Vec<f64>> {
    let turn = GATES * COPIES;
    let here = here(net, 0);
    let ands = Ands::Exactly((turn * (SAMPLES + 1)) as u64);
    let mut dealer = dealer(net.pair()?.1, here.child("dealer"), DealerKind::Fast, ands, &mut SystemRng)?;
    let mut bits = [(); 2].map(|()| vec![Share::default(); turn]);
    bits.iter_mut().try_for_each(|bits| dealer.shares(net.pair()?.1, bits))?;
    let [x, y] = bits;
    let mut machine = Machine::new(here.child("machine"), dealer);
    let (mut products, mut rates) = (vec![Share::default(); turn], Vec::new());
    for _ in 0..=SAMPLES {
        machine.plan(turn as u64);
        machine.prepare(net.pair()?.1, [0; 2])?;
        let start = begin(net)?;
        machine.and(net.pair()?.1, &x, &y, &mut products)?;
        machine.check(net.pair()?.1)?;
        rates.push(turn as f64 / end(net, start)?);
    }
    Ok(rates.split_off(1))
}

/// A block of AES, from the inputs to the output at all.
fn aes(net: &mut Mesh<'_>) -> Result<Vec<f64>> {
    let program = comity_library::program("aes128").expect("a built-in");
    let (here, ands) = (here(net, 0), program.and_gates());
    let budget = Budget::known(ands * (SAMPLES as u64 + 1), Params::default().rho, 1, objects(here.parties))?;
    let dealer = Many::new(net, here.child("dealer"), budget, &mut SystemRng)?;
    let mut machine = RowMachine::new(here.child("machine"), Box::new(dealer), &mut SystemRng);
    let own = |input: &comity_circuit::Input| input.owner.includes(here.me).then(|| Bits::zeros(input.bits));
    let inputs: Vec<Option<Bits>> = program.inputs().iter().map(own).collect();
    program.lowered().iter().for_each(|circuit| {
        circuit.layered();
    });
    let mut seconds = Vec::new();
    for _ in 0..=SAMPLES {
        machine.plan(ands);
        machine.prepare(net, 128)?;
        let start = begin(net)?;
        comity_circuit::run(&program, &mut SharedEngine::new(RowSharing::new(net, &mut machine)), &inputs, &mut ())?;
        seconds.push(end(net, start)?);
    }
    Ok(seconds.split_off(1))
}

/// When all begin.
fn begin(net: &mut Mesh<'_>) -> Result<Instant> {
    net.tell(&[0])?;
    Ok(Instant::now())
}

/// The seconds until all are done.
fn end(net: &mut Mesh<'_>, start: Instant) -> Result<f64> {
    net.tell(&[1])?;
    Ok(start.elapsed().as_secs_f64())
}
