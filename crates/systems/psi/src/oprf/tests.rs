use std::io::{self, Read};
use std::sync::atomic::{AtomicUsize, Ordering};

use comity_channel::{Change, Channel as _, Direction, Tamper, Tampering, memory};
use comity_circuit::Observer;
use comity_core::{Kind, Prg};
use comity_protocol::{Party, Protocol};
use comity_testing::{PATIENCE, Pair};

use super::half::query_within;
use super::*;
use crate::tests::{here, party};

/// The key and the block of FIPS 197, appendix C.1.
const KEY: u128 = 0x0001_0203_0405_0607_0809_0a0b_0c0d_0e0f;
const BLOCK: u128 = 0x0011_2233_4455_6677_8899_aabb_ccdd_eeff;
const ENCRYPTED: u128 = 0x69c4_e0d8_6a7b_0430_d8cd_b780_70b4_c55a;

fn oprf() -> Oprf {
    Oprf::new(KEY.to_be_bytes())
}

/// The bytes that a half writes.
fn written(write: impl FnOnce(&mut Vec<u8>) -> io::Result<()>) -> Vec<u8> {
    let mut bytes = Vec::new();
    write(&mut bytes).unwrap();
    bytes
}

/// Inputs of a generator, the standard's first.
fn inputs(count: usize) -> Vec<u128> {
    let mut prg = Prg::new(Backend::detect(), Block::from_u128(5));
    std::iter::once(BLOCK).chain(std::iter::repeat_with(|| prg.block().to_u128())).take(count).collect()
}

/// The halves of a preparation.
fn made_ahead(count: usize, session: u64) -> (Vec<OprfAnswers>, Vec<OprfQuestions>) {
    let (mut answers, mut questions) = (Vec::new(), Vec::new());
    let keep = |half| {
        answers.push(half);
        Ok(())
    };
    let (served, asked) = Pair::run(
        |ch| party(0, session, ch, |me| oprf().prepare(me, count, keep)),
        |ch| {
            party(1, session, ch, |me| {
                OprfQuestions::prepare(me, count, |half| {
                    questions.push(half);
                    Ok(())
                })
            })
        },
    );
    served.and(asked).unwrap();
    (answers, questions)
}

#[test]
fn the_circuit_is_the_standards_cipher() {
    let values = oprf().evaluate(Backend::detect(), [BLOCK].into_iter());
    assert_eq!(*values, [value(ENCRYPTED)]);
    let circuit = circuit(Goal::Size);
    assert_eq!(circuit.counts().and, OPRF_ANDS as u64);
    let input = Bits::from_u128(BLOCK, 128).unwrap();
    let output = eval_circuit(&circuit, &[oprf().round_keys(), input]).remove(0);
    assert_eq!(output.to_u128(), Some(ENCRYPTED));
}

#[test]
fn queries_give_the_values() {
    for (made_for, asked) in [(1, 1), (3, 2), (OPRF_TOGETHER + 1, OPRF_TOGETHER + 1), (5, 0)] {
        let (answers, questions) = made_ahead(made_for, 1);
        assert_eq!(answers.len(), made_for.div_ceil(OPRF_TOGETHER));
        // As they are kept.
        let answers = answers.into_iter().map(|half| {
            let bytes = written(|out| half.write(out));
            let mut left = &bytes[..];
            let half = OprfAnswers::read(&mut left);
            assert!(left.is_empty());
            half
        });
        let questions =
            questions.into_iter().map(|half| OprfQuestions::read(io::Cursor::new(written(|out| half.write(out)))));
        let inputs = inputs(asked);
        let (served, values) =
            Pair::run(|ch| answer(ch, answers, asked), |ch| query(ch, Backend::detect(), questions, &inputs));
        served.unwrap();
        assert_eq!(*values.unwrap(), *oprf().evaluate(Backend::detect(), inputs.into_iter()));
    }
}

