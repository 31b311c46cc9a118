//! `Function`: a circuit as universal ones take it: gates that are any function of two wires, none of them
//! read more than twice.

use std::collections::HashMap;

use comity_circuit::{Circuit, Op, Program};
use comity_core::{Bits, Error, Result};
use comity_library::universal::arity::Arity;
use comity_library::universal::direct::{self, Direct, DirectGate, DirectRead};
use comity_library::universal::{Construction, Shape};

use crate::embed;
use crate::readers::{Limited, limited};

/// The tables of functions of two wires: bit `x + 2 y` is the value.
const COPY: u8 = 0b1010;
const NOT: u8 = 0b0101;
const XOR: u8 = 0b0110;
const OR: u8 = 0b1110;

/// The table of the same function with its wires in each other's place.
pub(crate) fn swapped(table: u8) -> u8 {
    table & 0b1001 | table << 1 & 0b0100 | table >> 1 & 0b0010
}

/// A gate, which reads earlier nodes: the inputs, numbered from 0, and the gates after them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) struct Gate {
    pub(crate) table: u8,
    pub(crate) reads: [Option<u32>; 2],
}

/// Gates that are read as often as one likes, and outputs: the nodes that they are.
pub(crate) struct Plain {
    pub(crate) gates: Vec<Gate>,
    pub(crate) outputs: Vec<u32>,
}

/// A function that is to stay its owner's secret, ready to be computed by a universal circuit.
pub struct Function {
    inputs: usize,
    gates: Vec<Gate>,
    added: usize,
    copies: usize,
    outputs: Vec<u32>,
    /// The same, without those that were added.
    plain: Plain,
    /// The same, as ANDs and XORs of wires and their negations.
    direct: Direct,
}

impl Function {
    /// The function that a program computes of those of its inputs which are not `known`: these, one after
    /// another, are the bits of the function's input, and all outputs are those of its output. Known ones
    /// become a part of the function.
    ///
    /// Inverters do not count as gates, gates that compute the same count as one, and those that nothing
    /// depends on are dropped.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the known values are not as many as the program's inputs or of
    /// another width, if no input or no output is left, or if there are more than [`Shape::MAX`] of
    /// something.
    pub fn new(program: &Program, known: &[Option<Bits>]) -> Result<Function> {
        let takes = program.inputs();
        if known.len() != takes.len() {
            let (given, takes) = (known.len(), takes.len());
            return Err(Error::invalid_input(format!(
                "the function has {takes} input values, and {given} are given, known or open"
            )));
        }
        for (value, input) in known.iter().zip(takes) {
            if let Some(value) = value.as_ref().filter(|value| value.len() != input.bits) {
                let (name, is, takes) = (&input.name, value.len(), input.bits);
                return Err(Error::invalid_input(format!("input `{name}` has {takes} bits, and the known value {is}")));
            }
        }
        let circuit = program.flatten().map_err(|error| Error::invalid_input(format!("the function: {error}")))?;
        let inputs = known.iter().zip(takes).filter(|(known, _)| known.is_none()).map(|(_, input)| input.bits).sum();
        let outputs = circuit.output_wires().len();
        for (what, count) in [("input bits that are not known", inputs), ("output bits", outputs)] {
            if !(1..=Shape::MAX).contains(&count) {
                let most = Shape::MAX;
                return Err(Error::invalid_input(format!(
                    "a private function has 1 to {most} {what}, and this one {count}"
                )));
            }
        }
        let mut simple = Simple { inputs, gates: Vec::new(), known: HashMap::new() };
        let outputs = simple.build(&circuit, known);
        let function = simple.function(&outputs);
        if function.gates.len() > Shape::MAX {
            let (gates, most) = (function.gates.len(), Shape::MAX);
            return Err(Error::invalid_input(format!(
                "a private function has {most} gates at most, and this one {gates}"
            )));
        }
        Ok(function)
    }

    /// The smallest shape that the function fits.
    pub fn shape(&self) -> Shape {
        Shape { inputs: self.inputs, outputs: self.outputs.len(), gates: self.gates.len().max(1) }
    }

    /// The gates of [`Function::shape`] that were added so that no gate is read more than twice. Secret: the
    /// number says something about the function.
    pub fn added(&self) -> usize {
        self.added
    }

    /// The gates that would be [added](Function::added) if each were a copy, as D13.3 counts them: `k* - k`.
    /// Secret, likewise.
    pub fn copies(&self) -> usize {
        self.copies
    }

