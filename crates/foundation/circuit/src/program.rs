//! `Program`: who puts in what, which circuits are called how often, who learns what.
//!
//! A program is small however much it computes: loops are kept as loops, and everything that this module says of a
//! program (whether it stays inside its memory, whether its parallel calls are independent, how many gates it has) is
//! found by arithmetic on the loops' bounds, never by unrolling.

mod builder;
mod check;
mod combine;
mod encode;
mod overlap;

use std::fmt;
use std::sync::OnceLock;

use crate::value::Type;
use crate::{Circuit, Lowered};

pub use builder::{CircuitId, ProgramBuilder, Register, Turn};
pub use encode::DecodeError;

/// A run of wires: `bits` of them from `start` on, moved by `strides[d]` for each turn of the `d`-th enclosing
/// [`Step::Repeat`] (outermost first; a missing stride is 0).
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Span {
    /// The first wire.
    pub start: u64,
    /// How many wires.
    pub bits: u64,
    /// How far the span moves with each turn of each enclosing loop.
    pub strides: Vec<i64>,
}

/// Who learns an output.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Recipients {
    /// Every party.
    All,
    /// One party.
    Party(u32),
}

/// One step of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Step {
    /// The next input value is put in by `party` into these wires.
    Input {
        /// A name for people.
        name: String,
        /// Whose value it is.
        party: u32,
        /// Where it goes.
        to: Span,
    },
    /// Calls a circuit `times` times; the calls are independent of each other, so they may run side by side.
    Call {
        /// Index into [`Program::circuits`].
        circuit: usize,
        /// How many calls.
        times: u64,
        /// One span for each input value of the circuit, and how far it moves from one call to the next.
        args: Vec<(Span, i64)>,
        /// One span for each output value of the circuit, and how far it moves from one call to the next.
        outs: Vec<(Span, i64)>,
    },
    /// Runs the body `times` times, one turn after another.
    Repeat {
        /// How many turns.
        times: u64,
        /// What is repeated.
        body: Vec<Step>,
    },
    /// Reveals wires as the next output value.
    Reveal {
        /// A name for people.
        name: String,
        /// Who learns it.
        to: Recipients,
        /// Which wires.
        from: Span,
    },
}

/// A succinct computation over a flat memory of wires, all zero at the start.
///
/// Values are put in and revealed at the top level only, each once; loops hold calls and loops.
#[derive(Clone, Debug)]
pub struct Program {
    name: String,
    wires: u64,
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
    /// A name for people.
    pub name: String,
    /// How many bits.
    pub bits: usize,
    /// Whose value it is.
    pub party: u32,
    /// How people write it; bits without further meaning unless [`Program::with_input_type`] said otherwise.
    pub ty: Type,
}

/// An output value of a program.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Output {
    /// A name for people.
    pub name: String,
    /// How many bits.
    pub bits: usize,
    /// Who learns it.
    pub to: Recipients,
    /// How people read it; bits without further meaning unless [`Program::with_output_type`] said otherwise.
    pub ty: Type,
}

/// What a whole run of a program executes.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Totals {
    /// Circuit calls.
    pub calls: u64,
    /// AND gates.
    pub and: u64,
    /// XOR gates of two wires that are not constant.
    pub xor: u64,
    /// XOR gates with the constant one.
    pub not: u64,
    /// No path has more AND gates than this: the depths of the steps added up, as if each waited for the one before.
    pub and_depth: u64,
}

/// Where in a program a step stands: its index, and inside loops those of the loops around it, outermost first.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct StepPath(pub Vec<usize>);

impl fmt::Display for StepPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("step ")?;
        for (i, index) in self.0.iter().enumerate() {
            let dot = if i == 0 { "" } else { "." };
            write!(f, "{dot}{index}")?;
        }
        Ok(())
    }
}

