//! Sorting, merging, and the first k, as steps.

use comity_circuit::{CircuitId, ProgramBuilder};

use super::{Array, circuit, map};
use crate::arrays::network::{Pass, columns, halves, passes};
use crate::arrays::{self, Order, compare_exchange};

/// Sorts the rows in place. A second array of the same size, or up to the next power of two, is used on the way.
pub fn sort(p: &mut ProgramBuilder, rows: Array, order: Order) {
    top_k(p, rows, rows.len(), order);
}

/// Brings the first `k` rows of the sorted array, or all if there are fewer, to the front, and returns them.
/// The rows behind them are undefined afterwards.
///
/// # Panics
/// If there are no rows, or `k` is zero.
pub fn top_k(p: &mut ProgramBuilder, rows: Array, k: usize, order: Order) -> Array {
    let (len, width) = (rows.len(), rows.width());
    assert!(len > 0 && k > 0, "an array has at least one row, and at least one is kept");
    let keep = k.min(len);
    let columns = columns(len);
    if columns == 1 {
        let small = small(p, len, keep, width, order);
        let spans = |rows: Array| (0..rows.len()).map(|i| rows.still(i)).collect::<Vec<_>>();
        map(p, small, 1, &spans(rows), &spans(rows.first(keep)));
        return rows.first(keep);
    }
    // The zeros at the current distance are in the lower half, the ones in the upper one; see `network`.
    let half = len.next_power_of_two() / 2;
    let both = Array::new(p, 2 * half, width);
    let (zeros, ones) = (both.rows(0, half), both.rows(half, half));
    let mut distance = columns / 2;
    sort_columns(p, rows, (zeros, ones), keep, order);
    let exchange = exchange(p, width, order);
    let swap = circuit(p, &[width; 2], |_, rows| vec![rows[1].clone(), rows[0].clone()]);
    let mut len = len.min(keep * columns);
    loop {
        let kept = len.min(keep.saturating_mul(distance));
        run(p, exchange, &passes(len, distance, kept), zeros, ones);
        len = kept;
        if distance == 1 {
            break;
        }
        relayout(p, swap, len, distance, (zeros, ones));
        distance /= 2;
    }
    let copy = circuit(p, &[width], |_, rows| rows.to_vec());
    let (even, odd) = halves(keep, 1);
    map(p, copy, even, &[zeros.from(0)], &[rows.every(0, 2)]);
    if odd > 0 {
        map(p, copy, odd, &[ones.from(0)], &[rows.every(1, 2)]);
    }
    rows.first(keep)
}

/// Merges two sorted arrays of the same length n into one of 2n rows: n log2 n + 1 comparisons, and fewer than for the
/// next power of two otherwise. The two arrays are overwritten.
///
/// # Panics
/// If the arrays differ in length or width.
pub fn merge(p: &mut ProgramBuilder, x: Array, y: Array, order: Order) -> Array {
    let merged = Array::new(p, 2 * x.len(), x.width());
    merge_halves(p, x, y, order);
    let copy = circuit(p, &[x.width()], |_, rows| rows.to_vec());
    map(p, copy, x.len(), &[x.from(0)], &[merged.every(0, 2)]);
    map(p, copy, y.len(), &[y.from(0)], &[merged.every(1, 2)]);
    merged
}

/// Merges two sorted arrays of the same length so that `x` gets the rows of even index and `y` the others.
pub(super) fn merge_halves(p: &mut ProgramBuilder, x: Array, y: Array, order: Order) {
    assert!(!x.is_empty() && x.len() == y.len() && x.width() == y.width(), "arrays to merge have the same shape");
    let exchange = exchange(p, x.width(), order);
    let len = 2 * x.len();
    run(p, exchange, &passes(len, 1, len), x, y);
}

fn exchange(p: &mut ProgramBuilder, width: usize, order: Order) -> CircuitId {
    circuit(p, &[width; 2], |b, rows| {
        let (first, second) = compare_exchange(b, &rows[0], &rows[1], order);
        vec![first, second]
    })
}

/// A circuit for the first `keep` of at most 16 rows.
fn small(p: &mut ProgramBuilder, len: usize, keep: usize, width: usize, order: Order) -> CircuitId {
    circuit(p, &vec![width; len], |b, rows| arrays::top_k(b, rows, keep, order))
}

/// Sorts the columns of `rows` into the layout of the first distance, half the number of columns.
fn sort_columns(p: &mut ProgramBuilder, rows: Array, (zeros, ones): (Array, Array), keep: usize, order: Order) {
    let columns = columns(rows.len());
    let distance = columns / 2;
    let height = rows.len().div_ceil(columns);
    // Columns of full height, then those with one row less.
    let full = rows.len() - (height - 1) * columns;
    let heights = [(0, full, height), (full, columns, height - 1)];
    for (begin, end, height) in heights.into_iter().filter(|(begin, end, _)| begin < end) {
        let kept = keep.min(height);
        let small = small(p, height, kept, rows.width(), order);
        for (half, first) in [(zeros, 0), (ones, distance)] {
            let (begin, end) = (begin.max(first), end.min(first + distance));
            if begin < end {
                let from: Vec<_> = (0..height).map(|i| rows.from(i * columns + begin)).collect();
                let to: Vec<_> = (0..kept).map(|i| half.from(i * distance + begin - first)).collect();
                map(p, small, end - begin, &from, &to);
            }
        }
    }
}

/// Runs the passes of one step.
fn run(p: &mut ProgramBuilder, exchange: CircuitId, passes: &[Pass], zeros: Array, ones: Array) {
    for &Pass { shift, times } in passes {
        let pair = match shift {
            0 => [zeros.from(0), ones.from(0)],
            _ => [ones.from(0), zeros.from(shift)],
        };
        map(p, exchange, times, &pair, &pair);
    }
}

/// Goes from the layout of `distance` to that of half of it, for the first `len` rows: those that differ in
/// the two bits change places. `swap` returns two rows in the other order.
fn relayout(p: &mut ProgramBuilder, swap: CircuitId, len: usize, distance: usize, (zeros, ones): (Array, Array)) {
    blocks(p, swap, (len.div_ceil(2 * distance), distance / 2), distance, &[zeros.from(distance / 2), ones.from(0)]);
}

/// Calls a circuit that changes rows in place for `size` neighbours in each of `count` blocks, which are `step` rows
/// apart. The calls have no ANDs, so that it does not matter that some come one after another.
pub(super) fn blocks(
    p: &mut ProgramBuilder,
    circuit: CircuitId,
    (count, size): (usize, usize),
    step: usize,
    rows: &[super::Moving],
) {
    let (repeats, times) = (count.min(size) as u64, count.max(size) as u64);
    p.repeat(repeats, |p, turn| {
        let spans: Vec<_> = rows
            .iter()
            .map(|(span, width)| {
                let (inner, outer) = if count < size { (1, step as i64) } else { (step as i64, 1) };
                (span.clone().moving(turn, outer * width), inner * width)
            })
            .collect();
        p.map(circuit, times, &spans, &spans);
    });
}
