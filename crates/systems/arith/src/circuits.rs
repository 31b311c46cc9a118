//! The small circuits of a program on words: what a sum of two shares does not show.
//!
//! A circuit reads words of the first party, then as many of the second one: the shares of the same words.
//! What it puts out is bits, shared by XOR.
//!
//! - *Carries*. A word is `x_0 + x_1 - w 2^k` with the carry `w` of the shares, and its bits from bit s on
//!   are `(x_0 >> s) + (x_1 >> s) + c` with the carry `c` of the s bits below. So a carry, or two on one
//!   chain, is all that widening, shifting to the right and single bits take.
//! - *Equality*: a difference is zero if one share is minus the other.
//! - *Division by a public d*. With `2^k = Q d + R` and `x_i = q_i d + r_i` the quotient is `q_0 + q_1 - w Q
//!   + e`, where `e`, the quotient of `r_0 + r_1 - w R` and d, is -1, 0 or 1.
//! - *Operations*: the shares are added, and the gates of any operation follow.

use comity_circuit::{Builder, Circuit, Wire, WordOp};
use comity_library::{arith, gadget};

/// A circuit, by what it computes.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Small {
    /// The carries into these bits of a word, ascending and from 1 on; the word has as many bits as the last
    /// one says.
    Carries(Vec<u32>),
    /// Whether the parties' words, of this number of bits, are equal.
    Equal(u32),
    /// Of a word of `bits` bits and of the remainders of its shares by a number: the carry of the shares, and
    /// whether the remainders make the quotient one more, or one less.
    Quotient { bits: u32, by: u128 },
    /// An operation on shared words of these widths.
    Gates { op: WordOp, widths: Vec<u32>, args: Vec<Vec<Bit>>, outs: Vec<u32> },
}

/// A bit of an argument.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub(crate) enum Bit {
    Constant(bool),
    /// A bit of a shared word, or its negation.
    Of {
        word: usize,
        bit: u32,
        negated: bool,
    },
}

/// The bits of a number.
fn length(number: u128) -> usize {
    (128 - number.leading_zeros()) as usize
}

impl Small {
    /// The widths of the words that each party puts in.
    pub(crate) fn ins(&self) -> Vec<u32> {
        match self {
            Small::Carries(at) => vec![*at.last().expect("a carry")],
            Small::Equal(bits) => vec![*bits],
            Small::Quotient { bits, by } => vec![*bits, length(*by) as u32],
            Small::Gates { widths, .. } => widths.clone(),
        }
    }

    /// The widths of the words of bits that come out.
    pub(crate) fn outs(&self) -> Vec<u32> {
        match self {
            Small::Carries(at) => vec![1; at.len()],
            Small::Equal(_) => vec![1],
            Small::Quotient { .. } => vec![1; 3],
            Small::Gates { outs, .. } => outs.clone(),
        }
    }

    /// Its gates.
    pub(crate) fn circuit(&self) -> Circuit {
        let mut b = Builder::new();
        let ins = self.ins();
        let mut words = |name: &str| -> Vec<Vec<Wire>> {
            ins.iter().enumerate().map(|(i, bits)| b.input(&format!("{name}{i}"), *bits as usize)).collect()
        };
        let (first, second) = (words("first"), words("second"));
        let outs = b.quiet(|b| self.outputs(b, &first, &second));
        outs.iter().enumerate().for_each(|(i, out)| b.output(&format!("out{i}"), out));
        b.finish()
    }

