//! Arrays of words: sorting, merging, permuting, selecting, reading and writing at a secret index, joining.
//!
//! An array is a slice of rows, `&[Vec<Wire>]`, all of the same width; a row may hold a key and a payload,
//! and an [`Order`] says which bits the key has. The functions here add gates to a
//! [`Builder`](comity_circuit::Builder), for small arrays; [`steps`] has the same for large ones, as steps of
//! a program that are never unrolled. What is read, moved or kept never shows in which gates there are: only
//! the number and the width of the rows do.
//!
//! Costs are in AND gates for n rows of w bits, k of them the key. A comparison of two rows with an exchange costs
//! k + w: k for the comparison and w for the exchange, so that a payload adds its width and no more.
//!
//! All functions panic if an array is empty or its rows differ in width.

mod compact;
mod join;
mod network;
mod order;
mod permute;
mod scan;
mod select;
mod sort;
pub mod steps;

pub use compact::{compact, dedup};
pub use join::{Joined, join_loop, join_sorted};
pub use order::{Order, compare_exchange};
pub use permute::{each_switch, permute, switch_count, switches};
pub use scan::prefix;
pub(crate) use select::unit;
pub use select::{arg_first, argmax, argmin, demux, first, read, write};
pub use sort::{bitonic_sort, merge, sort, sort_stable, top_k};

use comity_circuit::Wire;

/// The width of the rows of an array.
fn width(rows: &[Vec<Wire>]) -> usize {
    let width = rows.first().expect("an array has at least one row").len();
    assert!(rows.iter().all(|row| row.len() == width), "the rows of an array have the same width");
    width
}
