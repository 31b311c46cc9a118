//! Queries, keys and answers as files: round trips, the wrong file, and broken ones.

use std::io::{self, Read};

use comity_circuit::{Owner, ProgramBuilder};
use comity_core::Kind;

use super::*;
use crate::checks;
use crate::cost::Cost;
use crate::files::{CHECKSUM, Header, checksum};
use crate::respond::{answered, respond};
use crate::stored::{Writers, open_stored, respond_stored};

fn case(copies: Copies) -> Case {
    let inputs = vec![Bits::from_bytes(&[0b101], 3), Bits::from_bytes(&[0b110], 3)];
    Case::new(Backend::detect(), ands(3), inputs, copies, 11)
}

fn plain_case() -> Case {
    case(Copies::all(3).unwrap())
}

fn message<T>(result: Result<T>) -> String {
    result.err().expect("an error").to_string()
}

/// The bytes with a right checksum.
pub(crate) fn sealed(mut bytes: Vec<u8>) -> Vec<u8> {
    let body = bytes.len() - CHECKSUM;
    let sum = checksum().update(&bytes[..body]).finalize();
    bytes[body..].copy_from_slice(sum.as_bytes());
    bytes
}

#[test]
fn queries_and_keys_survive_a_round_trip() {
    let case = plain_case();
    let query = Query::from_bytes(&case.query.to_bytes()).unwrap();
    assert_eq!(query, case.query);
    assert_eq!((query.input_bits(), query.epoch(), query.copies()), (3, 0, Copies::all(3).unwrap()));
    assert_eq!(*query.program(), case.program.digest());
    let secret = Secret::from_bytes(&case.secret.to_bytes()).unwrap();
    assert_eq!(secret.query(), query);
    assert_eq!((secret.epoch(), secret.copies(), secret.program()), (0, query.copies(), query.program()));
    let opened = open(case.backend, &secret, &CONTEXT, &case.program, &mut &case.answer(1)[..]).unwrap();
    assert!(opened.outputs == case.plain());
}

#[test]
fn a_refreshed_query_has_other_circuit_ots_only_and_takes_no_earlier_answers() {
    let mut case = plain_case();
    let earlier = case.answer(1);
    case.secret = case.secret.refresh(&mut rng(40)).unwrap();
    let query = case.secret.query();
    assert_eq!((query.epoch(), query.id()), (1, case.query.id()));
    assert!(query.inputs == case.query.inputs && query.circuits != case.query.circuits);
    assert!(matches!(case.open(&earlier), Err(Error { kind: Kind::Mismatch { field: "query", .. }, .. })));
    case.query = query;
    let answer = case.answer(2);
    assert!(case.open(&answer).unwrap().outputs == case.plain());
}

#[test]
fn the_wrong_file_is_named() {
    let case = plain_case();
    let answer = case.answer(1);
    let said = message(Query::from_bytes(&answer));
    assert!(said.contains("a query was expected here, and this is an answer"), "{said}");
    let said = message(Secret::from_bytes(&case.query.to_bytes()));
    assert!(said.contains("the key of a query was expected here, and this is a query"), "{said}");
    let said = message(case.open(&case.query.to_bytes()));
    assert!(said.contains("an answer was expected here, and this is a query"), "{said}");
    let mut future = answer.clone();
    future[16] = 9;
    let said = message(case.open(&sealed(future)));
    assert!(said.contains("version 9") && said.contains("version 2"), "{said}");
    let mut future = case.query.to_bytes();
    future[17] = 1;
    let said = message(Query::from_bytes(&sealed(future)));
    assert!(said.contains("version 258"), "{said}");
    let mut zeros = io::repeat(0);
    let said = message(open(case.backend, &case.secret, &CONTEXT, &case.program, &mut zeros));
    assert!(said.contains("something else"), "{said}");
    // A right beginning, and then zeros without an end.
    let mut zeros = (&answer[..Header::BYTES + 64]).chain(io::repeat(0));
    let said = message(open(case.backend, &case.secret, &CONTEXT, &case.program, &mut zeros));
    assert!(said.contains("checksum"), "{said}");
    let mut more = answer.clone();
    more.push(0);
    let said = message(case.open(&more));
    assert!(said.contains("more follows"), "{said}");
}

