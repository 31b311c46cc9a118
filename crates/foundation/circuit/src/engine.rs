//! `Engine`: what runs a program. Each general protocol is one; the plain evaluator is another.

use core::ops::Range;

use comity_core::Bits;

use crate::lower::Lowered;
use crate::memory::NoMemory;
use crate::party::{Owner, Recipients};
use crate::program::Program;

/// AND gates that one [`Engine::call`] gets at most, if it has several calls and the engine says nothing
/// else: so the observer hears of progress.
pub(crate) const AT_ONCE: u64 = 1 << 22;

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

    /// The place of one bit of the value.
    #[inline]
    pub fn bit(self, bit: usize) -> Place {
        Place { start: self.start + bit, ..self }
    }
}

/// A circuit that is called `times` times over a memory. The calls are independent of each other, and all places were
/// checked against the memory.
#[derive(Clone, Copy, Debug)]
pub struct Call<'a> {
    /// The number of the circuit among the [program's](Program::circuits): an engine that has a better way
    /// than the gates looks at its [notes](crate::Circuit::notes) beforehand.
    pub index: usize,
    /// The circuit that is called.
    pub circuit: &'a Lowered,
    /// The number of calls.
    pub times: u64,
    /// The places where the circuit's input values are read.
    pub args: &'a [Place],
    /// The places where the circuit's output values are written.
    pub outs: &'a [Place],
}

impl Call<'_> {
    /// The AND gates of one call.
    pub fn ands(&self) -> u64 {
        self.circuit.tape().ands().len() as u64
    }

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

    /// As [`Call::load`], of `copies` calls from `first` on: the same slot of all of them follow each other.
    ///
    /// # Panics
    /// As [`Call::load`].
    pub fn load_side_by_side<W: Copy>(&self, first: u64, copies: usize, memory: &[W], slots: &mut [W]) {
        let widths = self.circuit.input_widths();
        assert_eq!(self.args.len(), widths.len(), "one place for each input value");
        let mut at = 2;
        for (&width, arg) in widths.iter().zip(self.args) {
            for bits in tiles(width) {
                for copy in 0..copies {
                    let from = arg.at(first + copy as u64);
                    for (bit, wire) in bits.clone().zip(&memory[from..from + width][bits.clone()]) {
                        slots[(at + bit) * copies + copy] = *wire;
                    }
                }
            }
            at += width;
        }
    }

    /// As [`Call::store`], of `copies` calls from `first` on.
    ///
    /// # Panics
    /// As [`Call::store`].
    pub fn store_side_by_side<W: Copy>(&self, first: u64, copies: usize, slots: &[W], memory: &mut [W]) {
        let widths = self.circuit.output_widths();
        assert_eq!(self.outs.len(), widths.len(), "one place for each output value");
        let mut outputs = self.circuit.outputs();
        for (&width, out) in widths.iter().zip(self.outs) {
            let (of_value, rest) = outputs.split_at(width);
            outputs = rest;
            for bits in tiles(width) {
                for copy in 0..copies {
                    let to = out.at(first + copy as u64);
                    let wires = &mut memory[to..to + width][bits.clone()];
                    for (wire, &slot) in wires.iter_mut().zip(&of_value[bits.clone()]) {
                        *wire = slots[slot as usize * copies + copy];
                    }
                }
            }
        }
    }
}

/// The bits of a value, some at a time: in each call their labels fill a line or two of the cache. Else the lines of
/// all calls, which lie a power of two apart, would put each other out of it before they are used up.
fn tiles(width: usize) -> impl Iterator<Item = Range<usize>> {
    const TILE: usize = 4;
    (0..width).step_by(TILE).map(move |bit| bit..width.min(bit + TILE))
}

/// An input value that goes into the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Put {
    /// The number of the value among the program's input values.
    pub index: usize,
    /// The owner of the value, who gives it.
    pub owner: Owner,
    /// The first wire that it goes to.
    pub start: usize,
    /// The number of bits, and of wires.
    pub bits: usize,
}

impl Put {
    /// The wires that the value goes to.
    pub fn wires(&self) -> Range<usize> {
        self.start..self.start + self.bits
    }
}

/// An output value that is revealed from the memory.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shown {
    /// The number of the value among the program's output values.
    pub index: usize,
    /// The parties that learn it.
    pub to: Recipients,
    /// The first wire that it is in.
    pub start: usize,
    /// The number of bits, and of wires.
    pub bits: usize,
}

impl Shown {
    /// The wires that the value is in.
    pub fn wires(&self) -> Range<usize> {
        self.start..self.start + self.bits
    }
}

/// An engine, which runs a program step by step over a memory of its own. It decides what it holds for a
/// wire: a label, a share, a plain bit, or a bit of a word. A simple engine has a [`Memory`](crate::Memory).
/// Addresses count wires.
pub trait Engine {
    /// The error of a step that failed.
    type Error: From<NoMemory>;
    /// Whether input values may come in shared and output values stay shared: [`Owner::Shared`],
    /// [`Recipients::Shared`]. What is put in and revealed is then this party's share.
    const SHARES: bool = false;

    /// Makes the memory for a program, all of whose wires are the constant zero. Nothing is sent.
    /// [`run`](crate::run) begins with it.
    ///
    /// # Errors
    /// [`NoMemory`].
    fn begin(&mut self, program: &Program) -> Result<(), Self::Error>;

    /// Puts an input value into the memory. `value` is there exactly if the engine runs for its owner
    /// (the plain evaluator runs for all). [`run`](crate::run) passes no values without bits.
    ///
    /// # Errors
    /// The engine's.
    fn input(&mut self, put: Put, value: Option<&Bits>) -> Result<(), Self::Error>;

    /// Does the calls. [`Call::load`] and [`Call::store`] do the copying.
    ///
    /// # Errors
    /// The engine's.
    fn call(&mut self, call: &Call<'_>) -> Result<(), Self::Error>;

    /// Reveals an output value; it is there exactly if the engine runs for a recipient and knows it already.
    ///
    /// # Errors
    /// The engine's.
    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>, Self::Error>;

    /// The most of these calls that one [`Engine::call`] is given: the same number at all parties.
    fn at_once(&self, call: &Call<'_>) -> u64 {
        (AT_ONCE / call.ands().max(1)).max(1)
    }
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

/// Nobody watches.
impl Observer for () {
    fn output(&mut self, _: usize, _: Bits) {}
}