/// Halves are taken as they are needed: by the client no more than may be out, and by the server one at a time.
#[test]
fn halves_wait_where_they_are_kept() {
    let count = 3 * OPRF_TOGETHER + 1;
    let (answers, questions) = made_ahead(count, 1);
    let (taken, asked) = (AtomicUsize::new(0), AtomicUsize::new(0));
    let (inputs, expected) = (inputs(count), oprf().evaluate(Backend::detect(), inputs(count).into_iter()));
    let answers = answers.into_iter().enumerate().map(|(at, half)| {
        // The client has taken a second half, and not a third one before the first is answered.
        let out = asked.load(Ordering::SeqCst);
        assert!((at..=at + 2).contains(&out), "{out} halves are out before {at} are answered");
        taken.fetch_add(1, Ordering::SeqCst);
        Ok(half)
    });
    let questions = questions.into_iter().enumerate().map(|(at, half)| {
        let done = taken.load(Ordering::SeqCst);
        assert!(done + 2 > at, "half {at} is taken when {done} are answered");
        asked.fetch_add(1, Ordering::SeqCst);
        Ok(half)
    });
    let (served, values) =
        Pair::run(|ch| answer(ch, answers, count), |ch| query_within(ch, Backend::detect(), questions, &inputs, 2));
    served.unwrap();
    assert_eq!(*values.unwrap(), *expected);
}

