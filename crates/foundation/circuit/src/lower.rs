//! Lowering: from a circuit's wires to slots, in the order that an engine walks.

use comity_core::Tape;

use crate::Circuit;

/// The version of the lowering: part of every program digest, since a gate's tweak is its lowered index.
pub const VERSION: u32 = 1;

/// A circuit in its streaming lowering.
///
/// Before a run, slot 0 holds zero, slot 1 one and slots 2.. the input bits in order; afterwards output bit `i` is in
/// slot `outputs()[i]`.
#[derive(Clone, Debug)]
pub struct Lowered {
    tape: Tape,
    inputs: usize,
    outputs: Vec<u32>,
}

impl Lowered {
    /// Lowers a circuit: deterministic, the same on every machine.
    pub fn new(circuit: &Circuit) -> Lowered {
        let _ = circuit;
        unreachable!("replaced by the real lowering")
    }

    /// The gates over slots.
    pub fn tape(&self) -> &Tape {
        &self.tape
    }

    /// The number of input bits, in slots 2...
    pub fn inputs(&self) -> usize {
        self.inputs
    }

    /// The slot of each output bit.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }
}
