//! Circuit files: Bristol Fashion and the older Bristol format.
//!
//! Both are text: a header with the numbers of gates and wires and the widths of the values, then a line for each gate,
//! `2 1 5 9 30 AND`: how many wires go in and come out, which, and what the gate does. Wires are numbered; the input
//! bits are the first and the output bits the last ones. Comments (from `#` or `//` to the end of a line) and blank
//! lines are accepted anywhere. A file has no names, so values are called `in0`, `in1`, ... and `out0`, ....
//!
//! Files are hostile input. A malformed one gets an error that names the line and what is wrong; nothing is allocated
//! for what a header announces, only for what is read: about 30 bytes a gate.

mod bristol;
mod bristol_fashion;
mod error;
mod gates;
mod lines;
mod wires;
mod write;

use std::io::{self, BufRead, Write};

use crate::{Circuit, Group};
use lines::Lines;

pub use error::{Malformation, ReadError, WriteError};

/// A file format for circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// [Bristol Fashion](https://nigelsmart.github.io/MPC-Circuits/): any number of values, gates XOR, AND, INV (or
    /// NOT), EQ (a constant), EQW (a copy) and MAND (several ANDs).
    BristolFashion,
    /// The older Bristol format: two input values, either of which may have no bits, and one output value; gates XOR,
    /// AND and INV. Those of Bristol Fashion are read too.
    Bristol,
}

/// Reads a circuit in either format: the older one has no third header line, so its third line is a gate.
///
/// # Errors
/// [`ReadError`], with the line and what is wrong with it.
pub fn read(from: impl BufRead) -> Result<(Circuit, Format), ReadError> {
    let mut lines = Lines::new(from);
    let (counts, values) = (lines.header(COUNTS)?, lines.header(VALUES)?);
    let third_is_a_gate = lines.next()?.map(|line| line.ends_in_a_name());
    lines.unread();
    let format = match third_is_a_gate {
        Some(true) => Format::Bristol,
        None if values.numbers.len() == 3 => Format::Bristol,
        Some(false) | None => Format::BristolFashion,
    };
    let circuit = match format {
        Format::BristolFashion => bristol_fashion::read(&mut lines, &counts, &values)?,
        Format::Bristol => bristol::read(&mut lines, &counts, &values)?,
    };
    Ok((circuit, format))
}

/// Reads a circuit in this format.
///
/// # Errors
/// As [`read`].
pub fn read_as(format: Format, from: impl BufRead) -> Result<Circuit, ReadError> {
    let mut lines = Lines::new(from);
    let (counts, values) = (lines.header(COUNTS)?, lines.header(VALUES)?);
    match format {
        Format::BristolFashion => bristol_fashion::read(&mut lines, &counts, &values),
        Format::Bristol => bristol::read(&mut lines, &counts, &values),
    }
}

/// Writes a circuit. Every gate is written, in order. Output bits have to be the last wires, so those that are inputs,
/// constants or repetitions are copied, by a gate each; constants that gates read cost a gate each.
///
/// In the older format the output values become one, a copy is an XOR with zero, and zero an XOR of an input bit with
/// itself, and one its INV.
///
/// # Errors
/// [`WriteError::Io`]; the others only for the older format, which does not hold every circuit.
pub fn write(circuit: &Circuit, format: Format, to: impl Write) -> Result<(), WriteError> {
    let mut to = io::BufWriter::new(to);
    match format {
        Format::BristolFashion => bristol_fashion::write(circuit, &mut to)?,
        Format::Bristol => bristol::write(circuit, &mut to)?,
    }
    Ok(to.flush()?)
}

const COUNTS: &str = "the numbers of gates and wires";
const VALUES: &str = "the number and the widths of the input values";

fn named(name: &str, widths: impl IntoIterator<Item = u64>) -> Vec<Group> {
    // Widths that do not fit were refused before.
    widths.into_iter().enumerate().map(|(i, bits)| Group { name: format!("{name}{i}"), bits: bits as usize }).collect()
}

#[cfg(test)]
mod tests;
