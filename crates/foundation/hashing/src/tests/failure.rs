//! How seldom an item is left out.
//!
//! Items have no placement if some `s + 1` of them have all their bins among `s`. For *few* bins that is a
//! matter of a union bound, which is computed here. For a constant part of all bins the bound says nothing at
//! this load (it counts rare graphs with very many obstructions), and the chance falls exponentially in the
//! number of items: measured at small numbers.

use super::digests;
use crate::{Cuckoo, DENSE, FUNCTIONS, LEAST, ROOMY, bins, distinct};

/// log2 of a binomial coefficient.
fn choose(n: usize, k: usize) -> f64 {
    (0..k).map(|i| ((n - i) as f64 / (k - i) as f64).log2()).sum()
}

/// log2 of the expected number of sets of `s + 1` of `n` items with all bins among `s` of `bins`, summed over
/// `s` below `most`.
fn union_bound(n: usize, bins: usize, most: usize, distinct: bool) -> f64 {
    let least = if distinct { FUNCTIONS } else { 1 };
    let inside = |s: usize| match distinct {
        true => choose(s, FUNCTIONS) - choose(bins, FUNCTIONS),
        false => FUNCTIONS as f64 * (s as f64 / bins as f64).log2(),
    };
    let expected = |s: usize| (choose(n, s + 1) + choose(bins, s) + (s + 1) as f64 * inside(s)).exp2();
    (least..most).map(expected).sum::<f64>().log2()
}

#[test]
fn few_items_hardly_ever_get_in_each_others_way() {
    for n in [LEAST, 1 << 12, 1 << 16, 1 << 20] {
        for percent in [DENSE, ROOMY] {
            let bound = union_bound(n, bins(n, percent) as usize, 30, true);
            assert!(bound < -48.0, "{n} items, {percent}: 2^{bound:.1}");
        }
    }
    // Smaller tables, and bins that may be the same, are not good enough.
    let small = union_bound(1 << 8, 326, 20, false);
    assert!((-27.0..-25.0).contains(&small), "{small}");
    let same = union_bound(LEAST, bins(LEAST, ROOMY) as usize, 20, false);
    assert!((-34.0..-32.0).contains(&same), "{same}");
}

/// log2 of the part of `runs` tables for `n` items, at `percent` bins for a hundred items, that leave an item
/// out.
fn failures(percent: usize, n: usize, runs: u128) -> f64 {
    let count = (n * percent).div_ceil(100) as u32;
    let fails = |run: &u128| {
        let digests = digests((n as u128) << 64 | *run, n);
        !Cuckoo::place(n as u32, count, |item| distinct(digests[item as usize], count)).left_out().is_empty()
    };
    ((0..runs).filter(fails).count().max(1) as f64 / runs as f64).log2()
}

/// The rate falls exponentially in the number of items, faster and faster: a straight line through its
/// logarithm at two small numbers lies above it at larger ones. (With 625,000 tables of 64 items and 312,500
/// of 128 the logarithms are -11.6 and -18 at 127, with 312,500 of 128 and 156,250 of 256 they are -10.2 and
/// -16 at 120.)
#[test]
fn the_measured_rate_falls_fast_enough() {
    for (percent, [few, more], runs) in [(DENSE, [64, 128], [6_000, 24_000]), (ROOMY, [32, 64], [20_000, 60_000])] {
        let (first, second) = (failures(percent, few, runs[0]), failures(percent, more, runs[1]));
        let slope = (second - first) / (more - few) as f64;
        let extrapolated = second + slope * (LEAST - more) as f64;
        let rates =
            format!("{percent}: 2^{first:.1} at {few}, 2^{second:.1} at {more}, 2^{extrapolated:.1} at {LEAST}");
        assert!(extrapolated < -40.0, "{rates}");
        // Near what was measured at length.
        assert!((second - if percent == DENSE { -10.2 } else { -11.6 }).abs() < 1.0, "{rates}");
    }
}