    /// The bits that make a universal circuit of this shape compute the function.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the function does not fit, and which number by how much.
    pub fn program(&self, shape: Shape) -> Result<Bits> {
        self.program_of(shape, Construction::Liu)
    }

    /// As [`Function::program`], for the circuit of any construction.
    ///
    /// # Errors
    /// As [`Function::program`].
    pub fn program_of(&self, shape: Shape, construction: Construction) -> Result<Bits> {
        self.fits(self.shape(), shape, "gates with copies")?;
        Ok(embed::program(self, shape, construction))
    }

    /// The smallest shape that the function fits where wires are read as often as one likes: without copies.
    pub fn direct_shape(&self) -> Shape {
        Shape { gates: self.direct.gates.len().max(1), ..self.shape() }
    }

    /// The bits that make the [direct program](direct) of this shape compute the function.
    ///
    /// # Errors
    /// As [`Function::program`]; and if the shape is too large for that program.
    pub fn direct_program(&self, shape: Shape) -> Result<Bits> {
        let Shape { inputs, outputs, gates } = shape;
        if let Some(number) = [inputs, outputs, gates].into_iter().find(|&number| number > direct::MAX) {
            let most = direct::MAX;
            return Err(Error::invalid_input(format!("{number} in a shape without copies, and {most} is the most")));
        }
        self.fits(self.direct_shape(), shape, "gates without copies")?;
        Ok(self.direct.bits(shape))
    }

    /// How often each wire is read, and the numbers of the shape without copies: what circuits of [public
    /// arities](comity_library::universal::arity) show of the function, which is much.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if the function is too large for one.
    pub fn arity(&self) -> Result<Arity> {
        let Plain { gates, outputs } = &self.plain;
        let mut readers = vec![0; self.inputs + gates.len().max(1)];
        let reads = gates.iter().flat_map(|gate| gate.reads).flatten().chain(outputs.iter().copied());
        reads.for_each(|node| readers[node as usize] += 1);
        let (inputs, gates) = readers.split_at_mut(self.inputs);
        // A function without gates has one, whose reader is nobody; so has the first input of one that reads none.
        gates.iter_mut().for_each(|readers| *readers = 1.max(*readers));
        if inputs.iter().all(|readers| *readers == 0) {
            inputs[0] = 1;
        }
        Arity::new(inputs, gates, outputs.len()).map_err(|why| Error::invalid_input(format!("the function: {why}")))
    }

    /// The bits that make the program of these [public arities](comity_library::universal::arity) compute the
    /// function.
    ///
    /// # Errors
    /// As [`Function::program`]; and if a wire is read more often than the numbers say.
    pub fn arity_program(&self, arity: &Arity) -> Result<Bits> {
        let own = self.arity()?;
        self.fits(own.shape(), arity.shape(), "gates without copies")?;
        let numbers = own.readers().iter().zip(arity.readers());
        if let Some((at, (has, most))) = numbers.enumerate().find(|(_, (has, most))| has > most) {
            let wire = match at.checked_sub(self.inputs) {
                Some(gate) => format!("gate {gate}"),
                None => format!("input bit {at}"),
            };
            return Err(Error::invalid_input(format!(
                "{wire} of the function has {has} readers, and the shape allows {most}"
            )));
        }
        Ok(embed::of_arity(&self.plain, arity))
    }

    /// Whether a shape has room for what the function needs.
    fn fits(&self, own: Shape, shape: Shape, gates: &str) -> Result<()> {
        for (what, has, is) in [("input bits", own.inputs, shape.inputs), ("output bits", own.outputs, shape.outputs)] {
            if has != is {
                return Err(Error::invalid_input(format!("the function has {has} {what}, and the shape has {is}")));
            }
        }
        if own.gates > shape.gates {
            let (has, most) = (own.gates, shape.gates);
            let more = has - most;
            return Err(Error::invalid_input(format!(
                "the function has {has} {gates}, {more} more than the shape's {most}"
            )));
        }
        Ok(())
    }

    pub(crate) fn gates(&self) -> &[Gate] {
        &self.gates
    }

    pub(crate) fn outputs(&self) -> &[u32] {
        &self.outputs
    }
}

/// A wire of the circuit, as it is known here.
#[derive(Clone, Copy)]
enum Wire {
    Constant(bool),
    /// The value of a node, or its negation.
    Node(u32, bool),
}

