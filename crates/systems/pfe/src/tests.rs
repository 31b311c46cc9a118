use comity_circuit::random::Rng;
use comity_circuit::{Circuit, Goal, Program, eval_many};
use comity_core::Bits;
use comity_library::universal::{colours, universal};
use proptest::prelude::*;

use crate::{Arity, Construction, Function, Shape};

/// That the universal program of a shape computes what a circuit does.
fn computes(circuit: &Circuit, widths: &[usize], known: &[bool], larger: usize, rng: &mut Rng) {
    let program = Program::from_circuit(circuit.clone()).expect("a circuit is a program");
    let values = rng.values(widths);
    let own: Vec<Option<Bits>> = values.iter().zip(known).map(|(value, &known)| known.then(|| value.clone())).collect();
    let function = Function::new(&program, &own).expect("a small function");
    let shape = Shape { gates: function.shape().gates + larger, ..function.shape() };
    // Large circuits are programs of loops alone.
    let constructions = if shape.gates > 5000 { &Construction::ALL[..1] } else { &Construction::ALL };
    let fresh: Vec<Vec<Bits>> = (0..4).map(|_| rng.values(widths)).collect();
    let all = |fresh: &Vec<Bits>| -> Vec<Bits> {
        own.iter().zip(fresh).map(|(own, fresh)| own.as_ref().unwrap_or(fresh).clone()).collect()
    };
    let expected = eval_many(&program, &fresh.iter().map(all).collect::<Vec<_>>()).expect("the inputs fit");
    for &construction in constructions {
        let bits = function.program_of(shape, construction).expect("it fits");
        assert_eq!(bits.len(), construction.program_bits(shape));
        let unknown = |fresh: &Vec<Bits>| -> Vec<Bits> {
            let rest = own.iter().zip(fresh).filter(|(own, _)| own.is_none());
            vec![bits.clone(), rest.flat_map(|(_, value)| value.iter()).collect()]
        };
        let universal = comity_library::program(&construction.program_name(shape)).expect("a built-in");
        let computed = eval_many(&universal, &fresh.iter().map(unknown).collect::<Vec<_>>()).expect("the inputs fit");
        for (expected, computed) in expected.iter().zip(&computed) {
            assert!(expected.iter().flat_map(Bits::iter).eq(computed[0].iter()), "{construction:?}, {shape:?}");
        }
    }
    // With public numbers of readers, and with larger ones.
    let arity = function.arity().expect("a small function");
    let more: Vec<u32> = arity.readers().iter().map(|readers| readers + rng.below(3) as u32).collect();
    let (inputs, gates) = more.split_at(arity.shape().inputs);
    let more = Arity::new(inputs, gates, arity.shape().outputs).expect("a small function");
    for arity in [arity.rounded().expect("a small function"), arity, more] {
        let bits = function.arity_program(&arity).expect("it fits");
        assert_eq!(bits.len(), arity.program_bits());
        let of = |fresh: &Vec<Bits>| -> Vec<Bits> {
            let rest = own.iter().zip(fresh).filter(|(own, _)| own.is_none());
            vec![bits.clone(), rest.flat_map(|(_, value)| value.iter()).collect()]
        };
        let program = arity.program(Goal::Size);
        let computed = eval_many(&program, &fresh.iter().map(of).collect::<Vec<_>>()).expect("the inputs fit");
        for (expected, computed) in expected.iter().zip(&computed) {
            assert!(expected.iter().flat_map(Bits::iter).eq(computed[0].iter()), "{arity}");
        }
    }
    // Without copies, where that is no long program.
    let shape = Shape { gates: function.direct_shape().gates + larger, ..shape };
    if shape.gates < 100 {
        let bits = function.direct_program(shape).expect("it fits");
        let of = |fresh: &Vec<Bits>| -> Vec<Bits> {
            let rest = own.iter().zip(fresh).filter(|(own, _)| own.is_none());
            vec![bits.clone(), rest.flat_map(|(_, value)| value.iter()).collect()]
        };
        let direct = comity_library::universal::direct::program(Goal::Size, shape);
        let computed = eval_many(&direct, &fresh.iter().map(of).collect::<Vec<_>>()).expect("the inputs fit");
        for (expected, computed) in expected.iter().zip(&computed) {
            assert!(expected.iter().flat_map(Bits::iter).eq(computed[0].iter()), "direct, {shape:?}");
        }
    }
}

