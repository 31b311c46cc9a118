use comity_core::{Bits, PartyId};

use super::*;
use crate::builder::Builder;
use crate::circuit::{Gate, Group, Op};
use crate::engine::Observer;
use crate::party::{Owner, PartySet, Recipients};
use crate::plain::{Plain, eval_circuit};
use crate::random::Rng;
use crate::run::run;

/// A circuit of two inputs of two bits, with outputs of two and one bits.
fn small() -> Circuit {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 2), b.input("y", 2));
    let (s, c) = (b.xor(x[0], y[0]), b.and(x[0], y[0]));
    let t = b.xor(x[1], c);
    let d = b.and(t, y[1]);
    b.output("sum", &[s, t]);
    b.output("carry", &[d]);
    b.finish()
}

fn span(start: u64, bits: u64) -> Span {
    Span { start, bits, strides: vec![] }
}

fn moved(start: u64, bits: u64, stride: i64) -> (Span, i64) {
    (span(start, bits), stride)
}

fn call(times: u64, args: [(Span, i64); 2], outs: [(Span, i64); 2]) -> Step {
    Step::Call { circuit: 0, times, args: args.into(), outs: outs.into() }
}

fn repeat(times: u64, body: Vec<Step>) -> Step {
    Step::Repeat { times, body }
}

fn new(wires: u64, steps: Vec<Step>) -> Result<Program, ProgramError> {
    Program::new("test", wires, vec![small()], steps)
}

fn at(path: &[usize]) -> StepPath {
    StepPath(path.to_vec())
}

/// An observer that keeps outputs.
#[derive(Default)]
struct Keep(Vec<(usize, Bits)>);

impl Observer for Keep {
    fn output(&mut self, index: usize, value: Bits) {
        self.0.push((index, value));
    }
}

fn outputs(program: &Program, inputs: &[Bits]) -> Vec<Bits> {
    let inputs: Vec<_> = inputs.iter().cloned().map(Some).collect();
    let mut keep = Keep::default();
    run(program, &mut Plain::new(), &inputs, &mut keep).unwrap();
    assert!(keep.0.iter().map(|output| output.0).eq(0..program.outputs().len()));
    keep.0.into_iter().map(|output| output.1).collect()
}

fn join(values: &[&Bits]) -> Bits {
    values.iter().flat_map(|bits| bits.iter()).collect()
}

#[test]
fn one_call_gives_what_the_circuit_gives() {
    let mut rng = Rng(1);
    let circuit = rng.circuit(&[3, 0, 70], 500, 40, &[64, 0, 5]);
    let program = Program::from_circuit(circuit.clone()).unwrap();
    let owners: Vec<Owner> = program.inputs().iter().map(|input| input.owner).collect();
    assert_eq!((owners, program.parties()), (vec![0.into(), 1.into(), 2.into()], 3));
    assert!(program.outputs().iter().all(|output| output.to == Recipients::All));
    assert_eq!(program.inputs()[2], Input { name: "in2".into(), bits: 70, owner: 2.into(), ty: Type::Bits(70) });
    for _ in 0..10 {
        let inputs = rng.values(&[3, 0, 70]);
        assert_eq!(outputs(&program, &inputs), eval_circuit(&circuit, &inputs));
    }
}

#[test]
fn map_calls_side_by_side() {
    let mut rng = Rng(2);
    let circuit = rng.circuit(&[8, 5, 9], 300, 40, &[7, 12]);
    let program = Program::map(circuit.clone(), 4, &[1]).unwrap();
    assert_eq!(program.inputs().iter().map(|input| input.bits).collect::<Vec<_>>(), [32, 5, 36]);
    assert_eq!(program.outputs().iter().map(|output| output.bits).collect::<Vec<_>>(), [28, 48]);
    let (a, shared, c) = (rng.values(&[8; 4]), rng.bits(5), rng.values(&[9; 4]));
    let each: Vec<_> = (0..4).map(|t| eval_circuit(&circuit, &[a[t].clone(), shared.clone(), c[t].clone()])).collect();
    let want: Vec<Bits> = (0..2).map(|o| join(&each.iter().map(|e| &e[o]).collect::<Vec<_>>())).collect();
    let inputs = [join(&a.iter().collect::<Vec<_>>()), shared, join(&c.iter().collect::<Vec<_>>())];
    assert_eq!(outputs(&program, &inputs), want);

    assert_eq!(Program::map(small(), 0, &[]), Err(ProgramError::ZeroTimes(at(&[2]))));
    assert_eq!(Program::map(small(), 2, &[2]), Err(ProgramError::NoValue { what: "input", index: 2, count: 2 }));
    assert_eq!(Program::map(small(), 2, &[0, 0]), Err(ProgramError::NamedTwice(0)));
    assert_eq!(Program::map(small(), u64::MAX, &[]), Err(ProgramError::TooManyWires(u64::MAX)));
    assert_eq!(Program::map(small(), 1 << 30, &[]), Err(ProgramError::TooManyWires(7 << 30)));
}

