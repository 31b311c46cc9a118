//! Modular exponentiation in Montgomery's form, with secret base, exponent and modulus.
//!
//! A number x modulo the odd m stands for x·R^-1, where R = 2^r with r > n + 1: the product of two of them and R^-1 is
//! the quotient of `t - (t·m^-1 mod R)·m` and R, so reducing costs two products and no division (Montgomery: "Modular
//! multiplication without trial division", 1985). Numbers are kept below 2m, which R > 4m allows without comparing
//! them with m (Walter: "Montgomery exponentiation needs no final subtractions", 1999).
//!
//! The one product is the lower half of a full one; of the other the lower half is known, that of t, so the product
//! modulo 2^r - 1 tells the upper one, for two thirds of its price or less. Barrett's reduction needs the upper half of
//! a product that nobody knows the lower half of, which costs as much as all of it, and a lower half:
//! 650,000 ANDs for 1,024 bits where this takes 500,000, and long division a million.
//!
//! The exponent is read in windows from the top: as many squarings as it has bits, and for each window a product with
//! a power that is chosen by multiplexers, 2^w - 1 ANDs for each bit of a number.

use comity_circuit::{Builder, Goal, Program, ProgramBuilder, Recipients, Register, Wire};

use super::{Wide, cyclic};
use crate::arith;

/// The modulus, and what reducing needs.
struct Modulus {
    /// The modulus in r bits.
    modulus: Register,
    /// The modulus's inverse modulo 2^r.
    inverse: Register,
}

/// The program of base^exponent modulo an odd modulus, all of n bits. The base is party 0's, the others are party 1's.
/// An even modulus gives 0.
pub(crate) fn modexp(goal: Goal, n: usize) -> Program {
    let mut program = ProgramBuilder::for_goal("modexp", goal);
    let p = &mut program;
    let base = p.input("base", 0, n as u64);
    let exponent = p.input("exponent", 1, n as u64);
    let given = p.input("modulus", 1, n as u64);
    let mut wide = Wide::default();
    let (r, bits) = (width_of_r(n), (n + 1) as u64);

    let modulus = p.register(r as u64);
    p.copy(&given.span(), &modulus.slice(0, n as u64).span());
    let inverse = wide.inverse(p, modulus);
    let m = Modulus { modulus, inverse };
    let (one, square_of_r) = wide.powers_of_two(p, given, r as u64);

    // The powers that windows choose from, side by side: 0, 1, 2, ... Their bits are chosen a few at a time.
    let window = window(n);
    let chunk = chunk(n + 1);
    let pitch = ((n + 1).div_ceil(chunk) * chunk) as u64;
    let table = p.register(pitch << window);
    let power = |i: u64| table.slice(i * pitch, bits);
    p.copy(&one.span(), &power(0).span());
    let wide_base = p.register(bits);
    p.copy(&base.span(), &wide_base.slice(0, n as u64).span());
    wide.mul_montgomery(p, &m, wide_base, square_of_r, power(1));
    let (x, y) = (p.register(bits), p.register(bits));
    if window > 1 {
        p.repeat((1 << (window - 1)) - 1, |p, turn| {
            let (each, twice) = (pitch as i64, 2 * pitch as i64);
            p.copy(&power(1).span().moving(turn, each), &x.span());
            wide.square_montgomery(p, &m, x, y);
            p.copy(&y.span(), &power(2).span().moving(turn, twice));
            wide.mul_montgomery(p, &m, y, power(1), x);
            p.copy(&x.span(), &power(3).span().moving(turn, twice));
        });
    }

    // The exponent, filled up to whole windows.
    let windows = n.div_ceil(window) as u64;
    let digits = p.register(windows * window as u64);
    p.copy(&exponent.span(), &digits.slice(0, n as u64).span());
    let chosen = p.register(pitch);
    let choose = p.circuit(choose(p.builder(), window, chunk));
    let top = digits.slice((windows - 1) * window as u64, window as u64);
    let entries: Vec<_> = (0..1 << window).map(|i| table.slice(i * pitch, chunk as u64).span()).collect();
    let choice = |p: &mut ProgramBuilder, digit| {
        let mut args = vec![(digit, 0)];
        args.extend(entries.iter().map(|entry| (entry.clone(), chunk as i64)));
        p.map(choose, pitch / chunk as u64, &args, &[(chosen.slice(0, chunk as u64).span(), chunk as i64)]);
    };
    choice(p, top.span());
    let result = x;
    let chosen_power = chosen.slice(0, bits);
    p.copy(&chosen_power.span(), &result.span());
    if windows > 1 {
        let second = digits.slice((windows - 2) * window as u64, window as u64);
        p.repeat(windows - 1, |p, turn| {
            p.repeat(window as u64, |p, _| wide.square_montgomery(p, &m, result, result));
            choice(p, second.span().moving(turn, -(window as i64)));
            wide.mul_montgomery(p, &m, result, chosen_power, result);
        });
    }

    // Out of Montgomery's form: reduced from t = result it is at most m, and m only if it should be 0.
    let t = p.register(2 * bits);
    p.copy(&result.span(), &t.slice(0, bits).span());
    wide.reduce(p, &m, t, result);
    let power = p.register(n as u64);
    let last = |b: &mut Builder, v: &[Vec<Wire>]| {
        let m = arith::padded(&v[1], v[0].len());
        let (_, less) = arith::sub_borrow(b, &v[0], &m, Wire::ZERO);
        let good = b.and(less, m[0]);
        vec![v[0][..v[1].len()].iter().map(|&bit| b.and(bit, good)).collect()]
    };
    wide.call(p, ("last", last), &[result, given], &[power]);
    p.reveal("result", Recipients::All, power);
    program.finish().expect("calls on words that are there")
}

