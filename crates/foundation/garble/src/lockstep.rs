//! Many copies of a program in lockstep: what cut and choose runs on.
//!
//! **The way of a label**: an input's labels, one of each copy, are written to a row of [`LabelRows`], the
//! memory of the program's wires; a call copies rows to the slots of a kernel, which garbles (or garbles
//! again, or evaluates) the gates of all copies a [`PART`] at a time, so that a part's tables leave or arrive
//! before the next one begins; what comes out is copied back to rows. A [`Lockstep`] is a kernel with its
//! memory; [`call`] is that loop; [`run`] takes a program through it.
//!
//! A garbler has one `Lockstep`, of all copies. An evaluator has two: the checked copies, whose labels for
//! zero it knows, and the evaluated ones, of which it has active labels. What the parties do with the tables
//! of a part, and where inputs come from and outputs go, is the protocol's.

mod choice;
mod inputs;
mod rows;
mod secret;

pub use choice::CopyChoice;
pub use inputs::{GarblingParty, joined, separated};
pub use rows::LabelRows;
pub use secret::expand;

use comity_circuit::{Call, Engine, Lowered, Observer, Program, Put, Shown};
use comity_core::{
    Bits, Block, Cursor, Error, LockstepChecker, LockstepEvaluator, LockstepGarbler, Part, PartyId, Result, SessionId,
    Tape,
};

/// AND gates whose tables travel together: 320 KiB at forty copies, a part of the L2 cache.
pub const PART: usize = Tape::MAX_ANDS;

/// The public start of the gate keys: a hash of both parties' nonces. It serves all copies, each with its own delta.
pub fn gate_keys(session: &SessionId) -> Block {
    session.block("start of the gate keys")
}

/// The most slots that any of these circuits needs.
pub fn most_slots<'a>(circuits: impl IntoIterator<Item = &'a Lowered>) -> usize {
    circuits.into_iter().map(|circuit| circuit.tape().slots()).max().unwrap_or(2)
}

/// The labels in the slots of a kernel, a row of all copies for each slot.
pub trait LabelSlots {
    /// Writes rows to slot `first` and the slots after it.
    fn set(&mut self, first: usize, rows: &[Block]);
    /// Reads the rows that [`set`](LabelSlots::set) writes.
    fn get(&mut self, first: usize, rows: &mut [Block]);
}

macro_rules! label_slots {
    ($($kernel:ident),*) => {$(
        impl LabelSlots for $kernel {
            fn set(&mut self, first: usize, rows: &[Block]) {
                $kernel::set(self, first, rows);
            }
            fn get(&mut self, first: usize, rows: &mut [Block]) {
                $kernel::get(self, first, rows);
            }
        }
    )*};
}

label_slots!(LockstepGarbler, LockstepChecker, LockstepEvaluator);

/// The memory that calls are loaded from and stored to.
pub trait LockstepMemory {
    /// Copies the rows of the input values of call `t` to slots, before the call.
    fn load(&mut self, call: &Call<'_>, t: u64);
    /// Copies the rows of the output values of call `t` from slots, after the call.
    fn store(&mut self, call: &Call<'_>, t: u64);
}

/// Copies in lockstep: a kernel, and the rows of the program's wires.
pub struct Lockstep<K> {
    /// The kernel, which garbles, checks or evaluates.
    pub kernel: K,
    /// The rows of the wires: a label of each copy for each.
    pub wires: LabelRows,
}

impl<K: LabelSlots> LockstepMemory for Lockstep<K> {
    fn load(&mut self, call: &Call<'_>, t: u64) {
        let mut slot = 2;
        for (&width, arg) in call.circuit.input_widths().iter().zip(call.args) {
            self.kernel.set(slot, self.wires.get(arg.at(t), width));
            slot += width;
        }
    }

    fn store(&mut self, call: &Call<'_>, t: u64) {
        let mut outputs = call.circuit.outputs().iter();
        for (&width, out) in call.circuit.output_widths().iter().zip(call.outs) {
            for (wire, &slot) in (out.at(t)..).take(width).zip(outputs.by_ref()) {
                self.kernel.get(slot as usize, self.wires.get_mut(wire, 1));
            }
        }
    }
}

/// Checked copies and evaluated ones, side by side.
impl<A: LabelSlots, B: LabelSlots> LockstepMemory for (&mut Lockstep<A>, &mut Lockstep<B>) {
    fn load(&mut self, call: &Call<'_>, t: u64) {
        self.0.load(call, t);
        self.1.load(call, t);
    }

    fn store(&mut self, call: &Call<'_>, t: u64) {
        self.0.store(call, t);
        self.1.store(call, t);
    }
}

/// Makes a call over copies in lockstep: `gates` garbles or evaluates one part after another, of at most [`PART`]
/// AND gates each.
///
/// # Errors
/// Those of `gates`.
pub fn call<M: LockstepMemory>(
    copies: &mut M,
    call: &Call<'_>,
    mut gates: impl FnMut(&mut M, &Part<'_>) -> Result<()>,
) -> Result<()> {
    for t in 0..call.times {
        copies.load(call, t);
        let mut cursor = Cursor::default();
        while let Some(part) = cursor.advance(call.circuit.tape(), PART) {
            gates(copies, &part)?;
        }
        copies.store(call, t);
    }
    Ok(())
}

/// One party's side, which takes its copies through the steps of a program. All places are wires of its memory.
pub trait LockstepSide {
    /// Puts `bits` bits of a party's input, from bit `from` on, into the wires from `at` on.
    fn input(&mut self, party: GarblingParty, from: usize, at: usize, bits: usize);
    /// Makes a call: see [`call`].
    ///
    /// # Errors
    /// Those of sending or receiving tables.
    fn call(&mut self, call: &Call<'_>) -> Result<()>;
    /// Reveals output value `index`, the `bits` wires from `at` on. Its value is known only when all checks are done.
    ///
    /// # Errors
    /// Those of sending or receiving what decodes outputs.
    fn reveal(&mut self, index: usize, at: usize, bits: usize) -> Result<()>;
}

/// Runs a program over a side, where this party garbles.
///
/// # Errors
/// Those of the side.
pub fn run(
    program: &Program,
    garbler: PartyId,
    side: &mut impl LockstepSide,
    observer: &mut dyn Observer,
) -> Result<()> {
    let mut machine = Machine { garbler, side, next: [0; 2] };
    // The side has the inputs' labels; their values are nobody's business here.
    let inputs: Vec<Option<Bits>> = vec![None; program.inputs().len()];
    Ok(comity_circuit::run(program, &mut machine, &inputs, observer)?)
}

/// A side as an engine.
struct Machine<'a, S> {
    garbler: PartyId,
    side: &'a mut S,
    /// The next input bit of garbler and evaluator.
    next: [usize; 2],
}

impl<S: LockstepSide> Engine for Machine<'_, S> {
    type Error = Error;

    /// The side has its memory: inputs are joined there before the program runs.
    fn begin(&mut self, _: &Program) -> Result<()> {
        Ok(())
    }

    fn input(&mut self, put: Put, _: Option<&Bits>) -> Result<()> {
        let party = GarblingParty::of(put.owner, self.garbler);
        let next = &mut self.next[party as usize];
        self.side.input(party, *next, put.start, put.bits);
        *next += put.bits;
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        self.side.call(call)
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        self.side.reveal(shown.index, shown.start, shown.bits)?;
        Ok(None)
    }
}
