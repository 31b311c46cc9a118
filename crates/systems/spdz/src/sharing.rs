//! Programs on a [`FieldMachine`] over GF(2^128): a bit is 0 or 1 in the field, XOR is addition, AND is a
//! product.
//!
//! A wire is two blocks, its value's share and its MAC's. As many calls run side by side as their wires fit
//! 64 MiB.

use core::ops::Range;

use comity_channel::Mesh;
use comity_circuit::{Put, Shown};
use comity_core::{Bits, Block, Error, Result, TapeGate};
use comity_field_shares::{Field, FieldConduct, SumShare, SumShares};
use comity_protocol::Honest;
use comity_sharing::{ShareRows, Sharing, evenly};
use zeroize::Zeroizing;

use crate::machine::FieldMachine;
use crate::mpc::FieldMpc;

/// Memory for the wires of calls side by side: 64 MiB.
const WIRES: usize = 64 << 20;

/// Blocks of a share.
const WIDTH: usize = 2;

/// Shares in GF(2^128) on a machine over a mesh.
pub struct FieldSharing<'e, 'm, 'n, C = Honest> {
    net: &'e mut Mesh<'n>,
    machine: &'e mut FieldMachine<'m, Block, C>,
}

impl<'e, 'm, 'n, C: FieldConduct<Block>> FieldSharing<'e, 'm, 'n, C> {
    /// Shares on this machine, which can be used by hand before and after.
    pub fn new(net: &'e mut Mesh<'n>, machine: &'e mut FieldMachine<'m, Block, C>) -> FieldSharing<'e, 'm, 'n, C> {
        FieldSharing { net, machine }
    }
}

fn put(to: &mut [Block], shares: &[SumShare<Block>]) {
    for (wire, share) in to.chunks_exact_mut(WIDTH).zip(shares) {
        (wire[0], wire[1]) = (share.value, share.mac);
    }
}

fn taken(from: &[Block]) -> impl Iterator<Item = SumShare<Block>> {
    from.chunks_exact(WIDTH).map(|wire| SumShare { value: wire[0], mac: wire[1] })
}

/// The shares of the slots that `of` names, one for each gate, in all copies.
fn factors(rows: &ShareRows<Block>, gates: &[TapeGate], of: fn(&TapeGate) -> usize) -> SumShares<Block> {
    let mut shares = Zeroizing::new(Vec::with_capacity(gates.len() * rows.copies()));
    gates.iter().for_each(|gate| shares.extend(taken(rows.slots(of(gate)..of(gate) + 1))));
    shares
}

impl<C: FieldConduct<Block>> Sharing for FieldSharing<'_, '_, '_, C> {
    type Rows = ShareRows<Block>;
    const SHARES: bool = false;

    fn rows(&self) -> ShareRows<Block> {
        ShareRows::new(WIDTH)
    }

    fn together(&self, slots: usize, times: u64) -> u64 {
        evenly(times, (WIRES / (slots * WIDTH * Block::BYTES)).max(1) as u64)
    }

    fn constants(&self, rows: &mut ShareRows<Block>) {
        let one = self.machine.constant(Block::ONE);
        rows.fill(0, &[Block::ZERO; WIDTH]);
        rows.fill(1, &[one.value, one.mac]);
    }

    fn xors(&self, rows: &mut ShareRows<Block>, gates: &[TapeGate]) {
        rows.add(gates);
    }

    fn ands(&mut self, rows: &mut ShareRows<Block>, gates: &[TapeGate]) -> Result<()> {
        let (mut x, y) = (factors(rows, gates, TapeGate::a), factors(rows, gates, TapeGate::b));
        self.machine.products(self.net, &mut x, &y)?;
        let copies = rows.copies();
        for (gate, products) in gates.iter().zip(x.chunks_exact(copies)) {
            put(rows.slots_mut(gate.out()..gate.out() + 1), products);
        }
        Ok(())
    }

    fn input(&mut self, given: Put, value: Option<&Bits>, to: &mut ShareRows<Block>) -> Result<()> {
        let owner =
            given.owner.party().ok_or_else(|| Error::invalid_input("this protocol takes no input values in shares"))?;
        let shares = self.machine.input(self.net, owner, value, given.bits)?;
        put(to.slots_mut(given.wires()), &shares);
        Ok(())
    }

    fn random(&mut self, to: &mut ShareRows<Block>, wires: Range<usize>) -> Result<()> {
        let shares = self.machine.random_bits(self.net, wires.len())?;
        put(to.slots_mut(wires), &shares);
        Ok(())
    }

    fn reveal(&mut self, shown: Shown, from: &ShareRows<Block>) -> Result<Option<Bits>> {
        let shares: SumShares<Block> = Zeroizing::new(taken(from.slots(shown.wires())).collect());
        self.machine.reveal(self.net, shown.to, &shares)
    }
}
