//! Step 5, the garbled circuits: all copies in lockstep at the garbler; at the evaluator the checked copies are garbled again
//! and compared, the others evaluated, also in lockstep, while the tables arrive.
//!
//! [`Machine`] is what runs the program over either side. Memory is the program's wires, a label of each copy for
//! each, and one buffer of tables, however many gates the program has.

use comity_circuit::{Call, Engine, Lowered, Place, Recipients};
use comity_core::{Bits, Block, Error, LockstepChecker, LockstepEvaluator, LockstepGarbler, Result, SessionId, Tape};

use crate::outputs;
use crate::plan::{Plan, Revealed};
use crate::rows::{Layout, Owner, Rows};

/// AND gates whose tables travel together: 320 KiB at forty copies, a part of the L2 cache.
pub(crate) const PART: usize = Tape::MAX_ANDS;

/// What the two sides do differently.
pub(crate) trait Side {
    /// The memories: one of all copies, or one of the checked and one of the evaluated ones.
    fn memories(&mut self) -> &mut [Rows];
    /// Runs a circuit in every copy: input value `v` is at `args[v]`, output value `v` goes to `outs[v]`.
    fn call(&mut self, circuit: &Lowered, args: &[usize], outs: &[usize]) -> Result<()>;
    /// The next output bits, at most [`outputs::GROUP`], are `bits` wires from `at` on.
    fn reveal(&mut self, at: usize, bits: usize) -> Result<()>;
}

/// The slots of copies in lockstep, which the sides have in common.
pub(crate) trait Slots {
    fn set(&mut self, first: usize, rows: &[Block]);
    fn get(&mut self, first: usize, rows: &mut [Block]);
}

macro_rules! slots {
    ($($lockstep:ident),*) => {$(
        impl Slots for $lockstep {
            fn set(&mut self, first: usize, rows: &[Block]) {
                $lockstep::set(self, first, rows);
            }
            fn get(&mut self, first: usize, rows: &mut [Block]) {
                $lockstep::get(self, first, rows);
            }
        }
    )*};
}

slots!(LockstepGarbler, LockstepChecker, LockstepEvaluator);

/// Before a circuit: copies its input values to slots.
pub(crate) fn load(slots: &mut impl Slots, circuit: &Lowered, args: &[usize], wires: &Rows) {
    let mut slot = 2;
    for (&width, &arg) in circuit.input_widths().iter().zip(args) {
        slots.set(slot, wires.get(arg, width));
        slot += width;
    }
}

/// After a circuit: copies its output values to wires.
pub(crate) fn store(slots: &mut impl Slots, circuit: &Lowered, outs: &[usize], wires: &mut Rows) {
    let mut outputs = circuit.outputs().iter();
    for (&width, &out) in circuit.output_widths().iter().zip(outs) {
        for (wire, &slot) in (out..out + width).zip(outputs.by_ref()) {
            slots.get(slot as usize, wires.get_mut(wire, 1));
        }
    }
}

/// Runs a program over a side.
pub(crate) struct Machine<'a, S> {
    plan: &'a Plan,
    layout: &'a Layout,
    pub(crate) side: S,
    /// The next input bit of garbler and evaluator.
    next: [usize; 2],
    /// The next pad bit, in the garbler's input.
    pad: usize,
    /// The tag's circuit, and the wires behind the program's that it works on.
    tag: Option<(Lowered, Scratch)>,
    /// Wires for an output on its way.
    output: usize,
}

/// Where the tag's computation keeps its values.
#[derive(Clone, Copy)]
struct Scratch {
    tag: usize,
    block: usize,
    key: usize,
}

/// The public start of the gate keys: a hash of both parties' nonces. It serves all copies, each with its own delta.
pub(crate) fn gate_keys(session: &SessionId) -> Block {
    session.block("start of the gate keys")
}

/// Wires of memory that a program needs.
pub(crate) fn wires(plan: &Plan, program_wires: u64) -> usize {
    usize::try_from(program_wires).unwrap_or(usize::MAX).saturating_add(outputs::GROUP.max(plan.tag()) + 3 * plan.tag())
}

/// The most slots that any circuit needs.
pub(crate) fn slots(plan: &Plan, circuits: &[Lowered]) -> usize {
    let tag = plan.mac.as_ref().map(|mac| Lowered::new(mac.circuit()).tape().slots());
    circuits.iter().map(|circuit| circuit.tape().slots()).chain(tag).max().unwrap_or(2)
}

