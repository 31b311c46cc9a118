//! `Layout`: where the inputs are in the memory of the copies.

use std::collections::BTreeMap;

use comity_circuit::{Program, Step};
use comity_core::Result;
use comity_garble::lockstep::{GarblingParty, LabelRows};

use crate::plan::Plan;

/// A run of bits of an input: the first bit, its row, and how many there are; the other rows follow.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) bit: usize,
    pub(crate) row: usize,
    pub(crate) bits: usize,
}

/// The layout of a memory's rows: the program's wires and those behind them, then input bits that wait to be put in.
///
/// The labels of inputs that a program takes before it does anything else are written to their wires at once: few
/// bits wait.
pub(crate) struct Layout {
    rows: usize,
    /// The runs of the garbler's input and of the evaluator's.
    inputs: [Vec<Run>; 2],
}

impl Layout {
    pub(crate) fn new(plan: &Plan, program: &Program) -> Layout {
        let mut layout = Layout { rows: plan.wires(program.wires()), inputs: [Vec::new(), Vec::new()] };
        let mut next = [0; 2];
        // Where what is taken ends, by where it starts.
        let mut taken = BTreeMap::new();
        for step in program.steps() {
            let Step::Input { owner, to, .. } = step else { break };
            // What fits the memory is no larger.
            let (row, bits) = (to.start as usize, to.bits as usize);
            if taken.range(..row + bits).next_back().is_some_and(|(_, &end)| end > row) {
                break;
            }
            if bits > 0 {
                taken.insert(row, row + bits);
            }
            let party = GarblingParty::of(*owner, plan.garbler);
            layout.push(party, Run { bit: next[party as usize], row, bits });
            next[party as usize] += bits;
        }
        for (party, all) in [(GarblingParty::Garbler, plan.garblers()), (GarblingParty::Evaluator, plan.probe.bits())] {
            let bit = next[party as usize];
            layout.push(party, Run { bit, row: layout.rows, bits: all - bit });
            layout.rows = layout.rows.saturating_add(all - bit);
        }
        layout
    }

    fn push(&mut self, party: GarblingParty, run: Run) {
        let runs = &mut self.inputs[party as usize];
        match runs.last_mut() {
            Some(last) if last.row + last.bits == run.row => last.bits += run.bits,
            _ if run.bits > 0 => runs.push(run),
            _ => {}
        }
    }

    /// A memory of `width` copies.
    pub(crate) fn memory(&self, width: usize) -> Result<LabelRows> {
        LabelRows::new(width, self.rows)
    }

    /// The runs of the `bits` bits of an input from `from` on.
    pub(crate) fn runs(&self, party: GarblingParty, from: usize, bits: usize) -> impl Iterator<Item = Run> {
        let end = from + bits;
        let runs = &self.inputs[party as usize];
        let first = runs.partition_point(|run| run.bit + run.bits <= from);
        runs[first..].iter().take_while(move |run| run.bit < end).map(move |run| {
            let bit = run.bit.max(from);
            Run { bit, row: run.row + (bit - run.bit), bits: end.min(run.bit + run.bits) - bit }
        })
    }

    /// The row of each of the `bits` bits of an input from `from` on.
    pub(crate) fn rows(&self, party: GarblingParty, from: usize, bits: usize, out: &mut Vec<usize>) {
        out.clear();
        out.extend(self.runs(party, from, bits).flat_map(|run| run.row..run.row + run.bits));
    }
}

/// The pieces of at most `size` that `len` is cut into: where each starts, and how long it is.
pub(crate) fn pieces(len: usize, size: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..len).step_by(size.max(1)).map(move |start| (start, size.min(len - start)))
}

/// The places where the evaluator puts the labels of inputs.
pub(crate) struct Places<'a> {
    pub(crate) layout: &'a Layout,
    /// The labels for zero of the checked copies, if these are garbled while the tables arrive.
    pub(crate) zeros: Option<&'a mut LabelRows>,
    /// The active labels of the evaluated copies.
    pub(crate) active: &'a mut LabelRows,
}

#[cfg(test)]
mod tests {
    use comity_circuit::{Builder, ProgramBuilder, Recipients};
    use comity_core::{Params, PartyId};

    use super::*;
    use crate::intake::Form;

    #[test]
    fn leading_inputs_are_at_their_wires_and_later_ones_wait() {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", 3), b.input("y", 3));
        let both: Vec<_> = x.iter().zip(&y).map(|(&x, &y)| b.and(x, y)).collect();
        b.output("z", &both);
        let circuit = b.finish();
        let mut p = ProgramBuilder::new("late");
        let circuit = p.circuit(circuit);
        let (x, y, z) = (p.input("x", 0, 3), p.input("y", 1, 3), p.register(3));
        p.call(circuit, &[x.span(), y.span()], &[z.span()]);
        let late = p.input("late", 0, 3);
        p.call(circuit, &[z.span(), late.span()], &[z.span()]);
        p.reveal("z", Recipients::only(1), z);
        let program = p.finish().expect("a program");
        let plan = Plan::new(&program, PartyId(0), Params::new(128, 4).expect("parameters"), Form::All);
        let layout = Layout::new(&plan, &program);
        let program_wires = plan.wires(program.wires());
        let mut rows = Vec::new();
        layout.rows(GarblingParty::Garbler, 0, 6, &mut rows);
        assert_eq!(rows, [0, 1, 2, program_wires, program_wires + 1, program_wires + 2]);
        layout.rows(GarblingParty::Evaluator, 1, 2, &mut rows);
        assert_eq!(rows, [4, 5]);
        layout.rows(GarblingParty::Garbler, 2, 2, &mut rows);
        assert_eq!(rows, [2, program_wires]);
        assert_eq!(layout.rows, program_wires + 3);
    }
}