#[test]
fn another_program_or_query_is_named() {
    let case = plain_case();
    let answer = case.answer(1);
    let other = Case::new(case.backend, ands(4), vec![Bits::zeros(4); 2], case.query.copies(), 12);
    let field = |result: Result<Opened>| match result {
        Err(Error { kind: Kind::Mismatch { field, .. }, .. }) => field,
        other => panic!("{other:?}"),
    };
    assert_eq!(field(other.open(&answer)), "program");
    assert_eq!(field(open(case.backend, &case.secret, &CONTEXT, &other.program, &mut &answer[..])), "program");
    let same = Case::new(case.backend, ands(3), case.inputs.clone(), case.query.copies(), 13);
    assert_eq!(field(same.open(&answer)), "query");
    let own = own(&other.program, 1, &other.inputs);
    let mut out = Vec::new();
    let refused = respond(case.backend, &case.query, &CONTEXT, &other.program, &own, &mut rng(1), &mut out);
    assert!(matches!(refused, Err(Error { kind: Kind::Mismatch { field: "program", .. }, .. })) && out.is_empty());
}

/// Whoever carries an answer to another context can say that it was made there; it was not.
#[test]
fn an_answer_opens_in_its_context_only() {
    let [here, elsewhere] = [CONTEXT, [0xe5; 32]];
    let reworded = |case: &Case, mut answer: Vec<u8>| {
        answer[Header::BYTES..][..32].copy_from_slice(&answered(&case.query.fingerprint(), &elsewhere));
        sealed(answer)
    };
    for copies in [Copies::all(1), Copies::all(3), Copies::coded(3, 1)] {
        let case = case(copies.unwrap());
        let answer = case.answer(1);
        let opened =
            |context, answer: &[u8]| open(case.backend, &case.secret, context, &case.program, &mut &answer[..]);
        assert!(opened(&here, &answer).unwrap().outputs == case.plain());
        assert!(matches!(opened(&elsewhere, &answer), Err(Error { kind: Kind::Mismatch { field: "query", .. }, .. })));
        let answer = reworded(&case, answer);
        assert!(matches!(opened(&here, &answer), Err(Error { kind: Kind::Mismatch { field: "query", .. }, .. })));
        assert!(matches!(opened(&elsewhere, &answer), Err(Error { kind: Kind::Misbehaved(_), .. })));
    }
    let case = case(Copies::stored(3).unwrap());
    let (own, mut answer, mut copies) = (own(&case.program, 1, &case.inputs), Vec::new(), [(); 3].map(|()| Vec::new()));
    let to = Writers { answer: &mut answer, copies: &mut copies };
    respond_stored(case.backend, &case.query, &here, &case.program, &own, &mut rng(1), to).unwrap();
    let opened = |context, answer: &[u8]| {
        let mut copies = copies.each_ref().map(|copy| Some(&copy[..]));
        open_stored(case.backend, &case.secret, context, &case.program, &mut &answer[..], &mut copies)
    };
    assert!(opened(&here, &answer).unwrap().outputs == case.plain());
    assert!(matches!(opened(&elsewhere, &answer), Err(Error { kind: Kind::Mismatch { field: "query", .. }, .. })));
    assert!(matches!(opened(&elsewhere, &reworded(&case, answer)), Err(Error { kind: Kind::Misbehaved(_), .. })));
}

#[test]
fn programs_that_tell_the_sender_something_are_refused() {
    let program = ands(2).with_recipients(0, Recipients::All).unwrap();
    let inputs = [Some(Bits::zeros(2)), None];
    let said = message(publish(Backend::detect(), &program, &inputs, Copies::all(3).unwrap(), &mut rng(1)));
    assert!(said.contains("the sender, which learns nothing"), "{said}");
    let program = ands(2).with_owner(1, 2).unwrap();
    let said = message(publish(Backend::detect(), &program, &inputs, Copies::all(3).unwrap(), &mut rng(1)));
    assert!(said.contains("two parties"), "{said}");
    let program = ands(2).with_owner(1, Owner::Shared).unwrap();
    let said = message(publish(Backend::detect(), &program, &inputs, Copies::all(3).unwrap(), &mut rng(1)));
    assert!(said.contains("comes in as shares"), "{said}");
    let program = ands(2).with_recipients(0, Recipients::Shared).unwrap();
    let said = message(publish(Backend::detect(), &program, &inputs, Copies::all(3).unwrap(), &mut rng(1)));
    assert!(said.contains("goes out as shares"), "{said}");
    for refused in [Copies::all(0), Copies::all(255), Copies::coded(3, 3), Copies::coded(3, 0), Copies::coded(200, 60)]
    {
        assert!(matches!(refused, Err(Error { kind: Kind::InvalidInput(_), .. })));
    }
}

