//! `Program`: who puts in what, which circuits are called how often, who learns what.
//!
//! A program is small however much it computes: loops are kept as loops, and everything that this module says of a
//! program (whether it stays inside its memory, whether its parallel calls are independent, how many gates it has) is
//! found by arithmetic on the loops' bounds, never by unrolling.

mod builder;
mod check;
mod combine;
mod encode;
pub(crate) mod error;
mod flatten;
mod overlap;
mod spread;
mod unshared;
mod unused;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use comity_core::PartyId;

use crate::circuit::Circuit;
use crate::goal::Goal;
use crate::lower::Lowered;
use crate::party::{Owner, PartySet, Recipients};
use crate::types::Type;

pub use builder::{CircuitId, CircuitList, ProgramBuilder, Register, Turn};
pub use encode::DecodeError;
pub use error::{CallOperand, ProgramError, StepPath};
pub use flatten::FlattenError;
pub use unshared::Unshared;

/// A run of wires: `bits` of them from `start` on, moved by `strides[d]` for each turn of the `d`-th enclosing
/// [`Step::Repeat`] (outermost first; a missing stride is 0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first wire.
    pub start: u64,
    /// The number of wires.
    pub bits: u64,
    /// The wires by which the span moves with each turn of each enclosing loop.
    pub strides: Vec<i64>,
}

/// One step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// Takes the next input value from its owner into wires.
    Input {
        /// The value's name, for people.
        name: String,
        /// The owner of the value, who puts it in.
        owner: Owner,
        /// The wires that the value goes to.
        to: Span,
    },
    /// Calls a circuit `times` times; the calls are independent of each other, so they may run side by side.
    Call {
        /// Index into [`Program::circuits`].
        circuit: usize,
        /// The number of calls.
        times: u64,
        /// The arguments: a span for each input value of the circuit, and how far it moves from one call to the next.
        args: Vec<(Span, i64)>,
        /// The results: a span for each output value of the circuit, and how far it moves from one call to the next.
        outs: Vec<(Span, i64)>,
    },
    /// Runs the body `times` times, one turn after another.
    Repeat {
        /// The number of turns.
        times: u64,
        /// The steps that are repeated.
        body: Vec<Step>,
    },
    /// Reveals wires as the next output value.
    Reveal {
        /// The value's name, for people.
        name: String,
        /// The recipients of the value.
        to: Recipients,
        /// The wires that are revealed.
        from: Span,
    },
}

/// A succinct computation over a flat memory of wires, all zero at the start.
///
/// Values are put in and revealed at the top level only, each once; loops hold calls and loops.
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    party_names: Vec<String>,
    wires: u64,
    goal: Goal,
    circuits: Vec<Circuit>,
    steps: Vec<Step>,
    inputs: Vec<Input>,
    outputs: Vec<Output>,
    totals: Totals,
    lowered: OnceLock<Vec<Lowered>>,
}

/// An input value of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Input {
    /// The value's name, for people.
    pub name: String,
    /// The number of bits.
    pub bits: usize,
    /// The owner of the value, who puts it in.
    pub owner: Owner,
    /// The type in which people write the value; bits without further meaning unless [`Program::with_input_type`] said
    /// otherwise.
    pub ty: Type,
}

/// An output value of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// The value's name, for people.
    pub name: String,
    /// The number of bits.
    pub bits: usize,
    /// The recipients of the value.
    pub to: Recipients,
    /// The type in which people read the value; bits without further meaning unless [`Program::with_output_type`] said
    /// otherwise.
    pub ty: Type,
}

/// The totals of what a whole run of a program executes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// The number of circuit calls.
    pub calls: u64,
    /// The number of AND gates.
    pub and: u64,
    /// The number of XOR gates of two wires that are not constant.
    pub xor: u64,
    /// The number of XOR gates with the constant one.
    pub not: u64,
    /// An upper bound of the AND depth: the sum of the steps' depths, as if each step waited for the one
    /// before.
    pub and_depth: u64,
}