proptest! {
    #[test]
    fn universal_circuits_compute_any_function(
        seed: u64, inputs in 1..20usize, gates in 0..200usize, outputs in 1..12usize, larger in 0..40usize,
    ) {
        let mut rng = Rng(seed);
        let circuit = rng.circuit(&[inputs], gates, 1 + gates / 3, &[outputs]);
        computes(&circuit, &[inputs], &[false], larger, &mut rng);
    }

    #[test]
    fn what_the_owner_knows_is_a_part_of_the_function(seed: u64, gates in 0..100usize) {
        let mut rng = Rng(seed);
        let widths = [5, 9, 3];
        let circuit = rng.circuit(&widths, gates, 40, &[4, 1]);
        computes(&circuit, &widths, &[true, false, rng.word() & 1 == 1], 0, &mut rng);
    }

    #[test]
    fn no_two_edges_of_a_colour_meet(seed: u64, nodes in 1..60usize) {
        let mut rng = Rng(seed);
        let (mut leaving, mut entering) = (vec![0; nodes], vec![0; nodes]);
        let mut edges = Vec::new();
        for _ in 0..rng.below(2 * nodes + 1) {
            let (from, to) = (rng.below(nodes), rng.below(nodes));
            if leaving[from] < 2 && entering[to] < 2 {
                leaving[from] += 1;
                entering[to] += 1;
                edges.push((from as u32, to as u32));
            }
        }
        let colours = colours(nodes, &edges);
        for side in [|edge: &(u32, u32)| edge.0, |edge: &(u32, u32)| edge.1] {
            let mut seen: Vec<_> = edges.iter().map(side).zip(&colours).collect();
            seen.sort_unstable();
            prop_assert!(seen.windows(2).all(|pair| pair[0] != pair[1]));
        }
    }
}

/// Every graph on few poles goes through: the first pole an input, the last one an output, each gate any
/// function of any two earlier poles.
#[test]
fn every_small_function_is_computed() {
    let mut shapes = 0;
    for (inputs, gates) in [(1usize, 1usize), (1, 2), (2, 2), (1, 3), (3, 2)] {
        // Which two earlier poles each gate reads, and whether it is an AND.
        let choices: usize = (0..gates).map(|gate| (inputs + gate).pow(2) * 2).product();
        for mut choice in 0..choices {
            let mut b = comity_circuit::Builder::new();
            let mut wires = b.input("x", inputs);
            for _ in 0..gates {
                let mut pick = |of: usize| {
                    let picked = choice % of;
                    choice /= of;
                    picked
                };
                let (a, c) = (wires[pick(wires.len())], wires[pick(wires.len())]);
                wires.push(if pick(2) == 0 { b.and(a, c) } else { b.xor(a, c) });
            }
            let last = [wires[wires.len() - 1], wires[wires.len() / 2]];
            b.output("y", &last);
            computes(&b.finish(), &[inputs], &[false], choice % 3, &mut Rng(choice as u64));
            shapes += 1;
        }
    }
    assert!(shapes > 1000);
}

/// Numbers as large as they may be, of which no circuit is evaluated here: more loops than a program has in
/// one another.
#[test]
fn the_largest_shapes_are_programs() {
    for (inputs, outputs, gates) in
        [(Shape::MAX, Shape::MAX, Shape::MAX), (1, 1, Shape::MAX), (Shape::MAX, 1, 1), (1, Shape::MAX, 1)]
    {
        let shape = Shape { inputs, outputs, gates };
        let program = universal(Goal::Size, shape);
        assert_eq!(program.inputs()[0].bits, shape.program_bits());
        // A bit is an AND but for the four of a gate, which are three.
        assert_eq!(program.and_gates(), (shape.program_bits() - gates) as u64);
    }
}

