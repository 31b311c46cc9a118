//! Comparisons, choices, shifts, bits of words and words of bits by hand.

use comity_circuit::{Builder, Wire};
use comity_core::{Error, Result};
use comity_library::arith;

use super::{Party, Word, alike, check_width};

impl Party<'_, '_> {
    /// Whether `x < y`: a bit.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn lt(&mut self, x: &Word, y: &Word) -> Result<Word> {
        self.two("lt", x, y, |b, x, y| vec![arith::lt(b, x, y)])
    }

    /// Whether `x <= y`: a bit.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn le(&mut self, x: &Word, y: &Word) -> Result<Word> {
        self.two("le", x, y, |b, x, y| vec![arith::le(b, x, y)])
    }

    /// Whether `x > y`: a bit.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn gt(&mut self, x: &Word, y: &Word) -> Result<Word> {
        self.lt(y, x)
    }

    /// Whether `x >= y`: a bit.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn ge(&mut self, x: &Word, y: &Word) -> Result<Word> {
        self.le(y, x)
    }

    /// Whether `x == y`: a bit.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn eq(&mut self, x: &Word, y: &Word) -> Result<Word> {
        self.two("eq", x, y, |b, x, y| vec![arith::eq(b, x, y)])
    }

    /// Whether `x != y`: a bit.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn ne(&mut self, x: &Word, y: &Word) -> Result<Word> {
        let equal = self.eq(x, y)?;
        let one = self.constant(1, &vec![1; x.len()])?;
        self.sub(&one, &equal)
    }

    /// `x` where the bit is one, else `y`.
    ///
    /// # Errors
    /// As [`Party::mul`]; [`InvalidInput`](comity_core::Kind) if `bit` is of words of more than one bit.
    pub fn select(&mut self, bit: &Word, x: &Word, y: &Word) -> Result<Word> {
        alike(&[x, y])?;
        if bit.bits != 1 {
            return Err(Error::invalid_input(format!(
                "`select` chooses by words of one bit, and these have {} bits",
                bit.bits
            )));
        }
        self.one(("select", 0), &[bit, x, y], |b, words| arith::mux(b, words[0][0], &words[1], &words[2]))
    }

    /// `x >> by` by a public number.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn shr(&mut self, x: &Word, by: u32) -> Result<Word> {
        self.one(("shr", u128::from(by)), &[x], |_, words| arith::shr(&words[0], by as usize))
    }

    /// `x` rotated to the left by a public number, modulo k.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn rotl(&mut self, x: &Word, by: u32) -> Result<Word> {
        let by = by % x.bits;
        self.one(("rotl", u128::from(by)), &[x], |_, words| arith::rotl(&words[0], by as usize))
    }

    /// `x` rotated to the right by a public number, modulo k.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn rotr(&mut self, x: &Word, by: u32) -> Result<Word> {
        self.rotl(x, x.bits - by % x.bits)
    }

    /// `x << by` by a private number, of which every bit counts.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn shl_by(&mut self, x: &Word, by: &Word) -> Result<Word> {
        self.one(("shl_by", 0), &[x, by], |b, words| arith::shl_by(b, &words[0], &words[1]))
    }

    /// `x >> by` by a private number, of which every bit counts.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn shr_by(&mut self, x: &Word, by: &Word) -> Result<Word> {
        self.one(("shr_by", 0), &[x, by], |b, words| arith::shr_by(b, &words[0], &words[1]))
    }

    /// `x` rotated to the left by a private number, modulo k.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn rotl_by(&mut self, x: &Word, by: &Word) -> Result<Word> {
        self.one(("rotl_by", 0), &[x, by], |b, words| arith::rotl_by(b, &words[0], &words[1]))
    }

    /// `x` rotated to the right by a private number, modulo k.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn rotr_by(&mut self, x: &Word, by: &Word) -> Result<Word> {
        let low = x.bits.ilog2();
        if x.bits == 1 << low && (1..=by.bits).contains(&low) {
            // To the left by minus the number, modulo k: which needs no message.
            let by = self.neg(&self.truncate(by, low)?);
            return self.rotl_by(x, &by);
        }
        // To the left by k minus the number, which has to be less than k.
        let k = u128::from(x.bits);
        let wide = by.bits.max(8);
        let by = self.widen(by, wide)?;
        let by = self.rem_public(&by, k)?;
        let all = self.constant(wide, &vec![k; x.len()])?;
        let by = self.sub(&all, &by)?;
        self.rotl_by(x, &by)
    }

    /// Bit `i` of `x`.
    ///
    /// # Errors
    /// As [`Party::mul`]; [`InvalidInput`](comity_core::Kind) if there is no such bit.
    pub fn bit(&mut self, x: &Word, i: u32) -> Result<Word> {
        if i >= x.bits {
            return Err(Error::invalid_input(format!("there is no bit {i}: the words have {} bits", x.bits)));
        }
        self.one(("bit", u128::from(i)), &[x], |_, words| vec![words[0][i as usize]])
    }

    /// The top bit of `x`.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn msb(&mut self, x: &Word) -> Result<Word> {
        self.bit(x, x.bits - 1)
    }

    /// All bits of `x`, the least significant first.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn decompose(&mut self, x: &Word) -> Result<Vec<Word>> {
        self.known(("decompose", 0), &[x], |_, words| words[0].iter().map(|bit| vec![*bit]).collect())
    }

    /// The words of these bits, the least significant first.
    ///
    /// # Errors
    /// As [`Party::mul`]; [`InvalidInput`](comity_core::Kind) if there are no words or more than 128, or if
    /// one is not of one bit.
    pub fn compose(&mut self, bits: &[Word]) -> Result<Word> {
        check_width(bits.len() as u32)?;
        if let Some(other) = bits.iter().find(|bit| bit.bits != 1) {
            return Err(Error::invalid_input(format!(
                "`compose` takes words of one bit, and one of these has {} bits",
                other.bits
            )));
        }
        let bits: Vec<&Word> = bits.iter().collect();
        self.one(("compose", 0), &bits, |_, words| words.concat())
    }

    /// Of each bit of `x` whether it or a higher one is one: half k log k products of bits, in log k layers.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn prefix_or(&mut self, x: &Word) -> Result<Word> {
        self.one(("prefix_or", 0), &[x], |b, words| prefix_or(b, &words[0]))
    }

    /// Whether `x + y` is 2^k or more: a bit.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn overflow(&mut self, x: &Word, y: &Word) -> Result<Word> {
        // The sum is less than either exactly then.
        let sum = self.add(x, y)?;
        self.lt(&sum, x)
    }

    /// Whether `x * y` is 2^k or more, of words of at most 64 bits: a bit.
    ///
    /// # Errors
    /// As [`Party::mul`]; [`InvalidInput`](comity_core::Kind) of wider words.
    pub fn mul_overflow(&mut self, x: &Word, y: &Word) -> Result<Word> {
        let product = self.mul_full(x, y)?;
        let high = self.one(("high", 0), &[&product], |_, words| words[0][words[0].len() / 2..].to_vec())?;
        let zero = self.constant(x.bits, &vec![0; x.len()])?;
        self.ne(&high, &zero)
    }

    /// `x * y` in twice as many bits, of words of at most 64 bits.
    ///
    /// # Errors
    /// As [`Party::mul`]; [`InvalidInput`](comity_core::Kind) of wider words.
    pub fn mul_full(&mut self, x: &Word, y: &Word) -> Result<Word> {
        check_width(2 * x.bits)?;
        let (x, y) = (self.widen(x, 2 * x.bits)?, self.widen(y, 2 * y.bits)?);
        self.mul(&x, &y)
    }

    /// The same numbers in more bits.
    ///
    /// # Errors
    /// As [`Party::mul`]; [`InvalidInput`](comity_core::Kind) if these are fewer, or more than 128.
    pub fn widen(&mut self, x: &Word, bits: u32) -> Result<Word> {
        self.wider(("widen", x, bits), |word| vec![Wire::ZERO; bits as usize - word.len()])
    }

    /// The same signed numbers in more bits.
    ///
    /// # Errors
    /// As [`Party::widen`].
    pub fn widen_signed(&mut self, x: &Word, bits: u32) -> Result<Word> {
        self.wider(("widen_signed", x, bits), |word| vec![word[word.len() - 1]; bits as usize - word.len()])
    }

    fn wider(
        &mut self,
        (name, x, bits): (&'static str, &Word, u32),
        above: impl FnOnce(&[Wire]) -> Vec<Wire>,
    ) -> Result<Word> {
        check_width(bits)?;
        if bits < x.bits {
            return Err(Error::invalid_input(format!("words of {} bits do not fit {bits} bits", x.bits)));
        }
        self.one((name, u128::from(bits)), &[x], |_, words| [&words[0][..], &above(&words[0])].concat())
    }
}

/// Of each bit whether it or a higher one is one (Sklansky 1960).
fn prefix_or(b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
    let mut any: Vec<Wire> = x.iter().rev().copied().collect();
    let mut step = 1;
    while step < any.len() {
        for i in (0..any.len()).filter(|i| i & step != 0) {
            any[i] = arith::or(b, &[any[i]], &[any[i / step * step - 1]])[0];
        }
        step *= 2;
    }
    any.reverse();
    any
}
