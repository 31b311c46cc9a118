//! Calls of a program, streamed through a scheme: the memory of an engine on one side, bytes of tables on the other.
//!
//! The bytes are the tables of the gates in lowered order and nothing else; how they are cut into buffers is not seen on
//! the wire, so the two sides need not cut alike.

use comity_circuit::Call;
use comity_core::{Block, Cursor, Result, Tape};
use zeroize::Zeroize;

use crate::{Evaluate, Garble};

/// AND gates whose tables fill the buffer: 128 KiB with two rows. Large enough that a system call's fixed cost is lost in
/// it, small enough that tables are still in the L2 cache when they are sent or read.
const BUFFER_ANDS: usize = 4096;
const _: () = assert!(BUFFER_ANDS >= Tape::MAX_ANDS);

/// The garbler's side: labels for zero in, tables out.
pub struct GarbledStream<G> {
    scheme: G,
    slots: Vec<Block>,
    tables: Vec<Block>,
    filled: usize,
    and_gates: u64,
}

impl<G: Garble> GarbledStream<G> {
    /// A stream over this scheme.
    pub fn new(scheme: G) -> GarbledStream<G> {
        let tables = vec![Block::ZERO; BUFFER_ANDS * G::ROWS];
        GarbledStream { scheme, slots: Vec::new(), tables, filled: 0, and_gates: 0 }
    }

    /// The scheme's delta.
    pub fn delta(&self) -> Block {
        self.scheme.delta()
    }

    /// AND gates garbled so far.
    pub fn and_gates(&self) -> u64 {
        self.and_gates
    }

    /// Garbles calls, as [`Engine::call`](comity_circuit::Engine::call) wants them. Full buffers go to `send`; call
    /// [`GarbledStream::flush`] before anything else is sent.
    ///
    /// # Errors
    /// Those of `send`.
    pub fn call(
        &mut self,
        call: &Call<'_>,
        memory: &mut [Block],
        mut send: impl FnMut(&[u8]) -> Result<()>,
    ) -> Result<()> {
        let tape = call.circuit.tape();
        grow(&mut self.slots, tape.slots());
        // The label of a constant's value is zero. A circuit without gates copies constants that no kernel has set.
        self.slots[Tape::ONE as usize] = self.scheme.delta();
        for t in 0..call.times {
            call.load(t, memory, &mut self.slots);
            let mut cursor = Cursor::default();
            loop {
                if BUFFER_ANDS - self.filled / G::ROWS < Tape::MAX_ANDS {
                    self.flush(&mut send)?;
                }
                let Some(part) = cursor.advance(tape, BUFFER_ANDS - self.filled / G::ROWS) else { break };
                let end = self.filled + G::ROWS * part.ands();
                self.scheme.garble(&part, &mut self.slots, &mut self.tables[self.filled..end]);
                self.filled = end;
                self.and_gates += part.ands() as u64;
            }
            call.store(t, &self.slots, memory);
        }
        Ok(())
    }

    /// Sends what is buffered.
    ///
    /// # Errors
    /// Those of `send`.
    pub fn flush(&mut self, mut send: impl FnMut(&[u8]) -> Result<()>) -> Result<()> {
        let filled = core::mem::take(&mut self.filled);
        if filled == 0 { Ok(()) } else { send(Block::bytes_of(&self.tables[..filled])) }
    }
}

impl<G> Drop for GarbledStream<G> {
    fn drop(&mut self) {
        self.slots.zeroize();
    }
}

/// The evaluator's side: active labels and tables in, active labels out.
pub struct EvaluatedStream<E> {
    scheme: E,
    slots: Vec<Block>,
    tables: Vec<Block>,
    and_gates: u64,
}

impl<E: Evaluate> EvaluatedStream<E> {
    /// A stream over this scheme.
    pub fn new(scheme: E) -> EvaluatedStream<E> {
        let tables = vec![Block::ZERO; BUFFER_ANDS * E::ROWS];
        EvaluatedStream { scheme, slots: Vec::new(), tables, and_gates: 0 }
    }

    /// AND gates evaluated so far.
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
        mut recv: impl FnMut(&mut [u8]) -> Result<()>,
    ) -> Result<()> {
        let tape = call.circuit.tape();
        grow(&mut self.slots, tape.slots());
        for t in 0..call.times {
            call.load(t, memory, &mut self.slots);
            let mut cursor = Cursor::default();
            while let Some(part) = cursor.advance(tape, BUFFER_ANDS) {
                let tables = &mut self.tables[..E::ROWS * part.ands()];
                if !tables.is_empty() {
                    recv(Block::bytes_of_mut(tables))?;
                }
                self.scheme.evaluate(&part, &mut self.slots, tables);
                self.and_gates += part.ands() as u64;
            }
            call.store(t, &self.slots, memory);
        }
        Ok(())
    }
}

impl<E> Drop for EvaluatedStream<E> {
    fn drop(&mut self) {
        self.slots.zeroize();
    }
}

/// Enough slots for a tape. Slots that held other wires before are written before they are read.
fn grow(slots: &mut Vec<Block>, wanted: usize) {
    if slots.len() < wanted.max(2) {
        slots.resize(wanted.max(2), Block::ZERO);
    }
}
