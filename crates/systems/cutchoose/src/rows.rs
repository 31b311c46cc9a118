//! `Rows`: a memory of wires that each hold one label of every copy, side by side; and `Layout`: where the inputs are in it.

use std::collections::BTreeMap;

use comity_circuit::{Program, Step};
use comity_core::{Block, Error, Result, Table};

use crate::gates::wires;
use crate::plan::Plan;

/// A row of `width` labels for each wire; zero at the start, which is the constant zero on both sides.
pub(crate) struct Rows {
    width: usize,
    /// On huge pages, since there are tens of MiB of them, and wiped on drop.
    blocks: Table,
}

impl Rows {
    /// Rows for so many wires.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is not the memory.
    pub(crate) fn new(width: usize, wires: usize) -> Result<Rows> {
        let blocks = Table::try_zeroed(wires.saturating_mul(width)).ok_or_else(|| {
            Error::invalid_input(format!(
                "{wires} wires with a label for each of {width} copies do not fit the memory of this machine"
            ))
        })?;
        Ok(Rows { width, blocks })
    }

    /// Copies side by side.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The rows of `wires` wires from `start` on.
    pub(crate) fn get(&self, start: usize, wires: usize) -> &[Block] {
        &self.blocks[start * self.width..][..wires * self.width]
    }

    /// As [`Rows::get`], to be written.
    pub(crate) fn get_mut(&mut self, start: usize, wires: usize) -> &mut [Block] {
        &mut self.blocks[start * self.width..][..wires * self.width]
    }

    /// Writes the labels of one copy, the `k`-th, to the rows of some wires.
    pub(crate) fn put_column(&mut self, k: usize, wires: &[usize], labels: &[Block]) {
        let (width, blocks) = (self.width, &mut self.blocks[..]);
        for (&wire, label) in wires.iter().zip(labels) {
            blocks[wire * width + k] = *label;
        }
    }

    /// Copies the `wires` rows from `from` on to those from `to` on.
    pub(crate) fn copy(&mut self, from: usize, to: usize, wires: usize) {
        let from = from * self.width;
        self.blocks.copy_within(from..from + wires * self.width, to * self.width);
    }

    /// Adds the `wires` rows from `from` on to those from `to` on, which are others.
    pub(crate) fn add(&mut self, from: usize, to: usize, wires: usize) {
        let (low, high) = (from.min(to), from.max(to));
        let (head, tail) = self.blocks.split_at_mut(high * self.width);
        let (low, high) = (&mut head[low * self.width..], &mut tail[..wires * self.width]);
        let (to, from) = if from < to { (high, &*low) } else { (low, &*high) };
        to.iter_mut().zip(from).take(wires * self.width).for_each(|(to, from)| *to ^= *from);
    }
}

/// Whose input.
#[derive(Clone, Copy)]
pub(crate) enum Owner {
    Garbler,
    Evaluator,
}

/// Some bits of an input, and the row of the first one; the others follow.
#[derive(Clone, Copy)]
pub(crate) struct Run {
    pub(crate) bit: usize,
    pub(crate) row: usize,
    pub(crate) bits: usize,
}

/// Which row of a memory is which wire: the program's wires and those behind them, then input bits that wait to be put in.
///
/// The labels of inputs that a program takes before it does anything else are written to their wires at once: few
/// bits wait.
pub(crate) struct Layout {
    rows: usize,
    /// The garbler's input and the evaluator's.
    inputs: [Vec<Run>; 2],
}

impl Layout {
    pub(crate) fn new(plan: &Plan, program: &Program) -> Layout {
        let mut layout = Layout { rows: wires(plan, program.wires()), inputs: [Vec::new(), Vec::new()] };
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
            let owner = if owner.includes(plan.garbler) { Owner::Garbler } else { Owner::Evaluator };
            layout.push(owner, Run { bit: next[owner as usize], row, bits });
            next[owner as usize] += bits;
        }
        for (owner, all) in [(Owner::Garbler, plan.garblers()), (Owner::Evaluator, plan.probe.bits())] {
            let bit = next[owner as usize];
            layout.push(owner, Run { bit, row: layout.rows, bits: all - bit });
            layout.rows = layout.rows.saturating_add(all - bit);
        }
        layout
    }

    fn push(&mut self, owner: Owner, run: Run) {
        let runs = &mut self.inputs[owner as usize];
        match runs.last_mut() {
            Some(last) if last.row + last.bits == run.row => last.bits += run.bits,
            _ if run.bits > 0 => runs.push(run),
            _ => {}
        }
    }

    /// A memory of so many copies.
    pub(crate) fn memory(&self, width: usize) -> Result<Rows> {
        Rows::new(width, self.rows)
    }

    /// Where the `bits` bits of an input from `from` on are.
    pub(crate) fn runs(&self, owner: Owner, from: usize, bits: usize) -> impl Iterator<Item = Run> {
        let end = from + bits;
        let runs = &self.inputs[owner as usize];
        let first = runs.partition_point(|run| run.bit + run.bits <= from);
        runs[first..].iter().take_while(move |run| run.bit < end).map(move |run| {
            let bit = run.bit.max(from);
            Run { bit, row: run.row + (bit - run.bit), bits: end.min(run.bit + run.bits) - bit }
        })
    }

    /// The row of each of these bits.
    pub(crate) fn rows(&self, owner: Owner, from: usize, bits: usize, out: &mut Vec<usize>) {
        out.clear();
        out.extend(self.runs(owner, from, bits).flat_map(|run| run.row..run.row + run.bits));
    }
}

/// Where the evaluator puts the labels of inputs.
pub(crate) struct Places<'a> {
    pub(crate) layout: &'a Layout,
    /// The labels for zero of the checked copies, if these are garbled while the tables arrive.
    pub(crate) zeros: Option<&'a mut Rows>,
    /// The active labels of the evaluated copies.
    pub(crate) active: &'a mut Rows,
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
        let program_wires = wires(&plan, program.wires());
        let mut rows = Vec::new();
        layout.rows(Owner::Garbler, 0, 6, &mut rows);
        assert_eq!(rows, [0, 1, 2, program_wires, program_wires + 1, program_wires + 2]);
        layout.rows(Owner::Evaluator, 1, 2, &mut rows);
        assert_eq!(rows, [4, 5]);
        layout.rows(Owner::Garbler, 2, 2, &mut rows);
        assert_eq!(rows, [2, program_wires]);
        assert_eq!(layout.rows, program_wires + 3);
    }

    #[test]
    fn rows_are_added_both_ways() {
        let mut rows = Rows::new(2, 4).expect("memory");
        let blocks = |values: [u128; 2]| values.map(Block::from_u128);
        rows.get_mut(0, 1).copy_from_slice(&blocks([1, 2]));
        rows.get_mut(3, 1).copy_from_slice(&blocks([8, 12]));
        rows.add(0, 3, 1);
        assert_eq!(rows.get(3, 1), blocks([9, 14]));
        rows.add(3, 0, 1);
        assert_eq!(rows.get(0, 1), blocks([8, 12]));
    }
}
