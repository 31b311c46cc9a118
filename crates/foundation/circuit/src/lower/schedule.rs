//! The order of gates, for both lowerings: levels of AND depth, inside a window that slides over the circuit.

use crate::circuit::{Circuit, Gate, Op};

/// What is done with the gates as they come in their order: whole levels, of each the ANDs, then the XORs.
pub(crate) trait Emit {
    /// An AND. Its inputs came before the last [`Emit::end_batch`], or are XORs that came before.
    fn and(&mut self, gate: &Gate, wire: usize);

    /// The ANDs of a level have come.
    fn end_batch(&mut self);

    /// An XOR, whose inputs came before.
    fn xor(&mut self, gate: &Gate, wire: usize);
}

/// Decides the order. Gates have levels: an AND is one above its inputs, an XOR on the level of its inputs, and no
/// gate is below the highest level (`floor`) among the gates that left the window. So levels up to the floor are
/// complete and can be emitted, and all gates above it are in the window.
///
/// No branch predictor can tell one gate from the next, so that there are few branches on what a gate is or reads.
pub(crate) struct Schedule<'a> {
    circuit: &'a Circuit,
    /// The level of the gate that drives wire `w` at `w % window`, for the last `window` wires; zero before the first.
    levels: Vec<u32>,
    /// The wire after `w` in its list, at `w % window`.
    next: Vec<u32>,
    /// The lists of level `l` at `l % (2 * window)`, by operation, in the circuit's order.
    lists: Vec<[List; 2]>,
    floor: u32,
    top: u32,
}

/// Wires of gates that wait for their level.
#[derive(Clone, Copy)]
struct List {
    first: u32,
    last: u32,
}

/// No wire, no slot.
pub(crate) const NONE: u32 = u32::MAX;
const EMPTY: List = List { first: NONE, last: NONE };

impl<'a> Schedule<'a> {
    /// `window` is a power of two.
    pub(crate) fn new(circuit: &'a Circuit, window: usize) -> Schedule<'a> {
        // A small circuit needs no more window than it has gates.
        let window = window.min(circuit.gates().len().next_power_of_two());
        Schedule {
            circuit,
            levels: vec![0; window],
            next: vec![NONE; window],
            lists: vec![[EMPTY; 2]; 2 * window],
            floor: 0,
            top: 0,
        }
    }

    pub(crate) fn run(mut self, to: &mut impl Emit) {
        let (window, first) = (self.levels.len(), self.circuit.first_gate_wire());
        let mask = window - 1;
        for (wire, gate) in (first..).zip(self.circuit.gates()) {
            // The level of the gate that leaves the window.
            let leaves = self.levels[wire & mask];
            if leaves > self.floor {
                self.emit_up_to(leaves, to);
            }
            let level = |read: u32| {
                let (level, near) = (self.levels[read as usize & mask], wire - (read as usize) < window);
                if near { level } else { 0 }
            };
            let is_and = gate.op == Op::And;
            let level = level(gate.a).max(level(gate.b)).max(self.floor) + u32::from(is_and);
            self.levels[wire & mask] = level;
            if level == self.floor {
                to.xor(gate, wire);
                continue;
            }
            self.top = self.top.max(level);
            let list = &mut self.lists[level as usize & (2 * window - 1)][usize::from(is_and)];
            match list.last {
                NONE => list.first = wire as u32,
                last => self.next[last as usize & mask] = wire as u32,
            }
            list.last = wire as u32;
            self.next[wire & mask] = NONE;
        }
        self.emit_up_to(self.top, to);
    }

    fn emit_up_to(&mut self, floor: u32, to: &mut impl Emit) {
        let window = self.levels.len();
        let (gates, first) = (self.circuit.gates(), self.circuit.first_gate_wire());
        while self.floor < floor {
            self.floor += 1;
            let place = self.floor as usize & (2 * window - 1);
            let [xors, ands] = std::mem::replace(&mut self.lists[place], [EMPTY; 2]);
            let mut at = ands.first;
            while at != NONE {
                to.and(&gates[at as usize - first], at as usize);
                at = self.next[at as usize & (window - 1)];
            }
            to.end_batch();
            at = xors.first;
            while at != NONE {
                to.xor(&gates[at as usize - first], at as usize);
                at = self.next[at as usize & (window - 1)];
            }
        }
    }
}