impl Program {
    /// The most wires that a memory may have.
    pub const MAX_WIRES: u64 = u32::MAX as u64;
    /// The most loops inside each other.
    pub const MAX_NESTING: usize = 16;
    /// The most parties: their numbers are below this, and a set of parties is a mask of this many bits.
    pub const MAX_PARTIES: u16 = PartySet::MOST;

    /// A program of these parts, checked: every span stays in the memory in every turn of every loop, widths are those
    /// of the circuits, and the calls of one step are independent of each other.
    ///
    /// Strides that never move anything are set to zero and left out, so that equal programs are encoded equally. The
    /// check for independence is exact for spans that move alike from call to call; where they do not it may refuse
    /// calls that are independent, and never lets others pass.
    ///
    /// # Errors
    /// [`ProgramError`], which names the step.
    pub fn new(
        name: impl Into<String>,
        wires: u64,
        circuits: Vec<Circuit>,
        mut steps: Vec<Step>,
    ) -> Result<Program, ProgramError> {
        check::normalize(&mut steps);
        let check::Checked { inputs, outputs, totals } = check::check(wires, &circuits, &steps)?;
        let (name, goal) = (name.into(), Goal::default());
        let (lowered, party_names) = (OnceLock::new(), Vec::new());
        Ok(Program { name, party_names, wires, goal, circuits, steps, inputs, outputs, totals, lowered })
    }

    /// The name that people gave the program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The program under another name. Names are no part of [`Program::digest`].
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Program {
        self.name = name.into();
        self
    }

    /// The names of the parties, for people, from party 0 on; empty if nobody gave them names.
    pub fn party_names(&self) -> &[String] {
        &self.party_names
    }

    /// The program with names for its parties, from party 0 on. Each of them takes part, even if it gives
    /// nothing and learns only what all learn. Names are no part of [`Program::digest`].
    ///
    /// # Errors
    /// [`ProgramError::NoParty`] if there are more than [`Program::MAX_PARTIES`].
    pub fn with_party_names(mut self, names: Vec<String>) -> Result<Program, ProgramError> {
        if names.len() > usize::from(Program::MAX_PARTIES) {
            return Err(ProgramError::NoParty(PartyId(Program::MAX_PARTIES)));
        }
        self.party_names = names;
        Ok(self)
    }

    /// The program with circuits that were chosen for this goal, which is part of [`Program::digest`].
    #[must_use]
    pub fn with_goal(mut self, goal: Goal) -> Program {
        self.goal = goal;
        self
    }

    /// Gives an input value to another owner.
    ///
    /// # Errors
    /// [`ProgramError::NoValue`], [`ProgramError::NoParty`].
    pub fn with_owner(mut self, input: usize, owner: impl Into<Owner>) -> Result<Program, ProgramError> {
        let owner = owner.into();
        owner.check()?;
        let count = self.inputs.len();
        let value = self.inputs.get_mut(input).ok_or(ProgramError::NoValue { what: "input", index: input, count })?;
        value.owner = owner;
        let owners = self.steps.iter_mut().filter_map(|step| match step {
            Step::Input { owner, .. } => Some(owner),
            _ => None,
        });
        owners.skip(input).take(1).for_each(|of_step| *of_step = owner);
        Ok(self)
    }

    /// Reveals an output value to others.
    ///
    /// # Errors
    /// [`ProgramError::NoValue`], [`ProgramError::Nobody`].
    pub fn with_recipients(mut self, output: usize, to: Recipients) -> Result<Program, ProgramError> {
        to.check()?;
        let count = self.outputs.len();
        let value =
            self.outputs.get_mut(output).ok_or(ProgramError::NoValue { what: "output", index: output, count })?;
        value.to = to;
        let recipients = self.steps.iter_mut().filter_map(|step| match step {
            Step::Reveal { to, .. } => Some(to),
            _ => None,
        });
        recipients.skip(output).take(1).for_each(|recipient| *recipient = to);
        Ok(self)
    }

    /// Gives an input value a type: what its bits mean to people. Types are no part of [`Program::digest`] or of the
    /// encoding.
    ///
    /// # Errors
    /// [`ProgramError::NoValue`], [`ProgramError::Type`].
    pub fn with_input_type(mut self, input: usize, ty: Type) -> Result<Program, ProgramError> {
        let count = self.inputs.len();
        let value = self.inputs.get_mut(input).ok_or(ProgramError::NoValue { what: "input", index: input, count })?;
        fits("input", input, value.bits, &ty)?;
        value.ty = ty;
        Ok(self)
    }