#[test]
fn bad_points_in_a_query_are_refused_before_an_answer() {
    let case = plain_case();
    let bytes = case.query.to_bytes();
    let points = Header::BYTES + 36;
    let own = own(&case.program, 1, &case.inputs);
    // A point of an input OT, and one of a circuit OT.
    for at in [points + 32, points + 64 * 3] {
        for (fill, kind) in [(0, checks::IDENTITY_POINT), (0xff, checks::INVALID_POINT)] {
            let mut bad = bytes.clone();
            bad[at..at + 32].fill(fill);
            let query = Query::from_bytes(&sealed(bad)).unwrap();
            let mut out = Vec::new();
            match respond(case.backend, &query, &CONTEXT, &case.program, &own, &mut rng(1), &mut out) {
                Err(Error { kind: Kind::Misbehaved(named), .. }) => assert_eq!(named, kind),
                other => panic!("{other:?}"),
            }
            assert!(out.is_empty());
        }
    }
    // One OT too few for the program.
    let mut short = bytes.clone();
    short.drain(points..points + 64);
    let query = Query::from_bytes(&sealed(short)).unwrap();
    let refused = respond(case.backend, &query, &CONTEXT, &case.program, &own, &mut rng(1), &mut Vec::new());
    assert!(message(refused).contains("2 input bits"));
}

#[test]
fn broken_queries_and_keys_are_refused() {
    let case = plain_case();
    let (query, key) = (case.query.to_bytes(), case.secret.to_bytes());
    for len in 0..query.len() {
        assert!(matches!(Query::from_bytes(&query[..len]), Err(Error { kind: Kind::Malformed(_), .. })), "{len} bytes");
    }
    for len in 0..key.len() {
        assert!(matches!(Secret::from_bytes(&key[..len]), Err(Error { kind: Kind::Malformed(_), .. })), "{len} bytes");
    }
    for at in 0..key.len() {
        let mut bad = key.to_vec();
        bad[at] ^= 0x40;
        assert!(matches!(Secret::from_bytes(&bad), Err(Error { kind: Kind::Malformed(_), .. })), "byte {at}");
        // With a right checksum anything but a panic will do.
        _ = Secret::from_bytes(&sealed(bad));
    }
    for at in 0..query.len() {
        let mut bad = query.clone();
        bad[at] ^= 0x40;
        assert!(matches!(Query::from_bytes(&bad), Err(Error { kind: Kind::Malformed(_), .. })), "byte {at}");
        _ = Query::from_bytes(&sealed(bad));
    }
}

#[test]
fn damaged_answers_are_nobodys_fault() {
    for copies in [Copies::all(2), Copies::coded(3, 1)] {
        let case = case(copies.unwrap());
        let answer = case.answer(1);
        for len in [0, 10, 100, 200, answer.len() / 2, answer.len() - 40, answer.len() - 1] {
            let said = message(case.open(&answer[..len]));
            assert!(said.contains("cut short"), "{len} bytes: {said}");
        }
        for at in (Header::BYTES + 32..answer.len()).step_by(answer.len() / 40) {
            let mut bad = answer.clone();
            bad[at] ^= 1;
            let said = message(case.open(&bad));
            assert!(said.contains("damaged"), "byte {at}: {said}");
        }
    }
}

/// The answer's checksum protects against chance, not against its sender: here it is right.
#[test]
fn a_changed_answer_never_gives_a_wrong_output() {
    for (copies, step) in [(Copies::all(2), 41), (Copies::coded(3, 1), 41)] {
        let case = case(copies.unwrap());
        let answer = case.answer(1);
        let (mut refused, mut same) = (0, 0);
        for at in (Header::BYTES + 64..answer.len() - CHECKSUM).step_by(step) {
            let mut bad = answer.clone();
            bad[at] ^= 0x10;
            match case.open(&sealed(bad)) {
                Ok(opened) => {
                    assert!(opened.outputs == case.plain(), "byte {at}");
                    same += 1;
                }
                Err(Error { kind: Kind::Misbehaved(_), .. }) => refused += 1,
                Err(other) => panic!("byte {at}: {other}"),
            }
        }
        // What nobody reads is under the keys of checked copies, and copies that are not semi-trusted do no harm.
        assert!(refused > same, "{refused} refused, {same} without effect");
    }
}

