//! What programs cost: as many ANDs as the library's gadgets, at once however long the loops.

use comity_circuit::{Builder, Program, Step, Wire};
use comity_library::{arith, arrays};

use super::{LIMITS, compile, run};
use crate::lower::Limits;

fn ands(main: &str) -> u64 {
    compile(main, Limits::default()).and_gates()
}

/// The ANDs of gadgets on input values of these widths.
fn by_hand(widths: &[usize], build: impl FnOnce(&mut Builder, &[Vec<Wire>]) -> Vec<Wire>) -> u64 {
    let mut b = Builder::new();
    let values: Vec<_> = widths.iter().map(|&bits| b.input("", bits)).collect();
    let out = build(&mut b, &values);
    b.output("", &out);
    b.finish().counts().and
}

#[test]
fn as_many_ands_as_by_hand() {
    let pair = |ty: &str, out: &str, text: &str| {
        ands(&format!("fn main(x: {ty} from 0, y: {ty} from 1) -> {out} {{ {text} }}"))
    };
    assert_eq!(pair("u32", "u32", "x + y"), 31);
    assert_eq!(pair("u32", "u32", "x - y"), 31);
    assert_eq!(pair("i32", "bool", "x < y"), 32);
    assert_eq!(pair("u32", "bool", "x == y"), 31);
    assert_eq!(pair("u32", "u32", "if x > y { x } else { y }"), 64);
    assert_eq!(pair("u32", "u32", "x * y"), by_hand(&[32, 32], |b, v| arith::mul(b, &v[0], &v[1])));
    assert_eq!(pair("u32", "u32", "x / y"), by_hand(&[32, 32], |b, v| arith::div(b, &v[0], &v[1])));
    assert_eq!(pair("i32", "i32", "x % y"), by_hand(&[32, 32], |b, v| arith::rem_signed(b, &v[0], &v[1])));
    assert_eq!(pair("u32", "u32", "x / 10"), by_hand(&[32], |b, v| arith::div_rem_by(b, &v[0], 10).0));
    assert_eq!(pair("u64", "u32", "hamming(x, y)"), by_hand(&[64, 64], |b, v| arith::hamming(b, &v[0], &v[1])));
    assert_eq!(pair("u32", "u32", "min(x, y)"), 64);
    assert_eq!(pair("u32", "u32", "x << 3"), 0);
    assert_eq!(pair("u32", "u32", "x >> (y as u5)"), by_hand(&[32, 5], |b, v| arith::shr_by(b, &v[0], &v[1])));
    let rows = |words: &[Wire]| words.chunks(8).map(<[_]>::to_vec).collect::<Vec<_>>();
    let read = by_hand(&[128, 4], |b, v| arrays::read(b, &rows(&v[0]), &v[1]));
    assert_eq!(ands("fn main(x: [u8; 16] from 0, i: u4 from 1) -> u8 { x[i] }"), read);
    let write = by_hand(&[128, 4, 8], |b, v| arrays::write(b, &rows(&v[0]), &v[1], &v[2]).concat());
    let source = "fn main(x: [u8; 16] from 0, i: u4 from 1, v: u8 from 1) -> [u8; 16] { let mut y = x; y[i] = v; y }";
    assert_eq!(ands(source), write);
    // A branch that counts costs the comparison and the carries; one that adds, a mask besides.
    assert_eq!(pair("u32", "u32", "let mut n = x; if x > y { n += 1; } n"), 32 + 31);
    assert_eq!(pair("u32", "u32", "let mut n = x; if x > y { n -= y; } n"), 32 + 32 + 31);
    let source = "fn main(h: [u8; 16] from 0, i: u4 from 1, c: bool from 1) -> [u8; 16] {
        let mut y = h; if c { y[i] += 1; } y
    }";
    assert!(ands(source) <= read + write + 8);
    let order = arrays::Order::ascending(8);
    let sort = by_hand(&[128], |b, v| arrays::sort(b, &rows(&v[0]), order).concat());
    assert_eq!(ands("fn main(x: [u8; 16] from 0) -> [u8; 16] { sort(x) }"), sort);
    // Compare and exchange by hand: one comparison and two words of multiplexers, of which the gates are shared.
    let source = "fn main(x: [u8; 16] from 0) -> [u8; 16] {
        let mut a = x;
        for i in 0..16 { for j in 0..15 - i {
            if a[j] > a[j + 1] { let t = a[j]; a[j] = a[j + 1]; a[j + 1] = t; }
        } }
        a
    }";
    assert_eq!(ands(source), 120 * 16);
    assert_eq!(
        run(&compile(source, LIMITS[1]), &[5, 3, 9, 1, 0, 7, 2, 8, 4, 6, 15, 11, 10, 14, 13, 12]),
        (0..16).collect::<Vec<_>>()
    );
}

