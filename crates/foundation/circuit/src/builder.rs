//! `Builder`: circuits from code.
//!
//! Gates are simplified as they are built, so that generators can be written without special cases: constants fold,
//! a gate that exists already is shared, and [`Builder::finish`] drops what no output needs. Sharing looks through
//! negations: of `x & y`, `!x & y`, `x & !y` and `!x & !y` at most one costs an AND, since the others follow from it
//! by XORs. Nothing else is rearranged, so a generator's gate counts are what its author wrote, or less.
//!
//! The result depends on the calls alone: the same calls give the same circuit on every machine. A gate costs
//! constant time and about 24 bytes while building, 44 where many gates read the same wires.
//!
//! A builder carries the [`Goal`] of its circuit and knows the depth of each wire. It makes nothing of them itself:
//! functions that build words do, and they [note](Builder::noted) which words.

mod noted;
mod shared;

use crate::circuit::{Circuit, Gate, Group, Op};
use crate::goal::Goal;
use noted::{Finished, Recorder};
use shared::{Key, Shared};

pub use noted::Results;

/// A wire of the circuit being built: one bit. It belongs to the builder that made it; the constants to all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Wire(u32);

/// Builds a [`Circuit`] gate by gate; constants fold away and equal gates are shared.
///
/// Methods that build gates panic if the circuit gets more than [`Circuit::MAX_WIRES`].
#[derive(Default)]
pub struct Builder {
    inputs: Vec<Group>,
    outputs: Vec<Group>,
    gates: Vec<Gate>,
    output_wires: Vec<u32>,
    input_bits: usize,
    shared: Shared,
    goal: Goal,
    /// The AND depth of each gate.
    depths: Vec<u32>,
    recorder: Recorder,
    most: MostWires,
    /// Whether a bounded builder had no room for a gate.
    full: bool,
}

/// The most wires of a builder.
struct MostWires(usize);

impl Default for MostWires {
    fn default() -> MostWires {
        MostWires(Circuit::MAX_WIRES)
    }
}

impl Wire {
    /// The constant zero.
    pub const ZERO: Wire = Wire(Circuit::ZERO);
    /// The constant one.
    pub const ONE: Wire = Wire(Circuit::ONE);

    /// The constant wire of this value.
    pub const fn constant(value: bool) -> Wire {
        if value { Wire::ONE } else { Wire::ZERO }
    }

    /// The value of a constant wire.
    pub const fn as_constant(self) -> Option<bool> {
        match self {
            Wire::ZERO => Some(false),
            Wire::ONE => Some(true),
            _ => None,
        }
    }
}

impl Builder {
    /// An empty circuit.
    pub fn new() -> Builder {
        Builder::default()
    }

    /// An empty circuit for a goal: functions that build words take the form that suits it. [`Builder::new`]
    /// is for size.
    pub fn for_goal(goal: Goal) -> Builder {
        Builder { goal, ..Builder::default() }
    }

    /// The goal of the circuit.
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// The most AND gates on any path to a wire.
    pub fn depth(&self, wire: Wire) -> u32 {
        (wire.0 as usize).checked_sub(self.first_gate_wire()).map_or(0, |gate| self.depths[gate])
    }

    /// Whether a gate drives the wire, which then is neither a constant nor an input bit.
    pub fn is_gate(&self, wire: Wire) -> bool {
        wire.0 as usize >= self.first_gate_wire()
    }

    /// The next input value, least significant bit first. All inputs come before the first gate.
    ///
    /// # Panics
    /// If a gate was built already, or the circuit gets more than [`Circuit::MAX_WIRES`].
    pub fn input(&mut self, name: &str, bits: usize) -> Vec<Wire> {
        assert!(self.gates.is_empty(), "inputs come before gates");
        let first = self.first_gate_wire();
        assert!(bits <= Circuit::MAX_WIRES - first, "{TOO_LARGE}");
        self.inputs.push(Group { name: name.into(), bits });
        self.input_bits += bits;
        (first..first + bits).map(|w| Wire(w as u32)).collect()
    }

    /// The number of gates built so far, including those that no output needs: at least as many as
    /// [`Builder::finish`] keeps.
    pub fn gates(&self) -> usize {
        self.gates.len()
    }

