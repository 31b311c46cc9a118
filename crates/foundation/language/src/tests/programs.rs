//! A table of programs.

use super::{LIMITS, compile, gives, run};

#[test]
fn the_auction() {
    let source = "
        // Second-price auction.
        parties seller, alice, bob;
        const BIDS = 4;
        struct Bid { price: u32, item: u8 }
        fn better(a: Bid, b: Bid) -> Bid { if a.price > b.price { a } else { b } }
        fn main(reserve: u32 from seller, bids: [Bid; BIDS] from alice, limit: i17 from bob)
            -> (winner: u8 to all, price: u32 to seller)
        {
            let mut best = Bid { price: reserve, item: 0 };
            for i in 0..BIDS {
                if bids[i].price > best.price { best = bids[i]; }
            }
            (best.item, best.price)
        }";
    gives(source, &[5, 3, 1, 9, 2, 7, 3, 9, 4, -3], &[2, 9]);
    gives(source, &[50, 3, 1, 9, 2, 7, 3, 9, 4, -3], &[0, 50]);
}

/// An expression of a u8 `a`, an i8 `b`, a bool `c` and a u4 `d`, of some type.
fn expression(text: &str, ty: &str, inputs: [i128; 4], result: &[i128]) {
    let source = format!("fn main(a: u8 from 0, b: i8 from 1, c: bool from 0, d: u4 from 1) -> {ty} {{ {text} }}");
    let program = compile(&source, LIMITS[0]);
    assert_eq!(run(&program, &inputs), result, "{text}");
}

#[test]
fn operators() {
    let is = |text: &str, ty: &str, result: i128| expression(text, ty, [200, -100, 1, 3], &[result]);
    is("a + 100", "u8", 44);
    is("100 - a", "u8", 156);
    is("a * 3", "u8", 88);
    is("a * a", "u8", 64);
    is("a / 7", "u8", 28);
    is("a % 7", "u8", 4);
    is("a / (d as u8)", "u8", 66);
    is("a % (d as u8 - 3)", "u8", 200);
    is("a / (d as u8 - 3)", "u8", 255);
    is("b / 7", "i8", -14);
    is("b % 7", "i8", -2);
    is("b / -7", "i8", 14);
    is("b / (d as i8)", "i8", -33);
    is("-b", "i8", 100);
    is("!a", "u8", 55);
    is("!c", "bool", 0);
    is("a << 1", "u8", 144);
    is("a << 9", "u8", 0);
    is("a >> d", "u8", 25);
    is("a << d", "u8", 64);
    is("b >> 2", "i8", -25);
    is("b >> d", "i8", -13);
    is("b >> a", "i8", -1);
    is("a & 0xf0 | 0b11 ^ 1", "u8", 194);
    is("c & (a > 100) | false", "bool", 1);
    is("a == 200 && b < 0", "bool", 1);
    is("a != 200 || b >= -100", "bool", 1);
    is("a < 200", "bool", 0);
    is("a <= 200", "bool", 1);
    is("b > -101", "bool", 1);
    is("if c { a } else { 0 }", "u8", 200);
    is("if !c { a } else if a > 250 { 1 } else { 2 }", "u8", 2);
    is("{ let x = a; let x = x + 1; x }", "u8", 201);
    is("a as i8", "i8", -56);
    is("a as i16", "i16", 200);
    is("b as u16", "u16", 65436);
    is("b as i3", "i3", -4);
    is("c as u5", "u5", 1);
    is("-1 as u8", "u8", 255);
    is("300 as u8", "u8", 44);
    is("(1 << 70) as u80", "u80", 1 << 70);
    is("a as u100 << 80", "u100", 200 << 80);
    is("0xffff_ffff_ffff_ffff_ffff_ffff_ffff_ffff == 340282366920938463463374607431768211455u128", "bool", 1);
    is("2 + 3 * 4 - 5", "u8", 9);
    is("10 / 3 + (7 % 4)", "u8", 6);
    is("5u8 + a", "u8", 205);
    is("(a, b) == (200, -100)", "bool", 1);
    is("[a, 1] != [a, 2]", "bool", 1);
    is("((a, c).0, 3).0", "u8", 200);
}

