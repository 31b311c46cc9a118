//! `Rows`: labels of all copies, side by side.

use comity_core::{Block, Error, Prg, Result, Table};
use zeroize::Zeroizing;

/// A row of `width` labels for each wire; zero at the start, which is the constant zero on both sides.
pub(crate) struct Rows {
    width: usize,
    /// Wiped on drop.
    blocks: Table,
}

impl Rows {
    /// Rows for so many wires.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is not the memory.
    pub(crate) fn new(width: usize, wires: usize) -> Result<Rows> {
        let blocks = Table::try_zeroed(wires.saturating_mul(width)).ok_or_else(|| {
            Error::invalid_input(format!(
                "{wires} wires with a label for each of {width} copies do not fit the memory of this machine"
            ))
        })?;
        Ok(Rows { width, blocks })
    }

    /// The rows of `wires` wires from `start` on.
    pub(crate) fn get(&self, start: usize, wires: usize) -> &[Block] {
        &self.blocks[start * self.width..][..wires * self.width]
    }

    /// As [`Rows::get`], to be written.
    pub(crate) fn get_mut(&mut self, start: usize, wires: usize) -> &mut [Block] {
        &mut self.blocks[start * self.width..][..wires * self.width]
    }

    /// Fills the rows of `wires` wires from `start` on: each copy's column from its stream.
    pub(crate) fn draw<'a>(&mut self, start: usize, wires: usize, streams: impl Iterator<Item = &'a mut Prg>) {
        let width = self.width;
        let rows = self.get_mut(start, wires);
        let mut column = Zeroizing::new([Block::ZERO; 64]);
        for (copy, stream) in streams.enumerate() {
            for rows in rows.chunks_mut(column.len() * width) {
                let count = rows.len() / width;
                stream.fill_blocks(&mut column[..count]);
                rows.iter_mut().skip(copy).step_by(width).zip(&column[..count]).for_each(|(to, from)| *to = *from);
            }
        }
    }
}
