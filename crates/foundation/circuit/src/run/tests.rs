use comity_core::Kind;

use super::*;
use crate::builder::Builder;
use crate::circuit::Circuit;
use crate::engine::AT_ONCE;
use crate::party::Recipients;
use crate::plain::Plain;

/// An engine that writes down what it is asked.
#[derive(Default)]
struct Scribe {
    told: Vec<String>,
    /// Calls at once, unless it is left open.
    at_once: Option<u64>,
}

impl Engine for Scribe {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<(), Error> {
        self.told.push(format!("begin {}", program.wires()));
        Ok(())
    }

    fn input(&mut self, put: Put, value: Option<&Bits>) -> Result<(), Error> {
        let Put { index, owner, start, bits } = put;
        self.told.push(format!("input {index} of {owner}: {:?} into {bits} at {start}", value.map(Bits::len)));
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<(), Error> {
        assert_eq!(call.circuit.inputs(), 2);
        let places = |places: &[Place]| places.iter().map(|place| (place.start, place.stride)).collect::<Vec<_>>();
        let (index, times) = (call.index, call.times);
        self.told.push(format!("call {index} {times} {:?} {:?}", places(call.args), places(call.outs)));
        if self.told.len() > 100 { Err(Error::invalid_input("enough")) } else { Ok(()) }
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>, Error> {
        let Shown { index, to, start, bits } = shown;
        self.told.push(format!("reveal {index} to {to}: {bits} at {start}"));
        Ok((to == Recipients::All).then(|| Bits::zeros(bits)))
    }

    fn at_once(&self, call: &Call<'_>) -> u64 {
        self.at_once.unwrap_or(AT_ONCE / call.ands().max(1))
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
        "begin 60",
        "input 0 of party 5: Some(7) into 7 at 0",
        "input 2 of party 1: None into 2 at 7",
        "call 0 3 [(20, 1), (30, 0)] [(40, 1)]",
        "call 0 3 [(23, 1), (30, 0)] [(40, 1)]",
        "call 0 3 [(10, 1), (30, 0)] [(50, 1)]",
        "call 0 3 [(13, 1), (30, 0)] [(50, 1)]",
        "reveal 0 to party 1: 3 at 40",
        "reveal 1 to all parties: 3 at 50",
    ];
    assert_eq!(engine.told, want);
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
    let program = Program::new("p", 1 << 24, vec![and()], steps(AT_ONCE + 5)).unwrap();
    let (mut engine, mut watch) = (Scribe::default(), Watch::default());
    let error = run(&program, &mut engine, &[], &mut watch).unwrap_err();
    assert!(matches!(&error, RunError::Engine(why) if why.to_string().contains("enough")));
    assert_eq!(engine.told.len(), 101);
    assert_eq!(engine.told[1], format!("call 0 {AT_ONCE} [(0, 0), (0, 0)] [(1, 1)]"));
    assert_eq!(engine.told[2], format!("call 0 5 [(0, 0), (0, 0)] [({}, 1)]", 1 + AT_ONCE));
    assert_eq!(watch.0[..3], ["gates".into(), format!("{AT_ONCE} gates"), format!("{} gates", AT_ONCE + 5)]);
}

#[test]
fn an_engine_says_how_many_calls_come_at_once() {
    let args = vec![(span(0, 1, &[]), 0); 2];
    let call = Step::Call { circuit: 0, times: 5, args, outs: vec![(span(1, 1, &[]), 1)] };
    let program = Program::new("p", 6, vec![and()], vec![call]).unwrap();
    let cut = |at_once| {
        let mut engine = Scribe { at_once: Some(at_once), ..Scribe::default() };
        run(&program, &mut engine, &[], &mut Watch::default()).unwrap();
        let call = |told: &String| told.strip_prefix("call 0 ").map(|rest| rest[..1].parse().unwrap());
        engine.told.iter().filter_map(call).collect::<Vec<u64>>()
    };
    assert_eq!([cut(0), cut(1), cut(2), cut(6)], [vec![1; 5], vec![1; 5], vec![2, 2, 1], vec![5]]);
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
        assert!(engine.told.is_empty());
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
