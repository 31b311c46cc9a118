//! What a thief of the codes recovers: the published attacks, run on one's own column.
//!
//! M. Naveed, S. Kamara, C. Wright, Inference attacks on property-preserving encrypted databases (CCS 2015),
//! section 5: the *sorting* attack for a column in which every value of the domain occurs, and the
//! *cumulative* attack, which matches frequencies and cumulative frequencies with those of public data by a
//! linear assignment. Where no two codes are equal there are no frequencies, and each row is matched by its
//! rank alone.

/// A thief's guess, compared with the truth.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Recovered {
    /// Rows whose value was guessed right.
    pub rows: u64,
    /// All rows.
    pub of: u64,
}

/// The leakage of a column: its codes, and public data.
pub struct Leakage {
    /// Rows of each code and their value, in the order of codes.
    codes: Vec<(u64, u128)>,
    /// The public data: values in order, and how often each occurs.
    public: Vec<(u128, u64)>,
}

/// The most distinct codes or values for which an assignment is computed. With more it would take too long,
/// and ranks are matched.
pub const MOST: usize = 600;

impl Leakage {
    /// The leakage of a column, given the code and the value of each row. A thief sees the codes alone, and
    /// has public data: values and how often each occurs.
    pub fn new(mut rows: Vec<(u128, u128)>, public: impl IntoIterator<Item = (u128, u64)>) -> Leakage {
        rows.sort_unstable();
        let codes = rows.chunk_by(|one, two| one.0 == two.0).map(|run| (run.len() as u64, run[0].1)).collect();
        let mut counts = std::collections::BTreeMap::new();
        public
            .into_iter()
            .filter(|(_, count)| *count > 0)
            .for_each(|(value, count)| *counts.entry(value).or_insert(0) += count);
        Leakage { codes, public: counts.into_iter().collect() }
    }

    fn total(&self) -> u64 {
        self.codes.iter().map(|code| code.0).sum()
    }

    /// The values guessed for the codes, in order, held against the truth.
    fn judge(&self, guesses: impl Iterator<Item = u128>) -> Recovered {
        let right = self.codes.iter().zip(guesses).filter(|((_, truth), guess)| truth == guess);
        Recovered { rows: right.map(|((count, _), _)| count).sum(), of: self.total() }
    }

    /// The sorting attack; `None` where it does not apply, since the numbers of codes and of public values
    /// differ.
    pub fn sorting(&self) -> Option<Recovered> {
        (self.codes.len() == self.public.len()).then(|| self.judge(self.public.iter().map(|value| value.0)))
    }

    /// The cumulative attack; `None` where there are more codes than public values, or too many of either.
    pub fn cumulative(&self) -> Option<Recovered> {
        if self.codes.is_empty() || self.codes.len() > self.public.len() || self.public.len() > MOST {
            return None;
        }
        let one = shares(self.codes.iter().map(|code| code.0));
        let two = shares(self.public.iter().map(|value| value.1));
        let cost = |i: usize, j: usize| (one[i].0 - two[j].0).abs() + (one[i].1 - two[j].1).abs();
        let matched = assign(one.len(), two.len(), cost);
        Some(self.judge(matched.into_iter().map(|j| self.public[j].0)))
    }

    /// The attack by ranks: each row is guessed to have the public value of the same quantile.
    pub fn ranks(&self) -> Recovered {
        let public = shares(self.public.iter().map(|value| value.1));
        let codes = shares(self.codes.iter().map(|code| code.0));
        let guesses = codes.iter().map(|(own, below)| {
            let middle = below - own / 2.0;
            let at = public.partition_point(|(_, share)| *share < middle);
            self.public.get(at.min(self.public.len().saturating_sub(1))).map_or(u128::MAX, |value| value.0)
        });
        self.judge(guesses)
    }
}

/// The share of each count in all, and that of all counts up to it.
fn shares(counts: impl Iterator<Item = u64> + Clone) -> Vec<(f64, f64)> {
    let total: u64 = counts.clone().sum();
    let mut sum = 0;
    counts
        .map(|count| {
            sum += count;
            (count as f64 / total as f64, sum as f64 / total as f64)
        })
        .collect()
}