#[test]
fn iterate_feeds_outputs_back() {
    let mut rng = Rng(3);
    let circuit = rng.circuit(&[8, 5, 9], 300, 40, &[9, 12, 8]);
    let program = Program::iterate(circuit.clone(), 5, &[(0, 2), (2, 0)]).unwrap();
    let mut values = rng.values(&[8, 5, 9]);
    let got = outputs(&program, &values);
    let mut last = Vec::new();
    for _ in 0..5 {
        last = eval_circuit(&circuit, &values);
        values = vec![last[2].clone(), values[1].clone(), last[0].clone()];
    }
    assert_eq!(got, last);

    let iterate = |feedback: &[(usize, usize)]| Program::iterate(small(), 3, feedback);
    assert_eq!(iterate(&[(2, 0)]), Err(ProgramError::NoValue { what: "output", index: 2, count: 2 }));
    assert_eq!(iterate(&[(0, 2)]), Err(ProgramError::NoValue { what: "input", index: 2, count: 2 }));
    assert_eq!(iterate(&[(0, 0), (0, 1)]), Err(ProgramError::FedBackTwice(0)));
    assert_eq!(iterate(&[(0, 0), (0, 0)]), Err(ProgramError::NamedTwice(0)));
    let widths = ProgramError::Feedback { output: 1, output_bits: 1, input: 0, input_bits: 2 };
    assert_eq!(iterate(&[(1, 0)]), Err(widths));
    assert_eq!(Program::iterate(small(), 0, &[]), Err(ProgramError::ZeroTimes(at(&[2]))));
}

#[test]
fn owners_and_recipients_change() {
    let program = Program::from_circuit(small()).unwrap();
    let changed = program.clone().with_owner(1, 0).unwrap().with_recipients(0, Recipients::only(1)).unwrap();
    assert_eq!((changed.inputs()[1].owner, changed.parties()), (0.into(), 2));
    assert_eq!(changed.outputs()[0].to, Recipients::only(1));
    assert_eq!(decode(&changed.encode()).unwrap(), changed, "the steps say so too");
    assert_eq!(changed.clone().with_owner(1, 1).unwrap().with_recipients(0, Recipients::All).unwrap(), program);
    let none = |what, index| Err(ProgramError::NoValue { what, index, count: 2 });
    assert_eq!(program.clone().with_owner(2, 0), none("input", 2));
    assert_eq!(program.clone().with_recipients(2, Recipients::All), none("output", 2));
    assert_eq!(program.clone().with_owner(0, 64), Err(ProgramError::NoParty(PartyId(64))));
    let nobody = Recipients::Parties(PartySet::default());
    assert_eq!(program.clone().with_recipients(0, nobody), Err(ProgramError::Nobody));
    let some = Recipients::Parties([3, 0].into_iter().collect());
    let shared = program.with_owner(0, Owner::Shared).unwrap().with_recipients(1, Recipients::Shared).unwrap();
    assert_eq!((shared.parties(), shared.with_recipients(0, some).unwrap().parties()), (2, 4));
}

#[test]
fn parties_have_names_and_take_part() {
    let program = Program::from_circuit(small()).unwrap();
    assert!(program.party_names().is_empty() && program.parties() == 2);
    let names = |count: u16| (0..count).map(|party| format!("p{party}")).collect::<Vec<_>>();
    let named = program.clone().with_party_names(names(5)).unwrap();
    assert_eq!((named.party_names(), named.parties()), (&names(5)[..], 5));
    assert_eq!(named.digest(), program.digest());
    assert_eq!(program.clone().with_party_names(names(65)), Err(ProgramError::NoParty(PartyId(64))));
    assert_eq!(program.with_party_names(names(1)).unwrap().parties(), 2, "who owns a value takes part without a name");
}

