//! How many rows and how many checks: computed, since a table would be right for one rho only.

use comity_core::{Error, Params, Result};

use super::CHUNKS;

/// The shape of an extension: rows, and partners that each row is checked against.
///
/// **The bound.** Say the receiver made b rows, the minority, from other choice bits than the rest. A checked pair with
/// one row on either side passes only if the receiver guessed `s` in one of the two: the rows where it guesses must
/// cover all such pairs, and c guesses are right with probability 2^-c. The cheat is worth something only if fewer than
/// kappa rows are left that are neither guessed nor in the minority, since a column's partner hides behind the bits of
/// `s` there. Partners are drawn after the rows are fixed, so for each b, and each c, the expected number of
/// sets of c rows, i of the minority and j others, that cover all pairs is
/// `C(b,i) C(l-b,j)` times the probability that no row left of either side draws one left of the other. A chunk is
/// lost with probability at most the largest over b of the sum over c of `min(1, that number) 2^-c`, where only
/// `b + j > l - kappa` counts. (With more than two kinds of rows there is a cut into two sides of which the smaller one
/// has at least a third of the rows; there all sets count.) Chunks add up.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parameters {
    pub(super) rows: usize,
    pub(super) partners: usize,
}

impl Parameters {
    /// The most rows: a column is two blocks.
    pub const MAX_ROWS: usize = 256;

    /// The fewest rows for two partners a row, since fewer partners cost many more rows, and more of them cost more
    /// hashing than the rows that they save. Only where rho is too large for [`Parameters::MAX_ROWS`] there are more.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] if no number of partners is enough.
    pub fn new(params: Params) -> Result<Parameters> {
        let kappa = params.kappa as usize;
        let target = -f64::from(params.rho) - (CHUNKS as f64).log2();
        for partners in 2..=8 {
            if log2_escape(Parameters::MAX_ROWS, partners, kappa) > target {
                continue;
            }
            // More rows are never worse.
            let (mut low, mut high) = (kappa, Parameters::MAX_ROWS);
            while low < high {
                let middle = low.midpoint(high);
                if log2_escape(middle, partners, kappa) <= target {
                    high = middle;
                } else {
                    low = middle + 1;
                }
            }
            return Ok(Parameters { rows: low, partners });
        }
        let rho = params.rho;
        Err(Error::InvalidInput(format!("rho is {rho}: this OT extension has at most 256 rows, too few for that")))
    }
}

impl Parameters {
    /// Rows of the matrix, and base OTs.
    pub fn rows(self) -> usize {
        self.rows
    }

    /// How many other rows each row is checked against.
    pub fn partners(self) -> usize {
        self.partners
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
    // That one row draws none of `n` others.
    let misses = |n: usize| choose(rows - 1 - n, partners) - choose(rows - 1, partners);
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
                let (left, right) = (minority - i, majority - j);
                let apart = match (left, right) {
                    (0, _) | (_, 0) => 0.0,
                    _ => left as f64 * misses(right) + right as f64 * misses(left),
                };
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bound_is_near_what_is_published() {
        // 192 rows with two partners are known in use for rho = 40, 190 are in the literature.
        let escape = log2_escape(192, 2, 128);
        assert!((-40.0..-38.0).contains(&escape), "{escape}");
        assert!(log2_escape(196, 2, 128) <= -40.0);
        // More of either is better.
        assert!(log2_escape(196, 3, 128) < log2_escape(196, 2, 128));
        assert!(log2_escape(210, 2, 128) < log2_escape(196, 2, 128));
    }

    #[test]
    fn parameters_grow_with_rho() {
        let rows = |rho| Parameters::new(Params::new(128, rho).expect("in range")).expect("enough rows").rows;
        let all = [rows(1), rows(20), rows(40), rows(60)];
        assert!(all.is_sorted() && all[0] >= 128, "{all:?}");
        let chosen = Parameters::new(Params::default()).expect("enough rows");
        let target = -40.0 - 11.0;
        assert!(log2_escape(chosen.rows, chosen.partners, 128) <= target);
        assert!(log2_escape(chosen.rows - 1, chosen.partners, 128) > target);
        assert_eq!(chosen, Parameters { rows: 217, partners: 2 });
        assert!(Parameters::new(Params::new(128, 128).expect("in range")).is_err());
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
                for row in 0..rows {
                    let mut drawn = Vec::new();
                    while drawn.len() < partners {
                        let other = random(rows);
                        if other != row && !drawn.contains(&other) {
                            drawn.push(other);
                        }
                    }
                    pairs.extend(drawn.into_iter().map(|other| (row, other)));
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