/// The cheapest way to give each of `rows` a column of its own, of at least as many: the Hungarian method
/// with potentials.
fn assign(rows: usize, columns: usize, cost: impl Fn(usize, usize) -> f64) -> Vec<usize> {
    // Row and column 0 stand for none.
    let (mut u, mut v) = (vec![0.0; rows + 1], vec![0.0; columns + 1]);
    let mut row_of = vec![0; columns + 1];
    for row in 1..=rows {
        row_of[0] = row;
        let (mut least, mut from) = (vec![f64::INFINITY; columns + 1], vec![0; columns + 1]);
        let mut done = vec![false; columns + 1];
        let mut at = 0;
        while row_of[at] != 0 {
            done[at] = true;
            let (i, mut delta, mut next) = (row_of[at], f64::INFINITY, 0);
            for j in (1..=columns).filter(|j| !done[*j]) {
                let reduced = cost(i - 1, j - 1) - u[i] - v[j];
                if reduced < least[j] {
                    (least[j], from[j]) = (reduced, at);
                }
                if least[j] < delta {
                    (delta, next) = (least[j], j);
                }
            }
            for j in 0..=columns {
                if done[j] {
                    u[row_of[j]] += delta;
                    v[j] -= delta;
                } else {
                    least[j] -= delta;
                }
            }
            at = next;
        }
        while at != 0 {
            row_of[at] = row_of[from[at]];
            at = from[at];
        }
    }
    let mut columns_of = vec![0; rows];
    (1..=columns).filter(|j| row_of[*j] != 0).for_each(|j| columns_of[row_of[j] - 1] = j - 1);
    columns_of
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    /// The cost of the cheapest assignment, found by trying every one.
    fn least(cost: &[Vec<f64>], row: usize, used: u32) -> f64 {
        if row == cost.len() {
            return 0.0;
        }
        let free = (0..cost[row].len()).filter(|j| used >> j & 1 == 0);
        free.map(|j| cost[row][j] + least(cost, row + 1, used | 1 << j)).fold(f64::INFINITY, f64::min)
    }

    proptest! {
        #[test]
        fn the_assignment_is_the_cheapest(rows in 1..5usize, more in 0..3usize, costs in prop::collection::vec(0..100u32, 35)) {
            let cost: Vec<Vec<f64>> = (0..rows).map(|i| (0..rows + more).map(|j| f64::from(costs[7 * i + j])).collect()).collect();
            let assigned = assign(rows, rows + more, |i, j| cost[i][j]);
            let found: f64 = assigned.iter().enumerate().map(|(i, j)| cost[i][*j]).sum();
            prop_assert!((found - least(&cost, 0, 0)).abs() < 1e-9);
            let distinct: std::collections::BTreeSet<_> = assigned.iter().collect();
            prop_assert_eq!(distinct.len(), rows);
        }
    }

    #[test]
    fn a_dense_column_is_recovered_by_sorting() {
        let rows = (0..1000u128).map(|i| (1000 + 7 * (i % 50), i % 50)).collect();
        let leakage = Leakage::new(rows, (0..50).map(|value| (value, 1)));
        assert_eq!(leakage.sorting(), Some(Recovered { rows: 1000, of: 1000 }));
        assert_eq!(leakage.ranks(), Recovered { rows: 1000, of: 1000 });
    }

    /// Values that are absent defeat sorting; with frequencies the assignment still finds most.
    #[test]
    fn a_sparse_column_is_recovered_by_frequencies() {
        let count = |value: u128| 5 + (value * value * 31) % 97;
        let rows = (0..40u128)
            .filter(|value| value % 10 != 3)
            .flat_map(|value| (0..count(value)).map(move |_| (value + 500, value)));
        let leakage = Leakage::new(rows.collect(), (0..40).map(|value| (value, count(value) as u64 * 10)));
        assert_eq!(leakage.sorting(), None);
        let recovered = leakage.cumulative().unwrap();
        assert!(2 * recovered.rows > recovered.of, "{recovered:?}");
    }

    #[test]
    fn distinct_codes_leave_ranks() {
        let rows = (0..1000u128).map(|i| (i + 1, i / 10)).collect();
        let leakage = Leakage::new(rows, (0..100).map(|value| (value, 3)));
        assert_eq!((leakage.sorting(), leakage.cumulative()), (None, None));
        assert_eq!(leakage.ranks(), Recovered { rows: 1000, of: 1000 });
        let nothing = Leakage::new(vec![(1, 1)], []);
        assert_eq!(nothing.ranks(), Recovered { rows: 0, of: 1 });
    }
}
