//! Universal circuits that show how often each wire is read.
//!
//! If all know the number of readers of each wire, in the order of the gates, no wire needs copies, and one graph
//! of switches will do where a [universal circuit](super) has two. Its poles are *places*, at each of which one
//! wire may arrive and one may leave: a gate takes its two wires at two places, one behind the other, and leaves by
//! as many as it has readers, from the second of them on. So there are about as many places as reads, two for each
//! gate. This shows much more of a circuit than its [`Shape`]: which gates copy, add or carry can often be
//! told from the pattern of readers alone. What stays hidden is which function each gate is, and which wire
//! each read is of.
//!
//! **Every circuit of these numbers goes through.** The places by which wires leave are given out in the order of
//! the wires, and no gate takes anything before the last wire that is there has its first place. Places where gates
//! take come one by one, too. So the `s`-th reader of a wire is at least `s` places behind the wire's first one, and
//! behind its `s`-th one.
//!
//! **Cost**: with `N` places up to `3/2 N log2 N` switches. `N` is the number of reads and the most of them that are
//! outstanding at a time: for most functions those of inputs, which all come first. For AES-128 that is 1,500,104
//! switches and 27,892 gates, in place of 1,642,888 and 39,000: a tenth of the bytes.

use std::collections::HashMap;
use std::fmt;
use std::str::FromStr;

use comity_circuit::{CircuitId, Goal, Program, ProgramBuilder, Recipients, Register, Span, Step};

use super::Shape;
use super::switching::{Switching, any_gate, count, wire};
use super::walk::{Enter, Leave, Pass, Pole, Poles, Walk, walk};

/// The graphs of the lowest level.
const LOWEST: u64 = 1;

/// The public part of a circuit with public arities: how often each of its wires is read.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Arity {
    /// The readers of each wire: inputs, and then gates.
    readers: Vec<u32>,
    inputs: usize,
    outputs: usize,
}

/// What happens at the places.
#[derive(Clone, Debug)]
pub struct Places {
    /// The place where each read arrives: two for each gate, and one for each output.
    pub takes: Vec<u32>,
    /// The first place of each wire.
    pub first: Vec<u32>,
    gates: usize,
    /// The number of reads that arrive before a place.
    taken: Vec<u32>,
    /// The number of wires that leave before it.
    given: Vec<u32>,
}

/// A place where a read arrives.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Arrival {
    /// The first wire of a gate.
    First,
    /// The second wire of the gate of this number.
    Second(usize),
    /// The output of this number.
    Output(usize),
}

impl Arity {
    /// The most places: the program has a step for each, and for each switch of the lowest levels.
    pub const MAX: usize = 1 << 17;

    /// The numbers of a circuit: how often each input and each gate is read.
    ///
    /// # Errors
    /// If there is no input, gate or output, if no input or some gate has no reader, or if there are more than
    /// [`Arity::MAX`] places.
    pub fn new(inputs: &[u32], gates: &[u32], outputs: usize) -> Result<Arity, String> {
        for (what, number) in [("inputs", inputs.len()), ("gates", gates.len()), ("outputs", outputs)] {
            if !(1..=Arity::MAX).contains(&number) {
                return Err(format!("a circuit has 1 to {} {what}, and this one {number}", Arity::MAX));
            }
        }
        if let Some(at) = gates.iter().position(|&readers| readers == 0) {
            return Err(format!("gate {at} has no reader: leave it out"));
        }
        if inputs.iter().all(|&readers| readers == 0) {
            return Err("no input has a reader: the output does not depend on any".to_owned());
        }
        let readers = [inputs, gates].concat();
        let reads = readers.iter().fold(2 * gates.len() as u64 + outputs as u64, |sum, &r| sum + u64::from(r));
        // Each place has a read, a reader, or both.
        let too_many = |places: u64| {
            let most = Arity::MAX;
            format!("its wires need {places} places, and {most} is the most with public numbers of readers")
        };
        if reads > 2 * Arity::MAX as u64 {
            return Err(too_many(reads / 2));
        }
        let arity = Arity { readers, inputs: inputs.len(), outputs };
        match arity.places().count() {
            places if places > Arity::MAX => Err(too_many(places as u64)),
            _ => Ok(arity),
        }
    }

