//! Arithmetic: all operands of small widths, random ones of others, and the stated AND counts.

mod add;
mod bits;
mod compare;
mod divide;
mod modular;
mod mul;

use comity_circuit::{Builder, Wire};

use crate::{Random, all_pairs, circuit, run};

type Binary = fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Vec<Wire>>;
type Word = fn(&mut Builder, &[Wire], &[Wire]) -> Vec<Wire>;
type Expected = fn(u128, u128, usize) -> Vec<u128>;

fn mask(n: usize) -> u128 {
    u128::MAX >> (128 - n)
}

fn signed(x: u128, n: usize) -> i128 {
    (x as i128) << (128 - n) >> (128 - n)
}

/// Checks an operation on two words of width n: all operands for n up to 4, random ones for others. The circuit must
/// have `ands(n)` AND gates.
fn check(name: &str, widths: &[usize], build: Binary, expected: Expected, ands: fn(usize) -> usize) {
    let mut random = Random(7);
    for &n in widths {
        let c = circuit([n, n], |b, [x, y]| build(b, x, y));
        assert_eq!(c.counts().and, ands(n) as u64, "{name}{n}: ANDs");
        let batches = if n <= 4 { all_pairs(n) } else { (0..4).map(|_| [random.words(n), random.words(n)]).collect() };
        for [x, y] in batches {
            let out = run(&c, &[x, y]);
            for k in 0..64 {
                let got: Vec<u128> = out.iter().map(|value| value[k]).collect();
                assert_eq!(got, expected(x[k], y[k], n), "{name}{n}({}, {})", x[k], y[k]);
            }
        }
    }
}

const WIDTHS: [usize; 12] = [1, 2, 3, 4, 5, 7, 8, 16, 31, 32, 64, 128];