impl Wide {
    /// `x · y / R` below 2m, for x · y < R·m.
    fn mul_montgomery(&mut self, p: &mut ProgramBuilder, m: &Modulus, x: Register, y: Register, out: Register) {
        let t = self.take(p, 2 * x.bits() as usize);
        self.mul_full(p, 1, x.into(), y.into(), t.into());
        self.reduce(p, m, t, out);
        self.give([t]);
    }

    /// `x² / R` below 2m, for x < 2m.
    fn square_montgomery(&mut self, p: &mut ProgramBuilder, m: &Modulus, x: Register, out: Register) {
        let t = self.take(p, 2 * x.bits() as usize);
        self.square_full(p, 1, x.into(), t.into());
        self.reduce(p, m, t, out);
        self.give([t]);
    }

    /// `t / R` modulo m, below 2m, for t < R·m.
    fn reduce(&mut self, p: &mut ProgramBuilder, m: &Modulus, t: Register, out: Register) {
        let r = m.modulus.bits();
        let (quotient, multiple) = (self.take(p, r as usize), self.take(p, r as usize));
        let (low, high) = (t.slice(0, r), t.slice(r, t.bits() - r));
        self.mul(p, 1, low.into(), m.inverse.into(), quotient.into());
        self.mul_cyclic(p, quotient, m.modulus, multiple);
        self.call(p, ("reduced", reduced), &[low, high, multiple, m.modulus.slice(0, out.bits())], &[out]);
        self.give([quotient, multiple]);
    }

    /// The inverse of an odd number modulo two to the power of its width. Newton's iteration: each turn doubles the
    /// bits that are right.
    fn inverse(&mut self, p: &mut ProgramBuilder, m: Register) -> Register {
        /// The widest inverse that is one circuit.
        const DIRECT: u64 = 64;
        let mut widths = vec![m.bits()];
        while let Some(&width) = widths.last().filter(|&&width| width > DIRECT) {
            widths.push(width.div_ceil(2));
        }
        let first = widths.pop().expect("at least one width");
        let mut inverse = p.register(first);
        self.call(p, ("inverse", |b, v| vec![inverse_of(b, &v[0])]), &[m.slice(0, first)], &[inverse]);
        while let Some(width) = widths.pop() {
            // y·(2 - m·y), with m·y = 1 + 2^known·z: y - 2^known·(y·z).
            let known = inverse.bits();
            let rest = width - known;
            let (wider, product) = (p.register(width), self.take(p, width as usize));
            let change = self.take(p, rest as usize);
            self.call(p, WIDEN_TO_SECOND, &[inverse, product], &[wider]);
            self.mul(p, 1, m.slice(0, width).into(), wider.into(), product.into());
            self.mul(p, 1, inverse.slice(0, rest).into(), product.slice(known, rest).into(), change.into());
            let negate = |b: &mut Builder, v: &[Vec<Wire>]| vec![arith::negate(b, &v[0])];
            self.call(p, ("negate", negate), &[change], &[wider.slice(known, rest)]);
            self.give([product, change]);
            inverse = wider;
        }
        inverse
    }

