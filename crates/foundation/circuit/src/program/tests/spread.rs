//! Loops side by side: what becomes of some, and random programs against what they were.

use super::*;

/// Circuits over values of four bits: two to one, one to two, and one that only copies.
fn circuits(rng: &mut Rng) -> Vec<Circuit> {
    let mut copy = Builder::new();
    let bits = copy.input("from", 4);
    copy.output("to", &bits);
    vec![rng.circuit(&[4, 4], 20, 10, &[4]), rng.circuit(&[4], 20, 10, &[4, 4]), copy.finish()]
}

fn strided(start: u64, strides: &[i64]) -> (Span, i64) {
    (Span { start, bits: 4, strides: strides.to_vec() }, 0)
}

fn step(circuit: usize, args: &[(Span, i64)], outs: &[(Span, i64)]) -> Step {
    Step::Call { circuit, times: 1, args: args.to_vec(), outs: outs.to_vec() }
}

const WIRES: u64 = 160;

/// The steps between the input, which is in the first 64 wires, and the output, which is the next 64.
fn program(circuits: &[Circuit], wires: u64, middle: Vec<Step>) -> Result<Program, ProgramError> {
    let input = Step::Input { name: "in".into(), owner: 0.into(), to: span(0, 64) };
    let output = Step::Reveal { name: "out".into(), to: Recipients::All, from: span(64, 64) };
    let steps = [vec![input], middle, vec![output]].concat();
    Program::new("spread", wires, circuits.to_vec(), steps)
}

/// The steps between input and output of the program side by side, which gives the same as before.
fn spread(program: &Program) -> Vec<Step> {
    let spread = program.clone().side_by_side();
    let mut rng = Rng(11);
    for _ in 0..3 {
        let inputs = [rng.bits(64)];
        assert_eq!(outputs(&spread, &inputs), outputs(program, &inputs), "{:#?}", spread.steps());
    }
    let gates = |of: Totals| (of.calls, of.and, of.xor, of.not);
    assert_eq!(gates(spread.totals()), gates(program.totals()));
    assert!(spread.totals().and_depth <= program.totals().and_depth);
    let steps = spread.steps();
    steps[1..steps.len() - 1].to_vec()
}

#[test]
fn a_sum_of_each_turn_is_one_for_all_turns() {
    let circuits = circuits(&mut Rng(1));
    // sum = copy(in[i]); for j in 0..3 { sum = f(sum, in[i + j]) }; out[i] = copy(sum)
    let sum = || strided(128, &[]);
    let body = vec![
        step(2, &[strided(0, &[4])], &[sum()]),
        repeat(3, vec![step(0, &[sum(), strided(0, &[4, 4])], &[sum()])]),
        step(2, &[sum()], &[strided(64, &[4])]),
    ];
    let program = program(&circuits, WIRES, vec![repeat(10, body)]).unwrap();
    // The sums are new: wires 160 and on.
    let call = |circuit, args: &[(Span, i64)], out: (Span, i64)| Step::Call {
        circuit,
        times: 10,
        args: args.to_vec(),
        outs: vec![out],
    };
    let sums = || moved(160, 4, 4);
    let expected = vec![
        call(2, &[moved(0, 4, 4)], sums()),
        repeat(3, vec![call(0, &[sums(), (strided(0, &[4]).0, 4)], sums())]),
        call(2, &[sums()], moved(64, 4, 4)),
    ];
    assert_eq!(spread(&program), expected);
}

#[test]
fn rows_and_columns_become_one_row() {
    let circuits = circuits(&mut Rng(2));
    let element = |start: u64| strided(start, &[16, 4]);
    let body = step(0, &[element(0), element(0)], &[element(64)]);
    let program = program(&circuits, WIRES, vec![repeat(4, vec![repeat(4, vec![body])])]).unwrap();
    let all = |start: u64| moved(start, 4, 4);
    let expected = Step::Call { circuit: 0, times: 16, args: vec![all(0), all(0)], outs: vec![all(64)] };
    assert_eq!(spread(&program), vec![expected]);
}

