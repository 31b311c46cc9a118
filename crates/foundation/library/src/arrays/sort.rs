//! Sorting, merging, and the first k.
//!
//! Sorting takes n⌈log2 n⌉²/4 comparisons and a little less; merging takes n log2 n / 2 for n rows in all.
//! Networks are not stable: rows with equal keys end in any order, the same one each time for the same keys.
//! [`sort_stable`] is.

use comity_circuit::{Builder, Wire};

use super::order::compare_exchange;
use super::{Order, network, width};
use crate::arith;

/// The rows in order. For 2^t rows (t² - t + 4)·2^(t-2) - 1 comparisons of k + w ANDs each (Batcher's merge
/// exchange), and from 16 rows on three less for every 16 (Green): 60 for 16 rows, 1,471 - 24 for 128.
pub fn sort(b: &mut Builder, rows: &[Vec<Wire>], order: Order) -> Vec<Vec<Wire>> {
    top_k(b, rows, rows.len(), order)
}

/// The first `k` rows of the sorted array, in order; all of them if there are fewer. No more comparisons than
/// sorting all groups of 2^⌈log2 k⌉ rows takes and n (1 + ⌈log2 k⌉ / 2) more: n - 1 for k = 1, and 5.2 n for
/// k = 10 of 1,024.
pub fn top_k(b: &mut Builder, rows: &[Vec<Wire>], k: usize, order: Order) -> Vec<Vec<Wire>> {
    b.quiet(|b| {
        width(rows);
        let keep = k.min(rows.len());
        let mut rows = rows.to_vec();
        if keep > 0 {
            for (low, high) in network::comparisons(rows.len(), keep) {
                (rows[low], rows[high]) = compare_exchange(b, &rows[low], &rows[high], order);
            }
        }
        rows.truncate(keep);
        rows
    })
}

/// The rows in order, those with equal keys in the order in which they stood. As [`sort`] with ⌈log2 n⌉ more
/// bits of key, or less.
pub fn sort_stable(b: &mut Builder, rows: &[Vec<Wire>], order: Order) -> Vec<Vec<Wire>> {
    b.quiet(|b| {
        width(rows);
        let bits = (usize::BITS - (rows.len() - 1).leading_zeros()) as usize;
        // The index, below the key: where the greatest key comes first, the smallest index must be the greatest number.
        let index = |i: usize| if order.is_descending() { !i } else { i };
        let numbered: Vec<Vec<Wire>> = rows
            .iter()
            .enumerate()
            .map(|(i, row)| [&arith::constant(index(i) as u128, bits)[..], row].concat())
            .collect();
        let sorted = sort(b, &numbered, order.widened(bits));
        sorted.into_iter().map(|row| row[bits..].to_vec()).collect()
    })
}

/// Two sorted arrays of any lengths as one (Batcher's odd-even merge). For n rows each, n log2 n + 1 comparisons of
/// k + w ANDs if n is a power of two.
pub fn merge(b: &mut Builder, x: &[Vec<Wire>], y: &[Vec<Wire>], order: Order) -> Vec<Vec<Wire>> {
    b.quiet(|b| {
        if x.is_empty() || y.is_empty() {
            return [x, y].concat();
        }
        if let ([x], [y]) = (x, y) {
            let (first, second) = compare_exchange(b, x, y, order);
            return vec![first, second];
        }
        let every_other =
            |rows: &[Vec<Wire>], from: usize| rows.iter().skip(from).step_by(2).cloned().collect::<Vec<_>>();
        let evens = merge(b, &every_other(x, 0), &every_other(y, 0), order);
        let odds = merge(b, &every_other(x, 1), &every_other(y, 1), order);
        // The first even row stays; odd row i and even row i + 1 are neighbours.
        let mut merged = vec![evens[0].clone()];
        for i in 0..odds.len().max(evens.len() - 1) {
            match (odds.get(i), evens.get(i + 1)) {
                (Some(odd), Some(even)) => {
                    let (first, second) = compare_exchange(b, odd, even, order);
                    merged.extend([first, second]);
                }
                (last, other) => merged.extend(last.or(other).cloned()),
            }
        }
        merged
    })
}

/// The rows in order, by the bitonic network, whose comparisons all have the same direction in each pass over the
/// array: for 2^t rows t (t + 1) 2^(t-2) comparisons, more than [`sort`], of which it is the better known rival.
pub fn bitonic_sort(b: &mut Builder, rows: &[Vec<Wire>], order: Order) -> Vec<Vec<Wire>> {
    b.quiet(|b| {
        width(rows);
        let mut rows = rows.to_vec();
        bitonic(b, &mut rows, order, false);
        rows
    })
}

/// Sorts halves in opposite directions and merges them. `reverse` turns the order around.
fn bitonic(b: &mut Builder, rows: &mut [Vec<Wire>], order: Order, reverse: bool) {
    if rows.len() > 1 {
        let (low, high) = rows.split_at_mut(rows.len() / 2);
        bitonic(b, low, order, !reverse);
        bitonic(b, high, order, reverse);
        bitonic_merge(b, rows, order, reverse);
    }
}

/// Sorts a bitonic array of any length: the distance is the largest power of two below the length.
fn bitonic_merge(b: &mut Builder, rows: &mut [Vec<Wire>], order: Order, reverse: bool) {
    if rows.len() < 2 {
        return;
    }
    let distance = rows.len().next_power_of_two() / 2;
    for i in 0..rows.len() - distance {
        let (first, second) = compare_exchange(b, &rows[i], &rows[i + distance], order);
        (rows[i], rows[i + distance]) = if reverse { (second, first) } else { (first, second) };
    }
    let (low, high) = rows.split_at_mut(distance);
    bitonic_merge(b, low, order, reverse);
    bitonic_merge(b, high, order, reverse);
}
