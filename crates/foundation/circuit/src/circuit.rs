//! `Circuit`: static gates over wires.

use comity_core::Tape;

use crate::note::{ArgBit, Note, WordOp};
use crate::table::LookupTable;

/// The operation of a [`Gate`]. NOT is an XOR with [`Circuit::ONE`]; a copy is no gate at all.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Op {
    /// Exclusive or: free in garbling and in secret sharing.
    Xor,
    /// AND: what a protocol pays for.
    And,
}

/// One gate. Its output wire is implied: gate `i` of a circuit drives wire `first_gate_wire() + i`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Gate {
    /// The operation that the gate computes.
    pub op: Op,
    /// The first input wire.
    pub a: u32,
    /// The second input wire.
    pub b: u32,
}

/// A named group of wires that belong together: one input value or one output value, least significant bit first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Group {
    /// A name for people: `key`, `block`, `sum`.
    pub name: String,
    /// The number of bits.
    pub bits: usize,
}

/// A static circuit in single-assignment form.
///
/// Wires are numbered: 0 is the constant zero, 1 the constant one, then the bits of the input values in order, then
/// one wire for each gate. A gate reads only wires with smaller numbers. Output bits name any wires.
///
/// Beside the gates stand [notes](Note), which say what words the gates compute. An engine may ignore them.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Circuit {
    inputs: Vec<Group>,
    outputs: Vec<Group>,
    gates: Vec<Gate>,
    output_wires: Vec<u32>,
    notes: Vec<Note>,
}

/// The counts of a circuit's gates of each kind, and its depth.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// AND gates.
    pub and: u64,
    /// XOR gates of two wires that are not constant.
    pub xor: u64,
    /// XOR gates with the constant one.
    pub not: u64,
    /// The most AND gates on any path.
    pub and_depth: u64,
}

/// The reason why a circuit was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum CircuitError {
    /// A gate reads a wire that is not driven before it.
    #[error("gate {gate} reads wire {wire}, which no input or earlier gate drives")]
    Unordered {
        /// The gate's index.
        gate: usize,
        /// The wire that it reads.
        wire: u32,
    },
    /// An output names a wire that does not exist.
    #[error("output bit {0} names a wire that does not exist")]
    Output(usize),
    /// The output groups do not add up to the output wires, or there are more than [`Circuit::MAX_WIRES`].
    #[error("the sizes do not add up to the output wires, or to more than 2^28 - 1 wires")]
    Sizes,
}

impl Circuit {
    /// The wire of the constant zero.
    pub const ZERO: u32 = 0;
    /// The wire of the constant one.
    pub const ONE: u32 = 1;
    /// The most wires, including the constants and the inputs, so that every circuit fits a [`Tape`]. A
    /// larger computation is a [`Program`](crate::Program) that calls smaller circuits.
    pub const MAX_WIRES: usize = Tape::MAX_SLOTS as usize;

    /// A circuit of these parts, without notes.
    ///
    /// # Errors
    /// [`CircuitError`] where the promises of the type do not hold.
    pub fn new(
        inputs: Vec<Group>,
        outputs: Vec<Group>,
        gates: Vec<Gate>,
        output_wires: Vec<u32>,
    ) -> Result<Circuit, CircuitError> {
        let sum = |groups: &[Group]| groups.iter().try_fold(0usize, |sum, group| sum.checked_add(group.bits));
        let wires = sum(&inputs).and_then(|bits| bits.checked_add(2)?.checked_add(gates.len()));
        if wires.is_none_or(|wires| wires > Circuit::MAX_WIRES) || sum(&outputs) != Some(output_wires.len()) {
            return Err(CircuitError::Sizes);
        }
        let circuit = Circuit { inputs, outputs, gates, output_wires, notes: Vec::new() };
        let first = circuit.first_gate_wire();
        for (i, gate) in circuit.gates.iter().enumerate() {
            for wire in [gate.a, gate.b] {
                if wire as usize >= first + i {
                    return Err(CircuitError::Unordered { gate: i, wire });
                }
            }
        }
        match circuit.output_wires.iter().position(|&w| w as usize >= first + circuit.gates.len()) {
            Some(i) => Err(CircuitError::Output(i)),
            None => Ok(circuit),
        }
    }

    /// The input values, in order.
    pub fn inputs(&self) -> &[Group] {
        &self.inputs
    }

    /// The output values, in order.
    pub fn outputs(&self) -> &[Group] {
        &self.outputs
    }

    /// The gates, in order.
    pub fn gates(&self) -> &[Gate] {
        &self.gates
    }

    /// The wire of each output bit, value after value.
    pub fn output_wires(&self) -> &[u32] {
        &self.output_wires
    }

