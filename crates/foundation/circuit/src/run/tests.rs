use comity_core::Kind;

use super::*;
use crate::builder::Builder;
use crate::circuit::Circuit;
use crate::party::Recipients;
use crate::plain::Plain;

/// An engine that writes down what it is asked.
#[derive(Default)]
struct Scribe(Vec<String>);

impl Engine for Scribe {
    type Wire = u8;
    type Error = String;

    fn input(
        &mut self,
        index: usize,
        owner: Owner,
        value: Option<&Bits>,
        start: usize,
        wires: &mut [u8],
    ) -> Result<(), String> {
        self.0.push(format!("input {index} of {owner}: {:?} into {} at {start}", value.map(Bits::len), wires.len()));
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>, memory: &mut [u8]) -> Result<(), String> {
        assert_eq!(call.circuit.inputs(), 2);
        assert!(memory.iter().all(|&wire| wire == 0));
        let places = |places: &[Place]| places.iter().map(|place| (place.start, place.stride)).collect::<Vec<_>>();
        self.0.push(format!("call {} {:?} {:?}", call.times, places(call.args), places(call.outs)));
        if self.0.len() > 100 { Err("enough".into()) } else { Ok(()) }
    }

    fn reveal(&mut self, index: usize, to: Recipients, start: usize, wires: &[u8]) -> Result<Option<Bits>, String> {
        self.0.push(format!("reveal {index} to {to}: {} at {start}", wires.len()));
        Ok((to == Recipients::All).then(|| Bits::zeros(wires.len())))
    }
}

#[derive(Default)]
struct Watch(Vec<String>);

impl Observer for Watch {
    fn output(&mut self, index: usize, value: Bits) {
        self.0.push(format!("output {index}: {}", value.len()));
    }
    fn phase(&mut self, name: &'static str) {
        self.0.push(name.into());
    }
    fn and_gates(&mut self, done: u64) {
        self.0.push(format!("{done} gates"));
    }
}

fn and() -> Circuit {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 1), b.input("y", 1));
    let z = b.and(x[0], y[0]);
    b.output("z", &[z]);
    b.finish()
}

fn span(start: u64, bits: u64, strides: &[i64]) -> Span {
    Span { start, bits, strides: strides.to_vec() }
}

#[test]
fn steps_reach_the_engine_in_order_and_outputs_the_observer() {
    let call = Step::Call {
        circuit: 0,
        times: 3,
        args: vec![(span(20, 1, &[-10, 3]), 1), (span(30, 1, &[]), 0)],
        outs: vec![(span(40, 1, &[10]), 1)],
    };
    let steps = vec![
        Step::Input { name: "a".into(), owner: 5.into(), to: span(0, 7, &[]) },
        Step::Input { name: "empty".into(), owner: 0.into(), to: span(0, 0, &[]) },
        Step::Input { name: "b".into(), owner: 1.into(), to: span(7, 2, &[]) },
        Step::Repeat { times: 2, body: vec![Step::Repeat { times: 2, body: vec![call] }] },
        Step::Reveal { name: "c".into(), to: Recipients::only(1), from: span(40, 3, &[]) },
        Step::Reveal { name: "d".into(), to: Recipients::All, from: span(50, 3, &[]) },
    ];
    let program = Program::new("p", 60, vec![and()], steps).unwrap();
    let (mut engine, mut watch) = (Scribe::default(), Watch::default());
    run(&program, &mut engine, &[Some(Bits::zeros(7)), None, None], &mut watch).unwrap();
    let want = [
        "input 0 of party 5: Some(7) into 7 at 0",
        "input 2 of party 1: None into 2 at 7",
        "call 3 [(20, 1), (30, 0)] [(40, 1)]",
        "call 3 [(23, 1), (30, 0)] [(40, 1)]",
        "call 3 [(10, 1), (30, 0)] [(50, 1)]",
        "call 3 [(13, 1), (30, 0)] [(50, 1)]",
        "reveal 0 to party 1: 3 at 40",
        "reveal 1 to all parties: 3 at 50",
    ];
    assert_eq!(engine.0, want);
    let seen = ["inputs", "gates", "3 gates", "6 gates", "9 gates", "12 gates", "outputs", "output 1: 3"];
    assert_eq!(watch.0, seen);
}