    fn outputs(&self, b: &mut Builder, first: &[Vec<Wire>], second: &[Vec<Wire>]) -> Vec<Vec<Wire>> {
        match self {
            Small::Carries(at) => {
                let mut from = 0;
                let mut carry = Wire::ZERO;
                let mut next = |to: &u32| {
                    let part = from..*to as usize;
                    (_, carry) = arith::add_carry(b, &first[0][part.clone()], &second[0][part], carry);
                    from = *to as usize;
                    vec![carry]
                };
                at.iter().map(&mut next).collect()
            }
            Small::Equal(_) => vec![vec![arith::eq(b, &first[0], &second[0])]],
            Small::Quotient { bits, by } => {
                let (_, wrap) = arith::add_carry(b, &first[0], &second[0], Wire::ZERO);
                // What 2^k leaves over by the divisor.
                let over = (u128::MAX % by + 1) % by;
                let over = if *bits == 128 { over } else { (1 << bits) % by };
                let (mut sum, carry) = arith::add_carry(b, &first[1], &second[1], Wire::ZERO);
                sum.push(carry);
                let over: Vec<Wire> = arith::constant(over, sum.len()).iter().map(|&bit| b.and(bit, wrap)).collect();
                let (rest, less) = arith::sub_borrow(b, &sum, &over, Wire::ZERO);
                let fits = arith::lt(b, &rest, &arith::constant(*by, sum.len()));
                let small = b.or(less, fits);
                let more = b.not(small);
                vec![vec![wrap], vec![more], vec![less]]
            }
            Small::Gates { op, args, outs, .. } => {
                let words: Vec<Vec<Wire>> = first.iter().zip(second).map(|(x, y)| arith::add(b, x, y)).collect();
                let mut wire = |bit: &Bit| match *bit {
                    Bit::Constant(bit) => Wire::constant(bit),
                    Bit::Of { word, bit, negated } => {
                        let wire = words[word][bit as usize];
                        if negated { b.not(wire) } else { wire }
                    }
                };
                let args: Vec<Vec<Wire>> = args.iter().map(|word| word.iter().map(&mut wire).collect()).collect();
                let results = gadget(b, op, &args);
                results.into_iter().zip(outs).map(|(word, bits)| word[..*bits as usize].to_vec()).collect()
            }
        }
    }
}

/// The quotient and the remainder of a share by a public number, which is not zero: in as many steps, and by
/// the same ones, whatever the share is.
pub(crate) fn divide(share: u128, by: u128, bits: u32) -> (u128, u128) {
    let (mut quotient, mut rest) = (0u128, 0u128);
    for bit in (0..bits).rev() {
        let over = rest >> 127;
        rest = rest << 1 | share >> bit & 1;
        let (less, borrow) = rest.overflowing_sub(by);
        let fits = over | u128::from(!borrow);
        let keep = comity_core::mask(fits == 1);
        let keep = u128::from(keep) << 64 | u128::from(keep);
        rest = (less & keep) | (rest & !keep);
        quotient = quotient << 1 | fits;
    }
    (quotient, rest)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn shares_are_divided_as_numbers_are() {
        let mut draw = 1u128;
        for turn in 0..4000u32 {
            draw = draw.wrapping_mul(0x2360_ed05_1fc6_5da4_4385_df64_9fcc_f645).wrapping_add(7);
            let bits = 1 + turn % 128;
            let mask = u128::MAX >> (128 - bits);
            let share = [draw ^ draw >> 61, u128::MAX, draw | 1 << 127][turn as usize % 3] & mask;
            let by = [draw >> (turn % 127), 1, u128::MAX, 1 << 127, 3][turn as usize % 5].max(1);
            assert_eq!(divide(share, by, bits), (share / by, share % by), "{share} by {by}");
        }
    }

    /// All values, all shares and all divisors of words of up to four bits.
    #[test]
    fn the_parts_of_a_quotient_and_carries() {
        for bits in 1..=4u32 {
            let n = 1u128 << bits;
            let circuits: Vec<(u128, Circuit)> =
                (1..n).map(|by| (by, Small::Quotient { bits, by }.circuit())).collect();
            let carries = Small::Carries((1..=bits).collect()).circuit();
            for (x, y) in (0..n * n).map(|pair| (pair % n, pair / n)) {
                let word = |value: u128, bits: usize| comity_core::Bits::from_u128(value, bits).unwrap();
                for (by, circuit) in &circuits {
                    let (rest, size) = ([x % by, y % by], length(*by));
                    let words =
                        [word(x, bits as usize), word(rest[0], size), word(y, bits as usize), word(rest[1], size)];
                    let out = comity_circuit::eval_circuit(circuit, &words);
                    let bit = |i: usize| i128::from(out[i].get(0));
                    let quotient = (x / by + y / by) as i128 - bit(0) * (n / by) as i128 + bit(1) - bit(2);
                    assert_eq!(quotient as u128, (x + y) % n / by, "({x} + {y}) / {by}, {bits} bits");
                }
                let out = comity_circuit::eval_circuit(&carries, &[word(x, bits as usize), word(y, bits as usize)]);
                for at in 1..=bits {
                    let low = (1 << at) - 1;
                    assert_eq!(out[at as usize - 1].get(0), (x & low) + (y & low) > low);
                }
            }
        }
    }
}
