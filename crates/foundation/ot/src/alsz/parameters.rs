//! How many rows and how many checks: computed, since a table would be right for one rho only.

use comity_core::{Error, Params, Result};

use super::CHUNKS;

/// The shape of an extension: rows, and partners that each row is checked against.
///
/// **The checks** are perfect matchings of the rows, as many as each row has partners, each uniform and on its own: so
/// every row is in as many checks as any other. In 2016/602 each row draws its partners, and then some rows are
/// in few checks, where a cheat is likely to go: for the same bound that takes a fifth more checks, and the checks
/// are what this extension spends its time on.
///
/// **The bound.** Say the receiver made b rows, the minority, from other choice bits than the rest. A checked
/// pair with one row on either side passes only if the receiver guessed `s` in one of the two: the rows where
/// it guesses must cover all such pairs, and c guesses are right with probability 2^-c. The cheat is worth
/// something only if fewer than kappa rows are left that are neither guessed nor in the minority, since a
/// column's partner hides behind the bits of `s` there. Pairs are drawn after the rows are fixed, so for each
/// b, and each c, the expected number of sets of c rows, i of the minority and j others, that cover all pairs
/// is `C(b,i) C(l-b,j)` times the probability that no row left of either side is paired with one left of the
/// other. A chunk is lost with probability at most the largest over b of the sum over c of
/// `min(1, that number) 2^-c`, where only `b + j > l - kappa` counts. (With more than two kinds of rows there
/// is a cut into two sides of which the smaller one has at least a third of the rows; there all sets count.)
/// Chunks add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    pub(super) rows: usize,
    pub(super) partners: usize,
}

impl Parameters {
    /// The most rows: a column is two blocks.
    pub const MAX_ROWS: usize = 256;

