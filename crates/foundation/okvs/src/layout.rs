//! `Layout`: how many columns a vector has.

/// Columns of a cluster whose entries are powers of a row's point, at most.
pub(crate) const DENSE: usize = 4;

/// Keys of an average cluster, at least, where there is more than one.
const CLUSTER: usize = 1 << 15;

/// The fewest keys that a vector is made for: the equations are fitted to no fewer.
const LEAST: usize = 1 << 10;

/// Sparse columns for each 1024 keys of a single cluster of 2^10, 2^11, ... keys and more.
const SINGLE: [usize; 6] = [1466, 1398, 1352, 1320, 1299, 1284];

/// Sparse columns for each 1024 keys of clusters that are one of many.
const MANY: usize = 1324;

/// The form of a vector: clusters, each of sparse columns and then dense ones.
///
/// **Numbers.** Peeling of `n` rows with three ones over `e n` columns leaves more than the dense columns can
/// take with probability 2^-lambda for `lambda = 2^(0.555 log2 n + 2.336) (e - 1.223) - 9.2`, which RR22
/// fitted to experiments (its equation 2 and figure 3), with at least `lambda / log2(e n) + 1` dense columns,
/// rounded down (equation 3). Here lambda is 40 for all clusters together. A test derives the tables.
///
/// *Correction.* The paper takes clusters for equally full. That a cluster has a key or a thousand more than
/// the average counts here: many clusters get 1.293 columns a key, where 1.257 would do if they were equal.
///
/// The tables hold whole numbers, so that no machine's arithmetic makes it expect a vector of another length.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Layout {
    /// Clusters, at least one.
    pub clusters: usize,
    /// Sparse columns of a cluster.
    pub sparse: usize,
    /// Dense columns of a cluster, at most four.
    pub dense: usize,
}

impl Layout {
    /// The form of a vector for `n` keys.
    pub fn of(n: usize) -> Layout {
        let n = n.max(LEAST);
        let clusters = (n / CLUSTER).max(1);
        let keys = n.div_ceil(clusters);
        let expansion = if clusters > 1 { MANY } else { SINGLE[(n.ilog2() as usize - 10).min(SINGLE.len() - 1)] };
        Layout { clusters, sparse: (keys * expansion).div_ceil(1024), dense: DENSE }
    }

    /// Columns of a cluster.
    pub fn stride(&self) -> usize {
        self.sparse + self.dense
    }

    /// Columns of a vector.
    pub fn columns(&self) -> usize {
        self.clusters * self.stride()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Equation 2: -log2 of the probability that `n` rows do not fit into `columns` columns.
    pub(crate) fn lambda(n: f64, columns: f64) -> f64 {
        (0.555 * n.log2() + 2.336).exp2() * (columns / n - 1.223) - 9.2
    }

    /// log2 of a bound on the probability that a cluster of many overflows, by Chernoff's bound for how full it is.
    fn overflow(n: f64, layout: &Layout) -> f64 {
        let (share, columns) = (1.0 / layout.clusters as f64, layout.sparse as f64);
        let (mean, mut total) = (n * share, 0.0f64);
        let mut full = mean * 0.9;
        loop {
            let part = full / n;
            let divergence = part * (part / share).log2() + (1.0 - part) * ((1.0 - part) / (1.0 - share)).log2();
            let tail = if full > mean { -n * divergence } else { 0.0 };
            let next = full + mean / 1000.0;
            let fits = lambda(next, columns).max(0.0);
            total += (tail - fits).exp2();
            if fits == 0.0 {
                return total.log2() - share.log2();
            }
            full = next;
        }
    }

    #[test]
    fn the_tables_follow_from_the_equations() {
        for n in (0..=1 << 16).chain((17..31).flat_map(|log| [(1 << log) - 1, 1 << log, (1 << log) + 12_345])) {
            let layout = Layout::of(n);
            let failure = match layout.clusters {
                1 => -lambda(n.max(LEAST) as f64, layout.sparse as f64),
                _ => overflow(n as f64, &layout),
            };
            assert!(failure <= -40.0, "{n} keys: 2^{failure}");
            // Equation 3.
            let total = 40.0 + (layout.clusters as f64).log2();
            let dense = (total / (layout.sparse as f64).log2()).floor() as usize + 1;
            assert!(dense <= layout.dense, "{n} keys: {dense} dense columns");
        }
        // No larger than they have to be.
        for (i, &columns) in SINGLE.iter().enumerate() {
            assert!(lambda(f64::from(1024 << i), (columns as f64 - 1.0) * f64::from(1 << i)) < 40.0, "{i}");
        }
    }

    #[test]
    fn vectors_of_many_keys_are_not_much_longer() {
        for n in [1 << 16, 100_000, 1 << 20, 5_000_000, 1 << 30] {
            let columns = Layout::of(n).columns() as f64 / n as f64;
            assert!((1.25..1.295).contains(&columns), "{n} keys: {columns} n columns");
        }
        assert_eq!(Layout::of(0), Layout::of(1024));
        assert_eq!(Layout::of(1 << 20).columns(), 32 * (42_368 + 4));
    }
}
