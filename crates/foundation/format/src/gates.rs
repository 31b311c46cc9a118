//! The gate lines, which both formats share.

use std::io::BufRead;

use comity_circuit::{Circuit, Gate, Op};

use super::lines::{Header, Line, Lines, malformed, shown};
use super::named;
use super::wires::Wires;
use crate::error::{Malformation, ReadError};

/// The most input bits, and the most output bits: these exist without a line of the file for each.
const MAX_BITS: u64 = 1 << 24;

/// The numbers that the header announces, which fit.
pub(super) struct Announced {
    pub(super) gates: u64,
    pub(super) wires: u64,
    pub(super) inputs: Vec<u64>,
    pub(super) outputs: Vec<u64>,
}

impl Announced {
    /// Checks a header: `counts` is its first line.
    pub(super) fn new(
        counts: &Header,
        inputs: (Vec<u64>, u64),
        outputs: (Vec<u64>, u64),
    ) -> Result<Announced, ReadError> {
        let &[gates, wires] = &counts.numbers[..] else {
            let found = counts.numbers.len();
            return Err(counts.error(Malformation::HeaderNumbers { expected: super::COUNTS, wanted: 2, found }));
        };
        let limit = Circuit::MAX_WIRES as u64 - 2;
        let total = |(widths, line): &(Vec<u64>, u64), what| {
            let found = widths.iter().fold(0u64, |sum, &bits| sum.saturating_add(bits));
            let limit = MAX_BITS;
            if found <= limit {
                Ok(found)
            } else {
                Err(malformed(*line, Malformation::TooLarge { what, found, limit }))
            }
        };
        for (what, found) in [("gates", gates), ("wires", wires)] {
            if found > limit {
                return Err(counts.error(Malformation::TooLarge { what, found, limit }));
            }
        }
        let (input_bits, output_bits) = (total(&inputs, "input bits")?, total(&outputs, "output bits")?);
        if wires < input_bits + gates {
            return Err(counts.error(Malformation::TooFewWires { wires, inputs: input_bits, gates }));
        }
        if wires < output_bits {
            return Err(malformed(outputs.1, Malformation::TooManyOutputs { outputs: output_bits, wires }));
        }
        Ok(Announced { gates, wires, inputs: inputs.0, outputs: outputs.0 })
    }
}

/// The netlist of the gates read so far.
struct Netlist<'a> {
    announced: &'a Announced,
    input_bits: u64,
    /// The gates' output wires, numbered from the first after the inputs.
    driven: Wires,
    gates: Vec<Gate>,
}

/// Reads the gate lines and makes the circuit.
pub(super) fn read<R: BufRead>(
    lines: &mut Lines<R>,
    counts: &Header,
    announced: &Announced,
) -> Result<Circuit, ReadError> {
    let input_bits = announced.inputs.iter().sum();
    let mut netlist = Netlist { announced, input_bits, driven: Wires::default(), gates: Vec::new() };
    let mut numbers = Vec::new();
    for found in 0..announced.gates {
        match lines.next()? {
            Some(line) => netlist.gate(line, &mut numbers)?,
            None => {
                let announced = announced.gates;
                return Err(malformed(lines.here(), Malformation::GatesMissing { announced, found }));
            }
        }
    }
    if let Some(line) = lines.next()? {
        return Err(line.error(Malformation::GatesExtra { announced: announced.gates }));
    }
    netlist.finish(counts, lines.here())
}

/// A gate's wire, and the place where it stands in the line.
type At = (usize, u64);

