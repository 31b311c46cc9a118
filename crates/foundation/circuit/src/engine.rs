//! `Engine`: what runs a program. Each general protocol is one; the plain evaluator is another.

use comity_core::Bits;

use crate::{Lowered, Recipients};

/// What runs a program, step by step, over a memory of its own kind of wires.
pub trait Engine {
    /// What the engine holds for one bit: a label, a share, a plain bit. `Default` is the constant zero.
    type Wire: Copy + Default;
    /// Why a step failed.
    type Error;

    /// Input value `index` of `party` becomes wires. `value` is there exactly if the engine runs for that party
    /// (the plain evaluator runs for all). [`run`](crate::run) passes no values without bits. `wires` are those of the memory
    /// from `start` on; an engine that needs more than a fixed size for a wire keeps its own memory, and has `()` for wires.
    fn input(
        &mut self,
        index: usize,
        party: u32,
        value: Option<&Bits>,
        start: usize,
        wires: &mut [Self::Wire],
    ) -> Result<(), Self::Error>;

    /// Calls a circuit `times` times over `memory`. Call `t` reads input value `v` at `args[v].0 + t * args[v].1` and
    /// writes output value `v` at `outs[v].0 + t * outs[v].1`; all positions were checked against the memory, and the
    /// calls are independent of each other. [`Lowered::load`] and [`Lowered::store`] do the copying.
    fn call(
        &mut self,
        circuit: &Lowered,
        times: u64,
        args: &[(usize, isize)],
        outs: &[(usize, isize)],
        memory: &mut [Self::Wire],
    ) -> Result<(), Self::Error>;

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
