//! `gather_add`: a sparse random matrix times a vector of blocks.

use crate::arch::gather;
use crate::{Backend, Block};

/// Writes each block of `from` plus `N` blocks of the table, whose places the row of `numbers` tells: the number `x` stands
/// for place `x * table.len() / 2^32`, so random numbers make uniform places (but for `table.len() / 2^32`). What is in `numbers` afterwards means nothing.
///
/// Places are memory indices: they must be public. The blocks need not be.
///
/// # Panics
/// If the lengths of `numbers`, `from` and `out` differ, or the table is empty or has more than 2^32 blocks.
pub fn gather_add<const N: usize>(
    backend: Backend,
    table: &[Block],
    numbers: &mut [[u32; N]],
    from: &[Block],
    out: &mut [Block],
) {
    assert!(numbers.len() == out.len() && from.len() == out.len(), "a row and a block for each output");
    assert!(!table.is_empty() && table.len() as u64 <= 1 << 32, "a table of {} blocks", table.len());
    gather::add(backend, table, numbers, from, out);
}