    /// The exclusive or of two wires: at most one XOR gate.
    pub fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        match (a, b) {
            (Wire::ZERO, other) | (other, Wire::ZERO) => return other,
            (Wire::ONE, other) | (other, Wire::ONE) => return self.not(other),
            _ => {}
        }
        let ((a, x, p), (b, y, q)) = self.ordered(a, b);
        if x == y {
            return Wire::constant(p != q);
        }
        if let Some(wire) = self.cancel(x, y, p != q).or_else(|| self.cancel(y, x, p != q)) {
            return wire;
        }
        match self.find(Op::Xor, x, y) {
            Some((wire, p0, q0)) => self.not_if(wire, p ^ q ^ p0 ^ q0),
            None if p && q => self.push(Op::Xor, x, y),
            None => self.push(Op::Xor, a, b),
        }
    }

    /// The AND of two wires: at most one AND gate.
    pub fn and(&mut self, a: Wire, b: Wire) -> Wire {
        match (a, b) {
            (Wire::ZERO, _) | (_, Wire::ZERO) => return Wire::ZERO,
            (Wire::ONE, other) | (other, Wire::ONE) => return other,
            _ => {}
        }
        let ((a, x, p), (b, y, q)) = self.ordered(a, b);
        if x == y {
            return if p == q { a } else { Wire::ZERO };
        }
        if let Some(wire) = self.absorb(a, b).or_else(|| self.absorb(b, a)) {
            return wire;
        }
        let Some((wire, p0, q0)) = self.find(Op::And, x, y) else {
            return self.push(Op::And, a, b);
        };
        // The gate that is there computes (x ^ p0)(y ^ q0); for f and g, !f g = g ^ fg and !f !g = !(f ^ g ^ fg).
        match (p == p0, q == q0) {
            (true, true) => wire,
            (false, true) => self.xor(b, wire),
            (true, false) => self.xor(a, wire),
            (false, false) => {
                let sum = self.xor(a, b);
                let either = self.xor(sum, wire);
                self.not(either)
            }
        }
    }

    /// The negation of a wire: at most one XOR gate, with the constant one.
    pub fn not(&mut self, a: Wire) -> Wire {
        if let Some(value) = a.as_constant() {
            return Wire::constant(!value);
        }
        let (base, negated) = self.literal(a);
        if negated {
            return base;
        }
        match self.find(Op::Xor, Wire::ONE, a) {
            Some((wire, ..)) => wire,
            None => self.push(Op::Xor, Wire::ONE, a),
        }
    }

    /// The OR of two wires: at most one AND, and NOTs. Where there is an AND of them already, or of their negations,
    /// two XORs instead of another one.
    pub fn or(&mut self, a: Wire, b: Wire) -> Wire {
        let (a, b) = (self.not(a), self.not(b));
        let neither = self.and(a, b);
        self.not(neither)
    }

    /// The exclusive nor, the equality of two bits: at most two XOR gates.
    pub fn xnor(&mut self, a: Wire, b: Wire) -> Wire {
        let differ = self.xor(a, b);
        self.not(differ)
    }

    /// The negated AND of two wires: at most one AND and one XOR gate.
    pub fn nand(&mut self, a: Wire, b: Wire) -> Wire {
        let both = self.and(a, b);
        self.not(both)
    }

    /// The negated OR of two wires: at most one AND, and NOTs, as [`Builder::or`].
    pub fn nor(&mut self, a: Wire, b: Wire) -> Wire {
        let either = self.or(a, b);
        self.not(either)
    }

    /// `a` if `select` is one, else `b`: at most one AND and two XOR gates.
    pub fn mux(&mut self, select: Wire, a: Wire, b: Wire) -> Wire {
        let differ = self.xor(a, b);
        let chosen = self.and(select, differ);
        self.xor(chosen, b)
    }

    /// Inlines a circuit: the wires of its output values where its input values are these wires.
    ///
    /// # Panics
    /// If the arguments do not have the number and the widths of the circuit's input values.
    pub fn call(&mut self, circuit: &Circuit, args: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
        let widths = circuit.inputs().iter().map(|g| g.bits);
        assert!(args.iter().map(Vec::len).eq(widths), "the arguments have the widths of the circuit's input values");
        let mut wires = vec![Wire::ZERO, Wire::ONE];
        wires.reserve(circuit.input_bits() + circuit.gates().len());
        wires.extend(args.iter().flatten());
        for gate in circuit.gates() {
            let (a, b) = (wires[gate.a as usize], wires[gate.b as usize]);
            wires.push(match gate.op {
                Op::Xor => self.xor(a, b),
                Op::And => self.and(a, b),
            });
        }
        let mut bits = circuit.output_wires().iter().map(|&w| wires[w as usize]);
        circuit.outputs().iter().map(|group| bits.by_ref().take(group.bits).collect()).collect()
    }

    /// The next output value, least significant bit first.
    pub fn output(&mut self, name: &str, wires: &[Wire]) {
        self.outputs.push(Group { name: name.into(), bits: wires.len() });
        self.output_wires.extend(wires.iter().map(|w| w.0));
    }

    /// The circuit: the gates that outputs depend on, in the order in which they were built, and the notes
    /// that are left with them.
    pub fn finish(self) -> Circuit {
        let first = self.first_gate_wire();
        let mut needed = vec![false; first + self.gates.len()];
        for &wire in &self.output_wires {
            needed[wire as usize] = true;
        }
        for (i, gate) in self.gates.iter().enumerate().rev() {
            if needed[first + i] {
                needed[gate.a as usize] = true;
                needed[gate.b as usize] = true;
            }
        }
        let mut renamed: Vec<u32> = (0..first as u32).collect();
        let mut gates = Vec::with_capacity(needed[first..].iter().filter(|&&n| n).count());
        for (i, gate) in self.gates.iter().enumerate() {
            renamed.push((first + gates.len()) as u32);
            if needed[first + i] {
                gates.push(Gate { op: gate.op, a: renamed[gate.a as usize], b: renamed[gate.b as usize] });
            }
        }
        let output_wires = self.output_wires.iter().map(|&w| renamed[w as usize]).collect();
        let finished = Finished { goal: self.goal, first, needed: &needed, renamed: &renamed };
        let gadgets = self.recorder.gadgets;
        let (notes, exact) = self.recorder.finish(&finished, gates.len());
        let circuit =
            Circuit::new(self.inputs, self.outputs, gates, output_wires).expect("a builder makes valid circuits");
        match gadgets {
            Some(gadgets) if !exact && !notes.is_empty() => circuit.noted(notes).with_notes_that_pass(gadgets),
            _ => circuit.noted(notes),
        }
    }

    fn first_gate_wire(&self) -> usize {
        2 + self.input_bits
    }

    /// The gate that drives a wire, if it is no input or constant.
    fn gate(&self, wire: Wire) -> Option<Gate> {
        (wire.0 as usize).checked_sub(self.first_gate_wire()).map(|i| self.gates[i])
    }

    /// A wire as another one that is no NOT, and whether it is that one negated.
    fn literal(&self, wire: Wire) -> (Wire, bool) {
        match self.gate(wire) {
            Some(Gate { op: Op::Xor, a: Circuit::ONE, b }) => (Wire(b), true),
            _ => (wire, false),
        }
    }

    /// The two wires with their literals, in the order of the latter.
    fn ordered(&self, a: Wire, b: Wire) -> ((Wire, Wire, bool), (Wire, Wire, bool)) {
        let ((x, p), (y, q)) = (self.literal(a), self.literal(b));
        if x <= y { ((a, x, p), (b, y, q)) } else { ((b, y, q), (a, x, p)) }
    }

    fn not_if(&mut self, wire: Wire, negate: bool) -> Wire {
        if negate { self.not(wire) } else { wire }
    }

    /// `x ^ y ^ negate` where `x` is an XOR of `y` and something else.
    fn cancel(&mut self, x: Wire, y: Wire, negate: bool) -> Option<Wire> {
        let Some(Gate { op: Op::Xor, a, b }) = self.gate(x) else { return None };
        let ((u, p), (v, q)) = (self.literal(Wire(a)), self.literal(Wire(b)));
        let (rest, negate) = match y {
            _ if u == y => (Wire(b), negate ^ p),
            _ if v == y => (Wire(a), negate ^ q),
            _ => return None,
        };
        Some(self.not_if(rest, negate))
    }

    /// `a & b` where `a` is an AND of `b`, or of its negation, and something else.
    fn absorb(&self, a: Wire, b: Wire) -> Option<Wire> {
        let Some(Gate { op: Op::And, a: u, b: v }) = self.gate(a) else { return None };
        if u == b.0 || v == b.0 {
            return Some(a);
        }
        let (base, negated) = self.literal(b);
        let opposite = |w| self.literal(Wire(w)) == (base, !negated);
        (opposite(u) || opposite(v)).then_some(Wire::ZERO)
    }

    /// The gate over these literals, whatever their signs, and the signs with which it reads them.
    fn find(&mut self, op: Op, x: Wire, y: Wire) -> Option<(Wire, bool, bool)> {
        let mut signs = (false, false);
        let index = self.shared.find(Key::new(op, x, y), |i| {
            let gate = self.gates[i];
            let ((u, p), (v, q)) = (self.literal(Wire(gate.a)), self.literal(Wire(gate.b)));
            signs = (p, q);
            gate.op == op && u == x && v == y
        })?;
        self.recorder.shares(index);
        Some((Wire((self.first_gate_wire() + index) as u32), signs.0, signs.1))
    }

    fn push(&mut self, op: Op, a: Wire, b: Wire) -> Wire {
        let (index, wire) = (self.gates.len(), self.first_gate_wire() + self.gates.len());
        if wire >= self.most.0 {
            return self.refuse();
        }
        let (x, y) = (self.literal(a).0, self.literal(b).0);
        self.depths.push(self.depth(a).max(self.depth(b)) + u32::from(op == Op::And));
        self.gates.push(Gate { op, a: a.0, b: b.0 });
        self.shared.insert(Key::new(op, x, y), index, wire);
        Wire(wire as u32)
    }

    /// A gate for which there is no room.
    #[cold]
    fn refuse(&mut self) -> Wire {
        assert!(self.most.0 < Circuit::MAX_WIRES, "{TOO_LARGE}");
        self.full = true;
        Wire::ZERO
    }
}

const TOO_LARGE: &str = "a circuit has at most 2^28 - 1 wires; call a smaller one repeatedly in a Program";

#[cfg(test)]
mod tests;
