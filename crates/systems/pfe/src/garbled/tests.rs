use comity_channel::{Counted, MemoryChannel, Mesh, Recorded};
use comity_circuit::random::Rng;
use comity_circuit::{Builder, Goal, Program, Recipients};
use comity_core::{Backend, Bits, Params, PartyId};
use comity_library::universal::arity::Arity;
use comity_library::universal::{Shape, universal};
use comity_protocol::{Costing, Options, Protocol, Talk};
use comity_testing::Pair;
use comity_testing::laws::{Laws, Setting, bits, check, deviations_in, rng, run};

use super::{Universal, YaoPfe};

fn setting(session: u64) -> Setting {
    Setting { params: Params::default(), backend: Backend::detect(), options: &[], session }
}

fn shape(inputs: usize, outputs: usize, gates: usize) -> Shape {
    Shape { inputs, outputs, gates }
}

fn rows(shape: Shape) -> usize {
    Universal::Of(shape).rows()
}

/// A universal program, and a random function and input: any bits are some function.
fn random(shape: Shape, seed: u128) -> (Program, [Bits; 2]) {
    let mut rng = rng(seed);
    (universal(Goal::Size, shape), [bits(shape.program_bits(), &mut rng), bits(shape.inputs, &mut rng)])
}

/// The same, with public numbers of readers.
fn shown(seed: u64) -> (Arity, Program, [Bits; 2]) {
    let mut of = Rng(seed);
    let [inputs, gates, outputs] = [1 + of.below(12), 1 + of.below(80), 1 + of.below(6)];
    let some = |of: &mut Rng, least: usize| (least + of.below(4)) as u32;
    let mut inputs: Vec<u32> = (0..inputs).map(|_| some(&mut of, 0)).collect();
    inputs[0] += 1;
    let gates: Vec<u32> = (0..gates).map(|_| some(&mut of, 1)).collect();
    let arity = Arity::new(&inputs, &gates, outputs).unwrap();
    let mut rng = rng(seed.into());
    let values = [bits(arity.program_bits(), &mut rng), bits(inputs.len(), &mut rng)];
    (arity.clone(), arity.program(Goal::Size), values)
}

#[test]
fn every_function_of_public_arities_is_computed_as_its_universal_program_says() {
    for seed in 0..40 {
        for to in [Recipients::All, Recipients::only(0), Recipients::only(1)] {
            let (_, program, inputs) = shown(seed);
            check(&YaoPfe, 2, &program.with_recipients(0, to).unwrap(), &inputs, setting(1));
        }
    }
}

#[test]
fn every_function_is_computed_as_its_universal_program_says() {
    let shapes = [
        (1, 1, 1),
        (1, 1, 2),
        (2, 3, 5),
        (5, 1, 10),
        (1, 7, 9),
        (9, 1, 6),
        (3, 30, 31),
        (30, 3, 31),
        (16, 8, 100),
        (17, 9, 231),
        (4, 4, 505),
        (20, 40, 1000),
        (1, 1, 4200),
    ];
    for (seed, (inputs, outputs, gates)) in (0..).zip(shapes) {
        for to in [Recipients::All, Recipients::only(0), Recipients::only(1)] {
            let (program, inputs) = random(shape(inputs, outputs, gates), seed);
            check(&YaoPfe, 2, &program.with_recipients(0, to).unwrap(), &inputs, setting(1));
        }
    }
}

