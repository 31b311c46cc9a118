//! The plain evaluator: what a circuit or a program computes, in the clear.
//!
//! It is the oracle of every protocol's tests, in two forms that share no code: [`eval_circuit`] walks a circuit's
//! gates as they stand, [`Plain`] is an engine and walks the lowered tape as a protocol does. It protects nothing.

use comity_core::{Bits, Error, Result};

use crate::circuit::{Circuit, Op};
use crate::engine::{Call, Engine};
use crate::party::{Owner, Recipients};

/// The output values of a circuit on these input values, gate by gate.
///
/// # Panics
/// If the inputs do not have the number and the widths of the circuit's input values.
pub fn eval_circuit(circuit: &Circuit, inputs: &[Bits]) -> Vec<Bits> {
    let widths = circuit.inputs().iter().map(|group| group.bits);
    assert!(inputs.iter().map(Bits::len).eq(widths), "the inputs have the widths of the circuit's input values");
    let mut wires = Vec::with_capacity(circuit.first_gate_wire() + circuit.gates().len());
    wires.extend([false, true]);
    inputs.iter().for_each(|bits| wires.extend(bits.iter()));
    for gate in circuit.gates() {
        let (a, b) = (wires[gate.a as usize], wires[gate.b as usize]);
        wires.push(match gate.op {
            Op::Xor => a ^ b,
            Op::And => a & b,
        });
    }
    let mut bits = circuit.output_wires().iter().map(|&wire| wires[wire as usize]);
    circuit.outputs().iter().map(|group| bits.by_ref().take(group.bits).collect()).collect()
}

/// The engine that computes in the clear, for all parties at once. A wire is its bit.
#[derive(Default)]
pub struct Plain {
    slots: Vec<bool>,
}

impl Plain {
    /// A new engine. It keeps nothing between calls.
    pub fn new() -> Plain {
        Plain::default()
    }
}

impl Engine for Plain {
    type Wire = bool;
    type Error = Error;

    fn input(&mut self, index: usize, owner: Owner, value: Option<&Bits>, _: usize, wires: &mut [bool]) -> Result<()> {
        let Some(value) = value else {
            return Err(Error::invalid_input(format!("input value {index}, of {owner}, is missing")));
        };
        if value.len() != wires.len() {
            let (is, takes) = (value.len(), wires.len());
            return Err(Error::invalid_input(format!(
                "input value {index}, of {owner}, has {is} bits where the program takes {takes}"
            )));
        }
        wires.iter_mut().zip(value.iter()).for_each(|(wire, bit)| *wire = bit);
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>, memory: &mut [bool]) -> Result<()> {
        let tape = call.circuit.tape();
        self.slots.resize(self.slots.len().max(tape.slots()), false);
        for t in 0..call.times {
            call.load(t, memory, &mut self.slots);
            tape.evaluate(&mut self.slots);
            call.store(t, &self.slots, memory);
        }
        Ok(())
    }

    fn reveal(&mut self, _index: usize, _to: Recipients, _: usize, wires: &[bool]) -> Result<Option<Bits>> {
        Ok(Some(wires.iter().copied().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_does_not_fit_is_refused() {
        let mut engine = Plain::new();
        let mut wires = [false; 3];
        assert!(engine.input(0, 1.into(), Some(&Bits::zeros(3)), 0, &mut wires).is_ok());
        let refused =
            |value: Option<&Bits>| Plain::new().input(0, 1.into(), value, 0, &mut [false; 3]).unwrap_err().to_string();
        assert_eq!(refused(None), "input value 0, of party 1, is missing");
        let want = "input value 0, of party 1, has 2 bits where the program takes 3";
        assert_eq!(refused(Some(&Bits::zeros(2))), want);
    }
}