#[test]
fn rotations_are_by_the_amount_modulo_the_width() {
    let left = |x: i128, by: i128, n: i128| {
        let by = by.rem_euclid(n);
        (x << by | x >> (n - by)) & ((1 << n) - 1)
    };
    for n in [5, 7, 13, 16] {
        for (ty, amounts) in [("i8", [-128, -100, -7, -1, 0, 5, 127]), ("u8", [0, 1, 6, 7, 100, 200, 255])] {
            let both = |by: &str| {
                format!(
                    "fn main(x: u{n} from 0, by: {ty} from 1) -> (u{n}, u{n}) {{ (rotate_left(x, {by}), rotate_right(x, {by})) }}"
                )
            };
            for by in amounts {
                let want = [left(21, by, n), left(21, -by, n)];
                gives(&both("by"), &[21, by], &want);
                gives(&both(&by.to_string()), &[21, 0], &want);
            }
        }
    }
    // In a loop, which may be kept as one.
    let source = "fn main(x: u13 from 0) -> u13 { let mut y = x; for i in 0..40 { y = rotate_left(y, i - 5) ^ 1; } y }";
    gives(source, &[77], &[(0..40).fold(77, |y, i| left(y, i - 5, 13) ^ 1)]);
}

#[test]
fn shifts_below_zero_are_refused_in_every_loop_and_give_nothing_where_private() {
    let source = "fn main(x: u13 from 0) -> u13 { let mut y = x; for i in 0..40 { y = (y << (i - 5)) ^ 1; } y }";
    for limits in LIMITS {
        let error = crate::compile_with("t.cty", source, comity_circuit::Goal::Size, limits).expect_err(source);
        assert!(error.to_string().contains("a shift by -5"), "{error}");
    }
    let private = "fn main(x: i13 from 0, by: i8 from 1) -> (i13, i13) { (x << by, x >> by) }";
    gives(private, &[-77, -1], &[0, -1]);
    gives(private, &[77, -1], &[0, 0]);
}

#[test]
fn a_division_by_a_public_zero_is_refused_wherever_it_stands() {
    for body in ["x / 0", "x % 0", "0 - x / (3 - 3)", "let z = 0u8; x / z"] {
        let source = format!("fn main(x: u8 from 0) -> u8 {{ {body} }}");
        for limits in LIMITS {
            let error = crate::compile_with("t.cty", &source, comity_circuit::Goal::Size, limits).expect_err(&source);
            assert!(error.to_string().contains("a division by zero"), "{body}: {error}");
        }
    }
    // A division by a private zero is no mistake, and a loop is not refused that never comes to one.
    gives("fn main(x: u8 from 0, y: u8 from 1) -> (u8, u8) { (x / y, x % y) }", &[77, 0], &[255, 77]);
    gives("fn main(x: u8 from 0) -> u8 { let mut y = x; for i in 0..40 { y = y / (1 + i); } y }", &[77], &[0]);
}