impl<'a, S: Side> Machine<'a, S> {
    pub(crate) fn new(plan: &'a Plan, layout: &'a Layout, program_wires: u64, side: S) -> Machine<'a, S> {
        // The layout has room for so many.
        let output = program_wires as usize;
        let k = plan.tag();
        let tag = plan.mac.as_ref().map(|mac| {
            let block = output + outputs::GROUP.max(k);
            (Lowered::new(mac.circuit()), Scratch { block, tag: block + k, key: block + 2 * k })
        });
        let mut machine = Machine { plan, layout, side, next: [0; 2], pad: plan.own, tag, output };
        if let Some(at) = machine.tag.as_ref().map(|(_, scratch)| scratch.key) {
            machine.put_in(Owner::Garbler, plan.own + plan.pads, at, k);
        }
        machine
    }

    /// Copies input bits from `from` on to wires, where they are not there already.
    fn put_in(&mut self, owner: Owner, from: usize, at: usize, bits: usize) {
        for run in self.layout.runs(owner, from, bits) {
            let to = at + (run.bit - from);
            if run.row != to {
                self.copy(run.row, to, run.bits);
            }
        }
    }

    /// Adds input bits of the garbler from `from` on to wires.
    fn add_input(&mut self, from: usize, at: usize, bits: usize) {
        for run in self.layout.runs(Owner::Garbler, from, bits) {
            let to = at + (run.bit - from);
            self.side.memories().iter_mut().for_each(|memory| memory.add(run.row, to, run.bits));
        }
    }

    fn copy(&mut self, from: usize, to: usize, bits: usize) {
        self.side.memories().iter_mut().for_each(|memory| memory.copy(from, to, bits));
    }

    /// Reveals an output value: pads it if only the garbler learns it, and takes it into the tag if the garbler does.
    fn output(&mut self, index: usize, start: usize, bits: usize) -> Result<()> {
        let output = self.plan.outputs[index];
        for (at, n) in pieces(bits, outputs::GROUP) {
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

    /// Takes an output value, as it comes out, into the tag.
    fn authenticate(&mut self, output: &Revealed, start: usize, bits: usize) -> Result<()> {
        let Some((circuit, scratch)) = self.tag.take() else { return Ok(()) };
        let k = self.plan.tag();
        for (at, n) in pieces(bits, k) {
            let zero = |memory: &mut Rows| memory.get_mut(scratch.block, k).fill(Block::ZERO);
            self.side.memories().iter_mut().for_each(zero);
            self.copy(start + at, scratch.block, n);
            if output.padded() {
                self.add_input(self.pad + at, scratch.block, n);
            }
            self.side.call(&circuit, &[scratch.tag, scratch.block, scratch.key], &[scratch.tag])?;
        }
        self.tag = Some((circuit, scratch));
        Ok(())
    }

    /// After the program: the tag.
    pub(crate) fn finish(mut self) -> Result<S> {
        if let Some((_, scratch)) = self.tag {
            let k = self.plan.tag();
            self.add_input(self.plan.own + self.plan.pads + k, scratch.tag, k);
            for (at, n) in pieces(k, outputs::GROUP) {
                self.side.reveal(scratch.tag + at, n)?;
            }
        }
        Ok(self.side)
    }
}

/// Pieces of at most `size`: where each starts, and how long it is.
pub(crate) fn pieces(len: usize, size: usize) -> impl Iterator<Item = (usize, usize)> {
    (0..len).step_by(size.max(1)).map(move |start| (start, size.min(len - start)))
}

impl<S: Side> Engine for Machine<'_, S> {
    /// The side has the memory.
    type Wire = ();
    type Error = Error;

    fn input(
        &mut self,
        _: usize,
        owner: comity_circuit::Owner,
        _: Option<&Bits>,
        start: usize,
        wires: &mut [()],
    ) -> Result<()> {
        let owner = if owner.includes(self.plan.garbler) { Owner::Garbler } else { Owner::Evaluator };
        let next = self.next[owner as usize];
        self.next[owner as usize] += wires.len();
        self.put_in(owner, next, start, wires.len());
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>, _: &mut [()]) -> Result<()> {
        let at = |places: &[Place], t: u64| -> Vec<usize> { places.iter().map(|place| place.at(t)).collect() };
        (0..call.times).try_for_each(|t| self.side.call(call.circuit, &at(call.args, t), &at(call.outs, t)))
    }

    /// The value is known only when all checks are done.
    fn reveal(&mut self, index: usize, _: Recipients, start: usize, wires: &[()]) -> Result<Option<Bits>> {
        self.output(index, start, wires.len())?;
        Ok(None)
    }
}
