//! The garbled circuits: all copies in lockstep at the sender; at the receiver the checked copies are garbled again and the others
//! evaluated, also in lockstep, while the tables arrive. [`walk`] runs the program over either side.

use comity_circuit::{Call, Engine, Lowered, Observer, Owner, Place, Program, Recipients};
use comity_core::{Bits, Block, Cursor, Error, LockstepEvaluator, LockstepGarbler, Result, SessionId, Tape};
use comity_protocol::Conduct;

use crate::checks;
use crate::conduct::Act;
use crate::plan::Plan;
use crate::rows::Rows;
use crate::stream::{In, Intake, Out, Outlet};

/// AND gates whose tables travel together.
const PART: usize = Tape::MAX_ANDS;

/// The public start of the gate keys. It serves all copies, each with its own delta.
pub(crate) fn gate_keys(session: &SessionId) -> Block {
    session.block("start of the gate keys")
}

/// The most slots that any circuit needs.
pub(crate) fn slots(program: &Program) -> usize {
    program.lowered().iter().map(|circuit| circuit.tape().slots()).max().unwrap_or(2)
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

slots!(LockstepGarbler, LockstepEvaluator);

/// Copies in lockstep with their labels.
pub(crate) struct Lanes<L> {
    lockstep: L,
    /// The program's wires.
    wires: Rows,
    /// The receiver's input, then the sender's.
    pub(crate) inputs: Rows,
    /// The outputs, as they are revealed.
    pub(crate) outputs: Rows,
}

impl<L: Slots> Lanes<L> {
    /// So many copies.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is not the memory.
    pub(crate) fn new(lockstep: L, width: usize, inputs: Rows, program: &Program, plan: &Plan) -> Result<Lanes<L>> {
        let wires = Rows::new(width, usize::try_from(program.wires()).unwrap_or(usize::MAX))?;
        Ok(Lanes { lockstep, wires, inputs, outputs: Rows::new(width, plan.outputs)? })
    }

    fn put_in(&mut self, from: usize, at: usize, bits: usize) {
        self.wires.get_mut(at, bits).copy_from_slice(self.inputs.get(from, bits));
    }

    fn reveal(&mut self, at: usize, to: usize, bits: usize) {
        self.outputs.get_mut(to, bits).copy_from_slice(self.wires.get(at, bits));
    }

    /// Before a circuit: copies its input values to slots.
    fn load(&mut self, circuit: &Lowered, args: &[usize]) {
        let mut slot = 2;
        for (&width, &arg) in circuit.input_widths().iter().zip(args) {
            self.lockstep.set(slot, self.wires.get(arg, width));
            slot += width;
        }
    }

    /// After a circuit: copies its output values to wires.
    fn store(&mut self, circuit: &Lowered, outs: &[usize]) {
        let mut outputs = circuit.outputs().iter();
        for (&width, &out) in circuit.output_widths().iter().zip(outs) {
            for (wire, &slot) in (out..out + width).zip(outputs.by_ref()) {
                self.lockstep.get(slot as usize, self.wires.get_mut(wire, 1));
            }
        }
    }
}

/// What the two sides do differently.
pub(crate) trait Side {
    /// Copies `bits` bits of the inputs from `from` on to wires.
    fn put_in(&mut self, from: usize, at: usize, bits: usize);
    /// Runs a circuit in every copy: input value `v` is at `args[v]`, output value `v` goes to `outs[v]`.
    fn call(&mut self, circuit: &Lowered, args: &[usize], outs: &[usize]) -> Result<()>;
    /// Copies `bits` wires to the outputs from `to` on.
    fn reveal(&mut self, at: usize, to: usize, bits: usize);
}

/// Runs a program over a side.
pub(crate) fn walk(program: &Program, plan: &Plan, side: &mut impl Side) -> Result<()> {
    struct Nobody;
    impl Observer for Nobody {
        fn output(&mut self, _: usize, _: Bits) {}
    }
    let mut machine = Machine { side, next: [0, plan.inputs[0]], revealed: 0 };
    // The side has the inputs' labels; their values are nobody's business here.
    let inputs: Vec<Option<Bits>> = vec![None; program.inputs().len()];
    Ok(comity_circuit::run(program, &mut machine, &inputs, &mut Nobody)?)
}

struct Machine<'a, S> {
    side: &'a mut S,
    /// Where the next input bit of either party is.
    next: [usize; 2],
    revealed: usize,
}

