use comity_core::Bits;
use proptest::prelude::*;

use super::*;
use crate::builder::{Builder, Wire};
use crate::plain::eval_circuit;
use crate::random::Rng;

/// Runs the tape in the clear.
fn eval_lowered(lowered: &Lowered, inputs: &[Bits]) -> Vec<Bits> {
    let mut slots = vec![false; lowered.tape().slots().max(2 + lowered.inputs())];
    slots[2..].iter_mut().zip(inputs.iter().flat_map(Bits::iter)).for_each(|(slot, bit)| *slot = bit);
    lowered.tape().evaluate(&mut slots);
    let mut outputs = lowered.outputs().iter().map(|&slot| slots[slot as usize]);
    lowered.output_widths().iter().map(|&bits| outputs.by_ref().take(bits).collect()).collect()
}

fn check(circuit: &Circuit, window: usize, rng: &mut Rng) {
    let lowered = Lowered::with_window(circuit, window);
    let counts = circuit.counts();
    assert_eq!(lowered.tape().ands().len() as u64, counts.and);
    assert_eq!(lowered.tape().xors().len() as u64, counts.xor + counts.not);
    assert_eq!(lowered.inputs(), circuit.input_bits());
    for _ in 0..4 {
        let inputs = rng.values(lowered.input_widths());
        assert_eq!(eval_lowered(&lowered, &inputs), eval_circuit(circuit, &inputs));
    }
}

/// The most wires that live at once if the gates run in the circuit's order.
fn live(circuit: &Circuit) -> usize {
    let first = circuit.first_gate_wire();
    let mut last = vec![None; first + circuit.gates().len()];
    for (i, gate) in circuit.gates().iter().enumerate() {
        last[gate.a as usize] = Some(i);
        last[gate.b as usize] = Some(i);
    }
    for &wire in circuit.output_wires() {
        last[wire as usize] = Some(usize::MAX);
    }
    let (mut now, mut most) = (first, first);
    for (i, gate) in circuit.gates().iter().enumerate() {
        now += 1;
        most = most.max(now);
        now -= usize::from(last[gate.a as usize] == Some(i));
        now -= usize::from(gate.a != gate.b && last[gate.b as usize] == Some(i));
        now -= usize::from(last[first + i].is_none());
    }
    most
}

fn ripple_adder(bits: usize) -> Circuit {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", bits), b.input("y", bits));
    let mut carry = Wire::ZERO;
    let mut sum = Vec::new();
    for (x, y) in x.into_iter().zip(y) {
        let (p, q) = (b.xor(x, carry), b.xor(y, carry));
        sum.push(b.xor(p, y));
        let both = b.and(p, q);
        carry = b.xor(both, carry);
    }
    b.output("sum", &sum);
    b.finish()
}

/// Layer upon layer of 3,000 independent ANDs.
fn wide(layers: usize) -> Circuit {
    let mut b = Builder::new();
    let mut x = b.input("x", 3000);
    for layer in 1..=layers {
        x = (0..x.len())
            .map(|i| {
                let y = b.xor(x[(i + layer) % x.len()], x[(i + 7 * layer) % x.len()]);
                b.and(x[i], y)
            })
            .collect();
    }
    b.output("x", &x);
    b.finish()
}

proptest! {
    #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(400) })]

    #[test]
    fn the_tape_computes_what_the_circuit_does(
        seed in any::<u64>(), inputs in prop::collection::vec(0usize..20, 0..4), gates in 0usize..600,
        reach in 1usize..200, outputs in prop::collection::vec(0usize..20, 0..4), window in 0u32..11,
    ) {
        let mut rng = Rng(seed);
        let circuit = rng.circuit(&inputs, gates, reach, &outputs);
        check(&circuit, 1 << window, &mut rng);
    }
}

#[test]
fn circuits_larger_than_the_window_compute_the_same() {
    let mut rng = Rng(1);
    for (gates, reach) in [(3 * WINDOW, 3), (3 * WINDOW, 300), (5 * WINDOW, 2 * WINDOW)] {
        let circuit = rng.circuit(&[100, 200], gates, reach, &[64, 100]);
        check(&circuit, WINDOW, &mut rng);
    }
    check(&wide(6), WINDOW, &mut rng);
    check(&ripple_adder(20_000), WINDOW, &mut rng);
}

#[test]
fn independent_ands_share_a_batch_and_wide_layers_are_cut() {
    let lowered = Lowered::new(&wide(2));
    let batches: Vec<u32> = lowered.tape().segments().iter().map(|s| s.ands).collect();
    let layer: Vec<u32> = [vec![BATCH; 11], vec![3000 - 11 * BATCH]].concat();
    assert_eq!(batches, layer.repeat(2));

    // Thirty-two adders one after another in the circuit run side by side.
    let adder = ripple_adder(32);
    let mut b = Builder::new();
    let x = b.input("x", 32 * 64);
    for pair in x.chunks(64) {
        let sum = b.call(&adder, &[pair[..32].to_vec(), pair[32..].to_vec()]);
        b.output("sum", &sum[0]);
    }
    let lowered = Lowered::new(&b.finish());
    assert_eq!(lowered.tape().segments().iter().filter(|s| s.ands > 0).count(), 31);
    assert!(lowered.tape().segments().iter().take(31).all(|s| s.ands == 32));
}

