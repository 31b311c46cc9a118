//! Straight-line programs: small circuits that were searched for, as tables.

use comity_circuit::{Builder, Op, Wire};

/// The operation AND.
pub(super) const A: Op = Op::And;
/// The operation XOR.
pub(super) const X: Op = Op::Xor;

/// A straight-line program: wires 0.. are the inputs, then comes one for each gate.
pub(super) struct Straight {
    pub(super) gates: &'static [(Op, u8, u8)],
    pub(super) outputs: &'static [u8],
}

impl Straight {
    /// Adds the program's gates to a circuit and returns its outputs.
    pub(super) fn build(&self, b: &mut Builder, inputs: &[Wire]) -> Vec<Wire> {
        let mut wires = inputs.to_vec();
        for &(op, x, y) in self.gates {
            let (x, y) = (wires[usize::from(x)], wires[usize::from(y)]);
            wires.push(if op == A { b.and(x, y) } else { b.xor(x, y) });
        }
        self.outputs.iter().map(|&output| wires[usize::from(output)]).collect()
    }
}