/// A program whose loop garbles far more than is ever in memory.
#[test]
fn an_answer_streams() {
    /// A writer that counts the bytes that go by and holds on to none.
    #[derive(Default)]
    struct Passing {
        bytes: usize,
        largest: usize,
    }
    impl io::Write for Passing {
        fn write(&mut self, bytes: &[u8]) -> io::Result<usize> {
            self.bytes += bytes.len();
            self.largest = self.largest.max(bytes.len());
            Ok(bytes.len())
        }
        fn flush(&mut self) -> io::Result<()> {
            Ok(())
        }
    }
    let mut circuit = Builder::new();
    let (a, b) = (circuit.input("a", 64), circuit.input("b", 64));
    let (products, mixed): (Vec<Wire>, Vec<Wire>) = (0..64)
        .map(|i| {
            let product = circuit.and(a[i], b[(i + 1) % 64]);
            (product, circuit.xor(product, a[(i + 7) % 64]))
        })
        .unzip();
    circuit.output("c", &mixed);
    circuit.output("d", &products);
    let mut program = ProgramBuilder::new("a loop");
    let circuit = program.circuit(circuit.finish());
    program.input("x", 0, 2);
    program.input("y", 1, 2);
    let (a, b) = (program.register(64), program.register(64));
    program.repeat(500, |program, _| program.call(circuit, &[a.span(), b.span()], &[a.span(), b.span()]));
    program.reveal("z", Recipients::only(0), a.slice(0, 2));
    let program = program.finish().unwrap();
    let case = Case::new(Backend::detect(), program, vec![Bits::zeros(2); 2], Copies::all(4).unwrap(), 1);
    let own = own(&case.program, 1, &case.inputs);
    let mut passing = Passing::default();
    respond(case.backend, &case.query, &CONTEXT, &case.program, &own, &mut rng(1), &mut passing).unwrap();
    let cost = Cost::new(&case.program, case.query.copies()).unwrap();
    assert_eq!(passing.bytes as u64, cost.answer_bytes);
    assert!(passing.bytes > 500 * 64 * 32 * 4 && passing.largest <= 256 * 32 * 4, "{} at once", passing.largest);
}

#[test]
fn spliced_answers_are_refused() {
    let case = plain_case();
    let (first, second) = (case.answer(1), case.answer(2));
    for at in (Header::BYTES + 64..first.len()).step_by(first.len() / 20) {
        let spliced = sealed([&first[..at], &second[at..]].concat());
        assert!(matches!(case.open(&spliced), Err(Error { kind: Kind::Misbehaved(_), .. })), "byte {at}");
    }
}

/// Whoever changes the bytes on purpose changes these digests and the version.
const GOLDEN: [&str; 2] = [
    "e0be533c28fcd50f3060d4146130900ac37574d492ffec0efba5f6e7320227b4",
    "4233cadfa02a64078e303af88c33f226d67590c7cd3ace8fb8df9f070189144c",
];

#[test]
fn the_bytes_are_pinned_on_every_backend() {
    for (copies, golden) in [Copies::all(4), Copies::coded(5, 2)].into_iter().zip(GOLDEN) {
        let copies = copies.unwrap();
        let digest = |backend: Backend| {
            let program = random_program([3, 3], 60, [4, 2], &mut rng(5));
            let inputs = vec![Bits::from_bytes(&[5], 3), Bits::from_bytes(&[6], 3)];
            let case = Case::new(backend, program, inputs, copies, 21);
            let answer = case.answer(21);
            assert!(case.open(&answer).unwrap().outputs == case.plain());
            let mut hasher = blake3::Hasher::new();
            hasher.update(&case.query.to_bytes()).update(&case.secret.to_bytes()).update(&answer);
            hasher.finalize().to_hex().to_string()
        };
        for backend in Backend::available() {
            assert_eq!(digest(backend), golden, "{backend}");
        }
    }
}

#[test]
fn counted_bytes_are_those_of_the_papers_circuit() {
    let program = to_receiver(comity_library::program("aes128").unwrap());
    let plain = Cost::new(&program, Copies::all(40).unwrap()).unwrap();
    // 72,000 in the paper's way: four products more for each input bit of the receiver and copy.
    assert_eq!(plain.respond + 40 * 4 * 128, 4 * 40 * 128 * 2 + 4 * 40 * 128 + 2 * 40 * 128 + 12 * 40 + 4 * 128);
    let coded = Cost::new(&program, Copies::coded(44, 19).unwrap()).unwrap();
    assert!(2 * coded.answer_bytes < plain.answer_bytes + plain.answer_bytes / 4);
}
