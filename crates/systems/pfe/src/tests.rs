use comity_circuit::random::Rng;
use comity_circuit::{Circuit, Goal, Program, eval_many};
use comity_core::Bits;
use comity_library::universal::universal;
use proptest::prelude::*;

use crate::colour::colours;
use crate::{Function, Shape};

/// That the universal program of a shape computes what a circuit does.
fn computes(circuit: &Circuit, widths: &[usize], known: &[bool], larger: usize, rng: &mut Rng) {
    let program = Program::from_circuit(circuit.clone()).expect("a circuit is a program");
    let values = rng.values(widths);
    let own: Vec<Option<Bits>> = values.iter().zip(known).map(|(value, &known)| known.then(|| value.clone())).collect();
    let function = Function::new(&program, &own).expect("a small function");
    let shape = Shape { gates: function.shape().gates + larger, ..function.shape() };
    let bits = function.program(shape).expect("it fits");
    assert_eq!(bits.len(), shape.program_bits());
    let fresh: Vec<Vec<Bits>> = (0..4).map(|_| rng.values(widths)).collect();
    let all = |fresh: &Vec<Bits>| -> Vec<Bits> {
        own.iter().zip(fresh).map(|(own, fresh)| own.as_ref().unwrap_or(fresh).clone()).collect()
    };
    let unknown = |fresh: &Vec<Bits>| -> Vec<Bits> {
        let rest = own.iter().zip(fresh).filter(|(own, _)| own.is_none());
        vec![bits.clone(), rest.flat_map(|(_, value)| value.iter()).collect()]
    };
    let expected = eval_many(&program, &fresh.iter().map(all).collect::<Vec<_>>()).expect("the inputs fit");
    let universal = universal(Goal::Size, shape);
    let computed = eval_many(&universal, &fresh.iter().map(unknown).collect::<Vec<_>>()).expect("the inputs fit");
    for (expected, computed) in expected.iter().zip(&computed) {
        assert!(expected.iter().flat_map(Bits::iter).eq(computed[0].iter()), "{shape:?}");
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

/// Every graph on few poles goes through: the first pole an input, the last one an output, each gate any function of any two earlier poles.
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

/// Numbers as large as they may be, of which no circuit is evaluated here: more loops than a program has in one another.
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

/// A function of tens of thousands of gates, and how many they are.
#[test]
fn aes_is_computed_with_no_more_gates_than_were_counted() {
    let circuit = comity_library::find("aes128").expect("a built-in");
    computes(&circuit, &[128, 128], &[false, false], 100, &mut Rng(1));
    let program = Program::from_circuit(circuit).expect("a circuit is a program");
    let function = Function::new(&program, &[None, None]).expect("it fits");
    assert!(function.shape().gates <= 39_000 && function.copies() <= 11_108, "{:?}", function.shape());
}
