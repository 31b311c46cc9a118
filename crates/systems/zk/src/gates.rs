//! A protocol in the head: a program run on what some of its parties hold, in many rounds at once.
//!
//! XOR gates are the same in every such protocol; [`Branches`] says how inputs come in and what an AND gate does.

use comity_circuit::{Call, Engine, Memory, Observer, Program, Put, Shown};
use comity_core::{Backend, Bits, Error, Result, Tape, TapeGate, Vectorize};
use zeroize::Zeroizing;

use crate::sliced::{Shares, xor};

/// How inputs come in and AND gates are computed, where a wire is `N` words: one for each branch, or for each
/// thing that is known of it.
pub(crate) trait Branches<const W: usize, const N: usize> {
    /// Makes room for the next secret bits or AND gates: returns how many of the `wanted` ones can follow at
    /// once.
    ///
    /// # Errors
    /// Those of a channel, where what follows is sent.
    fn room(&mut self, wanted: usize) -> Result<usize> {
        Ok(wanted)
    }

    /// The words of the next secret bit.
    fn secret(&mut self) -> Shares<W, N>;

    /// The words of a public bit.
    fn public(&self, bit: bool) -> Shares<W, N>;

    /// The words of the product of these wires, the next AND gate.
    fn and(&mut self, a: Shares<W, N>, b: Shares<W, N>) -> Shares<W, N>;
}

/// The engine that runs a program in the head. It keeps the words of revealed values.
pub(crate) struct Head<B, const W: usize, const N: usize> {
    backend: Backend,
    branches: B,
    memory: Memory<Shares<W, N>>,
    slots: Zeroizing<Vec<Shares<W, N>>>,
    outputs: Zeroizing<Vec<Shares<W, N>>>,
    /// The values of the public inputs; a secret one is [`Branches::secret`]'s.
    public: Vec<Option<Bits>>,
}

impl<B: Branches<W, N>, const W: usize, const N: usize> Head<B, W, N> {
    /// An engine over branches.
    pub(crate) fn new(backend: Backend, branches: B, public: &[Option<Bits>]) -> Self {
        let (slots, outputs) = (Zeroizing::default(), Zeroizing::default());
        Head { backend, branches, memory: Memory::default(), slots, outputs, public: public.to_vec() }
    }

    /// The branches, and the words of each output bit, after a run.
    pub(crate) fn finish(self) -> (B, Zeroizing<Vec<Shares<W, N>>>) {
        (self.branches, self.outputs)
    }
}

impl<B: Branches<W, N>, const W: usize, const N: usize> Engine for Head<B, W, N> {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.memory = Memory::of(program)?;
        Ok(())
    }

    fn input(&mut self, put: Put, _: Option<&Bits>) -> Result<()> {
        let mut wires = &mut self.memory[put.wires()];
        match &self.public[put.index] {
            Some(value) => wires.iter_mut().zip(value.iter()).for_each(|(wire, bit)| *wire = self.branches.public(bit)),
            None => {
                while !wires.is_empty() {
                    let (now, later) = wires.split_at_mut(self.branches.room(wires.len())?);
                    now.iter_mut().for_each(|wire| *wire = self.branches.secret());
                    wires = later;
                }
            }
        }
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        let tape = call.circuit.tape();
        let slots = tape.slots().max(2);
        if self.slots.len() < slots {
            self.slots = Zeroizing::new(vec![Shares::default(); slots]);
        }
        for t in 0..call.times {
            for (slot, bit) in [(Tape::ZERO, false), (Tape::ONE, true)] {
                self.slots[slot as usize] = self.branches.public(bit);
            }
            call.load(t, &self.memory, &mut self.slots);
            self.backend.vectorize(Gates { tape, slots: &mut self.slots, branches: &mut self.branches })?;
            call.store(t, &self.slots, &mut self.memory);
        }
        Ok(())
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        self.outputs.extend_from_slice(&self.memory[shown.wires()]);
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
    type Output = Result<()>;

    #[inline(always)]
    fn run(self) -> Result<()> {
        let (mut xors, mut ands) = (self.tape.xors(), self.tape.ands());
        for segment in self.tape.segments() {
            let linear: &[TapeGate];
            let mut batch: &[TapeGate];
            (linear, xors) = xors.split_at(segment.xors as usize);
            (batch, ands) = ands.split_at(segment.ands as usize);
            for gate in linear {
                let (a, b) = (self.slots[gate.a()], self.slots[gate.b()]);
                self.slots[gate.out()] = Shares(core::array::from_fn(|i| xor(a.0[i], b.0[i])));
            }
            while !batch.is_empty() {
                let (now, later) = batch.split_at(self.branches.room(batch.len())?);
                for gate in now {
                    let (a, b) = (self.slots[gate.a()], self.slots[gate.b()]);
                    self.slots[gate.out()] = self.branches.and(a, b);
                }
                batch = later;
            }
        }
        Ok(())
    }
}

/// An observer of nothing: the engine keeps the shares of outputs.
pub(crate) struct Nobody;

impl Observer for Nobody {
    fn output(&mut self, _: usize, _: Bits) {}
}
