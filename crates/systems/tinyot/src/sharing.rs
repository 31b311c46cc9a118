//! Programs on a [`Machine`]: authenticated shares, layer after layer, one message each way for the ANDs of a depth.
//!
//! A wire of all calls that run side by side lies in one piece, so that a gate is an operation on two
//! stretches of memory. As many calls run side by side as their wires fit 64 MiB; the wires of a single one
//! are bounded by the lowering.

use std::ops::Range;

use comity_channel::Channel;
use comity_circuit::{Put, Shown};
use comity_core::{Bits, Error, Result, TapeGate};
use comity_share::Share;
use comity_sharing::{ShareRows, Sharing, evenly};
use zeroize::Zeroize;

use crate::machine::{Machine, Operands};

/// Wires of calls side by side: 64 MiB.
const WIRES: usize = (64 << 20) / Share::BYTES;

/// Authenticated shares on a machine over a channel.
pub struct PairSharing<'a, 'm> {
    ch: &'a mut (dyn Channel + 'a),
    machine: &'a mut Machine<'m>,
    buffer: Box<Buffer>,
}

/// Room in which operands or results of some gates are gathered.
type Buffer = [[Share; 64]; 2];

impl<'a, 'm> PairSharing<'a, 'm> {
    /// Shares on this machine, which can be used by hand before and after.
    pub fn new(ch: &'a mut (dyn Channel + 'a), machine: &'a mut Machine<'m>) -> PairSharing<'a, 'm> {
        PairSharing { ch, machine, buffer: Box::new([[Share::default(); 64]; 2]) }
    }
}

impl Sharing for PairSharing<'_, '_> {
    type Rows = ShareRows<Share>;
    const SHARES: bool = false;

    fn rows(&self) -> ShareRows<Share> {
        ShareRows::new(1)
    }

    fn together(&self, slots: usize, times: u64) -> u64 {
        evenly(times, (WIRES / slots).max(1) as u64)
    }

    fn constants(&self, rows: &mut ShareRows<Share>) {
        [false, true].into_iter().enumerate().for_each(|(slot, bit)| rows.fill(slot, &[self.machine.constant(bit)]));
    }

    fn xors(&self, rows: &mut ShareRows<Share>, gates: &[TapeGate]) {
        rows.add(gates);
    }

    fn ands(&mut self, rows: &mut ShareRows<Share>, gates: &[TapeGate]) -> Result<()> {
        let (copies, wires) = (rows.copies(), rows.elements_mut());
        self.machine.ands(self.ch, &mut Ands { wires, gates, copies, buffer: &mut self.buffer })
    }

    fn input(&mut self, put: Put, value: Option<&Bits>, to: &mut ShareRows<Share>) -> Result<()> {
        let party =
            put.owner.party().ok_or_else(|| Error::invalid_input("this protocol takes no input values in shares"))?;
        self.machine.input(self.ch, party, value, to.slots_mut(put.wires()))
    }

    fn random(&mut self, to: &mut ShareRows<Share>, wires: Range<usize>) -> Result<()> {
        self.machine.random(self.ch, to.slots_mut(wires))
    }

    fn reveal(&mut self, shown: Shown, from: &ShareRows<Share>) -> Result<Option<Bits>> {
        self.machine.reveal(self.ch, shown.to, from.slots(shown.wires()))
    }
}

impl Drop for PairSharing<'_, '_> {
    fn drop(&mut self) {
        self.buffer.as_flattened_mut().zeroize();
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
