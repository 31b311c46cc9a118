//! Step 5, the garbled circuits: the program and what is around it ([`plan`](crate::plan)), over the copies
//! of either party.
//!
//! All copies run in lockstep at the garbler; at the evaluator the checked copies are garbled again and
//! compared, the others evaluated, while the tables arrive. Memory is the program's wires, a label of each
//! copy for each, and one buffer of tables, however many gates the program has.

use comity_circuit::{Call, Lowered, Observer, Place, Program};
use comity_core::{Block, Result};
use comity_garble::lockstep::{self, GarblingParty, LabelRows, LockstepSide};

use crate::plan::{OUTPUTS, Plan, Revealed};
use crate::rows::{Layout, pieces};

/// A party's copies, and its work on gates and outputs.
pub(crate) trait CopySide {
    /// Passes on the memory of each kind of copies: of all, or of the checked ones and of the evaluated ones.
    fn memories(&mut self, each: &mut dyn FnMut(&mut LabelRows));
    /// Does calls in every copy.
    fn call(&mut self, call: &Call<'_>) -> Result<()>;
    /// Reveals the next output bits, at most [`OUTPUTS`]: `bits` wires from `at` on.
    fn reveal(&mut self, at: usize, bits: usize) -> Result<()>;
}

/// Runs a program and the tag of the garbler's outputs over a side, which is returned.
pub(crate) fn run<S: CopySide>(
    plan: &Plan,
    layout: &Layout,
    program: &Program,
    side: S,
    observer: &mut dyn Observer,
) -> Result<S> {
    let mut augmented = Augmented::new(plan, layout, program.wires(), side);
    lockstep::run(program, plan.garbler, &mut augmented, observer)?;
    augmented.finish()
}

/// The program with pads and tag around it, `f'` of Figure 3, over a side.
struct Augmented<'a, S> {
    plan: &'a Plan,
    layout: &'a Layout,
    side: S,
    /// The next pad bit, in the garbler's input.
    pad: usize,
    /// The tag's circuit, and the wires behind the program's that it works on.
    tag: Option<(Lowered, TagWires)>,
    /// Wires for an output on its way.
    output: usize,
}

/// The wires where the tag's computation keeps its values.
#[derive(Clone, Copy)]
struct TagWires {
    tag: usize,
    block: usize,
    key: usize,
}

impl<'a, S: CopySide> Augmented<'a, S> {
    fn new(plan: &'a Plan, layout: &'a Layout, program_wires: u64, side: S) -> Augmented<'a, S> {
        // The layout has room for this number of wires.
        let output = program_wires as usize;
        let k = plan.tag();
        let tag = plan.mac.as_ref().map(|mac| {
            let block = output + OUTPUTS.max(k);
            (Lowered::new(mac.circuit()), TagWires { block, tag: block + k, key: block + 2 * k })
        });
        let mut augmented = Augmented { plan, layout, side, pad: plan.own, tag, output };
        if let Some(at) = augmented.tag.as_ref().map(|(_, wires)| wires.key) {
            augmented.put_in(GarblingParty::Garbler, plan.own + plan.pads, at, k);
        }
        augmented
    }

    /// Copies input bits from `from` on to wires, where they are not there already.
    fn put_in(&mut self, party: GarblingParty, from: usize, at: usize, bits: usize) {
        for run in self.layout.runs(party, from, bits) {
            let to = at + (run.bit - from);
            if run.row != to {
                self.copy(run.row, to, run.bits);
            }
        }
    }

    /// Adds input bits of the garbler from `from` on to wires.
    fn add_input(&mut self, from: usize, at: usize, bits: usize) {
        for run in self.layout.runs(GarblingParty::Garbler, from, bits) {
            let to = at + (run.bit - from);
            self.side.memories(&mut |memory| memory.add(run.row, to, run.bits));
        }
    }

    fn copy(&mut self, from: usize, to: usize, bits: usize) {
        self.side.memories(&mut |memory| memory.copy(from, to, bits));
    }

    /// Takes an output value into the tag, as it comes out.
    fn authenticate(&mut self, output: &Revealed, start: usize, bits: usize) -> Result<()> {
        let Some((circuit, wires)) = self.tag.take() else { return Ok(()) };
        let k = self.plan.tag();
        let at = |start| Place { start, stride: 0 };
        let (args, outs) = ([at(wires.tag), at(wires.block), at(wires.key)], [at(wires.tag)]);
        let step = Call { index: 0, circuit: &circuit, times: 1, args: &args, outs: &outs };
        for (start_of_block, n) in pieces(bits, k) {
            self.side.memories(&mut |memory| memory.get_mut(wires.block, k).fill(Block::ZERO));
            self.copy(start + start_of_block, wires.block, n);
            if output.padded() {
                self.add_input(self.pad + start_of_block, wires.block, n);
            }
            self.side.call(&step)?;
        }
        self.tag = Some((circuit, wires));
        Ok(())
    }

    /// Reveals the tag, after the program.
    fn finish(mut self) -> Result<S> {
        if let Some((_, wires)) = self.tag {
            let k = self.plan.tag();
            self.add_input(self.plan.own + self.plan.pads + k, wires.tag, k);
            for (at, n) in pieces(k, OUTPUTS) {
                self.side.reveal(wires.tag + at, n)?;
            }
        }
        Ok(self.side)
    }
}

impl<S: CopySide> LockstepSide for Augmented<'_, S> {
    fn input(&mut self, party: GarblingParty, from: usize, at: usize, bits: usize) {
        self.put_in(party, from, at, bits);
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        self.side.call(call)
    }

    /// Reveals an output value: pads it if only the garbler learns it, and takes it into the tag if the garbler does.
    fn reveal(&mut self, index: usize, start: usize, bits: usize) -> Result<()> {
        let output = self.plan.outputs[index];
        for (at, n) in pieces(bits, OUTPUTS) {
            self.copy(start + at, self.output, n);
            if output.padded() {
                self.add_input(self.pad + at, self.output, n);
            }
            self.side.reveal(self.output, n)?;
        }
        if output.to_garbler {
            self.authenticate(&output, start, bits)?;
        }
        if output.padded() {
            self.pad += bits;
        }
        Ok(())
    }
}