/// Why a program was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// The memory is larger than [`Program::MAX_WIRES`].
    #[error("a memory of {0} wires; at most {max} are possible", max = Program::MAX_WIRES)]
    TooManyWires(u64),
    /// A loop or a call that is done zero times.
    #[error("{0} is done zero times; leave it out")]
    ZeroTimes(StepPath),
    /// A loop with nothing in it: it would turn for nothing, perhaps for ever.
    #[error("{0} repeats nothing; leave it out")]
    EmptyLoop(StepPath),
    /// Loops inside loops, more than [`Program::MAX_NESTING`].
    #[error("{0} is inside more than {max} loops", max = Program::MAX_NESTING)]
    TooDeep(StepPath),
    /// An input or a reveal inside a loop.
    #[error("{0} puts in or reveals a value inside a loop; that happens at the top level only")]
    Nested(StepPath),
    /// A call names a circuit that is not there.
    #[error("{step} calls circuit {circuit}, and there are {count}")]
    NoCircuit {
        /// Which step.
        step: StepPath,
        /// The circuit that it names.
        circuit: usize,
        /// How many there are.
        count: usize,
    },
    /// A call has another number of arguments or results than the circuit.
    #[error("{step} has {given} {what} values; the circuit has {takes}")]
    Arity {
        /// Which step.
        step: StepPath,
        /// `input` or `output`.
        what: &'static str,
        /// How many the step gives.
        given: usize,
        /// How many the circuit has.
        takes: usize,
    },
    /// A span of a call has another width than the circuit's value.
    #[error("{step} has {given} bits for {what} value {value}; the circuit has {takes}")]
    Width {
        /// Which step.
        step: StepPath,
        /// `input` or `output`.
        what: &'static str,
        /// Which value of the circuit.
        value: usize,
        /// The width of the span.
        given: u64,
        /// The width of the value.
        takes: usize,
    },
    /// A span has more strides than there are loops around it.
    #[error("{step} has a span with {given} strides inside {loops} loops")]
    Strides {
        /// Which step.
        step: StepPath,
        /// How many strides.
        given: usize,
        /// How many loops.
        loops: usize,
    },
    /// A span leaves the memory in some turn of the loops around it.
    #[error("{step} reaches wires {first} to {last}; the memory has {wires}")]
    OutsideMemory {
        /// Which step.
        step: StepPath,
        /// The lowest wire that any turn reaches.
        first: i128,
        /// The highest one.
        last: i128,
        /// The size of the memory.
        wires: u64,
    },
    /// Two output values of one call share wires, so that the result depends on which is written last.
    #[error("{step}: output values {a} and {b} of one call are written to the same wires")]
    WrittenTwice {
        /// Which step.
        step: StepPath,
        /// One output value.
        a: usize,
        /// The other.
        b: usize,
    },
    /// The calls of a step are not independent.
    #[error("{step}: its calls are not independent: one writes output value {written} where another has its {other}")]
    Dependent {
        /// Which step.
        step: StepPath,
        /// The output value of the one call.
        written: usize,
        /// The input or output value of the other.
        other: Operand,
    },
    /// The check for independent calls would take too long.
    #[error("{0}: too many spans that lie across each other to tell whether the calls are independent")]
    TooTangled(StepPath),
    /// A party's number is [`Program::MAX_PARTIES`] or more.
    #[error("there is no party {0}; parties are numbered from 0 to {last}", last = Program::MAX_PARTIES - 1)]
    NoParty(u32),
    /// More gates than a 64-bit number counts.
    #[error("the program has more than 2^64 - 1 gates")]
    TooLarge,
    /// There is no such input or output value.
    #[error("there is no {what} value {index}; there are {count}, counted from 0")]
    NoValue {
        /// `input` or `output`.
        what: &'static str,
        /// The value asked for.
        index: usize,
        /// How many there are.
        count: usize,
    },
    /// A type whose values have another width.
    #[error("{what} value {index} has {bits} bits, which is no {ty}")]
    Type {
        /// `input` or `output`.
        what: &'static str,
        /// The value.
        index: usize,
        /// Its width.
        bits: usize,
        /// The type.
        ty: String,
    },
    /// An input value is named twice where once is possible.
    #[error("input value {0} is named twice")]
    NamedTwice(usize),
    /// An output value is named twice where once is possible.
    #[error("output value {0} is fed back twice; let the circuit put it out twice")]
    FedBackTwice(usize),
    /// An output value is fed back to an input value of another width.
    #[error(
        "output value {output} has {output_bits} bits; input value {input}, to which it is fed back, has {input_bits}"
    )]
    Feedback {
        /// The output value.
        output: usize,
        /// Its width.
        output_bits: usize,
        /// The input value.
        input: usize,
        /// Its width.
        input_bits: usize,
    },
}