#[test]
fn turns_that_need_each_other_stay_in_turn() {
    let circuits = circuits(&mut Rng(3));
    let sum = || strided(128, &[]);
    let turns = [
        // Each turn goes on with the one before.
        vec![step(0, &[sum(), strided(0, &[4])], &[sum()]), step(2, &[sum()], &[strided(64, &[4])])],
        // A turn reads what the one before has written.
        vec![step(0, &[strided(64, &[4]), strided(0, &[4])], &[strided(68, &[4])])],
        // A turn reads what the next one writes.
        vec![step(0, &[strided(68, &[4]), strided(0, &[4])], &[strided(64, &[4])])],
        // All write the same place, and the last one stays.
        vec![step(0, &[strided(0, &[4]), strided(4, &[4])], &[strided(64, &[])])],
        // Half of what is read is of the turn before.
        vec![
            step(2, &[strided(0, &[4])], &[strided(130, &[])]),
            step(0, &[sum(), strided(0, &[4])], &[strided(64, &[4])]),
        ],
    ];
    for body in turns {
        let program = program(&circuits, WIRES, vec![repeat(10, body)]).unwrap();
        assert_eq!(spread(&program), program.steps()[1..program.steps().len() - 1]);
    }
    // Two places are written with a gap between them, which has what the turn before left there.
    let gap = |circuit, times, args: &[(Span, i64)], outs: (Span, i64)| Step::Call {
        circuit,
        times,
        args: args.to_vec(),
        outs: vec![outs],
    };
    let body = vec![
        gap(2, 2, &[strided(0, &[4])], moved(128, 4, 8)),
        gap(0, 3, &[moved(128, 4, 4), strided(0, &[4])], (strided(64, &[12]).0, 4)),
        step(2, &[strided(4, &[4])], &[strided(132, &[])]),
    ];
    let program_of_gaps = program(&circuits, WIRES, vec![repeat(5, body)]).unwrap();
    assert_eq!(spread(&program_of_gaps), program_of_gaps.steps()[1..program_of_gaps.steps().len() - 1]);
    // What is read after the loop is no turn's own.
    let body = vec![step(2, &[strided(0, &[4])], &[sum()]), step(0, &[sum(), sum()], &[strided(68, &[4])])];
    let after = step(2, &[sum()], &[strided(64, &[])]);
    let program = program(&circuits, WIRES, vec![repeat(10, body), after]).unwrap();
    assert_eq!(spread(&program), program.steps()[1..program.steps().len() - 1]);
}

#[test]
fn copies_of_places_have_a_bound_and_turns_go_in_blocks() {
    let circuits = circuits(&mut Rng(4));
    let turns = 40_003;
    let wires = 160 + 4 * turns;
    // Four places of four bits: 16 wires a turn, and all together no more than the program has.
    let own = |i: u64| strided(128 + 4 * i, &[]);
    let each = || strided(160, &[4]);
    let mut body: Vec<Step> = (0..4).map(|i| step(0, &[strided(4 * i, &[]), each()], &[own(i)])).collect();
    body.push(step(0, &[own(0), own(1)], &[each()]));
    body.push(step(0, &[own(2), each()], &[own(2)]));
    body.push(step(0, &[own(2), own(3)], &[each()]));
    let last = step(2, &[strided(160 + 4 * (turns - 1), &[])], &[strided(64, &[])]);
    let program = program(&circuits, wires, vec![repeat(turns, body), last]).unwrap();
    let spread = spread(&program);
    let (block, rest) = (wires / 16, turns % (wires / 16));
    let Step::Repeat { times: 3, body } = &spread[0] else { panic!("{spread:?}") };
    let times = |step: &Step| if let Step::Call { times, .. } = step { *times } else { 0 };
    assert_eq!(body.iter().map(times).collect::<Vec<_>>(), [block; 7]);
    assert_eq!(spread[1..8].iter().map(times).collect::<Vec<_>>(), [rest; 7]);
    assert_eq!(program.side_by_side().wires(), wires + 16 * block);
}

/// A value of four bits that a step inside some loops uses: part of the input, of the output, or one of few places
/// between.
fn place(rng: &mut Rng, depth: usize, write: bool) -> (Span, i64) {
    let mut moving = |start: u64, least: usize| {
        let strides = (0..depth).map(|_| [0, 4, 4, 8, 12, -4][rng.below(6).max(least)]).collect();
        (Span { start: start + 4 * rng.below(8) as u64, bits: 4, strides }, [0, 4, 4, 16][rng.below(4)])
    };
    match (moving(0, 0), moving(64, 1)) {
        (input, _) if !write && rng.below(2) == 0 => input,
        (_, output) if rng.below(2) == 0 => output,
        _ => {
            let own = if depth > 1 && rng.below(3) == 0 { vec![0; depth - 1] } else { vec![] };
            let strides = if own.is_empty() { own } else { [own, vec![4]].concat() };
            (Span { start: 128 + 4 * rng.below(5) as u64, bits: 4, strides }, [0, 4][rng.below(2)])
        }
    }
}

fn random(rng: &mut Rng, depth: usize) -> Vec<Step> {
    let steps = 1 + rng.below(3);
    let each = |_| match rng.below(if depth < 3 { 2 } else { 1 }) {
        0 => {
            let circuit = rng.below(3);
            let (args, outs) = [(2, 1), (1, 2), (1, 1)][circuit];
            let times = [1, 1, 1, 2, 4][rng.below(5)];
            let args = (0..args).map(|_| place(rng, depth, false)).collect();
            let outs = (0..outs).map(|_| place(rng, depth, true)).collect();
            Step::Call { circuit, times, args, outs }
        }
        _ => repeat(1 + rng.below(4) as u64, random(rng, depth + 1)),
    };
    (0..steps).map(each).collect()
}

#[test]
fn random_programs_give_the_same() {
    let mut rng = Rng(5);
    let circuits = circuits(&mut rng);
    let (mut sound, mut changed) = (0, 0);
    for _ in 0..40_000 {
        let Ok(program) = program(&circuits, WIRES, random(&mut rng, 0)) else { continue };
        let steps = spread(&program);
        sound += 1;
        changed += usize::from(steps != program.steps()[1..program.steps().len() - 1]);
    }
    assert!(sound > 4_000 && changed > 400, "{changed} of {sound}");
}
