//! Calls of a program, streamed through a scheme: the memory of an engine on one side, bytes of tables on the
//! other.
//!
//! The bytes are the tables of the gates in lowered order and nothing else. How they are cut into buffers is
//! not seen on the wire. Nor is how a tape is cut into parts, so the two sides need not cut alike: unless the
//! scheme's tables are [uneven](Scheme::UNEVEN), for which a part is as long as [`parts`] says.

mod side_by_side;

use core::ops::Range;

use comity_circuit::Call;
use comity_core::{Block, Cursor, Part, Result, Tape};
use zeroize::Zeroize;

use crate::scheme::{Evaluate, FreeXor, Garble, Private, Scheme};

/// AND gates whose tables fill the buffer: 128 KiB with two rows. Large enough that a system call's fixed
/// cost is lost in it, small enough that tables are still in the L2 cache when they are sent or read.
const BUFFER_ANDS: usize = 4096;
const _: () = assert!(BUFFER_ANDS >= Tape::MAX_ANDS);

/// The parts of a tape, as both sides cut it where a scheme's tables are uneven.
pub fn parts(tape: &Tape) -> impl Iterator<Item = Part<'_>> {
    let mut cursor = Cursor::default();
    core::iter::from_fn(move || cursor.advance(tape, BUFFER_ANDS))
}

/// The garbler's side of a stream: wires in, tables out.
pub struct GarbledStream<S: Scheme> {
    scheme: S::Garbler,
    slots: Vec<WireOf<S>>,
    /// The buffer, with room for the tables of [`BUFFER_ANDS`], or more if a part has rows for XOR gates.
    tables: Vec<Block>,
    /// The bytes of tables that wait to be sent, and their AND gates.
    filled: usize,
    waiting: usize,
    and_gates: u64,
}

/// The wire as the garbler holds it.
type WireOf<S> = <<S as Scheme>::Garbler as Garble>::Wire;

impl<S: Scheme> GarbledStream<S> {
    /// A stream whose evaluator learns no wire's value.
    pub fn new(scheme: S::Garbler) -> GarbledStream<S>
    where
        S: Private,
    {
        GarbledStream::readable(scheme)
    }

    /// A stream whose evaluator may learn every wire's value: for proofs, where it has all inputs.
    pub fn readable(scheme: S::Garbler) -> GarbledStream<S> {
        let tables = vec![Block::ZERO; BUFFER_ANDS * S::AND_ROWS];
        GarbledStream { scheme, slots: Vec::new(), tables, filled: 0, waiting: 0, and_gates: 0 }
    }

    /// The scheme's offset between labels.
    pub fn delta(&self) -> Block
    where
        S: FreeXor,
    {
        S::delta(&self.scheme)
    }

    /// The scheme's garbler: it draws the wires of inputs, and knows the labels of wires.
    pub fn scheme(&mut self) -> &mut S::Garbler {
        &mut self.scheme
    }

    /// The number of AND gates garbled so far.
    pub fn and_gates(&self) -> u64 {
        self.and_gates
    }

    /// Garbles calls, as [`Engine::call`](comity_circuit::Engine::call) wants them. Full buffers go to
    /// `send`; call [`GarbledStream::flush`] before anything else is sent.
    ///
    /// # Errors
    /// Those of `send`.
    pub fn call(
        &mut self,
        call: &Call<'_>,
        memory: &mut [WireOf<S>],
        send: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        self.calls(call, 0..call.times, memory, send)
    }

