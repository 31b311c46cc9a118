//! Joining two lists on equal keys, as steps.

use comity_circuit::{ProgramBuilder, Register, Wire};

use super::sort::merge_halves;
use super::{Array, circuit, compact, map};
use crate::arith;
use crate::arrays::{Order, join};

/// The rows that two lists have in common.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Joined {
    /// Key, left payload, right payload; the joined rows come first, then rows of zeros.
    pub rows: Array,
    /// The number of joined rows, in ⌊log2 n⌋ + 1 bits.
    pub count: Register,
    /// The bit that tells whether both lists were strictly ascending. If not, nothing is joined.
    pub sorted: Register,
}

/// Joins two lists of n rows each, keys and payloads apart, whose keys are strictly ascending. Each owner sorts its own
/// list for free.
///
/// For keys of k bits and payloads of v: n log2 n + 1 comparisons of 2k + v + 2 ANDs, the compaction of n rows of
/// k + 2v, and 5n (k + v) for the rest.
///
/// # Panics
/// If the lists have no rows, or differ in shape.
pub fn join_sorted(p: &mut ProgramBuilder, keys: [Array; 2], payloads: [Array; 2]) -> Joined {
    let [(len, key), (_, payload)] = [keys[0], payloads[0]].map(|list| (list.len(), list.width()));
    for (keys, payloads) in keys.into_iter().zip(payloads) {
        let shape = (keys.len(), keys.width(), payloads.len(), payloads.width());
        assert_eq!(shape, (len, key, len, payload), "the lists have the same shape");
    }
    assert!(len > 0, "a list has at least one row");
    let sorted = ascending(p, keys);
    // The lowest bit of a key says whose it is: the left row of a pair comes first.
    let lists = [0, 1].map(|side| {
        let rows = Array::new(p, len, 1 + key + payload);
        let tag = Wire::constant(side == 1);
        let pack = circuit(p, &[key, payload], |_, v| vec![[&[tag], &v[0][..], &v[1]].concat()]);
        map(p, pack, len, &[keys[side].from(0), payloads[side].from(0)], &[rows.from(0)]);
        rows
    });
    let [even, odd] = lists;
    merge_halves(p, even, odd, Order::ascending(key + 1));
    let (flags, rows) = (Array::new(p, len, 1), Array::new(p, len, key + 2 * payload));
    // Neighbours of index 2i, 2i + 1 and 2i + 2; the last pair has no third one.
    let mut find = |neighbours: usize, times: usize, at: usize| {
        let mut widths = vec![1 + key + payload; neighbours];
        widths.push(1);
        let join = circuit(p, &widths, |b, v| {
            let (found, row) = join::joined(b, (key, payload), &v[..neighbours], v[neighbours][0]);
            vec![vec![found], row]
        });
        let mut args = vec![even.from(at), odd.from(at)];
        if neighbours == 3 {
            args.push(even.from(at + 1));
        }
        args.push((sorted.span(), 0));
        map(p, join, times, &args, &[flags.from(at), rows.from(at)]);
    };
    if len > 1 {
        find(3, len - 1, 0);
    }
    find(2, 1, len - 1);
    let count = compact(p, flags, rows);
    Joined { rows, count, sorted }
}

/// Whether the keys of both lists are strictly ascending.
fn ascending(p: &mut ProgramBuilder, keys: [Array; 2]) -> Register {
    let pairs = keys[0].len() - 1;
    let less = circuit(p, &[keys[0].width(); 2], |b, v| vec![vec![arith::ge(b, &v[0], &v[1])]]);
    let wrong = Array::new(p, 2 * pairs + 1, 1);
    if pairs > 0 {
        for (side, list) in keys.into_iter().enumerate() {
            map(p, less, pairs, &[list.from(0), list.from(1)], &[wrong.from(side * pairs)]);
        }
    }
    let none = circuit(p, &[2 * pairs + 1], |b, v| vec![vec![arith::is_zero(b, &v[0])]]);
    let sorted = p.register(1);
    p.call(none, &[wrong.register().span()], &[sorted.span()]);
    sorted
}
