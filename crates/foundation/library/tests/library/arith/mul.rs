//! Products and squares.

use comity_circuit::Wire;
use comity_library::arith;

use super::{check, mask, signed};
use crate::{Random, circuit, evaluate, run};

#[test]
fn products_agree_with_the_machine() {
    let low = |n: usize| if n < 3 { n * n - n + 1 } else { (n * n + 3 * n - 4) / 2 };
    let widths: Vec<usize> = (1..=64).collect();
    check("mul", &widths, |b, x, y| vec![arith::mul(b, x, y)], |x, y, n| vec![x.wrapping_mul(y) & mask(n)], low);
    let full: Vec<usize> = (1..30).collect();
    check(
        "mul_full",
        &full,
        |b, x, y| vec![arith::mul_full(b, x, y)],
        |x, y, _| vec![x * y],
        |n| if n < 3 { 2 * n * n - n } else { n * n + 3 * n - 3 },
    );
}

#[test]
fn wide_products_are_cut_and_still_right() {
    // Products of more than 128 bits, checked modulo primes below 2^32.
    for n in [29, 30, 31, 33, 55, 64, 98, 99, 100, 128, 130, 256] {
        let c = circuit([n, n], |b, [x, y]| vec![arith::mul_full(b, x, y), arith::mul(b, x, y)]);
        let mut random = Random(n as u64);
        let mut word =
            |_| if random.next().is_multiple_of(4) { vec![!0u64; n] } else { (0..n).map(|_| random.next()).collect() };
        let (x, y) = (word(0), word(1));
        let out = evaluate(&c, &[&x[..], &y].concat());
        assert_eq!(out[..n], out[2 * n..]);
        for k in 0..64 {
            let bits = |word: &[u64]| word.iter().map(|w| (w >> k & 1) as u32).collect::<Vec<u32>>();
            assert_eq!(bits(&out[..2 * n]), schoolbook(&bits(&x), &bits(&y)), "{n} bits, instance {k}");
        }
    }
}

/// The product of numbers given bit by bit.
fn schoolbook(x: &[u32], y: &[u32]) -> Vec<u32> {
    let mut sums = vec![0; x.len() + y.len()];
    for (i, x) in x.iter().enumerate() {
        for (j, y) in y.iter().enumerate() {
            sums[i + j] += x & y;
        }
    }
    let mut carry = 0;
    let digit = |sum: u32| {
        let total = sum + carry;
        carry = total >> 1;
        total & 1
    };
    sums.into_iter().map(digit).collect()
}

#[test]
fn squares_agree_with_products() {
    let widths: Vec<usize> = (1..=64).collect();
    let mut random = Random(40);
    for n in widths {
        let c = circuit([n], |b, [x]| vec![arith::square_full(b, x), arith::square(b, x)]);
        let batches =
            if n <= 6 { vec![std::array::from_fn(|k| k as u128 & mask(n))] } else { vec![random.words(n); 4] };
        for x in batches {
            let out = run(&c, &[x]);
            for k in 0..64 {
                assert_eq!(out[0][k], x[k] * x[k], "the square of {} in {n} bits", x[k]);
                assert_eq!(out[1][k], (x[k] * x[k]) & mask(n), "the square of {} in {n} bits", x[k]);
            }
        }
    }
    for n in [65, 99, 100, 101, 119, 120, 121, 128, 130, 256, 257] {
        let c = circuit([n], |b, [x]| vec![arith::square_full(b, x), arith::square(b, x)]);
        let x: Vec<u64> = (0..n).map(|_| random.next()).collect();
        let out = evaluate(&c, &x);
        assert_eq!(out[..n], out[2 * n..]);
        for k in 0..64 {
            let bits = |word: &[u64]| word.iter().map(|w| (w >> k & 1) as u32).collect::<Vec<u32>>();
            assert_eq!(bits(&out[..2 * n]), schoolbook(&bits(&x), &bits(&x)), "{n} bits, instance {k}");
        }
    }
}

#[test]
fn squares_cost_half_of_products() {
    let ands = |build: fn(&mut comity_circuit::Builder, &[Wire]) -> Vec<Wire>, n| {
        circuit([n], |b, [x]| vec![build(b, x)]).counts().and
    };
    for n in 4..39 {
        let (low, full) = (n * n / 4 - 2, n * n / 2 + n - 3);
        assert_eq!((ands(arith::square, n), ands(arith::square_full, n)), (low as u64, full as u64), "{n} bits");
    }
}

