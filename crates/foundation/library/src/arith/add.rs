//! Addition, subtraction and what is made of them.

use comity_circuit::{Builder, Goal, Wire, WordOp};

use super::columns::{Columns, full_adder};
use super::{not, prefix, width};
use crate::gadget::gadget;

/// `x + y` modulo 2^n. n - 1 ANDs.
pub fn add(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Add, &[x, y], |b| {
        let top = width(x, y) - 1;
        let (mut sum, carry) = sums(b, &x[..top], &y[..top], Wire::ZERO);
        let bit = b.xor(x[top], y[top]);
        sum.push(b.xor(bit, carry));
        sum
    })
}

/// `x + y + carry` modulo 2^n, and the carry out. n ANDs.
pub fn add_carry(b: &mut Builder, x: &[Wire], y: &[Wire], carry: Wire) -> (Vec<Wire>, Wire) {
    width(x, y);
    sums(b, x, y, carry)
}

/// `x - y` modulo 2^n. n - 1 ANDs.
pub fn sub(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Sub, &[x, y], |b| {
        let top = width(x, y) - 1;
        let (mut difference, borrow) = differences(b, &x[..top], &y[..top], Wire::ZERO);
        let bit = b.xor(x[top], y[top]);
        difference.push(b.xor(bit, borrow));
        difference
    })
}

/// `x - y - borrow` modulo 2^n, and the borrow out: one exactly if the difference is negative. n ANDs.
pub fn sub_borrow(b: &mut Builder, x: &[Wire], y: &[Wire], borrow: Wire) -> (Vec<Wire>, Wire) {
    width(x, y);
    differences(b, x, y, borrow)
}

/// `x + 1` modulo 2^n. n - 2 ANDs for n > 1.
pub fn increment(b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
    if b.goal() == Goal::Depth {
        return add_bit(b, x, Wire::ONE);
    }
    let mut carry = Wire::ONE;
    let mut sum = Vec::with_capacity(x.len());
    for &bit in x {
        sum.push(b.xor(bit, carry));
        carry = b.and(bit, carry);
    }
    sum
}

/// `-x` modulo 2^n. n - 2 ANDs for n > 1.
pub fn negate(b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Neg, &[x], |b| {
        if b.goal() == Goal::Depth {
            let complement = not(b, x);
            return add_bit(b, &complement, Wire::ONE);
        }
        let mut none = Wire::ONE; // whether no lower bit is one: then this bit stays
        let mut negated = Vec::with_capacity(x.len());
        for &bit in x {
            let complement = b.not(bit);
            negated.push(b.xor(complement, none));
            none = b.and(complement, none);
        }
        negated
    })
}

/// The sum of words of the same width n, modulo 2^n: fewer ANDs than the n - 1 of each addition from three words on.
/// Put words that are computed late last.
pub fn sum(b: &mut Builder, words: &[&[Wire]]) -> Vec<Wire> {
    let mut columns = Columns::new(width(words[0], words[0]));
    for word in words {
        width(word, words[0]);
        columns.word(0, word);
    }
    columns.sum(b)
}

/// `x + bit` modulo 2^n. n - 1 ANDs or fewer for size.
pub(super) fn add_bit(b: &mut Builder, x: &[Wire], bit: Wire) -> Vec<Wire> {
    let top = width(x, x) - 1;
    let (mut sum, carry) = sums(b, &x[..top], &vec![Wire::ZERO; top], bit);
    sum.push(b.xor(x[top], carry));
    sum
}

/// `x + y + carry` and the carry out, for words of any width, including no bits.
pub(super) fn sums(b: &mut Builder, x: &[Wire], y: &[Wire], carry: Wire) -> (Vec<Wire>, Wire) {
    if b.goal() == Goal::Size || x.len() < 2 {
        return ripple(b, x, y, carry, full_adder);
    }
    if carry == Wire::ONE {
        // The lowest bits carry if one of them is one.
        let (bit, carry) = full_adder(b, x[0], y[0], carry);
        let (upper, carry) = sums(b, &x[1..], &y[1..], carry);
        return ([&[bit], &upper[..]].concat(), carry);
    }
    let bits = prefix::of_sum(b, x, y);
    prefix::resolve(b, bits, carry)
}

/// `x - y - borrow` and the borrow out, for words of any width, including no bits.
pub(super) fn differences(b: &mut Builder, x: &[Wire], y: &[Wire], borrow: Wire) -> (Vec<Wire>, Wire) {
    match b.goal() {
        Goal::Size => ripple(b, x, y, borrow, full_subtractor),
        Goal::Depth => {
            let bits = prefix::of_difference(b, x, y);
            prefix::resolve(b, bits, borrow)
        }
    }
}

type Cell = fn(&mut Builder, Wire, Wire, Wire) -> (Wire, Wire);

/// A chain of cells that hand on a carry; the words may be empty.
fn ripple(b: &mut Builder, x: &[Wire], y: &[Wire], mut carry: Wire, cell: Cell) -> (Vec<Wire>, Wire) {
    let mut word = Vec::with_capacity(x.len() + 1);
    for (&x, &y) in x.iter().zip(y) {
        let (bit, next) = cell(b, x, y, carry);
        word.push(bit);
        carry = next;
    }
    (word, carry)
}

/// `x - y - borrow` modulo 2, and the borrow: that of `x` and `y` where they differ, else the one that came in. One
/// AND.
fn full_subtractor(b: &mut Builder, x: Wire, y: Wire, borrow: Wire) -> (Wire, Wire) {
    let differ = b.xor(x, y);
    (b.xor(differ, borrow), b.mux(differ, y, borrow))
}
