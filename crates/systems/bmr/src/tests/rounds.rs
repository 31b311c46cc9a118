//! How often the parties of a whole run wait for each other, and what they send.

use comity_circuit::Program;
use comity_core::{Bits, PartyId};
use comity_protocol::{Costing, Empty, Options, Protocol, Talk};
use comity_testing::laws::Outputs;

use super::*;
use crate::Bmr;

/// What each party of a whole run among three sends, and the turns of its link that has most.
fn run(program: &Program, option: &str, value: &str) -> Vec<(u64, u64)> {
    let mut rng = laws::rng(1);
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| laws::bits(input.bits, &mut rng)).collect();
    let right: Vec<(usize, Bits)> = laws::clear(program, &inputs).into_iter().enumerate().collect();
    let links = memory_mesh(3, Some(comity_testing::PATIENCE));
    std::thread::scope(|scope| {
        let (inputs, right) = (&inputs, &right);
        let party = move |links: PerPeer<_>| {
            let links = links.map(|_, link| Counted::new(link));
            let counters: Vec<Counter> = links.iter().map(|(_, link)| link.counter()).collect();
            let mut net = Mesh::new(links);
            let me = net.me();
            let here = Here::new(me, 3, SessionId::derive("test", &[b"turns"]));
            let mut options = Options::new(Bmr.card());
            options.set(me, option, value).unwrap();
            let own = program.inputs().iter().zip(inputs);
            let own: Vec<_> = own.map(|(input, value)| input.owner.includes(me).then(|| value.clone())).collect();
            let (mut outputs, mut rng) = (Outputs::default(), laws::rng(u128::from(me.0) + 9));
            let mut me = Party { net: &mut net, here, rng: &mut rng, observer: &mut outputs };
            Bmr.run(&mut me, &Job { program, inputs: &own, options: &options }, &mut Empty).unwrap();
            assert_eq!(outputs.0, *right);
            let counts: Vec<_> = counters.iter().map(|counter| counter.counts()).collect();
            (counts.iter().map(|link| link.sent).sum(), counts.iter().map(|link| link.rounds).max().unwrap())
        };
        let threads: Vec<_> = links.into_iter().map(|links| scope.spawn(move || party(links))).collect();
        threads.into_iter().map(|party| party.join().unwrap()).collect()
    })
}

/// The turns of the link that has most.
fn turns(program: &Program, products: &str) -> u64 {
    run(program, "products", products).into_iter().map(|(_, turns)| turns).max().unwrap()
}

/// However deep a program is, as long as its gates are one chunk.
#[test]
fn rounds_are_few_and_do_not_depend_on_depth() {
    let [shallow, deep] = [4, 200].map(|width| Program::from_circuit(laws::chain_and_layer(width)).unwrap());
    assert_eq!([&shallow, &deep].map(|program| turns(program, "macs")), [25; 2]);
    assert_eq!(turns(&deep, "ot"), 54);
    let aes = comity_library::program("aes128").unwrap();
    assert_eq!(turns(&aes, "macs"), 25);
}

/// Shares of rows and their sums: each party a third of all, or party 0 for all. Nothing else changes.
#[test]
fn a_collector_sends_most() {
    let program = Program::from_circuit(laws::chain_and_layer(40)).unwrap();
    // Pairs of rows: two of a gate, and one of a bit of an output.
    let bits = program.outputs().iter().map(|output| output.bits as u64).sum::<u64>();
    let (pairs, pair) = (2 * program.and_gates() + bits, 3 * 2 * 16);
    let [balanced, collector] = ["balanced", "collector"].map(|opener| run(&program, "opener", opener));
    for (party, (balanced, collector)) in (0..).zip(balanced.into_iter().zip(collector)) {
        let own = pairs * (party + 1) / 3 - pairs * party / 3;
        let rows = [(pairs - own) + 2 * own, if party == 0 { 2 * pairs } else { pairs }].map(|rows| rows * pair);
        assert_eq!(balanced.0 - rows[0], collector.0 - rows[1], "party {party}");
        assert_eq!(balanced.1, collector.1);
    }
}

/// What a plan says: turns to the last one, and bytes of each party within a fiftieth, by either opener and product.
#[test]
fn a_plan_is_what_a_run_takes() {
    let aes = comity_library::program("aes128").unwrap();
    for (option, value) in [("opener", "balanced"), ("opener", "collector"), ("products", "ot")] {
        let mut options = Options::new(Bmr.card());
        options.set(PartyId(0), option, value).unwrap();
        let of = Costing { program: &aes, options: &options, params: Params::default(), parties: 3 };
        let mut talk = Talk::new(3);
        Bmr.costs(&of, &mut talk).unwrap();
        let counts = run(&aes, option, value);
        assert_eq!(talk.rounds(PartyId(0)), counts.iter().map(|(_, turns)| *turns).max().unwrap(), "{value}");
        for (party, (sent, _)) in (0..).map(PartyId).zip(counts) {
            let planned = talk.sent(party);
            assert!(planned.abs_diff(sent) < sent / 50, "{value}: party {party} sends {sent}, not {planned}");
        }
    }
}

/// Of a program of several chunks, too, a plan is near what a run takes.
#[test]
fn a_plan_of_several_chunks_is_near() {
    let (program, options) = (laws::turns(1000, 66), Options::new(Bmr.card()));
    let of = Costing { program: &program, options: &options, params: Params::default(), parties: 3 };
    let mut talk = Talk::new(3);
    Bmr.costs(&of, &mut talk).unwrap();
    let (sent, turns) = run(&program, "products", "macs").remove(0);
    let (planned, rounds) = (talk.sent(PartyId(0)), talk.rounds(PartyId(0)));
    assert!(planned.abs_diff(sent) < sent / 50, "{sent} bytes, not {planned}");
    assert!(rounds.abs_diff(turns) < turns / 10, "{turns} turns, not {rounds}");
}