impl<S: Side> Engine for Machine<'_, S> {
    /// The side has the memory.
    type Wire = ();
    type Error = Error;

    fn input(&mut self, _: usize, owner: Owner, _: Option<&Bits>, start: usize, wires: &mut [()]) -> Result<()> {
        let next = &mut self.next[usize::from(owner.includes(1))];
        self.side.put_in(*next, start, wires.len());
        *next += wires.len();
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>, _: &mut [()]) -> Result<()> {
        let at = |places: &[Place], t: u64| -> Vec<usize> { places.iter().map(|place| place.at(t)).collect() };
        (0..call.times).try_for_each(|t| self.side.call(call.circuit, &at(call.args, t), &at(call.outs, t)))
    }

    /// The value is known only when all checks are done.
    fn reveal(&mut self, _: usize, _: Recipients, start: usize, wires: &[()]) -> Result<Option<Bits>> {
        self.side.reveal(start, self.revealed, wires.len());
        self.revealed += wires.len();
        Ok(None)
    }
}

/// The sender: garbles.
pub(crate) struct Garbling<'a, 'b, D> {
    lanes: Lanes<LockstepGarbler>,
    tables: Vec<Block>,
    copies: usize,
    outlet: &'a mut Outlet,
    out: &'a mut Out<'b>,
    conduct: &'a mut D,
}

impl<'a, 'b, D: for<'c> Conduct<Act<'c>>> Garbling<'a, 'b, D> {
    pub(crate) fn new(
        lanes: Lanes<LockstepGarbler>,
        copies: usize,
        outlet: &'a mut Outlet,
        out: &'a mut Out<'b>,
        conduct: &'a mut D,
    ) -> Garbling<'a, 'b, D> {
        Garbling { lanes, tables: vec![Block::ZERO; 2 * PART * copies], copies, outlet, out, conduct }
    }

    /// The labels for zero of the outputs.
    pub(crate) fn finish(self) -> Rows {
        self.lanes.outputs
    }
}

impl<D: for<'c> Conduct<Act<'c>>> Side for Garbling<'_, '_, D> {
    fn put_in(&mut self, from: usize, at: usize, bits: usize) {
        self.lanes.put_in(from, at, bits);
    }

    fn call(&mut self, circuit: &Lowered, args: &[usize], outs: &[usize]) -> Result<()> {
        self.lanes.load(circuit, args);
        let mut cursor = Cursor::default();
        while let Some(part) = cursor.advance(circuit.tape(), PART) {
            let tables = &mut self.tables[..2 * self.copies * part.ands()];
            self.lanes.lockstep.garble(&part, tables);
            self.conduct.before(Act::Tables(tables));
            self.outlet.put(self.out, tables)?;
        }
        self.lanes.store(circuit, outs);
        Ok(())
    }

    fn reveal(&mut self, at: usize, to: usize, bits: usize) {
        self.lanes.reveal(at, to, bits);
    }
}

/// The receiver: garbles the checked copies again, and evaluates the others.
pub(crate) struct Opening<'a, 'b, 'c> {
    checked: Lanes<LockstepGarbler>,
    evaluated: Lanes<LockstepEvaluator>,
    known: Vec<Block>,
    missing: Vec<Block>,
    /// Checked and evaluated copies.
    widths: [usize; 2],
    intake: &'a mut Intake<'b>,
    input: &'a mut In<'c>,
}

impl<'a, 'b, 'c> Opening<'a, 'b, 'c> {
    pub(crate) fn new(
        checked: Lanes<LockstepGarbler>,
        evaluated: Lanes<LockstepEvaluator>,
        widths: [usize; 2],
        intake: &'a mut Intake<'b>,
        input: &'a mut In<'c>,
    ) -> Opening<'a, 'b, 'c> {
        let [known, missing] = widths.map(|width| vec![Block::ZERO; 2 * PART * width]);
        Opening { checked, evaluated, known, missing, widths, intake, input }
    }

    /// The outputs: labels for zero of the checked copies, active ones of the evaluated copies.
    pub(crate) fn finish(self) -> [Rows; 2] {
        [self.checked.outputs, self.evaluated.outputs]
    }
}

impl Side for Opening<'_, '_, '_> {
    fn put_in(&mut self, from: usize, at: usize, bits: usize) {
        self.checked.put_in(from, at, bits);
        self.evaluated.put_in(from, at, bits);
    }

    fn call(&mut self, circuit: &Lowered, args: &[usize], outs: &[usize]) -> Result<()> {
        self.checked.load(circuit, args);
        self.evaluated.load(circuit, args);
        let mut cursor = Cursor::default();
        while let Some(part) = cursor.advance(circuit.tape(), PART) {
            let rows = 2 * part.ands();
            let known = &mut self.known[..rows * self.widths[0]];
            let missing = &mut self.missing[..rows * self.widths[1]];
            self.checked.lockstep.garble(&part, known);
            self.intake.take(self.input, known, missing, checks::GARBLED_CIRCUIT)?;
            self.evaluated.lockstep.evaluate(&part, missing);
        }
        self.checked.store(circuit, outs);
        self.evaluated.store(circuit, outs);
        Ok(())
    }

    fn reveal(&mut self, at: usize, to: usize, bits: usize) {
        self.checked.reveal(at, to, bits);
        self.evaluated.reveal(at, to, bits);
    }
}