impl Wire {
    fn node(self) -> Option<u32> {
        match self {
            Wire::Node(node, _) => Some(node),
            Wire::Constant(_) => None,
        }
    }
}

/// Gates that all differ, before any are copied.
struct Simple {
    inputs: usize,
    gates: Vec<Gate>,
    known: HashMap<Gate, u32>,
}

impl Simple {
    /// Adds the gates of a circuit. Returns its outputs.
    fn build(&mut self, circuit: &Circuit, known: &[Option<Bits>]) -> Vec<Wire> {
        let mut wires = vec![Wire::Constant(false), Wire::Constant(true)];
        let mut next = 0..;
        for (group, known) in circuit.inputs().iter().zip(known) {
            match known {
                Some(value) => wires.extend(value.iter().map(Wire::Constant)),
                None => wires.extend(next.by_ref().take(group.bits).map(|node| Wire::Node(node, false))),
            }
        }
        for gate in circuit.gates() {
            let (a, b) = (wires[gate.a as usize], wires[gate.b as usize]);
            wires.push(match gate.op {
                Op::Xor => self.xor(a, b),
                Op::And => self.and(a, b),
            });
        }
        circuit.output_wires().iter().map(|&wire| wires[wire as usize]).collect()
    }

    fn xor(&mut self, a: Wire, b: Wire) -> Wire {
        match (a, b) {
            (Wire::Constant(a), Wire::Constant(b)) => Wire::Constant(a ^ b),
            (Wire::Constant(not), Wire::Node(node, negated)) | (Wire::Node(node, negated), Wire::Constant(not)) => {
                Wire::Node(node, negated ^ not)
            }
            (Wire::Node(a, first), Wire::Node(b, second)) if a == b => Wire::Constant(first ^ second),
            (Wire::Node(a, first), Wire::Node(b, second)) => Wire::Node(self.gate(XOR, a, b), first ^ second),
        }
    }

    fn and(&mut self, a: Wire, b: Wire) -> Wire {
        match (a, b) {
            (Wire::Constant(false), _) | (_, Wire::Constant(false)) => Wire::Constant(false),
            (Wire::Constant(true), other) | (other, Wire::Constant(true)) => other,
            (Wire::Node(a, first), Wire::Node(b, second)) if a == b => match first == second {
                true => Wire::Node(a, first),
                false => Wire::Constant(false),
            },
            (Wire::Node(a, first), Wire::Node(b, second)) => {
                let row = u8::from(!first) + 2 * u8::from(!second);
                // Of a function and its negation that one is a gate which is zero for zeros.
                match row {
                    0 => Wire::Node(self.gate(OR, a, b), true),
                    _ => Wire::Node(self.gate(1 << row, a, b), false),
                }
            }
        }
    }

    /// The node that computes this.
    fn gate(&mut self, table: u8, a: u32, b: u32) -> u32 {
        let (table, a, b) = if a < b { (table, a, b) } else { (swapped(table), b, a) };
        self.add(Gate { table, reads: [Some(a), Some(b)] })
    }

    fn add(&mut self, gate: Gate) -> u32 {
        let Simple { inputs, gates, known } = self;
        *known.entry(gate).or_insert_with(|| {
            gates.push(gate);
            (*inputs + gates.len() - 1) as u32
        })
    }

    /// The function with these outputs.
    fn function(mut self, outputs: &[Wire]) -> Function {
        let direct = self.direct(outputs);
        let outputs = self.exact(outputs);
        let used = self.used(&outputs);
        let Limited { gates, outputs: nodes, added, copies } = limited(self.inputs, &self.gates, &used, &outputs);
        let plain = self.plain(&used, &outputs);
        Function { inputs: self.inputs, gates, added, copies, outputs: nodes, plain, direct }
    }

    /// The gates that are used, numbered anew.
    fn plain(&self, used: &[bool], outputs: &[u32]) -> Plain {
        let mut next = 0..;
        let mut number = |used: bool| if used { next.next().expect("there are more") } else { 0 };
        let nodes = (0..used.len()).map(|node| number(node < self.inputs || used[node]));
        let nodes: Vec<u32> = nodes.collect();
        let gates = self.gates.iter().zip(&used[self.inputs..]).filter(|(_, used)| **used);
        let gates = gates.map(|(gate, _)| Gate { reads: gate.reads.map(|read| Some(nodes[read? as usize])), ..*gate });
        Plain { gates: gates.collect(), outputs: outputs.iter().map(|&node| nodes[node as usize]).collect() }
    }

