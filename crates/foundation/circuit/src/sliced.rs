//! The bit-sliced evaluator: a program on 512 inputs at once, in the clear.
//!
//! A wire holds its bit in each of 512 instances, so that one operation on it is 512 gates. It is the oracle to take
//! where a test has many inputs: [`eval_many`] runs a program on any number of them, [`Sliced`] is the engine behind
//! it, for inputs that are sliced already. It protects nothing.
//!
//! Cost: 64 bytes for each wire and slot, and a transposition at each end.

use comity_core::{Backend, Bits, Error, Lanes, Result};

use crate::engine::{Call, Engine, Put, Shown};
use crate::memory::Memory;
use crate::program::{Input, Program};
use crate::run::{RunError, run};

/// The engine that computes 512 instances in the clear, for all parties at once. It holds the input values itself,
/// since a run hands over those of one instance only, and keeps the output values.
///
/// ```
/// use comity_circuit::{Builder, Program, Sliced, run};
/// use comity_core::Lanes;
/// # struct Nobody;
/// # impl comity_circuit::Observer for Nobody {
/// #     fn output(&mut self, _: usize, _: comity_core::Bits) {}
/// # }
///
/// let mut b = Builder::new();
/// let (x, y) = (b.input("x", 1)[0], b.input("y", 1)[0]);
/// let (sum, carry) = (b.xor(x, y), b.and(x, y));
/// b.output("sum", &[sum, carry]);
///
/// let mut engine = Sliced::new(vec![vec![Lanes::all(true)]; 2]);
/// run(&Program::from_circuit(b.finish())?, &mut engine, &[None, None], &mut ())?;
/// assert_eq!(engine.outputs()[0], [Lanes::all(false), Lanes::all(true)]); // 1 + 1 = 2, 512 times
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
pub struct Sliced {
    inputs: Vec<Vec<Lanes>>,
    outputs: Vec<Vec<Lanes>>,
    memory: Memory<Lanes>,
    slots: Vec<Lanes>,
}

impl Sliced {
    /// An engine for one run on these input values.
    pub fn new(inputs: Vec<Vec<Lanes>>) -> Sliced {
        Sliced { inputs, outputs: Vec::new(), memory: Memory::default(), slots: Vec::new() }
    }

    /// The output values that were revealed so far, to any party.
    pub fn outputs(&self) -> &[Vec<Lanes>] {
        &self.outputs
    }
}

impl Engine for Sliced {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.memory = Memory::of(program)?;
        Ok(())
    }

    /// Puts in the engine's own value; the run's value is ignored.
    fn input(&mut self, put: Put, _value: Option<&Bits>) -> Result<()> {
        let Put { index, owner, bits, .. } = put;
        let Some(value) = self.inputs.get(index) else {
            return Err(Error::invalid_input(format!("input value {index}, of {owner}, is missing")));
        };
        if value.len() != bits {
            let is = value.len();
            return Err(Error::invalid_input(format!(
                "input value {index}, of {owner}, has {is} bits where the program takes {bits}"
            )));
        }
        self.memory[put.wires()].copy_from_slice(value);
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        let (tape, backend) = (call.circuit.tape(), Backend::detect());
        self.slots.resize(self.slots.len().max(tape.slots()), Lanes::default());
        for t in 0..call.times {
            call.load(t, &self.memory, &mut self.slots);
            tape.evaluate_lanes(backend, &mut self.slots);
            call.store(t, &self.slots, &mut self.memory);
        }
        Ok(())
    }

    /// Reveals to [`Sliced::outputs`] alone: an observer gets no value.
    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        self.outputs.push(self.memory[shown.wires()].to_vec());
        Ok(None)
    }
}

/// Runs a program in the clear on many inputs, 512 at a time: `inputs[k]` are the input values of instance `k`, and
/// its output values come back at the same place.
///
/// ```
/// use comity_circuit::{Builder, Program, Wire, eval_many};
/// use comity_core::Bits;
///
/// let mut b = Builder::new();
/// let (x, y) = (b.input("x", 8), b.input("y", 8));
/// let both: Vec<Wire> = x.iter().zip(&y).map(|(&x, &y)| b.and(x, y)).collect();
/// b.output("both", &both);
///
/// let number = |n: u64| Bits::from_words(vec![n], 8);
/// let inputs: Vec<Vec<Bits>> = (0..1000).map(|n| vec![number(n % 256), number(n / 4)]).collect();
/// let values = eval_many(&Program::from_circuit(b.finish())?, &inputs)?;
/// assert!((0..1000).all(|n| values[n][0].words()[0] == (n % 256 & n / 4) as u64));
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
///
/// # Errors
/// [`RunError`]: [`RunError::Input`] if the values of an instance do not fit the program, before anything is run.
pub fn eval_many(program: &Program, inputs: &[Vec<Bits>]) -> std::result::Result<Vec<Vec<Bits>>, RunError<Error>> {
    inputs.iter().try_for_each(|values| program.check_lengths(values.iter().map(Some)))?;
    let nothing = vec![None; program.inputs().len()];
    let mut results = Vec::with_capacity(inputs.len());
    for instances in inputs.chunks(Lanes::COUNT) {
        let value = |(i, input): (usize, &Input)| Lanes::slice(instances.iter().map(|values| &values[i]), input.bits);
        let mut engine = Sliced::new(program.inputs().iter().enumerate().map(value).collect());
        run(program, &mut engine, &nothing, &mut ())?;
        let mut outputs: Vec<_> = engine.outputs().iter().map(|wires| Lanes::unslice(wires).into_iter()).collect();
        results.extend(instances.iter().map(|_| {
            outputs.iter_mut().map(|values| values.next().expect("a value for each instance")).collect::<Vec<_>>()
        }));
    }
    Ok(results)
}

#[cfg(test)]
mod tests;
