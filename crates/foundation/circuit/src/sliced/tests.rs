use super::*;
use crate::builder::{Builder, Wire};
use crate::circuit::Circuit;
use crate::party::Recipients;
use crate::plain::eval_circuit;
use crate::program::ProgramBuilder;
use crate::random::Rng;

#[test]
fn every_instance_computes_what_the_circuit_does() {
    let mut rng = Rng(2);
    for (gates, count) in [(0, 3), (100, 1), (3_000, 512), (3_000, 513), (20_000, 700)] {
        let widths = [rng.below(40), 0, 65];
        let circuit = rng.circuit(&widths, gates, 500, &[70, 0, 3]);
        let inputs: Vec<Vec<Bits>> = (0..count).map(|_| rng.values(&widths)).collect();
        let want: Vec<Vec<Bits>> = inputs.iter().map(|values| eval_circuit(&circuit, values)).collect();
        assert!(eval_many(&Program::from_circuit(circuit).unwrap(), &inputs).unwrap() == want);
    }
}

/// A circuit that adds two numbers of eight bits.
fn add() -> Circuit {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 8), b.input("y", 8));
    let mut carry = Wire::ZERO;
    let sum: Vec<Wire> = (x.into_iter().zip(y))
        .map(|(x, y)| {
            let (a, c) = (b.xor(x, carry), b.xor(y, carry));
            let (sum, moved) = (b.xor(a, y), b.and(a, c));
            carry = b.xor(carry, moved);
            sum
        })
        .collect();
    b.output("sum", &sum);
    b.finish()
}

/// An accumulator: takes a value in again and again.
fn accumulate(circuit: Circuit) -> Program {
    let mut p = ProgramBuilder::new("accumulate");
    let values = p.input("values", 0, 5 * 8);
    let sum = p.register(8);
    let add = p.circuit(circuit);
    p.repeat(5, |p, turn| {
        p.call(add, &[sum.span(), values.slice(0, 8).span().moving(turn, 8)], &[sum.span()]);
    });
    p.reveal("sum", Recipients::All, sum);
    p.reveal("last", Recipients::only(7), values.slice(32, 8));
    p.finish().unwrap()
}

#[test]
fn programs_of_many_steps_run_on_many_inputs() {
    let program = accumulate(add());
    let mut rng = Rng(3);
    let inputs: Vec<Vec<Bits>> = (0..600).map(|_| vec![rng.bits(40)]).collect();
    for (values, outputs) in inputs.iter().zip(eval_many(&program, &inputs).unwrap()) {
        let bytes = values[0].to_bytes();
        let sum = bytes.iter().fold(0u8, |sum, &byte| sum.wrapping_add(byte));
        assert_eq!([outputs[0].to_bytes(), outputs[1].to_bytes()], [[sum], [bytes[4]]]);
    }
    assert!(eval_many(&program, &[]).unwrap().is_empty());
}

#[test]
fn values_that_do_not_fit_are_refused() {
    let program = accumulate(add());
    let refused = |values: &[Bits]| {
        let error = eval_many(&program, &[vec![Bits::zeros(40)], values.to_vec()]).unwrap_err();
        assert!(matches!(error, RunError::Input(_)));
        error.to_string()
    };
    assert_eq!(refused(&[]), "0 input values are given where the program has 1");
    let want = "input value 0 (`values`) of party 0 has 40 bits; the value given has 39";
    assert_eq!(refused(&[Bits::zeros(39)]), want);

    let two = Program::new("two", 2, Vec::new(), Vec::new()).unwrap();
    let input = |values: Vec<Vec<Lanes>>| {
        let mut engine = Sliced::new(values);
        engine.begin(&two).unwrap();
        let put = Put { index: 0, owner: 1.into(), start: 0, bits: 2 };
        engine.input(put, None).map(|()| engine.memory.to_vec()).map_err(|e| e.to_string())
    };
    assert_eq!(input(vec![]), Err("input value 0, of party 1, is missing".into()));
    let want = "input value 0, of party 1, has 3 bits where the program takes 2";
    assert_eq!(input(vec![vec![Lanes::default(); 3]]), Err(want.into()));
    assert_eq!(input(vec![vec![Lanes::all(true); 2]]), Ok(vec![Lanes::all(true); 2]));
}