#[test]
fn many_calls_are_cut_for_progress_and_an_engines_error_ends_the_run() {
    let steps = |times| {
        let args = vec![(span(0, 1, &[]), 0); 2];
        let body = vec![Step::Call { circuit: 0, times, args, outs: vec![(span(1, 1, &[]), 1)] }];
        vec![Step::Repeat { times: 1000, body }]
    };
    let program = Program::new("p", 1 << 24, vec![and()], steps(CHUNK + 5)).unwrap();
    let (mut engine, mut watch) = (Scribe::default(), Watch::default());
    let error = run(&program, &mut engine, &[], &mut watch).unwrap_err();
    assert!(matches!(&error, RunError::Engine(why) if why == "enough"));
    assert_eq!(engine.0.len(), 101);
    assert_eq!(engine.0[0], format!("call {CHUNK} [(0, 0), (0, 0)] [(1, 1)]"));
    assert_eq!(engine.0[1], format!("call 5 [(0, 0), (0, 0)] [({}, 1)]", 1 + CHUNK));
    assert_eq!(watch.0[..3], ["gates".into(), format!("{CHUNK} gates"), format!("{} gates", CHUNK + 5)]);
}

#[test]
fn inputs_that_do_not_fit_are_named_with_both_lengths_and_the_owner() {
    let program = Program::from_circuit(and()).unwrap().with_owner(1, 4).unwrap();
    let bit = || Some(Bits::zeros(1));
    let check = |party: Option<u16>, inputs: &[Option<Bits>]| program.check_inputs(party.map(PartyId), inputs);
    assert_eq!(check(None, &[bit(), bit()]), Ok(()));
    assert_eq!(check(Some(0), &[bit(), None]), Ok(()));
    assert_eq!(check(Some(4), &[None, bit()]), Ok(()));
    assert_eq!(check(Some(1), &[None, None]), Ok(()));

    let length = |given| InputError::Length { index: 1, name: "y".into(), owner: 4.into(), given, takes: 1 };
    assert_eq!(check(None, &[bit(), Some(Bits::zeros(3))]), Err(length(3)));
    assert_eq!(length(3).to_string(), "input value 1 (`y`) of party 4 has 1 bits; the value given has 3");
    let missing = InputError::Missing { index: 1, name: "y".into(), owner: 4.into(), takes: 1 };
    assert_eq!(check(None, &[bit(), None]), Err(missing.clone()));
    assert_eq!(check(Some(4), &[None, None]), Err(missing.clone()));
    assert_eq!(missing.to_string(), "input value 1 (`y`, 1 bits) is missing; party 4 gives it");
    let foreign = InputError::NotOurs { index: 0, name: "x".into(), owner: 0.into() };
    assert_eq!(check(Some(4), &[bit(), bit()]), Err(foreign));
    assert_eq!(check(None, &[bit()]), Err(InputError::Count { given: 1, takes: 2 }));

    let ran = |inputs: &[Option<Bits>]| run(&program, &mut Plain::new(), inputs, &mut Watch::default());
    assert!(matches!(ran(&[bit(), Some(Bits::zeros(3))]), Err(RunError::Input(error)) if error == length(3)));
    assert!(matches!(ran(&[bit()]), Err(RunError::Input(InputError::Count { .. }))));
    assert!(matches!(ran(&[bit(), None]), Err(RunError::Engine(Error { kind: Kind::InvalidInput(_), .. }))));
    let error: Error = ran(&[None, Some(Bits::zeros(3))]).unwrap_err().into();
    assert_eq!(error.to_string(), length(3).to_string());
}

#[test]
fn values_in_shares_are_refused_by_name() {
    let program = Program::from_circuit(and()).unwrap();
    assert_eq!(program.check_plain(), Ok(()));
    let inputs = [Some(Bits::zeros(1)), Some(Bits::zeros(1))];
    let ran = |program: Program| {
        let mut engine = Scribe::default();
        let error = run(&program, &mut engine, &inputs, &mut Watch::default()).unwrap_err();
        assert!(engine.0.is_empty());
        let RunError::Input(error) = error else { panic!("{error}") };
        assert_eq!(program.check_plain(), Err(error.clone()));
        error
    };
    let input = ran(program.clone().with_owner(1, Owner::Shared).unwrap());
    assert_eq!(input, InputError::SharedInput { index: 1, name: "y".into() });
    let words = "input value 1 (`y`) comes in as shares, which are not taken here: give it to one party";
    assert_eq!(input.to_string(), words);
    let output = ran(program.with_recipients(0, Recipients::Shared).unwrap());
    assert_eq!(output, InputError::SharedOutput { index: 0, name: "z".into() });
    let words = "output value 0 (`z`) goes out as shares, which are not given here: reveal it to somebody";
    assert_eq!(output.to_string(), words);
}