    /// The powers 2^r and 2^2r modulo m, below 2m and in n + 1 bits: 2r doublings, n + 1 ANDs each.
    fn powers_of_two(&mut self, p: &mut ProgramBuilder, m: Register, r: u64) -> (Register, Register) {
        let bits = m.bits() + 1;
        // From -m to m - 1, so that the sign says what to do next.
        let power = p.register(bits);
        self.call(p, ("1 - m", first_power), &[m], &[power]);
        let results = [(); 2].map(|()| p.register(bits));
        for result in results {
            p.repeat(r, |p, _| self.call(p, ("double", double), &[power, m], &[power]));
            self.call(p, ("not negative", not_negative), &[power, m], &[result]);
        }
        (results[0], results[1])
    }
}

/// A circuit that widens the first value to the width of the second.
const WIDEN_TO_SECOND: (&str, super::Build) = ("widen to second", |_, v| vec![arith::padded(&v[0], v[1].len())]);

fn first_power(b: &mut Builder, v: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let bits = v[0].len() + 1;
    vec![arith::sub(b, &arith::constant(1, bits), &arith::padded(&v[0], bits))]
}

/// `2x - m` if x is not negative, else `2x + m`.
fn double(b: &mut Builder, v: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let (x, m) = (&v[0], arith::padded(&v[1], v[0].len()));
    let positive = b.not(x[x.len() - 1]);
    // 2x - m is 2x plus the complement and one: the one takes the place of the lowest bit of 2x.
    let twice = [&[positive], &x[..x.len() - 1]].concat();
    let change: Vec<Wire> = m.iter().map(|&bit| b.xor(bit, positive)).collect();
    vec![arith::add(b, &twice, &change)]
}

fn not_negative(b: &mut Builder, v: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let sign = v[0][v[0].len() - 1];
    let back: Vec<Wire> = arith::padded(&v[1], v[0].len()).iter().map(|&bit| b.and(bit, sign)).collect();
    vec![arith::add(b, &v[0], &back)]
}

/// The upper half of t, less that of q·m, plus m, where the lower halves are the same: from the halves of t,
/// q·m modulo 2^r - 1, and m. The upper halves are less than m.
fn reduced(b: &mut Builder, v: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let bits = v[3].len();
    // Modulo 2^r - 1 a number is the sum of its halves. Zero may come as r ones, and nothing else has the top bit: then
    // one less is the same as zero.
    let upper = cyclic::sub(b, &v[2], &v[0]);
    let sum = arith::add(b, &arith::padded(&v[1], bits), &v[3]);
    vec![arith::sub_borrow(b, &sum, &upper[..bits], upper[upper.len() - 1]).0]
}

/// The inverse of an odd word modulo 2^n.
fn inverse_of(b: &mut Builder, m: &[Wire]) -> Vec<Wire> {
    let n = m.len();
    let mut inverse = m[..n.min(3)].to_vec(); // the square of an odd number is 1 modulo 8
    while inverse.len() < n {
        let (known, width) = (inverse.len(), n.min(2 * inverse.len()));
        let product = arith::mul(b, &m[..width], &arith::padded(&inverse, width));
        let change = arith::mul(b, &inverse[..width - known], &product[known..]);
        inverse.extend(arith::negate(b, &change));
    }
    inverse
}

/// A circuit that chooses one of 2^window words, by its index.
fn choose(mut b: Builder, window: usize, bits: usize) -> comity_circuit::Circuit {
    let digit = b.input("digit", window);
    let mut words: Vec<Vec<Wire>> = (0..1 << window).map(|_| b.input("power", bits)).collect();
    for &select in &digit {
        words = words.chunks(2).map(|pair| arith::mux(&mut b, select, &pair[1], &pair[0])).collect();
    }
    b.output("power", &words[0]);
    b.finish()
}

/// The least width of R that leaves room for numbers below 2m, and can be halved as often as products modulo
/// 2^r - 1 do.
fn width_of_r(n: usize) -> usize {
    (n + 2).next_multiple_of(1 << cyclic::cuts(n as u64 + 2))
}

/// The number of bits of the exponent that are used at once: the fewest ANDs, a product being worth some 768
/// ANDs a bit.
fn window(n: usize) -> usize {
    let cost = |w: &usize| n.div_ceil(*w) * (768 + (1 << w)) + (768 << w);
    (1..=8).min_by_key(cost).expect("some window")
}

/// The number of bits of a power that are chosen by one call: few are left over.
fn chunk(bits: usize) -> usize {
    (24..=48).min_by_key(|chunk| bits.div_ceil(*chunk) * chunk).expect("some chunk")
}
