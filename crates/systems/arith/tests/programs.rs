//! Programs of the language, against the evaluator.

use comity_arith::Arith;
use comity_circuit::{Builder, Program, ProgramBuilder, Recipients};
use comity_core::{Backend, Bits, Params};
use comity_library::arith;
use comity_protocol::{Options, Protocol};
use comity_testing::laws::{bits, check, rng};

use super::{DEALT, setting};

/// The program of this text after the line that names the parties.
fn compiled(text: &str) -> Program {
    comity_language::compile("test.cty", &format!("parties alice, bob;\n{text}")).unwrap_or_else(|e| panic!("{e}"))
}

fn runs(text: &str) {
    let program = compiled(text);
    let options = Options::new(Arith.card());
    Arith.fits(&program, &options, Params::default()).unwrap_or_else(|error| panic!("{text}: {error}"));
    for seed in 0..2 {
        let inputs: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng(seed))).collect();
        check(&DEALT, 2, &program, &inputs, setting(Backend::detect()));
    }
}

#[test]
fn sums_products_squares_and_constants() {
    runs("fn main(x: u32 from alice, y: u32 from bob) -> (r: u32) { 3 * x * y - (x + 7) * (x + 7) + 5 }");
    runs("fn main(x: i64 from alice, y: i64 from bob) -> (r: i64) { -x * y + (x - y) * -3 }");
    runs("fn main(x: u128 from alice, y: u128 from bob) -> (r: u128) { x * y * y - 1 }");
    runs("fn main(x: u1 from alice, y: u1 from bob) -> (r: u1) { x * y + x }");
    runs("fn main(x: u7 from alice, y: u7 from bob) -> (r: u7, one: u7, same: u7) { (x * y, 1, y) }");
}

#[test]
fn powers_of_two_and_lower_bits() {
    runs("fn main(x: u32 from alice, y: u32 from bob) -> (r: u32) { 4 * x + (y << 7) * 2 }");
    runs(
        "fn main(x: u64 from alice, y: u64 from bob) -> (r: u8, s: u16) { let p = x * y; ((p + x) as u8, (p as u16) * 3) }",
    );
    runs("fn main(x: u64 from alice, y: u8 from bob) -> (r: u8) { (x as u8) * y }");
    runs("fn main(x: u16 from alice, y: u16 from bob) -> (r: u16, s: u16) { (x << 3, (x * y) << 9) }");
}

#[test]
fn arrays_and_loops() {
    runs(
        "fn main(x: [u32; 6] from alice, y: [u32; 6] from bob) -> (dot: u32, each: [u32; 6]) {
        let mut sum = 0u32;
        for i in 0..6 { sum += x[i] * y[i]; }
        let mut each = [0u32; 6];
        for i in 0..6 { each[i] = x[i] + 3 * y[i] - 5; }
        (sum, each)
    }",
    );
    runs(
        "const N = 4000;
    fn main(x: [u64; N] from alice, y: [u64; N] from bob) -> (dot: u64, each: [u64; N], low: u8) {
        let mut sum = 0u64;
        for i in 0..N { sum += x[i] * y[i]; }
        let mut each = [0u64; N];
        for i in 0..N { each[i] = x[i] * (x[i] + y[i]); }
        (sum, each, sum as u8)
    }",
    );
    runs(
        "struct Row { many: u32, price: u64 }
    const N = 2000;
    fn main(rows: [Row; N] from alice, factor: u64 from bob) -> (sum: u64, many: u32) {
        let mut sum = 0u64;
        let mut many = 0u32;
        for i in 0..N { sum += rows[i].price * factor; many += rows[i].many; }
        (sum, many)
    }",
    );
    runs(
        "const N = 12;
    fn main(x: [[u16; N]; N] from alice, y: [[u16; N]; N] from bob) -> (z: [[u16; N]; N]) {
        let mut z = [[0u16; N]; N];
        for i in 0..N { for j in 0..N { for k in 0..N { z[i][j] += x[i][k] * y[k][j]; } } }
        z
    }",
    );
}

#[test]
fn sums_of_products_matrices_and_fractions() {
    for (ty, by) in [("u8", 3), ("i16", 16), ("u32", 1), ("i64", 40), ("u64", 64), ("i24", 0)] {
        runs(&format!(
            "fn main(x: [{ty}; 5] from alice, y: [{ty}; 5] from bob) -> (d: {ty}, e: [{ty}; 5]) {{
                let mut each = [0{ty}; 5];
                for i in 0..5 {{ each[i] = mul_shift(x[i], y[i], {by}) + x[i]; }}
                (dot(x, y) * y[0] - dot(y, y), each)
            }}"
        ));
        runs(&format!(
            "fn main(x: [[{ty}; 3]; 4] from alice, y: [[{ty}; 2]; 3] from bob) -> (z: [[{ty}; 2]; 4], d: {ty}) {{
                let z = mat_mul(x, y);
                (z, mul_shift(z[0][0], z[3][1], {by}))
            }}"
        ));
    }
    runs(
        "fn main(x: [u128; 3] from alice, y: [u128; 3] from bob) -> (d: u128, e: u128) {
            (dot(x, y), mat_mul([x], [[y[0]], [y[1]], [y[2]]])[0][0] + mul_shift(x[0], y[0], 0))
        }",
    );
}

