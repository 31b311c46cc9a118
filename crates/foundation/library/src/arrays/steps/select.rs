//! One row out of many, and prefixes, as steps.

use comity_circuit::{CircuitId, Goal, ProgramBuilder, Register};

use super::{Array, circuit, map};
use crate::arith;
use crate::arrays::{self, Order};

/// The row at a secret index; zero if the index is beyond the end. (n - 1) w ANDs if every index names a row,
/// and otherwise w and one for each bit of the index more; n w ANDs are done in ⌈log2 n⌉ layers. The array is
/// overwritten.
///
/// # Panics
/// If there are no rows, or the index has fewer bits than it takes to name them all.
pub fn read(p: &mut ProgramBuilder, rows: Array, index: Register) -> Register {
    let (len, width, bits) = (rows.len(), rows.width(), index.bits() as usize);
    check_index(len, bits);
    let choose = circuit(p, &[1, width, width], |b, v| vec![arith::mux(b, v[0][0], &v[2], &v[1])]);
    // By the highest bit first: row i or row i + 2^bit, if there is one.
    let mut left = len;
    while left > 1 {
        let half = left.next_power_of_two() / 2;
        let select = (index.slice(half.ilog2().into(), 1).span(), 0);
        map(p, choose, left - half, &[select, rows.from(0), rows.from(half)], &[rows.from(0)]);
        left = half;
    }
    let found = p.register(width as u64);
    let inside = circuit(p, &[bits, width], |b, v| {
        let inside = arrays::select::is_inside(b, &v[0], len);
        vec![v[1].iter().map(|&bit| b.and(inside, bit)).collect()]
    });
    p.call(inside, &[index.span(), rows.row(0).span()], &[found.span()]);
    found
}

/// Puts `word` at a secret index of the array; an index beyond the end changes nothing. n w ANDs and at most n - 1.
///
/// # Panics
/// If there are no rows, the index has fewer bits than it takes to name them all, or the word is no row.
pub fn write(p: &mut ProgramBuilder, rows: Array, index: Register, word: Register) {
    let (len, width, bits) = (rows.len(), rows.width(), index.bits() as usize);
    check_index(len, bits);
    assert_eq!(word.bits(), width as u64, "the word is as wide as a row");
    let here = demux(p, index, len);
    let replace = circuit(p, &[1, width, width], |b, v| vec![arith::mux(b, v[0][0], &v[1], &v[2])]);
    map(p, replace, len, &[here.from(0), (word.span(), 0), rows.from(0)], &[rows.from(0)]);
}

fn check_index(len: usize, bits: usize) {
    let named = u32::try_from(bits).ok().and_then(|bits| 1usize.checked_shl(bits)).unwrap_or(usize::MAX);
    assert!(len > 0 && bits > 0 && len <= named, "an index of {bits} bits names each of {len} rows");
}

/// The largest number of wires that one circuit makes of an index.
const DEMUX: usize = 64;

/// The bits of `len` indices: that of `index` is one.
fn demux(p: &mut ProgramBuilder, index: Register, len: usize) -> Array {
    // The highest bits by one circuit, then one bit at a time.
    let low = len.div_ceil(DEMUX).next_power_of_two().ilog2() as usize;
    let bits = index.bits() as usize;
    let nodes = len.div_ceil(1 << low);
    let top = circuit(p, &[bits - low], |b, v| vec![arrays::demux(b, &v[0], nodes)]);
    let mut level = Array::new(p, nodes, 1);
    p.call(top, &[index.slice(low as u64, (bits - low) as u64).span()], &[level.register().span()]);
    let split = circuit(p, &[1, 1], |b, v| {
        let one = b.and(v[0][0], v[1][0]);
        vec![vec![b.xor(v[0][0], one)], vec![one]]
    });
    let zero = circuit(p, &[1, 1], |b, v| {
        let one = b.and(v[0][0], v[1][0]);
        vec![vec![b.xor(v[0][0], one)]]
    });
    for bit in (0..low).rev() {
        let next = Array::new(p, len.div_ceil(1 << bit), 1);
        let select = (index.slice(bit as u64, 1).span(), 0);
        let pairs = next.len() / 2;
        map(p, split, pairs, &[level.from(0), select.clone()], &[next.every(0, 2), next.every(1, 2)]);
        if next.len() % 2 == 1 {
            map(p, zero, 1, &[level.still(pairs), select], &[next.still(2 * pairs)]);
        }
        level = next;
    }
    level
}

