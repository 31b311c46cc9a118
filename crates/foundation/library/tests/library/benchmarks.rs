//! The functions that papers measure, run as programs.

use comity_circuit::{Observer, Plain, run};
use comity_core::Bits;

use crate::Random;

struct Outputs(Vec<Bits>);

impl Observer for Outputs {
    fn output(&mut self, _: usize, value: Bits) {
        self.0.push(value);
    }
}

/// The output of a built-in on numbers given bit by bit.
fn call(name: &str, inputs: &[&[bool]]) -> Vec<bool> {
    let program = comity_library::program(name).expect(name);
    let inputs: Vec<Option<Bits>> = inputs.iter().map(|value| Some(value.iter().copied().collect())).collect();
    let mut outputs = Outputs(vec![]);
    run(&program, &mut Plain::new(), &inputs, &mut outputs).expect(name);
    assert_eq!(outputs.0.len(), 1);
    outputs.0[0].iter().collect()
}

fn bits(value: u128, n: usize) -> Vec<bool> {
    (0..n).map(|i| i < 128 && value >> i & 1 == 1).collect()
}

fn number(bits: &[bool]) -> u128 {
    bits.iter().enumerate().fold(0, |sum, (i, &bit)| sum | u128::from(bit) << i)
}

fn random(random: &mut Random, n: usize) -> Vec<bool> {
    (0..n).map(|_| random.next() & 1 == 1).collect()
}

/// Numbers of any width for the oracle, in the plainest way: bits, least significant first.
mod plain {
    /// The sum `x + y` in one bit more.
    pub(super) fn add(x: &[bool], y: &[bool]) -> Vec<bool> {
        let mut carry = 0;
        let digit = |i: usize| {
            let sum = u8::from(x[i]) + u8::from(y[i]) + carry;
            carry = sum >> 1;
            sum & 1 == 1
        };
        let mut sum: Vec<bool> = (0..x.len()).map(digit).collect();
        sum.push(carry == 1);
        sum
    }

    /// `x` modulo `m`, for x < 2m.
    fn reduce(x: &[bool], m: &[bool]) -> Vec<bool> {
        let (mut borrow, mut less) = (0, vec![]);
        for (i, &bit) in x.iter().enumerate() {
            let digit = i8::from(bit) - i8::from(m.get(i) == Some(&true)) - borrow;
            less.push(digit & 1 == 1);
            borrow = i8::from(digit < 0);
        }
        (if borrow == 1 { x } else { &less })[..m.len()].to_vec()
    }

    /// `x · y` modulo `m`, for x < m.
    fn mul_mod(x: &[bool], y: &[bool], m: &[bool]) -> Vec<bool> {
        let mut product = vec![false; m.len()];
        for &bit in y.iter().rev() {
            product = reduce(&add(&product, &product), m);
            if bit {
                product = reduce(&add(&product, x), m);
            }
        }
        product
    }

    pub(super) fn power(base: &[bool], exponent: &[bool], m: &[bool]) -> Vec<bool> {
        let mut one = vec![false; m.len()];
        one[0] = true;
        let one = reduce(&one, m);
        let base = mul_mod(&one, base, m);
        let mut power = one;
        for &bit in exponent.iter().rev() {
            power = mul_mod(&power, &power, m);
            if bit {
                power = mul_mod(&power, &base, m);
            }
        }
        power
    }

    /// `x · y` modulo 2^n.
    pub(super) fn mul(x: &[bool], y: &[bool]) -> Vec<bool> {
        let n = x.len();
        let mut product = vec![false; n];
        for (i, _) in y.iter().enumerate().filter(|&(_, &bit)| bit) {
            let upper = add(&product[i..], &x[..n - i]);
            product[i..].copy_from_slice(&upper[..n - i]);
        }
        product
    }
}

