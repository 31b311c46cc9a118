//! Programs under random assignments, against the evaluator.

use comity_circuit::{Builder, Program, ProgramBuilder, Recipients, Wire};
use comity_core::Prg;
use comity_library::arith;
use comity_mixed::regions;
use comity_testing::laws::{random_program, random_words, rng};

use super::runs;

pub(super) fn compiled(text: &str) -> Program {
    comity_language::compile("test.cty", &format!("parties alice, bob;\n{text}")).unwrap_or_else(|e| panic!("{e}"))
}

fn text(text: &str) {
    runs(&compiled(text), 4, &mut rng(text.len() as u128));
}

#[test]
fn random_programs_of_words() {
    for seed in 0..30 {
        let mut rng = rng(seed);
        let program = random_words(2, 128, &mut rng);
        runs(&program, 3, &mut rng);
    }
}

#[test]
fn random_programs_of_gates() {
    for seed in 0..6 {
        let mut rng = rng(seed);
        let program = random_program(2, 200, true, &mut rng);
        runs(&program, 2, &mut rng);
    }
}

fn below(n: usize, rng: &mut Prg) -> usize {
    (rng.block().to_u128() % n as u128) as usize
}

/// Words that are computed on as words and as bits, bits that become words, wires inside of operations, tables.
pub(super) fn random_mix(rng: &mut Prg) -> Program {
    let bits = 1 + below(70, rng);
    let mut b = Builder::new();
    let mut all: Vec<Vec<Wire>> = ["x", "y", "z"].iter().map(|name| b.input(name, bits)).collect();
    for _ in 0..4 + below(8, rng) {
        let (x, y) = (all[below(all.len(), rng)].clone(), all[below(all.len(), rng)].clone());
        let next = match below(17, rng) {
            0 => arith::add(&mut b, &x, &y),
            1 | 2 => arith::mul(&mut b, &x, &y),
            3 => arith::square(&mut b, &x),
            4 => arith::xor(&mut b, &x, &y),
            5 => arith::and(&mut b, &x, &y),
            6 => arith::or(&mut b, &x, &y),
            7 => arith::not(&mut b, &x),
            8 => arith::min(&mut b, &x, &y),
            9 => {
                let less = arith::lt(&mut b, &x, &y);
                let equal = arith::eq(&mut b, &x, &y);
                let either = b.or(less, equal);
                arith::mux(&mut b, either, &x, &y)
            }
            // The carry is a wire inside of a sum.
            10 => {
                let (sum, carry) = arith::add_carry(&mut b, &x, &y, Wire::ZERO);
                let known = arith::add(&mut b, &x, &y);
                let chosen = arith::mux(&mut b, carry, &sum, &known);
                arith::sub(&mut b, &chosen, &y)
            }
            // Bits out of their order.
            11 => x.iter().rev().copied().collect(),
            12 => {
                let count = arith::popcount(&mut b, &x);
                (0..bits).map(|bit| count.get(bit).copied().unwrap_or(Wire::ZERO)).collect()
            }
            13 => arith::dot(&mut b, &[x.clone(), y.clone(), x.clone()], &[y, x.clone(), x]),
            14 => {
                let product = arith::mat_mul(&mut b, [2, 1, 2], &[x.clone(), y.clone()], &[y, x]);
                arith::sub(&mut b, &product[1], &product[3])
            }
            15 => {
                let by = 1 + below(58, rng);
                let [x, y] = [x, y].map(|x| [&x[..], &vec![x[bits - 1]; by]].concat());
                arith::mul_shift(&mut b, &x, &y, by)
            }
            _ => {
                let by = below(bits, rng);
                let shifted = arith::shr(&x, by);
                arith::add(&mut b, &shifted, &y)
            }
        };
        all.push(next);
    }
    for (i, word) in all.iter().rev().take(3).enumerate() {
        b.output(&format!("out{i}"), word);
    }
    let program = match below(3, rng) {
        0 => Program::iterate(b.finish(), 3, &[(0, 0), (1, 2)]),
        1 => Program::map(b.finish(), 5, &[]),
        _ => Program::from_circuit(b.finish()),
    };
    program.unwrap().with_owner(1, 1).unwrap().with_owner(2, 0).unwrap()
}

#[test]
fn random_programs_of_words_and_bits() {
    for seed in 0..40 {
        let mut rng = rng(1000 + seed);
        let program = random_mix(&mut rng);
        runs(&program, 3, &mut rng);
    }
}

