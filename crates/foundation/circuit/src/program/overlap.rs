//! Whether spans that move with loops and calls ever meet.
//!
//! The distance of two spans is a linear form over the turns of the loops and the indices of the calls, each in its
//! bounds; they meet if it takes a value in an interval. For the layouts that occur (strides that nest, or equal ones)
//! the search below takes a few steps; a budget bounds it for the others.

/// A variable of a linear form: its coefficient and its largest value, the smallest being 0.
#[derive(Clone, Copy, Debug)]
pub(super) struct Term {
    pub(super) factor: i128,
    pub(super) last: i128,
}

/// Steps of one search before it is given up.
const STEPS: u64 = 1000;

/// Whether `start + sum(factor * x)` can take a value from `low` to `high`. Exact where few strides cross each other;
/// true if the search is given up, after [`STEPS`] or when the budget is spent. Takes what it needs off the budget.
pub(super) fn reaches(mut start: i128, terms: &[Term], low: i128, high: i128, budget: &mut u64) -> bool {
    let mut form: Vec<Term> = terms.iter().copied().filter(|t| t.factor != 0 && t.last > 0).collect();
    for term in &mut form {
        if term.factor < 0 {
            start += term.factor * term.last;
            term.factor = -term.factor;
        }
    }
    form.sort_unstable_by_key(|t| std::cmp::Reverse(t.factor));
    let granted = STEPS.min(*budget);
    let mut steps = granted;
    let found = search(start, &form, low, high, &mut steps);
    *budget -= granted - steps;
    found
}

/// Searches for a value in the range: terms have positive factors, the largest first.
fn search(start: i128, form: &[Term], low: i128, high: i128, steps: &mut u64) -> bool {
    *steps = steps.saturating_sub(1);
    let most: i128 = form.iter().map(|t| t.factor * t.last).sum();
    let (low, high) = (low.max(start), high.min(start + most));
    let divisor = form.iter().fold(0, |d, t| gcd(d, t.factor));
    if low > high || first_congruent(low, start, divisor) > high {
        return false;
    }
    let Some((term, rest)) = form.split_first().filter(|(_, rest)| !rest.is_empty() && *steps > 0) else {
        return true;
    };
    let most = most - term.factor * term.last;
    let first = (low - most - start + term.factor - 1).div_euclid(term.factor).max(0);
    let last = (high - start).div_euclid(term.factor).min(term.last);
    (first..=last).any(|x| *steps == 0 || search(start + x * term.factor, rest, low, high, steps))
}

/// The smallest number from `low` on that is `start` modulo `divisor`; with divisor 0, `start` itself.
fn first_congruent(low: i128, start: i128, divisor: i128) -> i128 {
    if divisor == 0 { start } else { low + (start - low).rem_euclid(divisor) }
}

fn gcd(a: i128, b: i128) -> i128 {
    if b == 0 { a } else { gcd(b, a % b) }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{STEPS, Term};

    fn reaches(start: i128, terms: &[Term], low: i128, high: i128) -> bool {
        super::reaches(start, terms, low, high, &mut 10_000)
    }

    fn brute(start: i128, terms: &[Term], low: i128, high: i128) -> bool {
        match terms.split_first() {
            None => (low..=high).contains(&start),
            Some((term, rest)) => (0..=term.last).any(|x| brute(start + x * term.factor, rest, low, high)),
        }
    }

    proptest! {
        #![proptest_config(ProptestConfig { failure_persistence: None, ..ProptestConfig::with_cases(2000) })]

        #[test]
        fn small_forms_are_decided_exactly(
            start in -40i128..40, terms in prop::collection::vec((-12i128..12, 0i128..5), 0..5), low in -30i128..30,
            width in 0i128..6,
        ) {
            let terms: Vec<Term> = terms.into_iter().map(|(factor, last)| Term { factor, last }).collect();
            let high = low + width;
            prop_assert_eq!(reaches(start, &terms, low, high), brute(start, &terms, low, high));
        }
    }

    #[test]
    fn long_nested_loops_take_no_time() {
        let terms = [(1 << 24, 255), (1 << 12, 4095), (64, 63)].map(|(factor, last)| Term { factor, last });
        assert!(!reaches(32, &terms, -31, 31));
        assert!(!reaches(32, &terms, 0, 31));
        assert!(reaches(31, &terms, 0, 31));
        assert!(reaches(0, &terms, (5 << 24) + (7 << 12) + 64 * 9, (5 << 24) + (7 << 12) + 64 * 9));
    }

    #[test]
    fn what_takes_too_long_counts_as_reached() {
        // Every value is 0 or 1 modulo 3, but only trying them all would tell.
        let mut terms: Vec<Term> = (0..11).map(|i| Term { factor: 3 * (1_000_000 + i), last: 1000 }).collect();
        terms.push(Term { factor: 1, last: 1 });
        assert!(reaches(0, &terms, 9_000_000_002, 9_000_000_002));
        let mut budget = 10_000;
        assert!(super::reaches(0, &terms, 9_000_000_002, 9_000_000_002, &mut budget));
        assert_eq!(budget, 10_000 - STEPS);
        terms.pop();
        assert!(!reaches(0, &terms, 9_000_000_002, 9_000_000_002), "without the last one it is plain");
        assert!(super::reaches(1, &[], 1, 1, &mut 0));
    }
}
