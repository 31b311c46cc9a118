//! One circuit of a whole program: all of its calls, one after another.

use comity_core::Bits;

use super::Program;
use crate::builder::{Builder, Wire};
use crate::circuit::Circuit;
use crate::engine::{Call, Engine, Put, Shown};
use crate::memory::{Memory, NoMemory};
use crate::run::{RunError, run};

/// The most gates of a program that becomes one circuit: some gigabytes while it is built.
const MOST_GATES: u64 = 1 << 26;

/// The reason why a program does not become one circuit.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum FlattenError {
    /// More gates than fit.
    #[error("{gates} gates in all its calls, and one circuit of more than {MOST_GATES} is not written")]
    Gates {
        /// The gates of the program.
        gates: u64,
    },
    /// The memory of wires does not fit this machine.
    #[error(transparent)]
    Memory(NoMemory),
}

impl Program {
    /// The circuit that computes what the program does in all its calls: input and output values in order,
    /// with their names. Whose they are is no part of a circuit. Gates that calls have in common are shared.
    ///
    /// # Errors
    /// [`FlattenError`] if it is too large.
    pub fn flatten(&self) -> Result<Circuit, FlattenError> {
        let totals = self.totals();
        let gates = totals.and.saturating_add(totals.xor).saturating_add(totals.not);
        if gates > MOST_GATES {
            return Err(FlattenError::Gates { gates });
        }
        let mut builder = Builder::for_goal(self.goal());
        let inputs = self.inputs().iter().map(|input| builder.input(&input.name, input.bits)).collect();
        let mut flatten = Flatten { program: self, builder, inputs, memory: Memory::default() };
        run(self, &mut flatten, &vec![None; self.inputs().len()], &mut ()).map_err(|error| match error {
            RunError::Engine(error) => FlattenError::Memory(error),
            RunError::Input(_) => unreachable!("no value is given, and values may stay in shares"),
        })?;
        Ok(flatten.builder.finish())
    }
}

/// A wire of the circuit; the constant zero at the start.
#[derive(Clone, Copy)]
struct Held(Wire);

impl Default for Held {
    fn default() -> Held {
        Held(Wire::ZERO)
    }
}

/// The engine that builds a circuit of the gates that it is asked to compute.
struct Flatten<'p> {
    program: &'p Program,
    builder: Builder,
    inputs: Vec<Vec<Wire>>,
    memory: Memory<Held>,
}

impl Engine for Flatten<'_> {
    type Error = NoMemory;
    const SHARES: bool = true;

    fn begin(&mut self, program: &Program) -> Result<(), NoMemory> {
        self.memory = Memory::of(program)?;
        Ok(())
    }

    fn input(&mut self, put: Put, _: Option<&Bits>) -> Result<(), NoMemory> {
        let wires = self.memory[put.wires()].iter_mut().zip(&self.inputs[put.index]);
        wires.for_each(|(held, &wire)| *held = Held(wire));
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<(), NoMemory> {
        let layered = call.circuit.layered();
        let mut slots = vec![Held::default(); layered.slots()];
        slots[1] = Held(Wire::ONE);
        for t in 0..call.times {
            call.load(t, &self.memory, &mut slots);
            let mut rest = layered.gates();
            for layer in layered.layers() {
                let (ands, xors);
                (ands, rest) = rest.split_at(layer.ands);
                (xors, rest) = rest.split_at(layer.xors);
                for gate in ands {
                    slots[gate.out()] = Held(self.builder.and(slots[gate.a()].0, slots[gate.b()].0));
                }
                for gate in xors {
                    slots[gate.out()] = Held(self.builder.xor(slots[gate.a()].0, slots[gate.b()].0));
                }
            }
            let mut outputs = layered.outputs().iter().map(|&slot| slots[slot as usize]);
            for (&width, out) in call.circuit.output_widths().iter().zip(call.outs) {
                let to = out.at(t);
                self.memory[to..to + width].iter_mut().zip(outputs.by_ref()).for_each(|(wire, value)| *wire = value);
            }
        }
        Ok(())
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>, NoMemory> {
        let wires: Vec<Wire> = self.memory[shown.wires()].iter().map(|held| held.0).collect();
        self.builder.output(&self.program.outputs()[shown.index].name, &wires);
        Ok(None)
    }
}
