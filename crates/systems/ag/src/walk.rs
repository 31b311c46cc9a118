//! The way through a program: calls wait until there are gates enough for a chunk, and each kind of value has
//! a column of its own.
//!
//! A chunk is walked several times: over masks, over labels, over masked values. Each walk has its own wires
//! of the program and its own slots of the circuit that it is in, a [`Column`], and goes through the same
//! [`Stretch`]es. So a chunk may end inside of a call and may hold many calls, and nothing but the program
//! decides where it ends: both parties cut alike.

use std::rc::Rc;

use comity_circuit::{Call, Lowered, Memory, NoMemory, Place, Program};
use comity_core::{Cursor, Part, Tape};
use zeroize::{DefaultIsZeroes, Zeroize};

/// AND gates of a chunk at most: as many as authenticated bits come in one piece.
pub(crate) const CHUNK: usize = 32_640;

/// AND gates of a stretch at most: its rows are sent while the next ones are garbled.
const STRETCH: usize = 4096;
const _: () = assert!(STRETCH >= Tape::MAX_ANDS);

/// The most stretches of a chunk: calls with few gates, or no gates.
const STRETCHES: u64 = 1 << 13;

/// Calls that wait.
pub(crate) struct Queue<'p> {
    circuits: &'p [Lowered],
    calls: Vec<Rc<Waiting>>,
    /// The place where the next chunk begins: in the first call, before this turn and gate.
    turn: u64,
    cursor: Cursor,
    /// AND gates, and turns, that wait.
    ands: u64,
    turns: u64,
}

/// A call that waits, as [`Call`] has it.
struct Waiting {
    index: usize,
    times: u64,
    args: Vec<Place>,
    outs: Vec<Place>,
}

/// A stretch of one turn of a call.
pub(crate) struct Stretch<'p> {
    call: Rc<Waiting>,
    turn: u64,
    circuits: &'p [Lowered],
    /// The gates, if there are any.
    pub(crate) part: Option<Part<'p>>,
    /// Whether the turn begins here.
    begins: bool,
    /// Whether it ends here.
    ends: bool,
}

impl Stretch<'_> {
    /// The number of AND gates.
    pub(crate) fn ands(&self) -> usize {
        self.part.as_ref().map_or(0, Part::ands)
    }

    fn call(&self) -> Call<'_> {
        let Waiting { index, times, args, outs } = &*self.call;
        Call { index: *index, circuit: &self.circuits[*index], times: *times, args, outs }
    }
}

impl<'p> Queue<'p> {
    pub(crate) fn new(program: &'p Program) -> Queue<'p> {
        Queue { circuits: program.lowered(), calls: Vec::new(), turn: 0, cursor: Cursor::default(), ands: 0, turns: 0 }
    }

    /// Has a call of this program wait.
    pub(crate) fn push(&mut self, call: &Call<'_>) {
        self.ands += call.times * call.ands();
        self.turns += call.times;
        let (args, outs) = (call.args.to_vec(), call.outs.to_vec());
        self.calls.push(Rc::new(Waiting { index: call.index, times: call.times, args, outs }));
    }

    /// The next chunk if there are gates enough for a whole one, or if `all` are wanted and there are any.
    pub(crate) fn chunk(&mut self, all: bool) -> Option<Vec<Stretch<'p>>> {
        let enough = self.ands >= CHUNK as u64 || self.turns >= STRETCHES;
        if !(enough || all && !self.calls.is_empty()) {
            return None;
        }
        let (mut chunk, mut room, mut done) = (Vec::new(), CHUNK, 0);
        'calls: while let Some(call) = self.calls.get(done) {
            let tape = self.circuits[call.index].tape();
            while self.turn < call.times {
                if room < Tape::MAX_ANDS || chunk.len() as u64 >= STRETCHES {
                    break 'calls;
                }
                let begins = self.cursor == Cursor::default();
                let part = self.cursor.advance(tape, room.min(STRETCH));
                let ends = self.cursor.clone().advance(tape, STRETCH).is_none();
                let ands = part.as_ref().map_or(0, Part::ands);
                room -= ands;
                self.ands -= ands as u64;
                chunk.push(Stretch {
                    call: call.clone(),
                    turn: self.turn,
                    circuits: self.circuits,
                    part,
                    begins,
                    ends,
                });
                if ends {
                    (self.cursor, self.turn) = (Cursor::default(), self.turn + 1);
                    self.turns -= 1;
                }
            }
            (self.turn, done) = (0, done + 1);
        }
        self.calls.drain(..done);
        Some(chunk)
    }
}

/// The wires of a program and the slots of a circuit, for one kind of value. Wiped on drop.
pub(crate) struct Column<W: DefaultIsZeroes> {
    /// The program's wires.
    pub(crate) memory: Memory<W>,
    /// The slots of the circuit that the walk is in.
    pub(crate) slots: Vec<W>,
    /// The value of the constant one.
    one: W,
}

impl<W: DefaultIsZeroes> Column<W> {
    /// A column without wires.
    pub(crate) fn new(one: W) -> Column<W> {
        Column { memory: Memory::default(), slots: Vec::new(), one }
    }

    /// Makes the wires of a program, all of which are the constant zero.
    ///
    /// # Errors
    /// [`NoMemory`].
    pub(crate) fn begin(&mut self, program: &Program) -> Result<(), NoMemory> {
        self.memory = Memory::of(program)?;
        Ok(())
    }

    /// Before the gates of a stretch: if a turn begins, its inputs come into the slots.
    pub(crate) fn enter(&mut self, stretch: &Stretch<'_>) {
        if stretch.begins {
            let call = stretch.call();
            let slots = call.circuit.tape().slots().max(2);
            if self.slots.len() < slots {
                // Memory that is moved is not wiped where it was.
                self.slots.zeroize();
                self.slots.resize(slots, W::default());
            }
            self.slots[..2].copy_from_slice(&[W::default(), self.one]);
            call.load(stretch.turn, &self.memory, &mut self.slots);
        }
    }

    /// After the gates of a stretch: if the turn ends, its outputs go to the memory.
    pub(crate) fn leave(&mut self, stretch: &Stretch<'_>) {
        if stretch.ends {
            stretch.call().store(stretch.turn, &self.slots, &mut self.memory);
        }
    }
}

impl<W: DefaultIsZeroes> Drop for Column<W> {
    fn drop(&mut self) {
        self.memory.zeroize();
        self.slots.zeroize();
    }
}

/// Walks a chunk over values that sums of gates are sums of: each AND gate's inputs are shown to `and`, which
/// gives its output.
pub(crate) fn linear<W>(column: &mut Column<W>, chunk: &[Stretch<'_>], mut and: impl FnMut(usize, W, W) -> W)
where
    W: DefaultIsZeroes + std::ops::BitXor<Output = W>,
{
    let mut gate = 0;
    for stretch in chunk {
        column.enter(stretch);
        let slots = &mut column.slots;
        for (xors, ands) in stretch.part.iter().flat_map(Part::gates) {
            for xor in xors {
                slots[xor.out()] = slots[xor.a()] ^ slots[xor.b()];
            }
            for and_gate in ands {
                slots[and_gate.out()] = and(gate, slots[and_gate.a()], slots[and_gate.b()]);
                gate += 1;
            }
        }
        column.leave(stretch);
    }
}