#[test]
fn what_does_not_fit_is_named_with_its_step() {
    let fine = |times| call(times, [moved(0, 2, 2), moved(20, 2, 0)], [moved(40, 2, 2), moved(60, 1, 1)]);
    assert!(new(70, vec![fine(10)]).is_ok());
    assert_eq!(new(1 << 32, vec![]), Err(ProgramError::TooManyWires(1 << 32)));
    assert_eq!(new(70, vec![fine(10), fine(0)]), Err(ProgramError::ZeroTimes(at(&[1]))));
    assert_eq!(new(70, vec![repeat(0, vec![])]), Err(ProgramError::ZeroTimes(at(&[0]))));
    assert_eq!(new(70, vec![repeat(9, vec![])]), Err(ProgramError::EmptyLoop(at(&[0]))));

    let outside =
        |first, last, path: &[usize]| Err(ProgramError::OutsideMemory { step: at(path), first, last, wires: 70 });
    assert_eq!(new(70, vec![fine(11)]), outside(60, 70, &[0]));
    let mut back = fine(10);
    let Step::Call { args, .. } = &mut back else { unreachable!() };
    args[0] = moved(17, 2, -2);
    assert_eq!(new(70, vec![back.clone()]), outside(-1, 18, &[0]));
    let inside = |strides: Vec<i64>| {
        let mut step = fine(1);
        let Step::Call { args, .. } = &mut step else { unreachable!() };
        args[0].0 = Span { start: 10, bits: 2, strides };
        vec![fine(1), repeat(3, vec![fine(1), repeat(4, vec![step])])]
    };
    assert!(new(70, inside(vec![-5, 16])).is_ok());
    assert_eq!(new(70, inside(vec![-6, 16])), outside(-2, 59, &[1, 1, 0]));
    assert_eq!(new(70, inside(vec![20, 16])), outside(10, 99, &[1, 1, 0]));
    let too_many = ProgramError::Strides { step: at(&[1, 1, 0]), given: 3, loops: 2 };
    assert_eq!(new(70, inside(vec![0, 0, 1])), Err(too_many));
    let far = vec![repeat(u64::MAX, vec![repeat(u64::MAX, inside(vec![i64::MIN, i64::MIN]))])];
    assert!(matches!(new(70, far), Err(ProgramError::OutsideMemory { .. })));

    let put_in = |start, bits| Step::Input { name: "x".into(), owner: 0.into(), to: span(start, bits) };
    assert_eq!(new(70, vec![put_in(69, 2)]), outside(69, 70, &[0]));
    assert_eq!(new(70, vec![put_in(u64::MAX, u64::MAX)]), outside(u64::MAX.into(), 2 * i128::from(u64::MAX) - 1, &[0]));
    assert_eq!(new(70, vec![repeat(2, vec![put_in(0, 2)])]), Err(ProgramError::Nested(at(&[0, 0]))));
    let reveal = |to| Step::Reveal { name: "y".into(), to, from: span(0, 2) };
    assert_eq!(new(70, vec![repeat(2, vec![reveal(Recipients::All)])]), Err(ProgramError::Nested(at(&[0, 0]))));
    assert_eq!(new(70, vec![reveal(Recipients::Parties(PartySet::default()))]), Err(ProgramError::Nobody));
    let stranger = Step::Input { name: "x".into(), owner: 64.into(), to: span(0, 2) };
    assert_eq!(new(70, vec![stranger]), Err(ProgramError::NoParty(PartyId(64))));

    let with = |circuit, args: Vec<(Span, i64)>, outs: Vec<(Span, i64)>| {
        new(70, vec![Step::Call { circuit, times: 1, args, outs }]).unwrap_err()
    };
    let (two, one) = (|| vec![moved(0, 2, 0); 2], || vec![moved(4, 2, 0), moved(6, 1, 0)]);
    assert_eq!(with(1, two(), one()), ProgramError::NoCircuit { step: at(&[0]), circuit: 1, count: 1 });
    let arity = |what, given, takes| ProgramError::Arity { step: at(&[0]), what, given, takes };
    assert_eq!(with(0, vec![moved(0, 2, 0)], one()), arity("input", 1, 2));
    assert_eq!(with(0, two(), vec![moved(4, 2, 0); 3]), arity("output", 3, 2));
    let width = |what, value, given, takes| ProgramError::Width { step: at(&[0]), what, value, given, takes };
    assert_eq!(with(0, vec![moved(0, 2, 0), moved(0, 3, 0)], one()), width("input", 1, 3, 2));
    assert_eq!(with(0, two(), vec![moved(4, 1, 0), moved(6, 1, 0)]), width("output", 0, 1, 2));

    let nested = |depth| (0..depth).fold(fine(1), |step, _| repeat(1, vec![step]));
    assert!(new(70, vec![nested(Program::MAX_NESTING)]).is_ok());
    assert_eq!(new(70, vec![nested(Program::MAX_NESTING + 1)]), Err(ProgramError::TooDeep(at(&[0; 17]))));
}

