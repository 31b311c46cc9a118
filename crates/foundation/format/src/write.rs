//! Gate lines and the numbers of wires.

use std::io::{self, Write};

use comity_circuit::{Circuit, Op};

/// The dialect of a format: the gates that it has.
#[derive(Clone, Copy)]
pub(super) struct Dialect {
    /// Whether constants and copies are gates of their own (EQ, EQW). Otherwise zero is an XOR of wire 0 with itself,
    /// one its INV, and a copy an XOR with zero.
    pub(super) has_eq: bool,
}

/// The plan of a circuit's file. Wires: inputs, constants that are needed, gates that drive no output bit,
/// output bits. Gates: those that make constants, the circuit's own, copies to output bits.
pub(super) struct Plan<'a> {
    circuit: &'a Circuit,
    dialect: Dialect,
    /// The number of each wire of the circuit; for a wire that is many output bits, the first of them.
    numbers: Vec<u32>,
    zero: bool,
    one: bool,
    /// The output bits that are copies: the wire and the number of the copy.
    copies: Vec<(u32, u32)>,
    wires: u32,
}

const NONE: u32 = u32::MAX;

impl<'a> Plan<'a> {
    pub(super) fn new(circuit: &'a Circuit, dialect: Dialect) -> Plan<'a> {
        let (gates, first) = (circuit.gates(), circuit.first_gate_wire());
        let mut numbers = vec![NONE; first + gates.len()];
        // Positions among the output bits for now.
        let mut copies = Vec::new();
        for (position, &wire) in circuit.output_wires().iter().enumerate() {
            let number = &mut numbers[wire as usize];
            if wire as usize >= first && *number == NONE {
                *number = position as u32;
            } else {
                copies.push((wire, position as u32));
            }
        }
        let reads = |constant: u32| {
            // NOT is an INV and does not read the constant one.
            gates.iter().any(|g| match g.op {
                Op::Xor if g.a == Circuit::ONE => g.b == constant,
                Op::Xor if g.b == Circuit::ONE => g.a == constant,
                _ => g.a == constant || g.b == constant,
            })
        };
        let copied = |constant: u32| copies.iter().any(|copy| copy.0 == constant);
        let (mut zero, mut one) = (reads(Circuit::ZERO), reads(Circuit::ONE));
        if !dialect.has_eq {
            one |= copied(Circuit::ONE);
            zero |= one || !copies.is_empty();
        }
        let inputs = circuit.input_bits() as u32;
        let mut next = inputs + u32::from(zero) + u32::from(one);
        let outputs = next + numbers[first..].iter().filter(|&&number| number == NONE).count() as u32;
        for number in &mut numbers[first..] {
            match *number {
                NONE => {
                    *number = next;
                    next += 1;
                }
                position => *number = outputs + position,
            }
        }
        copies.iter_mut().for_each(|copy| copy.1 += outputs);
        numbers[Circuit::ZERO as usize] = inputs;
        numbers[Circuit::ONE as usize] = inputs + u32::from(zero);
        numbers[2..first].iter_mut().zip(0..).for_each(|(number, input)| *number = input);
        let wires = outputs + circuit.output_wires().len() as u32;
        Plan { circuit, dialect, numbers, zero, one, copies, wires }
    }

    pub(super) fn gates(&self) -> usize {
        usize::from(self.zero) + usize::from(self.one) + self.circuit.gates().len() + self.copies.len()
    }

    pub(super) fn wires(&self) -> u32 {
        self.wires
    }

    /// Whether constants are made of an input bit.
    pub(super) fn needs_an_input(&self) -> bool {
        !self.dialect.has_eq && self.zero
    }

    pub(super) fn write(&self, to: &mut impl Write) -> io::Result<()> {
        let number = |wire: u32| self.numbers[wire as usize];
        let (zero, one) = (number(Circuit::ZERO), number(Circuit::ONE));
        match (self.zero, self.dialect.has_eq) {
            (true, true) => writeln!(to, "1 1 0 {zero} EQ")?,
            (true, false) => writeln!(to, "2 1 0 0 {zero} XOR")?,
            (false, _) => {}
        }
        match (self.one, self.dialect.has_eq) {
            (true, true) => writeln!(to, "1 1 1 {one} EQ")?,
            (true, false) => writeln!(to, "1 1 {zero} {one} INV")?,
            (false, _) => {}
        }
        for (gate, out) in self.circuit.gates().iter().zip(&self.numbers[self.circuit.first_gate_wire()..]) {
            let (a, b) = (number(gate.a), number(gate.b));
            match gate.op {
                Op::And => writeln!(to, "2 1 {a} {b} {out} AND")?,
                Op::Xor if gate.a == Circuit::ONE => writeln!(to, "1 1 {b} {out} INV")?,
                Op::Xor if gate.b == Circuit::ONE => writeln!(to, "1 1 {a} {out} INV")?,
                Op::Xor => writeln!(to, "2 1 {a} {b} {out} XOR")?,
            }
        }
        for &(wire, out) in &self.copies {
            let from = number(wire);
            match (self.dialect.has_eq, wire) {
                (true, Circuit::ZERO | Circuit::ONE) => writeln!(to, "1 1 {wire} {out} EQ")?,
                (true, _) => writeln!(to, "1 1 {from} {out} EQW")?,
                (false, _) => writeln!(to, "2 1 {from} {zero} {out} XOR")?,
            }
        }
        Ok(())
    }
}
