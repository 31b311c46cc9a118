//! Products modulo 2^m - 1, for two thirds of a product's price or less.
//!
//! With m = 2h it is the product modulo 2^h - 1, which is one of the same kind, and modulo 2^h + 1, which is that of
//! the differences of the halves: two products of h bits, where the full one takes three. Whoever knows the lower half
//! of a full product finds the upper one in this way.
//!
//! Carries out of the top come in again at the bottom, so zero may also be given as m ones.

use comity_circuit::{Builder, ProgramBuilder, Register, Wire};

use super::{Wide, Words};
use crate::arith;

/// The widest words that are multiplied whole and then folded.
const WHOLE: u64 = 160;

/// The number of times that words of `m` bits are cut in half.
pub(super) fn cuts(m: u64) -> u32 {
    if m <= WHOLE { 0 } else { 1 + cuts(m / 2) }
}

impl Wide {
    /// `x · y` modulo 2^m - 1, where m, the width of all, can be halved [`cuts`] times.
    pub(super) fn mul_cyclic(&mut self, p: &mut ProgramBuilder, x: Register, y: Register, out: Register) {
        let m = x.bits();
        let product = self.take(p, if cuts(m) == 0 { 2 * m } else { m } as usize);
        if cuts(m) == 0 {
            self.mul_full(p, 1, x.into(), y.into(), product.into());
            self.call(p, ("fold", fold), &[product], &[out]);
            return self.give([product]);
        }
        let half = m / 2;
        let words = [(); 5].map(|()| self.take(p, half as usize));
        let signs = [(); 2].map(|()| self.take(p, 1));
        let [x_sum, y_sum, x_distance, y_distance, below] = words;
        for (word, sum, distance, sign) in [(x, x_sum, x_distance, signs[0]), (y, y_sum, y_distance, signs[1])] {
            self.call(p, ("fold", fold), &[word], &[sum]);
            self.call(p, ("distance", distance_of_halves), &[word], &[distance, sign]);
        }
        self.mul_cyclic(p, x_sum, y_sum, below);
        self.mul_full(p, 1, Words::from(x_distance), y_distance.into(), product.into());
        self.call(p, ("unite", unite), &[below, product, signs[0], signs[1]], &[out]);
        self.give(words.into_iter().chain(signs).chain([product]));
    }
}

/// The sum of the halves modulo 2^h - 1.
fn fold(b: &mut Builder, v: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let (low, high) = v[0].split_at(v[0].len() / 2);
    vec![add(b, low, high)]
}

/// The absolute difference of the halves, and whether the upper one is greater.
fn distance_of_halves(b: &mut Builder, v: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let (low, high) = v[0].split_at(v[0].len() / 2);
    let (difference, negative) = arith::sub_borrow(b, low, high, Wire::ZERO);
    vec![arith::negate_if(b, negative, &difference), vec![negative]]
}

/// The number modulo 2^2h - 1 that is the first value modulo 2^h - 1, and the second one with the sign of the product
/// of the others modulo 2^h + 1.
fn unite(b: &mut Builder, v: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
    let below = &v[0];
    let h = below.len();
    let negative = b.xor(v[2][0], v[3][0]);
    // Modulo 2^h + 1 the product is the difference of its halves, plus - minus.
    let (low, high) = v[1].split_at(h);
    let changes: Vec<Wire> = low.iter().zip(high).map(|(&x, &y)| b.xor(x, y)).collect();
    let changes: Vec<Wire> = changes.into_iter().map(|bit| b.and(bit, negative)).collect();
    let (plus, minus) = (arith::xor(b, low, &changes), arith::xor(b, high, &changes));
    // What is missing is a multiple of 2^h + 1, which is 2 modulo 2^h - 1: half of below - plus + minus. The
    // negative of a word is its complement, and half of it the word rotated.
    let (not_plus, not_minus) = (arith::not(b, &plus), arith::not(b, &minus));
    let missing = add_three(b, below, &minus, &not_plus);
    let factor = arith::rotr(&missing, 1);
    let twice = [&factor[..], &factor].concat();
    let zeros = vec![Wire::ZERO; h];
    vec![add_three(b, &twice, &[&plus[..], &zeros].concat(), &[not_minus, vec![Wire::ONE; h]].concat())]
}

/// `x + y` modulo 2^m - 1. 2m - 1 ANDs.
fn add(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let (sum, mut carry) = arith::add_carry(b, x, y, Wire::ZERO);
    let last = sum.len() - 1;
    let step = |(i, bit): (usize, Wire)| {
        let sum = b.xor(bit, carry);
        if i < last {
            carry = b.and(bit, carry);
        }
        sum
    };
    sum.into_iter().enumerate().map(step).collect()
}

/// `x - y` modulo 2^m - 1; zero as ones only if x is given so. 2m - 1 ANDs.
pub(super) fn sub(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let (difference, mut borrow) = arith::sub_borrow(b, x, y, Wire::ZERO);
    let last = difference.len() - 1;
    let step = |(i, bit): (usize, Wire)| {
        let difference = b.xor(bit, borrow);
        if i < last {
            let zero = b.not(bit);
            borrow = b.and(zero, borrow);
        }
        difference
    };
    difference.into_iter().enumerate().map(step).collect()
}

/// `x + y + z` modulo 2^m - 1. 3m - 1 ANDs.
fn add_three(b: &mut Builder, x: &[Wire], y: &[Wire], z: &[Wire]) -> Vec<Wire> {
    let adders: Vec<(Wire, Wire)> =
        x.iter().zip(y).zip(z).map(|((&x, &y), &z)| arith::columns::full_adder(b, x, y, z)).collect();
    let (sums, carries): (Vec<Wire>, Vec<Wire>) = adders.into_iter().unzip();
    add(b, &sums, &arith::rotl(&carries, 1))
}
