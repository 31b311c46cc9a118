//! Division and square roots, digit by digit without restoring.
//!
//! Long division brings down one bit of the dividend at a time and tries to subtract the divisor. Where that fails, the
//! next step adds it instead of undoing the subtraction, which comes to the same: one AND a bit for subtracting or
//! adding, and none for choosing. After i bits the remainder is less than 2^i, so i + 1 bits tell its sign if the
//! divisor is that small, and if it is not the sign is negative: no step needs more bits than were brought down. That
//! is n²/2 ANDs for all n steps, where restoring takes n².
//!
//! **Division by zero** is no error, since nobody may notice it: the quotient of `x` and 0 has all bits one (-1 if
//! signed), the remainder is `x`. **Overflow**: the signed quotient of -2^(n-1) and -1 is -2^(n-1), the remainder 0.

use comity_circuit::{Builder, Goal, Wire, WordOp};

use super::columns::full_adder;
use super::compare::tree;
use super::{Columns, negate_if, reciprocal, srt, width};
use crate::gadget::gadget;

/// The quotient and the remainder of `x` by `y`, unsigned. (n² + 9n - 8) / 2 ANDs for n > 1.
pub fn div_rem(b: &mut Builder, x: &[Wire], y: &[Wire]) -> (Vec<Wire>, Vec<Wire>) {
    noted(b, false, x, y, |b| {
        width(x, y);
        long_division(b, x, y, 1)
    })
}

/// `x / y`, unsigned. (n² + 5n - 6) / 2 ANDs for n > 1.
pub fn div(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Div { signed: false }, &[x, y], |b| div_rem(b, x, y).0)
}

/// `x % y`, unsigned. (n² + 9n - 8) / 2 ANDs for n > 1.
pub fn rem(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Rem { signed: false }, &[x, y], |b| div_rem(b, x, y).1)
}

/// The quotient, rounded towards zero, and the remainder, which has the sign of `x`: signed words of the same width.
/// (n² + 19n - 16) / 2 ANDs.
pub fn div_rem_signed(b: &mut Builder, x: &[Wire], y: &[Wire]) -> (Vec<Wire>, Vec<Wire>) {
    noted(b, true, x, y, |b| {
        let top = width(x, y) - 1;
        let (x_abs, y_abs) = (super::abs(b, x), super::abs(b, y));
        let (quotient, remainder) = div_rem(b, &x_abs, &y_abs);
        // The quotient by zero is -1 as it stands.
        let any = match b.goal() {
            Goal::Size => y.iter().rev().fold(Wire::ZERO, |any, &bit| b.or(any, bit)),
            Goal::Depth => tree(b, y.to_vec(), Builder::or),
        };
        let differ = b.xor(x[top], y[top]);
        let negative = b.and(differ, any);
        (negate_if(b, negative, &quotient), negate_if(b, x[top], &remainder))
    })
}

/// `x / y`, signed, rounded towards zero. (n² + 13n - 12) / 2 ANDs.
pub fn div_signed(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Div { signed: true }, &[x, y], |b| div_rem_signed(b, x, y).0)
}

/// `x % y`, signed, with the sign of `x`. (n² + 15n - 14) / 2 ANDs for n > 1.
pub fn rem_signed(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    b.noted(gadget, WordOp::Rem { signed: true }, &[x, y], |b| div_rem_signed(b, x, y).1)
}

/// The public number that a divisor is: all of its bits are constants, and 128 bits hold it, since those
/// above are zeros or the sign. None for 0, by which dividing is another thing.
pub(crate) fn public_divisor(y: &[Wire], signed: bool) -> Option<u128> {
    let bit = |i: usize| y.get(i).or(if signed { y.last() } else { None }).map_or(Some(false), |w| w.as_constant());
    let number = (0..y.len().max(128)).map(bit).enumerate().try_fold(0u128, |number, (i, bit)| match bit {
        Some(bit) if i < 128 => Some(number | u128::from(bit) << i),
        Some(bit) => (bit == (signed && number >> 127 == 1)).then_some(number),
        None => None,
    });
    number.filter(|&number| number != 0)
}

/// Notes a division, but not one by a public number in the way of a private one: what is noted of it is [`div_rem_by`].
fn noted(
    b: &mut Builder,
    signed: bool,
    x: &[Wire],
    y: &[Wire],
    build: impl FnOnce(&mut Builder) -> (Vec<Wire>, Vec<Wire>),
) -> (Vec<Wire>, Vec<Wire>) {
    match public_divisor(y, signed) {
        Some(_) => b.quiet(build),
        None => b.noted(gadget, WordOp::DivRem { signed }, &[x, y], build),
    }
}

/// The quotient and the remainder of an unsigned word and a public number, both of the width of `x`. About d·(n - d)
/// ANDs for d bits of the divisor without the zeros at its low end, and none for a power of two.
///
/// # Panics
/// If the divisor is 0.
pub fn div_rem_by(b: &mut Builder, x: &[Wire], divisor: u128) -> (Vec<Wire>, Vec<Wire>) {
    let n = width(x, x);
    assert!(divisor != 0, "a public divisor is not 0");
    let (zeros, bits) = (divisor.trailing_zeros() as usize, (128 - divisor.leading_zeros()) as usize);
    if bits > n {
        return (vec![Wire::ZERO; n], x.to_vec());
    }
    let divisor_wires = super::constant(divisor, n);
    b.noted(gadget, WordOp::DivRem { signed: false }, &[x, &divisor_wires], |b| {
        let (low, x) = x.split_at(zeros);
        let (quotient, remainder) = match divisor >> zeros {
            1 => (x.to_vec(), vec![]),
            odd if b.goal() == Goal::Depth && x.len() <= reciprocal::WIDEST => reciprocal::div_rem(b, x, odd),
            odd => long_division(b, x, &super::constant(odd, bits - zeros), bits - zeros),
        };
        let padded = |word: Vec<Wire>| [word, vec![Wire::ZERO; n]].concat()[..n].to_vec();
        (padded(quotient), padded([low, &remainder].concat()))
    })
}

