//! `SubsetSums`: a public matrix of bits times rows of blocks.

use crate::arch::Backend;
use crate::arch::subset;
use crate::memory::block::Block;
use crate::memory::huge_table::HugeTable;

/// Adds sums of rows of blocks. Digits of [`DIGIT`](SubsetSums::DIGIT) bits say which rows each sum has
/// ("four Russians": the sums of all subsets of a few rows are formed once and then looked up).
///
/// Digits are memory indices: they must be public. The blocks need not be; sums are wiped on drop.
///
/// *Cost.* A look-up and an addition for each digit, and 64 additions for each group of rows. 32 KiB of memory.
pub struct SubsetSums {
    backend: Backend,
    room: HugeTable,
}

impl SubsetSums {
    /// Bits of a digit: rows in a group.
    pub const DIGIT: usize = subset::GROUP;

    /// The sums on a backend, ready for [`add`](SubsetSums::add).
    pub fn new(backend: Backend) -> SubsetSums {
        SubsetSums { backend, room: HugeTable::zeroed(subset::ROOM) }
    }

    /// Adds to each row of `out` the sum of those `rows` that its digits name: row `6 g + b` if bit `b` of
    /// digit `g` is one and the row exists. A row has `width` blocks, and `digits` holds the digits of one
    /// row of `out` after another.
    ///
    /// # Panics
    /// If `rows` or `out` is not a whole number of rows, or if `digits` does not have a digit for each row of
    /// `out` and group of `rows`.
    pub fn add(&mut self, width: usize, rows: &[Block], digits: &[u8], out: &mut [Block]) {
        if width == 0 || rows.is_empty() {
            return;
        }
        assert!(rows.len().is_multiple_of(width) && out.len().is_multiple_of(width), "whole rows of {width} blocks");
        let groups = (rows.len() / width).div_ceil(SubsetSums::DIGIT);
        assert_eq!(digits.len(), groups * (out.len() / width), "a digit for each group and row");
        subset::add(self.backend, &subset::Rows { width, rows, groups, digits }, out, &mut self.room);
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::hash::prg::Prg;

    #[test]
    fn sums_are_those_of_the_rows_that_are_named() {
        let mut prg = Prg::new(Backend::detect(), Block::from_u128(1));
        let mut blocks = |n: usize| {
            let mut blocks = vec![Block::ZERO; n];
            prg.fill_blocks(&mut blocks);
            blocks
        };
        let mut all: Vec<SubsetSums> = Backend::available().into_iter().map(SubsetSums::new).collect();
        let sizes = [
            (1, 1, 3),
            (2, 6, 1),
            (3, 7, 5),
            (4, 24, 4),
            (7, 25, 3),
            (8, 30, 9),
            (13, 1, 2),
            (19, 53, 10),
            (40, 323, 7),
        ];
        for &(width, rows, outputs) in if cfg!(miri) { &sizes[5..7] } else { &sizes } {
            let (from, start) = (blocks(width * rows), blocks(width * outputs));
            let groups = rows.div_ceil(SubsetSums::DIGIT);
            let digits: Vec<u8> = Block::bytes_of(&blocks(groups * outputs))[..groups * outputs].to_vec();
            let mut wanted = start.clone();
            for (out, digits) in wanted.chunks_exact_mut(width).zip(digits.chunks_exact(groups)) {
                for (row, from) in from.chunks_exact(width).enumerate() {
                    if digits[row / 6] >> (row % 6) & 1 == 1 {
                        out.iter_mut().zip(from).for_each(|(out, from)| *out ^= *from);
                    }
                }
            }
            for sums in &mut all {
                let mut out = start.clone();
                sums.add(width, &from, &digits, &mut out);
                assert!(out == wanted, "{}, {rows} rows of {width}", sums.backend);
            }
        }
    }

    #[test]
    #[should_panic(expected = "a digit for each group and row")]
    fn a_missing_digit_is_refused() {
        SubsetSums::new(Backend::detect()).add(1, &[Block::ZERO; 7], &[0; 3], &mut [Block::ZERO; 2]);
    }
}