#[test]
fn programs_of_the_language() {
    text("fn main(x: u32 from alice, y: u32 from bob) -> (r: u32) { let z = x * y; (z ^ x) + 1 }");
    text("fn main(x: u32 from alice, y: u32 from bob) -> (r: u32) { let z = x * y; if z < 5 { z & x } else { y } }");
    text("fn main(x: u64 from alice, y: u64 from bob) -> (r: u64) { popcount(x * y) as u64 * x + (x | y) }");
    text("fn main(x: i16 from alice, y: i16 from bob) -> (r: i16, s: bool) { (x / 3 + y % -7, x * y < y) }");
    text("fn main(x: u128 from alice, y: u128 from bob) -> (r: u128) { (x * y + (x >> 3)) / 10 }");
    text(
        "fn main(x: [[i32; 2]; 3] from alice, y: [[i32; 3]; 2] from bob) -> (r: [[i32; 3]; 3], s: i32) {
            let z = mat_mul(x, y);
            (z, if z[0][1] < z[1][0] { dot(z[0], z[1]) } else { mul_shift(z[2][2], x[0][0], 16) })
        }",
    );
    text("fn main(x: f32 from alice, y: f32 from bob) -> (r: f32) { x * y + x }");
}

#[test]
fn arrays_and_loops() {
    for n in [5, 70] {
        text(&format!(
            "fn main(x: [u32; {n}] from alice, y: [u32; {n}] from bob) -> (dot: u32, least: u32, each: [u32; {n}]) {{
                let mut sum = 0u32;
                for i in 0..{n} {{ sum += x[i] * y[i]; }}
                let mut least = x[0];
                for i in 0..{n} {{ least = min(least, x[i] * y[i] + 1); }}
                let mut each = [0u32; {n}];
                for i in 0..{n} {{ each[i] = (x[i] & y[i]) * (x[i] + 3); }}
                (sum, least, each)
            }}"
        ));
    }
    text(
        "struct Row { many: u32, price: u64 }
        fn main(rows: [Row; 30] from alice, factor: u64 from bob) -> (sum: u64, many: u32) {
            let mut sum = 0u64;
            let mut many = 0u32;
            for i in 0..30 { sum += rows[i].price * factor; many += rows[i].many; }
            (sum, many)
        }",
    );
}

#[test]
fn built_in_circuits() {
    for name in ["aes128", "sha256", "mul64", "div32"] {
        let program = Program::from_circuit(comity_library::find(name).unwrap()).unwrap();
        runs(&program, 1, &mut rng(5));
    }
}

/// A memory of words of which parts are written and read.
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
    p.call(narrow, &[x.slice(8, 16).span(), y.slice(0, 16).span()], &[x.slice(0, 16).span()]);
    p.call(middle, &[y.slice(20, 24).span(), x.slice(30, 24).span()], &[sum.slice(3, 24).span()]);
    p.call(wide, &[x.span(), y.span()], &[y.span()]);
    p.call(wide, &[sum.span(), y.span()], &[sum.span()]);
    for (name, word) in [("x", x), ("y", y), ("sum", sum)] {
        p.reveal(name, Recipients::All, word);
    }
    let program = p.finish().unwrap();
    runs(&program, 6, &mut rng(9));
}

/// Results go where arguments were, in another order.
#[test]
fn arguments_are_overwritten() {
    for form in [0, 1] {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", 16), b.input("y", 16));
        let sum = arith::mul(&mut b, &x, &y);
        b.output("y", &if form == 0 { y.clone() } else { sum });
        b.output("x", &x);
        let program = Program::iterate(b.finish(), 3, &[(0, 0), (1, 1)]).unwrap().with_owner(1, 1).unwrap();
        runs(&program, 4, &mut rng(11));
    }
}

/// The top bit of what is squared says nothing of the square, and is no input of the gates.
#[test]
fn numbers_whose_top_bits_nobody_reads_are_words() {
    let program = compiled(
        "fn main(x: [u32; 3] from alice, y: u32 from bob) -> (r: u32) {
            let mut s = 0;
            for i in 0..3 { let d = x[i] - y; s += d * d; }
            s
        }",
    );
    let of_calls = program.circuits().iter().flat_map(|circuit| circuit.inputs());
    assert!(of_calls.clone().count() > 0 && of_calls.into_iter().any(|value| value.bits == 31));
    assert!(regions(&program).iter().all(|region| region.word == Some(32)), "{:?}", regions(&program));
    runs(&program, 6, &mut rng(31));
}
