//! One row out of many: at a secret index, or the first in order.

use comity_circuit::{Builder, Goal, Wire};

use super::{Order, width};
use crate::arith;

/// The wires of `rows` indices: that of `index` is one, and no other. An index beyond the end gives zeros.
/// For n = 2^t rows and an index of t bits n - t - 1 ANDs, the fewest possible; otherwise at most n - 1 for
/// size, and one for each further bit of the index.
///
/// # Panics
/// If there are no rows or the index has no bits.
pub fn demux(b: &mut Builder, index: &[Wire], rows: usize) -> Vec<Wire> {
    b.quiet(|b| {
        assert!(rows > 0 && !index.is_empty(), "an array has at least one row, and an index at least one bit");
        let needed = ((usize::BITS - (rows - 1).leading_zeros()) as usize).min(index.len());
        let (low, high) = index.split_at(needed);
        let inside = if high.is_empty() { Wire::ONE } else { arith::is_zero(b, high) };
        if b.goal() == Goal::Depth {
            let mut nodes = unit(b, low, rows, inside);
            nodes.resize(rows, Wire::ZERO);
            return nodes;
        }
        // From the highest bit down; of n rows, ⌈n / 2^i⌉ have different bits from bit i on.
        let mut nodes = vec![inside];
        for (i, &bit) in low.iter().enumerate().rev() {
            let complete = nodes.len() == 1 << (needed - 1 - i);
            let last = nodes.len() - 1;
            let mut children = Vec::with_capacity(2 * nodes.len());
            let mut rest = b.and(inside, bit);
            for (n, &node) in nodes.iter().enumerate() {
                // All nodes together are `inside`: the last one's part in the bit is what the others leave.
                let one = if complete && n == last { rest } else { b.and(node, bit) };
                rest = b.xor(rest, one);
                children.extend([b.xor(node, one), one]);
            }
            children.truncate(((rows - 1) >> i) + 1);
            nodes = children;
        }
        nodes.resize(rows, Wire::ZERO);
        nodes
    })
}

/// As [`demux`], in ⌈log2 t⌉ layers for an index of t bits: the products of the wires of its halves. The XOR
/// of all wires is `inside`.
pub(crate) fn unit(b: &mut Builder, index: &[Wire], rows: usize, inside: Wire) -> Vec<Wire> {
    let Some((&top, rest)) = index.split_last() else { return vec![inside] };
    if rest.is_empty() {
        let one = b.and(top, inside);
        return vec![b.xor(one, inside), one];
    }
    let (low, high) = index.split_at(index.len() / 2);
    let low = unit(b, low, 1 << low.len(), Wire::ONE);
    let high = unit(b, high, rows.div_ceil(low.len()), inside);
    let mut products = Vec::with_capacity(high.len() * low.len());
    // In each block the last one is what the others leave; so is the last block, if all indices name a row.
    let mut left = low.clone();
    let complete = inside == Wire::ONE && rows == 1 << index.len();
    for (i, &block) in high.iter().enumerate() {
        if complete && i + 1 == high.len() {
            products.append(&mut left);
            break;
        }
        let mut rest = block;
        for (j, &wire) in low.iter().enumerate() {
            let product = if j + 1 < low.len() { b.and(block, wire) } else { rest };
            rest = b.xor(rest, product);
            left[j] = b.xor(left[j], product);
            products.push(product);
        }
    }
    products
}

/// The row at a secret index; zero if the index is beyond the end. (n - 1) w ANDs if every index names a row; where
/// some are beyond the end, w more and at most one for each bit of the index.
///
/// # Panics
/// If the index has no bits.
pub fn read(b: &mut Builder, rows: &[Vec<Wire>], index: &[Wire]) -> Vec<Wire> {
    b.quiet(|b| {
        assert!(width(rows) > 0 && !index.is_empty(), "rows and indices have at least one bit");
        let mut level = rows.to_vec();
        for &bit in index {
            let chosen = |pair: &[Vec<Wire>]| match pair {
                [zero, one] => arith::mux(b, bit, one, zero),
                _ => pair[0].clone(),
            };
            level = level.chunks(2).map(chosen).collect();
        }
        let inside = is_inside(b, index, rows.len());
        level[0].iter().map(|&bit| b.and(inside, bit)).collect()
    })
}