/// The index of the row that comes first, the lowest one of equals, in ⌈log2 n⌉ bits and at least 1; and the row.
///
/// # Panics
/// If there are no rows.
pub fn arg_first(p: &mut ProgramBuilder, rows: Array, order: Order) -> (Register, Register) {
    assert!(!rows.is_empty(), "an array has at least one row");
    let width = rows.width();
    let mut best = rows;
    // Indices among the rows that each one stands for; none needs a bit at first.
    let mut indices = Array::new(p, rows.len(), 0);
    while best.len() > 1 {
        let (pairs, bits) = (best.len() / 2, indices.width());
        let better = circuit(p, &[width, width, bits, bits], |b, v| {
            let second = order.before(b, &v[1], &v[0]);
            let mut index: Vec<_> = v[2].iter().zip(&v[3]).map(|(&low, &high)| b.mux(second, high, low)).collect();
            index.push(second);
            vec![arith::mux(b, second, &v[1], &v[0]), index]
        });
        let next = (Array::new(p, best.len().div_ceil(2), width), Array::new(p, best.len().div_ceil(2), bits + 1));
        let pair = [best.every(0, 2), best.every(1, 2), indices.every(0, 2), indices.every(1, 2)];
        map(p, better, pairs, &pair, &[next.0.from(0), next.1.from(0)]);
        if best.len() % 2 == 1 {
            // The last one is first of itself; the new bit of its index stays zero.
            p.copy(&best.row(2 * pairs).span(), &next.0.row(pairs).span());
            p.copy(&indices.row(2 * pairs).span(), &next.1.row(pairs).slice(0, bits as u64).span());
        }
        (best, indices) = next;
    }
    let index = if indices.width() == 0 { p.register(1) } else { indices.row(0) };
    (index, best.row(0))
}

/// Replaces each row by what `together`, a circuit from two rows to one, makes of all rows up to it. n - 1 calls, one
/// after another; in a program for depth ⌈log2 n⌉ one after another, and n/2 log2 n in all.
pub fn prefix(p: &mut ProgramBuilder, rows: Array, together: CircuitId) {
    if p.goal() == Goal::Depth {
        return prefix_in_layers(p, rows, together);
    }
    if rows.len() > 1 {
        let stride = rows.width() as i64;
        p.repeat(rows.len() as u64 - 1, |p, turn| {
            let at = |i: usize| rows.row(i).span().moving(turn, stride);
            p.call(together, &[at(0), at(1)], &[at(1)]);
        });
    }
}

/// Prefixes by doubling: of each block of rows, the first half's last one goes to all of the second half. The
/// calls of a level are one step; what brings their rows side by side has no gates.
fn prefix_in_layers(p: &mut ProgramBuilder, rows: Array, together: CircuitId) {
    let (len, width) = (rows.len(), rows.width());
    let copy = circuit(p, &[width], |_, v| v.to_vec());
    let [last, second] = [(); 2].map(|()| Array::new(p, len.div_ceil(2), width));
    let mut half = 1;
    while half < len {
        // Whole blocks, and one whose second half is cut off.
        let (blocks, rest) = (len / (2 * half), (len % (2 * half)).saturating_sub(half));
        let groups = [(0, blocks, half), (blocks, 1, rest)].into_iter().filter(|&(_, count, size)| count * size > 0);
        for (block, count, size) in groups.clone() {
            let (from, to) = ((2 * block + 1) * half, block * half);
            grid(p, copy, (count, size), (rows, from - 1, [2 * half, 0]), (last, to, [half, 1]));
            grid(p, copy, (count, size), (rows, from, [2 * half, 1]), (second, to, [half, 1]));
        }
        map(p, together, blocks * half + rest, &[last.from(0), second.from(0)], &[second.from(0)]);
        for (block, count, size) in groups {
            let (from, to) = (block * half, (2 * block + 1) * half);
            grid(p, copy, (count, size), (second, from, [half, 1]), (rows, to, [2 * half, 1]));
        }
        half *= 2;
    }
}

/// Copies `count` times `size` rows: each place is an array, the first index, and the steps of the outer and the inner
/// count.
fn grid(
    p: &mut ProgramBuilder,
    copy: CircuitId,
    (count, size): (usize, usize),
    from: (Array, usize, [usize; 2]),
    to: (Array, usize, [usize; 2]),
) {
    let (turns, times) = (count.min(size) as u64, count.max(size) as u64);
    p.repeat(turns, |p, turn| {
        let [from, to] = [from, to].map(|(array, first, [outer, inner])| {
            let (by_turn, by_call) = if count < size { (outer, inner) } else { (inner, outer) };
            let (span, call) = array.every(first, by_call);
            (span.moving(turn, (by_turn * array.width()) as i64), call)
        });
        p.map(copy, times, &[from], &[to]);
    });
}
