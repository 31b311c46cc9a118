//! SHDL, the Secure Hardware Definition Language of Fairplay (Malkhi, Nisan, Pinkas, Sella, USENIX Security 2004).
//!
//! A line a wire: `0 input //output$input.alice$0` or `8 gate arity 2 table [ 0 1 1 0 ] inputs [ 0 4 ]`, with
//! `output` before `gate` where the wire is an output bit. The table's last index bit is the last input. What
//! stands after `//` names the bit: a value's name, `$` and the bit's index; wires without names that follow
//! each other are one value.

use std::collections::{BTreeMap, HashMap};
use std::io::{self, Write};

use comity_circuit::{Circuit, Group, Op};

use super::netlist::{Model, Net, Port, Result, SequentialCircuit, cells, check_name, lower, named, wrong};

/// The most inputs of a gate: its table has 2^16 entries.
const WIDEST: usize = 16;

pub(super) fn read(text: &str) -> Result<SequentialCircuit> {
    let mut file =
        File { model: Model::new(), nets: HashMap::new(), inputs: Values::default(), outputs: Values::default() };
    let mut at = 0;
    for line in text.split('\n') {
        file.line(at, line)?;
        at += line.len() + 1;
    }
    file.model.inputs = file.inputs.ports("in");
    file.model.outputs = file.outputs.ports("out");
    lower(&file.model)
}

struct File {
    model: Model,
    nets: HashMap<u64, Net>,
    inputs: Values,
    outputs: Values,
}

/// A value: its name, its bits' indices and nets, and where it begins.
type Value = (Option<String>, Vec<(u64, Net)>, usize);

/// The bits of values, by the values' names.
#[derive(Default)]
struct Values {
    all: Vec<Value>,
    places: BTreeMap<String, usize>,
}

impl Values {
    fn add(&mut self, at: usize, comment: &str, net: Net) -> Result<()> {
        let name = comment.trim();
        let name = name.strip_prefix("output$").unwrap_or(name);
        check_name(at, name)?;
        let (name, index) = match name.rsplit_once('$').map(|(name, index)| (name, index.parse::<u64>())) {
            Some((name, Ok(index))) if !name.is_empty() => (Some(name), Some(index)),
            _ if name.is_empty() => (None, None),
            _ => (Some(name), None),
        };
        let place = match name {
            Some(name) => self.places.get(name).copied(),
            None => self.all.len().checked_sub(1).filter(|&last| self.all[last].0.is_none()),
        };
        let place = place.unwrap_or_else(|| {
            self.all.push((name.map(str::to_owned), Vec::new(), at));
            name.map(|name| self.places.insert(name.to_owned(), self.all.len() - 1));
            self.all.len() - 1
        });
        let bits = &mut self.all[place].1;
        bits.push((index.unwrap_or(bits.len() as u64), net));
        Ok(())
    }

    fn ports(self, unnamed: &str) -> Vec<Port> {
        let port = |(i, (name, mut bits, at)): (usize, Value)| {
            bits.sort_by_key(|&(index, _)| index);
            let nets = bits.into_iter().map(|(_, net)| net).collect();
            Port { name: name.unwrap_or_else(|| format!("{unnamed}{i}")), brackets: false, nets, at }
        };
        self.all.into_iter().enumerate().map(port).collect()
    }
}

/// The words of a line; brackets are words of their own.
struct Words<'a> {
    line: &'a str,
    base: usize,
    at: usize,
}

impl<'a> Words<'a> {
    fn next(&mut self) -> (usize, &'a str) {
        let rest = &self.line[self.at..];
        let start = self.at + (rest.len() - rest.trim_start().len());
        let rest = &self.line[start..];
        let end = match rest.as_bytes().first() {
            Some(b'[' | b']') => 1,
            _ => rest.find(|c: char| c.is_whitespace() || matches!(c, '[' | ']')).unwrap_or(rest.len()),
        };
        self.at = start + end;
        (self.base + start, &rest[..end])
    }

    fn expect(&mut self, wanted: &str) -> Result<()> {
        match self.next() {
            (_, word) if word == wanted => Ok(()),
            (at, "") => wrong(at, format!("the line ends where `{wanted}` is wanted")),
            (at, word) => wrong(at, format!("{} where `{wanted}` is wanted", named(word))),
        }
    }

    fn number(&mut self, what: &str) -> Result<(usize, u64)> {
        let (at, word) = self.next();
        match word.parse() {
            Ok(number) if !word.starts_with('+') => Ok((at, number)),
            _ if word.is_empty() => wrong(at, format!("the line ends where {what} is wanted")),
            _ => wrong(at, format!("{} where {what} is wanted", named(word))),
        }
    }
}

impl File {
    fn net(&mut self, number: u64) -> Net {
        *self.nets.entry(number).or_insert_with(|| self.model.net(format!("wire {number}")))
    }

