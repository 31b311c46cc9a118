//! The garbled circuits: all copies in lockstep at the sender; at the receiver the checked copies are garbled
//! again and the others evaluated, also in lockstep, while the tables arrive. [`walk`] runs the program over
//! either side.

use comity_circuit::{Call, Observer, Program};
use comity_core::{Bits, Block, PartyId, Result};
use comity_garble::lockstep::{self, GarblingParty, LabelRows, LabelSlots, Lockstep, LockstepSide, PART};
use comity_garble::{LockstepEvaluator, LockstepGarbler};
use comity_protocol::Conduct;

use crate::checks;
use crate::conduct::SenderAct;
use crate::plan::AnswerPlan;
use crate::stream::{In, Out, RowIntake, RowOutlet};

/// The party that garbles.
pub(crate) const SENDER: PartyId = PartyId(1);

/// Copies in lockstep with the labels of all inputs and outputs.
pub(crate) struct AnswerCopies<K> {
    lockstep: Lockstep<K>,
    /// The receiver's input, then the sender's.
    inputs: LabelRows,
    /// The row where the sender's input begins.
    senders: usize,
    /// The outputs, as they are revealed, and how many bits were.
    outputs: LabelRows,
    revealed: usize,
}

impl<K: LabelSlots> AnswerCopies<K> {
    /// The copies whose inputs have these labels.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is not the memory.
    pub(crate) fn new(kernel: K, inputs: LabelRows, program: &Program, plan: &AnswerPlan) -> Result<AnswerCopies<K>> {
        let width = inputs.width();
        let wires = LabelRows::new(width, usize::try_from(program.wires()).unwrap_or(usize::MAX))?;
        let outputs = LabelRows::new(width, plan.outputs)?;
        Ok(AnswerCopies { lockstep: Lockstep { kernel, wires }, inputs, senders: plan.inputs[0], outputs, revealed: 0 })
    }

    fn put_in(&mut self, party: GarblingParty, from: usize, at: usize, bits: usize) {
        let first = match party {
            GarblingParty::Garbler => self.senders,
            GarblingParty::Evaluator => 0,
        };
        self.lockstep.wires.get_mut(at, bits).copy_from_slice(self.inputs.get(first + from, bits));
    }

    fn reveal(&mut self, at: usize, bits: usize) {
        self.outputs.get_mut(self.revealed, bits).copy_from_slice(self.lockstep.wires.get(at, bits));
        self.revealed += bits;
    }

    /// Blocks of the tables of `ands` AND gates.
    fn tables(&self, ands: usize) -> usize {
        2 * self.outputs.width() * ands
    }
}

/// Runs a program over a side.
pub(crate) fn walk(program: &Program, side: &mut impl LockstepSide) -> Result<()> {
    struct Nobody;
    impl Observer for Nobody {
        fn output(&mut self, _: usize, _: Bits) {}
    }
    lockstep::run(program, SENDER, side, &mut Nobody)
}

/// The sender's side, which garbles.
pub(crate) struct SenderGates<'a, 'b, D> {
    copies: AnswerCopies<LockstepGarbler>,
    tables: Vec<Block>,
    outlet: &'a mut RowOutlet,
    out: &'a mut Out<'b>,
    conduct: &'a mut D,
}

impl<'a, 'b, D: for<'c> Conduct<SenderAct<'c>>> SenderGates<'a, 'b, D> {
    pub(crate) fn new(
        copies: AnswerCopies<LockstepGarbler>,
        outlet: &'a mut RowOutlet,
        out: &'a mut Out<'b>,
        conduct: &'a mut D,
    ) -> SenderGates<'a, 'b, D> {
        SenderGates { tables: vec![Block::ZERO; copies.tables(PART)], copies, outlet, out, conduct }
    }

    /// The labels for zero of the outputs.
    pub(crate) fn finish(self) -> LabelRows {
        self.copies.outputs
    }
}

impl<D: for<'c> Conduct<SenderAct<'c>>> LockstepSide for SenderGates<'_, '_, D> {
    fn input(&mut self, party: GarblingParty, from: usize, at: usize, bits: usize) {
        self.copies.put_in(party, from, at, bits);
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        let SenderGates { copies, tables, outlet, out, conduct } = self;
        let each = copies.tables(1);
        lockstep::call(&mut copies.lockstep, call, |lockstep, part| {
            let tables = &mut tables[..each * part.ands()];
            lockstep.kernel.garble(part, tables);
            conduct.before(SenderAct::Tables(tables));
            outlet.put(out, tables)
        })
    }

    fn reveal(&mut self, _: usize, at: usize, bits: usize) -> Result<()> {
        self.copies.reveal(at, bits);
        Ok(())
    }
}

/// The receiver's side, which garbles the checked copies again and evaluates the others.
pub(crate) struct ReceiverGates<'a, 'b, 'c> {
    checked: AnswerCopies<LockstepGarbler>,
    evaluated: AnswerCopies<LockstepEvaluator>,
    known: Vec<Block>,
    missing: Vec<Block>,
    intake: &'a mut RowIntake<'b>,
    input: &'a mut In<'c>,
}

impl<'a, 'b, 'c> ReceiverGates<'a, 'b, 'c> {
    pub(crate) fn new(
        checked: AnswerCopies<LockstepGarbler>,
        evaluated: AnswerCopies<LockstepEvaluator>,
        intake: &'a mut RowIntake<'b>,
        input: &'a mut In<'c>,
    ) -> ReceiverGates<'a, 'b, 'c> {
        let [known, missing] = [checked.tables(PART), evaluated.tables(PART)].map(|len| vec![Block::ZERO; len]);
        ReceiverGates { checked, evaluated, known, missing, intake, input }
    }

    /// The outputs: labels for zero of the checked copies, active ones of the evaluated copies.
    pub(crate) fn finish(self) -> [LabelRows; 2] {
        [self.checked.outputs, self.evaluated.outputs]
    }
}

impl LockstepSide for ReceiverGates<'_, '_, '_> {
    fn input(&mut self, party: GarblingParty, from: usize, at: usize, bits: usize) {
        self.checked.put_in(party, from, at, bits);
        self.evaluated.put_in(party, from, at, bits);
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        let ReceiverGates { checked, evaluated, known, missing, intake, input } = self;
        let each = [checked.tables(1), evaluated.tables(1)];
        let mut both = (&mut checked.lockstep, &mut evaluated.lockstep);
        lockstep::call(&mut both, call, |(checked, evaluated), part| {
            let [known_len, missing_len] = each.map(|each| each * part.ands());
            let (known, missing) = (&mut known[..known_len], &mut missing[..missing_len]);
            checked.kernel.garble(part, known);
            intake.take(input, known, missing, checks::GARBLED_CIRCUIT)?;
            evaluated.kernel.evaluate(part, missing);
            Ok(())
        })
    }

    fn reveal(&mut self, _: usize, at: usize, bits: usize) -> Result<()> {
        self.checked.reveal(at, bits);
        self.evaluated.reveal(at, bits);
        Ok(())
    }
}
