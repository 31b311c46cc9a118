//! Conversions there and back, at all widths.

use comity_circuit::{Builder, Program};
use comity_core::{Backend, Bits};
use comity_library::arith;
use comity_mixed::{Assignment, CircuitForms, Form, regions};
use comity_testing::laws::{bits, check, rng};

use super::{Assigned, setting};

/// A product in one form, a sum in another one, a product again: the word goes there and back.
#[test]
fn words_go_from_each_form_to_each_other_one_and_back() {
    for k in [1usize, 2, 3, 7, 8, 31, 32, 33, 63, 64, 65, 128] {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", k), b.input("y", k));
        let product = arith::mul(&mut b, &x, &y);
        let less = arith::min(&mut b, &product, &x);
        let again = arith::mul(&mut b, &less, &product);
        b.output("product", &product);
        b.output("less", &less);
        b.output("again", &again);
        let program = Program::map(b.finish(), 3, &[]).unwrap().with_owner(1, 1).unwrap();
        let all = |bit: bool| -> Bits { (0..k).map(|_| bit).collect() };
        let top: Bits = (0..k).map(|i| i + 1 == k).collect();
        let extremes: Bits = [all(false), all(true), top.clone()].iter().flat_map(Bits::iter).collect();
        let others: Bits = [top, all(true), bits(k, &mut rng(k as u128))].iter().flat_map(Bits::iter).collect();
        let pairs = Form::ALL.into_iter().flat_map(|first| Form::ALL.map(|second| (first, second)));
        // Where words become bits, both parties' shares are added on labels or on shares of bits.
        let is_added = |(first, second)| first != second && [first, second].contains(&Form::Arithmetic);
        let ways = pairs.flat_map(|pair| {
            let ways = if is_added(pair) { &[Form::Yao, Form::Boolean][..] } else { &[Form::Yao] };
            ways.iter().map(move |adders| (pair, *adders))
        });
        for ((first, second), adders) in ways {
            let mut assignment = Assignment::uniform(&program, first);
            let notes = assignment.circuits[0].notes.len();
            assignment.circuits[0] = CircuitForms { notes: vec![first; notes], gates: second, adders };
            for note in 1..notes.saturating_sub(1) {
                assignment.circuits[0].notes[note] = second;
            }
            assignment.regions = regions(&program).iter().map(|_| first).collect();
            let inputs = [extremes.clone(), others.clone()];
            check(&Assigned(assignment), 2, &program, &inputs, setting(Backend::detect()));
        }
    }
}
