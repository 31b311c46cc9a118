//! Honest runs against the plain evaluator.

use super::*;
use crate::cost::Cost;

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

#[test]
fn forty_copies_and_a_library_program() {
    let program = random_program([3, 3], 40, [3, 1], &mut rng(9));
    let inputs = vec![Bits::from_bytes(&[5], 3), Bits::from_bytes(&[3], 3)];
    check(&Case::new(Backend::detect(), program, inputs, Copies::all(40).unwrap(), 1), 1);
    // Real circuits, called in loops, with the paper's coded copies for rho = 40.
    let program = to_receiver(comity_library::program("aes128").unwrap()).with_owner(1, 1).unwrap();
    let inputs = program.inputs().iter().map(|input| bits(input.bits, &mut rng(8))).collect();
    check(&Case::new(Backend::detect(), program, inputs, Copies::coded(4, 1).unwrap(), 2), 2);
}

#[test]
fn the_frontier_of_coded_copies_is_the_papers() {
    let pairs = |rho| -> Vec<(usize, usize)> {
        Copies::frontier(rho).unwrap().iter().map(|copies| (copies.total(), copies.evaluated().unwrap())).collect()
    };
    assert!([(44, 19), (45, 17), (49, 15)].iter().all(|pair| pairs(40).contains(pair)));
    assert!([(84, 39), (90, 31)].iter().all(|pair| pairs(80).contains(pair)));
    for copies in Copies::frontier(40).unwrap() {
        assert!(copies.security() >= 40.0);
    }
    assert!((Copies::all(4).unwrap().security() - 15f64.log2()).abs() < 1e-9);
}