/// The quotient and the remainder of a signed word and a public number, rounded towards zero; the remainder has the
/// sign of `x`. As [`div_rem_by`], and 3n ANDs.
///
/// # Panics
/// If the divisor is 0.
pub fn div_rem_signed_by(b: &mut Builder, x: &[Wire], divisor: i128) -> (Vec<Wire>, Vec<Wire>) {
    let n = width(x, x);
    let build = |b: &mut Builder| {
        let sign = x[n - 1];
        let x = negate_if(b, sign, x);
        let (quotient, remainder) = div_rem_by(b, &x, divisor.unsigned_abs());
        let negative = if divisor < 0 { b.not(sign) } else { sign };
        (negate_if(b, negative, &quotient), negate_if(b, sign, &remainder))
    };
    let divisor_wires: Vec<Wire> = (0..n).map(|i| Wire::constant(divisor >> i.min(127) & 1 == 1)).collect();
    // A number that the words do not hold is no word.
    match public_divisor(&divisor_wires, true) == Some(divisor as u128) {
        true => b.noted(gadget, WordOp::DivRem { signed: true }, &[x, &divisor_wires], build),
        false => b.quiet(build),
    }
}

/// The fewest bits of a quotient for which digits that are chosen ahead take fewer layers.
const SRT: usize = 10;

/// The quotient, in the width of `x`, and the remainder, in that of `y`, given that only the lowest n - first + 1 bits
/// of the quotient can be ones. The results for y = 0 are those above if the widths are the same.
pub(super) fn long_division(b: &mut Builder, x: &[Wire], y: &[Wire], first: usize) -> (Vec<Wire>, Vec<Wire>) {
    if b.goal() == Goal::Depth && x.len() + 1 - first >= SRT {
        return srt::long_division(b, x, y, first);
    }
    let (n, m) = (x.len(), y.len());
    // large[i]: whether the divisor is 2^i or more.
    let mut large = vec![Wire::ZERO; m + 1];
    for i in (first..m).rev() {
        large[i] = b.or(large[i + 1], y[i]);
    }
    // `rest` is what the first bits leave over, less the divisor if `positive` is zero: modulo a power of two that
    // tells its sign, unless the divisor is large.
    let mut rest = x[n + 1 - first..].to_vec();
    let mut positive = Wire::ONE;
    let mut quotient = vec![Wire::ZERO; n];
    for i in first..=n {
        let bits = i.min(m) + 1;
        rest.insert(0, x[n - i]);
        rest.resize(bits, Wire::ZERO);
        rest = add_or_subtract(b, &rest, y, positive);
        let sign = rest[bits - 1];
        let negative = if i < m { b.or(large[i], sign) } else { sign };
        positive = b.not(negative);
        quotient[n - i] = positive;
    }
    let negative = b.not(positive);
    let mut columns = Columns::new(m);
    columns.word(0, &rest);
    for (i, &bit) in y.iter().enumerate() {
        columns.bit(i, b.and(bit, negative));
    }
    (quotient, columns.sum(b))
}

/// `x - y` if `subtract` is one, else `x + y`, in the width of `x`, one less than which are the ANDs.
fn add_or_subtract(b: &mut Builder, x: &[Wire], y: &[Wire], subtract: Wire) -> Vec<Wire> {
    if b.goal() == Goal::Depth {
        let y: Vec<Wire> = (0..x.len()).map(|i| b.xor(y.get(i).copied().unwrap_or(Wire::ZERO), subtract)).collect();
        return super::add_carry(b, x, &y, subtract).0;
    }
    let mut carry = subtract;
    let mut word = Vec::with_capacity(x.len());
    for (i, &bit) in x.iter().enumerate() {
        let other = b.xor(y.get(i).copied().unwrap_or(Wire::ZERO), subtract);
        if i + 1 < x.len() {
            let (sum, next) = full_adder(b, bit, other, carry);
            word.push(sum);
            carry = next;
        } else {
            let sum = b.xor(bit, other);
            word.push(b.xor(sum, carry));
        }
    }
    word
}

/// ⌊√x⌋, unsigned, in ⌈n/2⌉ bits. About n²/8 + n/4 ANDs.
///
/// The same way as division: the digits so far are subtracted from the remainder or added to it.
pub fn sqrt(b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
    b.quiet(|b| {
        let digits = width(x, x).div_ceil(2);
        let x = [x, &vec![Wire::ZERO; 2 * digits - x.len()]].concat();
        let mut root: Vec<Wire> = Vec::with_capacity(digits);
        let mut rest: Vec<Wire> = vec![];
        let mut positive = Wire::ONE;
        for i in (0..digits).rev() {
            // With two more bits down, subtract 4·root + 1, or add 4·root + 3 if the rest is negative. Modulo
            // a power of two the former is to add 4·(all ones ^ root) + 3.
            let bits = root.len() + 3;
            rest = [&x[2 * i..2 * i + 2], &rest].concat();
            rest.resize(bits, Wire::ZERO);
            let mut change = vec![Wire::ONE; 2];
            change.extend(root.iter().map(|&digit| b.xor(digit, positive)));
            change.push(positive);
            rest = super::add(b, &rest, &change);
            positive = b.not(rest[bits - 1]);
            root.insert(0, positive);
        }
        root
    })
}