impl Netlist<'_> {
    fn gate(&mut self, line: Line, numbers: &mut Vec<At>) -> Result<(), ReadError> {
        numbers.clear();
        let mut words = line.words();
        let (name_at, name) = loop {
            let Some((at, word)) = words.next() else { return Err(line.error(Malformation::GateNameMissing)) };
            if word[0].is_ascii_alphabetic() || word[0] == b'_' {
                break (at, word);
            }
            numbers.push((at, line.number(at, word)?));
        };
        if let Some((at, word)) = words.next() {
            return Err(line.error_at(at, Malformation::AfterGate { found: shown(word) }));
        }
        let (gate, wanted, expected) = match name {
            b"XOR" => ("XOR", (2, 1), "2 and 1"),
            b"AND" => ("AND", (2, 1), "2 and 1"),
            b"OR" => ("OR", (2, 1), "2 and 1"),
            b"MUX" => ("MUX", (3, 1), "3 and 1"),
            b"INV" => ("INV", (1, 1), "1 and 1"),
            b"NOT" => ("NOT", (1, 1), "1 and 1"),
            b"EQ" => ("EQ", (1, 1), "1 and 1"),
            b"EQW" => ("EQW", (1, 1), "1 and 1"),
            b"MAND" => ("MAND", (0, 0), "two input wires for each output wire, and at least one of these"),
            _ => return Err(line.error_at(name_at, Malformation::UnknownGate { name: shown(name) })),
        };
        let &[(_, ins), (_, outs), ref wires @ ..] = &numbers[..] else {
            return Err(line.error(Malformation::GateWires { announced: 0, found: 0 }));
        };
        let fits = if gate == "MAND" { outs > 0 && outs.checked_mul(2) == Some(ins) } else { (ins, outs) == wanted };
        if !fits {
            return Err(line.error(Malformation::Arity { gate, expected, inputs: ins, outputs: outs }));
        }
        let total = ins.saturating_add(outs);
        if total != wires.len() as u64 {
            return Err(line.error(Malformation::GateWires { announced: total, found: wires.len() }));
        }
        // The checks above bound the numbers of wires by the length of the line.
        let (reads, writes) = wires.split_at(ins as usize);
        match gate {
            "XOR" | "AND" => {
                let (a, b) = (self.read(line, reads[0])?, self.read(line, reads[1])?);
                let op = if gate == "AND" { Op::And } else { Op::Xor };
                self.write_gate(line, writes[0], Gate { op, a, b })
            }
            // x or y is y ^ x (y ^ 1), and c ? y : x is x ^ c (x ^ y): an AND each.
            "OR" => {
                let (x, y) = (self.read(line, reads[0])?, self.read(line, reads[1])?);
                let other = self.push(line, Op::Xor, Circuit::ONE, y)?;
                let both = self.push(line, Op::And, x, other)?;
                self.write_gate(line, writes[0], Gate { op: Op::Xor, a: y, b: both })
            }
            "MUX" => {
                let [x, y, c] = [self.read(line, reads[0])?, self.read(line, reads[1])?, self.read(line, reads[2])?];
                let differ = self.push(line, Op::Xor, x, y)?;
                let taken = self.push(line, Op::And, c, differ)?;
                self.write_gate(line, writes[0], Gate { op: Op::Xor, a: x, b: taken })
            }
            "INV" | "NOT" => {
                let b = self.read(line, reads[0])?;
                self.write_gate(line, writes[0], Gate { op: Op::Xor, a: Circuit::ONE, b })
            }
            "EQW" => {
                let wire = self.read(line, reads[0])?;
                self.write(line, writes[0], wire)
            }
            "EQ" => match reads[0] {
                (_, 0) => self.write(line, writes[0], Circuit::ZERO),
                (_, 1) => self.write(line, writes[0], Circuit::ONE),
                (at, found) => Err(line.error_at(at, Malformation::NotAConstant { found })),
            },
            _ => {
                let (left, right) = reads.split_at(writes.len());
                let read: Result<Vec<(u32, u32)>, ReadError> =
                    left.iter().zip(right).map(|(&a, &b)| Ok((self.read(line, a)?, self.read(line, b)?))).collect();
                let mut pairs = writes.iter().zip(read?);
                pairs.try_for_each(|(&to, (a, b))| self.write_gate(line, to, Gate { op: Op::And, a, b }))
            }
        }
    }

    /// The circuit's wire behind a wire of the file.
    fn find(&self, wire: u64) -> Option<u32> {
        match wire.checked_sub(self.input_bits) {
            None => Some(2 + wire as u32),
            Some(number) => self.driven.get(number as usize),
        }
    }

    fn in_range(&self, line: Line, (at, wire): At) -> Result<(), ReadError> {
        let wires = self.announced.wires;
        if wire < wires { Ok(()) } else { Err(line.error_at(at, Malformation::WireOutOfRange { wire, wires })) }
    }

    fn read(&self, line: Line, (at, wire): At) -> Result<u32, ReadError> {
        self.in_range(line, (at, wire))?;
        self.find(wire).ok_or_else(|| line.error_at(at, Malformation::ReadBeforeWritten { wire }))
    }

    fn write(&mut self, line: Line, (at, wire): At, driver: u32) -> Result<(), ReadError> {
        self.in_range(line, (at, wire))?;
        let Some(number) = wire.checked_sub(self.input_bits) else {
            return Err(line.error_at(at, Malformation::InputOverwritten { wire }));
        };
        if self.driven.insert(number as usize, driver) {
            Ok(())
        } else {
            Err(line.error_at(at, Malformation::WrittenTwice { wire }))
        }
    }

    fn write_gate(&mut self, line: Line, to: At, Gate { op, a, b }: Gate) -> Result<(), ReadError> {
        let wire = self.push(line, op, a, b)?;
        self.write(line, to, wire)
    }

    /// Adds a gate, which a line may have three of; gives its wire.
    fn push(&mut self, line: Line, op: Op, a: u32, b: u32) -> Result<u32, ReadError> {
        let wire = 2 + self.input_bits + self.gates.len() as u64;
        let limit = Circuit::MAX_WIRES as u64;
        if wire >= limit {
            return Err(line.error(Malformation::TooLarge { what: "wires", found: wire + 1, limit }));
        }
        self.gates.push(Gate { op, a, b });
        Ok(wire as u32)
    }

    fn finish(self, counts: &Header, end: u64) -> Result<Circuit, ReadError> {
        let Announced { wires, inputs, outputs, .. } = self.announced;
        let first = wires - outputs.iter().sum::<u64>();
        let driver = |wire: u64| {
            let output = wire - first;
            self.find(wire).ok_or_else(|| malformed(end, Malformation::OutputUndriven { output, wire }))
        };
        let output_wires: Vec<u32> = (first..*wires).map(driver).collect::<Result<_, _>>()?;
        let driven = self.input_bits + self.driven.len() as u64;
        if driven != *wires {
            return Err(counts.error(Malformation::WireCount { announced: *wires, driven }));
        }
        let (inputs, outputs) = (named("in", inputs.iter().copied()), named("out", outputs.iter().copied()));
        Ok(Circuit::new(inputs, outputs, self.gates, output_wires).expect("every wire was checked as it was read"))
    }
}