#[test]
fn functions_of_the_language() {
    let is = |text: &str, ty: &str, result: &[i128]| expression(text, ty, [200, -100, 1, 3], result);
    is("min(a, 100)", "u8", &[100]);
    is("max(b, -3)", "i8", &[-3]);
    is("min([a, 7, 9])", "u8", &[7]);
    is("max([b, -7, -9])", "i8", &[-7]);
    is("abs(b)", "i8", &[100]);
    is("abs_diff(a, 210)", "u8", &[10]);
    is("abs_diff(b, 100)", "u8", &[200]);
    is("popcount(a)", "u32", &[3]);
    is("leading_zeros(d)", "u32", &[2]);
    is("trailing_zeros(a)", "u32", &[3]);
    is("hamming(a, 0xff)", "u32", &[5]);
    is("sqrt(a)", "u8", &[14]);
    is("wide_mul(a, a)", "u16", &[40000]);
    is("mul_shift(a, a, 4)", "u8", &[(40008 >> 4) % 256]);
    is("mul_shift(b, 5, 2)", "i8", &[-125]);
    is("mul_shift(b, b, 8)", "i8", &[39]);
    is("mul_shift(b, b, 0)", "i8", &[16]);
    is("rotate_left(a, 1)", "u8", &[145]);
    is("rotate_right(a, d)", "u8", &[25]);
    is("bits(d)", "[bool; 4]", &[1, 1, 0, 0]);
    is("from_bits([c, false, c])", "u3", &[5]);
    is("sum([a, a, 3])", "u8", &[147]);
    is("dot([a, 3], [2, a])", "u8", &[1000 % 256]);
    is("dot([b], [b])", "i8", &[16]);
    is("mat_mul([[a, 1]], [[2, 3, 4], [5, a, 6]])", "[[u8; 3]; 1]", &[405 % 256, 800 % 256, 806 % 256]);
    is("mat_mul([[a], [7]], [[3, 2]])", "[[u8; 2]; 2]", &[600 % 256, 400 % 256, 21, 14]);
    is("any([c, false])", "bool", &[1]);
    is("all([c, false])", "bool", &[0]);
    is("sort([a, 3, 70, 5])", "[u8; 4]", &[3, 5, 70, 200]);
    is("sort([b, 3, -70, 5])", "[i8; 4]", &[-100, -70, 3, 5]);
    is("len([a, 3, 70, 5])", "u8", &[4]);
    is("add8(a, 100)", "u8", &[44]);
    is("lt8(a, 201)", "bool", &[1]);
    is("mulfull8(a, a)", "u16", &[40000]);
}

#[test]
fn floats() {
    let bits = |x: f32| i128::from(x.to_bits());
    let main = |text: &str, ty: &str| format!("fn main(x: f32 from 0, y: f32 from 1) -> {ty} {{ {text} }}");
    let is = |text: &str, ty: &str, result: i128| {
        let program = compile(&main(text, ty), LIMITS[0]);
        assert_eq!(run(&program, &[bits(1.5), bits(-0.25)]), [result], "{text}");
    };
    is("x + y * 2.0", "f32", bits(1.0));
    is("(x - y) / y", "f32", bits(-7.0));
    is("-x", "f32", bits(-1.5));
    is("x > y && x != y", "bool", 1);
    is("x as i8", "i8", 1);
    is("(x * 100.0) as u16", "u16", 150);
    is("3u8 as f32 + x", "f32", bits(4.5));
    is("x as f64", "f64", i128::from(1.5f64.to_bits()));
    is("sqrt(x * 1.5)", "f32", bits(1.5));
    is("max(x, y)", "f32", bits(1.5));
    is("abs(y)", "f32", bits(0.25));
    is("if x == 1.5 { sort([x, y, 0.0])[0] } else { 0.0 }", "f32", bits(-0.25));
    is("sum([x, y, 1.0])", "f32", bits(2.25));
}

#[test]
fn statements_and_patterns() {
    gives(
        "fn main(x: u8 from 0) -> (a: u8, b: u8, c: u8) {
            let (mut p, (q, _)) = (x, (x + 1, x + 2));
            p += 5; p -= 1; p *= 2; p ^= 1; p |= 64; p &= 127; p <<= 1; p >>= 1; p /= 3; p %= 20;
            { let p = 9; let _ = p; }
            if x > 3 { p = 7; }
            (p, q, { let z = 3; z })
        }",
        &[3],
        &[6, 4, 3],
    );
    gives(
        "struct P { x: u8, v: [u8; 3] }
         fn main(i: u2 from 0, k: u8 from 1) -> (a: [u8; 3], b: u8, c: [(bool, u8); 2]) {
            let mut p = P { x: 1, v: [1, 2, 3] };
            let mut t = [(false, 4u8); 2];
            p.v[i] = k;
            p.v[i] += 1;
            p.x = p.v[2];
            t[1].1 = p.v[0];
            t[0] = (true, 9);
            (p.v, p.x, t)
         }",
        &[2, 50],
        &[1, 2, 51, 51, 1, 9, 0, 1],
    );
}

