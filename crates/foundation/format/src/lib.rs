//! What people write: circuits in files, and values as text ([`value`](mod@value)); and a party's
//! [share](ValueShare) of a value, which a run writes for another one.
//!
//! The files are Bristol Fashion, the older Bristol format, SHDL, and netlists from hardware tools in BLIF and JSON.
//!
//! The Bristol formats are text: a header with the numbers of gates and wires and the widths of the values,
//! then a line for each gate, `2 1 5 9 30 AND`: how many wires go in and come out, which, and what the gate
//! does. Wires are numbered; the input bits are the first and the output bits the last ones. Comments (from
//! `#` or `//` to the end of a line) and blank lines are accepted anywhere. A file has no names, so values
//! are called `in0`, `in1`, ... and `out0`, ....
//!
//! The others have truth tables or gates between named wires, in any order: they are sorted here, and become as few AND
//! gates as is easy to find, a multiplexer one, say. BLIF and JSON may have flip-flops: a circuit with such is a
//! [`SequentialCircuit`].
//!
//! Files are hostile input. A malformed one gets an error that names the line and what is wrong; nothing is allocated
//! for what a header announces, only for what is read: about 30 bytes a gate of the Bristol formats, and some 100 bytes
//! and its text for one of the others.

mod blif;
mod bristol;
mod bristol_fashion;
mod error;
mod gates;
mod json;
mod lines;
mod netlist;
mod share;
mod shdl;
pub mod value;
mod wires;
mod write;
mod yosys;

use std::io::{self, BufRead, Read, Write};

use comity_circuit::{Circuit, Group};

use lines::{Lines, malformed};

pub use error::{Malformation, ReadError, WriteError};
pub use netlist::SequentialCircuit;
pub use share::{NoShare, ValueShare};

/// The longest SHDL, BLIF or JSON text that is read, which is held in memory whole.
const LONGEST: u64 = 1 << 30;

/// A file format for circuits.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Format {
    /// [Bristol Fashion](https://nigelsmart.github.io/MPC-Circuits/): any number of values, gates XOR, AND, INV (or
    /// NOT), OR, MUX (`x y c`: `y` where `c` is one, else `x`), EQ (a constant), EQW (a copy) and MAND (several ANDs).
    BristolFashion,
    /// The older Bristol format: two input values, either of which may have no bits, and one output value; gates XOR,
    /// AND and INV. Those of Bristol Fashion are read too.
    Bristol,
    /// SHDL, the format of Fairplay: gates with truth tables.
    Shdl,
    /// BLIF, as yosys' `write_blif` and other tools write it. It is read only.
    Blif,
    /// JSON as yosys' `write_json` writes it. It is read only.
    Yosys,
}

/// Reads a circuit in whichever format it is.
///
/// # Errors
/// [`ReadError`], with the line and what is wrong with it; [`Malformation::FlipFlops`] for what
/// [`read_sequential`] reads.
pub fn read(from: impl BufRead) -> Result<(Circuit, Format), ReadError> {
    let (design, format) = read_sequential(from)?;
    Ok((circuit(design)?, format))
}

/// Reads a circuit in this format.
///
/// # Errors
/// As [`read`].
pub fn read_as(format: Format, from: impl BufRead) -> Result<Circuit, ReadError> {
    circuit(read_sequential_as(format, from)?)
}

fn circuit(design: SequentialCircuit) -> Result<Circuit, ReadError> {
    let flip_flops = design.flip_flops();
    design.into_circuit().ok_or_else(|| malformed(1, Malformation::FlipFlops { flip_flops }))
}

/// Reads a circuit, or one with flip-flops, in whichever format it is. JSON begins with a brace, BLIF with a
/// keyword after a dot, SHDL with the number of a wire and a word; the older Bristol format has no third
/// header line, so its third line is a gate.
///
/// # Errors
/// [`ReadError`], with the line and what is wrong with it.
pub fn read_sequential(mut from: impl BufRead) -> Result<(SequentialCircuit, Format), ReadError> {
    skip_mark(&mut from)?;
    if let Some(format) = netlist_format(from.fill_buf()?) {
        return Ok((read_sequential_as(format, from)?, format));
    }
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
        Format::Bristol => bristol::read(&mut lines, &counts, &values)?,
        _ => bristol_fashion::read(&mut lines, &counts, &values)?,
    };
    Ok((SequentialCircuit::new(circuit, 0), format))
}

