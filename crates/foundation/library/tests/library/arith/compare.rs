//! Order and equality.

use comity_library::arith;

use super::{WIDTHS, check, signed};
use crate::{Random, circuit, run};

#[test]
fn comparisons_agree_with_the_machine() {
    macro_rules! compares {
        ($($name:ident $unsigned:tt $ands:expr;)*) => {$(
            check(stringify!($name), &WIDTHS, |b, x, y| vec![vec![arith::$name(b, x, y)]],
                |x, y, _| vec![u128::from(x $unsigned y)], $ands);
        )*};
    }
    compares! {
        lt < |n| n; le <= |n| n; gt > |n| n; ge >= |n| n;
        eq == |n| n - 1; ne != |n| n - 1;
    }
    macro_rules! compares_signed {
        ($($name:ident $op:tt;)*) => {$(
            check(stringify!($name), &WIDTHS, |b, x, y| vec![vec![arith::$name(b, x, y)]],
                |x, y, n| vec![u128::from(signed(x, n) $op signed(y, n))], |n| n);
        )*};
    }
    compares_signed! { lt_signed <; le_signed <=; gt_signed >; ge_signed >=; }
    check(
        "is_zero",
        &WIDTHS,
        |b, x, _| vec![vec![arith::is_zero(b, x)]],
        |x, _, _| vec![u128::from(x == 0)],
        |n| n - 1,
    );
}

#[test]
fn the_smaller_and_the_greater_cost_two_ands_a_bit() {
    // For single bits the smaller is x & y and the greater x | y: the comparison's AND is shared with the
    // selection's.
    let ands = |n: usize| 2 * n;
    let widths = &WIDTHS[1..];
    check("min", widths, |b, x, y| vec![arith::min(b, x, y)], |x, y, _| vec![x.min(y)], ands);
    check("max", widths, |b, x, y| vec![arith::max(b, x, y)], |x, y, _| vec![x.max(y)], ands);
    check(
        "min_signed",
        widths,
        |b, x, y| vec![arith::min_signed(b, x, y)],
        |x, y, n| vec![if signed(x, n) < signed(y, n) { x } else { y }],
        ands,
    );
    check(
        "max_signed",
        widths,
        |b, x, y| vec![arith::max_signed(b, x, y)],
        |x, y, n| vec![if signed(x, n) < signed(y, n) { y } else { x }],
        ands,
    );
}

#[test]
fn a_tree_compares_in_few_layers() {
    for n in (1..=33usize).chain([63, 64, 65, 100, 128]) {
        let c = circuit([n, n], |b, [x, y]| vec![vec![arith::lt_prefix(b, x, y)]]);
        assert_eq!(c.counts().and_depth, 1 + u64::from(n.ilog2()), "{n} bits");
        if n.is_power_of_two() {
            assert_eq!(c.counts().and, 3 * n as u64 - u64::from(n.ilog2()) - 2, "{n} bits");
        }
        let mut random = Random(n as u64);
        for _ in 0..8 {
            let (x, mut y) = (random.words(n), random.words(n));
            for k in 0..16 {
                y[k] = x[k] ^ (1 & x[k + 16]); // often equal, or almost
            }
            let out = run(&c, &[x, y]);
            for k in 0..64 {
                assert_eq!(out[0][k], u128::from(x[k] < y[k]), "{n} bits: {} < {}", x[k], y[k]);
            }
        }
    }
}
