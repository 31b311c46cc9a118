//! Why a program was refused, and where.

use std::fmt;

use comity_core::PartyId;

use super::Program;

/// The path to a step of a program: its index, and inside loops those of the loops around it, outermost first.
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

/// The reason why a program was refused.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum ProgramError {
    /// The memory is larger than [`Program::MAX_WIRES`].
    #[error("a memory of {0} wires; at most {max} are possible", max = Program::MAX_WIRES)]
    TooManyWires(u64),
    /// A loop or a call that is done zero times.
    #[error("{0} is done zero times; leave it out")]
    ZeroTimes(StepPath),
    /// A loop with an empty body: it would run without computing anything, perhaps for ever.
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
        /// The step.
        step: StepPath,
        /// The index of the circuit that it names.
        circuit: usize,
        /// The number of circuits.
        count: usize,
    },
    /// A call has another number of arguments or results than the circuit.
    #[error("{step} has {given} {what} values; the circuit has {takes}")]
    Arity {
        /// The step.
        step: StepPath,
        /// `input` or `output`.
        what: &'static str,
        /// The number that the step gives.
        given: usize,
        /// The number that the circuit has.
        takes: usize,
    },
    /// A span of a call has another width than the circuit's value.
    #[error("{step} has {given} bits for {what} value {value}; the circuit has {takes}")]
    Width {
        /// The step.
        step: StepPath,
        /// `input` or `output`.
        what: &'static str,
        /// The index of the circuit's value.
        value: usize,
        /// The width of the span.
        given: u64,
        /// The width of the value.
        takes: usize,
    },
    /// A span has more strides than there are loops around it.
    #[error("{step} has a span with {given} strides inside {loops} loops")]
    Strides {
        /// The step.
        step: StepPath,
        /// The number of strides.
        given: usize,
        /// The number of loops.
        loops: usize,
    },
    /// A span leaves the memory in some turn of the loops around it.
    #[error("{step} reaches wires {first} to {last}; the memory has {wires}")]
    OutsideMemory {
        /// The step.
        step: StepPath,
        /// The lowest wire that any turn reaches.
        first: i128,
        /// The highest wire that any turn reaches.
        last: i128,
        /// The size of the memory.
        wires: u64,
    },
    /// Two output values of one call share wires, so that the result depends on which is written last.
    #[error("{step}: output values {a} and {b} of one call are written to the same wires")]
    WrittenTwice {
        /// The step.
        step: StepPath,
        /// The one output value.
        a: usize,
        /// The other output value.
        b: usize,
    },
    /// The calls of a step are not independent.
    #[error("{step}: its calls are not independent: one writes output value {written} where another has its {other}")]
    Dependent {
        /// The step.
        step: StepPath,
        /// The output value of the one call.
        written: usize,
        /// The input or output value of the other.
        other: CallOperand,
    },
    /// The check for independent calls would take too long.
    #[error("{0}: too many spans that lie across each other to tell whether the calls are independent")]
    TooTangled(StepPath),
    /// A party's number is [`Program::MAX_PARTIES`] or more.
    #[error("there is no party {0}; at most {max} take part, numbered from 0 to {last}", max = Program::MAX_PARTIES, last = Program::MAX_PARTIES - 1)]
    NoParty(PartyId),
    /// An output value for an empty set of parties.
    #[error("an output value that nobody learns; leave it out")]
    Nobody,
    /// More gates than a 64-bit number counts.
    #[error("the program has more than 2^64 - 1 gates")]
    TooLarge,
    /// The program has no such input or output value.
    #[error("there is no {what} value {index}; there are {count}, counted from 0")]
    NoValue {
        /// `input` or `output`.
        what: &'static str,
        /// The index of the value asked for.
        index: usize,
        /// The number of values.
        count: usize,
    },
    /// A type whose values have another width.
    #[error("{what} value {index} has {bits} bits, which do not fit the type {ty}")]
    Type {
        /// `input` or `output`.
        what: &'static str,
        /// The index of the value.
        index: usize,
        /// The width of the value.
        bits: usize,
        /// The type.
        ty: String,
    },
    /// An input value is named twice where each may be named once.
    #[error("input value {0} is named twice")]
    NamedTwice(usize),
    /// An output value is named twice where each may be named once.
    #[error("output value {0} is fed back twice; let the circuit put it out twice")]
    FedBackTwice(usize),
    /// An output value is fed back to an input value of another width.
    #[error(
        "output value {output} has {output_bits} bits; input value {input}, to which it is fed back, has {input_bits}"
    )]
    Feedback {
        /// The output value.
        output: usize,
        /// The width of the output value.
        output_bits: usize,
        /// The input value.
        input: usize,
        /// The width of the input value.
        input_bits: usize,
    },
}

/// An operand of a call, in errors.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum CallOperand {
    /// An input value of the circuit.
    Input(usize),
    /// An output value of the circuit.
    Output(usize),
}

impl fmt::Display for CallOperand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            CallOperand::Input(index) => write!(f, "input value {index}"),
            CallOperand::Output(index) => write!(f, "output value {index}"),
        }
    }
}