/// An observer of phases.
#[derive(Default)]
struct Phases(Vec<&'static str>);

impl Observer for Phases {
    fn output(&mut self, _: usize, _: Bits) {}

    fn phase(&mut self, name: &'static str) {
        self.0.push(name);
    }
}

/// More than a round: the second one is prepared when the first one is used up.
#[test]
fn who_keeps_nothing_prepares_as_it_asks() {
    for count in [0, 1, OPRF_ROUND + OPRF_TOGETHER + 1] {
        let (inputs, mut phases) = (inputs(count), Phases::default());
        let (served, values) = Pair::run(
            |ch| party(0, 1, ch, |me| oprf().serve(me, count)),
            |ch| {
                let observer = &mut phases;
                party(1, 1, ch, |me| ask(&mut Party { net: me.net, here: me.here, rng: me.rng, observer }, &inputs))
            },
        );
        served.unwrap();
        assert_eq!(*values.unwrap(), *oprf().evaluate(Backend::detect(), inputs.into_iter()));
        let rounds = ["garbling", "queries"].repeat(count.div_ceil(OPRF_ROUND));
        assert_eq!(phases.0, [&["set-up", "garbling"], &rounds[..]].concat());
    }
}

#[test]
fn bytes_are_exactly_as_said() {
    let (mut answers, mut questions) = made_ahead(2, 1);
    let (asked, message) = questions.remove(0).ask(&inputs(2)).unwrap();
    assert_eq!(message.len(), 2 * OPRF_ONLINE[0]);
    assert_eq!(asked.answer_len(), 2 * OPRF_ONLINE[1]);
    assert_eq!(answers.remove(0).answer(&message).unwrap().len(), 2 * OPRF_ONLINE[1]);
    assert_eq!((OPRF_TABLES, OPRF_ONLINE), (163_840, [16, 2064]));
}

#[test]
fn what_does_not_fit_is_refused() {
    let (mut answers, mut questions) = made_ahead(2, 1);
    assert!(matches!(questions.remove(0).ask(&inputs(3)).err().unwrap().kind, Kind::InvalidInput(_)));
    assert!(matches!(answers.remove(0).answer(&[0; 48]).unwrap_err().kind, Kind::Malformed(_)));
    let (mut answers, mut questions) = made_ahead(2, 2);
    assert!(matches!(answers.remove(0).answer(&[0; 15]).unwrap_err().kind, Kind::Malformed(_)));
    let (asked, _) = questions.remove(0).ask(&inputs(2)).unwrap();
    assert!(matches!(asked.values(Backend::detect(), &[0; 2064]).unwrap_err().kind, Kind::Malformed(_)));
    let (answers, questions) = made_ahead(2, 3);
    let (mut ch, nobody) = memory::pair();
    drop(nobody);
    let refused = query(&mut ch, Backend::detect(), questions.into_iter().map(Ok), &inputs(3));
    assert!(matches!(refused.unwrap_err().kind, Kind::InvalidInput(_)));
    let (mut ch, mut asking) = memory::pair();
    asking.send(&[0; 48]).unwrap();
    asking.flush().unwrap();
    let refused = answer(&mut ch, answers.into_iter().map(Ok), 3);
    assert!(matches!(refused.unwrap_err().kind, Kind::InvalidInput(_)));
    for bad in [&[1, 0, 0][..], &[1, 0, 0, 0, 7]] {
        assert!(OprfAnswers::read(&mut &*bad).is_err() && OprfQuestions::read(bad).is_err());
    }
    // Tables that end too early are an error when they are used.
    let (mut answers, mut questions) = made_ahead(1, 4);
    let mut bytes = written(|out| questions.remove(0).write(out));
    bytes.pop();
    let (asked, message) = OprfQuestions::read(io::Cursor::new(bytes)).unwrap().ask(&inputs(1)).unwrap();
    let answer = answers.remove(0).answer(&message).unwrap();
    let why = asked.values(Backend::detect(), &answer).unwrap_err();
    assert!(why.to_string().contains("prepared queries end too early"), "{why}");
    // There is as much as anybody could ask for, and no half is larger.
    for bad in [[0; 4], [65, 0, 0, 0]] {
        let input = || io::Cursor::new(bad).chain(io::repeat(1));
        let why = [OprfAnswers::read(&mut input()).err(), OprfQuestions::read(input()).err()];
        assert!(why.into_iter().all(|why| why.unwrap().to_string().contains("64 at most")));
    }
}

/// What the client has of an input before it evaluates are labels that look random, and show nothing of
/// delta; keys of gates and delta are new where they must be.
#[test]
fn labels_and_keys_are_fresh() {
    let block = |bytes: &[u8], at: usize| Block::new(*bytes[at..].first_chunk().unwrap());
    let (mut answers, mut questions) = made_ahead(1, 1);
    let kept = written(|out| questions.remove(0).write(out));
    let (_, message) = OprfQuestions::read(io::Cursor::new(kept.clone())).unwrap().ask(&[u128::MAX]).unwrap();
    let answer = answers.remove(0).answer(&message).unwrap();
    // Number, start, choices, and the strings of the OTs.
    let mut labels: Vec<Block> =
        (0..128).map(|j| block(&kept, 4 + 16 + 16 + 16 * j) ^ block(&answer, 16 * j)).collect();
    labels.sort_unstable_by_key(|label| label.to_u128());
    labels.dedup();
    assert_eq!(labels.len(), 128);
    let (answers, questions) = made_ahead(OPRF_TOGETHER + 1, 1);
    let starts: Vec<Block> = questions.into_iter().map(|half| block(&written(|out| half.write(out)), 4)).collect();
    assert_ne!(starts[0], starts[1]);
    let (others, _) = made_ahead(1, 2);
    let deltas = [&answers[0], &others[0]].map(|half| block(&written(|out| half.write(out)), 4));
    assert_ne!(deltas[0], deltas[1]);
}

/// Labels of two inputs would show delta: what one half gives is for one set of questions, and with another's
/// it is nothing.
#[test]
fn halves_of_others_give_nothing() {
    let (answers, _) = made_ahead(1, 1);
    let (_, questions) = made_ahead(1, 2);
    let inputs = inputs(1);
    let (served, values) = Pair::run(
        |ch| answer(ch, answers.into_iter().map(Ok), 1),
        |ch| query(ch, Backend::detect(), questions.into_iter().map(Ok), &inputs),
    );
    served.unwrap();
    assert_ne!(*values.unwrap(), *oprf().evaluate(Backend::detect(), inputs.into_iter()));
}

/// Every bit of the questions is a bit of the input, and nothing else follows from it.
#[test]
fn a_changed_question_asks_for_another_input() {
    let (answers, questions) = made_ahead(1, 1);
    let change = Tamper { direction: Direction::Outgoing, at: 0, change: Change::Flip { bit: 0 } };
    let (served, values) = Pair::run(
        |ch| answer(ch, answers.into_iter().map(Ok), 1),
        |ch| query(&mut Tampering::new(ch, &change), Backend::detect(), questions.into_iter().map(Ok), &[BLOCK]),
    );
    served.unwrap();
    let label_of_another = values.unwrap()[0];
    assert_eq!(label_of_another, oprf().evaluate(Backend::detect(), [BLOCK ^ 1].into_iter())[0]);
}

/// A client that lies in the OTs is caught before the server keeps a half, and one that goes away leaves none.
#[test]
fn a_client_that_lies_in_the_ots_is_caught() {
    let run = |at: Option<usize>| {
        let tamper =
            Tamper { direction: Direction::Outgoing, at: at.unwrap_or(usize::MAX), change: Change::Flip { bit: 1 } };
        let mut kept = 0;
        let (a, b) = memory::pair_with_timeout(PATIENCE);
        let served = std::thread::scope(|scope| {
            scope.spawn(|| {
                let mut ch = Tampering::new(b, &tamper);
                let _ = party(1, 1, &mut ch, |me| OprfQuestions::prepare(me, 1, |_| Ok(())));
            });
            let mut a = a;
            party(0, 1, &mut a, |me| {
                oprf().prepare(me, 1, |_| {
                    kept += 1;
                    Ok(())
                })
            })
        });
        (served, kept)
    };
    assert!(matches!(run(None), (Ok(()), 1)));
    // Base OTs, trees, corrections, and the answer to the check.
    let mut caught = 0;
    for at in (0..16_000).step_by(1500) {
        if let (Err(_), kept) = run(Some(at)) {
            assert_eq!(kept, 0, "byte {at}");
            caught += 1;
        }
    }
    assert!(caught >= 5, "{caught}");
}

#[test]
fn general_protocols_give_the_same_values() {
    let protocols: [&'static dyn Protocol; 2] = [&comity_gmw::Gmw, &comity_yao::Yao];
    for over in protocols {
        for count in [0, 2] {
            let (inputs, oprf) = (inputs(count), oprf());
            let (served, values) = Pair::run(
                |ch| party(0, 1, ch, |me| evaluate_over(me, over, OprfInput::Server(&oprf, count))),
                |ch| party(1, 1, ch, |me| evaluate_over(me, over, OprfInput::Client(&inputs))),
            );
            assert!(served.unwrap().is_empty(), "the server gets none");
            assert_eq!(*values.unwrap(), *oprf.evaluate(here(0, 1).backend, inputs.into_iter()));
        }
    }
}

/// A client that garbled would choose what is computed of the server's key. The tables come from the server,
/// also where the client puts in more bits.
#[test]
fn the_server_garbles() {
    const COUNT: usize = 13;
    let over: [&'static dyn Protocol; 1] = [&comity_yao::Yao];
    let (inputs, oprf) = (inputs(COUNT), oprf());
    const { assert!(COUNT * WIDTH > ROUND_KEYS, "the client has more bits") }
    let mut said = 0;
    let (_, values) = Pair::run(
        |ch| {
            let mut ch = comity_channel::Counted::new(ch);
            let counter = ch.counter();
            party(0, 1, &mut ch, |me| evaluate_over(me, over[0], OprfInput::Server(&oprf, COUNT))).unwrap();
            said = counter.counts().sent;
        },
        |ch| party(1, 1, ch, |me| evaluate_over(me, over[0], OprfInput::Client(&inputs))),
    );
    assert_eq!(*values.unwrap(), *oprf.evaluate(here(0, 1).backend, inputs.into_iter()));
    assert!(said > (32 * OPRF_ANDS * COUNT) as u64, "{said} bytes");
}
