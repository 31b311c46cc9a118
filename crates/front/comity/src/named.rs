//! Values by name: inputs from Rust values, outputs as Rust values, and programs evaluated in the clear.

use comity_circuit::{Observer, Plain, Program, run};
use comity_core::{Bits, Error, Result};

use crate::native::Native;
use crate::report::Report;

/// The input of this name, as [`Session::run`](crate::Session::run) takes it.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) if the program has no such input, or the value does not fit its type.
pub fn input(program: &Program, name: &str, value: impl Native) -> Result<(usize, Bits)> {
    let names = || program.inputs().iter().map(|input| input.name.as_str());
    let index = place("input", program, name, names())?;
    let bits =
        value.to_value(&program.inputs()[index].ty).map_err(|e| Error::invalid_input(format!("`{name}`: {e}")))?;
    Ok((index, bits))
}

/// The outputs of a program on all its inputs, in the clear: what a run among parties would give.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind) if these are not exactly its inputs, or its wires do not fit this
/// machine's memory.
pub fn evaluate(program: &Program, inputs: impl IntoIterator<Item = (usize, Bits)>) -> Result<Vec<Bits>> {
    let mut given: Vec<Option<Bits>> = vec![None; program.inputs().len()];
    for (index, bits) in inputs {
        *given.get_mut(index).ok_or_else(|| Error::invalid_input(format!("there is no input {index}")))? = Some(bits);
    }
    let mut outputs = Collected(vec![Bits::default(); program.outputs().len()]);
    evaluate_watched(program, &given, &mut outputs)?;
    Ok(outputs.0)
}

/// As [`evaluate`], with outputs and progress told to an observer. `inputs[i]` is input `i`.
///
/// # Errors
/// As [`evaluate`].
pub fn evaluate_watched(program: &Program, inputs: &[Option<Bits>], observer: &mut dyn Observer) -> Result<()> {
    program.check_plain()?;
    program.check_inputs(None, inputs)?;
    run(program, &mut Plain::new(), inputs, observer).map_err(Error::from)
}

struct Collected(Vec<Bits>);

impl Observer for Collected {
    fn output(&mut self, index: usize, value: Bits) {
        self.0[index] = value;
    }
}

impl Report {
    /// The output of this name, as a Rust value.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the program has no such output, if this party does not learn
    /// it, or if it has another type.
    pub fn output<T: Native>(&self, program: &Program, name: &str) -> Result<T> {
        let index = place("output", program, name, program.outputs().iter().map(|output| output.name.as_str()))?;
        let learned = self.outputs.iter().find(|(learned, _)| *learned == index);
        let (_, bits) = learned.ok_or_else(|| {
            Error::invalid_input(format!(
                "output `{name}` is for {}, and this is party {}",
                program.outputs()[index].to,
                self.party
            ))
        })?;
        T::from_value(&program.outputs()[index].ty, bits)
    }
}

fn place<'a>(what: &str, program: &Program, name: &str, names: impl Iterator<Item = &'a str> + Clone) -> Result<usize> {
    names.clone().position(|known| known == name).ok_or_else(|| {
        let all: Vec<&str> = names.collect();
        Error::invalid_input(format!("`{}` has no {what} `{name}`: it has {}", program.name(), all.join(", ")))
    })
}