/// An operand of a call, in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Operand {
    /// An input value of the circuit.
    Input(usize),
    /// An output value of the circuit.
    Output(usize),
}

impl fmt::Display for Operand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Operand::Input(index) => write!(f, "input value {index}"),
            Operand::Output(index) => write!(f, "output value {index}"),
        }
    }
}

impl Program {
    /// The most wires that a memory may have.
    pub const MAX_WIRES: u64 = u32::MAX as u64;
    /// The most loops inside each other.
    pub const MAX_NESTING: usize = 16;
    /// Parties are numbered below this.
    pub const MAX_PARTIES: u32 = 1 << 16;

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
        let lowered = OnceLock::new();
        Ok(Program { name: name.into(), wires, circuits, steps, inputs, outputs, totals, lowered })
    }

    /// The name that people gave it.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// The program under another name. Names are no part of [`Program::digest`].
    #[must_use]
    pub fn with_name(mut self, name: impl Into<String>) -> Program {
        self.name = name.into();
        self
    }

    /// Gives an input value to another party.
    ///
    /// # Errors
    /// [`ProgramError::NoValue`], [`ProgramError::NoParty`].
    pub fn with_owner(mut self, input: usize, party: u32) -> Result<Program, ProgramError> {
        check::party(party)?;
        let count = self.inputs.len();
        let value = self.inputs.get_mut(input).ok_or(ProgramError::NoValue { what: "input", index: input, count })?;
        value.party = party;
        let owners = self.steps.iter_mut().filter_map(|step| match step {
            Step::Input { party, .. } => Some(party),
            _ => None,
        });
        owners.skip(input).take(1).for_each(|owner| *owner = party);
        Ok(self)
    }

    /// Reveals an output value to others.
    ///
    /// # Errors
    /// [`ProgramError::NoValue`], [`ProgramError::NoParty`].
    pub fn with_recipients(mut self, output: usize, to: Recipients) -> Result<Program, ProgramError> {
        check::recipients(to)?;
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

    /// Says what an input value's bits mean to people. Types are no part of [`Program::digest`] or of the encoding.
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

    /// Says what an output value's bits mean to people. Types are no part of [`Program::digest`] or of the encoding.
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

    /// How many parties take part: one more than the largest number of a party that gives or learns a value.
    pub fn parties(&self) -> u32 {
        let recipients = self.outputs.iter().filter_map(|output| match output.to {
            Recipients::All => None,
            Recipients::Party(party) => Some(party),
        });
        self.inputs.iter().map(|input| input.party).chain(recipients).max().map_or(0, |last| last + 1)
    }

    /// What a run executes: calls, gates, depth.
    pub fn totals(&self) -> Totals {
        self.totals
    }

    /// How many AND gates a run executes.
    pub fn and_gates(&self) -> u64 {
        self.totals.and
    }

    /// The circuits lowered, in order; each is lowered once in a program's life.
    pub fn lowered(&self) -> &[Lowered] {
        self.lowered.get_or_init(|| self.circuits.iter().map(Lowered::new).collect())
    }
}

/// Whether a value of so many bits can have this type.
fn fits(what: &'static str, index: usize, bits: usize, ty: &Type) -> Result<(), ProgramError> {
    if ty.bits() == bits { Ok(()) } else { Err(ProgramError::Type { what, index, bits, ty: ty.to_string() }) }
}

impl PartialEq for Program {
    fn eq(&self, other: &Program) -> bool {
        let parts = |p: &Program| (p.wires, p.totals);
        parts(self) == parts(other)
            && self.name == other.name
            && self.steps == other.steps
            && self.circuits == other.circuits
    }
}

impl Eq for Program {}

#[cfg(test)]
mod tests;