#[test]
fn shapes_are_found_by_their_programs() {
    for (inputs, outputs, gates) in [(1, 1, 1), (1, 1, 2), (7, 3, 20), (96, 1, 640), (5, 5, 1 << 20)] {
        let shape = shape(inputs, outputs, gates);
        for goal in [Goal::Size, Goal::Depth] {
            let program = universal(goal, shape).with_recipients(0, Recipients::only(1)).unwrap();
            assert_eq!(Shape::of(&program), Some(shape));
            // Whose owner is another party is another program.
            assert_eq!(Shape::of(&program.clone().with_owner(0, 1).unwrap()), None);
        }
    }
    let bits = shape(7, 3, 20).program_bits();
    let mut b = Builder::new();
    b.input("function", bits);
    let x = b.input("x", 7);
    b.output("y", &x[..3]);
    let other = Program::from_circuit(b.finish()).unwrap();
    assert_eq!(Shape::of(&other), None);
    let options = Options::new(YaoPfe.card());
    let refused = YaoPfe.fits(&other, &options, Params::default()).unwrap_err().to_string();
    assert!(refused.contains("universal programs"), "{refused}");
}

#[test]
fn more_gates_take_more_bits() {
    for (inputs, outputs) in [(1, 1), (3, 5), (64, 1), (1, 64), (100, 100)] {
        for gates in 1..600 {
            let bits = |gates| shape(inputs, outputs, gates).program_bits();
            assert!(bits(gates) < bits(gates + 1), "{inputs}, {outputs}, {gates}");
        }
    }
}

/// Runs both sides, and says what each sent.
fn sent(program: &Program, inputs: &[Bits], setting: Setting) -> [Vec<u8>; 2] {
    let side = |ch: &mut MemoryChannel, id| {
        let ch = Recorded::new(ch, 64 << 20);
        let recorder = ch.recorder();
        let mut net = Mesh::of_two(PartyId(id), ch);
        run(&YaoPfe, &mut net, program, inputs, setting).unwrap();
        recorder.recording().sent
    };
    let (owner, other) = Pair::run(|ch| side(ch, 0), |ch| side(ch, 1));
    [owner, other]
}

#[test]
fn bytes_are_what_the_docs_and_the_plan_say() {
    let shape = shape(100, 9, 777);
    let (program, inputs) = random(shape, 4);
    // A row for each bit of the function, but three for the four of a gate.
    let rows = shape.program_bits() - shape.gates;
    says(shape, rows, &program, &inputs);
    let (arity, program, inputs) = shown(3);
    says(arity.shape(), arity.program_bits() - arity.shape().gates, &program, &inputs);
    // An output has no switch, and other bits are alike.
    assert_eq!(arity.program_bits() - 4 * arity.shape().gates, arity.switches());
}

/// What is sent, and what the plan says of it.
fn says(shape: Shape, rows: usize, program: &Program, inputs: &[Bits]) {
    for to in [Recipients::All, Recipients::only(1)] {
        let program = program.clone().with_recipients(0, to).unwrap();
        let mut counts = [(0, 0); 2];
        let [first, second] = &mut counts;
        let count = |ch: &mut MemoryChannel, id, counts: &mut (u64, u64)| {
            let ch = Counted::new(ch);
            let counter = ch.counter();
            run(&YaoPfe, &mut Mesh::of_two(PartyId(id), ch), &program, inputs, setting(1)).unwrap();
            *counts = (counter.counts().sent, counter.counts().rounds);
        };
        Pair::run(|ch| count(ch, 0, first), |ch| count(ch, 1, second));
        let y = shape.outputs.div_ceil(8) as u64;
        assert_eq!(counts[0].0, 128 * 32 + 16 * rows as u64 + y);
        let x = 128 * shape.inputs.div_ceil(8) as u64;
        assert_eq!(counts[1].0, 32 + x + if to.includes(PartyId(0)) { y } else { 0 });
        let (mut talk, options) = (Talk::new(2), Options::new(YaoPfe.card()));
        let of = Costing { program: &program, options: &options, params: Params::default(), parties: 2 };
        YaoPfe.costs(&of, &mut talk).unwrap();
        let planned = [0, 1].map(|party| (talk.sent(PartyId(party)), talk.rounds(PartyId(party))));
        assert_eq!(planned, counts);
        assert!(talk.is_exact());
    }
}

#[test]
fn a_file_of_aes_takes_36_megabytes_at_most() {
    // 31,924 gates and 14,539 that copy.
    assert!(16 * rows(shape(256, 128, 46_463)) < 34_000_000);
}