#[test]
fn indices_beyond_the_end() {
    let source = "fn main(i: u8 from 0) -> (a: u8, b: [u8; 3]) {
        let v = [10, 20, 30];
        let mut w = v;
        w[i] = 99;
        (v[i], w)
    }";
    gives(source, &[1], &[20, 10, 99, 30]);
    gives(source, &[3], &[0, 10, 20, 30]);
    gives(source, &[255], &[0, 10, 20, 30]);
}

#[test]
fn generic_functions() {
    gives(
        "fn total<N>(xs: [u32; N]) -> u32 {
            let mut t = 0;
            for x in xs { t += x; }
            t
         }
         fn twice<W>(x: u<W>) -> u<W + 1> { (x as u<W + 1>) << 1 }
         fn first<T, N>(xs: [T; N]) -> T { xs[0] }
         fn zeros<N>() -> [u8; N] { [0; N] }
         fn main(a: [u32; 5] from 0, b: u7 from 1) -> (t: u32, u: u8, f: u32, z: [u8; 2], n: u16) {
            (total(a) + total([1, 2]), twice(b), first(a), zeros(), len(a))
         }",
        &[1, 2, 3, 4, 5, 100],
        &[18, 200, 1, 0, 0, 5],
    );
}

#[test]
fn constants_and_public_numbers() {
    gives(
        "const N = 3; const M = N * 2 + 1; const T: [u8; M] = [1, 2, 3, 4, 5, 6, 7]; const BIG: u200 = 1 << 150;
         const ON = true; const K: u8 = 250;
         fn main(x: u8 from 0) -> (s: u8, b: bool, c: u8, d: u8) {
            let mut s = 0;
            for i in 0..M { s += T[i] * x; }
            for i in (0..=N) { }
            let last = M - 1;
            (s, (x as u200 << 150) == BIG && ON, T[last] + T[M - 2], K + x)
         }"
        .replace("for i in (0..=N) { }", "for i in 0..=N { if i == N { s += 1; } }")
        .as_str(),
        &[1],
        &[29, 1, 13, 251],
    );
}

#[test]
fn loops() {
    // Sums, products, nested loops, indices that move in several ways.
    gives(
        "fn main(a: [u16; 12] from 0) -> (fwd: u16, back: [u16; 12], pairs: u16, tri: u16, evens: u16) {
            let mut sum = 0;
            let mut back = [0; 12];
            let mut pairs = 0;
            let mut tri = 0;
            let mut evens = 0;
            for i in 0..12 {
                sum += a[i] * (i + 1);
                back[11 - i] = a[i];
                if i > 0 { pairs += a[i] ^ a[i - 1]; }
                if i % 2 == 0 { evens += a[i / 2]; } else { evens += 1000; }
                for j in i + 1..12 { if a[i] > a[j] { tri += 1; } }
            }
            (sum, back, pairs, tri, evens)
         }",
        &[5, 3, 9, 1, 7, 7, 2, 8, 0, 4, 6, 11],
        &[435, 11, 6, 4, 0, 8, 2, 7, 7, 1, 9, 3, 5, 72, 29, 6032],
    );
    gives(
        "fn main(m: [[u8; 3]; 4] from 0, v: [u8; 3] from 1) -> (r: [u8; 4], t: [[u8; 4]; 3]) {
            let mut r = [0; 4];
            let mut t = [[0; 4]; 3];
            for i in 0..4 { for j in 0..3 { r[i] += m[i][j] * v[j]; t[j][i] = m[i][j]; } }
            (r, t)
         }",
        &[1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12, 1, 10, 100],
        &[65, 142, 219, 40, 1, 4, 7, 10, 2, 5, 8, 11, 3, 6, 9, 12],
    );
}

