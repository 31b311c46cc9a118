//! The checks behind `Program::new`.

use super::overlap::{Term, reaches};
use super::{CallOperand, Input, Output, Program, ProgramError, Span, Step, StepPath, Totals};
use crate::circuit::{Circuit, Counts};
use crate::types::Type;

/// Steps of the search for overlaps that a program may take, and those that each span of its calls adds: a program of
/// whatever shape is checked in time proportional to its size. A usual call takes about ten for a span.
const BUDGET: u64 = 1 << 22;
const BUDGET_PER_SPAN: u64 = 256;

/// The facts that the checks find out on the way.
pub(super) struct Checked {
    pub(super) inputs: Vec<Input>,
    pub(super) outputs: Vec<Output>,
    pub(super) totals: Totals,
}

/// Zeroes strides of loops and calls that are done once, and drops trailing zeros. True if that changed anything.
pub(super) fn normalize(steps: &mut [Step]) -> bool {
    fn span(span: &mut Span, once: &[bool]) -> bool {
        let moved = span.strides.iter_mut().zip(once).filter(|(stride, once)| **once && **stride != 0);
        let stopped = moved.map(|(stride, _)| *stride = 0).count();
        let used = span.strides.iter().rposition(|&stride| stride != 0).map_or(0, |i| i + 1);
        // More strides than loops are left for the check to refuse.
        let cut = used < span.strides.len();
        span.strides.truncate(used);
        stopped > 0 || cut
    }
    fn walk(steps: &mut [Step], once: &mut Vec<bool>) -> bool {
        let mut changed = false;
        for step in steps {
            changed |= match step {
                Step::Input { to: wires, .. } | Step::Reveal { from: wires, .. } => span(wires, once),
                Step::Call { times, args, outs, .. } => {
                    let once_called = *times == 1;
                    args.iter_mut().chain(outs).fold(false, |changed, (wires, stride)| {
                        let moved = once_called && std::mem::take(stride) != 0;
                        span(wires, once) | moved | changed
                    })
                }
                Step::Repeat { times, body } => {
                    if once.len() == Program::MAX_NESTING {
                        return changed;
                    }
                    once.push(*times == 1);
                    let inside = walk(body, once);
                    once.pop();
                    inside
                }
            };
        }
        changed
    }
    walk(steps, &mut Vec::new())
}

pub(super) fn check(wires: u64, circuits: &[Circuit], steps: &[Step]) -> Result<Checked, ProgramError> {
    if wires > Program::MAX_WIRES {
        return Err(ProgramError::TooManyWires(wires));
    }
    let mut checker = Checker {
        wires,
        circuits,
        counts: circuits.iter().map(Circuit::counts).collect(),
        loops: Vec::new(),
        path: Vec::new(),
        budget: BUDGET,
        inputs: Vec::new(),
        outputs: Vec::new(),
    };
    let totals = checker.steps(steps)?;
    Ok(Checked { inputs: checker.inputs, outputs: checker.outputs, totals })
}

struct Checker<'a> {
    wires: u64,
    circuits: &'a [Circuit],
    counts: Vec<Counts>,
    /// The turns of the loops around the step, outermost first.
    loops: Vec<u64>,
    path: Vec<usize>,
    /// Steps of the search for overlaps that are left.
    budget: u64,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
}

/// A span of a call: its operand, the highest and lowest wire that any turn and call reaches, how it moves.
struct Place<'a> {
    operand: CallOperand,
    first: i128,
    last: i128,
    span: &'a Span,
    stride: i64,
}

