//! The older Bristol format: `gates wires`, then the widths of the two input values and of the output value.

use std::io::{BufRead, Write};

use comity_circuit::Circuit;

use super::gates::{self, Announced};
use super::lines::{Header, Lines};
use super::write::{Dialect, Plan};
use crate::error::{Malformation, ReadError, WriteError};

const WIDTHS: &str = "the widths of both input values and of the output value";

pub(super) fn read<R: BufRead>(lines: &mut Lines<R>, counts: &Header, values: &Header) -> Result<Circuit, ReadError> {
    let &[first, second, output] = &values.numbers[..] else {
        let found = values.numbers.len();
        return Err(values.error(Malformation::HeaderNumbers { expected: WIDTHS, wanted: 3, found }));
    };
    let announced = Announced::new(counts, (vec![first, second], values.line), (vec![output], values.line))?;
    gates::read(lines, counts, &announced)
}

pub(super) fn write(circuit: &Circuit, to: &mut impl Write) -> Result<(), WriteError> {
    let widths = match circuit.inputs() {
        [] => [0, 0],
        [only] => [only.bits, 0],
        [first, second] => [first.bits, second.bits],
        more => return Err(WriteError::TooManyInputs(more.len())),
    };
    let plan = Plan::new(circuit, Dialect { has_eq: false });
    if plan.needs_an_input() && circuit.input_bits() == 0 {
        return Err(WriteError::NoInputBits);
    }
    writeln!(to, "{} {}", plan.gates(), plan.wires())?;
    writeln!(to, "{} {} {}\n", widths[0], widths[1], circuit.output_wires().len())?;
    Ok(plan.write(to)?)
}