#[test]
fn loops_with_private_indices_and_branches() {
    gives(
        "fn main(xs: [u3; 10] from 0, c: bool from 1) -> (h: [u8; 8], other: [u8; 4], n: u8) {
            let mut h = [0; 8];
            let mut other = [0; 4];
            let mut n = 0;
            for i in 0..10 {
                let x = xs[i];
                h[x] += 1;
                if x > 3 && c { other[x & 3] = i; n += 2; } else { n += 1; if x == 0 { n += 100; } }
            }
            (h, other, n)
         }",
        &[1, 5, 5, 0, 7, 3, 3, 3, 6, 1, 1],
        &[1, 2, 0, 3, 0, 2, 1, 1, 0, 2, 8, 4, 114],
    );
    // A branch around a loop, and one that changes an array at moving indices of two kinds.
    gives(
        "fn main(a: [u8; 6] from 0, c: bool from 1) -> (a: [u8; 6], s: u8) {
            let mut b = a;
            let mut s = 1;
            if c {
                for i in 0..6 { b[i] += 1; s += b[i]; b[5 - i] ^= 3; }
            } else {
                for i in 0..3 { b[2 * i] = s; s += b[2 * i + 1]; }
            }
            (b, s)
         }",
        &[1, 2, 3, 4, 5, 6, 1],
        &[1, 0, 7, 8, 7, 6, 31],
    );
}

#[test]
fn arrays_as_values() {
    gives(
        "fn swap(p: ([u8; 4], [u8; 4])) -> ([u8; 4], [u8; 4]) { (p.1, p.0) }
         fn bump(mut a: [u8; 4]) -> [u8; 4] { for i in 0..4 { a[i] += 1; } a }
         fn main(a: [u8; 4] from 0) -> (x: [u8; 4], y: [u8; 4], z: [u8; 4], w: [u8; 4]) {
            let mut b = a;
            let old = b;
            for i in 0..4 { b[i] = b[i] * 2; }
            let kept = b;
            for x in b { b[0] += x; }
            let c = bump(b);
            let (p, q) = swap((kept, c));
            (p, q, old, b)
         }",
        &[1, 2, 3, 4],
        &[23, 5, 7, 9, 2, 4, 6, 8, 1, 2, 3, 4, 22, 4, 6, 8],
    );
    // Neighbours: each turn reads what the one before wrote, under another name.
    gives(
        "fn main(a: [u8; 6] from 0) -> [u8; 6] {
            let mut b = a;
            for i in 1..6 { b[i] += b[i - 1]; }
            for i in 0..5 { let t = b[i]; b[i] = b[i + 1]; b[i + 1] = t; }
            for i in 0..6 { b[5 - i] += b[i]; }
            b
         }",
        &[1, 2, 3, 4, 5, 6],
        &[7, 33, 35, 25, 27, 4],
    );
}

#[test]
fn numbers_of_loops_as_values() {
    gives(
        "const N = 5000;
         fn main(x: u16 from 0) -> (at: u16, s: u32, m: i20) {
            let mut at = 0;
            let mut s = 0;
            let mut m = 0;
            for i in 0..N {
                if x == i { at = i + 1; }
                s += i;
                m = max(m, 3 * i - 14000);
            }
            (at, s, m)
         }",
        &[4711],
        &[4712, 12_497_500, 997],
    );
}

