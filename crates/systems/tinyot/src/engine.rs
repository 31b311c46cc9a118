//! Programs on a [`Machine`]: an engine whose wires are shares, layer after layer.
//!
//! A call runs the layered lowering. What depends on nothing but earlier layers is one message each way: the ANDs of one
//! depth, of all the calls that run side by side. A wire of all these calls lies in one piece, so that a gate is an
//! operation on two stretches of memory. As many calls run side by side as their wires fit 64 MiB; the wires of a single
//! one are bounded by the lowering.

use std::ops::Range;

use comity_channel::Channel;
use comity_circuit::{Call, Engine, Lowered, Memory, Place, Program, Put, Shown};
use comity_core::{Bits, Error, Result, TapeGate};
use comity_share::Share;
use zeroize::Zeroize;

use crate::machine::{Machine, Operands};

/// Wires of calls side by side: 64 MiB.
const WIRES: usize = (64 << 20) / Share::BYTES;

/// Runs calls on a machine over a channel.
pub struct Sharing<'a, 'm> {
    ch: &'a mut (dyn Channel + 'a),
    machine: &'a mut Machine<'m>,
    /// The wires of the program.
    pub(crate) memory: Memory<Share>,
    /// The wires of the calls under way: slot after slot, of each slot call after call.
    wires: Vec<Share>,
    buffer: Box<Buffer>,
}

/// Room in which operands or results of some gates are gathered.
type Buffer = [[Share; 64]; 2];

impl<'a, 'm> Sharing<'a, 'm> {
    /// An engine over this machine, which can be used by hand before and after.
    pub fn new(ch: &'a mut (dyn Channel + 'a), machine: &'a mut Machine<'m>) -> Sharing<'a, 'm> {
        let buffer = Box::new([[Share::default(); 64]; 2]);
        Sharing { ch, machine, memory: Memory::default(), wires: Vec::new(), buffer }
    }

    /// `copies` calls side by side, whose inputs are in their slots.
    fn layers(&mut self, circuit: &Lowered, copies: usize) -> Result<()> {
        let layered = circuit.layered();
        let mut rest = layered.gates();
        for layer in layered.layers() {
            let (ands, xors);
            (ands, rest) = rest.split_at(layer.ands);
            (xors, rest) = rest.split_at(layer.xors);
            self.machine
                .ands(self.ch, &mut Ands { wires: &mut self.wires, gates: ands, copies, buffer: &mut self.buffer })?;
            for gate in xors {
                add(&mut self.wires, gate, copies);
            }
        }
        Ok(())
    }
}

impl Engine for Sharing<'_, '_> {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.memory = Memory::of(program)?;
        Ok(())
    }

    fn input(&mut self, put: Put, value: Option<&Bits>) -> Result<()> {
        let party = put.owner.party().ok_or_else(|| Error::invalid_input("a value in shares cannot be put in"))?;
        self.machine.input(self.ch, party, value, &mut self.memory[put.wires()])
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        let Call { circuit, times, args, outs, .. } = *call;
        let layered = circuit.layered();
        let together = (WIRES / layered.slots()).max(1) as u64;
        // As few turns as that makes, all alike.
        let together = times.div_ceil(times.div_ceil(together));
        let mut done = 0;
        while done < times {
            let copies = together.min(times - done) as usize;
            if self.wires.len() < layered.slots() * copies {
                // Memory that is moved is not wiped where it was.
                self.wires.zeroize();
                self.wires.resize(layered.slots() * copies, Share::default());
            }
            self.wires[..copies].fill(self.machine.constant(false));
            self.wires[copies..2 * copies].fill(self.machine.constant(true));
            let inputs = spread(2.., circuit.input_widths(), args);
            for (slot, from) in inputs {
                for (t, wire) in (done..).zip(&mut self.wires[slot * copies..][..copies]) {
                    *wire = self.memory[from.at(t)];
                }
            }
            self.layers(circuit, copies)?;
            let slots = layered.outputs().iter().map(|&slot| slot as usize);
            for (slot, to) in spread(slots, circuit.output_widths(), outs) {
                for (t, wire) in (done..).zip(&self.wires[slot * copies..][..copies]) {
                    self.memory[to.at(t)] = *wire;
                }
            }
            done += copies as u64;
        }
        Ok(())
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        self.machine.reveal(self.ch, shown.to, &self.memory[shown.wires()])
    }
}

