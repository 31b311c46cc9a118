//! Every message broken in every way, and a peer lost at every border of messages: the other party ends with
//! an error or with the right output.

use comity_channel::{Channel, Mesh};
use comity_circuit::{Builder, Program};
use comity_core::{Backend, Bits, Error, Kind, Params, PartyId, Result, SessionId};
use comity_cutchoose::{CutChoose, Prepared, prepare_over, run_over};
use comity_ot::Malicious;
use comity_ot::base::{BaseOt, Csw};
use comity_protocol::{Here, Party};
use comity_testing::laws::{Outputs, RunBy, Setting, rng, run};
use comity_testing::ot::DealtBaseOts;
use comity_testing::{Deviation, Verdict, deviate, never_wrong};

/// A program of the sum of two numbers of three bits, for both.
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

/// The way in which a program is run.
#[derive(Clone, Copy)]
enum Way {
    InOnePhase(&'static [(&'static str, &'static str)]),
    /// Prepared, and then run at once: a deviation may be in either phase.
    InTwoPhases,
}

fn party<B: BaseOt<Model = Malicious>>(
    ch: &mut Box<dyn Channel>,
    me: u16,
    session: u64,
    program: &Program,
    way: Way,
) -> Result<Vec<(usize, Bits)>> {
    let (backend, params) = (Backend::detect(), Params::new(128, 3)?);
    let inputs = [5, 6].map(|value| Bits::from_bytes(&[value], 3));
    let Way::InOnePhase(options) = way else {
        let own = [0, 1].map(|i| (i == me).then(|| inputs[usize::from(i)].clone()));
        let id = SessionId::derive("deviations of cut-and-choose", &[&session.to_le_bytes()]);
        let here = Here { params, backend, ..Here::new(PartyId(me), 2, id) };
        let (mut rng, mut outputs, mut stored) =
            (rng(u128::from(session) << 1 | u128::from(me)), Outputs::default(), Vec::new());
        let mut net = Mesh::of_two(PartyId(me), &mut *ch);
        let mut party = Party { net: &mut net, here, rng: &mut rng, observer: &mut outputs };
        prepare_over::<B>(&mut party, program, PartyId(0), &mut stored)?;
        let prepared = Prepared::open(&stored[..], backend, PartyId(me), program)?;
        let (ch, _, rng, observer) = party.pair()?;
        prepared.load(program, &own)?.run(ch, rng, observer)?;
        return Ok(outputs.0);
    };
    let setting = Setting { params, backend, options, session };
    let protocol = RunBy { protocol: CutChoose, run: run_over::<B> };
    run(&protocol, &mut Mesh::of_two(PartyId(me), ch), program, &inputs, setting)
}

/// All deviations over dealt base OTs, and some over real ones.
fn deviations(way: Way) {
    deviations_over::<DealtBaseOts>(way, 2000);
    deviations_over::<Csw>(way, 60);
}

fn deviations_over<B: BaseOt<Model = Malicious>>(way: Way, limit: usize) {
    let program = program();
    let mut lost = [Vec::new(), Vec::new()];
    let runs = deviate(
        limit,
        |ch, session| party::<B>(ch, 0, session, &program, way),
        |ch, session| party::<B>(ch, 1, session, &program, way),
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
    if runs == limit {
        return;
    }
    assert!(runs > 100, "{runs} runs");
    // Whoever is lost before its last message leaves the other without output. After it the garbler has it;
    // an evaluator that has something to tell may notice or not that nobody listens.
    let [(_, garbler), (last, evaluator)] = lost.each_ref().map(|lost| lost.split_last().expect("a message"));
    assert!(garbler.len() > 3 && !garbler.contains(&true), "{garbler:?}");
    assert!(evaluator.len() > 3 && !evaluator.contains(&true) && *last, "{evaluator:?}");
}

#[test]
fn no_deviation_makes_an_output_wrong() {
    deviations(Way::InOnePhase(&[("role", "garbler")]));
}

#[test]
fn no_deviation_makes_an_output_wrong_where_copies_are_coded() {
    deviations(Way::InOnePhase(&[("role", "garbler"), ("coded", "yes")]));
}

#[test]
fn no_deviation_makes_an_output_wrong_where_it_is_prepared() {
    deviations(Way::InTwoPhases);
}