#[test]
fn calls_that_depend_on_each_other_are_refused() {
    let with = |times, x, y, sum, carry| new(100, vec![call(times, [x, y], [sum, carry])]).map(drop);
    let dependent = |written, other| Err(ProgramError::Dependent { step: at(&[0]), written, other });
    // In place, each call on its own wires.
    assert_eq!(with(10, moved(0, 2, 5), moved(2, 2, 5), moved(0, 2, 5), moved(4, 1, 5)), Ok(()));
    // A chain of calls is no set of independent ones.
    let chain = || (moved(0, 2, 2), moved(50, 2, 0), moved(2, 2, 2), moved(60, 1, 1));
    let (x, y, sum, carry) = chain();
    assert_eq!(with(10, x, y, sum, carry), dependent(0, CallOperand::Input(0)));
    let (x, y, sum, carry) = chain();
    assert_eq!(with(1, x, y, sum, carry), Ok(()));
    // Outputs of different calls on the same wires.
    let (x, y) = (|| moved(0, 2, 2), || moved(20, 2, 0));
    assert_eq!(with(2, x(), y(), moved(40, 2, 0), moved(60, 1, 1)), dependent(0, CallOperand::Output(0)));
    assert_eq!(with(2, x(), y(), moved(40, 2, 1), moved(60, 1, 1)), dependent(0, CallOperand::Output(0)));
    assert_eq!(with(2, x(), y(), moved(40, 2, 3), moved(42, 1, 3)), Ok(()));
    assert_eq!(with(2, x(), y(), moved(40, 2, 3), moved(43, 1, 3)), dependent(0, CallOperand::Output(1)));
    // What all calls read is written by none.
    assert_eq!(with(2, x(), y(), moved(20, 2, 10), moved(60, 1, 1)), dependent(0, CallOperand::Input(1)));
    // Outputs of one call on the same wires.
    let twice = Err(ProgramError::WrittenTwice { step: at(&[0]), a: 0, b: 1 });
    assert_eq!(with(1, x(), y(), moved(40, 2, 0), moved(41, 1, 0)), twice);
    // Calls that move differently: reading two apart, writing one apart, is fine next to each other and not in place.
    assert_eq!(with(8, moved(0, 2, 4), moved(2, 2, 4), moved(32, 2, 2), moved(60, 1, 1)), Ok(()));
    let folded = with(8, moved(0, 2, 4), moved(2, 2, 4), moved(0, 2, 2), moved(60, 1, 1));
    assert!(matches!(folded, Err(ProgramError::Dependent { written: 0, other: CallOperand::Input(_), .. })));
}

#[test]
fn loops_move_spans_apart_and_together() {
    // Each turn works in its own row, and calls of one turn in its own columns.
    let row = |start, bits, stride| (Span { start, bits, strides: vec![100] }, stride);
    let body = |turn_of_sum: i64| {
        let sum = (Span { start: 40, bits: 2, strides: vec![turn_of_sum] }, 2);
        vec![repeat(3, vec![call(4, [row(0, 2, 2), row(20, 2, 0)], [sum, row(60, 1, 1)])])]
    };
    assert!(new(300, body(100)).is_ok());
    // The sums of the third turn fall on what its calls share.
    let error = ProgramError::Dependent { step: at(&[0, 0]), written: 0, other: CallOperand::Input(1) };
    assert_eq!(new(300, body(90)), Err(error));
    // Each turn folds a row of eight pairs into the eight sums behind them.
    let fold = call(8, [row(0, 2, 4), row(2, 2, 4)], [row(32, 2, 2), row(60, 1, 1)]);
    assert!(new(300, vec![repeat(3, vec![fold])]).is_ok());
}