    /// The numbers of inputs, outputs and gates.
    pub fn shape(&self) -> Shape {
        Shape { inputs: self.inputs, outputs: self.outputs, gates: self.readers.len() - self.inputs }
    }

    /// The readers of each wire: inputs, and then gates.
    pub fn readers(&self) -> &[u32] {
        &self.readers
    }

    /// Numbers that tell somewhat less of the circuit: readers are rounded up to powers of two, and gates to
    /// an eighth.
    ///
    /// # Errors
    /// As [`Arity::new`].
    pub fn rounded(&self) -> Result<Arity, String> {
        let up = |readers: &u32| if *readers == 0 { 0 } else { readers.next_power_of_two() };
        let mut readers: Vec<u32> = self.readers.iter().map(up).collect();
        readers.resize(self.inputs + self.shape().rounded().gates, 1);
        let (inputs, gates) = readers.split_at(self.inputs);
        Arity::new(inputs, gates, self.outputs)
    }

    /// What happens at which place.
    pub fn places(&self) -> Places {
        let (mut takes, mut first) = (Vec::new(), Vec::with_capacity(self.readers.len()));
        // The place where the next read arrives, and the first by which no wire leaves.
        let (mut next, mut end) = (0u32, 0u32);
        for (at, &readers) in self.readers.iter().enumerate() {
            if at >= self.inputs {
                takes.extend([next, next + 1]);
                end = end.max(next + 1);
                next += 2;
            }
            first.push(end);
            next = if readers > 0 { next.max(end + 1) } else { next };
            end += readers;
        }
        takes.extend((next..).take(self.outputs));
        let count = end.max(next + self.outputs as u32) as usize;
        let before = |at: &mut dyn Iterator<Item = u32>| -> Vec<u32> {
            let mut before = vec![0; count + 1];
            at.for_each(|at| before[at as usize + 1] = 1);
            (0..count).for_each(|at| before[at + 1] += before[at]);
            before
        };
        let taken = before(&mut takes.iter().copied());
        let given = before(&mut first.iter().zip(&self.readers).flat_map(|(&first, &readers)| first..first + readers));
        Places { takes, first, gates: self.shape().gates, taken, given }
    }

    /// The bits that say which circuit is computed: one for each switch, and four for each gate.
    pub fn program_bits(&self) -> usize {
        bits(&self.places())
    }

    /// The switches.
    pub fn switches(&self) -> usize {
        self.program_bits() - 4 * self.shape().gates
    }

    /// The program. Its inputs are the [bits](Arity::program_bits) of a circuit, of party 0, and the circuit's
    /// input, of party 1; all learn the output.
    pub fn program(&self, goal: Goal) -> Program {
        build(goal, self)
    }

    /// The numbers whose [program](Arity::program) this is, with any recipients of the output; `None` if it is
    /// not such a program.
    pub fn of(program: &Program) -> Option<Arity> {
        let ([function, x], [y]) = (program.inputs(), program.outputs()) else { return None };
        let (mut inputs, mut gates) = (vec![0; x.bits], Vec::new());
        for step in program.steps() {
            let Step::Call { args, outs, .. } = step else { continue };
            let [(to, 0)] = &outs[..] else { continue };
            let readers = u32::try_from(to.bits).ok()?;
            match &args[..] {
                [(from, 0)] => {
                    let input = from.start.checked_sub(function.bits as u64);
                    if let Some(known) = input.and_then(|input| inputs.get_mut(usize::try_from(input).ok()?)) {
                        *known = readers;
                    }
                }
                [_, _, (table, 0)] if table.bits == 4 => gates.push(readers),
                _ => {}
            }
        }
        let arity = Arity::new(&inputs, &gates, y.bits).ok()?;
        if arity.program_bits() != function.bits {
            return None;
        }
        let built = arity.program(program.goal()).with_recipients(0, y.to).ok()?;
        (built.digest() == program.digest()).then_some(arity)
    }
}

