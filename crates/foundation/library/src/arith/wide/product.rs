//! Products and squares of wide words.

use comity_circuit::{Builder, Goal, Program, ProgramBuilder, Recipients, Register, Wire};

use super::{Wide, Words};
use crate::arith::{self, Columns};

/// The widest words whose full product is one circuit.
const FULL: usize = 72;
/// The widest words the lower half of whose product is one circuit.
const LOW: usize = 130;

impl Wide {
    /// The full products of `times` pairs of words of the same width, in twice as many bits.
    pub(super) fn mul_full(&mut self, p: &mut ProgramBuilder, times: u64, x: Words, y: Words, out: Words) {
        let n = x.bits();
        if n <= FULL {
            return self.map(p, times, ("mul_full", |b, v| vec![arith::mul_full(b, &v[0], &v[1])]), &[x, y], &[out]);
        }
        let (xs, ys) = (self.split(p, times, x), self.split(p, times, y));
        let parts = self.take(p, 6 * piece(n) * times as usize);
        let products = Words::packed(parts, 2 * piece(n) as u64);
        self.mul_full(p, 3 * times, Words::packed(xs, piece(n) as u64), Words::packed(ys, piece(n) as u64), products);
        self.join(p, times, n, parts, out);
        self.give([xs, ys, parts]);
    }

    /// The squares of `times` words, in twice as many bits.
    pub(super) fn square_full(&mut self, p: &mut ProgramBuilder, times: u64, x: Words, out: Words) {
        let n = x.bits();
        if n <= FULL {
            return self.map(p, times, ("square_full", |b, v| vec![arith::square_full(b, &v[0])]), &[x], &[out]);
        }
        let xs = self.split(p, times, x);
        let parts = self.take(p, 6 * piece(n) * times as usize);
        let squares = Words::packed(parts, 2 * piece(n) as u64);
        self.square_full(p, 3 * times, Words::packed(xs, piece(n) as u64), squares);
        self.join(p, times, n, parts, out);
        self.give([xs, parts]);
    }

    /// The products of `times` pairs of words of n bits, modulo 2^n.
    pub(super) fn mul(&mut self, p: &mut ProgramBuilder, times: u64, x: Words, y: Words, out: Words) {
        let n = x.bits();
        if n <= LOW {
            return self.map(p, times, ("mul", |b, v| vec![arith::mul(b, &v[0], &v[1])]), &[x, y], &[out]);
        }
        let half = n.div_ceil(2);
        let rest = n - half;
        // Two words for each pair: what one's upper half gives with the other's lower one.
        let full = self.take(p, 2 * half * times as usize);
        let cross = [(); 2].map(|()| self.take(p, rest * times as usize));
        let whole = Words::packed(full, 2 * half as u64);
        self.mul_full(p, times, x.slice(0, half), y.slice(0, half), whole);
        let [one, other] = cross.map(|all| Words::packed(all, rest as u64));
        self.mul(p, times, x.slice(0, rest), y.slice(half, rest), one);
        self.mul(p, times, x.slice(half, rest), y.slice(0, rest), other);
        let sum = |b: &mut Builder, v: &[Vec<Wire>]| {
            let (n, half) = (v[0].len(), v[0].len() - v[1].len());
            let mut columns = Columns::new(n - half);
            columns.word(0, &v[0][half..]);
            columns.word(0, &v[1]);
            columns.word(0, &v[2]);
            vec![[v[0][..half].to_vec(), columns.sum(b)].concat()]
        };
        self.map(p, times, ("sum of crossed", sum), &[whole.slice(0, n), one, other], &[out]);
        self.give(cross.into_iter().chain([full]));
    }

    /// The parts of each word, three of [`piece`] bits: its lower half, its upper half, and their sum.
    fn split(&mut self, p: &mut ProgramBuilder, times: u64, x: Words) -> Register {
        let bits = 3 * piece(x.bits());
        let out = self.take(p, bits * times as usize);
        let split = |b: &mut Builder, v: &[Vec<Wire>]| {
            let (n, half) = (v[0].len(), v[0].len().div_ceil(2));
            let sum = arith::sum_of_halves(b, &v[0], half);
            let (low, high) = v[0].split_at(half);
            vec![[arith::padded(low, piece(n)), arith::padded(high, piece(n)), sum].concat()]
        };
        self.map(p, times, ("split", split), &[x], &[Words::packed(out, bits as u64)]);
        out
    }

    /// Products of words of n bits from the three products of their parts.
    fn join(&mut self, p: &mut ProgramBuilder, times: u64, n: usize, parts: Register, out: Words) {
        let three = Words::packed(parts, 6 * piece(n) as u64);
        // The width of a part is that of words of an even and an odd width: they differ in the circuit.
        let join: (_, super::Build) = if n.is_multiple_of(2) {
            ("join", |b, v| join(b, &v[0], 0))
        } else {
            ("join to odd", |b, v| join(b, &v[0], 1))
        };
        self.map(p, times, join, &[three], &[out]);
    }
}

/// The width of the parts of words of n bits.
fn piece(n: usize) -> usize {
    n.div_ceil(2) + 1
}

fn join(b: &mut Builder, parts: &[Wire], odd: usize) -> Vec<Vec<Wire>> {
    let bits = parts.len() / 3;
    let half = bits / 2 - 1;
    let rest = half - odd;
    let (low, high, middle) = (&parts[..2 * half], &parts[bits..bits + 2 * rest], &parts[2 * bits..]);
    vec![arith::join(b, low, high, middle)]
}

/// The widest product that is a program of one call.
const ONE_CALL: usize = 256;

/// The program of `a · b` modulo 2^n.
pub(crate) fn product(goal: Goal, n: usize) -> Program {
    if n <= ONE_CALL {
        let mut b = Builder::for_goal(goal);
        let [x, y] = ["a", "b"].map(|name| b.input(name, n));
        let product = arith::mul(&mut b, &x, &y);
        b.output("product", &product);
        return Program::from_circuit(b.finish()).expect("two values for two parties");
    }
    let mut p = ProgramBuilder::for_goal("product", goal);
    let (a, b) = (p.input("a", 0, n as u64), p.input("b", 1, n as u64));
    let product = p.register(n as u64);
    Wide::default().mul(&mut p, 1, a.into(), b.into(), product.into());
    p.reveal("product", Recipients::All, product);
    p.finish().expect("calls on words that are there")
}
