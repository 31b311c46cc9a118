//! How many leaky bits make a key that does not leak: `tau` of figures 9 to 12.
//!
//! **What has to be bounded.** The peer offers `T = 2 tau` seed OTs, in each of which it may use another `Gamma_i`:
//! colour the OTs by it. They are paired at random when the colours can no longer change. A pair of two colours makes
//! the peer guess one of our choice bits, and so with `m` pairs of two colours the check of figure 12 passes with
//! probability `2^-m`; the peer then knows `m` of the `tau` bits that we keep. Call the colour of most kept pairs the
//! right `Gamma`. Bits of pairs that both have another colour are not known to the peer, but they are authenticated
//! under another delta, and we count them as known too. With `s` pairs of the right colour at least `s` bits of `y` are
//! left that are uniform for the peer. From them the matrix of figure 9, `psi x tau` and drawn after that,
//! makes `psi` uniform bits unless its `s` columns have a smaller rank than `psi`, which happens with
//! probability at most `2^(psi - s)`. So the protocol fails with probability at most
//!
//! ```text
//! max over colourings of  E over pairings [ 2^-m min(1, 2^(psi - s)) ].
//! ```
//!
//! **What was corrected.** The paper states leakage by the *expected* number of bits that stay secret: three quarters
//! of `tau`, and from that `tau = 22 psi / 3` (theorems 2 and 4). An expectation bounds no probability: leakage of
//! everything with probability `2^-20` hardly changes it. What follows stands on its own, and does not rest on the
//! corrected analysis of Burra et al. (ePrint 2015/472) either. We bound the probability of failure itself, exactly:
//!
//! **Two colours are enough.** Joining colours never makes `m` larger.
//! - If some colour has at least half of the OTs, join all others: `k <= tau` OTs of a second colour. `m` and `s` are
//!   then given by the pairing of two colours, and the expectation is a finite sum.
//! - Else leave `s` aside. Colours can be put into two groups, each of at least a third of the OTs: the largest colour
//!   alone, if it is so large, or small ones until a third is reached, which is then no more than two thirds. Failure
//!   is at most `E[2^-m]` of those two groups.
//!
//! `m` of `k` and `T - k` OTs has weights with `w(m+2) / w(m) = (k - m)(T - k - m) / ((m + 1)(m + 2))`. [`failure`] is
//! the largest of both cases over all `k`, and [`tau`] the smallest multiple of 8 for which it is small enough. It is
//! computed by sums, products and quotients of doubles alone, so that both parties get the same; the error is below
//! 2^-40 of the result.
//!
//! The failure is one of a single run, which nobody can repeat offline: the pairing and the matrix come from us, after
//! the peer's messages. So it is measured by rho, not kappa; the key itself has kappa bits. For kappa = 128, and 2^-64
//! for a session, `tau` is 208 where the paper has 939; were 2^-128 wanted, as in the paper, it would be 344.

/// The paper's `tau` for keys of `psi` bits (theorem 2), for comparison.
pub const fn published(psi: usize) -> usize {
    (22 * psi).div_ceil(3)
}

/// The smallest multiple of 8 with which a run fails with probability at most `2^-bits`, for keys of `psi` bits.
pub fn tau(psi: usize, bits: u32) -> usize {
    let enough = 0.5f64.powi(bits as i32);
    let mut tau = (psi + bits as usize).next_multiple_of(8);
    while failures(psi, tau).any(|failure| failure > enough) {
        tau += 8;
    }
    tau
}

/// The bound of the module's page: the probability that a peer learns something of a key of `psi` bits from `tau` bits.
pub fn failure(psi: usize, tau: usize) -> f64 {
    failures(psi, tau).fold(0.0, f64::max)
}

/// The probability of failure in each case.
fn failures(psi: usize, tau: usize) -> impl Iterator<Item = f64> {
    let amplified = move |kept: usize| if kept >= psi { 0.5f64.powi((kept - psi) as i32) } else { 1.0 };
    let one = (0..=tau).map(move |k| expectation(tau, k, amplified));
    let none = ((2 * tau).div_ceil(3)..=tau).map(move |k| expectation(tau, k, |_| 1.0));
    one.chain(none)
}

