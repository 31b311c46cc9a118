//! `Held`: where wires are while a circuit is lowered.

use crate::circuit::Circuit;
use crate::lower::schedule::NONE;

/// The number of reads of a wire that is read to the end: constants and outputs.
pub(crate) const KEPT: u32 = u32::MAX;

/// Where a wire's value is, and how many reads of it are still to come.
#[derive(Clone, Copy)]
pub(crate) struct Held {
    pub(crate) slot: u32,
    pub(crate) reads: u32,
}

impl Held {
    /// Every wire of a circuit, those of the inputs in their slots; and the slots of inputs that nobody reads.
    pub(crate) fn all(circuit: &Circuit) -> (Vec<Held>, Vec<u32>) {
        let (gates, first) = (circuit.gates(), circuit.first_gate_wire());
        let mut wires: Vec<Held> = Vec::with_capacity(first + gates.len());
        wires.extend((0..first as u32).map(|slot| Held { slot, reads: 0 }));
        wires.resize(first + gates.len(), Held { slot: NONE, reads: 0 });
        for gate in gates {
            for wire in [gate.a, gate.b] {
                // Two for each gate: far from `KEPT`.
                wires[wire as usize].reads += 1;
            }
        }
        for &wire in [Circuit::ZERO, Circuit::ONE].iter().chain(circuit.output_wires()) {
            wires[wire as usize].reads = KEPT;
        }
        let free = (0..first as u32).rev().filter(|&w| wires[w as usize].reads == 0).collect();
        (wires, free)
    }
}

/// Without a branch, since no branch predictor can tell which read of a wire is the last.
pub(crate) fn push_if(list: &mut Vec<u32>, slot: u32, condition: bool) {
    let len = list.len() + usize::from(condition);
    list.push(slot);
    list.truncate(len);
}
