//! Lowering: from a circuit's wires to slots, in the order that an engine walks.
//!
//! # How a circuit becomes slots
//!
//! A circuit gives each gate a wire of its own, and a wire is written once: as many wires as gates. An engine
//! has memory for *slots*, which are written again and again: a slot is free when its wire has been read for
//! the last time. What an engine walks is a *tape* of segments, each some XORs and then a batch of ANDs that
//! do not depend on each other. A full adder of `a`, `b`, `c`, its gates in the circuit's order on the left:
//!
//! ```text
//!                      slot    0  1  2    3    4      5    6
//!  wire                        0  1  a    b    c
//!   5 = a ^ c    s2 = s2 ^ s4        5    .    .                 nobody reads a again: 5 takes its slot
//!   6 = b ^ c    s5 = s3 ^ s4        .    .    .      6          no slot is free: a new one
//!   9 = 5 ^ b    s3 = s2 ^ s3        .    9    .      .          the sum, before the AND that it does not need
//!   7 = 5 & 6    s6 = s2 & s5        .    .    .      .    7     a batch: what it reads is free after it
//!   8 = 7 ^ c    s4 = s6 ^ s4        .    .    8      .    .     the carry
//! ```
//!
//! Five gates in seven slots, of which two are the constants, and in two segments: three XORs and an AND; an
//! XOR. The outputs are in slots 3 and 4.
//!
//! A *call* of the circuit then needs no more than to put its arguments into slots 2.. and to fetch its
//! results from the slots of the outputs: the tape is the same for all calls, and its slots are used again by
//! the next one.
//!
//! # In which order
//!
//! Garbling wants many ANDs at once that do not depend on each other, so that its AES units stay full, and a working
//! set that sits in cache. Both come from list scheduling inside a sliding window of [`WINDOW`] gates:
//!
//! - An AND joins the earliest batch that its inputs allow, but no gate runs before the gate [`WINDOW`]
//!   places ahead of it in the circuit has run, so that at most that many values live that the circuit's own
//!   order would not yet have made.
//! - XORs run before the batch that first could use them, sorted by their depth among themselves, so that
//!   neighbours are independent: a chain of XORs through memory waits five cycles at each step, and garbles a
//!   third slower.
//! - The slots that a batch reads are free only after the batch: an engine may do its ANDs in any order.
//!
//! # Cost
//!
//! One pass, linear time: about 40 bytes a gate of memory in all, circuit and tape included.

pub(crate) mod held;
pub(crate) mod schedule;

use std::sync::OnceLock;

use comity_core::{Segment, Tape, TapeGate};

use crate::circuit::{Circuit, Gate, Group, Op};
use crate::layered::Layered;
use held::{Held, KEPT, push_if};
use schedule::{Emit, Schedule};

/// The version of the lowering: part of every program digest, since a gate's tweak is its lowered index.
pub(crate) const VERSION: u32 = 1;

/// How many gates further back in the circuit a gate may run with: a power of two. Up to 2^14 blocks of 16 bytes are
/// a quarter of a MiB, so that a circuit of 48 Ki live values or fewer stays within one MiB.
const WINDOW: usize = 1 << 14;

/// The most ANDs in a batch: enough to fill any machine's AES units many times over.
const BATCH: u32 = 256;
const _: () = assert!(BATCH as usize <= Tape::MAX_ANDS);

/// A circuit in its streaming lowering.
///
/// Before a run, slot 0 holds zero, slot 1 one and slots 2.. the input bits in order; afterwards output bit `i` is in
/// slot `outputs()[i]`. Every gate of the circuit is there, once, those included that no output needs.
#[derive(Clone, Debug)]
pub struct Lowered {
    tape: Tape,
    inputs: Vec<usize>,
    outputs: Vec<u32>,
    output_widths: Vec<usize>,
    layered: OnceLock<Box<Layered>>,
}

impl Lowered {
    /// Lowers a circuit: deterministic, the same on every machine.
    pub fn new(circuit: &Circuit) -> Lowered {
        Lowered::with_window(circuit, WINDOW)
    }

