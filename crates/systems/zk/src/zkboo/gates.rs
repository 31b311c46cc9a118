//! The linear (2,3)-decomposition over GF(2), on all rounds at once.
//!
//! A wire has three shares that add up to its bit, one in each branch. An AND gate `c` of wires `a` and `b` gives branch `i` the share
//! `a_i b_i + a_{i+1} b_i + a_i b_{i+1} + R_i(c) + R_{i+1}(c)`: two branches are all that it takes to compute one. The constant
//! one, and public values, are shares of the first branch alone.

use comity_circuit::{Call, Engine, Owner, Recipients};
use comity_core::{Backend, Bits, Error, Result, Tape, TapeGate, Vectorize};
use zeroize::Zeroizing;

use crate::sliced::{Shares, Word, all, and, xor};

/// How `N` branches put in values and compute AND gates: all three of the prover, or the two that the verifier sees.
pub(super) trait Branches<const W: usize, const N: usize> {
    /// The shares of the next secret bit.
    fn secret(&mut self) -> Shares<W, N>;

    /// The shares of a public bit.
    fn public(&self, bit: bool) -> Shares<W, N>;

    /// The shares of the product of these wires, the next AND gate.
    fn and(&mut self, a: Shares<W, N>, b: Shares<W, N>) -> Shares<W, N>;
}

/// `phi_i` of an AND gate: branch `i`'s share of a product, from its own shares and those of the next branch, and both tapes.
#[inline(always)]
pub(super) fn phi<const W: usize>(a: [Word<W>; 2], b: [Word<W>; 2], tapes: [Word<W>; 2]) -> Word<W> {
    let products = xor(and(xor(a[0], a[1]), b[0]), and(a[0], b[1]));
    xor(products, xor(tapes[0], tapes[1]))
}

/// The engine that runs a program on branches. It keeps the shares of what is revealed.
pub(super) struct Decomposed<B, const W: usize, const N: usize> {
    backend: Backend,
    branches: B,
    slots: Zeroizing<Vec<Shares<W, N>>>,
    outputs: Zeroizing<Vec<Shares<W, N>>>,
    /// The values of the public inputs; a secret one is [`Branches::secret`]'s.
    public: Vec<Option<Bits>>,
}

impl<B: Branches<W, N>, const W: usize, const N: usize> Decomposed<B, W, N> {
    /// An engine over branches.
    pub(super) fn new(backend: Backend, branches: B, public: &[Option<Bits>]) -> Self {
        let (slots, outputs) = (Zeroizing::default(), Zeroizing::default());
        Decomposed { backend, branches, slots, outputs, public: public.to_vec() }
    }

    /// The branches, and the shares of each output bit, after a run.
    pub(super) fn finish(self) -> (B, Zeroizing<Vec<Shares<W, N>>>) {
        (self.branches, self.outputs)
    }
}

impl<B: Branches<W, N>, const W: usize, const N: usize> Engine for Decomposed<B, W, N> {
    type Wire = Shares<W, N>;
    type Error = Error;

    fn input(&mut self, index: usize, _: Owner, _: Option<&Bits>, _: usize, wires: &mut [Self::Wire]) -> Result<()> {
        match &self.public[index] {
            Some(value) => wires.iter_mut().zip(value.iter()).for_each(|(wire, bit)| *wire = self.branches.public(bit)),
            None => wires.iter_mut().for_each(|wire| *wire = self.branches.secret()),
        }
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>, memory: &mut [Self::Wire]) -> Result<()> {
        let tape = call.circuit.tape();
        let slots = tape.slots().max(2);
        if self.slots.len() < slots {
            self.slots = Zeroizing::new(vec![Shares::default(); slots]);
        }
        for t in 0..call.times {
            for (slot, bit) in [(Tape::ZERO, false), (Tape::ONE, true)] {
                self.slots[slot as usize] = self.branches.public(bit);
            }
            call.load(t, memory, &mut self.slots);
            self.backend.vectorize(Gates { tape, slots: &mut self.slots, branches: &mut self.branches });
            call.store(t, &self.slots, memory);
        }
        Ok(())
    }

    fn reveal(&mut self, _: usize, _: Recipients, _: usize, wires: &[Self::Wire]) -> Result<Option<Bits>> {
        self.outputs.extend_from_slice(wires);
        Ok(None)
    }
}

/// The gates of a tape, as work for the machine's registers.
struct Gates<'a, B, const W: usize, const N: usize> {
    tape: &'a Tape,
    slots: &'a mut [Shares<W, N>],
    branches: &'a mut B,
}

impl<B: Branches<W, N>, const W: usize, const N: usize> Vectorize for Gates<'_, B, W, N> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let (mut xors, mut ands) = (self.tape.xors(), self.tape.ands());
        for segment in self.tape.segments() {
            let linear: &[TapeGate];
            let batch: &[TapeGate];
            (linear, xors) = xors.split_at(segment.xors as usize);
            (batch, ands) = ands.split_at(segment.ands as usize);
            for gate in linear {
                let (a, b) = (self.slots[gate.a()], self.slots[gate.b()]);
                self.slots[gate.out()] = Shares(core::array::from_fn(|i| xor(a.0[i], b.0[i])));
            }
            for gate in batch {
                let (a, b) = (self.slots[gate.a()], self.slots[gate.b()]);
                self.slots[gate.out()] = self.branches.and(a, b);
            }
        }
    }
}

/// A public bit as shares of three branches: it is the first one's.
#[inline(always)]
pub(super) fn of_first<const W: usize>(bit: bool) -> [Word<W>; 3] {
    [all(bit), all(false), all(false)]
}