/// Numbers of readers that are too small are named, and the first that is.
#[test]
fn public_numbers_of_readers_have_to_have_room_for_the_function() {
    let mut b = comity_circuit::Builder::new();
    let x = b.input("x", 2);
    let both = b.and(x[0], x[1]);
    let one = b.xor(both, x[0]);
    b.output("y", &[both, one]);
    let function = Function::new(&Program::from_circuit(b.finish()).expect("a program"), &[None]).expect("it fits");
    let arity = function.arity().expect("a small function");
    assert_eq!(arity.to_string(), "u=2,v=2,gates=2,readers=2.1.2.1");
    let refused = |inputs: &[u32], gates: &[u32], outputs| {
        let arity = Arity::new(inputs, gates, outputs).expect("a small circuit");
        function.arity_program(&arity).unwrap_err().to_string()
    };
    assert!(refused(&[1, 1], &[2, 1], 2).contains("input bit 0 of the function has 2 readers, and the shape allows 1"));
    assert!(refused(&[2, 1], &[1, 1], 2).contains("gate 0 of the function has 2 readers, and the shape allows 1"));
    assert!(refused(&[2, 1], &[2], 2).contains("2 gates without copies, 1 more than the shape's 1"));
    assert!(refused(&[2, 1], &[2, 1], 1).contains("2 output bits, and the shape has 1"));
}

/// A function of tens of thousands of gates, and how many they are.
#[test]
fn aes_is_computed_with_fewer_gates_than_with_copies() {
    let circuit = comity_library::find("aes128").expect("a built-in");
    computes(&circuit, &[128, 128], &[false, false], 100, &mut Rng(1));
    let program = Program::from_circuit(circuit).expect("a circuit is a program");
    let function = Function::new(&program, &[None, None]).expect("it fits");
    let (gates, copies, added) = (function.shape().gates, function.copies(), function.added());
    assert_eq!((gates - added, copies), (27_892, 11_108));
    assert!(added <= copies, "{added} gates were added");
    let arity = function.arity().expect("it fits");
    assert_eq!((arity.shape().gates, arity.places().len(), arity.switches()), (27_892, 67_404, 1_500_104));
    assert_eq!(Construction::Liu.switches(function.shape()), 1_642_888);
}

/// A bit of a program that is wrong sends an edge elsewhere, or is another function of a gate: of a function
/// whose every wire matters that is seen.
#[test]
fn wrong_ways_are_seen_in_what_is_computed() {
    let mut b = comity_circuit::Builder::new();
    let x = b.input("x", 6);
    // The sum of all bits, and each AND of neighbours, so that each wire is read by several.
    let sum = x[1..].iter().fold(x[0], |sum, &bit| b.xor(sum, bit));
    let ands: Vec<_> = x.windows(2).map(|two| b.and(two[0], two[1])).collect();
    b.output("y", &[&[sum], &ands[..]].concat());
    let function = Function::new(&Program::from_circuit(b.finish()).expect("a program"), &[None]).expect("it fits");
    let all: Vec<Bits> = (0..64u128).map(|x| Bits::from_u128(x, 6).expect("it fits")).collect();
    for construction in Construction::ALL {
        let program = comity_library::program(&construction.program_name(function.shape())).expect("a built-in");
        let computed = |bits: &Bits| {
            let values: Vec<Vec<Bits>> = all.iter().map(|x| vec![bits.clone(), x.clone()]).collect();
            eval_many(&program, &values).expect("the inputs fit")
        };
        let bits = function.program_of(function.shape(), construction).expect("it fits");
        let right = computed(&bits);
        let wrong = |at: &usize| {
            let mut bits = bits.clone();
            bits.set(*at, !bits.get(*at));
            computed(&bits) != right
        };
        let seen = (0..bits.len()).filter(wrong).count();
        assert!(2 * seen > bits.len(), "{construction:?}: {seen} of {}", bits.len());
    }
    let arity = function.arity().expect("a small function");
    let program = arity.program(Goal::Size);
    let bits = function.arity_program(&arity).expect("it fits");
    let computed = |bits: &Bits| {
        let values: Vec<Vec<Bits>> = all.iter().map(|x| vec![bits.clone(), x.clone()]).collect();
        eval_many(&program, &values).expect("the inputs fit")
    };
    let right = computed(&bits);
    let wrong = |at: &usize| computed(&(0..bits.len()).map(|bit| bits.get(bit) != (bit == *at)).collect()) != right;
    let seen = (0..bits.len()).filter(wrong).count();
    assert!(2 * seen > bits.len(), "public arities: {seen} of {}", bits.len());
}
