//! From segments and loops to the steps of a program.

use std::borrow::Cow;
use std::collections::BTreeMap;
use std::rc::Rc;

use comity_circuit::{Circuit, CircuitList, Span, Step};

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
    classes: &'a [Class],
    loops: &'a [Loop],
    circuits: CircuitList,
    /// The places of each digit, which add up.
    at: BTreeMap<Digit, Vec<At>>,
    /// The number of loops around.
    depth: usize,
}

impl<'a> Emitter<'a> {
    pub(super) fn new(classes: &'a [Class], loops: &'a [Loop]) -> Emitter<'a> {
        let circuits = CircuitList::default();
        Emitter { classes, loops, circuits, at: BTreeMap::new(), depth: 0 }
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
                Item::Circuit(call) => steps.push(self.call(call)),
                Item::Loop(id, items) => steps.extend(self.repeat(*id, items)),
            }
        }
        steps
    }

    fn repeat(&mut self, id: LoopId, items: &[Item]) -> Vec<Step> {
        let (times, halves) = (self.loops[id as usize].times, self.loops[id as usize].halves());
        let depth = self.depth;
        let [turn, low, high] = [Digit::Turn(id), Digit::Low(id), Digit::High(id)];
        if !self.loops[id as usize].counted || times <= TABLE {
            let both = [turn, low].map(|digit| (digit, vec![At::Moving(depth, 1)]));
            return self.turns(times, items, both.to_vec());
        }
        // The turn is chunk * high + low.
        let chunk = 1u64 << halves.0;
        let (whole, rest) = (times / chunk, times % chunk);
        let step = chunk as i64;
        self.depth += 1;
        let digits = vec![
            (turn, vec![At::Moving(depth, step), At::Moving(depth + 1, 1)]),
            (low, vec![At::Moving(depth + 1, 1)]),
            (high, vec![At::Moving(depth, 1)]),
        ];
        let body = self.turns(chunk, items, digits);
        self.depth -= 1;
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

    /// The turns of one loop of the program.
    fn turns(&mut self, times: u64, items: &[Item], digits: Vec<(Digit, Vec<At>)>) -> Vec<Step> {
        let names: Vec<Digit> = digits.iter().map(|(digit, _)| *digit).collect();
        self.at.extend(digits);
        self.depth += 1;
        let body = self.steps(items);
        self.depth -= 1;
        for digit in names {
            self.at.remove(&digit);
        }
        if body.is_empty() { Vec::new() } else { vec![Step::Repeat { times, body }] }
    }

    fn call(&mut self, call: &Call) -> Step {
        let spans = |runs: &Runs, strides: &[i64]| {
            let span = |(i, &(cell, bits)): (usize, &(Cell, u64))| {
                (self.span(cell, bits), strides.get(i).copied().unwrap_or(0))
            };
            runs.iter().enumerate().map(span).collect::<Vec<_>>()
        };
        let (args, outs) = (spans(&call.args, &call.strides.0), spans(&call.outs, &call.strides.1));
        let circuit = self.circuits.add(Cow::Borrowed(&call.circuit));
        Step::Call { circuit, times: call.times, args, outs }
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
