//! `Rows`: a memory of wires that each hold one label of every copy, side by side.

use comity_core::{Block, Error, Result, Table};

/// A row of `width` labels for each wire; zero at the start, which is the constant zero on both sides.
pub(crate) struct Rows {
    width: usize,
    /// On huge pages, since there are tens of MiB of them, and wiped on drop.
    blocks: Table,
}

impl Rows {
    /// Rows for so many wires.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] if there is not the memory.
    pub(crate) fn new(width: usize, wires: usize) -> Result<Rows> {
        let blocks = Table::try_zeroed(wires.saturating_mul(width)).ok_or_else(|| {
            Error::InvalidInput(format!(
                "{wires} wires with a label for each of {width} copies do not fit the memory of this machine"
            ))
        })?;
        Ok(Rows { width, blocks })
    }

    /// Copies side by side.
    pub(crate) fn width(&self) -> usize {
        self.width
    }

    /// The rows of `wires` wires from `start` on.
    pub(crate) fn get(&self, start: usize, wires: usize) -> &[Block] {
        &self.blocks[start * self.width..][..wires * self.width]
    }

    /// As [`Rows::get`], to be written.
    pub(crate) fn get_mut(&mut self, start: usize, wires: usize) -> &mut [Block] {
        &mut self.blocks[start * self.width..][..wires * self.width]
    }

    /// Copies the `wires` rows from `from` on to those from `to` on.
    pub(crate) fn copy(&mut self, from: usize, to: usize, wires: usize) {
        let from = from * self.width;
        self.blocks.copy_within(from..from + wires * self.width, to * self.width);
    }
}

/// The labels of one side's copies: of the wires, and of the inputs, which wait to be put in.
pub(crate) struct Memory {
    /// The program's wires, and those behind them.
    pub(crate) wires: Rows,
    /// The garbler's input.
    pub(crate) garblers: Rows,
    /// The evaluator's input.
    pub(crate) evaluators: Rows,
}

impl Memory {
    /// Copies `bits` input bits from `from` on to the wires from `at` on.
    pub(crate) fn put_in(&mut self, garblers: bool, from: usize, at: usize, bits: usize) {
        let input = if garblers { &self.garblers } else { &self.evaluators };
        self.wires.get_mut(at, bits).copy_from_slice(input.get(from, bits));
    }

    /// Adds `bits` input bits of the garbler from `from` on to the wires from `at` on.
    pub(crate) fn add_input(&mut self, from: usize, at: usize, bits: usize) {
        let to = self.wires.get_mut(at, bits);
        to.iter_mut().zip(self.garblers.get(from, bits)).for_each(|(to, from)| *to ^= *from);
    }
}
