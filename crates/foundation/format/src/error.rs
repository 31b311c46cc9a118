//! What can be wrong with a circuit file.

use std::io;

/// The reason why a circuit could not be read.
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
        /// The byte of the line where the fault begins, counted from 1, if it is at one place.
        column: Option<usize>,
        /// The fault: what is wrong.
        what: Malformation,
    },
}

/// The fault of a circuit file.
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
        /// The header that should stand there.
        expected: &'static str,
    },
    /// A header line has too many or too few numbers.
    #[error("{found} numbers where {wanted} are expected: {expected}")]
    HeaderNumbers {
        /// The numbers that are expected, in words.
        expected: &'static str,
        /// The count of numbers that is wanted.
        wanted: u64,
        /// The count of numbers found.
        found: usize,
    },
    /// A word that is not a number where a number should stand.
    #[error("`{found}` where a number is expected")]
    NotANumber {
        /// The word found there, cut to a few characters.
        found: String,
    },
    /// A number of more than 64 bits.
    #[error("a number larger than any circuit needs")]
    NumberTooLarge,
    /// The header announces more than a circuit can have.
    #[error("the header announces {found} {what}; at most {limit} are possible")]
    TooLarge {
        /// The thing of which there are too many.
        what: &'static str,
        /// The number announced; `u64::MAX` if it is a sum that does not fit 64 bits.
        found: u64,
        /// The largest number that there may be.
        limit: u64,
    },
    /// The header announces fewer wires than there must be.
    #[error("the header announces {wires} wires, but {inputs} input bits and {gates} gates, which drive a wire each")]
    TooFewWires {
        /// The number of wires announced.
        wires: u64,
        /// The number of input bits announced.
        inputs: u64,
        /// The number of gates announced.
        gates: u64,
    },
    /// The header announces more output bits than wires.
    #[error("the header announces {outputs} output bits, but only {wires} wires")]
    TooManyOutputs {
        /// The number of output bits announced.
        outputs: u64,
        /// The number of wires announced.
        wires: u64,
    },
    /// The header announces more wires than inputs and gates drive.
    #[error("the header announces {announced} wires; the inputs and gates drive {driven}")]
    WireCount {
        /// The number of wires announced.
        announced: u64,
        /// The number of wires that are driven.
        driven: u64,
    },
    /// The file ends before the last gate.
    #[error("the file ends after {found} gates; the header announces {announced}")]
    GatesMissing {
        /// The number of gates announced.
        announced: u64,
        /// The number of gates found.
        found: u64,
    },
    /// More follows after the last gate.
    #[error("there is more after the {announced} gates that the header announces")]
    GatesExtra {
        /// The number of gates announced.
        announced: u64,
    },
    /// A line that ends before the name of its gate.
    #[error("the line ends where the gate's name is expected (XOR, AND, INV, ...)")]
    GateNameMissing,
    /// More after the name of a gate.
    #[error("`{found}` after the gate's name, where the line should end")]
    AfterGate {
        /// The word found there, cut to a few characters.
        found: String,
    },
    /// A gate that the format does not have.
    #[error("there is no gate `{name}`; there are XOR, AND, OR, INV (or NOT), MUX, EQ, EQW and MAND")]
    UnknownGate {
        /// The word found there, cut to a few characters.
        name: String,
    },
    /// A gate that announces other numbers of wires than its kind has.
    #[error("{gate} with {inputs} input and {outputs} output wires; it has {expected}")]
    Arity {
        /// The gate's name.
        gate: &'static str,
        /// The numbers of wires that its kind has.
        expected: &'static str,
        /// The number of input wires announced.
        inputs: u64,
        /// The number of output wires announced.
        outputs: u64,
    },
    /// A gate that lists more or fewer wires than it announces.
    #[error("the gate announces {announced} wires and lists {found}")]
    GateWires {
        /// The number of wires announced; `u64::MAX` if it does not fit 64 bits.
        announced: u64,
        /// The number of wires listed.
        found: usize,
    },
    /// A wire that the header does not announce.
    #[error("wire {wire} is out of range: the header announces {wires} wires, counted from 0")]
    WireOutOfRange {
        /// The wire's number.
        wire: u64,
        /// The number of wires announced.
        wires: u64,
    },
    /// A wire is read that nothing drives before.
    #[error("wire {wire} is read before a gate drives it")]
    ReadBeforeWritten {
        /// The wire's number.
        wire: u64,
    },
    /// Two gates drive one wire.
    #[error("wire {wire} is driven by an earlier gate already")]
    WrittenTwice {
        /// The wire's number.
        wire: u64,
    },
    /// A gate that drives an input wire.
    #[error("wire {wire} is an input; no gate may drive it")]
    InputOverwritten {
        /// The wire's number.
        wire: u64,
    },
    /// An EQ gate with something else than 0 or 1.
    #[error("EQ takes the constant 0 or 1, not {found}")]
    NotAConstant {
        /// The number found there.
        found: u64,
    },
    /// No gate drives an output bit.
    #[error("output bit {output} is wire {wire}, which no gate drives")]
    OutputUndriven {
        /// The bit, counted over all output values.
        output: u64,
        /// The bit's wire.
        wire: u64,
    },
    /// A text that is too long to be read.
    #[error("a file of more than {limit} bytes")]
    FileTooLong {
        /// The most bytes that are read.
        limit: u64,
    },
    /// Flip-flops, where a circuit without them is wanted.
    #[error("{flip_flops} flip-flops: this is one clock cycle of a design, not a circuit by itself")]
    FlipFlops {
        /// The number of flip-flops.
        flip_flops: usize,
    },
    /// A fault of a netlist (SHDL, BLIF, JSON), in words.
    #[error("{0}")]
    Netlist(String),
}

/// The reason why a circuit could not be written.
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
