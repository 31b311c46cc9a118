//! Random programs against the plainest reading of them: every turn and every call, one by one.

use std::collections::HashMap;

use super::*;

/// The finding of unrolling.
#[derive(Debug, PartialEq)]
enum Finding {
    Fine(Vec<bool>),
    Outside,
    Dependent,
}

/// Runs the steps over a memory, checking every access.
fn unroll(steps: &[Step], circuits: &[Circuit], turns: &mut Vec<i64>, memory: &mut [bool]) -> Result<(), Finding> {
    for step in steps {
        match step {
            Step::Repeat { times, body } => {
                for turn in 0..*times {
                    turns.push(turn as i64);
                    unroll(body, circuits, turns, memory)?;
                    turns.pop();
                }
            }
            Step::Call { circuit, times, args, outs } => {
                let place = |(span, stride): &(Span, i64), t: u64| -> Result<Vec<usize>, Finding> {
                    let moved: i64 = span.strides.iter().zip(&*turns).map(|(s, t)| s * t).sum();
                    let start = span.start as i64 + moved + stride * t as i64;
                    let wires = start..start + span.bits as i64;
                    wires
                        .map(|w| usize::try_from(w).ok().filter(|&w| w < memory.len()).ok_or(Finding::Outside))
                        .collect()
                };
                let (mut read, mut written) = (HashMap::new(), HashMap::new());
                let mut results = Vec::new();
                for t in 0..*times {
                    let ins: Vec<Vec<usize>> = args.iter().map(|arg| place(arg, t)).collect::<Result<_, _>>()?;
                    let outs: Vec<Vec<usize>> = outs.iter().map(|out| place(out, t)).collect::<Result<_, _>>()?;
                    let values: Vec<Bits> = ins.iter().map(|w| w.iter().map(|&w| memory[w]).collect()).collect();
                    results.push((outs.clone(), eval_circuit(&circuits[*circuit], &values)));
                    for &wire in ins.iter().flatten() {
                        read.entry(wire).or_insert_with(Vec::new).push(t);
                    }
                    for &wire in outs.iter().flatten() {
                        if written.insert(wire, t).is_some() {
                            return Err(Finding::Dependent);
                        }
                    }
                }
                if written.iter().any(|(wire, t)| read.get(wire).is_some_and(|calls| calls.iter().any(|c| c != t))) {
                    return Err(Finding::Dependent);
                }
                for (wires, values) in results {
                    for (wires, value) in wires.iter().zip(&values) {
                        wires.iter().zip(value.iter()).for_each(|(&wire, bit)| memory[wire] = bit);
                    }
                }
            }
            Step::Input { .. } | Step::Reveal { .. } => {}
        }
    }
    Ok(())
}

const WIRES: u64 = 160;

fn random_span(rng: &mut Rng, bits: usize, depth: usize) -> Span {
    let strides = (0..depth).map(|_| [0, 0, 8, 16, -8, 40, 3][rng.below(7)]).collect();
    Span { start: rng.below(WIRES as usize - bits) as u64 & !3, bits: bits as u64, strides }
}

fn random_steps(rng: &mut Rng, circuits: &[Circuit], depth: usize) -> Vec<Step> {
    let count = 1 + rng.below(2);
    (0..count)
        .map(|_| match rng.below(3) {
            0 if depth < 3 => {
                Step::Repeat { times: 1 + rng.below(3) as u64, body: random_steps(rng, circuits, depth + 1) }
            }
            _ => {
                let circuit = rng.below(circuits.len());
                let common = [8, 16, 12, -8][rng.below(4)];
                let mut moves = |groups: &[Group]| -> Vec<(Span, i64)> {
                    let mut one = |group: &Group| {
                        let stride = [common, common, common, 0, 4, 24][rng.below(6)];
                        (random_span(rng, group.bits, depth), stride)
                    };
                    groups.iter().map(&mut one).collect()
                };
                let (args, outs) = (moves(circuits[circuit].inputs()), moves(circuits[circuit].outputs()));
                Step::Call { circuit, times: 1 + rng.below(4) as u64, args, outs }
            }
        })
        .collect()
}

/// Whether all spans of every call move alike, so that the check promises to be exact.
fn alike(steps: &[Step]) -> bool {
    steps.iter().all(|step| match step {
        Step::Repeat { body, .. } => alike(body),
        Step::Call { args, outs, .. } => args.iter().chain(outs).all(|s| s.1 == args[0].1),
        _ => true,
    })
}

#[test]
fn random_programs_are_accepted_exactly_if_they_are_sound_and_run_as_they_read() {
    let mut rng = Rng(7);
    let circuits = vec![rng.circuit(&[4, 2], 30, 12, &[4]), rng.circuit(&[3], 20, 8, &[2, 3])];
    let (mut fine, mut outside, mut dependent, mut too_strict) = (0, 0, 0, 0);
    for _ in 0..20_000 {
        let mut steps = vec![Step::Input { name: "all".into(), owner: 0.into(), to: span(0, WIRES) }];
        steps.extend(random_steps(&mut rng, &circuits, 0));
        steps.push(Step::Reveal { name: "all".into(), to: Recipients::All, from: span(0, WIRES) });
        let exact = alike(&steps);
        let input = rng.bits(WIRES as usize);
        let mut memory: Vec<bool> = input.iter().collect();
        let found = match unroll(&steps, &circuits, &mut Vec::new(), &mut memory) {
            Ok(()) => Finding::Fine(memory),
            Err(finding) => finding,
        };
        match (Program::new("random", WIRES, circuits.clone(), steps), found) {
            (Ok(program), Finding::Fine(memory)) => {
                fine += 1;
                assert_eq!(outputs(&program, &[input])[0].iter().collect::<Vec<_>>(), memory);
                assert_eq!(decode(&program.encode()).unwrap(), program);
            }
            (Err(ProgramError::OutsideMemory { .. }), Finding::Outside) => outside += 1,
            (Err(ProgramError::Dependent { .. } | ProgramError::WrittenTwice { .. }), Finding::Dependent) => {
                dependent += 1
            }
            // Which of two faults is met first may differ.
            (Err(ProgramError::OutsideMemory { .. }), Finding::Dependent) => outside += 1,
            (Err(ProgramError::Dependent { .. } | ProgramError::WrittenTwice { .. }), Finding::Outside) => {
                dependent += 1
            }
            (Err(ProgramError::Dependent { .. }), Finding::Fine(_)) if !exact => too_strict += 1,
            (got, found) => panic!("{got:?} where unrolling finds {found:?}"),
        }
    }
    assert!(fine > 1000 && outside > 1000 && dependent > 1000, "{fine} {outside} {dependent}");
    assert!(too_strict * 20 < fine, "{too_strict} of {fine} refused without need");
}
