//! `Program`: who puts in what, which circuits are called how often, who learns what.

use crate::Circuit;

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
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Program {
    name: String,
    wires: u64,
    circuits: Vec<Circuit>,
    steps: Vec<Step>,
}

impl Program {
    /// The name that people gave it.
    pub fn name(&self) -> &str {
        &self.name
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
}
