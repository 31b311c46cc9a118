//! Moving the rows that matter to the front, as steps.

use comity_circuit::{ProgramBuilder, Register};

use super::sort::blocks;
use super::{Array, circuit, map, sort};
use crate::arith;
use crate::arrays::Order;
use crate::arrays::compact::{exchanges, mask, sum};
use crate::arrays::order::exchange;

/// Brings the rows whose flag is one to the front, in their order. Returns how many flags are one, in ⌊log2 n⌋ + 1
/// bits. `flags` has rows of one bit, as many as `rows` has. What is behind them afterwards is undefined, but zero if
/// all rows without a flag were zero.
///
/// n/2 ⌈log2 n⌉ exchanges of w + 1 ANDs each, and about 2n for counting; in each of the ⌈log2 n⌉ levels n is
/// rounded up to that level's whole blocks.
///
/// # Panics
/// If there are no rows, or not as many flags.
pub fn compact(p: &mut ProgramBuilder, flags: Array, rows: Array) -> Register {
    let len = rows.len();
    assert!(len > 0 && flags.len() == len && flags.width() == 1, "there is one flag for each row");
    let levels = len.next_power_of_two().ilog2() as usize;
    // The flags that are one in each block of 2^k. Blocks beyond the end have none: their wires stay zero.
    let mut counts = vec![padded(p, flags, 1 << levels)];
    for k in 0..levels {
        let (halves, add) = (counts[k], circuit(p, &[k + 1; 2], |b, v| vec![sum(b, &v[0], &v[1])]));
        let sums = Array::new(p, 1 << (levels - 1 - k), k + 2);
        map(p, add, len.div_ceil(2 << k), &[halves.every(0, 2), halves.every(1, 2)], &[sums.from(0)]);
        counts.push(sums);
    }
    // From the whole down to pairs: where each block's first row goes, and which rows are exchanged.
    let mut swaps = Vec::new();
    let mut offsets = Array::new(p, 1, levels);
    for k in (1..=levels).rev() {
        let plan = circuit(p, &[k, k], |b, v| {
            let (next, swaps) = exchanges(b, &v[0], &v[1]);
            vec![v[0][..k - 1].to_vec(), next, swaps]
        });
        let next = Array::new(p, 1 << (levels + 1 - k), k - 1);
        let swap = Array::new(p, 1 << (levels - k), 1 << (k - 1));
        let outs = [next.every(0, 2), next.every(1, 2), swap.from(0)];
        map(p, plan, len.div_ceil(1 << k), &[offsets.from(0), counts[k - 1].every(0, 2)], &outs);
        offsets = next;
        swaps.push(Array::of(swap.register(), 1));
    }
    swaps.reverse();
    apply(p, &swaps, rows);
    // A power of two needs the last count's top bit, any other length does not.
    counts[levels].row(0).slice(0, u64::from(len.ilog2()) + 1)
}

/// Does the exchanges of each level, pairs of neighbours first.
fn apply(p: &mut ProgramBuilder, swaps: &[Array], rows: Array) {
    let (len, width) = (rows.len(), rows.width());
    if swaps.is_empty() {
        return;
    }
    let half = len.next_power_of_two() / 2;
    let both = Array::new(p, 2 * half, width);
    let (zeros, ones) = (both.rows(0, half), both.rows(half, half));
    let copy = circuit(p, &[width], |_, v| v.to_vec());
    let swap = circuit(p, &[width; 2], |_, v| vec![v[1].clone(), v[0].clone()]);
    let exchange = circuit(p, &[1, width, width], |b, v| {
        let (x, y) = exchange(b, v[0][0], &v[1], &v[2]);
        vec![x, y]
    });
    // As in a sorting network, but with distances going up: zeros and ones by the lowest bit of their index at first.
    map(p, copy, len.div_ceil(2), &[rows.every(0, 2)], &[zeros.from(0)]);
    map(p, copy, len / 2, &[rows.every(1, 2)], &[ones.from(0)]);
    for (k, flags) in swaps.iter().enumerate() {
        let distance = 1 << k;
        let pair = [zeros.from(0), ones.from(0)];
        let times = len.div_ceil(2 * distance) * distance;
        map(p, exchange, times, &[flags.from(0), pair[0].clone(), pair[1].clone()], &pair);
        if distance < half {
            let count = len.div_ceil(4 * distance);
            blocks(p, swap, (count, distance), 2 * distance, &[zeros.from(distance), ones.from(0)]);
        }
    }
    map(p, copy, half, &[zeros.from(0)], &[rows.from(0)]);
    map(p, copy, len - half, &[ones.from(0)], &[rows.from(half)]);
}

/// The array with rows of zeros behind it.
fn padded(p: &mut ProgramBuilder, rows: Array, len: usize) -> Array {
    let all = Array::new(p, len, rows.width());
    p.copy(&rows.register().span(), &all.first(rows.len()).register().span());
    all
}

/// Leaves one row of each key, in order and followed by rows of zeros. Returns how many there are, in ⌊log2 n⌋ + 1
/// bits. [`sort`](super::sort()), [`compact`] and n (k + w) ANDs.
pub fn dedup(p: &mut ProgramBuilder, rows: Array, order: Order) -> Register {
    let (width, key) = (rows.width(), order.key());
    sort(p, rows, order);
    let flags = Array::new(p, rows.len(), 1);
    let one = p.constant(&[true].into_iter().collect());
    p.copy(&one.span(), &flags.row(0).span());
    if rows.len() > 1 {
        let differ = circuit(p, &[width; 2], |b, v| vec![vec![arith::ne(b, &v[0][..key], &v[1][..key])]]);
        map(p, differ, rows.len() - 1, &[rows.from(0), rows.from(1)], &[flags.from(1)]);
        let keep = circuit(p, &[1, width], |b, v| vec![mask(b, v[0][0], &v[1])]);
        map(p, keep, rows.len() - 1, &[flags.from(1), rows.from(1)], &[rows.from(1)]);
    }
    compact(p, flags, rows)
}