    /// Garbles these of the calls.
    fn calls(
        &mut self,
        call: &Call<'_>,
        which: Range<u64>,
        memory: &mut [WireOf<S>],
        mut send: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let tape = call.circuit.tape();
        grow(&mut self.slots, tape.slots());
        // A circuit without gates copies constants that no kernel has set.
        let constants = [false, true].map(|bit| self.scheme.constant(bit));
        self.slots[..2].copy_from_slice(&constants);
        for t in which {
            call.load(t, memory, &mut self.slots);
            let mut cursor = Cursor::default();
            loop {
                if BUFFER_ANDS - self.waiting < Tape::MAX_ANDS {
                    self.flush(&mut send)?;
                }
                let Some(part) = cursor.advance(tape, BUFFER_ANDS - self.waiting) else { break };
                let rows = S::rows(&part);
                if self.tables.len() - self.filled.div_ceil(Block::BYTES) < rows {
                    self.flush(&mut send)?;
                    grow(&mut self.tables, rows);
                }
                let first = self.filled.div_ceil(Block::BYTES);
                self.scheme.garble(&part, &mut self.slots, &mut self.tables[first..][..rows]);
                let bytes = S::bytes(&part);
                if S::UNEVEN {
                    // Behind the bytes that wait: these need not end with a block.
                    let from = first * Block::BYTES;
                    Block::bytes_of_mut(&mut self.tables).copy_within(from..from + bytes, self.filled);
                } else {
                    self.waiting += part.ands();
                }
                self.filled += bytes;
                self.and_gates += part.ands() as u64;
            }
            call.store(t, &self.slots, memory);
        }
        Ok(())
    }

    /// Sends the tables that are buffered.
    ///
    /// # Errors
    /// Those of `send`.
    pub fn flush(&mut self, mut send: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        self.waiting = 0;
        let filled = core::mem::take(&mut self.filled);
        if filled == 0 { Ok(()) } else { send(&Block::bytes_of(&self.tables)[..filled]) }
    }
}

impl<S: Scheme> Drop for GarbledStream<S> {
    fn drop(&mut self) {
        self.slots.zeroize();
    }
}

/// The evaluator's side of a stream: active labels and tables in, active labels out.
pub struct EvaluatedStream<S: Scheme> {
    scheme: S::Evaluator,
    slots: Vec<Block>,
    tables: Vec<Block>,
    and_gates: u64,
}

impl<S: Scheme> EvaluatedStream<S> {
    /// A stream over this scheme.
    pub fn new(scheme: S::Evaluator) -> EvaluatedStream<S> {
        let tables = vec![Block::ZERO; BUFFER_ANDS * S::AND_ROWS];
        EvaluatedStream { scheme, slots: Vec::new(), tables, and_gates: 0 }
    }

    /// The number of AND gates evaluated so far.
    pub fn and_gates(&self) -> u64 {
        self.and_gates
    }

    /// Evaluates calls; `recv` fills a buffer with the next bytes of tables.
    ///
    /// # Errors
    /// Those of `recv`.
    pub fn call(
        &mut self,
        call: &Call<'_>,
        memory: &mut [Block],
        recv: impl FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        self.calls(call, 0..call.times, memory, recv)
    }

    /// Evaluates these of the calls.
    fn calls(
        &mut self,
        call: &Call<'_>,
        which: Range<u64>,
        memory: &mut [Block],
        mut recv: impl FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let tape = call.circuit.tape();
        grow(&mut self.slots, tape.slots());
        let constants = [false, true].map(|bit| self.scheme.constant(bit));
        self.slots[..2].copy_from_slice(&constants);
        for t in which {
            call.load(t, memory, &mut self.slots);
            let mut cursor = Cursor::default();
            while let Some(part) = cursor.advance(tape, BUFFER_ANDS) {
                let rows = S::rows(&part);
                grow(&mut self.tables, rows);
                let tables = &mut self.tables[..rows];
                if !tables.is_empty() {
                    recv(&mut Block::bytes_of_mut(tables)[..S::bytes(&part)])?;
                }
                self.scheme.evaluate(&part, &mut self.slots, tables);
                self.and_gates += part.ands() as u64;
            }
            call.store(t, &self.slots, memory);
        }
        Ok(())
    }
}

impl<S: Scheme> Drop for EvaluatedStream<S> {
    fn drop(&mut self) {
        self.slots.zeroize();
    }
}

/// Makes a buffer long enough, for the two constants at least. What it held before is written before it is
/// read.
fn grow<T: Copy + Default>(buffer: &mut Vec<T>, wanted: usize) {
    if buffer.len() < wanted.max(2) {
        buffer.resize(wanted.max(2), T::default());
    }
}