/// The expectation of `2^-m f(s)` where `k <= tau` of `2 tau` OTs have the second colour, `m` is the number of pairs
/// with both and `s` of those with the first alone.
pub(super) fn expectation(tau: usize, k: usize, f: impl Fn(usize) -> f64) -> f64 {
    let other = 2 * tau - k;
    let (mut weight, mut sum, mut all) = (1.0, 0.0, 0.0);
    for m in (k % 2..=k).step_by(2) {
        all += weight;
        sum += weight * 0.5f64.powi(m as i32) * f((other - m) / 2);
        weight *= ((k - m) * (other - m)) as f64 / ((m + 1) * (m + 2)) as f64;
    }
    sum / all
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The sum of `f(m, s)` over all pairings of OTs with these colours, where `s` is the largest number of pairs of
    /// one colour, and how many pairings there are.
    fn pairings(colours: &mut Vec<usize>, m: i32, same: &mut [usize], f: &impl Fn(i32, usize) -> f64) -> (f64, f64) {
        let Some(first) = colours.pop() else { return (f(m, same.iter().copied().max().unwrap_or(0)), 1.0) };
        let (mut sum, mut count) = (0.0, 0.0);
        for i in 0..colours.len() {
            let second = colours.remove(i);
            let equal = first == second;
            same[first] += usize::from(equal);
            let (s, n) = pairings(colours, m + i32::from(!equal), same, f);
            same[first] -= usize::from(equal);
            colours.insert(i, second);
            (sum, count) = (sum + s, count + n);
        }
        colours.push(first);
        (sum, count)
    }

    #[test]
    fn no_colouring_beats_the_bound() {
        // All colourings of 8 and 10 OTs, up to order: partitions of their number.
        fn partitions(n: usize, most: usize) -> Vec<Vec<usize>> {
            if n == 0 {
                return vec![Vec::new()];
            }
            let with =
                |part: usize| partitions(n - part, part).into_iter().map(move |rest| [vec![part], rest].concat());
            (1..=most.min(n)).flat_map(with).collect()
        }
        for (tau, psi) in [(4, 1), (4, 2), (5, 2), (5, 3)] {
            let bound = failure(psi, tau);
            let mut best: f64 = 0.0;
            for sizes in partitions(2 * tau, 2 * tau) {
                let mut colours = sizes.iter().enumerate().flat_map(|(i, &size)| vec![i; size]).collect();
                let f = |m: i32, s: usize| 0.5f64.powi(m) * 0.5f64.powi(s.saturating_sub(psi) as i32);
                let (sum, count) = pairings(&mut colours, 0, &mut vec![0; sizes.len()], &f);
                assert!(sum / count <= bound * (1.0 + 1e-9), "{sizes:?}: {} of {bound}", sum / count);
                best = best.max(sum / count);
            }
            assert!(best > bound / 4.0, "{tau}, {psi}: {best} of {bound}");
        }
    }

    #[test]
    fn two_colours_have_the_right_weights() {
        for (tau, k) in [(4, 3), (4, 4), (5, 2)] {
            let mut colours: Vec<usize> = (0..2 * tau).map(|i| usize::from(i < k)).collect();
            let (sum, count) = pairings(&mut colours, 0, &mut [0; 2], &|m, _| 0.5f64.powi(m));
            assert!((sum / count - expectation(tau, k, |_| 1.0)).abs() < 1e-12);
        }
    }

    #[test]
    fn the_rank_is_full_as_often_as_the_bound_says() {
        // All 2 x 3 matrices: 42 of 64 have rank 2; the bound gives a failure of at most one half.
        let full = (0u32..64).filter(|m| {
            let (a, b) = (m & 7, m >> 3);
            a != 0 && b != 0 && a != b
        });
        assert!(1.0 - full.count() as f64 / 64.0 <= 0.5);
    }

    #[test]
    fn values() {
        assert_eq!((published(128), published(120)), (939, 880));
        assert_eq!([40, 48, 60, 64, 128].map(|bits| tau(128, bits)), [176, 184, 200, 208, 344]);
        for bits in [1, 20, 40, 90] {
            let tau = tau(128, bits);
            assert!(failure(128, tau) <= 0.5f64.powi(bits as i32) && failure(128, tau - 8) > 0.5f64.powi(bits as i32));
        }
    }
}
