use comity_core::Bits;

use super::*;
use crate::builder::{Builder, Wire};
use crate::circuit::Op;
use crate::lower::Lowered;
use crate::plain::eval_circuit;
use crate::random::Rng;

/// Runs the layers in the clear, all ANDs of a layer at once, and checks what the type promises.
fn eval(layered: &Layered, inputs: &[Bits]) -> Vec<bool> {
    let mut slots = vec![false; layered.slots()];
    slots[1] = true;
    for (slot, bit) in slots[2..].iter_mut().zip(inputs.iter().flat_map(Bits::iter)) {
        *slot = bit;
    }
    let mut rest = layered.gates();
    for layer in layered.layers() {
        let (ands, xors);
        (ands, rest) = rest.split_at(layer.ands);
        (xors, rest) = rest.split_at(layer.xors);
        let written: std::collections::HashSet<usize> = ands.iter().map(|gate| gate.out()).collect();
        assert_eq!(written.len(), ands.len(), "each AND writes a slot of its own");
        assert!(ands.iter().all(|gate| !written.contains(&gate.a()) && !written.contains(&gate.b())));
        for gate in ands {
            slots[gate.out()] = slots[gate.a()] & slots[gate.b()];
        }
        for gate in xors {
            assert!(gate.out() != gate.a() && gate.out() != gate.b() && gate.out() > 1);
            slots[gate.out()] = slots[gate.a()] ^ slots[gate.b()];
        }
    }
    assert!(rest.is_empty());
    layered.outputs().iter().map(|&slot| slots[slot as usize]).collect()
}

fn check(circuit: &Circuit, layered: &Layered, rng: &mut Rng) {
    let counts = circuit.counts();
    assert_eq!(layered.layers().iter().map(|layer| layer.ands as u64).sum::<u64>(), counts.and);
    assert_eq!(layered.gates().len(), circuit.gates().len());
    assert_eq!(layered.layers()[0].ands, 0);
    assert!(layered.layers()[1..].iter().all(|layer| layer.ands > 0));
    let widths: Vec<usize> = circuit.inputs().iter().map(|group| group.bits).collect();
    for _ in 0..3 {
        let inputs = rng.values(&widths);
        let wanted: Vec<bool> = eval_circuit(circuit, &inputs).iter().flat_map(Bits::iter).collect();
        assert!(eval(layered, &inputs) == wanted);
    }
}

#[test]
fn layers_hold_all_ands_of_one_depth_and_compute_the_same() {
    let mut rng = Rng(1);
    for case in 0..300 {
        let outputs = rng.below(30);
        let circuit = rng.circuit(&[1 + case % 20], 5 * case, 1 + case, &[outputs]);
        // From the circuit itself, and from its tape.
        for layered in [&Layered::new(&circuit), Lowered::new(&circuit).layered()] {
            check(&circuit, layered, &mut rng);
            assert_eq!(layered.layers().len() as u64, circuit.counts().and_depth + 1);
        }
        for window in [1, 16, 128] {
            check(&circuit, &Layered::with_window(&circuit, window), &mut rng);
        }
    }
}

#[test]
fn slots_are_reused() {
    // A chain: one value lives. Without a window, side branches of the whole chain live at once.
    let mut b = Builder::new();
    let x = b.input("x", 4);
    let mut y = x[0];
    for i in 0..50_000 {
        let side = b.and(x[i % 4], x[(i + 1) % 4]);
        let next = b.and(y, x[i % 3]);
        y = b.xor(next, side);
    }
    b.output("y", &[y]);
    let chain = b.finish();
    for window in [16, 256, 4096] {
        let slots = Layered::with_window(&chain, window).slots();
        assert!(slots <= 10 + 2 * window, "{slots} slots in a window of {window}");
    }
}

#[test]
fn outputs_may_be_constants_inputs_and_repetitions() {
    let mut b = Builder::new();
    let x = b.input("x", 3);
    let y = b.and(x[0], x[1]);
    b.output("z", &[Wire::ONE, x[2], y, y, Wire::ZERO, x[2]]);
    let circuit = b.finish();
    let inputs = [[true, true, false].into_iter().collect()];
    assert_eq!(eval(Lowered::new(&circuit).layered(), &inputs), [true, false, true, true, false, false]);
}

#[test]
fn golden_digests_pin_the_layers() {
    // If this fails on purpose, raise the version of the lowering.
    let mut rng = Rng(2);
    let mut hasher = blake3::Hasher::new();
    for (reach, window) in [(200, WINDOW), (2_000, 1024)] {
        let circuit = rng.circuit(&[30], 5_000, reach, &[50]);
        assert!(circuit.gates().iter().any(|gate| gate.op == Op::And));
        for layered in [&Layered::with_window(&circuit, window), Lowered::new(&circuit).layered()] {
            let gates = layered.gates().iter().flat_map(|g| [g.a(), g.b(), g.out()]);
            let layers = layered.layers().iter().flat_map(|layer| [layer.ands, layer.xors]);
            let outputs = layered.outputs().iter().map(|&slot| slot as usize);
            for number in [layered.slots()].into_iter().chain(gates).chain(layers).chain(outputs) {
                hasher.update(&(number as u32).to_le_bytes());
            }
        }
    }
    assert_eq!(hasher.finalize().to_hex().as_str(), "47c135ed9ad8ee5da80ce0ece9659f78600b1b27ef7072031413189db14a1ec4");
}