#[test]
fn what_one_party_learns_is_not_told_to_the_other() {
    let program = compiled("fn main(x: u32 from alice, y: u32 from bob) -> (a: u32, b: u32) { (x * y, x - y) }");
    let program = program.with_recipients(0, Recipients::only(0)).unwrap().with_recipients(1, Recipients::only(1));
    let inputs = [bits(32, &mut rng(1)), bits(32, &mut rng(2))];
    check(&DEALT, 2, &program.unwrap(), &inputs, setting(Backend::detect()));
}

/// A built-in circuit, which has no source text.
#[test]
fn built_in_words() {
    for name in ["add32", "sub32", "mul32", "mul64"] {
        let program = Program::from_circuit(comity_library::find(name).unwrap()).unwrap().with_owner(1, 1).unwrap();
        let inputs: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng(3))).collect();
        check(&DEALT, 2, &program, &inputs, setting(Backend::detect()));
    }
}

/// What people write: squares whose top bit no gate reads, code that the compiler cuts into several circuits,
/// functions.
#[test]
fn programs_of_several_circuits_at_several_widths() {
    for (ty, n) in [("u32", 40), ("u64", 30), ("u128", 6)] {
        let pair = |body: &str| format!("fn main(x: {ty} from alice, y: {ty} from bob) -> (r: {ty}) {{ {body} }}");
        let arrays = |body: &str, of: &str| {
            format!("fn main(x: [{ty}; {n}] from alice, y: [{ty}; {n}] from bob) -> (r: {of}) {{ {body} }}")
        };
        runs(&pair("((((((x*y+1)*x+2)*y+3)*x+4)*y+5)*x+6)*y+7"));
        runs(&pair("x * x * y"));
        runs(&pair("let mut p = x + y; for i in 0..8 { p = p * p + x; } p"));
        // A turn of 128 bits is cut inside a square, of which a bit is known.
        if ty == "u128" {
            continue;
        }
        runs(&arrays(&format!("let mut s = y[0]; for i in 0..{n} {{ s = s * x[i] + y[i] * y[i]; }} s"), ty));
        let each = format!("let mut v = [0{ty}; {n}]; for i in 0..{n} {{ v[i] = 3*x[i]*x[i] + 5*y[i] - 4; }} v");
        runs(&arrays(&each, &format!("[{ty}; {n}]")));
        let apart = format!("fn apart(a: {ty}, b: {ty}) -> {ty} {{ a * a - 2 * a * b + b * b }}\n");
        let sum = format!("let mut s = 0{ty}; for i in 0..{n} {{ s += apart(x[i], y[i]); }} s * s");
        runs(&(apart + &arrays(&sum, ty)));
    }
}

/// All operands of words of up to five bits, side by side.
#[test]
fn all_operands_of_small_words() {
    for k in 1..=5usize {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", k), b.input("y", k));
        let mut outputs = vec![arith::add(&mut b, &x, &y), arith::sub(&mut b, &x, &y), arith::negate(&mut b, &x)];
        outputs.extend([arith::mul(&mut b, &x, &y), arith::shl(&y, k - 1), y[..k.div_ceil(2)].to_vec()]);
        // Modulo four a square is the lowest bit, and no gate says so.
        if k != 2 {
            outputs.push(arith::square(&mut b, &y));
        }
        outputs.iter().enumerate().for_each(|(i, output)| b.output(&format!("out{i}"), output));
        let program = Program::map(b.finish(), 1 << (2 * k), &[]).unwrap().with_owner(1, 1).unwrap();
        let all = |of: fn(u32, usize) -> u32| -> Bits {
            let pairs = 0..1u32 << (2 * k);
            pairs.flat_map(|pair| (0..k).map(move |bit| of(pair, k) >> bit & 1 == 1)).collect()
        };
        let inputs = [all(|pair, k| pair & ((1 << k) - 1)), all(|pair, k| pair >> k)];
        check(&DEALT, 2, &program, &inputs, setting(Backend::detect()));
    }
}

