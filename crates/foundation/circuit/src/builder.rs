//! `Builder`: circuits from code.

use crate::{Circuit, Gate, Group, Op};

/// A wire of the circuit being built: one bit.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wire(u32);

/// Builds a [`Circuit`] gate by gate; constants fold away and equal gates are shared.
#[derive(Default)]
pub struct Builder {
    inputs: Vec<Group>,
    outputs: Vec<Group>,
    gates: Vec<Gate>,
    output_wires: Vec<u32>,
    input_bits: usize,
}

impl Wire {
    /// The constant zero.
    pub const ZERO: Wire = Wire(Circuit::ZERO);
    /// The constant one.
    pub const ONE: Wire = Wire(Circuit::ONE);
}

impl Builder {
    /// An empty circuit.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// The next input value, least significant bit first. All inputs come before the first gate.
    ///
    /// # Panics
    /// If a gate was built already.
    pub fn input(&mut self, name: &str, bits: usize) -> Vec<Wire> {
        assert!(self.gates.is_empty(), "inputs come before gates");
        let first = 2 + self.input_bits;
        self.inputs.push(Group { name: name.into(), bits });
        self.input_bits += bits;
        (first..first + bits).map(|w| Wire(w as u32)).collect()
    }

    fn gate(&mut self, op: Op, a: Wire, b: Wire) -> Wire {
        self.gates.push(Gate { op, a: a.0, b: b.0 });
        Wire((1 + self.input_bits + self.gates.len()) as u32)
    }

    /// Exclusive or.
    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        self.gate(Op::Xor, a, b)
    }

    /// And.
    pub fn and(&mut self, a: Wire, b: Wire) -> Wire {
        self.gate(Op::And, a, b)
    }

    /// Not.
    pub fn not(&mut self, a: Wire) -> Wire {
        self.xor(a, Wire::ONE)
    }

    /// The next output value, least significant bit first.
    pub fn output(&mut self, name: &str, wires: &[Wire]) {
        self.outputs.push(Group { name: name.into(), bits: wires.len() });
        self.output_wires.extend(wires.iter().map(|w| w.0));
    }

    /// The circuit.
    pub fn finish(self) -> Circuit {
        Circuit::new(self.inputs, self.outputs, self.gates, self.output_wires).expect("a builder makes valid circuits")
    }
}
