//! `Engine`: what runs a program. Each general protocol is one; the plain evaluator is another.

use comity_core::Bits;

use crate::lower::Lowered;
use crate::meaning::Meaning;
use crate::party::{Owner, Recipients};

/// The place of a value of a call: in call `t` from wire `start + t * stride` of the memory on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Place {
    /// The first wire in the first call.
    pub start: usize,
    /// The wires by which it moves from one call to the next.
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
    /// The circuit that is called.
    pub circuit: &'a Lowered,
    /// The meaning of the circuit, if an engine may have a better way than its gates. It is what the gates compute: a
    /// program was checked for that.
    pub meaning: Option<&'a Meaning>,
    /// The number of calls.
    pub times: u64,
    /// The places where the circuit's input values are read.
    pub args: &'a [Place],
    /// The places where the circuit's output values are written.
    pub outs: &'a [Place],
}

impl Call<'_> {
    /// Copies the input values of call `t` from the memory to slots, before the call.
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

    /// Copies the output values of call `t` from slots to the memory, after the call.
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

/// An engine, which runs a program step by step over a memory of its own kind of wires.
pub trait Engine {
    /// A wire: what the engine holds for one bit, such as a label, a share, a plain bit. `Default` is the constant zero.
    type Wire: Copy + Default;
    /// The error of a step that failed.
    type Error;
    /// Whether values may come in as shares and go out so: [`Owner::Shared`], [`Recipients::Shared`]. What is put in and revealed is
    /// then this party's share.
    const SHARES: bool = false;

    /// Puts input value `index` of `owner` into wires. `value` is there exactly if the engine runs for that party
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

/// An observer of a run: outputs arrive here, each as soon as it is known and its checks have passed.
pub trait Observer {
    /// Takes output value `index`, which is known now.
    fn output(&mut self, index: usize, value: Bits);

    /// Hears that a phase begins: `setup`, `inputs`, `gates`, `outputs`. Its time ends when the next one begins.
    fn phase(&mut self, name: &'static str) {
        let _ = name;
    }

    /// Hears how many AND gates are done since the start.
    fn and_gates(&mut self, done: u64) {
        let _ = done;
    }
}