#[test]
fn sums_and_signs_go_on_from_call_to_call() {
    let mut rng = Random(1);
    for n in [1, 2, 3, 63, 64, 65, 66, 128, 129, 200, 1000] {
        for turn in 0..6 {
            let a = random(&mut rng, n);
            // A long carry, and a long borrow.
            let b = if turn == 0 { a.iter().map(|bit| !bit).collect() } else { random(&mut rng, n) };
            assert_eq!(call(&format!("sum{n}"), &[&a, &b]), plain::add(&a, &b)[..n], "{n} bits");
            // a - b = a + !b + 1, and its top bit is the sign.
            let complement: Vec<bool> = b.iter().map(|bit| !bit).collect();
            let mut one = vec![false; n];
            one[0] = true;
            let difference = plain::add(&plain::add(&a, &complement)[..n], &one);
            assert_eq!(call(&format!("cmp{n}"), &[&a, &b]), [difference[n - 1]], "{n} bits");
        }
    }
    // Signed numbers whose difference has no more bits.
    for (a, b, less) in [(3, 5, true), (5, 3, false), (5, 5, false), (-3, 5, true), (5, -3, false), (-5, -3, true)] {
        let [a, b] = [a, b].map(|v: i32| bits(v as u8 as u128, 8));
        assert_eq!(call("cmp8", &[&a, &b]), [less]);
    }
}

#[test]
fn wide_products_are_those_of_one_circuit() {
    let mut rng = Random(2);
    for n in [1, 2, 5, 64, 130, 131, 200, 255, 256, 257, 258, 300, 517, 1024, 1100] {
        let (a, b) = (random(&mut rng, n), random(&mut rng, n));
        assert_eq!(call(&format!("mult{n}"), &[&a, &b]), plain::mul(&a, &b), "{n} bits");
        let ones = vec![true; n];
        assert_eq!(call(&format!("mult{n}"), &[&ones, &ones]), plain::mul(&ones, &ones), "{n} bits");
    }
}

/// The power base^exponent modulo m, or 0 where the program says so.
fn power(base: &[bool], exponent: &[bool], m: &[bool]) -> Vec<bool> {
    if m[0] { plain::power(base, exponent, m) } else { vec![false; m.len()] }
}

#[test]
fn powers_modulo_small_numbers() {
    for n in 1..=3 {
        for all in 0..1u128 << (3 * n) {
            let [base, exponent, m] = [0, 1, 2].map(|i| bits(all >> (i * n), n));
            let want = power(&base, &exponent, &m);
            let got = call(&format!("modexp{n}"), &[&base, &exponent, &m]);
            assert_eq!(got, want, "{} ^ {} modulo {}", number(&base), number(&exponent), number(&m));
        }
    }
}

#[test]
fn powers_modulo_wide_numbers() {
    let mut rng = Random(3);
    for (n, turns) in [
        (4, 40),
        (7, 40),
        (8, 40),
        (13, 20),
        (16, 20),
        (31, 10),
        (32, 10),
        (64, 6),
        (73, 4),
        (129, 2),
        (160, 7),
        (330, 1),
    ] {
        for turn in 0..turns {
            let [mut base, mut exponent, mut m] = [(); 3].map(|()| random(&mut rng, n));
            match turn {
                0 => m = vec![true; n],
                1 => m[n / 2..].fill(false), // a small modulus
                2 => m[0] = false,
                3 => base = m.clone(),
                4 => exponent.fill(false),
                5 => base.fill(false),
                6 => m = bits(1, n),
                _ => {}
            }
            if turn != 2 {
                m[0] = true;
            }
            let want = power(&base, &exponent, &m);
            let got = call(&format!("modexp{n}"), &[&base, &exponent, &m]);
            assert_eq!(got, want, "{n} bits: {base:?} ^ {exponent:?} modulo {m:?}");
        }
    }
    // The machine's own numbers agree with the oracle.
    let [base, exponent, m] = [0x1234_5678_9abc_def1, 65_537, 0xffff_ffff_ffff_ffc5].map(|v| bits(v, 64));
    let machine = (0..16).fold(number(&base), |x, _| x * x % number(&m)) * number(&base) % number(&m);
    assert_eq!(number(&plain::power(&base, &exponent, &m)), machine);
}

#[test]
fn programs_of_wide_numbers_are_small() {
    for (name, wires, gates) in [
        ("cmp16384", 40_000, 1_000),
        ("sum1024", 4_000, 1_000),
        ("mult2048", 100_000, 200_000),
        ("modexp1024", 200_000, 400_000),
    ] {
        let program = comity_library::program(name).unwrap();
        assert!(program.wires() <= wires, "{name}: {} wires", program.wires());
        let built: usize = program.circuits().iter().map(|circuit| circuit.gates().len()).sum();
        assert!(built <= gates, "{name}: {built} gates");
    }
}
