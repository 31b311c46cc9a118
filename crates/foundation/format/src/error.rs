//! What can be wrong with a circuit file.

use std::io;

/// Why a circuit could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// The file could not be read.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The file is malformed.
    #[error("line {line}{}: {what}", column.map(|column| format!(", column {column}")).unwrap_or_default())]
    Malformed {
        /// The line, counted from 1. If the file ends too early, the line after its last one.
        line: u64,
        /// The byte of the line where it begins, counted from 1, if it is at one place.
        column: Option<usize>,
        /// What is wrong.
        what: Malformation,
    },
}

/// What is wrong with a circuit file.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum Malformation {
    /// Bytes that are not UTF-8.
    #[error("this is not a text file: bytes that are not UTF-8")]
    NotUtf8,
    /// A line longer than any circuit needs.
    #[error("a line of more than {limit} bytes")]
    LineTooLong {
        /// The longest line that is read.
        limit: usize,
    },
    /// The file ends before its header does.
    #[error("the file ends where {expected} should stand")]
    HeaderMissing {
        /// What should stand there.
        expected: &'static str,
    },
    /// A header line has too many or too few numbers.
    #[error("{found} numbers where {wanted} are expected: {expected}")]
    HeaderNumbers {
        /// What they should be.
        expected: &'static str,
        /// How many there should be.
        wanted: u64,
        /// How many there are.
        found: usize,
    },
    /// Something else where a number should stand.
    #[error("`{found}` where a number is expected")]
    NotANumber {
        /// What stands there, cut to a few characters.
        found: String,
    },
    /// A number of more than 64 bits.
    #[error("a number larger than any circuit needs")]
    NumberTooLarge,
    /// The header announces more than a circuit can have.
    #[error("the header announces {found} {what}; at most {limit} are possible")]
    TooLarge {
        /// What it announces.
        what: &'static str,
        /// How many; `u64::MAX` if their sum does not fit 64 bits.
        found: u64,
        /// How many there may be.
        limit: u64,
    },
    /// The header announces fewer wires than there must be.
    #[error("the header announces {wires} wires, but {inputs} input bits and {gates} gates, which drive a wire each")]
    TooFewWires {
        /// The wires announced.
        wires: u64,
        /// The input bits announced.
        inputs: u64,
        /// The gates announced.
        gates: u64,
    },
    /// The header announces more output bits than wires.
    #[error("the header announces {outputs} output bits, but only {wires} wires")]
    TooManyOutputs {
        /// The output bits announced.
        outputs: u64,
        /// The wires announced.
        wires: u64,
    },
    /// The header announces more wires than inputs and gates drive.
    #[error("the header announces {announced} wires; the inputs and gates drive {driven}")]
    WireCount {
        /// The wires announced.
        announced: u64,
        /// The wires that are driven.
        driven: u64,
    },
    /// The file ends before the last gate.
    #[error("the file ends after {found} gates; the header announces {announced}")]
    GatesMissing {
        /// The gates announced.
        announced: u64,
        /// The gates that are there.
        found: u64,
    },
    /// Something follows after the last gate.
    #[error("there is more after the {announced} gates that the header announces")]
    GatesExtra {
        /// The gates announced.
        announced: u64,
    },
    /// A line that ends before the name of its gate.
    #[error("the line ends where the gate's name is expected (XOR, AND, INV, ...)")]
    GateNameMissing,
    /// More after the name of a gate.
    #[error("`{found}` after the gate's name, where the line should end")]
    AfterGate {
        /// What stands there, cut to a few characters.
        found: String,
    },
    /// A gate that the format does not have.
    #[error("there is no gate `{name}`; there are XOR, AND, INV (or NOT), EQ, EQW and MAND")]
    UnknownGate {
        /// What stands there, cut to a few characters.
        name: String,
    },
    /// A gate that announces other numbers of wires than its kind has.
    #[error("{gate} with {inputs} input and {outputs} output wires; it has {expected}")]
    Arity {
        /// Which gate.
        gate: &'static str,
        /// The numbers that it has.
        expected: &'static str,
        /// The input wires announced.
        inputs: u64,
        /// The output wires announced.
        outputs: u64,
    },
    /// A gate that lists more or fewer wires than it announces.
    #[error("the gate announces {announced} wires and lists {found}")]
    GateWires {
        /// The wires announced; `u64::MAX` if their number does not fit 64 bits.
        announced: u64,
        /// The wires listed.
        found: usize,
    },
    /// A wire that the header does not announce.
    #[error("wire {wire} is out of range: the header announces {wires} wires, counted from 0")]
    WireOutOfRange {
        /// The wire.
        wire: u64,
        /// The wires announced.
        wires: u64,
    },
    /// A wire is read that nothing drives before.
    #[error("wire {wire} is read before a gate drives it")]
    ReadBeforeWritten {
        /// The wire.
        wire: u64,
    },
    /// Two gates drive one wire.
    #[error("wire {wire} is driven by an earlier gate already")]
    WrittenTwice {
        /// The wire.
        wire: u64,
    },
    /// A gate drives an input wire.
    #[error("wire {wire} is an input; no gate may drive it")]
    InputOverwritten {
        /// The wire.
        wire: u64,
    },
    /// EQ with something else than 0 or 1.
    #[error("EQ takes the constant 0 or 1, not {found}")]
    NotAConstant {
        /// What stands there.
        found: u64,
    },
    /// No gate drives an output bit.
    #[error("output bit {output} is wire {wire}, which no gate drives")]
    OutputUndriven {
        /// The bit, counted over all output values.
        output: u64,
        /// Its wire.
        wire: u64,
    },
    /// A text that is longer than what is read.
    #[error("a file of more than {limit} bytes")]
    FileTooLong {
        /// The most bytes that are read.
        limit: u64,
    },
    /// Flip-flops, where a circuit without them is wanted.
    #[error("{flip_flops} flip-flops: this is one clock cycle of a design, not a circuit by itself")]
    FlipFlops {
        /// How many there are.
        flip_flops: usize,
    },
    /// Something is wrong in a netlist (SHDL, BLIF, JSON).
    #[error("{0}")]
    Netlist(String),
}

/// Why a circuit could not be written.
#[derive(Debug, thiserror::Error)]
pub enum WriteError {
    /// The file could not be written.
    #[error(transparent)]
    Io(#[from] io::Error),
    /// The older format has two input values.
    #[error("the older Bristol format holds circuits of at most two input values; this one has {0}")]
    TooManyInputs(usize),
    /// The older format has no constants but those that a gate makes of an input bit.
    #[error("the older Bristol format holds no circuit with a constant or an output bit to copy, but no input bits")]
    NoInputBits,
    /// The format is only read.
    #[error("{0} is read only; write Bristol Fashion, the older Bristol format or SHDL")]
    ReadOnly(&'static str),
}