impl Drop for Sharing<'_, '_> {
    fn drop(&mut self) {
        self.wires.zeroize();
        self.buffer.as_flattened_mut().zeroize();
    }
}

/// The bits of the values, each with its slot, and where it is in the memory.
fn spread<'a>(
    slots: impl IntoIterator<Item = usize> + 'a,
    widths: &'a [usize],
    values: &'a [Place],
) -> impl Iterator<Item = (usize, Place)> + 'a {
    let bits = widths
        .iter()
        .zip(values)
        .flat_map(|(&width, &value)| (0..width).map(move |bit| Place { start: value.start + bit, ..value }));
    slots.into_iter().zip(bits)
}

/// An XOR gate in all copies. The lowering gives its output a slot that it does not read.
fn add(wires: &mut [Share], gate: &TapeGate, copies: usize) {
    let [a, b, out] = [gate.a(), gate.b(), gate.out()];
    if copies == 1 {
        wires[out] = wires[a] ^ wires[b];
        return;
    }
    let run = |slot: usize| slot * copies..(slot + 1) * copies;
    match wires.get_disjoint_mut([run(a), run(b), run(out)]) {
        Ok([a, b, out]) => {
            for ((out, &a), &b) in out.iter_mut().zip(&*a).zip(&*b) {
                *out = a ^ b;
            }
        }
        // A wire plus itself.
        Err(_) => wires[run(out)].fill(Share::default()),
    }
}

/// AND gates of a layer in all copies: gate after gate, of each copy after copy.
struct Ands<'a> {
    wires: &'a mut [Share],
    gates: &'a [TapeGate],
    copies: usize,
    buffer: &'a mut Buffer,
}

impl Operands for Ands<'_> {
    fn len(&self) -> usize {
        self.gates.len() * self.copies
    }

    #[inline(always)]
    fn read(&mut self, range: Range<usize>, mut stretch: impl FnMut(&[Share], &[Share])) {
        if self.copies == 1 {
            let [x, y] = &mut *self.buffer;
            for gates in self.gates[range].chunks(x.len()) {
                for ((x, y), gate) in x.iter_mut().zip(y.iter_mut()).zip(gates) {
                    (*x, *y) = (self.wires[gate.a()], self.wires[gate.b()]);
                }
                stretch(&x[..gates.len()], &y[..gates.len()]);
            }
            return;
        }
        let mut at = range.start;
        while at < range.end {
            let (gate, run) = self.run(at, range.end);
            at += run.len();
            let of = |slot: usize| &self.wires[slot * self.copies..][run.clone()];
            stretch(of(gate.a()), of(gate.b()));
        }
    }

    #[inline(always)]
    fn write(&mut self, range: Range<usize>, mut stretch: impl FnMut(&mut [Share])) {
        if self.copies == 1 {
            let [results, _] = &mut *self.buffer;
            for gates in self.gates[range].chunks(results.len()) {
                stretch(&mut results[..gates.len()]);
                for (result, gate) in results.iter().zip(gates) {
                    self.wires[gate.out()] = *result;
                }
            }
            return;
        }
        let mut at = range.start;
        while at < range.end {
            let (gate, run) = self.run(at, range.end);
            at += run.len();
            stretch(&mut self.wires[gate.out() * self.copies..][run]);
        }
    }
}

impl Ands<'_> {
    /// The gate of AND `at`, and its copies from there on, before AND `end`.
    fn run(&self, at: usize, end: usize) -> (TapeGate, Range<usize>) {
        let (gate, first) = (at / self.copies, at % self.copies);
        (self.gates[gate], first..self.copies.min(first + end - at))
    }
}
