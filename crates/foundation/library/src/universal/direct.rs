//! A program that computes any circuit, in which each gate chooses its two wires among all that there are.
//!
//! It is the functionality of protocols that do not count how often a wire is read: they need no copies, and
//! a [`Shape`]'s `gates` are those of the circuit. As a program of gates it is quadratic, which is less than
//! a [universal circuit](super) only for a few dozen gates.
//!
//! **The bits of a circuit**: of each gate those of its two [reads](DirectRead), and whether it is an XOR,
//! else an AND; of each output those of its read. Wires are numbered: inputs, then gates.

use comity_circuit::{Builder, Goal, Program, ProgramBuilder, Recipients, Wire};
use comity_core::Bits;

use super::Shape;
use crate::arrays::read;

/// The largest number in a shape.
pub const MAX: usize = 1 << 17;

/// A wire that is read, or its negation.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DirectRead {
    /// The number of the wire.
    pub wire: u32,
    /// Whether it is negated.
    pub negated: bool,
}

/// A gate.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct DirectGate {
    /// The wires that the gate reads.
    pub reads: [DirectRead; 2],
    /// Whether the gate is an XOR; else it is an AND.
    pub xor: bool,
}

/// A circuit whose gates read any earlier wires.
#[derive(Clone, PartialEq, Eq)]
pub struct Direct {
    /// The gates in order: they read earlier wires.
    pub gates: Vec<DirectGate>,
    /// The outputs.
    pub outputs: Vec<DirectRead>,
}

/// The bits of a wire's number.
fn index_bits(shape: Shape) -> usize {
    (shape.inputs + shape.gates).next_power_of_two().ilog2() as usize
}

/// The bits of a circuit of this shape.
pub fn program_bits(shape: Shape) -> usize {
    let read = index_bits(shape) + 1;
    shape.gates * (2 * read + 1) + shape.outputs * read
}

impl Direct {
    /// The circuit as bits, filled up with unread gates where it has fewer than the shape.
    pub fn bits(&self, shape: Shape) -> Bits {
        let mut bits = Bits::zeros(0);
        let put = |bits: &mut Bits, read: DirectRead| {
            (0..index_bits(shape)).for_each(|bit| bits.push(read.wire >> bit & 1 == 1));
            bits.push(read.negated);
        };
        let unused = DirectGate { reads: [DirectRead { wire: 0, negated: false }; 2], xor: false };
        for at in 0..shape.gates {
            let gate = self.gates.get(at).unwrap_or(&unused);
            gate.reads.iter().for_each(|read| put(&mut bits, *read));
            bits.push(gate.xor);
        }
        self.outputs.iter().for_each(|read| put(&mut bits, *read));
        bits
    }

    /// The circuit that bits say. `None` if a gate or output reads a wire that is not there yet, or if the
    /// number of bits is not that of the shape.
    pub fn of(bits: &Bits, shape: Shape) -> Option<Direct> {
        if bits.len() != program_bits(shape) {
            return None;
        }
        let mut reader = Reader { bits, at: 0, index: index_bits(shape) };
        let mut gates = Vec::with_capacity(shape.gates);
        for there in (shape.inputs..).take(shape.gates) {
            gates.push(DirectGate { reads: [reader.read(there)?, reader.read(there)?], xor: reader.number(1) == 1 });
        }
        let outputs = (0..shape.outputs).map(|_| reader.read(shape.inputs + shape.gates)).collect::<Option<_>>()?;
        Some(Direct { gates, outputs })
    }
}

struct Reader<'a> {
    bits: &'a Bits,
    at: usize,
    index: usize,
}

impl Reader<'_> {
    fn number(&mut self, bits: usize) -> u32 {
        self.at += bits;
        (self.at - bits..self.at).rev().fold(0, |number, bit| number << 1 | u32::from(self.bits.get(bit)))
    }

    /// A read of one of `there` wires.
    fn read(&mut self, there: usize) -> Option<DirectRead> {
        let (wire, negated) = (self.number(self.index), self.number(1) == 1);
        ((wire as usize) < there).then_some(DirectRead { wire, negated })
    }
}

impl Shape {
    /// The shape whose [direct program](self) this is, with any recipients of the output; `None` if it is not
    /// such a program.
    pub fn of_direct(program: &Program) -> Option<Shape> {
        Shape::found(program, MAX, program_bits, self::program)
    }
}

/// The program of a shape. Its inputs are the bits of a circuit, of party 0, and the circuit's input, of
/// party 1; all learn the output.
pub fn program(goal: Goal, shape: Shape) -> Program {
    let (index, wires) = (index_bits(shape), 1 << index_bits(shape));
    let mut p = ProgramBuilder::for_goal("direct", goal);
    let function = p.input("function", 0, program_bits(shape) as u64);
    let input = p.input("x", 1, shape.inputs as u64);
    let output = p.register(shape.outputs as u64);
    let there = p.register(wires);
    p.copy(&input.span(), &there.slice(0, shape.inputs as u64).span());
    let read_bits = index as u64 + 1;
    let mut part = |build: fn(&mut Builder, &[Vec<Wire>]) -> Wire, reads: usize, more: usize| {
        let mut b = p.builder();
        let mut inputs = vec![b.input("wires", wires as usize)];
        inputs.extend((0..reads).map(|_| b.input("read", read_bits as usize)));
        inputs.extend((0..more).map(|_| b.input("xor", 1)));
        let out = build(&mut b, &inputs);
        b.output("out", &[out]);
        p.circuit(b.finish())
    };
    let gate = part(
        |b, inputs| {
            let [x, y] = [1, 2].map(|at| chosen(b, &inputs[0], &inputs[at]));
            let (and, xor) = (b.and(x, y), b.xor(x, y));
            b.mux(inputs[3][0], xor, and)
        },
        2,
        1,
    );
    let take = part(|b, inputs| chosen(b, &inputs[0], &inputs[1]), 1, 0);
    let all = there.span();
    let each = 2 * read_bits + 1;
    p.repeat(shape.gates as u64, |p, turn| {
        let bits = |from: u64, bits: u64| function.slice(from, bits).span().moving(turn, each as i64);
        let reads = [bits(0, read_bits), bits(read_bits, read_bits)];
        let [first, second] = reads;
        let out = there.slice(shape.inputs as u64, 1).span().moving(turn, 1);
        p.call(gate, &[all.clone(), first, second, bits(2 * read_bits, 1)], &[out]);
    });
    p.repeat(shape.outputs as u64, |p, turn| {
        let from = shape.gates as u64 * each;
        let read = function.slice(from, read_bits).span().moving(turn, read_bits as i64);
        p.call(take, &[all.clone(), read], &[output.slice(0, 1).span().moving(turn, 1)]);
    });
    p.reveal("y", Recipients::All, output);
    p.finish().expect("a program")
}

/// The wire that a read names.
fn chosen(b: &mut Builder, wires: &[Wire], names: &[Wire]) -> Wire {
    let rows: Vec<Vec<Wire>> = wires.iter().map(|&wire| vec![wire]).collect();
    let (negated, index) = names.split_last().expect("a bit at least");
    // If there is one wire there is nothing to choose.
    let wire = if index.is_empty() { rows[0][0] } else { read(b, &rows, index)[0] };
    b.xor(wire, *negated)
}
