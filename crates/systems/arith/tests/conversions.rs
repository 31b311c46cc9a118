//! Shares of words to shares of bits and back: bytes and rounds as they are planned, lengths that say
//! nothing, messages that are masked, what is drawn, and messages that are broken.

use comity_arith::Arith;
use comity_channel::{Channel, Mesh, PerPeer};
use comity_circuit::{Builder, Program, Wire};
use comity_core::{Backend, Bits, Params, PartyId, SessionId};
use comity_library::arith;
use comity_protocol::{Costing, Empty, Here, Job, Options, Party, Protocol, Talk};
use comity_testing::laws::{self, Laws, Outputs, assert_fresh, bits, rng, said_by_two};

use super::cost::traffic;
use super::{DEALT, setting};

/// Whichever ways there are: a comparison, a choice, a quotient by a public number, equality, bits that move.
pub(super) fn program(width: usize, times: u64) -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", width), b.input("y", width));
    let least = arith::min(&mut b, &x, &y);
    let (tenth, rest) = arith::div_rem_by(&mut b, &x, 10);
    let equal = arith::eq(&mut b, &tenth, &y);
    let chosen = arith::mux(&mut b, equal, &arith::shr(&y, 3), &rest);
    b.output("least", &least);
    b.output("chosen", &chosen);
    Program::map(b.finish(), times, &[]).unwrap().with_owner(1, 1).unwrap()
}

fn inputs(program: &Program, seed: u128) -> Vec<Bits> {
    program.inputs().iter().map(|input| bits(input.bits, &mut rng(seed))).collect()
}

#[test]
fn bytes_and_rounds_are_what_is_planned() {
    for (width, times) in [(32, 1), (64, 300), (128, 40), (9, 5000)] {
        let program = program(width, times);
        let (options, mut talk) = (Options::new(Arith.card()), Talk::new(2));
        let of = Costing { program: &program, options: &options, params: Params::default(), parties: 2 };
        Arith.costs(&of, &mut talk).unwrap();
        assert!(talk.is_exact());
        for (party, traffic) in (0..).map(PartyId).zip(traffic(&program, &inputs(&program, 1))) {
            assert_eq!(talk.sent(party), traffic.sent, "{width} bits, party {party}");
            assert_eq!(talk.rounds(party), traffic.rounds, "{width} bits, party {party}");
        }
    }
}

type Build<'b> = &'b dyn Fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>;

/// Bytes of single operations on 64 bits, as the book has them, beyond the set-up and the output.
#[test]
fn operations_cost_what_the_docs_say() {
    let cost = |build: Build<'_>| {
        const TIMES: u64 = 1024;
        let mut b = Builder::new();
        let (x, y) = (b.input("x", 64), b.input("y", 64));
        let out = build(&mut b, &x, &y);
        b.output("out", &out);
        let program = Program::map(b.finish(), TIMES, &[]).unwrap().with_owner(1, 1).unwrap();
        let (options, mut talk) = (Options::new(Arith.card()), Talk::new(2));
        let of = Costing { program: &program, options: &options, params: Params::default(), parties: 2 };
        Arith.costs(&of, &mut talk).unwrap();
        let all = talk.sent(PartyId(0)) + talk.sent(PartyId(1));
        // Base OTs, seeds, outputs.
        let outputs = 2 * (TIMES * out.len() as u64).div_ceil(8);
        let setup = 128 * 32 + 32 + 32 * 3 * 32;
        (all - setup - 32 - outputs) as f64 / TIMES as f64
    };
    let near = |found: f64, said: f64, what: &str| assert!((found - said).abs() < 1.0, "{what}: {found}");
    near(cost(&|b, x, y| vec![arith::lt(b, x, y)]), 6592.0, "less");
    near(cost(&|b, x, y| vec![arith::eq(b, x, y)]), 2272.0, "equal");
    near(cost(&|b, x, y| vec![arith::add(b, x, y)[63]]), 2268.0, "the top bit");
    near(
        cost(&|b, x, y| {
            let sum = arith::add(b, x, y);
            arith::add(b, &arith::shr(&sum, 8), y)
        }),
        2321.0,
        "a shift to the right",
    );
    near(cost(&|b, x, _| arith::div_rem_by(b, x, 1000).0), 3212.0, "a quotient by 1000");
    near(cost(&|b, x, y| arith::div_rem(b, x, y).0), 75_616.0, "a quotient");
    near(cost(&|b, x, y| arith::shl_by(b, x, y)), 21_216.0, "a private shift");
}

