//! `Engine`: what runs a program. Each general protocol is one; the plain evaluator is another.

use comity_core::Bits;

use crate::lower::Lowered;
use crate::party::{Owner, Recipients};
use crate::program::Meaning;

/// Where a value of a call is: in call `t` from wire `start + t * stride` of the memory on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The first wire in the first call.
    pub start: usize,
    /// How far it moves from one call to the next.
    pub stride: isize,
}

impl Place {
    /// The first wire in call `t`.
    #[inline]
    pub fn at(self, t: u64) -> usize {
        self.start.wrapping_add_signed(self.stride.wrapping_mul(t as isize))
    }
}

/// A circuit that is called `times` times over a memory. The calls are independent of each other, and all places were
/// checked against the memory.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// What is called.
    pub circuit: &'a Lowered,
    /// What it computes, if an engine may have a better way than its gates.
    pub meaning: Option<Meaning>,
    /// How often.
    pub times: u64,
    /// Where each input value of the circuit is read.
    pub args: &'a [Place],
    /// Where each output value of the circuit is written.
    pub outs: &'a [Place],
}

impl Call<'_> {
    /// Before call `t`: copies the input values from the memory to slots.
    ///
    /// # Panics
    /// If the places do not fit the circuit or the memory; those that [`run`](crate::run) passes do.
    pub fn load<W: Copy>(&self, t: u64, memory: &[W], slots: &mut [W]) {
        let widths = self.circuit.input_widths();
        assert_eq!(self.args.len(), widths.len(), "one place for each input value");
        let mut slot = 2;
        for (&width, arg) in widths.iter().zip(self.args) {
            let from = arg.at(t);
            slots[slot..slot + width].copy_from_slice(&memory[from..from + width]);
            slot += width;
        }
    }

    /// After call `t`: copies the output values from slots to the memory.
    ///
    /// # Panics
    /// If the places do not fit the circuit or the memory; those that [`run`](crate::run) passes do.
    pub fn store<W: Copy>(&self, t: u64, slots: &[W], memory: &mut [W]) {
        let widths = self.circuit.output_widths();
        assert_eq!(self.outs.len(), widths.len(), "one place for each output value");
        let mut outputs = self.circuit.outputs().iter();
        for (&width, out) in widths.iter().zip(self.outs) {
            let to = out.at(t);
            for (wire, &slot) in memory[to..to + width].iter_mut().zip(outputs.by_ref()) {
                *wire = slots[slot as usize];
            }
        }
    }
}

/// What runs a program, step by step, over a memory of its own kind of wires.
pub trait Engine {
    /// What the engine holds for one bit: a label, a share, a plain bit. `Default` is the constant zero.
    type Wire: Copy + Default;
    /// Why a step failed.
    type Error;

    /// Input value `index` of `owner` becomes wires. `value` is there exactly if the engine runs for that party
    /// (the plain evaluator runs for all). [`run`](crate::run) passes no values without bits. `wires` are those of the memory
    /// from `start` on; an engine that needs more than a fixed size for a wire keeps its own memory, and has `()` for wires.
    fn input(
        &mut self,
        index: usize,
        owner: Owner,
        value: Option<&Bits>,
        start: usize,
        wires: &mut [Self::Wire],
    ) -> Result<(), Self::Error>;

    /// Does the calls over `memory`. [`Call::load`] and [`Call::store`] do the copying.
    fn call(&mut self, call: &Call<'_>, memory: &mut [Self::Wire]) -> Result<(), Self::Error>;

    /// Reveals wires, those of the memory from `start` on; the value is there exactly if the engine runs for a recipient
    /// and knows it already.
    fn reveal(
        &mut self,
        index: usize,
        to: Recipients,
        start: usize,
        wires: &[Self::Wire],
    ) -> Result<Option<Bits>, Self::Error>;
}

/// Who watches a run: outputs arrive here, each as soon as it is known and its checks have passed.
pub trait Observer {
    /// Output value `index` is known.
    fn output(&mut self, index: usize, value: Bits);

    /// A phase begins: `setup`, `inputs`, `gates`, `outputs`. Its time ends when the next one begins.
    fn phase(&mut self, name: &'static str) {
        let _ = name;
    }

    /// So many AND gates are done since the start.
    fn and_gates(&mut self, done: u64) {
        let _ = done;
    }
}
