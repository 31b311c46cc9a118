//! Every message broken in every way, and a peer lost at every border of messages: the other party ends with an error or with
//! the right output.

use comity_channel::Channel;
use comity_circuit::{Builder, Observer, Program};
use comity_core::{Backend, Bits, Block, Error, Kind, Params, Prg, Result, SessionId};
use comity_cutchoose::{Config, Form, Prepared, prepare};
use comity_testing::{Deviation, Verdict, deviate, never_wrong};

/// Outputs as bytes.
#[derive(Default)]
struct Outputs(Vec<(usize, Vec<u8>)>);

impl Observer for Outputs {
    fn output(&mut self, index: usize, value: Bits) {
        self.0.push((index, value.to_bytes()));
    }
}

/// The sum of two numbers of three bits, for both.
fn program() -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 3), b.input("y", 3));
    let (mut carry, mut sum) = (b.and(x[0], y[0]), vec![b.xor(x[0], y[0])]);
    for i in 1..3 {
        let (without, with) = (b.xor(x[i], carry), b.xor(y[i], carry));
        sum.push(b.xor(without, y[i]));
        let both = b.and(without, with);
        carry = b.xor(carry, both);
    }
    sum.push(carry);
    b.output("sum", &sum);
    Program::from_circuit(b.finish()).unwrap()
}

/// How a program is run.
#[derive(Clone, Copy)]
enum Way {
    InOnePhase(Form),
    /// Prepared, and then run at once: a deviation may be in either phase.
    InTwoPhases,
}

fn party(
    ch: &mut Box<dyn Channel>,
    party: u32,
    session: u64,
    program: &Program,
    way: Way,
) -> Result<Vec<(usize, Vec<u8>)>> {
    let backend = Backend::detect();
    let id = SessionId::derive("deviations of cut-and-choose", &[&session.to_le_bytes()]);
    let form = if let Way::InOnePhase(form) = way { form } else { Form::All };
    let config = Config { backend, party, garbler: 0, params: Params::new(128, 3)?, form };
    let mut inputs = [None, None];
    inputs[party as usize] = Some(Bits::from_bytes(&[[5], [6]][party as usize], 3));
    let mut rng = Prg::new(backend, Block::from_u128(u128::from(session) << 1 | u128::from(party)));
    let mut outputs = Outputs::default();
    match way {
        Way::InOnePhase(_) => comity_cutchoose::run(ch, &id, &config, program, &inputs, &mut rng, &mut outputs)?,
        Way::InTwoPhases => {
            let mut stored = Vec::new();
            prepare(ch, &id, &config, program, &mut rng, &mut stored, &mut outputs)?;
            let prepared = Prepared::open(&stored[..], backend, party, program)?;
            prepared.load(program, &inputs)?.run(ch, &mut rng, &mut outputs)?;
        }
    }
    Ok(outputs.0)
}

fn deviations(way: Way) {
    let program = program();
    let mut lost = [Vec::new(), Vec::new()];
    let runs = deviate(
        2000,
        |ch, session| party(ch, 0, session, &program, way),
        |ch, session| party(ch, 1, session, &program, way),
        |case, verdict0, verdict1| {
            never_wrong(case, verdict0, verdict1);
            let other = if case.party == 0 { verdict1 } else { verdict0 };
            if case.deviation == Deviation::Lose {
                assert!(
                    matches!(other, Verdict::Correct | Verdict::Abort(Error { kind: Kind::Closed, .. })),
                    "{case:?}: {other:?}"
                );
                lost[case.party].push(matches!(other, Verdict::Correct));
            }
        },
    );
    assert!(runs > 100, "{runs} runs");
    // Whoever is lost before its last message leaves the other without output. After it the garbler has it; an evaluator
    // that has something to tell may notice or not that nobody listens.
    let [(_, garbler), (last, evaluator)] = lost.each_ref().map(|lost| lost.split_last().expect("a message"));
    assert!(garbler.len() > 3 && !garbler.contains(&true), "{garbler:?}");
    assert!(evaluator.len() > 3 && !evaluator.contains(&true) && *last, "{evaluator:?}");
}

#[test]
fn no_deviation_makes_an_output_wrong() {
    deviations(Way::InOnePhase(Form::All));
}

#[test]
fn no_deviation_makes_an_output_wrong_where_copies_are_coded() {
    deviations(Way::InOnePhase(Form::Coded));
}

#[test]
fn no_deviation_makes_an_output_wrong_where_it_is_prepared() {
    deviations(Way::InTwoPhases);
}