#[test]
fn lengths_are_the_same_for_all_inputs() {
    let program = program(32, 40);
    let zeros: Vec<Bits> = program.inputs().iter().map(|input| Bits::zeros(input.bits)).collect();
    let sent = |inputs: &[Bits]| traffic(&program, inputs).iter().map(|traffic| traffic.sent).collect::<Vec<_>>();
    assert_eq!(sent(&zeros), sent(&inputs(&program, 5)));
}

/// What both parties say in a run of one session, with their generators from a seed.
fn said(program: &Program, inputs: &[Bits], seed: u128) -> Vec<Vec<u8>> {
    let party = |me: u16| {
        move |ch: &mut dyn Channel| {
            let mut net = Mesh::new(PerPeer::from_vec(PartyId(me), vec![ch]).expect("one of two"));
            let own: Vec<Option<Bits>> = (0..2).map(|i| (i == me).then(|| inputs[usize::from(i)].clone())).collect();
            let here = Here::new(PartyId(me), 2, SessionId::new([7; 32]));
            let (mut draw, mut outputs) = (rng(seed << 1 | u128::from(me)), Outputs::default());
            let options = Options::new(Arith.card());
            let job = Job { program, inputs: &own, options: &options };
            let mut party = Party { net: &mut net, here, rng: &mut draw, observer: &mut outputs };
            Arith.run(&mut party, &job, &mut Empty)
        }
    };
    said_by_two(party(0), party(1))
}

/// The garbling's delta and that of the OTs the other way are drawn, so nothing that is said is the same in
/// two runs; and one run says what is pinned.
#[test]
fn what_is_drawn_is_drawn() {
    let program = program(40, 128);
    let inputs = inputs(&program, 3);
    assert_fresh(0, |seed| said(&program, &inputs, seed));
    let said = said(&program, &inputs, 1);
    let parts: Vec<&[u8]> = said.iter().map(Vec::as_slice).collect();
    let digest = SessionId::derive("what was said", &parts);
    assert_eq!(format!("{digest:?}"), "SessionId(c317e8856156a0ad..)");
}

/// The first party's bits, and a word that is chosen, are masked in what it tells: of many alike each bit
/// that is told is one half of the time.
#[test]
fn what_is_told_of_words_looks_random() {
    const TIMES: usize = 4000;
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 1), b.input("y", 16));
    let chosen = arith::mux(&mut b, x[0], &y, &arith::constant(0, 16));
    b.output("chosen", &chosen);
    let program = Program::map(b.finish(), TIMES as u64, &[0, 1]).unwrap().with_owner(1, 1).unwrap();
    let said = said(&program, &[Bits::zeros(1), Bits::zeros(16)], 1);
    let told: Vec<&Vec<u8>> = said.iter().filter(|message| message.len() == 2 * TIMES).collect();
    // Each party tells the words of the choice, `TIMES` of them, and those of the output.
    assert_eq!(told.len(), 4);
    for words in told {
        for bit in 0..16 {
            let ones = words.chunks(2).filter(|word| u16::from_le_bytes([word[0], word[1]]) >> bit & 1 == 1).count();
            // Six standard deviations.
            assert!(ones.abs_diff(TIMES / 2) < 190, "bit {bit} is one in {ones} of {TIMES}");
        }
    }
}

#[test]
fn broken_messages() {
    let program = program(24, 2);
    let inputs = inputs(&program, 4);
    laws::deviations_in(&DEALT, &Laws { felt: 50, deviations: 60, ..Laws::USUAL }, &program, &inputs);
    let silent = Laws { felt: 50, deviations: 20, options: &[("dealer", "silent")], ..Laws::USUAL };
    laws::deviations_in(&DEALT, &silent, &program, &inputs);
    for options in [&[("dealer", "iknp")], &[("dealer", "silent")]] {
        let setting = laws::Setting { options, ..setting(Backend::detect()) };
        laws::check(&DEALT, 2, &program, &inputs, setting);
    }
}