/// Reads a circuit, or one with flip-flops, in this format.
///
/// # Errors
/// As [`read_sequential`].
pub fn read_sequential_as(format: Format, mut from: impl BufRead) -> Result<SequentialCircuit, ReadError> {
    skip_mark(&mut from)?;
    let read = match format {
        Format::Shdl => shdl::read,
        Format::Blif => blif::read,
        Format::Yosys => yosys::read,
        Format::BristolFashion | Format::Bristol => {
            let mut lines = Lines::new(from);
            let (counts, values) = (lines.header(COUNTS)?, lines.header(VALUES)?);
            let circuit = match format {
                Format::Bristol => bristol::read(&mut lines, &counts, &values)?,
                _ => bristol_fashion::read(&mut lines, &counts, &values)?,
            };
            return Ok(SequentialCircuit::new(circuit, 0));
        }
    };
    let mut bytes = Vec::new();
    if from.take(LONGEST + 1).read_to_end(&mut bytes)? as u64 > LONGEST {
        return Err(malformed(1, Malformation::FileTooLong { limit: LONGEST }));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let before = &e.as_bytes()[..e.utf8_error().valid_up_to()];
        let line = before.iter().filter(|&&byte| byte == b'\n').count() as u64 + 1;
        malformed(line, Malformation::NotUtf8)
    })?;
    read(&text).map_err(|wrong| wrong.locate(&text))
}

/// Skips the byte-order mark with which some editors begin a text.
fn skip_mark(from: &mut impl BufRead) -> io::Result<()> {
    if from.fill_buf()?.starts_with(BYTE_ORDER_MARK.as_bytes()) {
        from.consume(BYTE_ORDER_MARK.len());
    }
    Ok(())
}

/// The format of a text by its first line, if it is not one of the Bristol formats.
fn netlist_format(start: &[u8]) -> Option<Format> {
    let lines = start.split(|&byte| byte == b'\n').map(<[u8]>::trim_ascii);
    let first =
        lines.into_iter().find(|line| !(line.is_empty() || line.starts_with(b"#") || line.starts_with(b"//")))?;
    let mut words = first.split(u8::is_ascii_whitespace).filter(|word| !word.is_empty());
    match (first[0], words.nth(1)) {
        (b'{', _) => Some(Format::Yosys),
        (b'.', _) => Some(Format::Blif),
        (_, Some(b"input" | b"gate" | b"output")) => Some(Format::Shdl),
        _ => None,
    }
}

/// Writes a circuit. Every gate is written, in order. Output bits have to be the last wires, so those that are inputs,
/// constants or repetitions are copied, by a gate each; constants that gates read cost a gate each.
///
/// In the older format the output values become one, a copy is an XOR with zero, and zero an XOR of an input bit with
/// itself, and one its INV. In SHDL every output bit is a copy.
///
/// # Errors
/// [`WriteError::Io`]; [`WriteError::ReadOnly`] for BLIF and JSON; the others only for the older Bristol format, which
/// does not hold every circuit.
pub fn write(circuit: &Circuit, format: Format, to: impl Write) -> Result<(), WriteError> {
    let mut to = io::BufWriter::new(to);
    match format {
        Format::BristolFashion => bristol_fashion::write(circuit, &mut to)?,
        Format::Bristol => bristol::write(circuit, &mut to)?,
        Format::Shdl => shdl::write(circuit, &mut to)?,
        Format::Blif => return Err(WriteError::ReadOnly("BLIF")),
        Format::Yosys => return Err(WriteError::ReadOnly("yosys' JSON")),
    }
    Ok(to.flush()?)
}

/// A text in UTF-8 may begin with it, and it is no part of the text.
const BYTE_ORDER_MARK: &str = "\u{feff}";

const COUNTS: &str = "the numbers of gates and wires";
const VALUES: &str = "the number and the widths of the input values";

fn named(name: &str, widths: impl IntoIterator<Item = u64>) -> Vec<Group> {
    // Widths that do not fit were refused before.
    widths.into_iter().enumerate().map(|(i, bits)| Group { name: format!("{name}{i}"), bits: bits as usize }).collect()
}

#[cfg(test)]
mod netlist_tests;
#[cfg(test)]
mod tests;
