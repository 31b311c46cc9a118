//! Which rows a sorting network compares, without unrolling it.
//!
//! Batcher's merge exchange (Knuth, The Art of Computer Programming 3, 5.2.2, algorithm M) for n rows: in the step of
//! distance p, a power of two going down, the rows of equal index modulo 2p form two sorted sequences, those of equal
//! index modulo p, which the step merges. Its first steps sort sequences of at most 16 rows; Green's network of 60
//! comparisons (Knuth, 5.3.4) replaces them, which has three less.
//!
//! Let the *zeros* be the rows in whose index bit p is clear, the *ones* the others, each numbered in order. Then every
//! pass of the step compares zero x with one x, or one x with zero x + s for some shift s, for all x below a bound:
//! strides are regular however many rows there are, and a pass is one call of a program.

/// Green's network for 16 rows. Without the comparisons of rows that are not there, it sorts fewer.
#[rustfmt::skip]
const GREEN: [(usize, usize); 60] = [
    (0, 1), (2, 3), (4, 5), (6, 7), (8, 9), (10, 11), (12, 13), (14, 15),
    (0, 2), (1, 3), (4, 6), (5, 7), (8, 10), (9, 11), (12, 14), (13, 15),
    (0, 4), (1, 5), (2, 6), (3, 7), (8, 12), (9, 13), (10, 14), (11, 15),
    (0, 8), (1, 9), (2, 10), (3, 11), (4, 12), (5, 13), (6, 14), (7, 15),
    (5, 10), (6, 9), (3, 12), (13, 14), (4, 8), (7, 11), (1, 2),
    (1, 4), (7, 13), (2, 8), (11, 14),
    (2, 4), (5, 6), (9, 10), (11, 13), (3, 8), (7, 12),
    (6, 8), (10, 12), (3, 5), (7, 9),
    (3, 4), (5, 6), (7, 8), (9, 10), (11, 12),
    (6, 7), (8, 9),
];

/// The comparisons that sort at most 16 rows, in order: the row that comes first goes to the first index.
pub(super) fn small(rows: usize) -> impl Iterator<Item = (usize, usize)> {
    debug_assert!(rows <= 16, "Green's network has 16 rows");
    // With 8 rows the greatest is the last one after three layers, so that the last (6, 7) has nothing to do.
    let idle = move |i: usize| rows == 8 && i == 58;
    GREEN.into_iter().enumerate().filter(move |&(i, (_, high))| high < rows && !idle(i)).map(|(_, pair)| pair)
}

/// The number of columns: the rows of equal index modulo this number, at most 16, are sorted by [`small`].
pub(super) fn columns(rows: usize) -> usize {
    (rows.next_power_of_two() / 16).max(1)
}

/// The numbers of zeros and of ones among `rows` rows at distance `p`.
pub(super) fn halves(rows: usize, p: usize) -> (usize, usize) {
    let zeros = rows / (2 * p) * p + (rows % (2 * p)).min(p);
    (zeros, rows - zeros)
}

/// A pass of independent comparisons: for all x below `times`, of zero x with one x if the shift is 0, or else of one x
/// with zero x + shift.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct Pass {
    pub(super) shift: usize,
    pub(super) times: usize,
}

/// The passes of the step of distance `p` over `rows` rows, when only the first `keep` are wanted afterwards.
pub(super) fn passes(rows: usize, p: usize, keep: usize) -> Vec<Pass> {
    let (zeros, ones) = halves(rows, p);
    // From the last pass to the first: a comparison is needed if one of its rows is, and then needs both.
    let (mut needed_zeros, mut needed_ones) = halves(keep, p);
    let mut passes = Vec::new();
    let mut shift = p;
    while shift < zeros {
        // No more than `shift` zeros are needed beyond the ones.
        let times = needed_ones.min(ones).min(zeros - shift);
        if times > 0 {
            passes.push(Pass { shift, times });
            (needed_zeros, needed_ones) = (needed_zeros.max(times + shift), needed_ones.max(times));
        }
        shift *= 2;
    }
    let times = needed_zeros.max(needed_ones).min(ones);
    if times > 0 {
        passes.push(Pass { shift: 0, times });
    }
    passes.reverse();
    passes
}

/// All comparisons, by index and in order, after which the first `keep` of `rows` rows are those of the sorted array.
pub(super) fn comparisons(rows: usize, keep: usize) -> Vec<(usize, usize)> {
    let columns = columns(rows);
    let mut all = Vec::new();
    for column in 0..columns.min(rows) {
        let height = (rows - column).div_ceil(columns);
        all.extend(small(height).map(|(low, high)| (low * columns + column, high * columns + column)));
    }
    let (mut p, mut rows) = (columns, rows);
    while p > 1 {
        // No more than `keep` rows of each sorted sequence are among the first.
        rows = rows.min(keep.saturating_mul(p));
        p /= 2;
        let index = |half: usize, x: usize| x / p * 2 * p + half * p + x % p;
        for Pass { shift, times } in passes(rows, p, keep.saturating_mul(p).min(rows)) {
            all.extend((0..times).map(|x| match shift {
                0 => (index(0, x), index(1, x)),
                _ => (index(1, x), index(0, x + shift)),
            }));
        }
    }
    all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Whether the network sorts: by the 0-1 principle it does if it sorts all sequences of zeros and ones, 64 of them
    /// at once.
    fn sorts(rows: usize, keep: usize) -> bool {
        let network = comparisons(rows, keep);
        (0..1u64 << rows).step_by(64).all(|start| {
            let mut values: Vec<u64> = (0..rows)
                .map(|i| (0..64.min(1 << rows)).fold(0, |word, k| word | ((start + k) >> i & 1) << k))
                .collect();
            for &(low, high) in &network {
                assert!(low < high);
                (values[low], values[high]) = (values[low] & values[high], values[low] | values[high]);
            }
            let ordered = values[..keep].windows(2).all(|pair| pair[0] & !pair[1] == 0);
            let least = values[keep..].iter().all(|rest| values[keep - 1] & !rest == 0);
            ordered && least
        })
    }

    #[test]
    fn networks_sort_by_the_zero_one_principle() {
        for rows in 1..=17 {
            assert!((1..=rows).all(|keep| sorts(rows, keep)), "{rows} rows");
        }
        for keep in [1, 2, 3, 5, 8, 19, 20] {
            assert!(sorts(20, keep), "20 rows, {keep} kept");
        }
    }

    #[test]
    fn there_are_no_more_comparisons_than_in_merge_exchange() {
        // (t^2 - t + 4) 2^(t-2) - 1 for 2^t rows, less three for each sequence of 16.
        for t in 4..=12 {
            let (rows, saved) = (1 << t, 3 << (t - 4));
            assert_eq!(comparisons(rows, rows).len(), (t * t - t + 4) * (1 << (t - 2)) - 1 - saved);
        }
        for (rows, fewest) in [(1, 0), (2, 1), (3, 3), (4, 5), (5, 9), (6, 12), (7, 16), (8, 19), (15, 56), (16, 60)] {
            assert_eq!(comparisons(rows, rows).len(), fewest, "{rows} rows");
        }
    }
}
