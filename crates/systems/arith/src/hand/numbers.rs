//! Products, quotients and powers by hand.

use comity_core::{Error, Result};
use comity_library::arith;

use super::{Party, Word, alike};

impl Party<'_, '_> {
    /// `x * y` modulo 2^k.
    ///
    /// # Errors
    /// As [`Party::add`], and errors of the dealer, of the OTs and of the channel; so for all operations
    /// below.
    pub fn mul(&mut self, x: &Word, y: &Word) -> Result<Word> {
        self.two("mul", x, y, arith::mul)
    }

    /// `x * x` modulo 2^k.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn square(&mut self, x: &Word) -> Result<Word> {
        self.one(("square", 0), &[x], |b, words| arith::square(b, &words[0]))
    }

    /// The quotient by a public number; 0 by one that is wider than the words.
    ///
    /// # Errors
    /// As [`Party::mul`]; [`InvalidInput`](comity_core::Kind) if the number is zero.
    pub fn div_public(&mut self, x: &Word, by: u128) -> Result<Word> {
        check_divisor(by)?;
        self.one(("div_public", by), &[x], |b, words| arith::div_rem_by(b, &words[0], by).0)
    }

    /// The remainder by a public number.
    ///
    /// # Errors
    /// As [`Party::div_public`].
    pub fn rem_public(&mut self, x: &Word, by: u128) -> Result<Word> {
        check_divisor(by)?;
        self.one(("rem_public", by), &[x], |b, words| arith::div_rem_by(b, &words[0], by).1)
    }

    /// The quotient `x / y`; all ones by zero.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn div(&mut self, x: &Word, y: &Word) -> Result<Word> {
        self.two("div", x, y, arith::div)
    }

    /// The remainder `x % y`; `x` by zero.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn rem(&mut self, x: &Word, y: &Word) -> Result<Word> {
        self.two("rem", x, y, arith::rem)
    }

    /// The quotient and the remainder, at the price of one.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn div_rem(&mut self, x: &Word, y: &Word) -> Result<(Word, Word)> {
        alike(&[x, y])?;
        let mut both = self.known(("div_rem", 0), &[x, y], |b, words| {
            let (quotient, remainder) = arith::div_rem(b, &words[0], &words[1]);
            vec![quotient, remainder]
        })?;
        let remainder = both.pop().expect("two results");
        Ok((both.pop().expect("two results"), remainder))
    }

    /// The quotient, and whether the divisor was not zero: a bit.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn checked_div(&mut self, x: &Word, y: &Word) -> Result<(Word, Word)> {
        let zero = self.constant(y.bits, &vec![0; y.len()])?;
        Ok((self.div(x, y)?, self.ne(y, &zero)?))
    }

    /// `x` to the power of a public number, modulo 2^k; 0^0 is 1.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn pow_public(&mut self, x: &Word, exponent: u128) -> Result<Word> {
        let (mut power, mut square) = (None, None::<Word>);
        for bit in 0..128 - exponent.leading_zeros() {
            square = Some(match &square {
                None => Self::local(x, x.bits, |share| share),
                Some(square) => self.square(square)?,
            });
            let square = square.as_ref().expect("it was set");
            if exponent >> bit & 1 == 1 {
                power = Some(match &power {
                    None => Self::local(square, x.bits, |share| share),
                    Some(power) => self.mul(power, square)?,
                });
            }
        }
        power.map_or_else(|| self.constant(x.bits, &vec![1; x.len()]), Ok)
    }

    /// `x` to the power of a private number, modulo 2^k; 0^0 is 1. A square for each bit of the number, and a
    /// choice; then a product for each but one, in a tree.
    ///
    /// # Errors
    /// As [`Party::mul`].
    pub fn pow(&mut self, x: &Word, exponent: &Word) -> Result<Word> {
        let bits = self.decompose(exponent)?;
        let one = self.constant(x.bits, &vec![1; x.len()])?;
        let mut square = Self::local(x, x.bits, |share| share);
        let mut factors = Vec::with_capacity(bits.len());
        for (i, bit) in bits.iter().enumerate() {
            factors.push(self.select(bit, &square, &one)?);
            if i + 1 < bits.len() {
                square = self.square(&square)?;
            }
        }
        while factors.len() > 1 {
            let mut next = Vec::with_capacity(factors.len().div_ceil(2));
            while let Some(x) = factors.pop() {
                next.push(match factors.pop() {
                    Some(y) => self.mul(&x, &y)?,
                    None => x,
                });
            }
            factors = next;
        }
        Ok(factors.pop().expect("a number has a bit"))
    }
}

fn check_divisor(by: u128) -> Result<()> {
    if by == 0 { Err(Error::invalid_input("a division by a public zero")) } else { Ok(()) }
}
