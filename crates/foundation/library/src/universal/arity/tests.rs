use comity_circuit::random::Rng;
use comity_circuit::{Goal, Recipients};

use super::{Arity, Arrival, Shape};
use crate::universal::universal;

fn random(rng: &mut Rng, inputs: usize, gates: usize, outputs: usize) -> Arity {
    let mut some = |least: usize| -> u32 {
        let many = rng.below(8) == 0;
        (least + rng.below(if many { 40 } else { 3 })) as u32
    };
    let of = |count: usize, least, some: &mut dyn FnMut(usize) -> u32| -> Vec<u32> {
        (0..count).map(|_| some(least)).collect()
    };
    let (mut inputs, gates) = (of(inputs, 0, &mut some), of(gates, 1, &mut some));
    inputs[0] += 1;
    Arity::new(&inputs, &gates, outputs).expect("a small circuit")
}

fn several() -> impl Iterator<Item = Arity> {
    let mut rng = Rng(7);
    (0..200).map(move |_| {
        let [inputs, gates, outputs] = [20, 60, 9].map(|most| 1 + rng.below(most));
        random(&mut rng, inputs, gates, outputs)
    })
}

/// The readers of a wire may come in any order: each of them is behind a place of its own.
#[test]
fn every_reader_is_behind_a_place_of_its_wire() {
    for arity in several() {
        let (places, shape) = (arity.places(), arity.shape());
        assert!(places.takes.is_sorted_by(|one, next| one < next));
        let mut given = vec![0; places.taken.len() - 1];
        for (wire, (&first, &readers)) in places.first.iter().zip(arity.readers()).enumerate() {
            let before = 2 * (wire + 1).saturating_sub(shape.inputs);
            if before > 0 {
                assert!(first >= places.takes[before - 1], "a gate leaves when it has both wires");
            }
            for (nth, at) in (first..first + readers).enumerate() {
                given[at as usize] += 1;
                if let Some(&reader) = places.takes.get(before + nth) {
                    assert!(reader > at, "{arity}: reader {nth} of wire {wire}");
                }
            }
        }
        assert!(given.iter().all(|&wires| wires <= 1));
        let taken = (0..given.len()).filter_map(|at| places.taken(at));
        let gates = (0..shape.gates).flat_map(|number| [Arrival::First, Arrival::Second(number)]);
        assert!(taken.eq(gates.chain((0..shape.outputs).map(Arrival::Output))));
        assert!((0..given.len()).all(|at| places.is_given(at) == (given[at] == 1)));
    }
}

#[test]
fn numbers_are_found_by_their_programs() {
    for (goal, arity) in [Goal::Size, Goal::Depth].into_iter().cycle().zip(several()) {
        let program = arity.program(goal).with_recipients(0, Recipients::only(1)).unwrap();
        assert_eq!(program.inputs()[0].bits, arity.program_bits());
        assert_eq!(program.and_gates() as usize, arity.program_bits() - arity.shape().gates);
        assert_eq!((Arity::of(&program).as_ref(), Shape::of(&program)), (Some(&arity), None));
        assert_eq!(Arity::of(&program.with_owner(0, 1).unwrap()), None);
    }
    assert_eq!(Arity::of(&universal(Goal::Size, Shape { inputs: 3, outputs: 2, gates: 7 })), None);
}

#[test]
fn texts_are_read_as_they_are_written() {
    for arity in several() {
        assert_eq!(arity.to_string().parse(), Ok(arity));
    }
    let arity = Arity::new(&[1, 2, 2], &[1, 2], 1).unwrap();
    assert_eq!(arity.to_string(), "u=3,v=1,gates=2,readers=1.2*2.1.2");
    for (text, why) in [
        ("u=3,v=1,gates=2", "are written as"),
        ("u=3,v=1,gates=2,readers=1,2", "are written as"),
        ("u=3,gates=2,v=1,readers=1*5", "are written as"),
        ("u=3,v=1,gates=2,readers=1*4", "readers of 4 wires are given, and inputs and gates are 5"),
        ("u=3,v=1,gates=2,readers=1*6", "more than 3 inputs"),
        ("u=3,v=1,gates=2,readers=1*99999999999", "is not a number"),
        ("u=3,v=1,gates=2,readers=", "is not a number"),
        ("u=3,v=1,gates=2,readers=1*3.0*2", "gate 0 has no reader"),
        ("u=3,v=1,gates=2,readers=0*3.1*2", "no input has a reader"),
        ("u=3,v=0,gates=2,readers=1*5", "1 to 131072 outputs, and this one 0"),
        ("u=3,v=1,gates=2,readers=131072*5", "places"),
        ("u=3,v=1,gates=2,readers=40000*5", "places"),
    ] {
        let refused = text.parse::<Arity>().unwrap_err();
        assert!(refused.contains(why), "{text}: {refused}");
    }
}

#[test]
fn rounded_numbers_are_no_smaller() {
    for arity in several() {
        let rounded = arity.rounded().unwrap();
        assert!(rounded.shape().gates >= arity.shape().gates && rounded.shape() == arity.shape().rounded());
        assert!(arity.readers().iter().zip(rounded.readers()).all(|(is, up)| is <= up && *up < 2 * is.max(&1)));
    }
}
