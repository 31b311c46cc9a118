//! Public numbers: exact wherever they stand, in loops that are unrolled and in loops that are kept.

use comity_circuit::Goal;

use super::{LIMITS, compile, gives, run};

/// The mistake that a program is refused with, which is the same however its loops are compiled.
fn refused(source: &str) -> [String; 3] {
    LIMITS.map(|limits| {
        let error = crate::compile_with("t.cty", source, Goal::Size, limits).expect_err(source);
        error.all[0].message.clone()
    })
}

/// A number made of loops' variables, as a text, and its value in each turn.
type Made = (&'static str, fn(i128, i128) -> i128);

/// Each of these stays small, and is made of what does not.
const MADE: [Made; 16] = [
    ("i % 7", |i, _| i % 7),
    ("i % 251", |i, _| i % 251),
    ("i / 1000 + 3", |i, _| i / 1000 + 3),
    ("i % 251 / 3 * 2 + 9", |i, _| i % 251 / 3 * 2 + 9),
    ("i * i % 100", |i, _| i * i % 100),
    ("(i - 2000) % 90 + 95", |i, _| (i - 2000) % 90 + 95),
    ("(i - 2000) / 90 + 95", |i, _| (i - 2000) / 90 + 95),
    ("i % 100 + i % 30 / 2", |i, _| i % 100 + i % 30 / 2),
    ("(i * 3 + j * 5) % 200", |i, j| (i * 3 + j * 5) % 200),
    ("i >> 10", |i, _| i >> 10),
    ("(i << 3) % 129", |i, _| (i << 3) % 129),
    ("i & 0x54", |i, _| i & 0x54),
    ("(i | 1) % 5 ^ j", |i, j| ((i | 1) % 5) ^ j),
    ("min(i, 200)", |i, _| i.min(200)),
    ("max(i, 3900) - 3900", |i, _| i.max(3900) - 3900),
    ("-(-i % 50) + 1", |i, _| -(-i % 50) + 1),
];

#[test]
fn what_fits_where_it_is_used_may_be_made_of_what_does_not() {
    for (text, number) in MADE {
        let source = format!(
            "fn main(x: u8 from 0) -> u8 {{ let mut y = x; for i in 0..4000 {{ for j in 0..2 {{ y = rotate_left(y + ({text}), 1) ^ 85; }} }} y }}"
        );
        let mut y = 1;
        for (i, j) in (0..4000).flat_map(|i| [(i, 0), (i, 1)]) {
            assert!((0..256).contains(&number(i, j)), "{text}");
            // Turned, so that a wrong bit does not cancel out.
            let sum = (y + number(i, j)) % 256;
            y = (((sum << 1) & 255) | (sum >> 7)) ^ 85;
        }
        for limits in &LIMITS[1..] {
            assert_eq!(run(&compile(&source, *limits), &[1]), [y], "{limits:?}\n{source}");
        }
    }
}

#[test]
fn numbers_that_are_no_more_than_their_parts_have_names_and_types_too() {
    let source = "fn twice(x: u8) -> u16 { x as u16 * 2 }
        fn main(x: u32 from 0) -> (u32, u16, bool, u8) {
            let mut s = x; let mut t = 0u16; let mut below = false; let mut c = 0u8;
            for i in 0..300 {
                let d = i * i % 100;
                let e = (d / 3) as u8;
                s += d - i * i % 10 + 7;
                t += twice(e) + twice(i % 9);
                below = below ^ (d < 50);
                c += (d * 1000) as u8 + (i % 9 * 1000) as u8;
            }
            (s, t, below, c)
        }";
    let (mut s, mut t, mut below, mut c) = (5, 0, 0, 0);
    for i in 0..300i128 {
        let d = i * i % 100;
        s += d - i * i % 10 + 7;
        t += d / 3 * 2 + i % 9 * 2;
        below ^= i128::from(d < 50);
        c = (c + d * 1000 + i % 9 * 1000) % 256;
    }
    gives(source, &[5], &[s, t, below, c]);
}

#[test]
fn what_does_not_fit_is_refused_where_it_meets_its_type() {
    for (body, part) in [
        ("for i in 0..400 { y = y + i; }", "fit u8, "),
        ("for i in 0..400 { y = y + (i % 300); }", "does not fit u8, "),
        ("for i in 0..400 { let d: u8 = i; y = y ^ d as u8; }", "fit u8, "),
        ("for i in 0..400 { let d: u8 = i * 2; }", "fit u8, "),
        ("for i in 0..400 { let d: u8 = i % 300; }", "does not fit u8, "),
        ("y = y + (200 + 100);", "300 does not fit u8, "),
        ("let d: u8 = 2 - 3;", "-1 does not fit u8, "),
        ("for i in 0..400 { y = y ^ ((i - 5) % 3) as u8 ^ (i - 5) % 3; }", "does not fit u8, "),
    ] {
        let source = format!("fn main(x: u8 from 0) -> u8 {{ let mut y = x; {body} y }}");
        refused(&source).iter().for_each(|said| assert!(said.contains(part), "{said}\n{source}"));
    }
    let large = "fn main(x: u8 from 0) -> u8 { let mut y = x; for i in 0..100000 { y ^= (i * i * i * i * i * i * i * i) as u8; } y }";
    assert!(refused(large)[2].contains("becomes too large"), "{large}");
}

#[test]
fn a_divisor_that_becomes_zero_in_a_loop_is_refused() {
    for body in [
        "for i in 0..400 { y = y ^ x / (i - 5); }",
        "for i in 0..400 { y = y ^ x % (20 - 2 * i); }",
        "for i in 0..400 { for j in 0..30 { y = y ^ x / (3 * i - 7 * j + 1); } }",
        "for i in 0..400 { y = y ^ (1000 / (i - 399)) as i32; }",
        "for i in 0..400 { y = y ^ x / (i % 251); }",
        "for i in 0..400 { let d: i32 = i % 251; y = y ^ x / (d - 3); }",
        "for i in 0..400 { if c { y = y ^ x / (i - 5); } }",
        "let d = 0; y = x / d;",
    ] {
        let source = format!("fn main(x: i32 from 0, c: bool from 1) -> i32 {{ let mut y = x; {body} y }}");
        for said in refused(&source) {
            assert!(said.contains("division by zero") || said.contains("so that it may be zero"), "{said}\n{source}");
        }
    }
    let said = &refused("fn main(x: u32 from 0) -> u32 { let mut y = x; for i in 0..400 { y ^= x / (i - 5); } y }")[2];
    assert_eq!(said, "this goes from -5 to 394, which does not fit u32, from 0 to 4294967295");
}

#[test]
fn a_divisor_that_is_never_zero_is_none() {
    let x = 1_000_003;
    let source = "fn main(x: i32 from 0) -> i32 {
            let mut y = 0;
            for i in 0..300 {
                y = y ^ x / (2 * i - 5) ^ x % (i + 1);
                if i != 7 { y = y + x / (i - 7); }
                if i % 90 != 0 { y = y - x / (i % 90); }
                y = y ^ x / max(i % 90, 1);
                for j in 0..3 { y = y + x / (6 * i - 10 * j + 5); }
            }
            y
        }";
    let mut y = 0i32;
    for i in 0..300 {
        y = y ^ (x / (2 * i - 5)) ^ (x % (i + 1));
        if i != 7 {
            y += x / (i - 7);
        }
        if i % 90 != 0 {
            y -= x / (i % 90);
        }
        y ^= x / (i % 90).max(1);
        for j in 0..3 {
            y += x / (6 * i - 10 * j + 5);
        }
    }
    gives(source, &[x.into()], &[y.into()]);
}