impl Places {
    /// The read that arrives at a place, if one does.
    pub fn taken(&self, at: usize) -> Option<Arrival> {
        let (number, gates) = (self.taken[at] as usize, 2 * self.gates);
        match number {
            _ if self.taken[at + 1] == self.taken[at] => None,
            _ if number >= gates => Some(Arrival::Output(number - gates)),
            _ if number.is_multiple_of(2) => Some(Arrival::First),
            _ => Some(Arrival::Second(number / 2)),
        }
    }

    /// The number of places.
    #[expect(clippy::len_without_is_empty, reason = "there are always some")]
    pub fn len(&self) -> usize {
        self.taken.len() - 1
    }

    /// Whether a wire leaves by a place.
    pub fn is_given(&self, at: usize) -> bool {
        self.given[at + 1] > self.given[at]
    }
}

impl Poles for Places {
    fn count(&self) -> usize {
        self.len()
    }

    fn takes(&self, from: usize, to: usize) -> bool {
        self.taken[to.min(self.count())] > self.taken[from.min(self.count())]
    }

    fn gives(&self, from: usize, to: usize) -> bool {
        self.given[to.min(self.count())] > self.given[from.min(self.count())]
    }

    fn kind(&self, from: usize, to: usize) -> Option<(Pole, usize)> {
        let kind = match (self.takes(from, to), self.gives(from, to)) {
            (false, _) => Pole::Input,
            (true, true) => Pole::Gate,
            (true, false) => Pole::Output,
        };
        (to == from + 1).then_some((kind, from))
    }
}

/// As [`Arity::program_bits`].
fn bits(places: &Places) -> usize {
    let of = |_, _, at: usize| if let Some(Arrival::Second(_)) = places.taken(at) { 4 } else { 0 };
    count(places, LOWEST, of) as usize
}

/// As [`Arity::program`].
fn build(goal: Goal, arity: &Arity) -> Program {
    let (places, shape) = (arity.places(), arity.shape());
    let mut p = ProgramBuilder::for_goal("universal circuit of public arities", goal);
    let program = p.input("function", 0, bits(&places) as u64);
    let input = p.input("x", 1, shape.inputs as u64);
    let output = p.register(shape.outputs as u64);
    let (given, first) = (p.register(places.count() as u64), p.register(1));
    let switching = Switching::new(p, program, LOWEST, &places);
    let mut build = Build { switching, arity, places: &places, output, given, first, gates: HashMap::new() };
    build.inputs(input);
    walk(&places, &mut build);
    let mut p = build.switching.finish();
    p.reveal("y", Recipients::All, output);
    p.finish().expect("a universal circuit is a program")
}

struct Build<'a> {
    switching: Switching,
    arity: &'a Arity,
    places: &'a Places,
    output: Register,
    /// The wires that leave, by their places.
    given: Register,
    /// The first wire of a gate, until the second one is there.
    first: Register,
    /// Gates of any function, by the number of their readers.
    gates: HashMap<u32, CircuitId>,
}

impl Build<'_> {
    /// Where a wire leaves: at a place for each reader.
    fn leaving(&self, wire: usize) -> Register {
        self.given.slice(self.places.first[wire].into(), self.arity.readers[wire].into())
    }

    /// All inputs, at their places.
    fn inputs(&mut self, input: Register) {
        let mut forks = HashMap::new();
        for at in (0..self.arity.inputs).filter(|&at| self.arity.readers[at] > 0) {
            let (leaving, p) = (self.leaving(at), &mut self.switching.p);
            let fork = *forks.entry(leaving.bits()).or_insert_with(|| {
                let mut b = p.builder();
                let x = b.input("in", 1)[0];
                b.output("out", &vec![x; leaving.bits() as usize]);
                p.circuit(b.finish())
            });
            p.call(fork, &[wire(input, at as u64)], &[leaving.span()]);
        }
    }

    /// A gate, whose second wire has come.
    fn gate(&mut self, number: usize) {
        let at = self.arity.inputs + number;
        let (readers, leaving) = (self.arity.readers[at], self.leaving(at));
        let program = Span { bits: 4, ..self.switching.next(4) };
        let Switching { p, layout, .. } = &mut self.switching;
        let gate = *self.gates.entry(readers).or_insert_with(|| {
            let mut b = p.builder();
            let (x, y, table) = (b.input("in", 1)[0], b.input("in", 1)[0], b.input("in", 4));
            let value = any_gate(&mut b, [x, y], &table);
            b.output("out", &vec![value; readers as usize]);
            p.circuit(b.finish())
        });
        let (came, _) = layout.came(0);
        p.call(gate, &[wire(self.first, 0), came, program], &[leaving.span()]);
    }
}