#[test]
fn slots_are_reused() {
    let mut rng = Rng(2);
    // A chain: one value lives.
    let mut b = Builder::new();
    let x = b.input("x", 4);
    let mut y = x[0];
    for i in 0..50_000 {
        y = if i % 3 == 0 { b.and(y, x[i % 4]) } else { b.xor(y, x[i % 4]) };
        y = b.not(y);
    }
    b.output("y", &[y]);
    let chain = b.finish();
    assert!(chain.gates().len() > 1000);
    assert!(Lowered::new(&chain).tape().slots() <= 10);
    // In general, at most the window more than live in the circuit's own order, and one batch's reads.
    for window in [1, 16, 256, 4096] {
        for reach in [10, 100, 1000] {
            let circuit = rng.circuit(&[64], 30_000, reach, &[64]);
            let (slots, live) = (Lowered::with_window(&circuit, window).tape().slots(), live(&circuit));
            assert!(slots <= live + window + window.min(2 * BATCH as usize), "{slots} slots, {live} live, {window}");
        }
    }
}

#[test]
fn outputs_may_be_constants_inputs_and_repetitions() {
    let mut b = Builder::new();
    let x = b.input("x", 3);
    let y = b.and(x[0], x[1]);
    b.output("z", &[Wire::ONE, x[2], y, y, Wire::ZERO, x[2]]);
    let lowered = Lowered::new(&b.finish());
    let inputs = [[true, true, false].into_iter().collect()];
    let outputs: Vec<bool> = eval_lowered(&lowered, &inputs)[0].iter().collect();
    assert_eq!(outputs, [true, false, true, true, false, false]);
    assert_eq!(lowered.outputs()[..2], [1, 4]);
}

/// The digest of everything that a party's tweaks and slots depend on.
fn digest(lowered: &Lowered) -> String {
    let tape = lowered.tape();
    let mut numbers = vec![tape.slots(), tape.segments().len()];
    numbers.extend(tape.segments().iter().flat_map(|s| [s.xors as usize, s.ands as usize]));
    numbers.extend(tape.xors().iter().chain(tape.ands()).flat_map(|g| [g.a(), g.b(), g.out()]));
    numbers.extend(lowered.outputs().iter().map(|&slot| slot as usize));
    let bytes: Vec<u8> = numbers.iter().flat_map(|&n| (n as u32).to_le_bytes()).collect();
    blake3::hash(&bytes).to_hex().to_string()
}

#[test]
fn golden_digests_pin_the_lowering() {
    // If this fails on purpose, raise VERSION: programs of the old lowering do not run against the new one.
    assert_eq!(VERSION, 1);
    let mut rng = Rng(3);
    let golden = [
        (rng.circuit(&[5], 1_000, 20, &[7, 0, 3]), "950870b224f05cf885c31e73356d146c555fbc87584f607aa04808893060ca4c"),
        (
            rng.circuit(&[64, 64], 50_000, 500, &[128]),
            "f478e51b1713474eff5078721dfa2deb3a59db2ed0356a926b1aca80d9fe4424",
        ),
        (rng.circuit(&[30], 30_000, 2, &[40]), "a4addf868d8738f9612163cd000df41a1d4efa0d01bc40defe9806b6e6d2c767"),
        (
            rng.circuit(&[8_000], 20_000, 20_000, &[1_000]),
            "84efff715e53ba3f4a04ef50f6acfbaa1b90e970bef0aae964e9f52c8df1ba53",
        ),
    ];
    for (circuit, want) in golden {
        assert_eq!(digest(&Lowered::new(&circuit)), want);
    }
}

/// The drawing at the head of the module.
#[test]
fn a_full_adder_becomes_the_slots_of_the_drawing() {
    let gate = |op, a, b| Gate { op, a, b };
    let gates =
        vec![gate(Op::Xor, 2, 4), gate(Op::Xor, 3, 4), gate(Op::And, 5, 6), gate(Op::Xor, 7, 4), gate(Op::Xor, 5, 3)];
    let group = |bits| vec![Group { name: String::new(), bits }];
    let adder = Circuit::new(group(3), group(2), gates, vec![9, 8]).unwrap();
    let lowered = Lowered::new(&adder);
    let slots = |gates: &[TapeGate]| gates.iter().map(|gate| [gate.out(), gate.a(), gate.b()]).collect::<Vec<_>>();
    assert_eq!(slots(lowered.tape().xors()), [[2, 2, 4], [5, 3, 4], [3, 2, 3], [4, 6, 4]]);
    assert_eq!(slots(lowered.tape().ands()), [[6, 2, 5]]);
    let segments: Vec<_> = lowered.tape().segments().iter().map(|segment| [segment.xors, segment.ands]).collect();
    assert_eq!(segments, [[3, 1], [1, 0]]);
    assert_eq!(lowered.outputs(), [3, 4]);
}
