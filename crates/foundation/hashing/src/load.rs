//! The fullest bin of simple hashing.

use crate::places::FUNCTIONS;

/// The number of items that no bin exceeds, except with probability `2^-rho`, when each of `items` items goes
/// to [`FUNCTIONS`] different bins of `bins`: a union bound over the bins, in each of which the number is
/// binomial.
pub fn fullest_bin(items: usize, bins: u32, rho: u32) -> usize {
    let (n, hit) = (items as f64, FUNCTIONS as f64 / f64::from(bins));
    let target = -f64::from(rho) - f64::from(bins).log2();
    if hit >= 1.0 {
        return items;
    }
    // log2 of the chance of `k` items in a bin. What is left of the tail falls faster than the geometric
    // series of its first two terms.
    let mut term = n * (1.0 - hit).log2();
    for k in 0..items {
        let ratio = (n - k as f64) / (k as f64 + 1.0) * hit / (1.0 - hit);
        term += ratio.log2();
        // `term` is of k + 1 items, and the next ratio is less than this one.
        if ratio < 1.0 && term - (1.0 - ratio).log2() <= target {
            return k;
        }
    }
    items
}