    fn line(&mut self, base: usize, line: &str) -> Result<()> {
        let (content, comment) = line.split_once("//").unwrap_or((line, ""));
        let content = if content.trim_start().starts_with('#') { "" } else { content };
        if content.trim().is_empty() {
            return Ok(());
        }
        let mut words = Words { line: content, base, at: 0 };
        let (at, number) = words.number("the wire's number")?;
        let net = self.net(number);
        let (kind_at, mut kind) = words.next();
        let output = kind == "output";
        if output {
            (_, kind) = words.next();
        }
        match kind {
            "input" => self.inputs.add(at, if output { "" } else { comment }, net)?,
            "gate" => self.gate(at, &mut words, net)?,
            _ => return wrong(kind_at, format!("{} where `input`, `gate` or `output gate` is wanted", named(kind))),
        }
        if output {
            self.outputs.add(at, comment, net)?;
        }
        match words.next() {
            (_, "") => Ok(()),
            (at, more) => wrong(at, format!("{} where the line should end", named(more))),
        }
    }

    fn gate(&mut self, at: usize, words: &mut Words, out: Net) -> Result<()> {
        words.expect("arity")?;
        let (arity_at, arity) = words.number("the number of the gate's inputs")?;
        let arity = usize::try_from(arity).ok().filter(|&arity| arity <= WIDEST);
        let Some(arity) = arity else {
            return wrong(arity_at, format!("a gate of more than {WIDEST} inputs"));
        };
        words.expect("table")?;
        words.expect("[")?;
        let mut table = Vec::new();
        for _ in 0..1usize << arity {
            match words.number("0 or 1 in the table")? {
                (_, bit @ (0 | 1)) => table.push(bit == 1),
                (at, _) => return wrong(at, "the entries of a table are 0 and 1"),
            }
        }
        words.expect("]")?;
        words.expect("inputs")?;
        words.expect("[")?;
        let mut pins = Vec::new();
        for _ in 0..arity {
            let (_, number) = words.number("an input's number")?;
            pins.push(self.net(number));
        }
        words.expect("]")?;
        // Our tables have the first pin's bit last.
        pins.reverse();
        let function = cells::tabulated(arity, |i| table[i]);
        self.model.cell(at, function, &pins, out);
        Ok(())
    }
}

/// Writes a circuit: the inputs, then the gates, then a copy of each output bit.
pub(super) fn write(circuit: &Circuit, to: &mut impl Write) -> io::Result<()> {
    let names = |groups: &[Group]| -> Vec<String> {
        let clean = |c: char| if c.is_control() || c.is_whitespace() { '_' } else { c };
        let bits = |group: &Group| {
            let name: String = group.name.chars().map(clean).collect();
            (0..group.bits).map(move |i| format!("output${name}${i}")).collect::<Vec<_>>()
        };
        groups.iter().flat_map(bits).collect()
    };
    let constants = [Circuit::ZERO, Circuit::ONE].map(|constant| {
        let read = circuit.gates().iter().any(|gate| match gate.op {
            Op::Xor if gate.a == Circuit::ONE => gate.b == constant,
            Op::Xor if gate.b == Circuit::ONE => gate.a == constant,
            _ => gate.a == constant || gate.b == constant,
        });
        read || circuit.output_wires().contains(&constant)
    });
    let inputs = circuit.input_bits();
    let mut next = inputs;
    for (i, name) in names(circuit.inputs()).into_iter().enumerate() {
        writeln!(to, "{i} input //{name}")?;
    }
    let mut numbers = [0; 2];
    for (constant, number) in numbers.iter_mut().enumerate().filter(|(constant, _)| constants[*constant]) {
        writeln!(to, "{next} gate arity 0 table [ {constant} ] inputs [ ]")?;
        (*number, next) = (next, next + 1);
    }
    let first = next;
    let number = |wire: u32| match wire as usize {
        constant @ (0 | 1) => numbers[constant],
        wire if wire < 2 + inputs => wire - 2,
        wire => first + wire - 2 - inputs,
    };
    for gate in circuit.gates() {
        let (a, b) = (number(gate.a), number(gate.b));
        match gate.op {
            Op::Xor if gate.a == Circuit::ONE => writeln!(to, "{next} gate arity 1 table [ 1 0 ] inputs [ {b} ]")?,
            Op::Xor if gate.b == Circuit::ONE => writeln!(to, "{next} gate arity 1 table [ 1 0 ] inputs [ {a} ]")?,
            Op::Xor => writeln!(to, "{next} gate arity 2 table [ 0 1 1 0 ] inputs [ {a} {b} ]")?,
            Op::And => writeln!(to, "{next} gate arity 2 table [ 0 0 0 1 ] inputs [ {a} {b} ]")?,
        }
        next += 1;
    }
    for (wire, name) in circuit.output_wires().iter().zip(names(circuit.outputs())) {
        writeln!(to, "{next} output gate arity 1 table [ 0 1 ] inputs [ {} ] //{name}", number(*wire))?;
        next += 1;
    }
    Ok(())
}
