//! Honest runs against the plain evaluator.

use super::*;
use crate::Cost;

fn check(case: &Case, seed: u128) {
    let answer = case.answer(seed);
    let opened = case.open(&answer).unwrap();
    assert!(opened.outputs == case.plain() && !opened.recovered);
    let cost = Cost::new(&case.program, case.query.copies()).unwrap();
    assert_eq!((cost.query_bytes, cost.answer_bytes), (case.query.to_bytes().len() as u64, answer.len() as u64));
}

#[test]
fn random_programs_give_what_they_give_in_the_clear() {
    let mut random = rng(1);
    let shapes = [([3, 2], [4, 1]), ([0, 4], [3, 0]), ([4, 0], [2, 2]), ([1, 1], [0, 0]), ([2, 9], [130, 3])];
    for (seed, (widths, outputs)) in (0..).zip(shapes) {
        for copies in [Copies::all(1), Copies::all(4), Copies::coded(5, 2)] {
            let program = random_program(widths, 60, outputs, &mut random);
            let inputs = widths.map(|width| bits(width, &mut random)).to_vec();
            check(&Case::new(Backend::detect(), program, inputs, copies.unwrap(), seed), seed);
        }
    }
}
