//! The layered lowering: gates sorted by AND depth.
//!
//! Secret sharing pays a round for ANDs that wait for each other and next to nothing for their number, so a
//! layer holds all ANDs of one depth, however far apart they are in the circuit. That makes values live long:
//! as in the streaming lowering, gates come from a window that slides over the circuit, only a much larger
//! one of [`WINDOW`] gates. A circuit that fits the window has as many layers as its AND depth; a longer one
//! has some more, and no more live wires than its own order would have and the window. A slot is free again
//! after its wire's last reader; those that ANDs read only after the layer's ANDs, which may so be done in
//! pieces or all at once.
//!
//! One pass, linear time.

use comity_core::TapeGate;

use crate::circuit::{Circuit, Gate};
use crate::lower::held::{Held, KEPT, push_if};
use crate::lower::schedule::{Emit, NONE, Schedule};

/// The number of gates further back in the circuit that a gate may run with: a power of two. As many live wires of 32
/// bytes are 32 MiB.
const WINDOW: usize = 1 << 20;

/// A circuit in its layered lowering: the same gates in another order, over slots.
///
/// Before a run, slot 0 holds zero, slot 1 one and slots 2.. the input bits in order; afterwards output bit
/// `i` is in slot `outputs()[i]`. No gate writes a slot that it reads, and no AND of a layer one that another
/// AND of the layer reads.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Layered {
    slots: usize,
    input_bits: usize,
    gates: Vec<TapeGate>,
    layers: Vec<Layer>,
    outputs: Vec<u32>,
}

/// A layer: the number of its ANDs, which read only wires of earlier layers, and of its XORs, executed in
/// order after them.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Layer {
    /// The number of AND gates: independent of one another, to be done in one round.
    pub ands: usize,
    /// The number of XOR gates (NOT is one), in order.
    pub xors: usize,
}

impl Layered {
    /// Sorts a circuit's gates into layers: deterministic, the same on every machine.
    pub fn new(circuit: &Circuit) -> Layered {
        Layered::with_window(circuit, WINDOW)
    }

    fn with_window(circuit: &Circuit, window: usize) -> Layered {
        let mut walk = Emitter::new(circuit);
        Schedule::new(circuit, window).run(&mut walk);
        let outputs = circuit.output_wires().iter().map(|&wire| walk.wires[wire as usize].slot).collect();
        Layered {
            slots: walk.slots as usize,
            input_bits: circuit.input_bits(),
            gates: walk.gates,
            layers: walk.layers,
            outputs,
        }
    }

    /// The number of slots, the two constants included.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// The number of input bits, in slots 2...
    pub fn inputs(&self) -> usize {
        self.input_bits
    }

    /// All gates, layer after layer.
    pub fn gates(&self) -> &[TapeGate] {
        &self.gates
    }

    /// The layers in order: the first one has XORs only.
    pub fn layers(&self) -> &[Layer] {
        &self.layers
    }

    /// The slot of each output bit.
    pub fn outputs(&self) -> &[u32] {
        &self.outputs
    }
}

/// An emitter: writes the gates, and gives out slots.
struct Emitter {
    wires: Vec<Held>,
    /// Free slots below `slots`; the last one freed is taken first, while it is still in cache.
    free: Vec<u32>,
    slots: u32,
    gates: Vec<TapeGate>,
    layers: Vec<Layer>,
    /// Whether the last layer still gets ANDs.
    open: bool,
    /// Slots that become free at the end of the layer's ANDs.
    read: Vec<u32>,
}

impl Emitter {
    fn new(circuit: &Circuit) -> Emitter {
        let (wires, free) = Held::all(circuit);
        Emitter {
            wires,
            free,
            slots: circuit.first_gate_wire() as u32,
            gates: Vec::with_capacity(circuit.gates().len()),
            layers: vec![Layer::default()],
            open: false,
            read: Vec::new(),
        }
    }

    /// Writes the gate, whose output gets a slot of its own.
    fn push(&mut self, gate: &Gate, wire: usize) {
        let slot = self.free.pop().unwrap_or_else(|| {
            self.slots += 1;
            self.slots - 1
        });
        debug_assert!(self.wires[wire].slot == NONE, "a wire is driven once");
        self.wires[wire].slot = slot;
        let [a, b] = [gate.a, gate.b].map(|wire| self.wires[wire as usize].slot);
        self.gates.push(TapeGate::new(a, b, slot));
    }

    /// Gives the slots that nobody reads after this gate to `to`.
    fn release(&mut self, gate: &Gate, wire: usize, to: fn(&mut Self) -> &mut Vec<u32>) {
        for wire in [gate.a, gate.b] {
            let place = &mut self.wires[wire as usize];
            place.reads -= u32::from(place.reads != KEPT);
            let Held { slot, reads } = *place;
            push_if(to(self), slot, reads == 0);
        }
        let Held { slot, reads } = self.wires[wire];
        push_if(to(self), slot, reads == 0);
    }
}

impl Emit for Emitter {
    fn and(&mut self, gate: &Gate, wire: usize) {
        if !self.open {
            self.layers.push(Layer::default());
            self.open = true;
        }
        self.push(gate, wire);
        self.release(gate, wire, |emitter| &mut emitter.read);
        if let Some(layer) = self.layers.last_mut() {
            layer.ands += 1;
        }
    }

    fn end_batch(&mut self) {
        self.open = false;
        self.free.append(&mut self.read);
    }

    fn xor(&mut self, gate: &Gate, wire: usize) {
        self.push(gate, wire);
        self.release(gate, wire, |emitter| &mut emitter.free);
        if let Some(layer) = self.layers.last_mut() {
            layer.xors += 1;
        }
    }
}

#[cfg(test)]
mod tests;