#[test]
fn every_backend_sends_the_same_bytes() {
    let (program, inputs) = random(shape(33, 5, 300), 7);
    let mut all = Backend::available().into_iter();
    let of = |backend| sent(&program, &inputs, Setting { backend, ..setting(1) });
    let first = of(all.next().unwrap());
    for backend in all {
        assert!(of(backend) == first, "{backend}");
    }
}

/// A universal program, three functions of it, and an input.
fn three(program: &Program, x: &Bits) -> [[Bits; 2]; 3] {
    let len = program.inputs()[0].bits;
    let some = |seed| bits(len, &mut rng(seed));
    [some(1), some(2), Bits::zeros(len)].map(|function| [function, x.clone()])
}

/// Both ways of being universal: by a shape, and by public numbers of readers, which say no more than they are.
fn both() -> [(usize, Program, Bits); 2] {
    let shape = shape(20, 4, 150);
    let (program, [_, x]) = random(shape, 1);
    let (arity, shown, [_, also]) = shown(5);
    [(rows(shape), program, x), (Universal::OfArity(arity).rows(), shown, also)]
}

#[test]
fn two_functions_of_a_shape_send_as_much_and_what_is_sent_is_drawn() {
    for (count, program, x) in both() {
        let functions = three(&program, &x);
        let [first, second, third] = functions.each_ref().map(|inputs| sent(&program, inputs, setting(1)));
        let lengths = |sent: &[Vec<u8>; 2]| [sent[0].len(), sent[1].len()];
        assert!(lengths(&first) == lengths(&second) && lengths(&first) == lengths(&third));
        // What party 1 sends does not depend on the function until the output is there.
        let before = first[1].len() - 1;
        assert!(first[1][..before] == second[1][..before]);
        // The same bits under other coins: no row is as it was.
        let again = sent(&program, &functions[0], setting(2));
        let rows = |sent: &[Vec<u8>; 2]| -> Vec<[u8; 16]> { sent[0][128 * 32..].as_chunks().0[..count].to_vec() };
        assert!(rows(&first).iter().zip(rows(&again)).all(|(one, other)| *one != other));
        let mut distinct = rows(&first);
        distinct.sort_unstable();
        assert!(distinct.windows(2).all(|two| two[0] != two[1]), "no row comes twice");
    }
}

/// Whichever way a switch goes and whatever a gate is, its rows are the same but for delta, which masks hide:
/// so the rows of one function are as likely as those of another, for the evaluator and whoever listens.
#[test]
fn rows_of_two_functions_under_the_same_coins_differ_by_delta_or_not_at_all() {
    for (count, program, x) in both() {
        let [one, other, _] = three(&program, &x);
        let [first, second] = [one, other].map(|inputs| -> Vec<u128> {
            let sent = &sent(&program, &inputs, setting(1))[0];
            let rows = sent[128 * 32..][..16 * count].as_chunks::<16>().0;
            rows.iter().map(|row| u128::from_le_bytes(*row)).collect()
        });
        let mut differences: Vec<u128> = first.iter().zip(&second).map(|(one, other)| one ^ other).collect();
        let same = differences.iter().filter(|difference| **difference == 0).count();
        assert!(same > count / 4 && same < count * 3 / 4, "{same} of {count}");
        differences.sort_unstable();
        differences.dedup();
        assert_eq!(differences.len(), 2, "nothing, and delta");
    }
}

#[test]
fn what_a_peer_breaks_ends_in_an_error_that_a_peer_can_cause() {
    let (program, inputs) = random(shape(9, 3, 40), 5);
    let (_, shown, also) = shown(2);
    deviations_in(&YaoPfe, &Laws { deviations: 200, ..Laws::USUAL }, &shown, &also);
    deviations_in(&YaoPfe, &Laws { deviations: 400, ..Laws::USUAL }, &program, &inputs);
}