#[test]
fn a_check_that_takes_too_long_is_given_up() {
    let many = |count: usize| vec![Group { name: "v".into(), bits: 1 }; count];
    let circuit = Circuit::new(many(4000), many(1), vec![], vec![0]).unwrap();
    let args = (0..4000).map(|i| (span(i, 1), 4000)).collect();
    let outs = vec![moved(1 << 25, 1, 1)];
    let steps = vec![Step::Call { circuit: 0, times: 1000, args, outs }];
    let tangled = ProgramError::TooTangled(at(&[0]));
    assert_eq!(Program::new("tangled", 1 << 26, vec![circuit], steps), Err(tangled));
}

#[test]
fn totals_multiply() {
    let counts = small().counts();
    assert_eq!((counts.and, counts.xor, counts.and_depth), (2, 2, 2));
    let fine = || call(10, [moved(0, 2, 2), moved(20, 2, 0)], [moved(40, 2, 2), moved(60, 1, 1)]);
    let steps = |outer| vec![fine(), repeat(outer, vec![fine(), repeat(1 << 30, vec![fine()])])];
    let program = new(70, steps(1 << 20)).unwrap();
    let calls = 10 + (10 << 20) + (10 << 50);
    let sequence = 1 + (1 << 20) + (1 << 50);
    let want = Totals { calls, and: 2 * calls, xor: 2 * calls, not: 0, and_depth: 2 * sequence };
    assert_eq!((program.totals(), program.and_gates()), (want, 2 * calls));
    assert_eq!(new(70, steps(1 << 40)), Err(ProgramError::TooLarge));
}

#[test]
fn strides_that_move_nothing_are_dropped() {
    let step = |x: Vec<i64>, stride, times| {
        let arg = (Span { start: 0, bits: 2, strides: x }, stride);
        vec![repeat(1, vec![repeat(2, vec![call(times, [arg, moved(2, 2, 0)], [moved(4, 2, 0), moved(6, 1, 0)])])])]
    };
    let plain = new(10, step(vec![], 0, 1)).unwrap();
    assert_eq!(new(10, step(vec![7, 0], 9, 1)).unwrap(), plain);
    assert_eq!(new(10, step(vec![i64::MAX], 0, 1)).unwrap(), plain);
    assert_ne!(new(10, step(vec![7, 1], 0, 1)).unwrap(), plain);
}

#[test]
fn the_digest_says_what_is_computed_and_nothing_else() {
    let base = || Program::from_circuit(small()).unwrap();
    let digest = base().digest();
    let mut b = Builder::new();
    let (x, y) = (b.input("other", 2), b.input("names", 2));
    let (s, c) = (b.xor(x[0], y[0]), b.and(x[0], y[0]));
    let t = b.xor(x[1], c);
    let d = b.and(t, y[1]);
    b.output("a", &[s, t]);
    b.output("b", &[d]);
    assert_eq!(Program::from_circuit(b.finish()).unwrap().with_name("else").digest(), digest);
    for other in [
        base().with_owner(0, 1).unwrap(),
        base().with_recipients(0, Recipients::only(0)).unwrap(),
        base().with_recipients(0, Recipients::only(1)).unwrap(),
        base().with_recipients(0, Recipients::Parties([0, 1].into_iter().collect())).unwrap(),
        base().with_recipients(0, Recipients::Shared).unwrap(),
        base().with_owner(0, Owner::Shared).unwrap(),
        base().with_goal(Goal::Depth),
        Program::map(small(), 2, &[]).unwrap(),
        Program::iterate(small(), 1, &[]).unwrap(),
        Program::from_circuit(Rng(1).circuit(&[2, 2], 4, 4, &[2, 1])).unwrap(),
    ] {
        assert_ne!(other.digest(), digest);
    }
}

