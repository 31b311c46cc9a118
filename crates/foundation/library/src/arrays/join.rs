//! Joining two lists on equal keys.
//!
//! A row is a key in its lowest bits and a payload above; keys are unsigned. Each row of one list meets at most one of
//! the other, and the joined row is the key, the left payload, the right payload.

use comity_circuit::{Builder, Wire};

use super::compact::mask;
use super::{Order, compact, merge, width};
use crate::arith;

/// The rows that two lists have in common.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Joined {
    /// The rows of key, left payload and right payload; the joined rows come first, then rows of zeros.
    pub rows: Vec<Vec<Wire>>,
    /// The number of joined rows.
    pub count: Vec<Wire>,
}

/// Joins two lists of any order by comparing each row of the one with each of the other. The keys of the right list
/// are unique; a left row that meets several gets the exclusive or of their payloads. The result is in the order of
/// the left list.
///
/// For n rows of w bits and m of v, keys of k: n m (v - 1) + n w ANDs, and [`compact()`] of n rows. Cheaper than
/// [`join_sorted`] for a few rows.
pub fn join_loop(b: &mut Builder, key: usize, left: &[Vec<Wire>], right: &[Vec<Wire>]) -> Joined {
    b.quiet(|b| {
        let payload = width(right) - key;
        width(left);
        let (mut rows, mut flags) = (Vec::new(), Vec::new());
        for row in left {
            let (mut matches, mut joined) = (vec![Wire::ZERO], vec![Wire::ZERO; payload]);
            for other in right {
                let equal = arith::eq(b, &row[..key], &other[..key]);
                let taken = mask(b, equal, &other[key..]);
                matches.push(equal);
                joined = joined.iter().zip(&taken).map(|(&joined, &taken)| b.xor(joined, taken)).collect();
            }
            let found = arith::tree(b, matches, Builder::or);
            rows.push([mask(b, found, row), joined].concat());
            flags.push(found);
        }
        let (rows, count) = compact(b, &flags, &rows);
        Joined { rows, count }
    })
}

/// Joins two lists whose keys are strictly ascending, by merging them. Each owner sorts its own list for free. The
/// second value says whether both lists were strictly ascending; if one is not, the result is empty.
///
/// For n rows each of keys of k bits and payloads of v: n log2 n + 1 comparisons of 2k + v + 2 ANDs, the compaction of
/// n rows of k + 2v, and 4n (k + v) for the rest. The result has as many rows as the shorter list.
pub fn join_sorted(b: &mut Builder, key: usize, left: &[Vec<Wire>], right: &[Vec<Wire>]) -> (Joined, Wire) {
    b.quiet(|b| {
        let payloads = [width(left) - key, width(right) - key];
        let payload = payloads[0].max(payloads[1]);
        let mut sorted = vec![Wire::ONE];
        for list in [left, right] {
            for pair in list.windows(2) {
                let ascending = arith::lt(b, &pair[0][..key], &pair[1][..key]);
                sorted.push(ascending);
            }
        }
        let sorted = arith::tree(b, sorted, Builder::and);
        // The lowest bit of a key says whose it is: the left row of a pair comes first.
        let tagged = |list: &[Vec<Wire>], tag: Wire| -> Vec<Vec<Wire>> {
            let fill = vec![Wire::ZERO; payload + key - width(list)];
            list.iter().map(|row| [&[tag], &row[..], &fill].concat()).collect()
        };
        let merged = merge(b, &tagged(left, Wire::ZERO), &tagged(right, Wire::ONE), Order::ascending(key + 1));
        let (mut rows, mut flags) = (Vec::new(), Vec::new());
        for i in (0..merged.len() - 1).step_by(2) {
            let (found, row) = joined(b, (key, payload), &merged[i..merged.len().min(i + 3)], sorted);
            // Behind the common key: as many bits as each payload has.
            let (keys, both) = row.split_at(key);
            rows.push([keys, &both[..payloads[0]], &both[payload..payload + payloads[1]]].concat());
            flags.push(found);
        }
        let (mut rows, mut count) = compact(b, &flags, &rows);
        let most = left.len().min(right.len());
        rows.truncate(most);
        count.truncate(most.ilog2() as usize + 1);
        (Joined { rows, count }, sorted)
    })
}

/// The joined row of two or three neighbours in the merged list, each a tag, a key and a payload: whether two have the
/// same key and `valid` is one, and the key and both payloads, or zero. No key is there three times.
pub(super) fn joined(
    b: &mut Builder,
    (key, payload): (usize, usize),
    neighbours: &[Vec<Wire>],
    valid: Wire,
) -> (Wire, Vec<Wire>) {
    let key_of = |i: usize| &neighbours[i][1..=key];
    let payload_of = |i: usize| &neighbours[i][key + 1..key + 1 + payload];
    let early = arith::eq(b, key_of(0), key_of(1));
    let (found, left, right) = match neighbours.len() {
        2 => (early, payload_of(0).to_vec(), payload_of(1).to_vec()),
        _ => {
            let late = arith::eq(b, key_of(1), key_of(2));
            let left = arith::mux(b, early, payload_of(0), payload_of(1));
            (b.xor(early, late), left, arith::mux(b, early, payload_of(1), payload_of(2)))
        }
    };
    let found = b.and(found, valid);
    (found, mask(b, found, &[key_of(1), &left, &right].concat()))
}
