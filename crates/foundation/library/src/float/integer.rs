//! From integers and to integers of any width.

use comity_circuit::{Builder, Wire};

use super::shift::{self, bits_for, normalize};
use super::{FloatFormat, all_ones, any, arith, flip, mask, resized};

impl FloatFormat {
    /// The floating-point number of an unsigned integer of any width, rounded; infinity if it is too large.
    ///
    /// # Panics
    /// If the integer has no bits.
    pub fn from_unsigned(self, b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
        b.quiet(|b| self.of_magnitude(b, Wire::ZERO, x))
    }

    /// The floating-point number of a signed integer of any width, rounded; infinite if it is too large. Zero
    /// is positive.
    ///
    /// # Panics
    /// If the integer has no bits.
    pub fn from_signed(self, b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
        b.quiet(|b| {
            let sign = x[x.len() - 1];
            let flipped = flip(b, x, sign);
            let (magnitude, _) = arith::add_carry(b, &flipped, &vec![Wire::ZERO; x.len()], sign);
            self.of_magnitude(b, sign, &magnitude)
        })
    }

    fn of_magnitude(self, b: &mut Builder, sign: Wire, magnitude: &[Wire]) -> Vec<Wire> {
        let (n, p) = (magnitude.len(), self.precision());
        let (bits, count) = if n == 1 { (magnitude.to_vec(), Vec::new()) } else { normalize(b, magnitude, None) };
        // At least the significand and a round bit.
        let padding = (p + 1).saturating_sub(n);
        let bits = [&vec![Wire::ZERO; padding][..], &bits].concat();
        let (rest, significand) = bits.split_at(bits.len() - p);
        let (below, round) = rest.split_at(rest.len() - 1);
        let below = any(b, below);
        let up = self.up(b, significand[0], round[0], below);
        // The exponent field less the hidden bit: none for zero, which has no uppermost bit.
        let largest = self.bias() + n - 1;
        let wide = self.exponent.max(bits_for(largest + 1));
        let nonzero = significand[p - 1];
        let base = match largest {
            0 => vec![Wire::ZERO; wide],
            _ => arith::sub(b, &arith::constant(largest as u128 - 1, wide), &resized(&count, wide)),
        };
        let base = mask(b, &base, nonzero);
        let field = self.round_up(b, &base, &[nonzero], &significand[..p - 1], up);
        self.finish(b, sign, &field, Wire::ZERO, Wire::ZERO)
    }

    /// The unsigned integer of `bits` bits, rounded towards zero; zero for a negative number or a NaN, the largest
    /// one for a number that is too large (as Rust's `as` has it).
    ///
    /// # Panics
    /// If the number has another width, or `bits` is 0.
    pub fn to_unsigned(self, b: &mut Builder, x: &[Wire], bits: usize) -> Vec<Wire> {
        b.quiet(|b| {
            let (magnitude, over) = self.to_magnitude(b, x, bits);
            let positive = b.not(x[self.bits() - 1]);
            // The magnitude of a number that is too large has no meaning.
            let kept = mask(b, &magnitude, positive);
            let over = b.and(over, positive);
            flip(b, &kept, over)
        })
    }

    /// The signed integer of `bits` bits, rounded towards zero; zero for a NaN, the nearest one for a number that is
    /// out of range (as Rust's `as` has it).
    ///
    /// # Panics
    /// If the number has another width, or `bits` is less than 2.
    pub fn to_signed(self, b: &mut Builder, x: &[Wire], bits: usize) -> Vec<Wire> {
        b.quiet(|b| {
            let (magnitude, over) = self.to_magnitude(b, x, bits - 1);
            let sign = x[self.bits() - 1];
            // The largest magnitude becomes all ones, and their complement is the number below its negative.
            let flipped = b.xor(over, sign);
            let mut number = flip(b, &magnitude, flipped);
            number.push(sign);
            let within = b.not(over);
            let carry = b.and(sign, within);
            arith::add_carry(b, &number, &vec![Wire::ZERO; bits], carry).0
        })
    }

    /// The magnitude rounded towards zero, in `bits` bits, and whether it is too large: then it is zero here, as that
    /// of a NaN, which is not too large.
    fn to_magnitude(self, b: &mut Builder, x: &[Wire], bits: usize) -> (Vec<Wire>, Wire) {
        assert!(bits > 0, "an integer has at least one bit");
        let x = self.split(x);
        let special = all_ones(b, x.exponent);
        let fraction = any(b, x.fraction);
        let nan = b.and(special, fraction);
        // With the hidden bit as uppermost one, the integer is right by the exponent field's distance from that of a
        // number with `bits` bits.
        let largest = self.bias() + bits - 1;
        let wide = 1 + self.exponent.max(bits_for(largest));
        let distance = arith::sub(b, &arith::constant(largest as u128, wide), &resized(x.exponent, wide));
        let over = b.or(distance[wide - 1], special);
        let significand = [x.fraction, &[Wire::ONE]].concat();
        let p = significand.len();
        let aligned = match bits.checked_sub(p) {
            Some(padding) => [&vec![Wire::ZERO; padding][..], &significand].concat(),
            None => significand[p - bits..].to_vec(),
        };
        // Subnormal numbers are far below one.
        let amount = shift::clamp(b, &distance[..wide - 1], Wire::ZERO, bits);
        let (magnitude, _) = shift::right(b, &aligned, &amount);
        let within = b.not(over);
        let number = b.not(nan);
        (mask(b, &magnitude, within), b.and(over, number))
    }
}