/// A program that has every kind of step.
fn varied() -> Program {
    let circuits = vec![Rng(1).circuit(&[2, 2], 10, 6, &[2, 1]), Rng(1).circuit(&[3], 5, 3, &[2, 0])];
    let row = |start, bits, stride| (Span { start, bits, strides: vec![0, 100] }, stride);
    let inner = call(4, [row(0, 2, 2), row(20, 2, 0)], [row(40, 2, 2), row(60, 1, 1)]);
    let steps = vec![
        Step::Input { name: "x".into(), owner: 3.into(), to: span(0, 300) },
        Step::Input { name: "r".into(), owner: Owner::Shared, to: span(0, 4) },
        repeat(5, vec![repeat(3, vec![inner])]),
        Step::Reveal { name: "y".into(), to: Recipients::only(2), from: span(40, 8) },
        Step::Reveal { name: "z".into(), to: Recipients::All, from: span(60, 4) },
        Step::Reveal { name: "w".into(), to: Recipients::Parties([0, 63].into_iter().collect()), from: span(64, 1) },
        Step::Reveal { name: "s".into(), to: Recipients::Shared, from: span(65, 1) },
    ];
    Program::new("varied", 300, circuits, steps).unwrap().with_goal(Goal::Depth)
}

/// Reads a program; what it notes is checked by gates that nobody builds.
fn decode(bytes: &[u8]) -> Result<Program, DecodeError> {
    Program::decode(bytes, |_, _, _| Vec::new())
}

#[test]
fn a_golden_digest_pins_the_encoding() {
    // If this fails on purpose, raise the version of the encoding or of the lowering.
    assert_eq!(
        blake3::Hash::from_bytes(varied().digest()).to_hex().as_str(),
        "78266b12041968c13d33a626837c541408619d9e277396e2b689f6a5c62bf147"
    );
}

#[test]
fn encoding_is_read_back_and_nothing_else_is() {
    let program = varied();
    let bytes = program.encode();
    assert_eq!(decode(&bytes).unwrap(), program);
    for cut in 0..bytes.len() {
        assert!(decode(&bytes[..cut]).is_err(), "cut at {cut}");
    }
    let longer = [&bytes[..], &[0]].concat();
    assert_eq!(decode(&longer), Err(DecodeError::Trailing(1)));
    for i in 0..bytes.len() {
        for flip in [1, 0x80, 0xff] {
            let mut other = bytes.clone();
            other[i] ^= flip;
            if let Ok(decoded) = decode(&other) {
                assert_eq!(decoded.encode(), other, "byte {i}");
                assert_ne!(decoded, program);
            }
        }
    }
}

