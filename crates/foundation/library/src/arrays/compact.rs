//! Moving the rows that matter to the front.
//!
//! The network is that of Sasy, Johnson and Goldberg ("Fast fully oblivious compaction and shuffling", CCS 2022): the
//! halves of an array are compacted, the second one rotated so that one exchange of row i with row i + n/2, for each i
//! below n/2, joins them. n/2 log2 n exchanges, half as many as moving each row by each bit of its distance.

use comity_circuit::{Builder, Wire};

use super::order::exchange;
use super::{Order, sort, width};
use crate::arith;

/// The rows whose flag is one, in their order, then the others in some order; and the number of flags that are one, in
/// ⌊log2 n⌋ + 1 bits. n/2 log2 n exchanges of w + 1 ANDs each, and about 2n for counting, if n is a power of two.
///
/// # Panics
/// If there are not as many flags as rows.
pub fn compact(b: &mut Builder, flags: &[Wire], rows: &[Vec<Wire>]) -> (Vec<Vec<Wire>>, Vec<Wire>) {
    b.quiet(|b| {
        width(rows);
        assert_eq!(flags.len(), rows.len(), "there is one flag for each row");
        let mut rows = rows.to_vec();
        let count = any_length(b, flags, &mut rows);
        (rows, count)
    })
}

/// One row of each key, in order and followed by rows of zeros; and the number of keys, in ⌊log2 n⌋ + 1 bits. What
/// [`sort()`] and [`compact()`] cost, and n (k + w - 1).
pub fn dedup(b: &mut Builder, rows: &[Vec<Wire>], order: Order) -> (Vec<Vec<Wire>>, Vec<Wire>) {
    b.quiet(|b| {
        let sorted = sort(b, rows, order);
        let key = |row: &[Wire]| row[..order.key()].to_vec();
        let mut flags = vec![Wire::ONE];
        flags.extend(sorted.windows(2).map(|pair| arith::ne(b, &key(&pair[0]), &key(&pair[1]))));
        let masked: Vec<Vec<Wire>> = sorted.iter().zip(&flags).map(|(row, &flag)| mask(b, flag, row)).collect();
        compact(b, &flags, &masked)
    })
}

/// The word if `keep` is one, else zero. w ANDs.
pub(super) fn mask(b: &mut Builder, keep: Wire, word: &[Wire]) -> Vec<Wire> {
    word.iter().map(|&bit| b.and(keep, bit)).collect()
}

/// Compacts any number of rows: the greatest power of two in it makes the second part, rotated so that it begins where
/// the first one ends.
fn any_length(b: &mut Builder, flags: &[Wire], rows: &mut [Vec<Wire>]) -> Vec<Wire> {
    let bits = rows.len().ilog2() as usize;
    let (first, second) = (rows.len() - (1 << bits), 1usize << bits);
    let counts = block_counts(b, &flags[first..]);
    let all = counts[bits][0].clone();
    if first == 0 {
        rotated(b, &counts, (bits, 0), rows, &vec![Wire::ZERO; bits]);
        return all;
    }
    let before = any_length(b, &flags[..first], &mut rows[..first]);
    let offset = arith::constant((second - first) as u128, bits);
    let offset = arith::add(b, &offset, &resized(&before, bits));
    rotated(b, &counts, (bits, 0), &mut rows[first..], &offset);
    // Row i of the first part is taken if it was kept.
    let kept = thermometer(b, &before);
    for i in 0..first {
        let swap = b.not(kept[i]);
        (rows[i], rows[second + i]) = exchange(b, swap, &rows[i], &rows[second + i]);
    }
    arith::add(b, &resized(&before, bits + 1), &all)
}

/// The numbers of flags that are one in each block of 2^k, in k + 1 bits, for each k.
fn block_counts(b: &mut Builder, flags: &[Wire]) -> Vec<Vec<Vec<Wire>>> {
    let mut counts: Vec<Vec<Vec<Wire>>> = vec![flags.iter().map(|&flag| vec![flag]).collect()];
    while let Some(halves) = counts.last().filter(|halves| halves.len() > 1) {
        let sums = halves.chunks(2).map(|pair| sum(b, &pair[0], &pair[1])).collect();
        counts.push(sums);
    }
    counts
}

/// The sum of two words with its carry.
pub(super) fn sum(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let (mut sum, carry) = arith::add_carry(b, x, y, Wire::ZERO);
    sum.push(carry);
    sum
}

/// Compacts block `block` of 2^k rows so that the first one kept comes to index `offset`, the next ones behind it, and
/// behind the end to the beginning.
fn rotated(
    b: &mut Builder,
    counts: &[Vec<Vec<Wire>>],
    (k, block): (usize, usize),
    rows: &mut [Vec<Wire>],
    offset: &[Wire],
) {
    if k == 0 {
        return;
    }
    let (next, swaps) = exchanges(b, offset, &counts[k - 1][2 * block]);
    let half = rows.len() / 2;
    rotated(b, counts, (k - 1, 2 * block), &mut rows[..half], &offset[..k - 1]);
    rotated(b, counts, (k - 1, 2 * block + 1), &mut rows[half..], &next);
    for (i, swap) in swaps.into_iter().enumerate() {
        (rows[i], rows[half + i]) = exchange(b, swap, &rows[i], &rows[half + i]);
    }
}

/// The exchanges of 2^k rows compacted to an offset of k bits, of whose first half `kept` are: the offset of the second
/// half, and which pairs of rows are exchanged once both halves are compacted. 2^(k-1) ANDs or less.
pub(super) fn exchanges(b: &mut Builder, offset: &[Wire], kept: &[Wire]) -> (Vec<Wire>, Vec<Wire>) {
    let top = offset.len() - 1;
    let mut end = arith::add(b, &[&offset[..top], &[Wire::ZERO]].concat(), kept);
    let wrapped = end.pop().expect("at least one bit");
    // Of the rows from `end` on those of the second half belong here, or of those before it, if just one of offset and
    // end is in the second half.
    let turned = b.xor(wrapped, offset[top]);
    let outside = b.not(turned);
    let swaps = thermometer(b, &end).into_iter().map(|before| b.xor(before, outside)).collect();
    (end, swaps)
}

/// Whether `value` is above i, for each i that has as many bits. n - log2 n - 1 ANDs for n of them.
fn thermometer(b: &mut Builder, value: &[Wire]) -> Vec<Wire> {
    value.iter().fold(vec![Wire::ZERO], |below, &bit| {
        let low: Vec<Wire> = below.iter().map(|&above| b.or(bit, above)).collect();
        let high = below.iter().map(|&above| b.and(bit, above));
        [low, high.collect()].concat()
    })
}

/// The word cut or filled up with zeros.
fn resized(word: &[Wire], bits: usize) -> Vec<Wire> {
    word.iter().copied().chain(std::iter::repeat(Wire::ZERO)).take(bits).collect()
}