    fn with_window(circuit: &Circuit, window: usize) -> Lowered {
        let mut walk = Emitter::new(circuit);
        Schedule::new(circuit, window).run(&mut walk);
        walk.finish(circuit)
    }

    /// The gates over slots.
    pub fn tape(&self) -> &Tape {
        &self.tape
    }

    /// The same circuit in its layered lowering, which is made when it is first asked for.
    pub fn layered(&self) -> &Layered {
        self.layered.get_or_init(|| Box::new(Layered::new(&self.unslotted())))
    }

    /// The circuit that the tape is: a wire for each gate.
    fn unslotted(&self) -> Circuit {
        let first = 2 + self.inputs();
        let mut wires: Vec<u32> = (0..self.tape.slots().max(first) as u32).collect();
        let mut gates = Vec::with_capacity(self.tape.xors().len() + self.tape.ands().len());
        let mut push = |op, from: &[TapeGate]| {
            for gate in from {
                gates.push(Gate { op, a: wires[gate.a()], b: wires[gate.b()] });
                wires[gate.out()] = (first + gates.len() - 1) as u32;
            }
        };
        let (mut xors, mut ands) = (self.tape.xors(), self.tape.ands());
        for segment in self.tape.segments() {
            let now;
            (now, xors) = xors.split_at(segment.xors as usize);
            push(Op::Xor, now);
            let now;
            (now, ands) = ands.split_at(segment.ands as usize);
            push(Op::And, now);
        }
        let outputs: Vec<u32> = self.outputs.iter().map(|&slot| wires[slot as usize]).collect();
        let group = |bits| vec![Group { name: String::new(), bits }];
        Circuit::new(group(self.inputs()), group(outputs.len()), gates, outputs).expect("a tape is in order")
    }

    /// The number of input bits, in slots 2...
    pub fn inputs(&self) -> usize {
        self.inputs.iter().sum()
    }

    /// The bits of each input value.
    pub fn input_widths(&self) -> &[usize] {
        &self.inputs
    }

    /// The slot of each output bit.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }

    /// The bits of each output value.
    pub fn output_widths(&self) -> &[usize] {
        &self.output_widths
    }
}

/// Writes the tape, gate after gate, and gives out slots.
struct Emitter {
    wires: Vec<Held>,
    /// Free slots below `slots`; the last one freed is taken first, while it is still in cache.
    free: Vec<u32>,
    slots: u32,
    /// XORs that wait to be sorted.
    linear: Vec<Waiting>,
    /// How many XORs of each depth wait; then, where the next one of each depth goes.
    depths: Vec<u32>,
    sorted: Vec<Waiting>,
    /// Slots that become free at the end of the batch of ANDs.
    read: Vec<u32>,
    xors: Vec<TapeGate>,
    ands: Vec<TapeGate>,
    segments: Vec<Segment>,
    /// The segment that is being filled.
    segment: Segment,
}

/// An XOR that waits to be sorted.
#[derive(Clone, Copy, Default)]
struct Waiting {
    a: u32,
    b: u32,
    wire: u32,
    depth: u32,
}

/// `PENDING + d` in place of a slot: the wire of a waiting XOR of depth `d`. Slots are smaller.
const PENDING: u32 = 1 << 31;
/// The most XORs that wait.
const MAX_PENDING: usize = WINDOW;

impl Emitter {
    fn new(circuit: &Circuit) -> Emitter {
        let (wires, free) = Held::all(circuit);
        let gates = circuit.gates();
        let count = gates.iter().filter(|g| g.op == Op::And).count();
        Emitter {
            wires,
            free,
            slots: circuit.first_gate_wire() as u32,
            linear: Vec::with_capacity(MAX_PENDING.min(gates.len() - count)),
            depths: Vec::new(),
            sorted: Vec::new(),
            read: Vec::new(),
            xors: Vec::with_capacity(gates.len() - count),
            ands: Vec::with_capacity(count),
            segments: Vec::new(),
            segment: Segment { xors: 0, ands: 0 },
        }
    }