#[test]
fn long_loops_stay_loops() {
    let source = "
        const N = 1000000;
        fn main(x: [u32; N] from 0, y: [u32; N] from 1) -> (s: u32, best: u32, at: u20) {
            let mut s = 0;
            let mut best = 0;
            let mut at = 0;
            for i in 0..N {
                s += x[i] ^ y[i];
                if x[i] > best { best = x[i]; at = i; }
            }
            (s, best, at)
        }";
    let program = compile(source, Limits::default());
    assert_eq!(program.and_gates(), 1_000_000 * (31 + 32 + 32 + 20));
    assert!(program.circuits().iter().map(|circuit| circuit.gates().len()).sum::<usize>() < 2_000);
    assert!(program.wires() < 64_100_000, "{}", program.wires());
}

#[test]
fn independent_turns_are_one_call() {
    let source = "
        const N = 100000;
        fn main(x: [u32; N] from 0, y: [u32; N] from 1) -> [bool; N] {
            let mut z = [false; N];
            for i in 0..N { z[i] = x[i] < y[i]; }
            z
        }";
    let program = compile(source, Limits::default());
    assert_eq!(program.and_gates(), 3_200_000);
    assert_eq!(program.totals().and_depth, 32);
    let call = |step: &Step| matches!(step, Step::Call { times: 100_000, .. });
    assert!(program.steps().iter().any(call), "{:?}", program.steps());
}

#[test]
fn conditions_on_a_loop_cost_nothing() {
    let source = "
        const N = 100000;
        fn main(x: [u8; N] from 0) -> (ups: u32, even: u8) {
            let mut ups = 0;
            let mut even = 0;
            for i in 0..N {
                if i > 0 { if x[i] > x[i - 1] { ups += 1; } }
                if i % 4 == 3 { even ^= x[i / 4] & x[i]; }
            }
            (ups, even)
        }";
    let program = compile(source, Limits::default());
    // A comparison of 8 bits and the carries of 32, and 8 ANDs in every fourth turn.
    assert_eq!(program.and_gates(), 99_999 * (8 + 31) + 25_000 * 8);
}

#[test]
fn indices_that_only_unrolling_knows() {
    let source = "
        const N = 256;
        fn main(xs: [u16; N] from 0) -> [u16; N] {
            let mut a = xs;
            for k in 0..8 { for j in 0..k + 1 { for i in 0..N {
                let l = i ^ (1 << (k - j));
                if l > i {
                    let up = (i & (2 << k)) == 0;
                    if (a[i] > a[l]) == up { let t = a[i]; a[i] = a[l]; a[l] = t; }
                }
            } } }
            a
        }";
    // Bitonic sorting: 36 layers of 128 comparisons and exchanges.
    let program = compile(source, Limits::default());
    assert_eq!(program.and_gates(), 36 * 128 * 32);
    let numbers: Vec<i128> = (0..256).map(|i| i * 40503 % 65536).collect();
    let mut sorted = numbers.clone();
    sorted.sort_unstable();
    assert_eq!(run(&program, &numbers), sorted);
}

#[test]
fn compiling_is_deterministic() {
    let source =
        "fn main(x: [u32; 100] from 0, i: u7 from 1) -> u32 { let mut s = 0; for y in x { s += y; } s + x[i] }";
    for limits in LIMITS {
        let digest = |program: Program| program.encode();
        assert_eq!(digest(compile(source, limits)), digest(compile(source, limits)));
    }
}
