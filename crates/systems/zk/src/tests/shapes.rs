//! Statements of every shape: without a gate, with one, with as many as fill a row or one more, with more
//! than 16 bits count; with public inputs and without.

use comity_circuit::{Circuit, Gate, Group, Op, Program, eval_many, random::Rng};
use comity_core::{Backend, Bits, Result};
use comity_testing::Pair;

use super::broken::here;
use super::rng;
use crate::{Conversation, Proof, Statement, System, prove, prove_to, verify, verify_from};

/// The statement that `ands` AND gates, one after another, give their outputs for `secret` secret and
/// `public` public bits; and the witness.
fn shaped(secret: usize, public: usize, ands: usize) -> (Statement, Vec<Option<Bits>>) {
    let (first, bits) = (2, secret + public);
    let input = |i: usize| (first + i % bits) as u32;
    let mut gates = vec![Gate { op: Op::Xor, a: Circuit::ONE, b: input(0) }];
    for i in 0..ands {
        let last = (first + bits + gates.len() - 1) as u32;
        gates.push(Gate { op: Op::And, a: last, b: input(3 * i + 1) });
        gates.push(Gate { op: Op::Xor, a: last + 1, b: input(5 * i + 2) });
    }
    let last = (first + bits + gates.len() - 1) as u32;
    let group = |name: &str, bits| Group { name: name.to_owned(), bits };
    let (inputs, outputs) = (vec![group("x", secret), group("y", public)], vec![group("z", 2)]);
    let circuit = Circuit::new(inputs, outputs, gates, vec![last, input(0)]).unwrap();
    let program = Program::from_circuit(circuit).unwrap();
    let values = Rng(ands as u64).values(&[secret, public]);
    let outputs = eval_many(&program, std::slice::from_ref(&values)).unwrap().remove(0);
    let [x, y] = values.try_into().unwrap();
    let expected = outputs.into_iter().map(Some).collect::<Vec<_>>();
    let statement = Statement::new(&program, &[None, Some(y)], &expected, b"").unwrap();
    assert_eq!((statement.secret_bits(), statement.and_gates()), (secret, ands as u64));
    (statement, vec![Some(x), None])
}

/// Shapes of few gates: secret bits, public bits, AND gates.
const SMALL: [(usize, usize, usize); 8] =
    [(1, 0, 0), (1, 0, 1), (3, 2, 1), (8, 1, 0), (64, 0, 64), (65, 7, 64), (128, 0, 128), (120, 300, 137)];
/// More gates than a number of 16 bits counts.
const LARGE: (usize, usize, usize) = (40, 9, (1 << 16) + 3);

fn filed((secret, public, ands): (usize, usize, usize), system: System) {
    let (statement, witness) = shaped(secret, public, ands);
    let proof = prove(Backend::detect(), &statement, &witness, system, &mut rng(1)).unwrap().to_bytes();
    verify(Backend::detect(), &statement, &Proof::from_bytes(&proof).unwrap())
        .unwrap_or_else(|error| panic!("{system}, {secret} and {public} bits, {ands} gates: {error}"));
}

#[test]
fn a_file_has_any_shape() {
    for system in System::ALL {
        SMALL.into_iter().for_each(|shape| filed(shape, system));
    }
    filed(LARGE, System::ZkbPlusPlus);
    filed(LARGE, System::VoleInTheHead);
}

#[test]
fn a_conversation_has_any_shape() {
    for way in [Conversation::Vole, Conversation::Garbled, Conversation::GarbledRows] {
        for (secret, public, ands) in SMALL.into_iter().chain([LARGE]) {
            let (statement, witness) = shaped(secret, public, ands);
            let (proved, verified): (Result<()>, Result<()>) = Pair::run(
                |ch| prove_to(ch, here(0, 1), &statement, &witness, way, &mut rng(1)),
                |ch| verify_from(ch, here(1, 1), &statement, way, &mut rng(2)),
            );
            assert!(proved.is_ok() && verified.is_ok(), "{way:?}, {secret} and {public} bits, {ands} gates");
        }
    }
}