    /// Reads a wire: its slot, and whether that was the last time.
    fn read(&mut self, wire: u32) -> (u32, bool) {
        let place = &mut self.wires[wire as usize];
        if place.reads != KEPT {
            place.reads -= 1;
        }
        (place.slot, place.reads == 0)
    }

    /// Gives a wire a slot; the second value is true if nobody will read it.
    fn write(&mut self, wire: usize) -> (u32, bool) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        self.wires[wire].slot = slot;
        (slot, self.wires[wire].reads == 0)
    }

    /// Writes the XORs that wait, the shallow ones first, else in the circuit's order.
    fn end_linear(&mut self) {
        // A counting sort.
        let mut end = 0;
        for place in &mut self.depths {
            end += std::mem::replace(place, end);
        }
        let mut sorted = std::mem::take(&mut self.sorted);
        sorted.resize(self.linear.len().max(sorted.len()), Waiting::default());
        for gate in &self.linear {
            let place = &mut self.depths[gate.depth as usize];
            sorted[*place as usize] = *gate;
            *place += 1;
        }
        for gate in &sorted[..self.linear.len()] {
            self.write_xor(gate);
        }
        self.linear.clear();
        self.depths.clear();
        self.sorted = sorted;
    }

    fn write_xor(&mut self, gate: &Waiting) {
        let (a, last) = self.read(gate.a);
        push_if(&mut self.free, a, last);
        let (b, last) = self.read(gate.b);
        push_if(&mut self.free, b, last);
        let (out, dead) = self.write(gate.wire as usize);
        if dead {
            self.free.push(out);
        }
        self.xors.push(TapeGate::new(a, b, out));
        self.segment.xors += 1;
    }

    fn finish(mut self, circuit: &Circuit) -> Lowered {
        self.end_linear();
        if self.segment.xors > 0 {
            self.segments.push(self.segment);
        }
        let outputs = circuit.output_wires().iter().map(|&w| self.wires[w as usize].slot).collect();
        drop((self.wires, self.free));
        let tape =
            Tape::new(self.slots, self.xors, self.ands, self.segments).expect("lowering keeps a tape's promises");
        let widths = |groups: &[Group]| groups.iter().map(|group| group.bits).collect();
        Lowered {
            tape,
            inputs: widths(circuit.inputs()),
            outputs,
            output_widths: widths(circuit.outputs()),
            layered: OnceLock::new(),
        }
    }
}

impl Emit for Emitter {
    fn and(&mut self, gate: &Gate, wire: usize) {
        if !self.linear.is_empty() {
            self.end_linear();
        }
        if self.segment.ands == BATCH {
            self.end_batch();
        }
        let (a, last) = self.read(gate.a);
        push_if(&mut self.read, a, last);
        let (b, last) = self.read(gate.b);
        push_if(&mut self.read, b, last);
        let (out, dead) = self.write(wire);
        if dead {
            self.read.push(out);
        }
        self.ands.push(TapeGate::new(a, b, out));
        self.segment.ands += 1;
    }

    /// The ANDs since the last call are one batch.
    fn end_batch(&mut self) {
        if self.segment.ands > 0 {
            self.segments.push(std::mem::replace(&mut self.segment, Segment { xors: 0, ands: 0 }));
            self.free.append(&mut self.read);
        }
    }

    /// An XOR whose inputs were emitted: they have slots, or wait themselves.
    fn xor(&mut self, gate: &Gate, wire: usize) {
        let depth = |wire: u32| self.wires[wire as usize].slot.saturating_sub(PENDING - 1);
        let depth = depth(gate.a).max(depth(gate.b));
        self.wires[wire].slot = PENDING + depth;
        if depth as usize == self.depths.len() {
            self.depths.push(0);
        }
        self.depths[depth as usize] += 1;
        self.linear.push(Waiting { a: gate.a, b: gate.b, wire: wire as u32, depth });
        if self.linear.len() == MAX_PENDING {
            self.end_linear();
        }
    }
}

#[cfg(test)]
mod tests;
