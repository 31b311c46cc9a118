//! From segments and loops to the steps of a program.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use comity_circuit::{Builder, Circuit, CircuitList, Program, Span, Step, Wire};

use super::affine::LoopId;
use super::segment::{Cell, Runs};

/// Loops whose turn is used as a value have one table of all turns up to this many; longer ones are split in two.
pub(super) const TABLE: u64 = 1 << 11;

/// A digit, with which a class of cells moves.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Digit {
    /// The turn of a loop.
    Turn(LoopId),
    /// The lower half of the turn's bits, all of them if the loop is short.
    Low(LoopId),
    /// The upper half.
    High(LoopId),
}

/// How cells move: wires for each digit, in order.
pub(super) type Class = Vec<(Digit, i64)>;

/// A part of the program.
pub(super) enum Item {
    /// A segment that is open or closed.
    Segment(u32),
    /// A segment that is finished.
    Circuit(Box<Call>),
    Loop(LoopId, Vec<Item>),
}

/// Calls of a circuit.
pub(super) struct Call {
    pub(super) circuit: Rc<Circuit>,
    pub(super) args: Runs,
    pub(super) outs: Runs,
    /// The number of calls, and how far each argument and result moves from one to the next.
    pub(super) times: u64,
    pub(super) strides: (Vec<i64>, Vec<i64>),
}

/// A loop that is kept.
pub(super) struct Loop {
    pub(super) times: u64,
    /// Whether the loop's turn is used as a value.
    pub(super) counted: bool,
}

impl Loop {
    /// The bits of the turn's lower and upper half.
    pub(super) fn halves(&self) -> (u32, u32) {
        let bits = (u64::BITS - (self.times - 1).leading_zeros()).max(1);
        if self.times <= TABLE { (bits, 0) } else { (bits.div_ceil(2), bits / 2) }
    }
}

/// The place of a digit at present.
#[derive(Clone, Copy)]
enum At {
    /// The digit moves with the loop of the program at this depth, by this step for each turn.
    Moving(usize, i64),
    /// The digit stands still at this value.
    Still(i64),
}

