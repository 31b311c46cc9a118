//! Absolute values, differences, and sums that stay in range.

use comity_circuit::{Builder, Goal, Wire};

use super::add::{add_bit, differences, sums};
use super::prefix;
use super::{add_carry, constant, mux, sub_borrow, width};

/// `-x` if `negative` is one, else `x`, modulo 2^n. n - 1 ANDs.
pub fn negate_if(b: &mut Builder, negative: Wire, x: &[Wire]) -> Vec<Wire> {
    width(x, x);
    // The complement plus one. The carry runs on while the complement's bits are one.
    if b.goal() == Goal::Depth {
        let complement: Vec<Wire> = x.iter().map(|&bit| b.xor(bit, negative)).collect();
        return add_bit(b, &complement, negative);
    }
    let mut carry = negative;
    let mut word = Vec::with_capacity(x.len());
    for (i, &bit) in x.iter().enumerate() {
        let bit = b.xor(bit, negative);
        word.push(b.xor(bit, carry));
        if i + 1 < x.len() {
            carry = b.and(bit, carry);
        }
    }
    word
}

/// |x| of a signed word, as an unsigned one: that of -2^(n-1) is 2^(n-1). n - 1 ANDs.
pub fn abs(b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
    let sign = x[width(x, x) - 1];
    negate_if(b, sign, x)
}

/// |x - y|, unsigned. 2n - 1 ANDs.
pub fn abs_diff(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    if b.goal() == Goal::Depth {
        return prefix::distance(b, x, y);
    }
    let (difference, negative) = sub_borrow(b, x, y, Wire::ZERO);
    negate_if(b, negative, &difference)
}

/// |x - y| of signed words, as an unsigned one. 2n - 1 ANDs.
pub fn abs_diff_signed(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let (x, y) = (offset(b, x), offset(b, y));
    abs_diff(b, &x, &y)
}

/// x + 2^(n-1) of a signed word: its order is that of unsigned words, and differences stay what they are.
fn offset(b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
    let top = width(x, x) - 1;
    let mut x = x.to_vec();
    x[top] = b.not(x[top]);
    x
}

/// `x + y`, unsigned, or 2^n - 1 where it is greater. 2n ANDs.
pub fn add_saturating(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let (sum, over) = add_carry(b, x, y, Wire::ZERO);
    sum.into_iter().map(|bit| b.or(bit, over)).collect()
}

/// `x - y`, unsigned, or 0 where it is less. 2n ANDs.
pub fn sub_saturating(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let (difference, under) = sub_borrow(b, x, y, Wire::ZERO);
    mux(b, under, &constant(0, x.len()), &difference)
}

/// `x + y`, signed, or the nearest number that there is. 2n - 1 ANDs.
pub fn add_saturating_signed(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let top = width(x, y) - 1;
    let (sum, carry) = sums(b, &x[..top], &y[..top], Wire::ZERO);
    saturate(b, sum, [x[top], y[top], carry])
}

/// `x - y`, signed, or the nearest number that there is. 2n - 1 ANDs.
pub fn sub_saturating_signed(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let top = width(x, y) - 1;
    let (difference, borrow) = differences(b, &x[..top], &y[..top], Wire::ZERO);
    // x - y = x + !y + 1: its carry is the borrow's negation.
    let (y, carry) = (b.not(y[top]), b.not(borrow));
    saturate(b, difference, [x[top], y, carry])
}

/// The signed sum whose lower bits these are and whose top is that of two signs and a carry.
fn saturate(b: &mut Builder, mut word: Vec<Wire>, [x, y, carry]: [Wire; 3]) -> Vec<Wire> {
    // It overflows if the signs agree and the sum's is another one. Then the sum's sign is that of the side's bits
    // below the top, and the right sign its negation.
    let signs = b.xor(x, y);
    let sign = b.xor(signs, carry);
    let change = b.xor(x, carry);
    let alike = b.not(signs);
    let over = b.and(alike, change);
    word.iter_mut().for_each(|bit| *bit = b.mux(over, sign, *bit));
    word.push(b.xor(sign, over));
    word
}