#[test]
fn odd_cases() {
    gives("fn main(x: [u8; 0] from 0) -> [u8; 0] { x }", &[], &[]);
    gives("fn main(x: u1 from 0) -> (a: u1, b: i1) { (x + 1, -(x as i1)) }", &[1], &[0, -1]);
    gives("fn main() -> u8 { let mut s = 3; for i in 5..2 { s = 0; } s }", &[], &[3]);
    gives("fn main(x: u8 from 0) -> u8 { let mut s = x; for i in 0..100000 { } s }", &[7], &[7]);
    gives("fn main(x: u8 from 0) -> (a: u8 to 1, b: (u8, bool) to 0) { (x, (x, true)) }", &[7], &[7, 7, 1]);
    gives("fn main(x: u8 from 0) -> u8 { let f = if x > 3 { [x; 9] } else { [1; 9] }; f[8] }", &[7], &[7]);
    gives("fn id(x: u8) -> u8 { x } fn main(x: u8 from 0) -> u8 { id(id(id(x))) }", &[7], &[7]);
}

#[test]
fn branches_that_only_add() {
    // The second statement reads what the first one changed; the third changes an element at a private index.
    let source = "fn main(xs: [u8; 6] from 0, limit: u8 from 1) -> (n: u8, sum: u8, left: i8, seen: [u8; 4]) {
        let mut n = 0u8;
        let mut sum = 0u8;
        let mut left = 5i8;
        let mut seen = [0u8; 4];
        for x in xs {
            if x > limit { n += 1; sum += n; left -= x as i8; seen[x as u2] += x; }
        }
        (n, sum, left, seen)
    }";
    gives(source, &[7, 2, 9, 3, 3, 14, 6], &[3, 6, -25, 0, 9, 14, 7]);
    gives(source, &[7, 2, 9, 3, 3, 14, 255], &[0, 0, 5, 0, 0, 0, 0]);
}

#[test]
fn a_byte_order_mark_is_no_part_of_a_program() {
    let text = "fn main(a: u8 from 0, b: u8 from 1) -> u8 { a + b }";
    let plain = crate::compile("p", text).unwrap();
    assert_eq!(crate::compile("p", &format!("\u{feff}{text}")).unwrap().digest(), plain.digest());
    let error = crate::compile("p", "\u{feff}fn main(").unwrap_err().to_string();
    assert!(error.starts_with("p:1:9: ") && !error.contains('\u{feff}'), "{error}");
}

#[test]
fn turns_with_sums_of_their_own_are_side_by_side() {
    let source = |rows: usize| {
        format!(
            "fn main(a: [u8; 3] from 0, b: [[u8; 3]; {rows}] from 1) -> [u8; {rows}] {{
                let mut distances = [0u8; {rows}];
                for i in 0..{rows} {{
                    let mut sum = 1;
                    for j in 0..3 {{
                        let d = a[j] - b[i][j];
                        sum += d * d;
                    }}
                    distances[i] = sum;
                }}
                distances
            }}"
        )
    };
    let rows: Vec<i128> = (0..36).map(|i| 7 * i % 256).collect();
    let a = [3, 200, 45];
    let distance = |row: &[i128]| (1 + a.iter().zip(row).map(|(a, b)| (a - b) * (a - b)).sum::<i128>()) % 256;
    let expected: Vec<i128> = rows.chunks(3).map(distance).collect();
    gives(&source(12), &[&a[..], &rows].concat(), &expected);
    for limits in &LIMITS[1..] {
        let depth = |rows| compile(&source(rows), *limits).totals().and_depth;
        assert_eq!(depth(12), depth(24), "{limits:?}");
    }
    // Each turn goes on with the sum of the one before.
    let source = source(12).replace("let mut sum = 1;", "").replace("for i in", "let mut sum = 1; for i in");
    let mut sum = 1;
    let sums: Vec<i128> = rows
        .chunks(3)
        .map(|row| {
            sum += distance(row) - 1;
            sum % 256
        })
        .collect();
    gives(&source, &[&a[..], &rows].concat(), &sums);
}
