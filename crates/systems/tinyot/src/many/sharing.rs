//! Programs on a [`RowMachine`]: rows of as many blocks as there are parties, layer after layer, one round
//! for the ANDs of a depth.
//!
//! As many calls run side by side as their wires fit 64 MiB; the wires of a single one are bounded by the lowering.

use core::ops::Range;

use comity_channel::Mesh;
use comity_circuit::{Put, Shown};
use comity_core::{Bits, Block, Error, PartyId, Result, TapeGate};
use comity_protocol::{Conduct, Honest};
use comity_share::RowShares;
use comity_share::joint::JointAct;
use comity_sharing::{ShareRows, Sharing, evenly};

use super::machine::RowMachine;

/// Memory for the wires of calls side by side: 64 MiB.
const WIRES: usize = 64 << 20;

/// Authenticated shares of many on a machine over a mesh.
pub struct RowSharing<'e, 'm, 'n, C = Honest> {
    net: &'e mut Mesh<'n>,
    machine: &'e mut RowMachine<'m, C>,
    /// Blocks of a row.
    width: usize,
}

impl<'e, 'm, 'n, C: for<'a> Conduct<JointAct<'a>>> RowSharing<'e, 'm, 'n, C> {
    /// Shares on this machine, which can be used by hand before and after.
    pub fn new(net: &'e mut Mesh<'n>, machine: &'e mut RowMachine<'m, C>) -> RowSharing<'e, 'm, 'n, C> {
        let width = usize::from(machine.parties());
        RowSharing { net, machine, width }
    }

    /// Puts rows of the form of openings, party after party, into wires from `start` on.
    fn put(&self, rows: &RowShares, to: &mut ShareRows<Block>, start: usize) {
        let wires = to.slots_mut(start..start + rows.len());
        for (j, column) in rows.columns().enumerate() {
            wires[j..].iter_mut().step_by(self.width).zip(column).for_each(|(wire, &block)| *wire = block);
        }
    }

    /// The form of openings of some wires.
    fn taken(&self, from: &ShareRows<Block>, wires: Range<usize>) -> RowShares {
        let mut rows = RowShares::zeros(self.net.me(), self.machine.parties(), wires.len());
        let wires = from.slots(wires);
        for (j, party) in (0..self.machine.parties()).map(PartyId).enumerate() {
            let column = wires[j..].iter().step_by(self.width);
            rows.column_mut(party).iter_mut().zip(column).for_each(|(block, &wire)| *block = wire);
        }
        rows
    }
}

impl<C: for<'a> Conduct<JointAct<'a>>> Sharing for RowSharing<'_, '_, '_, C> {
    type Rows = ShareRows<Block>;
    const SHARES: bool = false;

    fn rows(&self) -> ShareRows<Block> {
        ShareRows::new(self.width)
    }

    fn together(&self, slots: usize, times: u64) -> u64 {
        evenly(times, (WIRES / (slots * self.width * Block::BYTES)).max(1) as u64)
    }

    fn constants(&self, rows: &mut ShareRows<Block>) {
        rows.fill(0, &[Block::ZERO]);
        rows.fill(1, self.machine.one());
    }

    fn xors(&self, rows: &mut ShareRows<Block>, gates: &[TapeGate]) {
        rows.add(gates);
    }

    fn ands(&mut self, rows: &mut ShareRows<Block>, gates: &[TapeGate]) -> Result<()> {
        let (copies, wires) = (rows.copies(), rows.elements_mut());
        self.machine.ands(self.net, wires, gates, copies)
    }

    fn input(&mut self, put: Put, value: Option<&Bits>, to: &mut ShareRows<Block>) -> Result<()> {
        let party =
            put.owner.party().ok_or_else(|| Error::invalid_input("this protocol takes no input values in shares"))?;
        let rows = self.machine.input(self.net, party, value, put.bits)?;
        self.put(&rows, to, put.start);
        Ok(())
    }

    fn random(&mut self, to: &mut ShareRows<Block>, wires: Range<usize>) -> Result<()> {
        let rows = self.machine.random(self.net, wires.len())?;
        self.put(&rows, to, wires.start);
        Ok(())
    }

    fn reveal(&mut self, shown: Shown, from: &ShareRows<Block>) -> Result<Option<Bits>> {
        let rows = self.taken(from, shown.wires());
        self.machine.reveal(self.net, shown.to, &rows)
    }
}
