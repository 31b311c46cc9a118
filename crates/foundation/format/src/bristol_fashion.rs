//! Bristol Fashion: `gates wires`, then how many input values and their widths, the same for output values.

use std::io::{BufRead, Write};

use comity_circuit::{Circuit, Group};

use super::VALUES;
use super::gates::{self, Announced};
use super::lines::{Header, Lines};
use super::write::{Dialect, Plan};
use crate::error::{Malformation, ReadError, WriteError};

const OUTPUTS: &str = "the number and the widths of the output values";

pub(super) fn read<R: BufRead>(lines: &mut Lines<R>, counts: &Header, values: &Header) -> Result<Circuit, ReadError> {
    let inputs = widths(values, VALUES)?;
    let outputs = lines.header(OUTPUTS)?;
    let outputs = (widths(&outputs, OUTPUTS)?, outputs.line);
    let announced = Announced::new(counts, (inputs, values.line), outputs)?;
    gates::read(lines, counts, &announced)
}

fn widths(header: &Header, expected: &'static str) -> Result<Vec<u64>, ReadError> {
    match &header.numbers[..] {
        [count, widths @ ..] if *count == widths.len() as u64 => Ok(widths.to_vec()),
        [count, ..] => {
            let (wanted, found) = (count.saturating_add(1), header.numbers.len());
            Err(header.error(Malformation::HeaderNumbers { expected, wanted, found }))
        }
        [] => Err(header.error(Malformation::HeaderMissing { expected })),
    }
}

pub(super) fn write(circuit: &Circuit, to: &mut impl Write) -> Result<(), WriteError> {
    let plan = Plan::new(circuit, Dialect { has_eq: true });
    writeln!(to, "{} {}", plan.gates(), plan.wires())?;
    let list = |groups: &[Group]| groups.iter().fold(groups.len().to_string(), |text, g| format!("{text} {}", g.bits));
    writeln!(to, "{}\n{}\n", list(circuit.inputs()), list(circuit.outputs()))?;
    Ok(plan.write(to)?)
}
