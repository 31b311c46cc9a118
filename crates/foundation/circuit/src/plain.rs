//! The plain evaluator: what a circuit or a program computes, in the clear.
//!
//! It is the oracle of every protocol's tests, in two forms that share no code: [`eval_circuit`] walks a circuit's
//! gates as they stand, [`Plain`] is an engine and walks the lowered tape as a protocol does. It protects nothing.

use comity_core::{Bits, Error, Result};

use crate::circuit::{Circuit, Op};
use crate::engine::{Call, Engine, Put, Shown};
use crate::memory::Memory;
use crate::program::Program;

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
    memory: Memory<bool>,
    slots: Vec<bool>,
}

impl Plain {
    /// A new engine.
    pub fn new() -> Plain {
        Plain::default()
    }
}

impl Engine for Plain {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.memory = Memory::of(program)?;
        Ok(())
    }

    fn input(&mut self, put: Put, value: Option<&Bits>) -> Result<()> {
        let Put { index, owner, bits, .. } = put;
        let Some(value) = value else {
            return Err(Error::invalid_input(format!("input value {index}, of {owner}, is missing")));
        };
        if value.len() != bits {
            let is = value.len();
            return Err(Error::invalid_input(format!(
                "input value {index}, of {owner}, has {is} bits where the program takes {bits}"
            )));
        }
        self.memory[put.wires()].iter_mut().zip(value.iter()).for_each(|(wire, bit)| *wire = bit);
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        let tape = call.circuit.tape();
        self.slots.resize(self.slots.len().max(tape.slots()), false);
        for t in 0..call.times {
            call.load(t, &self.memory, &mut self.slots);
            tape.evaluate(&mut self.slots);
            call.store(t, &self.slots, &mut self.memory);
        }
        Ok(())
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        Ok(Some(self.memory[shown.wires()].iter().copied().collect()))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;

    #[test]
    fn an_input_that_does_not_fit_is_refused() {
        let mut b = Builder::new();
        let x = b.input("x", 3);
        b.output("x", &x);
        let mut engine = Plain::new();
        engine.begin(&Program::from_circuit(b.finish()).unwrap()).unwrap();
        let put = Put { index: 0, owner: 1.into(), start: 0, bits: 3 };
        assert!(engine.input(put, Some(&Bits::zeros(3))).is_ok());
        let mut refused = |value: Option<&Bits>| engine.input(put, value).unwrap_err().to_string();
        assert_eq!(refused(None), "input value 0, of party 1, is missing");
        let want = "input value 0, of party 1, has 2 bits where the program takes 3";
        assert_eq!(refused(Some(&Bits::zeros(2))), want);
    }
}
