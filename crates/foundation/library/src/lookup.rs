//! Public tables at a private index.
//!
//! The wires of all indices of k bits, of which one is one, take 2^k - k - 1 ANDs, and all functions of these
//! bits are XORs of them. So the lower bits of an index give, for each value of the upper ones, the row that
//! it would be, and the upper bits choose among the rows: for size by multiplexers, for depth by products
//! with wires of their own. Where to split is counted: 256 rows of 8 bits take 82 ANDs, or 142 in three
//! layers. Rows share the sums of a few wires each (the method of the four Russians), for a third fewer XORs than sums
//! that are built one by one. The S-box of AES and the tables of carries have gates of their own.

use std::sync::LazyLock;

use comity_circuit::{Builder, Circuit, Goal, LookupTable, Wire, WordOp, eval_circuit};
use comity_core::Bits;

use crate::arrays::unit;
use crate::gadget::gadget;
use crate::{aes, arith};

/// The row of a table at an index of any width; zero beyond the end.
///
/// # Panics
/// If the index has fewer bits than the table's.
pub fn lookup(b: &mut Builder, table: &LookupTable, index: &[Wire]) -> Vec<Wire> {
    let (index, high) = index.split_at(table.delta());
    let found = b.noted(gadget, WordOp::Lookup(table.clone()), &[index], |b| of_table(b, table, index));
    if high.is_empty() {
        return found;
    }
    let inside = arith::is_zero(b, high);
    found.into_iter().map(|bit| b.and(inside, bit)).collect()
}

/// A table that has better gates than those of any table, and how they are built.
pub(crate) type Special = (LookupTable, fn(&mut Builder, &[Wire]) -> Vec<Wire>);

/// The row of a table at an index of its width.
fn of_table(b: &mut Builder, table: &LookupTable, index: &[Wire]) -> Vec<Wire> {
    static SPECIAL: LazyLock<Vec<Special>> =
        LazyLock::new(|| [aes::s_box()].into_iter().chain(arith::radix4::tables()).collect());
    match SPECIAL.iter().find(|(special, _)| special == table) {
        Some((_, build)) => build(b, index),
        None => by_rows(b, table, index),
    }
}

/// The table of what these gates give at each index.
pub(crate) fn table_of(delta: usize, sigma: usize, build: fn(&mut Builder, &[Wire]) -> Vec<Wire>) -> LookupTable {
    let mut b = Builder::new();
    let index = b.input("index", delta);
    let row = build(&mut b, &index);
    b.output("row", &row);
    let circuit = b.finish();
    let row = |index: u16| eval_circuit(&circuit, &[Bits::from_bytes(&index.to_le_bytes(), delta)])[0].to_bytes();
    LookupTable::new(delta, sigma, (0..1 << delta).flat_map(row).collect()).expect("a table of as many rows as indices")
}

/// The row of any table at an index of its width.
fn by_rows(b: &mut Builder, table: &LookupTable, index: &[Wire]) -> Vec<Wire> {
    let split = split(b.goal(), table);
    let (low, upper) = index.split_at(split);
    let low = unit(b, low, 1 << split, Wire::ONE);
    let blocks = 1usize << upper.len();
    let group = group(low.len(), blocks * table.sigma());
    let mut rows: Vec<Vec<Wire>> = (0..blocks).map(|block| row(b, table, block << split, &low, group)).collect();
    match b.goal() {
        Goal::Size => {
            for &bit in upper {
                rows = rows.chunks(2).map(|pair| arith::mux(b, bit, &pair[1], &pair[0])).collect();
            }
            rows.swap_remove(0)
        }
        Goal::Depth => {
            // The last block is what is there without the others.
            let blocks = unit(b, upper, rows.len(), Wire::ONE);
            let (last, others) = rows.split_last().expect("at least one block");
            others.iter().zip(&blocks).fold(last.clone(), |found, (row, &block)| {
                let change = arith::xor(b, row, last);
                let change: Vec<Wire> = change.into_iter().map(|bit| b.and(block, bit)).collect();
                arith::xor(b, &found, &change)
            })
        }
    }
}

/// The circuit of a table: its index to its row.
pub fn table_circuit(table: &LookupTable, goal: Goal) -> Circuit {
    let mut b = Builder::for_goal(goal);
    let index = b.input("index", table.delta());
    let row = lookup(&mut b, table, &index);
    b.output("row", &row);
    b.finish()
}

/// The row at `first` and the index that these wires stand for. Each bit is the sum of a sum for each `group` of wires:
/// the builder shares these among the rows.
fn row(b: &mut Builder, table: &LookupTable, first: usize, low: &[Wire], group: usize) -> Vec<Wire> {
    let mut row = vec![Wire::ZERO; table.sigma()];
    for (i, wires) in low.chunks(group).enumerate() {
        let mut sums = vec![Wire::ZERO; row.len()];
        for (j, &here) in wires.iter().enumerate() {
            for (sum, one) in sums.iter_mut().zip(table.row(first + group * i + j).iter()) {
                if one {
                    *sum = b.xor(*sum, here);
                }
            }
        }
        for (bit, sum) in row.iter_mut().zip(sums) {
            *bit = b.xor(*bit, sum);
        }
    }
    row
}

/// The size of groups of `wires` for the fewest XORs: all sums of each group, and for each of `bits` one of each.
fn group(wires: usize, bits: usize) -> usize {
    let cost = |&group: &usize| wires.div_ceil(group) * (bits + (1 << group) - group - 1);
    (1..=wires.clamp(1, 16)).min_by_key(cost).expect("some size")
}

/// How many bits of the index are lower ones: the fewest ANDs, and for depth the fewest layers before.
fn split(goal: Goal, table: &LookupTable) -> usize {
    let (delta, sigma) = (table.delta(), table.sigma());
    let unit = |bits: usize| (1 << bits) - bits - 1;
    let layers = |bits: usize| bits.max(1).next_power_of_two().ilog2();
    let cost = |&low: &usize| {
        let (high, choice) = (delta - low, sigma * ((1 << (delta - low)) - 1));
        match goal {
            Goal::Size => (0, unit(low) + choice),
            Goal::Depth => {
                let deep = layers(low).max(layers(high)) + u32::from(high > 0);
                (deep, unit(low) + unit(high) + choice)
            }
        }
    };
    (0..=delta).min_by_key(cost).expect("some split")
}