/// Whether an index is below `rows`. At most one AND for each bit.
pub(super) fn is_inside(b: &mut Builder, index: &[Wire], rows: usize) -> Wire {
    let last = |i: usize| (rows - 1).checked_shr(i.try_into().unwrap_or(u32::MAX)).unwrap_or(0);
    if last(index.len()) != 0 {
        return Wire::ONE;
    }
    if b.goal() == Goal::Depth {
        let last: Vec<Wire> = (0..index.len()).map(|i| Wire::constant(last(i) & 1 == 1)).collect();
        return arith::le(b, index, &last);
    }
    // Not above the last index, from the lowest bit on: where bits are equal, the lower ones decide.
    index.iter().enumerate().fold(Wire::ONE, |inside, (i, &bit)| {
        let zero = b.not(bit);
        if last(i) & 1 == 1 { b.or(zero, inside) } else { b.and(zero, inside) }
    })
}

/// The array with `word` at a secret index; as it was if the index is beyond the end. n w ANDs and those of [`demux`].
pub fn write(b: &mut Builder, rows: &[Vec<Wire>], index: &[Wire], word: &[Wire]) -> Vec<Vec<Wire>> {
    b.quiet(|b| {
        width(rows);
        let here = demux(b, index, rows.len());
        rows.iter().zip(here).map(|(row, here)| arith::mux(b, here, word, row)).collect()
    })
}

/// The row that comes first in an order. (n - 1) (k + w) ANDs.
pub fn first(b: &mut Builder, rows: &[Vec<Wire>], order: Order) -> Vec<Wire> {
    arg_first(b, rows, order).1
}

/// The index of the row that comes first, the lowest one of equals, in ⌈log2 n⌉ bits and at least 1; and the row.
/// (n - 1) (k + w) ANDs, w less if the row is not used, and n - log2 n - 1 for the index if n is a power of two.
pub fn arg_first(b: &mut Builder, rows: &[Vec<Wire>], order: Order) -> (Vec<Wire>, Vec<Wire>) {
    b.quiet(|b| {
        width(rows);
        let mut level: Vec<(Vec<Wire>, Vec<Wire>)> = rows.iter().map(|row| (Vec::new(), row.clone())).collect();
        while level.len() > 1 {
            level = level.chunks(2).map(|pair| first_of(b, pair, order)).collect();
        }
        let (mut index, row) = level.swap_remove(0);
        if index.is_empty() {
            index.push(Wire::ZERO);
        }
        (index, row)
    })
}

/// The index and the row that come first of one or two.
fn first_of(b: &mut Builder, pair: &[(Vec<Wire>, Vec<Wire>)], order: Order) -> (Vec<Wire>, Vec<Wire>) {
    let [(low, x), (high, y)] = pair else {
        let (index, row) = pair[0].clone();
        return ([index, vec![Wire::ZERO]].concat(), row);
    };
    let second = order.before(b, y, x);
    let mut index: Vec<Wire> = low.iter().zip(high).map(|(&low, &high)| b.mux(second, high, low)).collect();
    index.push(second);
    (index, arith::mux(b, second, y, x))
}

/// The index of the smallest word, the lowest one of equals. See [`arg_first`].
pub fn argmin(b: &mut Builder, words: &[Vec<Wire>]) -> Vec<Wire> {
    let order = Order::ascending(width(words));
    arg_first(b, words, order).0
}

/// The index of the greatest word, the lowest one of equals. See [`arg_first`].
pub fn argmax(b: &mut Builder, words: &[Vec<Wire>]) -> Vec<Wire> {
    let order = Order::descending(width(words));
    arg_first(b, words, order).0
}
