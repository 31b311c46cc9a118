//! `LabelRows`: a memory of wires that each hold one label of every copy, side by side.

use comity_core::{Block, Error, HugeTable, Prg, Result};
use zeroize::Zeroizing;

/// The rows of wires, of `width` labels each; zero at the start, which is the constant zero on both sides.
pub struct LabelRows {
    width: usize,
    /// The labels, on huge pages, since there are tens of MiB of them, and wiped on drop.
    blocks: HugeTable,
}

impl LabelRows {
    /// The rows of `width` labels for `wires` wires.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is not the memory.
    pub fn new(width: usize, wires: usize) -> Result<LabelRows> {
        let blocks = HugeTable::try_zeroed(wires.saturating_mul(width)).ok_or_else(|| {
            Error::invalid_input(format!(
                "{wires} wires with a label for each of {width} copies do not fit the memory of this machine"
            ))
        })?;
        Ok(LabelRows { width, blocks })
    }

    /// The width of a row: the number of copies side by side.
    pub fn width(&self) -> usize {
        self.width
    }

    /// The rows of `wires` wires from `start` on.
    pub fn get(&self, start: usize, wires: usize) -> &[Block] {
        &self.blocks[start * self.width..][..wires * self.width]
    }

    /// The rows of `wires` wires from `start` on, to be written.
    pub fn get_mut(&mut self, start: usize, wires: usize) -> &mut [Block] {
        &mut self.blocks[start * self.width..][..wires * self.width]
    }

    /// Fills the rows of `wires` wires from `start` on: each copy's column is the next `wires` blocks of its stream.
    ///
    /// # Panics
    /// If there is not a stream for each copy.
    pub fn draw<'a>(&mut self, start: usize, wires: usize, streams: impl ExactSizeIterator<Item = &'a mut Prg>) {
        let width = self.width;
        assert_eq!(streams.len(), width, "a stream for each copy");
        if width == 0 {
            return;
        }
        let mut column = Zeroizing::new([Block::ZERO; 64]);
        let mut streams: Vec<&mut Prg> = streams.collect();
        for rows in self.get_mut(start, wires).chunks_mut(column.len() * width) {
            let n = rows.len() / width;
            for (j, stream) in streams.iter_mut().enumerate() {
                stream.fill_blocks(&mut column[..n]);
                for (row, block) in rows.chunks_exact_mut(width).zip(column.iter()) {
                    row[j] = *block;
                }
            }
        }
    }

    /// Writes the labels of one copy, the `k`-th, to the rows of some wires.
    pub fn put_column(&mut self, k: usize, wires: &[usize], labels: &[Block]) {
        let (width, blocks) = (self.width, &mut self.blocks[..]);
        for (&wire, label) in wires.iter().zip(labels) {
            blocks[wire * width + k] = *label;
        }
    }

    /// Copies the `wires` rows from `from` on to those from `to` on.
    pub fn copy(&mut self, from: usize, to: usize, wires: usize) {
        let from = from * self.width;
        self.blocks.copy_within(from..from + wires * self.width, to * self.width);
    }

    /// Adds the `wires` rows from `from` on to those from `to` on, which are others.
    pub fn add(&mut self, from: usize, to: usize, wires: usize) {
        let (low, high) = (from.min(to), from.max(to));
        let (head, tail) = self.blocks.split_at_mut(high * self.width);
        let (low, high) = (&mut head[low * self.width..], &mut tail[..wires * self.width]);
        let (to, from) = if from < to { (high, &*low) } else { (low, &*high) };
        to.iter_mut().zip(from).take(wires * self.width).for_each(|(to, from)| *to ^= *from);
    }
}
