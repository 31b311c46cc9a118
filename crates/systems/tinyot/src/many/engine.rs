//! Programs on a [`RowMachine`]: layer after layer, as [`Sharing`](crate::engine::Sharing) does for two, over wires of a row each.
//!
//! What depends on nothing but earlier layers is one round: the ANDs of one depth, of all the calls that run side by side. As many calls run
//! side by side as their wires fit 64 MiB; the wires of a single one are bounded by the lowering.

use comity_channel::Mesh;
use comity_circuit::{Call, Engine, Lowered, Memory, Place, Program, Put, Shown};
use comity_core::{Bits, Block, Error, PartyId, Result, TapeGate};
use comity_protocol::{Conduct, Honest};
use comity_share::RowShares;
use comity_share::joint::JointAct;
use zeroize::Zeroize;

use super::machine::RowMachine;

/// Memory for the wires of calls side by side: 64 MiB.
const WIRES: usize = 64 << 20;

/// Runs calls on a machine over a mesh.
pub struct RowSharing<'e, 'm, 'n, C = Honest> {
    net: &'e mut Mesh<'n>,
    machine: &'e mut RowMachine<'m, C>,
    /// Blocks of a row.
    width: usize,
    /// The program's wires: row after row.
    memory: Memory<Block>,
    /// The wires of the calls under way: slot after slot, of each slot call after call.
    wires: Vec<Block>,
}

impl<'e, 'm, 'n, C: for<'a> Conduct<JointAct<'a>>> RowSharing<'e, 'm, 'n, C> {
    /// An engine over this machine, which can be used by hand before and after.
    pub fn new(net: &'e mut Mesh<'n>, machine: &'e mut RowMachine<'m, C>) -> RowSharing<'e, 'm, 'n, C> {
        let width = usize::from(machine.parties());
        RowSharing { net, machine, width, memory: Memory::default(), wires: Vec::new() }
    }

    /// Puts rows into wires of the memory.
    pub(crate) fn put(&mut self, start: usize, rows: &RowShares) {
        for (j, column) in rows.columns().enumerate() {
            for (i, &block) in column.iter().enumerate() {
                self.memory[(start + i) * self.width + j] = block;
            }
        }
    }

    /// The rows of some wires of the memory.
    pub(crate) fn rows(&self, start: usize, bits: usize) -> RowShares {
        let mut rows = RowShares::zeros(self.net.me(), self.machine.parties(), bits);
        for (j, party) in (0..self.machine.parties()).map(PartyId).enumerate() {
            for (i, block) in rows.column_mut(party).iter_mut().enumerate() {
                *block = self.memory[(start + i) * self.width + j];
            }
        }
        rows
    }

    /// `copies` calls side by side, whose inputs are in their slots.
    fn layers(&mut self, circuit: &Lowered, copies: usize) -> Result<()> {
        let layered = circuit.layered();
        let mut rest = layered.gates();
        for layer in layered.layers() {
            let (ands, xors);
            (ands, rest) = rest.split_at(layer.ands);
            (xors, rest) = rest.split_at(layer.xors);
            self.machine.ands(self.net, &mut self.wires, ands, copies)?;
            for gate in xors {
                add(&mut self.wires, gate, copies * self.width);
            }
        }
        Ok(())
    }
}

impl<C: for<'a> Conduct<JointAct<'a>>> Engine for RowSharing<'_, '_, '_, C> {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.memory = Memory::rows(program, self.width)?;
        Ok(())
    }

    fn input(&mut self, put: Put, value: Option<&Bits>) -> Result<()> {
        let party = put.owner.party().ok_or_else(|| Error::invalid_input("a value in shares cannot be put in"))?;
        let rows = self.machine.input(self.net, party, value, put.bits)?;
        self.put(put.start, &rows);
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        let Call { circuit, times, args, outs, .. } = *call;
        let layered = circuit.layered();
        let width = self.width;
        let together = (WIRES / (layered.slots() * width * Block::BYTES)).max(1) as u64;
        // As few turns as that makes, all alike.
        let together = times.div_ceil(times.div_ceil(together));
        let mut done = 0;
        while done < times {
            let copies = together.min(times - done) as usize;
            let blocks = layered.slots() * copies * width;
            if self.wires.len() < blocks {
                // Memory that is moved is not wiped where it was.
                self.wires.zeroize();
                self.wires.resize(blocks, Block::ZERO);
            }
            let stretch = |slot: usize| slot * copies * width..(slot + 1) * copies * width;
            self.wires[stretch(0)].fill(Block::ZERO);
            self.wires[stretch(1)].chunks_exact_mut(width).for_each(|row| row.copy_from_slice(self.machine.one()));
            for (slot, from) in spread(2.., circuit.input_widths(), args) {
                for (t, row) in (done..).zip(self.wires[stretch(slot)].chunks_exact_mut(width)) {
                    row.copy_from_slice(&self.memory[from.at(t) * width..][..width]);
                }
            }
            self.layers(circuit, copies)?;
            let slots = layered.outputs().iter().map(|&slot| slot as usize);
            for (slot, to) in spread(slots, circuit.output_widths(), outs) {
                for (t, row) in (done..).zip(self.wires[stretch(slot)].chunks_exact(width)) {
                    self.memory[to.at(t) * width..][..width].copy_from_slice(row);
                }
            }
            done += copies as u64;
        }
        Ok(())
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        let rows = self.rows(shown.start, shown.bits);
        self.machine.reveal(self.net, shown.to, &rows)
    }
}

impl<C> Drop for RowSharing<'_, '_, '_, C> {
    fn drop(&mut self) {
        self.memory.zeroize();
        self.wires.zeroize();
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

/// An XOR gate in all copies, whose rows are so many blocks. The lowering gives its output a slot that it does not read.
fn add(wires: &mut [Block], gate: &TapeGate, blocks: usize) {
    let run = |slot: usize| slot * blocks..(slot + 1) * blocks;
    match wires.get_disjoint_mut([run(gate.a()), run(gate.b()), run(gate.out())]) {
        Ok([a, b, out]) => {
            for ((out, &a), &b) in out.iter_mut().zip(&*a).zip(&*b) {
                *out = a ^ b;
            }
        }
        // A wire plus itself.
        Err(_) => wires[run(gate.out())].fill(Block::ZERO),
    }
}