/// Whatever a program does with numbers, at several widths.
#[test]
fn comparisons_divisions_shifts_and_choices() {
    for (ty, half, by) in [("u16", "u8", 10), ("u32", "u16", 1000), ("u64", "u32", 86_400), ("u128", "u64", 7)] {
        let pair =
            |body: &str, of: &str| format!("fn main(x: {ty} from alice, y: {ty} from bob) -> (r: {of}) {{ {body} }}");
        runs(&pair("if x * y < y + 5 { x } else { y - x }", ty));
        runs(&pair("min(x, y) * max(x, y) + x / (y % 5)", ty));
        runs(&pair(&format!("(x * 3 + y) / {by} + y % {by}"), ty));
        runs(&pair("x / y + x % y", ty));
        runs(&pair("(x == y, x != y + 1, x >= y && y > 3 || x <= 7)", "(bool, bool, bool)"));
        runs(&pair("((x + y) >> 3) * 5 + (x >> 1) + ((y << 2) >> 5)", ty));
        runs(&pair(
            "(x << (y as u4)) + (x >> (y as u3)) + rotate_left(x, 5) + rotate_left(y, x as u4) + rotate_right(y, 3)",
            ty,
        ));
        runs(&pair(&format!("((x as {half}) as {ty}) * y + (((x * y) as {half}) as {ty})"), ty));
        runs(&pair("if x < y && (x as u1) == 1 { x } else if y == 0 { y + 1 } else { x - y }", ty));
        let signed = ty.replace('u', "i");
        let pair =
            |body: &str| format!("fn main(x: {signed} from alice, y: {signed} from bob) -> (r: {signed}) {{ {body} }}");
        runs(&pair("if x * y < -3 { x / 5 } else { y % -7 + x }"));
        runs(&pair("x / y + x % y + (x >> 4) + (y >> ((x as u8) % 9))"));
        runs(&pair(&format!("(((x + y) as i8) as {signed}) * 2 + max(x, y)")));
    }
}

#[test]
fn arrays_that_are_compared_and_sorted() {
    for n in [5, 64] {
        let arrays = |body: &str, of: &str| {
            format!("fn main(x: [u32; {n}] from alice, y: [u32; {n}] from bob) -> (r: {of}) {{ {body} }}")
        };
        let least = format!("let mut least = x[0]; for i in 0..{n} {{ least = min(least, x[i] * y[i]); }} least");
        runs(&arrays(&least, "u32"));
        let count = format!("let mut n = 0u8; for i in 0..{n} {{ if x[i] < y[i] {{ n += 1; }} }} n");
        runs(&arrays(&count, "u8"));
        let each = format!("let mut v = [0u32; {n}]; for i in 0..{n} {{ v[i] = (x[i] + y[i]) / 3; }} v");
        runs(&arrays(&each, &format!("[u32; {n}]")));
        let best = format!(
            "let mut best = (0u8, 4294967295u32);
            for i in 0..{n} {{ let d = (x[i] - y[0]) * (x[i] - y[0]); if d < best.1 {{ best = (i as u8, d); }} }} best"
        );
        runs(&arrays(&best, "(u8, u32)"));
        let flags = format!("let mut v = [false; {n}]; for i in 0..{n} {{ v[i] = x[i] < y[i]; }} v");
        runs(&arrays(&flags, &format!("[bool; {n}]")));
    }
}

/// A memory of words of which parts are written and read: each word ends where something else is written, and what
/// reads more, or from the middle on, joins and cuts words.
#[test]
fn parts_of_words_are_written_and_read() {
    let mut p = ProgramBuilder::new("parts");
    let (x, y) = (p.input("x", 0, 64), p.input("y", 1, 64));
    let sum = p.register(64);
    let circuit = |p: &mut ProgramBuilder, bits: usize| {
        let mut b = p.builder();
        let words = [b.input("x", bits), b.input("y", bits)];
        let product = arith::mul(&mut b, &words[0], &words[1]);
        b.output("product", &product);
        p.circuit(b.finish())
    };
    let [narrow, middle, wide] = [16, 24, 64].map(|bits| circuit(&mut p, bits));
    // The low bits of x, then some from the middle of y; then all.
    p.call(narrow, &[x.slice(8, 16).span(), y.slice(0, 16).span()], &[x.slice(0, 16).span()]);
    p.call(middle, &[y.slice(20, 24).span(), x.slice(30, 24).span()], &[sum.slice(3, 24).span()]);
    p.call(wide, &[x.span(), y.span()], &[y.span()]);
    p.call(wide, &[sum.span(), y.span()], &[sum.span()]);
    for (name, word) in [("x", x), ("y", y), ("sum", sum)] {
        p.reveal(name, Recipients::All, word);
    }
    let program = p.finish().unwrap();
    for seed in 0..3 {
        let inputs: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng(seed))).collect();
        check(&DEALT, 2, &program, &inputs, setting(Backend::detect()));
    }
}