impl Walk for Build<'_> {
    fn whole(&mut self, level: u32, at: usize, _: Pole, _: usize) -> bool {
        if level > 0 {
            return false;
        }
        let to = match self.places.taken(at) {
            Some(Arrival::First) => Some(wire(self.first, 0)),
            Some(Arrival::Output(number)) => Some(wire(self.output, number as u64)),
            Some(Arrival::Second(number)) => {
                self.gate(number);
                None
            }
            None => None,
        };
        let Switching { p, layout, .. } = &mut self.switching;
        if let Some(to) = to {
            p.call(layout.parts.copy, &[layout.came(0).0], &[to]);
        }
        if self.places.is_given(at) {
            p.call(layout.parts.copy, &[wire(self.given, at as u64)], &[layout.given(0, at).0]);
        }
        true
    }

    fn enter(&mut self, level: u32, _: usize, form: Enter) {
        self.switching.enter(level, form);
    }

    fn pass(&mut self, level: u32, _: usize, form: Pass) {
        self.switching.pass(level, form);
    }

    fn leave(&mut self, level: u32, block: usize, form: Leave) {
        self.switching.leave(level, block, form);
    }
}

/// `u=3,v=1,gates=2,readers=1.2*2.1.2`: numbers of readers in order, of equal ones the first and how many.
impl fmt::Display for Arity {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        let Shape { inputs, outputs, gates } = self.shape();
        write!(f, "u={inputs},v={outputs},gates={gates},readers=")?;
        for (at, run) in self.readers.chunk_by(|one, next| one == next).enumerate() {
            let dot = if at == 0 { "" } else { "." };
            match run.len() {
                1 => write!(f, "{dot}{}", run[0])?,
                times => write!(f, "{dot}{}*{times}", run[0])?,
            }
        }
        Ok(())
    }
}

/// Reads the text that [`Display`](fmt::Display) writes.
impl FromStr for Arity {
    type Err = String;

    fn from_str(text: &str) -> Result<Arity, String> {
        const FORM: &str = "public numbers of readers are written as u=3,v=1,gates=2,readers=1.2*2.1.2";
        let parts = text.trim().split(',').zip(["u=", "v=", "gates=", "readers="]);
        let parts: Option<Vec<&str>> = parts.map(|(part, name)| part.strip_prefix(name)).collect();
        let Some(&[inputs, outputs, gates, runs]) = parts.as_deref().filter(|_| text.matches(',').count() == 3) else {
            return Err(FORM.to_owned());
        };
        let number = |text: &str| {
            let number = text.parse().ok().filter(|number| *number <= Arity::MAX);
            number.ok_or_else(|| format!("`{text}` is not a number from 0 to {}", Arity::MAX))
        };
        let [inputs, outputs, gates] = [number(inputs)?, number(outputs)?, number(gates)?];
        let mut readers: Vec<u32> = Vec::new();
        for run in runs.split('.') {
            let (each, times) = run.split_once('*').map_or((run, Ok(1)), |(each, times)| (each, number(times)));
            let (each, times) = (number(each)?, times?);
            if times > inputs + gates - readers.len() {
                return Err(format!("there are readers of more than {inputs} inputs and {gates} gates"));
            }
            readers.resize(readers.len() + times, each as u32);
        }
        if readers.len() < inputs + gates {
            let (has, wires) = (readers.len(), inputs + gates);
            return Err(format!("readers of {has} wires are given, and inputs and gates are {wires}"));
        }
        let (inputs, gates) = readers.split_at(inputs);
        Arity::new(inputs, gates, outputs)
    }
}

#[cfg(test)]
mod tests;
