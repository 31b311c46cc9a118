//! The layered lowering: gates sorted by AND depth.
//!
//! Secret sharing pays a round for ANDs that wait for each other and next to nothing for their number, so a layer holds
//! all ANDs of one depth, however far apart they are in the circuit. Their output wires are numbered one after another,
//! which is how packed bits want them. Every wire keeps its number to the end: memory is a bit for each gate, and slots
//! are not reused.
//!
//! One pass, linear time.

use crate::{Circuit, Gate, Op};

/// A circuit in its layered lowering: the same gates in another order.
///
/// Wires are numbered as in a [`Circuit`]: zero, one, the input bits, then one for each gate of [`Layered::gates`].
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layered {
    input_bits: usize,
    gates: Vec<Gate>,
    layers: Vec<Layer>,
    outputs: Vec<u32>,
}

/// How many gates a layer has: first ANDs, which read only wires of earlier layers, then XORs, executed in order.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// AND gates: independent of one another, to be done in one round.
    pub ands: usize,
    /// XOR gates (NOT is one), in order.
    pub xors: usize,
}

impl Layered {
    /// Sorts a circuit's gates into layers: deterministic, the same on every machine.
    pub fn new(circuit: &Circuit) -> Layered {
        let first = circuit.first_gate_wire();
        let mut depths: Vec<u32> = Vec::with_capacity(circuit.gates().len());
        let mut layers = vec![Layer::default()];
        for gate in circuit.gates() {
            let of = |wire: u32| (wire as usize).checked_sub(first).map_or(0, |i| depths[i]);
            let below = of(gate.a).max(of(gate.b));
            let depth = below + u32::from(gate.op == Op::And);
            depths.push(depth);
            layers.resize(layers.len().max(depth as usize + 1), Layer::default());
            match gate.op {
                Op::And => layers[depth as usize].ands += 1,
                Op::Xor => layers[depth as usize].xors += 1,
            }
        }
        // Where the next AND and the next XOR of each layer goes.
        let mut next = Vec::with_capacity(layers.len());
        let mut end = 0;
        for layer in &layers {
            next.push([end, end + layer.ands]);
            end += layer.ands + layer.xors;
        }
        let mut numbers: Vec<u32> = (0..first as u32).collect();
        let mut gates = vec![Gate { op: Op::Xor, a: 0, b: 0 }; circuit.gates().len()];
        for (gate, &depth) in circuit.gates().iter().zip(&depths) {
            let place = &mut next[depth as usize][usize::from(gate.op == Op::Xor)];
            gates[*place] = Gate { op: gate.op, a: numbers[gate.a as usize], b: numbers[gate.b as usize] };
            numbers.push((first + *place) as u32);
            *place += 1;
        }
        let outputs = circuit.output_wires().iter().map(|&wire| numbers[wire as usize]).collect();
        Layered { input_bits: circuit.input_bits(), gates, layers, outputs }
    }

    /// The number of input bits, in wires 2...
    pub fn inputs(&self) -> usize {
        self.input_bits
    }

    /// All gates, layer after layer.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The layers in order, as many as the AND depth and one: the first one has XORs only.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The wire of each output bit.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::random::Rng;
    use crate::{Circuit, eval_circuit};

    #[test]
    fn layers_hold_all_ands_of_one_depth_and_compute_the_same() {
        let mut rng = Rng(1);
        for case in 0..300 {
            let outputs = rng.below(30);
            let circuit = rng.circuit(&[1 + case % 20], 5 * case, 1 + case, &[outputs]);
            let layered = Layered::new(&circuit);
            assert_eq!(layered.layers().len() as u64, circuit.counts().and_depth + 1);
            assert_eq!(layered.layers()[0].ands, 0);
            assert!(layered.layers()[1..].iter().all(|layer| layer.ands > 0));
            let mut at = 0;
            for layer in layered.layers() {
                let (ands, rest) = layered.gates()[at..].split_at(layer.ands);
                let earlier = (2 + layered.inputs() + at) as u32;
                assert!(ands.iter().all(|g| g.op == Op::And && g.a < earlier && g.b < earlier));
                assert!(rest[..layer.xors].iter().all(|g| g.op == Op::Xor));
                at += layer.ands + layer.xors;
            }
            assert_eq!(at, circuit.gates().len());
            let parts = (circuit.inputs().to_vec(), circuit.outputs().to_vec());
            let sorted = Circuit::new(parts.0, parts.1, layered.gates().to_vec(), layered.outputs().to_vec()).unwrap();
            let inputs = rng.values(&[1 + case % 20]);
            assert_eq!(eval_circuit(&sorted, &inputs), eval_circuit(&circuit, &inputs));
        }
    }

    #[test]
    fn golden_digests_pin_the_layers() {
        // If this fails on purpose, raise the version of the lowering.
        let layered = Layered::new(&Rng(2).circuit(&[30], 5_000, 200, &[50]));
        let mut hasher = blake3::Hasher::new();
        let gates = layered.gates().iter().flat_map(|g| [u32::from(g.op == Op::And), g.a, g.b]);
        let layers = layered.layers().iter().flat_map(|layer| [layer.ands as u32, layer.xors as u32]);
        for number in gates.chain(layers).chain(layered.outputs().iter().copied()) {
            hasher.update(&number.to_le_bytes());
        }
        assert_eq!(
            hasher.finalize().to_hex().as_str(),
            "67095d6c09c8f5d91dc6a62e772e7d640769cde3c5a39b04a9339fba6294fdf3"
        );
    }
}
