//! A chunk: steps of a program that are garbled, opened and evaluated together.
//!
//! All parties cut a program into the same chunks, whether they garble it, run it, or read what they garbled
//! before.

use std::rc::Rc;

use comity_circuit::{Call, Lowered, Place, Program, Recipients};
use comity_core::{Bits, Block, Cursor, Part, PartyId, Tape, TapeGate};

use crate::hash::{OUTPUT_ROWS, ROWS};

/// AND gates, and wires of inputs and outputs, of a chunk, times parties. Of each such gate a party has a
/// dozen blocks at a time for each party: some 25 MiB in all, however many parties there are.
pub(crate) const CHUNK: usize = 1 << 17;

/// The room of a chunk of this program among `parties` parties. A program of many chunks has smaller ones:
/// the dealer needs memory then, too, and makes material for one chunk when that of the one before is used
/// up.
pub(crate) fn room(program: &Program, parties: usize) -> usize {
    let room = CHUNK / parties;
    if program.and_gates() > 8 * room as u64 { room / 4 } else { room }
}

/// What waits for the end of a chunk.
#[derive(Default)]
pub(crate) struct Chunk<'p> {
    pub(crate) steps: Vec<Step<'p>>,
    pub(crate) inputs: Vec<Input>,
    pub(crate) outputs: Vec<Output>,
    pub(crate) fill: Fill,
}

/// How much is in a chunk.
#[derive(Default)]
pub(crate) struct Fill {
    pub(crate) steps: usize,
    /// AND gates.
    pub(crate) ands: usize,
    /// XOR gates that are garbled.
    pub(crate) xors: usize,
    /// Wires of inputs.
    pub(crate) input_bits: usize,
    /// Wires of outputs.
    pub(crate) output_bits: usize,
}

impl Fill {
    /// Whether a part of a tape, or a wire, might not fit any more.
    pub(crate) fn full(&self, room: usize) -> bool {
        self.ands + self.xors + self.input_bits + self.output_bits + Tape::MAX_ANDS > room || self.steps > CHUNK
    }
}

/// XOR gates of a part that have rows where such gates are garbled. NOT is a sum with the constant in slot 1,
/// and costs nothing.
pub(crate) fn garbled_xors(part: &Part<'_>) -> usize {
    part.gates().map(|(xors, _)| xors.iter().filter(|gate| !with_constant(gate)).count()).sum()
}

/// Whether a gate is one with a constant.
pub(crate) fn with_constant(gate: &TapeGate) -> bool {
    gate.a() < 2 || gate.b() < 2
}

/// A step that waits to be evaluated.
pub(crate) enum Step<'p> {
    /// The next input value goes to wires from `start` on.
    Input { start: usize },
    /// Before a call.
    Load(Rc<Calling<'p>>, u64),
    /// Gates of a call.
    Walk(Part<'p>),
    /// After a call.
    Store(Rc<Calling<'p>>, u64),
    /// The next output value is in the wires from `start` on.
    Reveal { start: usize },
}

/// An input value of a chunk.
pub(crate) struct Input {
    pub(crate) owner: PartyId,
    pub(crate) bits: usize,
    /// The value, at its owner.
    pub(crate) value: Option<Bits>,
}

/// An output value of a chunk.
pub(crate) struct Output {
    pub(crate) index: usize,
    pub(crate) to: Recipients,
    pub(crate) bits: usize,
}

impl<'p> Chunk<'p> {
    pub(crate) fn input(&mut self, input: Input, start: usize) {
        self.fill.input_bits += input.bits;
        self.inputs.push(input);
        self.step(Step::Input { start });
    }

    /// Gates of a call; `xors` is the number of its XOR gates that are garbled.
    pub(crate) fn walk(&mut self, part: Part<'p>, xors: usize) {
        self.fill.ands += part.ands();
        self.fill.xors += xors;
        self.step(Step::Walk(part));
    }

    pub(crate) fn reveal(&mut self, output: Output, start: usize) {
        self.fill.output_bits += output.bits;
        self.outputs.push(output);
        self.step(Step::Reveal { start });
    }

    pub(crate) fn step(&mut self, step: Step<'p>) {
        self.fill.steps += 1;
        self.steps.push(step);
    }

    /// The bytes of a message with the inputs of a party.
    pub(crate) fn bytes_of(&self, party: PartyId) -> usize {
        self.bits_of(party).div_ceil(8)
    }

    /// Blocks of the rows of all gates among `parties`: first those of AND gates, then of XOR gates, then of
    /// outputs.
    pub(crate) fn rows(&self, parties: usize) -> usize {
        ((self.fill.ands + self.fill.xors) * ROWS + self.fill.output_bits * OUTPUT_ROWS) * parties
    }

    /// The bits of the inputs of a party.
    pub(crate) fn bits_of(&self, party: PartyId) -> usize {
        self.inputs.iter().filter(|input| input.owner == party).map(|input| input.bits).sum()
    }
}

/// A call of a circuit that outlives the step that made it.
pub(crate) struct Calling<'p> {
    circuit: &'p Lowered,
    args: Vec<Place>,
    outs: Vec<Place>,
}

impl<'p> Calling<'p> {
    /// The call, of a circuit of this program.
    pub(crate) fn new(program: &'p Program, call: &Call<'_>) -> Calling<'p> {
        Calling { circuit: &program.lowered()[call.index], args: call.args.to_vec(), outs: call.outs.to_vec() }
    }

    /// The slots that a call wants.
    pub(crate) fn slots(&self) -> usize {
        self.circuit.tape().slots().max(2)
    }

    /// The next gates of a call, up to a few hundred ANDs.
    pub(crate) fn advance(&self, cursor: &mut Cursor) -> Option<Part<'p>> {
        cursor.advance(self.circuit.tape(), Tape::MAX_ANDS)
    }

    /// As [`Call::load`], of wires of `stride` blocks.
    pub(crate) fn load(&self, t: u64, stride: usize, memory: &[Block], slots: &mut [Block]) {
        let mut slot = 2;
        for (&width, arg) in self.circuit.input_widths().iter().zip(&self.args) {
            let from = &memory[arg.at(t) * stride..][..width * stride];
            slots[slot * stride..][..width * stride].copy_from_slice(from);
            slot += width;
        }
    }

    /// As [`Call::store`], of wires of `stride` blocks.
    pub(crate) fn store(&self, t: u64, stride: usize, slots: &[Block], memory: &mut [Block]) {
        let mut outputs = self.circuit.outputs().iter();
        for (&width, out) in self.circuit.output_widths().iter().zip(&self.outs) {
            let to = &mut memory[out.at(t) * stride..][..width * stride];
            for (wire, &slot) in to.chunks_exact_mut(stride).zip(outputs.by_ref()) {
                wire.copy_from_slice(&slots[slot as usize * stride..][..stride]);
            }
        }
    }
}