    /// The notes of the words that gates compute, in the order of the gates.
    pub fn notes(&self) -> &[Note] {
        &self.notes
    }

    /// The circuit with these notes, which are known to be true.
    pub(crate) fn noted(self, notes: Vec<Note>) -> Circuit {
        Circuit { notes, ..self }
    }

    /// The circuit's gates alone.
    #[must_use]
    pub fn without_notes(self) -> Circuit {
        self.noted(Vec::new())
    }

    /// Whether the other circuit has the same values and gates; notes are not compared.
    pub fn same_gates(&self, other: &Circuit) -> bool {
        self.inputs == other.inputs
            && self.outputs == other.outputs
            && self.gates == other.gates
            && self.output_wires == other.output_wires
    }

    /// The table that the circuit looks up, if it does nothing else: its one input value is the index, its
    /// one output value the row.
    pub fn table(&self) -> Option<&LookupTable> {
        let ([_], [_], [note]) = (&self.inputs[..], &self.outputs[..], &self.notes[..]) else { return None };
        let WordOp::Lookup(table) = &note.op else { return None };
        let index = (2..self.first_gate_wire() as u32).map(ArgBit::Wire);
        let row = self.output_wires.iter().map(|&wire| Some(wire));
        (note.args[0].iter().copied().eq(index) && note.outs.iter().copied().eq(row)).then_some(table)
    }

    /// The gates, the output wires and the notes.
    pub(crate) fn into_gates(self) -> (Vec<Gate>, Vec<u32>, Vec<Note>) {
        (self.gates, self.output_wires, self.notes)
    }

    /// The bits of all input values together.
    pub fn input_bits(&self) -> usize {
        self.inputs.iter().map(|g| g.bits).sum()
    }

    /// The wire that gate 0 drives: two constants and the input bits come before it.
    pub fn first_gate_wire(&self) -> usize {
        2 + self.input_bits()
    }

    /// Gate counts and AND depth, in one pass.
    pub fn counts(&self) -> Counts {
        let first = self.first_gate_wire();
        let mut depth: Vec<u32> = Vec::with_capacity(self.gates.len());
        let (mut counts, mut deepest) = (Counts::default(), 0);
        for gate in &self.gates {
            let of = |wire: u32| (wire as usize).checked_sub(first).map_or(0, |i| depth[i]);
            let at = of(gate.a).max(of(gate.b)) + u32::from(gate.op == Op::And);
            depth.push(at);
            deepest = deepest.max(at);
            match gate.op {
                Op::And => counts.and += 1,
                Op::Xor => counts.not += u64::from(gate.a.min(gate.b) <= 1),
            }
        }
        counts.xor = self.gates.len() as u64 - counts.and - counts.not;
        counts.and_depth = u64::from(deepest);
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn group(bits: usize) -> Vec<Group> {
        vec![Group { name: "x".into(), bits }]
    }

    #[test]
    fn what_breaks_a_promise_is_refused() {
        let gate = |a, b| vec![Gate { op: Op::And, a, b }];
        let new = Circuit::new;
        assert!(new(group(2), group(1), gate(2, 3), vec![4]).is_ok());
        let unordered = Err(CircuitError::Unordered { gate: 0, wire: 4 });
        assert_eq!(new(group(2), group(1), gate(2, 4), vec![4]), unordered);
        assert_eq!(new(group(2), group(1), gate(4, 2), vec![4]), unordered);
        assert_eq!(new(group(2), group(1), gate(2, 3), vec![5]), Err(CircuitError::Output(0)));
        assert_eq!(new(group(2), group(2), gate(2, 3), vec![4]), Err(CircuitError::Sizes));
        assert_eq!(new(group(usize::MAX), group(1), gate(2, 3), vec![4]), Err(CircuitError::Sizes));
        let twice = [group(1 << 63), group(1 << 63)].concat();
        assert_eq!(new(twice, group(1), gate(2, 3), vec![4]), Err(CircuitError::Sizes));
        assert_eq!(new(group(Circuit::MAX_WIRES - 2), group(1), gate(2, 3), vec![4]), Err(CircuitError::Sizes));
    }

    #[test]
    fn counts_tell_gates_apart_and_follow_the_deepest_path() {
        let gate = |op, a, b| Gate { op, a, b };
        let gates = vec![
            gate(Op::And, 2, 3),
            gate(Op::Xor, 4, 3),
            gate(Op::And, 5, 2),
            gate(Op::Xor, 1, 2),
            gate(Op::And, 2, 7),
        ];
        let circuit = Circuit::new(group(2), group(1), gates, vec![6]).unwrap();
        assert_eq!(circuit.counts(), Counts { and: 3, xor: 1, not: 1, and_depth: 2 });
    }
}