impl Checker<'_> {
    fn at(&self) -> StepPath {
        StepPath(self.path.clone())
    }

    fn steps(&mut self, steps: &[Step]) -> Result<Totals, ProgramError> {
        let mut totals = Totals::default();
        self.path.push(0);
        for (i, step) in steps.iter().enumerate() {
            if let Some(last) = self.path.last_mut() {
                *last = i;
            }
            totals = add(totals, self.step(step)?).ok_or(ProgramError::TooLarge)?;
        }
        self.path.pop();
        Ok(totals)
    }

    fn step(&mut self, step: &Step) -> Result<Totals, ProgramError> {
        match step {
            Step::Input { .. } | Step::Reveal { .. } if !self.loops.is_empty() => Err(ProgramError::Nested(self.at())),
            Step::Input { name, owner, to } => {
                owner.check()?;
                self.range(to, 1, 0)?;
                let bits = to.bits as usize;
                self.inputs.push(Input { name: name.clone(), bits, owner: *owner, ty: Type::Bits(bits) });
                Ok(Totals::default())
            }
            Step::Reveal { name, to, from } => {
                to.check()?;
                self.range(from, 1, 0)?;
                let bits = from.bits as usize;
                self.outputs.push(Output { name: name.clone(), bits, to: *to, ty: Type::Bits(bits) });
                Ok(Totals::default())
            }
            Step::Repeat { times: 0, .. } | Step::Call { times: 0, .. } => Err(ProgramError::ZeroTimes(self.at())),
            Step::Repeat { body, .. } if body.is_empty() => Err(ProgramError::EmptyLoop(self.at())),
            Step::Repeat { times, body } => {
                if self.loops.len() == Program::MAX_NESTING {
                    return Err(ProgramError::TooDeep(self.at()));
                }
                self.loops.push(*times);
                let turn = self.steps(body)?;
                self.loops.pop();
                multiply(turn, *times, *times).ok_or(ProgramError::TooLarge)
            }
            Step::Call { circuit, times, args, outs } => self.call(*circuit, *times, args, outs),
        }
    }

    fn call(
        &mut self,
        circuit: usize,
        times: u64,
        args: &[(Span, i64)],
        outs: &[(Span, i64)],
    ) -> Result<Totals, ProgramError> {
        let count = self.circuits.len();
        let Some(called) = self.circuits.get(circuit) else {
            return Err(ProgramError::NoCircuit { step: self.at(), circuit, count });
        };
        for (what, spans, groups) in [("input", args, called.inputs()), ("output", outs, called.outputs())] {
            let (given, takes) = (spans.len(), groups.len());
            if given != takes {
                return Err(ProgramError::Arity { step: self.at(), what, given, takes });
            }
            for (value, ((span, _), group)) in spans.iter().zip(groups).enumerate() {
                let (given, takes) = (span.bits, group.bits);
                if given != takes as u64 {
                    return Err(ProgramError::Width { step: self.at(), what, value, given, takes });
                }
            }
        }
        let mut places = Vec::with_capacity(args.len() + outs.len());
        let args = args.iter().enumerate().map(|(i, arg)| (CallOperand::Input(i), arg));
        let outs = outs.iter().enumerate().map(|(i, out)| (CallOperand::Output(i), out));
        for (operand, (span, stride)) in args.chain(outs) {
            let (first, last) = self.range(span, times, *stride)?;
            if span.bits > 0 {
                places.push(Place { operand, first, last, span, stride: *stride });
            }
        }
        self.independent(times, places)?;
        let Counts { and, xor, not, and_depth } = self.counts[circuit];
        let once = Totals { calls: 1, and, xor, not, and_depth };
        multiply(once, times, 1).ok_or(ProgramError::TooLarge)
    }

    /// The wires that a span reaches over all turns and calls.
    fn range(&self, span: &Span, times: u64, stride: i64) -> Result<(i128, i128), ProgramError> {
        if span.strides.len() > self.loops.len() {
            let (given, loops) = (span.strides.len(), self.loops.len());
            return Err(ProgramError::Strides { step: self.at(), given, loops });
        }
        let moves = span.strides.iter().zip(&self.loops).chain([(&stride, &times)]);
        let moves = moves.map(|(&stride, &times)| i128::from(stride) * (i128::from(times) - 1));
        let (back, forth) = moves.fold((0i128, 0i128), |(back, forth), by| {
            (back.saturating_add(by.min(0)), forth.saturating_add(by.max(0)))
        });
        let first = back.saturating_add(i128::from(span.start));
        let end = forth.saturating_add(i128::from(span.start) + i128::from(span.bits));
        if first < 0 || end > i128::from(self.wires) {
            return Err(ProgramError::OutsideMemory { step: self.at(), first, last: end - 1, wires: self.wires });
        }
        Ok((first, end - 1))
    }

    /// Checks that calls are independent: what one call writes is written once, and no other call reads or writes it.
    fn independent(&mut self, times: u64, mut places: Vec<Place>) -> Result<(), ProgramError> {
        places.sort_by_key(|place| place.first);
        self.budget += BUDGET_PER_SPAN * places.len() as u64;
        for (i, place) in places.iter().enumerate() {
            for other in places[i..].iter().take_while(|other| other.first <= place.last) {
                let operands = (place.operand, other.operand);
                self.budget = self.budget.saturating_sub(1);
                let twice = matches!(operands, (CallOperand::Output(a), CallOperand::Output(b)) if a != b)
                    && self.meet_in_one_call(times, place, other);
                let across = !twice
                    && times > 1
                    && !matches!(operands, (CallOperand::Input(_), CallOperand::Input(_)))
                    && self.meet_across_calls(times, place, other);
                match operands {
                    _ if self.budget == 0 => return Err(ProgramError::TooTangled(self.at())),
                    (CallOperand::Output(a), CallOperand::Output(b)) if twice => {
                        return Err(ProgramError::WrittenTwice { step: self.at(), a: a.min(b), b: a.max(b) });
                    }
                    (CallOperand::Output(written), other) | (other, CallOperand::Output(written)) if across => {
                        return Err(ProgramError::Dependent { step: self.at(), written, other });
                    }
                    _ => {}
                }
            }
        }
        Ok(())
    }

    /// The distance from place `a` to place `b` in the first call, as a start and terms for the loops.
    fn distance(&self, a: &Place, b: &Place) -> (i128, Vec<Term>) {
        let stride = |place: &Place, depth: usize| i128::from(place.span.strides.get(depth).copied().unwrap_or(0));
        let terms = self
            .loops
            .iter()
            .enumerate()
            .map(|(depth, &times)| Term { factor: stride(b, depth) - stride(a, depth), last: i128::from(times) - 1 });
        (i128::from(b.span.start) - i128::from(a.span.start), terms.collect())
    }

    fn meet_in_one_call(&mut self, times: u64, a: &Place, b: &Place) -> bool {
        let (start, mut terms) = self.distance(a, b);
        terms.push(Term { factor: i128::from(b.stride) - i128::from(a.stride), last: i128::from(times) - 1 });
        self.meet(start, &terms, a, b)
    }

    /// Whether `a` in some call and `b` in another one share a wire. Two conditions, each necessary: some pair of
    /// calls, the same one included, makes them meet; some call and a later one do, with as many calls added.
    fn meet_across_calls(&mut self, times: u64, a: &Place, b: &Place) -> bool {
        let (start, terms) = self.distance(a, b);
        let (s, u) = (i128::from(a.stride), i128::from(b.stride));
        let mut with = |start: i128, last: u64, factors: [i128; 2]| {
            let calls = factors.map(|factor| Term { factor, last: i128::from(last) });
            self.meet(start, &[&terms[..], &calls].concat(), a, b)
        };
        with(start, times - 1, [u, -s])
            && (with(start + u, times - 2, [u - s, u]) || with(start - s, times - 2, [u - s, -s]))
    }

    /// Whether spans at this distance share a wire: `b` starts before `a` ends, and the other way round.
    fn meet(&mut self, start: i128, terms: &[Term], a: &Place, b: &Place) -> bool {
        reaches(start, terms, 1 - i128::from(b.span.bits), i128::from(a.span.bits) - 1, &mut self.budget)
    }
}

fn add(a: Totals, b: Totals) -> Option<Totals> {
    Some(Totals {
        calls: a.calls.checked_add(b.calls)?,
        and: a.and.checked_add(b.and)?,
        xor: a.xor.checked_add(b.xor)?,
        not: a.not.checked_add(b.not)?,
        and_depth: a.and_depth.checked_add(b.and_depth)?,
    })
}

fn multiply(once: Totals, times: u64, in_sequence: u64) -> Option<Totals> {
    Some(Totals {
        calls: once.calls.checked_mul(times)?,
        and: once.and.checked_mul(times)?,
        xor: once.xor.checked_mul(times)?,
        not: once.not.checked_mul(times)?,
        and_depth: once.and_depth.checked_mul(in_sequence)?,
    })
}
