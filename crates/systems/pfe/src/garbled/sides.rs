//! The owner of the function, who garbles, and the evaluator: rows in the order of the walk, through a buffer
//! of fixed size.

use comity_channel::Channel;
use comity_core::{Bits, Block, Result};
use comity_garble::hidden::{GATE_ROWS, HiddenEvaluator, HiddenGarbler};

use super::network::Side;

/// Rows of a buffer: 128 KiB, so that a system call's fixed cost is lost in it.
const BUFFER: usize = 8192;

/// The owner of the function.
pub(super) struct Garbling<'a> {
    garbler: HiddenGarbler,
    function: &'a Bits,
    /// Bits of the function that are read.
    read: usize,
    ch: &'a mut dyn Channel,
    rows: Vec<Block>,
    /// Rows that wait to be sent.
    waiting: usize,
}

impl<'a> Garbling<'a> {
    /// The function is the program of the shape that is walked.
    pub(super) fn new(garbler: HiddenGarbler, function: &'a Bits, ch: &'a mut dyn Channel) -> Garbling<'a> {
        Garbling { garbler, function, read: 0, ch, rows: vec![Block::ZERO; BUFFER], waiting: 0 }
    }

    /// The place of this many rows, and the garbler.
    fn next(&mut self, rows: usize) -> Result<(&mut [Block], &mut HiddenGarbler)> {
        if BUFFER - self.waiting < rows {
            self.finish()?;
        }
        self.waiting += rows;
        Ok((&mut self.rows[self.waiting - rows..self.waiting], &mut self.garbler))
    }
}

impl Side for Garbling<'_> {
    fn switches(&mut self, differences: &mut [Block]) -> Result<()> {
        let (function, from) = (self.function, self.read);
        self.read += differences.len();
        let ways = (from..self.read).map(|bit| function.get(bit));
        let (rows, garbler) = self.next(differences.len())?;
        garbler.and_known(ways, differences, rows);
        Ok(())
    }

    fn gate(&mut self, wires: [Block; 2]) -> Result<Block> {
        let table = (0..4).fold(0, |table, bit| table | u8::from(self.function.get(self.read + bit)) << bit);
        self.read += 4;
        let (rows, garbler) = self.next(GATE_ROWS)?;
        Ok(garbler.gate(table, wires, rows.try_into().expect("three rows")))
    }

    fn finish(&mut self) -> Result<()> {
        let waiting = core::mem::take(&mut self.waiting);
        self.ch.send(Block::bytes_of(&self.rows[..waiting]))
    }
}

/// The evaluator.
pub(super) struct Evaluating<'a> {
    evaluator: HiddenEvaluator,
    ch: &'a mut dyn Channel,
    rows: Vec<Block>,
    /// Rows that came and are not used: the last ones of the buffer.
    left: usize,
    /// Rows that have not come.
    to_come: usize,
}

impl<'a> Evaluating<'a> {
    pub(super) fn new(evaluator: HiddenEvaluator, rows: usize, ch: &'a mut dyn Channel) -> Evaluating<'a> {
        Evaluating { evaluator, ch, rows: vec![Block::ZERO; BUFFER], left: 0, to_come: rows }
    }

    /// The next rows, and the evaluator.
    fn next(&mut self, rows: usize) -> Result<(&mut [Block], &mut HiddenEvaluator)> {
        if self.left < rows {
            // What is left to the front, as much as is to come behind it, and all to the end of the buffer.
            self.rows.copy_within(BUFFER - self.left.., 0);
            let coming = self.to_come.min(BUFFER - self.left);
            self.ch.recv(Block::bytes_of_mut(&mut self.rows[self.left..][..coming]))?;
            self.to_come -= coming;
            let there = self.left + coming;
            self.rows.copy_within(..there, BUFFER - there);
            self.left = there;
        }
        let from = BUFFER - self.left;
        self.left -= rows;
        Ok((&mut self.rows[from..][..rows], &mut self.evaluator))
    }
}

impl Side for Evaluating<'_> {
    fn switches(&mut self, differences: &mut [Block]) -> Result<()> {
        let (rows, evaluator) = self.next(differences.len())?;
        evaluator.and_known(differences, rows);
        Ok(())
    }

    fn gate(&mut self, wires: [Block; 2]) -> Result<Block> {
        let (rows, evaluator) = self.next(GATE_ROWS)?;
        Ok(evaluator.gate(wires, (&*rows).try_into().expect("three rows")))
    }

    fn finish(&mut self) -> Result<()> {
        debug_assert!(self.left == 0 && self.to_come == 0, "the shape says how many rows there are");
        Ok(())
    }
}
