//! `HugeTable`: blocks to look up at random places, and sums of such.

use core::ops::{Deref, DerefMut, Range};

use crate::arch::Backend;
use crate::arch::{gather, table};
use crate::memory::block::Block;

/// A fixed number of blocks in memory that is fast to read at random places: on huge pages where the system has them.
/// They are wiped on drop.
pub struct HugeTable(table::Memory);

impl HugeTable {
    /// A table of `len` zero blocks.
    ///
    /// # Panics
    /// If the blocks do not fit in memory.
    pub fn zeroed(len: usize) -> HugeTable {
        HugeTable::try_zeroed(len).expect("a table fits in memory")
    }

    /// A table of `len` zero blocks; `None` if they do not fit in memory.
    pub fn try_zeroed(len: usize) -> Option<HugeTable> {
        table::Memory::zeroed(len).map(HugeTable)
    }

    /// Writes to `out` each `K` blocks of `from` plus `N` times `K` blocks of the table, at the places that
    /// the row of `numbers` gives. The number `x` stands for place `x * len / K / 2^32` of `len / K`, so
    /// random numbers give uniform places (up to `len / K / 2^32`). Afterwards the content of `numbers` is
    /// undefined.
    ///
    /// Places are memory indices: they must be public. The blocks need not be.
    ///
    /// # Panics
    /// If the lengths of `numbers`, `from` and `out` differ, or if the table is empty, has 2^32 blocks or
    /// more, or is not a whole number of places.
    pub fn gather_add<const N: usize, const K: usize>(
        &self,
        backend: Backend,
        numbers: &mut [[u32; N]],
        from: &[[Block; K]],
        out: &mut [[Block; K]],
    ) {
        assert!(numbers.len() == out.len() && from.len() == out.len(), "a row and a block for each output");
        assert!(!self.is_empty() && u32::try_from(self.len()).is_ok(), "a table of {} blocks", self.len());
        let (table, rest) = self.as_chunks::<K>();
        assert!(rest.is_empty(), "a table of {} blocks, {K} a place", self.len());
        gather::add(backend, table, numbers, from, out);
    }

    /// Adds to each block of `to` `N` blocks of a part of the table, at the places in the part that the row
    /// of `numbers` gives: the upper bits of a number, as many as the part's length has, so random numbers
    /// give uniform places. Afterwards the content of `numbers` is undefined.
    ///
    /// A large table's sums are faster part by part, if each part alone fits the second-level cache. Places
    /// are public, as for [`gather_add`](HugeTable::gather_add).
    ///
    /// # Panics
    /// If the lengths of `numbers` and `to` differ, or if the length of the part is not a power of two, or is
    /// more than 2^16.
    pub fn add_gathered<const N: usize>(
        &self,
        backend: Backend,
        part: Range<usize>,
        numbers: &mut [[u16; N]],
        to: &mut [Block],
    ) {
        let part = &self[part];
        assert!(numbers.len() == to.len(), "a row for each output");
        assert!(part.len().is_power_of_two() && part.len() <= 1 << 16, "a part of {} blocks", part.len());
        gather::add_part(backend, part, numbers, to);
    }
}

impl Default for HugeTable {
    /// An empty table.
    fn default() -> HugeTable {
        HugeTable::zeroed(0)
    }
}

impl Deref for HugeTable {
    type Target = [Block];

    fn deref(&self) -> &[Block] {
        self.0.blocks()
    }
}

impl DerefMut for HugeTable {
    fn deref_mut(&mut self) -> &mut [Block] {
        self.0.blocks_mut()
    }
}
