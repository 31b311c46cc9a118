//! What a group of executions draws and says, a strip of gates at a time: as much as stays in the caches
//! nearest to the core.
//!
//! The tapes of a group have megabytes, and each is written, transposed, read, hashed: from memory that takes
//! longer than all that is computed.

use comity_core::{Backend, Block};
use zeroize::Zeroizing;

use super::hashes::{Execution, Hashes};
use super::{GROUP, PARTIES, Shape};
use crate::sliced::{Rows, TILE, Tape, Word, padded};

/// A word of a group: a bit for each of an execution's parties, a lane for each execution.
pub(super) type Parties = Word<GROUP>;

/// The AND gates of a strip: its tapes, their words and what is said have 640 kB. A strip has of each tape 32
/// blocks, which is what AES is computed of at once where registers are widest.
const STRIP: usize = 2048;

/// The tapes of a group, a row for each party of each execution. One without a tape has zeros.
pub(super) struct Tapes {
    tapes: Vec<Option<Tape>>,
    /// The shares of the masks of secret inputs.
    pub(super) inputs: Zeroizing<Vec<Parties>>,
}

impl Tapes {
    /// The tapes of executions, but for those of the parties that are hidden in them.
    pub(super) fn new(
        backend: Backend,
        hashes: &Hashes,
        shape: Shape,
        executions: &[Execution],
        hidden: impl Fn(usize) -> Option<usize>,
    ) -> Tapes {
        let mut tapes: Vec<_> =
            hashes.tape.tapes(backend, executions.iter().flat_map(Execution::seeds)).map(Some).collect();
        tapes.resize_with(GROUP * PARTIES, || None);
        for lane in 0..executions.len() {
            hidden(lane).into_iter().for_each(|party| tapes[PARTIES * lane + party] = None);
        }
        let mut tapes = Tapes { tapes, inputs: Zeroizing::default() };
        let mut inputs = Zeroizing::new(vec![[0; GROUP]; shape.gates()]);
        tapes.write(backend, 0, &mut Rows::zeros(GROUP * PARTIES, shape.gates()), &mut inputs);
        tapes.inputs = inputs;
        tapes
    }

    /// Writes the words of columns, as many as the rows have room for, from one on.
    fn write(&self, backend: Backend, from: usize, rows: &mut Rows, words: &mut [Parties]) {
        for (row, tape) in self.tapes.iter().enumerate() {
            match tape {
                Some(tape) => tape.fill(from / TILE, rows.row_mut(row)),
                None => rows.row_mut(row).fill(Block::ZERO),
            }
        }
        rows.write_words(backend, words);
    }
}

/// A strip of gates: the shares of their masks and products, and the parties' words at them. Groups follow
/// one another in it.
pub(super) struct Strip {
    backend: Backend,
    shape: Shape,
    rows: Rows,
    /// The words of the tapes.
    words: Zeroizing<Vec<Parties>>,
    said: Zeroizing<Vec<Parties>>,
    /// The first gate of the strip, the next one, and the first one after the strip.
    first: usize,
    at: usize,
    end: usize,
}

impl Strip {
    /// Room for strips.
    pub(super) fn new(backend: Backend, shape: Shape) -> Strip {
        let gates = padded(shape.ands.clamp(1, STRIP));
        let words = |count: usize| Zeroizing::new(vec![[0; GROUP]; count]);
        let columns = Shape::of_gates(gates);
        let rows = Rows::zeros(GROUP * PARTIES, columns);
        Strip { backend, shape, rows, words: words(columns), said: words(gates), first: 0, at: 0, end: 0 }
    }

    /// Begins a group: there is no strip, and no gate.
    pub(super) fn begin(&mut self) {
        (self.first, self.at, self.end) = (0, 0, 0);
    }

    /// How many gates there is room for.
    pub(super) fn left(&self) -> usize {
        self.end - self.at
    }

    /// The next strip of these tapes.
    pub(super) fn next(&mut self, tapes: &Tapes) {
        (self.first, self.end) = (self.at, self.at + self.said.len());
        let from = self.shape.gates() + Shape::of_gates(self.at);
        tapes.write(self.backend, from, &mut self.rows, &mut self.words);
    }

    /// The next gate: its number, the shares of its mask and of its product, and the place for the parties'
    /// word.
    #[inline(always)]
    pub(super) fn gate(&mut self) -> (usize, Parties, Parties, &mut Parties) {
        let at = self.at - self.first;
        self.at += 1;
        let [mask, product] = Shape::of_gate(at).map(|column| self.words[column]);
        (self.at - 1, mask, product, &mut self.said[at])
    }

    /// The strip's first gate, and the parties' words at it and those after it.
    pub(super) fn said(&mut self) -> (usize, &mut [Parties]) {
        (self.first, &mut self.said[..self.at - self.first])
    }
}
