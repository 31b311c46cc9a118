//! Honest runs against the plain evaluator: with whatever is set, aes with forty copies, inputs that come
//! late; and who should garble.

use comity_circuit::{Builder, Owner, Program, Recipients, Span, Step, Wire};
use comity_core::{Backend, Bits, Kind, Params};
use comity_cutchoose::{CutChoose, garbler};
use comity_protocol::{Options, Protocol};
use comity_testing::laws::{Setting, bits, check, random_program, rng};

type Set = &'static [(&'static str, &'static str)];

/// The options: who garbles, as party 0 says it, and in which form.
const WAYS: [Set; 4] = [
    &[("role", "garbler")],
    &[("role", "evaluator")],
    &[("role", "garbler"), ("coded", "yes")],
    &[("role", "evaluator"), ("coded", "yes")],
];

fn setting(rho: u32, options: Set, session: u64) -> Setting {
    Setting { params: Params::new(128, rho).unwrap(), backend: Backend::detect(), options, session }
}

#[test]
fn random_programs_compute_what_they_compute_in_the_clear() {
    let backends = Backend::available();
    for (seed, (rho, options)) in (1..9).flat_map(|rho| WAYS.map(|way| (rho, way))).enumerate() {
        let mut rng = rng(90 + seed as u128);
        let program = random_program(2, 300, true, &mut rng);
        let inputs: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng)).collect();
        let setting = Setting { backend: backends[seed % backends.len()], ..setting(rho, options, seed as u64) };
        check(&CutChoose, 2, &program, &inputs, setting);
    }
}

#[test]
fn aes_with_forty_copies() {
    let program = comity_library::program("aes128").unwrap();
    let mut rng = rng(9);
    let inputs = [bits(128, &mut rng), bits(128, &mut rng)];
    for options in [WAYS[0], WAYS[2]] {
        check(&CutChoose, 2, &program, &inputs, setting(40, options, 9));
    }
}

/// More output bits than are treated together, and more input bits than are encoded together.
#[test]
fn wide_values() {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 700), b.input("y", 2_100));
    let both: Vec<Wire> = y.iter().zip(x.iter().cycle()).map(|(&y, &x)| b.and(x, y)).collect();
    b.output("both", &both);
    let program = Program::from_circuit(b.finish()).unwrap();
    let inputs = [bits(700, &mut rng(10)), bits(2_100, &mut rng(11))];
    check(&CutChoose, 2, &program, &inputs, setting(3, WAYS[0], 10));
    check(&CutChoose, 2, &program, &inputs, setting(3, WAYS[1], 11));
}

#[test]
fn values_in_shares_and_too_many_coded_copies_are_refused() {
    let program = comity_library::program("add8").unwrap();
    let refused = |ended: comity_core::Result<()>, words: &str| {
        let error = ended.expect_err("it is refused");
        assert!(matches!(error.kind, Kind::InvalidInput(_)) && error.to_string().contains(words), "{error}");
    };
    let fits = |program: &Program| CutChoose.card().fits(2, program);
    refused(fits(&program.clone().with_owner(1, Owner::Shared).unwrap()), "comes in as shares");
    refused(fits(&program.clone().with_recipients(0, Recipients::Shared).unwrap()), "goes out as shares");
    let mut options = Options::new(CutChoose.card());
    CutChoose.settle(&mut options, &program);
    let params = |rho| Params::new(128, rho).unwrap();
    CutChoose.fits(&program, &options, params(128)).unwrap();
    options.set(comity_core::PartyId(0), "coded", "yes").unwrap();
    CutChoose.fits(&program, &options, params(127)).unwrap();
    refused(CutChoose.fits(&program, &options, params(128)), "up to 127");
}

#[test]
fn inputs_may_overwrite_each_other_and_come_late() {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 4), b.input("y", 4));
    let both: Vec<Wire> = x.iter().zip(&y).map(|(&x, &y)| b.and(x, y)).collect();
    let mixed: Vec<Wire> =
        both.iter().zip(x[1..].iter().chain(&y[..1])).map(|(&and, &other)| b.xor(and, other)).collect();
    b.output("z", &mixed);
    let span = |start: u64| Span { start, bits: 4, strides: Vec::new() };
    let input =
        |party: u16, start| Step::Input { name: format!("{party} at {start}"), owner: party.into(), to: span(start) };
    let call = Step::Call { circuit: 0, times: 1, args: vec![(span(0), 0), (span(4), 0)], outs: vec![(span(0), 0)] };
    let reveal = Step::Reveal { name: "z".into(), to: Recipients::All, from: span(0) };
    let steps = vec![input(0, 0), input(1, 4), input(1, 2), input(0, 7), call.clone(), input(0, 4), call, reveal];
    let program = Program::new("late", 11, vec![b.finish()], steps).unwrap();
    for seed in 0..8 {
        let mut rng = rng(seed.into());
        let inputs: Vec<Bits> = (0..5).map(|_| bits(4, &mut rng)).collect();
        check(&CutChoose, 2, &program, &inputs, setting(3, WAYS[seed as usize % 2], seed));
    }
}

/// An input bit costs a fourth at the garbler of what it costs at the evaluator; an output bit is dear to the garbler.
#[test]
fn who_garbles_by_default_sends_fewer_bytes() {
    let sized = |x: usize, y: usize, to| {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", x), b.input("y", y));
        let and = b.and(x[0], y[0]);
        b.output("and", &[and]);
        garbler(&Program::from_circuit(b.finish()).unwrap().with_recipients(0, to).unwrap()).0
    };
    assert_eq!([(3, 4), (4, 3), (3, 3)].map(|(x, y)| sized(x, y, Recipients::All)), [1, 0, 0]);
    assert_eq!([0, 1].map(|to| sized(3, 3, Recipients::only(to))), [1, 0]);
    // 400 for the output against 96 for each input bit.
    assert_eq!([4, 5].map(|more| sized(3, 3 + more, Recipients::only(1))), [0, 1]);
}