#[test]
fn bytes_that_are_no_program_are_named() {
    let bytes = varied().encode();
    assert_eq!(decode(b"INPUT(G0)"), Err(DecodeError::Magic));
    let mut newer = bytes.clone();
    newer[14] = 9;
    assert_eq!(decode(&newer), Err(DecodeError::Version(9)));
    let mut older = bytes.clone();
    for version in [1, 2] {
        older[14] = version;
        let words = format!(
            "a program in encoding version {version}; this build reads version 3: make it again from its source"
        );
        assert_eq!(decode(&older).unwrap_err().to_string(), words);
    }
    let mut name = bytes.clone();
    name[22] = 0xff;
    assert_eq!(decode(&name), Err(DecodeError::Name(22)));

    let header = |circuits: u32| {
        [&b"comity program"[..], &3u32.to_le_bytes(), &[0; 5], &70u64.to_le_bytes(), &circuits.to_le_bytes()].concat()
    };
    // Counts without bytes behind them: nothing is allocated for them.
    let huge = header(u32::MAX);
    assert_eq!(decode(&huge), Err(DecodeError::Truncated(huge.len())));
    let steps = [header(0), u32::MAX.to_le_bytes().to_vec()].concat();
    assert_eq!(decode(&steps), Err(DecodeError::Truncated(steps.len())));
    let gates = [header(1), vec![0; 8], u64::MAX.to_le_bytes().to_vec(), vec![0; 40]].concat();
    assert_eq!(decode(&gates), Err(DecodeError::Truncated(gates.len())));
    let tag = [header(0), vec![1, 0, 0, 0, 5], vec![0; 20]].concat();
    assert_eq!(decode(&tag), Err(DecodeError::Tag(tag.len() - 21)));
    let deep = [header(0), [&[1, 0, 0, 0, 3][..], &1u64.to_le_bytes()].concat().repeat(18), vec![0; 4]].concat();
    assert!(matches!(decode(&deep), Err(DecodeError::TooDeep(_))));
    let outside = [&[1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0][..], &69u64.to_le_bytes(), &2u64.to_le_bytes(), &[0]];
    let outside = [header(0), outside.concat()].concat();
    assert!(matches!(decode(&outside), Err(DecodeError::Program(ProgramError::OutsideMemory { .. }))));
    let idle = [&[1, 0, 0, 0, 1, 0, 0, 0, 0, 0, 0, 0][..], &0u64.to_le_bytes(), &2u64.to_le_bytes(), &[1], &[0; 8]];
    assert_eq!(decode(&[header(0), idle.concat()].concat()), Err(DecodeError::NotCanonical));

    let mut goal = header(0);
    goal[22] = 2;
    assert_eq!(decode(&goal), Err(DecodeError::Tag(22)));
    let empty_span = vec![0; 17];
    let put_in = |owner: &[u8]| [&header(0)[..], &[1, 0, 0, 0, 1, 0, 0, 0, 0], owner, &empty_span].concat();
    assert!(decode(&put_in(&[0, 63, 0])).is_ok() && decode(&put_in(&[1])).is_ok());
    assert_eq!(decode(&put_in(&[0, 64, 0])), Err(ProgramError::NoParty(PartyId(64)).into()));
    assert_eq!(decode(&put_in(&[2])), Err(DecodeError::Tag(header(0).len() + 9)));
    let reveal = |to: &[u8]| [&header(0)[..], &[1, 0, 0, 0, 4, 0, 0, 0, 0], to, &empty_span].concat();
    assert!([&[0][..], &[1, 0, 0, 0, 0, 0, 0, 0, 0x80], &[2]].iter().all(|to| decode(&reveal(to)).is_ok()));
    assert_eq!(decode(&reveal(&[1, 0, 0, 0, 0, 0, 0, 0, 0])), Err(ProgramError::Nobody.into()));
    assert_eq!(decode(&reveal(&[3])), Err(DecodeError::Tag(header(0).len() + 9)));
}

#[test]
fn equal_programs_are_encoded_equally() {
    let to = |to| Program::from_circuit(small()).unwrap().with_recipients(0, to).unwrap();
    let set = |parties: &[u16]| Recipients::Parties(parties.iter().copied().collect());
    assert_eq!(to(set(&[1])).encode(), to(Recipients::only(1)).encode());
    assert_eq!(to(set(&[2, 0, 2])).encode(), to(set(&[0, 2])).encode());
    // All is whoever takes part, and stays apart from a set that names everybody.
    let everybody = to(set(&(0..Program::MAX_PARTIES).collect::<Vec<_>>()));
    assert_ne!(everybody.encode(), to(Recipients::All).encode());
    assert_ne!(everybody.digest(), to(Recipients::All).digest());
    assert_eq!(to(Recipients::All).with_goal(Goal::Depth).with_goal(Goal::Size).encode(), to(Recipients::All).encode());
}

#[test]
fn a_circuit_of_more_values_than_parties_is_a_program() {
    let mut b = Builder::new();
    let bits: Vec<_> = (0..70).map(|i| b.input(&format!("x{i}"), 1)[0]).collect();
    b.output("y", &bits);
    let program = Program::from_circuit(b.finish()).unwrap();
    assert_eq!((program.inputs()[69].owner, program.parties()), (63.into(), 64));
}

#[test]
fn a_broken_circuit_inside_is_named() {
    let groups = |bits| vec![Group { name: "v".into(), bits }];
    let gate = Gate { op: Op::And, a: 2, b: 3 };
    let circuit = Circuit::new(groups(2), groups(1), vec![gate], vec![4]).unwrap();
    let program = Program::from_circuit(circuit).unwrap();
    let bytes = program.encode();
    let at = bytes.windows(9).position(|w| w == [1, 2, 0, 0, 0, 3, 0, 0, 0]).unwrap();
    let mut other = bytes.clone();
    other[at + 5] = 4;
    let unordered = crate::circuit::CircuitError::Unordered { gate: 0, wire: 4 };
    assert_eq!(decode(&other), Err(DecodeError::Circuit(0, unordered)));
    other = bytes;
    other[at] = 2;
    assert_eq!(decode(&other), Err(DecodeError::Tag(at)));
}

mod notes;
mod spread;
mod unrolled;
mod whole;
