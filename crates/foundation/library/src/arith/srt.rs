//! Division in few layers: digits that are chosen before the remainder is known (Sweeney, Robertson and Tocher, 1958).
//!
//! The remainder stays in two words whose sum it is, so that taking off the divisor costs one layer at every
//! width. A digit is 1, 0 or -1, and as digits may make up for each other, the four upper bits of the two
//! words are enough to choose one (Ercegovac, Lang: "Digital Arithmetic", 2004, section 5.3): with the
//! remainder doubled and these bits in halves of the divisor's greatest power of two, the digit is 1 if their
//! sum is not negative, 0 if it is -1/2, else -1. Choosing takes two layers and taking off one more, so that
//! a bit of the quotient costs three layers. The divisor has its uppermost bit set for that: it is shifted
//! there first, and the dividend with it.

use comity_circuit::{Builder, Wire};

use super::columns::full_adder;
use super::compare::tree;
use super::prefix::{Carry, resolve};
use super::{Columns, leading_zeros, mux, not, shr_by};

/// A quotient before its digits are added up, and the remainder in two words.
struct Digits {
    /// For each digit how it passes a borrow on, and whether it is not zero.
    quotient: (Vec<Carry>, Vec<Wire>),
    rest: [Vec<Wire>; 2],
}

/// The digits of `x / y`, for `y` of m bits with its uppermost one set and x < 2^(n - m)·y of n bits. The
/// remainder is at least -y and less than y, in m + 2 bits. About 2m ANDs for each digit.
fn digits(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Digits {
    let m = y.len();
    let (low, high) = x.split_at(x.len() - m);
    let mut rest = [[high, &[Wire::ZERO; 2]].concat(), vec![Wire::ZERO; m + 2]];
    let mut quotient = (Vec::new(), Vec::new());
    for &next in low.iter().rev() {
        let [u, v] = &rest;
        let twice = [[&[next], &u[..]].concat(), [&[Wire::ZERO], &v[..]].concat()];
        let [u, v] = [&twice[0], &twice[1]];
        let differ: Vec<Wire> = u.iter().zip(v).map(|(&u, &v)| b.xor(u, v)).collect();
        let (positive, some) = digit(b, &u[m - 1..], &v[m - 1..], &differ[m - 1..]);
        let (mut sums, mut carries) = (Vec::with_capacity(m + 2), vec![positive]);
        for i in 0..m + 2 {
            // Taking off is to add the complement, and one at the low end.
            let change = match y.get(i) {
                Some(&y) => {
                    let taken = b.and(some, y);
                    b.xor(taken, positive)
                }
                None => positive,
            };
            let (sum, carry) = match y.get(i) {
                // These carries are the next to choose by: here the digit goes through one AND only.
                Some(&y) if i + 3 >= m => {
                    (b.xor(differ[i], change), carry(b, (u[i], v[i]), differ[i], y, (positive, some)))
                }
                _ => full_adder(b, u[i], v[i], change),
            };
            sums.push(sum);
            carries.push(carry);
        }
        carries.truncate(m + 2);
        rest = [sums, carries];
        let none = b.not(some);
        quotient.0.push(Carry { makes: b.nor(positive, none), passes: none });
        quotient.1.push(some);
    }
    quotient.0.reverse();
    quotient.1.reverse();
    Digits { quotient, rest }
}

/// Whether the digit is positive, and whether it is not zero, by four bits of both words.
fn digit(b: &mut Builder, u: &[Wire], v: &[Wire], differ: &[Wire]) -> (Wire, Wire) {
    let [makes0, makes1, makes2] = [0, 1, 2].map(|i| b.and(u[i], v[i]));
    let passes = b.and(differ[1], differ[2]);
    let (far, near) = (b.and(passes, makes0), b.and(differ[2], makes1));
    let carry = b.xor(far, near);
    let carry = b.xor(carry, makes2);
    let negative = b.xor(differ[3], carry);
    // The sum of two words is -1 if they are complements.
    let ends = b.and(differ[0], differ[3]);
    let none = b.and(passes, ends);
    (b.not(negative), b.not(none))
}

/// The carry of two bits that `differ` or not, and of a bit of the divisor times the digit's negative.
fn carry(b: &mut Builder, (u, v): (Wire, Wire), differ: Wire, y: Wire, (positive, some): (Wire, Wire)) -> Wire {
    let makes = b.and(u, v);
    let passes = b.and(differ, y);
    let taken = b.and(passes, some);
    let turned = b.and(differ, positive);
    let passed = b.xor(taken, turned);
    b.xor(makes, passed)
}

/// The remainder, and whether it was negative and the divisor was added.
fn remainder(b: &mut Builder, [u, v]: &[Vec<Wire>; 2], y: &[Wire]) -> (Vec<Wire>, Wire) {
    let sum = |b: &mut Builder, words: &[&[Wire]]| {
        let mut columns = Columns::new(u.len());
        words.iter().for_each(|word| columns.word(0, word));
        columns.sum(b)
    };
    let rest = sum(b, &[u, v]);
    let more = sum(b, &[u, v, y]);
    let negative = rest[u.len() - 1];
    (mux(b, negative, &more[..y.len()], &rest[..y.len()]), negative)
}

/// As [`long_division`](super::divide::long_division): the quotient's bits from n - first + 1 on are zero.
pub(super) fn long_division(b: &mut Builder, x: &[Wire], y: &[Wire], first: usize) -> (Vec<Wire>, Vec<Wire>) {
    let (n, m) = (x.len(), y.len());
    let bits = n - first + 1;
    let any = tree(b, y.to_vec(), Builder::or);
    let mut shift = leading_zeros(b, y);
    shift.truncate((usize::BITS - (m - 1).leading_zeros()) as usize);
    let mut divisor = up(b, y, &shift, m);
    divisor[m - 1] = Wire::ONE;
    let dividend = up(b, x, &shift, m + bits);
    let Digits { quotient, rest } = digits(b, &dividend, &divisor);
    let (rest, negative) = remainder(b, &rest, &divisor);
    let (quotient, _) = resolve(b, quotient, negative);
    let none = b.not(any);
    let mut quotient: Vec<Wire> = quotient.into_iter().map(|bit| b.or(bit, none)).collect();
    quotient.resize(n, Wire::ZERO);
    let rest = if shift.is_empty() { rest } else { shr_by(b, &rest, &shift) };
    (quotient, if n == m { mux(b, any, &rest, x) } else { rest })
}

/// `x << by` in `bits` bits; higher bits are lost. The upper digits of `by`, which are known first, shift
/// first.
pub(crate) fn up(b: &mut Builder, x: &[Wire], by: &[Wire], bits: usize) -> Vec<Wire> {
    let mut x: Vec<Wire> = (0..bits).map(|i| x.get(i).copied().unwrap_or(Wire::ZERO)).collect();
    for (k, &select) in by.iter().enumerate().rev() {
        x = mux(b, select, &super::shl(&x, 1 << k), &x);
    }
    x
}

/// The quotient of `x` and `y` in `x.len() - y.len()` bits, and whether there is a remainder, where the
/// uppermost bit of `y` is set and the quotient has no more bits.
pub(crate) fn quotient(b: &mut Builder, x: &[Wire], y: &[Wire]) -> (Vec<Wire>, Wire) {
    let Digits { quotient, rest } = digits(b, x, y);
    let (sum, _) = super::add::sums(b, &rest[0], &rest[1], Wire::ZERO);
    let (quotient, _) = resolve(b, quotient, sum[y.len() + 1]);
    // None if the two words, or with the divisor three, add up to zero.
    let mut added: [Vec<Wire>; 2] = [Vec::new(), vec![Wire::ZERO]];
    let wide = [y, &[Wire::ZERO; 2]].concat();
    for ((&u, &v), &y) in rest[0].iter().zip(&rest[1]).zip(&wide) {
        let (sum, carry) = full_adder(b, u, v, y);
        added[0].push(sum);
        added[1].push(carry);
    }
    let none = [rest, added].map(|[u, v]| is_zero_sum(b, &u, &v));
    (quotient, b.nor(none[0], none[1]))
}

/// Whether the sum of two words is zero modulo 2^n, for n bits of the first: no bit is one together with the carry that
/// there would be if all lower ones were zero. 2n ANDs.
fn is_zero_sum(b: &mut Builder, u: &[Wire], v: &[Wire]) -> Wire {
    let mut carry = Wire::ZERO;
    let mut sums = Vec::with_capacity(u.len());
    for (&u, &v) in u.iter().zip(v) {
        let sum = b.xor(u, v);
        sums.push(b.xor(sum, carry));
        carry = b.or(u, v);
    }
    let zeros = not(b, &sums);
    tree(b, zeros, Builder::and)
}