    /// Gives an output value a type: what its bits mean to people. Types are no part of [`Program::digest`] or of the
    /// encoding.
    ///
    /// # Errors
    /// [`ProgramError::NoValue`], [`ProgramError::Type`].
    pub fn with_output_type(mut self, output: usize, ty: Type) -> Result<Program, ProgramError> {
        let count = self.outputs.len();
        let value =
            self.outputs.get_mut(output).ok_or(ProgramError::NoValue { what: "output", index: output, count })?;
        fits("output", output, value.bits, &ty)?;
        value.ty = ty;
        Ok(self)
    }

    /// The size of the wire memory.
    pub fn wires(&self) -> u64 {
        self.wires
    }

    /// The circuits that steps call.
    pub fn circuits(&self) -> &[Circuit] {
        &self.circuits
    }

    /// The goal that the circuits were chosen for.
    pub fn goal(&self) -> Goal {
        self.goal
    }

    /// The steps, in order.
    pub fn steps(&self) -> &[Step] {
        &self.steps
    }

    /// The input values, in order.
    pub fn inputs(&self) -> &[Input] {
        &self.inputs
    }

    /// The output values, in order.
    pub fn outputs(&self) -> &[Output] {
        &self.outputs
    }

    /// The number of parties that take part: one more than the largest number of a party that gives or learns
    /// a value or has a [name](Program::party_names).
    pub fn parties(&self) -> u16 {
        let owners = self.inputs.iter().filter_map(|input| input.owner.party());
        let recipients = self.outputs.iter().filter_map(|output| output.to.named().iter().next_back());
        let named = self.party_names.len() as u16;
        owners.chain(recipients).max().map_or(0, |last| last.0 + 1).max(named)
    }

    /// The totals of what a run executes: calls, gates, depth.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// The number of AND gates that a run executes.
    pub fn and_gates(&self) -> u64 {
        self.totals.and
    }

    /// How often a run computes each operation that is [noted](crate::Note), by its
    /// [name](crate::WordOp::name). Operations that nobody noted are gates alone and not counted.
    pub fn noted(&self) -> BTreeMap<&'static str, u64> {
        let mut counts = BTreeMap::new();
        let mut count = |circuit: usize, calls: u64| {
            for note in self.circuits[circuit].notes() {
                let count: &mut u64 = counts.entry(note.op.name()).or_default();
                *count = count.saturating_add(calls);
            }
        };
        count_calls(&self.steps, 1, &mut count);
        counts
    }

    /// The circuits lowered, in order; each is lowered once in a program's life.
    pub fn lowered(&self) -> &[Lowered] {
        self.lowered.get_or_init(|| self.circuits.iter().map(Lowered::new).collect())
    }
}

/// Calls `count` for each circuit that is called, with how often it is.
fn count_calls(steps: &[Step], turns: u64, count: &mut impl FnMut(usize, u64)) {
    for step in steps {
        match step {
            Step::Call { circuit, times, .. } => count(*circuit, turns.saturating_mul(*times)),
            Step::Repeat { times, body } => count_calls(body, turns.saturating_mul(*times), count),
            Step::Input { .. } | Step::Reveal { .. } => {}
        }
    }
}

/// Checks that a value of `bits` bits can have this type.
fn fits(what: &'static str, index: usize, bits: usize, ty: &Type) -> Result<(), ProgramError> {
    if ty.bits() == bits { Ok(()) } else { Err(ProgramError::Type { what, index, bits, ty: ty.to_string() }) }
}

impl PartialEq for Program {
    fn eq(&self, other: &Program) -> bool {
        let parts = |p: &Program| (p.wires, p.goal, p.totals);
        parts(self) == parts(other)
            && self.name == other.name
            && self.steps == other.steps
            && self.circuits == other.circuits
    }
}

impl Eq for Program {}

#[cfg(test)]
mod tests;