#[test]
fn dot_products_share_their_sum() {
    for (terms, n) in [(1, 8), (2, 1), (3, 2), (5, 3), (4, 8), (7, 13), (3, 32), (2, 64), (3, 110)] {
        let widths = [n * terms, n * terms];
        let c = circuit(widths, |b, [x, y]| {
            let words = |x: &[Wire]| x.chunks(n).map(<[Wire]>::to_vec).collect::<Vec<_>>();
            vec![arith::dot(b, &words(x), &words(y))]
        });
        let separate = circuit(widths, |b, [x, y]| {
            let products: Vec<_> = x.chunks(n).zip(y.chunks(n)).map(|(x, y)| arith::mul(b, x, y)).collect();
            vec![arith::sum(b, &products.iter().map(|p| &p[..]).collect::<Vec<_>>())]
        });
        assert!(c.counts().and <= separate.counts().and, "{terms} of {n} bits");
        let mut random = Random((terms * n) as u64);
        let x: Vec<[u128; 64]> = (0..terms).map(|_| random.words(n)).collect();
        let y: Vec<[u128; 64]> = (0..terms).map(|_| random.words(n)).collect();
        let lanes = |words: &[[u128; 64]]| -> Vec<u64> {
            let bit = |word: &[u128; 64], i: usize| (0..64).fold(0, |w, k| w | ((word[k] >> i & 1) as u64) << k);
            words.iter().flat_map(|word| (0..n).map(move |i| bit(word, i))).collect()
        };
        let out = evaluate(&c, &[lanes(&x), lanes(&y)].concat());
        for k in 0..64 {
            let want = (0..terms).fold(0u128, |sum, i| sum.wrapping_add(x[i][k].wrapping_mul(y[i][k]))) & mask(n);
            let got = (0..n).fold(0, |got, i| got | u128::from(out[i] >> k & 1) << i);
            assert_eq!(got, want, "{terms} of {n} bits");
        }
    }
}

#[test]
fn matrices_are_dot_products_of_rows_and_columns() {
    for ([m, n, p], bits) in [([1, 1, 1], 8), ([2, 3, 4], 5), ([3, 1, 2], 1), ([1, 4, 2], 32), ([2, 2, 2], 101)] {
        let build = |separate: bool| {
            circuit([m * n * bits, n * p * bits], |b, [x, y]| {
                let words = |x: &[Wire]| x.chunks(bits).map(<[Wire]>::to_vec).collect::<Vec<_>>();
                let (x, y) = (words(x), words(y));
                if !separate {
                    return arith::mat_mul(b, [m, n, p], &x, &y);
                }
                let column = |at: usize| y[at..].iter().step_by(p).cloned().collect::<Vec<_>>();
                (0..m * p).map(|at| arith::dot(b, &x[at / p * n..][..n], &column(at % p))).collect()
            })
        };
        let (whole, separate) = (build(false), build(true));
        assert_eq!(whole.counts(), separate.counts(), "{m} {n} {p}");
        let mut random = Random((m * n * p) as u64);
        let lanes: Vec<u64> = (0..(m * n + n * p) * bits).map(|_| random.next()).collect();
        assert_eq!(evaluate(&whole, &lanes), evaluate(&separate, &lanes), "{m} {n} {p}");
    }
}

/// All words of up to five bits and all places of the point; random ones of more.
#[test]
fn products_of_fractions_are_rounded_once() {
    let mut random = Random(99);
    for bits in [1, 2, 3, 4, 5, 8, 16, 31] {
        for fraction in 1..=bits {
            for is_signed in [false, true] {
                let c = circuit([bits, bits], |b, [x, y]| {
                    let [x, y] = [x, y].map(|x| {
                        let fill = if is_signed { x[bits - 1] } else { Wire::ZERO };
                        [x, &vec![fill; fraction]].concat()
                    });
                    vec![arith::mul_shift(b, &x, &y, fraction)]
                });
                let turns = if bits <= 5 { 1 << (2 * bits) } else { 256 };
                for turn in (0..turns).step_by(64) {
                    let all = |shift: usize| std::array::from_fn(|k| (turn + k) as u128 >> shift & mask(bits));
                    let [x, y]: [[u128; 64]; 2] =
                        if bits <= 5 { [all(0), all(bits)] } else { [random.words(bits), random.words(bits)] };
                    let out = run(&c, &[x, y]);
                    for k in 0..64 {
                        let number = |x: u128| if is_signed { signed(x, bits) } else { x as i128 };
                        let product = number(x[k]) * number(y[k]);
                        let want = (product + (1 << (fraction - 1))).div_euclid(1 << fraction) as u128 & mask(bits);
                        assert_eq!(out[0][k], want, "{} {} {bits} {fraction}", x[k], y[k]);
                    }
                }
            }
        }
    }
}