    /// The function as ANDs and XORs of wires and their negations.
    fn direct(&self, outputs: &[Wire]) -> Direct {
        let nodes: Vec<u32> = outputs.iter().filter_map(|wire| wire.node()).collect();
        let used = self.used(&nodes);
        let mut gates = Vec::new();
        // Where a node is, and whether its negation is there.
        let mut places: Vec<DirectRead> =
            (0..self.inputs as u32).map(|wire| DirectRead { wire, negated: false }).collect();
        let read = |places: &[DirectRead], node: u32, negated: bool| {
            let DirectRead { wire, negated: there } = places[node as usize];
            DirectRead { wire, negated: there ^ negated }
        };
        for (at, gate) in self.gates.iter().enumerate() {
            let place = DirectRead { wire: (self.inputs + gates.len()) as u32, negated: gate.table == OR };
            places.push(place);
            if !used[self.inputs + at] {
                continue;
            }
            // An AND has one row, that of its two wires or negations; an OR is the negation of one.
            let row = if gate.table == OR { 0 } else { gate.table.trailing_zeros() };
            let negated = if gate.table == XOR { [false; 2] } else { [row & 1 == 0, row & 2 == 0] };
            let of = |side: usize| read(&places, gate.reads[side].expect("two wires"), negated[side]);
            gates.push(DirectGate { reads: [of(0), of(1)], xor: gate.table == XOR });
        }
        // A constant is an AND of a wire and its negation.
        let mut zero = None;
        let mut constant = |gates: &mut Vec<DirectGate>| {
            *zero.get_or_insert_with(|| {
                let reads = [false, true].map(|negated| DirectRead { wire: 0, negated });
                gates.push(DirectGate { reads, xor: false });
                (self.inputs + gates.len() - 1) as u32
            })
        };
        let outputs = outputs.iter().map(|output| match *output {
            Wire::Node(node, negated) => read(&places, node, negated),
            Wire::Constant(value) => DirectRead { wire: constant(&mut gates), negated: value },
        });
        let outputs = outputs.collect();
        Direct { gates, outputs }
    }

    /// The nodes of outputs, none of which is negated: gates whose negation alone is an output are negated,
    /// with what reads them; constants and what else is negated get a gate.
    fn exact(&mut self, outputs: &[Wire]) -> Vec<u32> {
        let nodes = self.inputs + self.gates.len();
        let mut wanted = vec![[false; 2]; nodes];
        for output in outputs {
            if let Wire::Node(node, negated) = *output {
                wanted[node as usize][usize::from(negated)] = true;
            }
        }
        let flipped: Vec<bool> =
            wanted.iter().enumerate().map(|(node, wanted)| node >= self.inputs && *wanted == [false, true]).collect();
        for (gate, &flip) in self.gates.iter_mut().zip(&flipped[self.inputs..]) {
            for (which, read) in gate.reads.iter().enumerate() {
                if read.is_some_and(|read| flipped[read as usize]) {
                    gate.table = match which {
                        0 => gate.table >> 1 & NOT | gate.table << 1 & COPY,
                        _ => gate.table >> 2 & 0b0011 | gate.table << 2 & 0b1100,
                    };
                }
            }
            gate.table ^= if flip { 0b1111 } else { 0 };
        }
        // The tables have changed: what is added now is found by its table as it is.
        self.known.clear();
        let exact = |output: &Wire| match *output {
            Wire::Node(node, negated) if negated == flipped[node as usize] => node,
            Wire::Node(node, _) => self.add(Gate { table: NOT, reads: [Some(node), None] }),
            Wire::Constant(value) => self.add(Gate { table: if value { 0b1111 } else { 0 }, reads: [None, None] }),
        };
        outputs.iter().map(exact).collect()
    }

    /// The nodes that an output depends on.
    fn used(&self, outputs: &[u32]) -> Vec<bool> {
        let mut used = vec![false; self.inputs + self.gates.len()];
        outputs.iter().for_each(|&node| used[node as usize] = true);
        for (at, gate) in self.gates.iter().enumerate().rev() {
            if used[self.inputs + at] {
                gate.reads.iter().flatten().for_each(|&read| used[read as usize] = true);
            }
        }
        used
    }
}