    /// The fewest rows, an even number, for three partners a row: fewer partners cost many more rows, and
    /// more partners cost more hashing than the rows that they save. Only where rho is too large for
    /// [`Parameters::MAX_ROWS`] a row has more partners.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if no number of partners is enough.
    pub fn new(params: Params) -> Result<Parameters> {
        let kappa = params.kappa as usize;
        let target = -f64::from(params.rho) - (CHUNKS as f64).log2();
        for partners in 3..=8 {
            if log2_escape(Parameters::MAX_ROWS, partners, kappa) > target {
                continue;
            }
            // More rows are never worse. Halves, so that rows are even.
            let (mut low, mut high) = (kappa.div_ceil(2), Parameters::MAX_ROWS / 2);
            while low < high {
                let middle = low.midpoint(high);
                if log2_escape(2 * middle, partners, kappa) <= target {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            return Ok(Parameters { rows: 2 * low, partners });
        }
        let rho = params.rho;
        Err(Error::invalid_input(format!("rho is {rho}: this OT extension has at most 256 rows, too few for that")))
    }
}

impl Parameters {
    /// Rows of the matrix, and base OTs.
    pub fn rows(self) -> usize {
        self.rows
    }

    /// The number of other rows that each row is checked against.
    pub fn partners(self) -> usize {
        self.partners
    }

    /// The number of pairs of rows that are checked.
    pub fn pairs(self) -> usize {
        self.rows * self.partners / 2
    }
}

/// The binary logarithm of the bound for one chunk, as [`Parameters`] explains it.
fn log2_escape(rows: usize, partners: usize, kappa: usize) -> f64 {
    let logs: Vec<f64> = std::iter::once(0.0)
        .chain((1..=rows).scan(0.0, |sum, n| {
            *sum += (n as f64).log2();
            Some(*sum)
        }))
        .collect();
    let choose = |n: usize, k: usize| if k > n { f64::NEG_INFINITY } else { logs[n] - logs[k] - logs[n - k] };
    let apart = apart(rows);
    // Larger guesses than this are less likely than every target.
    let guesses = 2 * kappa;
    let escape = |minority: usize| -> f64 {
        let majority = rows - minority;
        let all = 3 * minority >= rows;
        let covers = |c: usize| -> f64 {
            let of = |i: usize| {
                let j = c - i;
                if i > minority || j > majority || !all && minority + j <= rows - kappa {
                    return 0.0;
                }
                let apart = partners as f64 * apart[minority - i][majority - j];
                (choose(minority, i) + choose(majority, j) + apart).exp2()
            };
            (0..=c).map(of).sum::<f64>().min(1.0)
        };
        let mut sum = 0.0;
        for c in 0..=guesses {
            let now = covers(c);
            sum += now * (-(c as f64)).exp2();
            // From here on every set counts in full: what is left is a geometric series.
            if now >= 1.0 {
                return sum + (-(c as f64)).exp2();
            }
        }
        sum + (-(guesses as f64)).exp2()
    };
    (1..=rows / 2).map(escape).fold(0.0, f64::max).log2()
}

/// In place `[x][y]` the binary logarithm of the probability that a uniform perfect matching of `rows` rows has no pair
/// between `x` given rows and `y` given others.
fn apart(rows: usize) -> Vec<Vec<f64>> {
    let mut logs = vec![vec![f64::NAN; rows + 1]; rows + 1];
    for y in 0..=rows {
        // With x, y and z other rows the first of the x gets its partner among the x - 1 others of its kind
        // or the z, and then the same holds for what is left. Rows of this table belong to x, two before, one
        // before and now.
        let mut before: [Vec<f64>; 3] = [vec![], vec![1.0; rows - y + 1], vec![1.0; rows - y + 1]];
        for x in 0..=rows - y {
            if x > 0 {
                let now = (0..=rows - y - x).map(|z| {
                    let two = if x > 1 { (x - 1) as f64 * before[0][z] } else { 0.0 };
                    let one = if z > 0 { z as f64 * before[1][z - 1] } else { 0.0 };
                    (two + one) / (x + y + z - 1).max(1) as f64
                });
                before[2] = now.collect();
            }
            logs[x][y] = before[2][rows - y - x].log2();
            before.rotate_left(1);
        }
    }
    logs
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_near_what_is_published() {
        // For rho = 40 the literature has 190 rows and 380 pairs, where rows draw their partners.
        let escape = log2_escape(190, 4, 128);
        assert!((-42.0..-38.0).contains(&escape), "{escape}");
        // More of either is better.
        assert!(log2_escape(190, 5, 128) < escape);
        assert!(log2_escape(196, 4, 128) < escape);
    }

    #[test]
    fn parameters_grow_with_rho() {
        let rows = |rho| Parameters::new(Params::new(128, rho).expect("in range")).expect("enough rows").rows;
        let all = [rows(1), rows(20), rows(40), rows(60)];
        assert!(all.is_sorted() && all[0] >= 128, "{all:?}");
        let chosen = Parameters::new(Params::default()).expect("enough rows");
        let target = -40.0 - 11.0;
        assert!(log2_escape(chosen.rows, chosen.partners, 128) <= target);
        assert!(log2_escape(chosen.rows - 2, chosen.partners, 128) > target);
        assert_eq!(chosen, Parameters { rows: 230, partners: 3 });
        assert!(Parameters::new(Params::new(128, 128).expect("in range")).is_err());
    }

    #[test]
    fn matchings_keep_apart_as_often_as_counted() {
        // All matchings of 8 rows, 105 of them: the first row with each other one, and so on.
        fn matchings(rows: &[usize]) -> Vec<Vec<[usize; 2]>> {
            let Some((&first, rest)) = rows.split_first() else { return vec![vec![]] };
            let with = |&other: &usize| {
                let left: Vec<usize> = rest.iter().copied().filter(|&row| row != other).collect();
                matchings(&left).into_iter().map(move |mut pairs| {
                    pairs.push([first, other]);
                    pairs
                })
            };
            rest.iter().flat_map(with).collect()
        }
        let all = matchings(&[0, 1, 2, 3, 4, 5, 6, 7]);
        let logs = apart(8);
        for (x, y) in (0..=8).flat_map(|x| (0..=8 - x).map(move |y| (x, y))) {
            let joins = |&[a, b]: &[usize; 2]| a < x && (x..x + y).contains(&b) || b < x && (x..x + y).contains(&a);
            let apart = all.iter().filter(|pairs| !pairs.iter().any(joins)).count();
            let counted = logs[x][y].exp2() * all.len() as f64;
            assert!((counted - apart as f64).abs() < 1e-6, "{x} and {y}: {counted}, not {apart}");
        }
    }

    /// Plays the cheat: which rows to guess is decided when the pairs are known, as well as possible.
    #[test]
    fn the_bound_holds_for_small_shapes() {
        // kappa is small, so that escapes are frequent enough to be counted.
        let (rows, partners, kappa) = (12, 2, 6);
        let bound = log2_escape(rows, partners, kappa).exp2();
        let mut state = 1u64;
        let mut random = |n: usize| {
            state = state.wrapping_mul(6364136223846793005).wrapping_add(1442695040888963407);
            (state >> 33) as usize % n
        };
        for minority in 1..=rows / 2 {
            let mut sum = 0.0;
            let runs = 100;
            for _ in 0..runs {
                let mut pairs = Vec::new();
                for _ in 0..partners {
                    let mut order: Vec<usize> = (0..rows).collect();
                    (1..rows).rev().for_each(|last| order.swap(last, random(last + 1)));
                    pairs.extend(order.chunks_exact(2).map(|pair| (pair[0], pair[1])));
                }
                pairs.retain(|&(a, b)| (a < minority) != (b < minority));
                // All sets of guessed rows: the fewest that cover every pair and leave fewer than kappa clean rows.
                let fewest = (0u32..1 << rows).filter(|guessed| {
                    let covered = pairs.iter().all(|&(a, b)| guessed >> a & 1 == 1 || guessed >> b & 1 == 1);
                    let clean = (minority..rows).filter(|row| guessed >> row & 1 == 0).count();
                    covered && clean < kappa
                });
                sum += fewest.map(u32::count_ones).min().map_or(0.0, |c| (-f64::from(c)).exp2());
            }
            assert!(sum / f64::from(runs) <= 1.1 * bound, "{minority}: {} > {bound}", sum / f64::from(runs));
        }
    }
}