pub(super) struct Emitter<'a> {
    wires: u64,
    classes: &'a [Class],
    loops: &'a [Loop],
    circuits: CircuitList,
    /// The places of each digit, which add up.
    at: BTreeMap<Digit, Vec<At>>,
    /// The turns of the loops around.
    around: Vec<u64>,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(wires: u64, classes: &'a [Class], loops: &'a [Loop]) -> Emitter<'a> {
        let circuits = CircuitList::default();
        Emitter { wires, classes, loops, circuits, at: BTreeMap::new(), around: Vec::new() }
    }

    /// The circuits that the steps call.
    pub(super) fn circuits(self) -> Vec<Circuit> {
        self.circuits.into_circuits()
    }

    pub(super) fn steps(&mut self, items: &[Item]) -> Vec<Step> {
        let mut steps = Vec::new();
        for item in items {
            match item {
                Item::Segment(_) => {}
                Item::Circuit(call) => steps.push(self.call(call, call.times, None)),
                Item::Loop(id, items) => steps.extend(self.repeat(*id, items)),
            }
        }
        steps
    }

    fn repeat(&mut self, id: LoopId, items: &[Item]) -> Vec<Step> {
        let (times, halves) = (self.loops[id as usize].times, self.loops[id as usize].halves());
        let depth = self.around.len();
        let [turn, low, high] = [Digit::Turn(id), Digit::Low(id), Digit::High(id)];
        if !self.loops[id as usize].counted || times <= TABLE {
            let both = [turn, low].map(|digit| (digit, vec![At::Moving(depth, 1)]));
            return self.turns(times, items, both.to_vec());
        }
        // The turn is chunk * high + low.
        let chunk = 1u64 << halves.0;
        let (whole, rest) = (times / chunk, times % chunk);
        let step = chunk as i64;
        self.around.push(whole);
        let digits = vec![
            (turn, vec![At::Moving(depth, step), At::Moving(depth + 1, 1)]),
            (low, vec![At::Moving(depth + 1, 1)]),
            (high, vec![At::Moving(depth, 1)]),
        ];
        let body = self.turns(chunk, items, digits);
        self.around.pop();
        let mut steps = vec![Step::Repeat { times: whole, body }];
        if rest > 0 {
            let done = whole as i64;
            let digits = vec![
                (turn, vec![At::Still(done * step), At::Moving(depth, 1)]),
                (low, vec![At::Moving(depth, 1)]),
                (high, vec![At::Still(done)]),
            ];
            steps.extend(self.turns(rest, items, digits));
        }
        steps.retain(|step| !matches!(step, Step::Repeat { body, .. } if body.is_empty()));
        steps
    }

    /// The turns of one loop of the program: independent calls, if they are, or one after another.
    fn turns(&mut self, times: u64, items: &[Item], digits: Vec<(Digit, Vec<At>)>) -> Vec<Step> {
        let names: Vec<Digit> = digits.iter().map(|(digit, _)| *digit).collect();
        self.at.extend(digits);
        let depth = self.around.len();
        let parallel = match items {
            [Item::Circuit(call)] if call.times == 1 => {
                Some(self.call(call, times, Some(depth))).filter(|step| self.independent(step, call))
            }
            _ => None,
        };
        let steps = match parallel {
            Some(step) => vec![step],
            None => {
                self.around.push(times);
                let body = self.steps(items);
                self.around.pop();
                if body.is_empty() { Vec::new() } else { vec![Step::Repeat { times, body }] }
            }
        };
        for digit in names {
            self.at.remove(&digit);
        }
        steps
    }

    /// Whether the calls of a step may run side by side.
    fn independent(&self, step: &Step, call: &Call) -> bool {
        // The gates do not matter for that: a circuit of the same shape without any is tried.
        let mut shape = Builder::new();
        for group in call.circuit.inputs() {
            shape.input("", group.bits);
        }
        for group in call.circuit.outputs() {
            shape.output("", &vec![Wire::ZERO; group.bits]);
        }
        let Step::Call { times, args, outs, .. } = step.clone() else { return false };
        let alone = Step::Call { circuit: 0, times, args, outs };
        let nested = self.around.iter().rev().fold(alone, |step, &times| Step::Repeat { times, body: vec![step] });
        Program::new("", self.wires, vec![shape.finish()], vec![nested]).is_ok()
    }

    fn call(&mut self, call: &Call, times: u64, depth: Option<usize>) -> Step {
        let spans = |runs: &Runs, strides: &[i64]| {
            let span = |(i, &(cell, bits)): (usize, &(Cell, u64))| {
                let (mut span, mut stride) = (self.span(cell, bits), strides.get(i).copied().unwrap_or(0));
                if let Some(moved) = depth.and_then(|depth| span.strides.get_mut(depth)) {
                    stride += std::mem::take(moved);
                }
                (span, stride)
            };
            runs.iter().enumerate().map(span).collect::<Vec<_>>()
        };
        let (args, outs) = (spans(&call.args, &call.strides.0), spans(&call.outs, &call.strides.1));
        let circuit = self.circuits.add(Cow::Borrowed(&call.circuit));
        Step::Call { circuit, times, args, outs }
    }

    fn span(&self, cell: Cell, bits: u64) -> Span {
        let (mut start, mut strides) = (i64::from(cell.base), Vec::new());
        for (digit, stride) in &self.classes[cell.class as usize] {
            for at in self.at.get(digit).into_iter().flatten() {
                match *at {
                    At::Still(value) => start += stride * value,
                    At::Moving(depth, factor) => {
                        if strides.len() <= depth {
                            strides.resize(depth + 1, 0);
                        }
                        strides[depth] += stride * factor;
                    }
                }
            }
        }
        Span { start: start as u64, bits, strides }
    }
}
