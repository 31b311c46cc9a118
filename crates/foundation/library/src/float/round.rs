//! Rounding and packing.

use comity_circuit::{Builder, Wire};

use super::{FloatFormat, all_ones, any, arith, mask, resized, shift};

/// A positive number before rounding, exact but for its scale's limits.
pub(super) struct Scaled {
    /// The round bit, the significand, and one bit above it: the lowest p + 2 bits that could be needed. One of the two
    /// uppermost is one.
    pub(super) bits: Vec<Wire>,
    /// Whether anything but zeros comes below the bits.
    pub(super) below: Wire,
    /// The exponent field that the number has if its uppermost bit is one, less two. Signed, in at
    /// least e + 2 bits.
    pub(super) scale: Vec<Wire>,
    /// Whether the number is zero, whatever else is said.
    pub(super) zero: Wire,
}

impl FloatFormat {
    /// Fraction and exponent field as one number: that of the exponent field `base + units` and this fraction, and one
    /// in the last place if it is rounded up. The exponent has the bits of `base`.
    pub(super) fn round_up(
        self,
        b: &mut Builder,
        base: &[Wire],
        units: &[Wire],
        fraction: &[Wire],
        up: Wire,
    ) -> Vec<Wire> {
        let units = [vec![Wire::ZERO; self.fraction], resized(units, base.len())].concat();
        arith::add_carry(b, &[fraction, base].concat(), &units, up).0
    }

    /// Whether to round up, to nearest, ties to even.
    pub(super) fn up(self, b: &mut Builder, last: Wire, round: Wire, below: Wire) -> Wire {
        let odd = b.or(last, below);
        b.and(round, odd)
    }

    /// Rounds and packs a number: a normal one, subnormal, zero, or too large.
    pub(super) fn pack(self, b: &mut Builder, sign: Wire, x: &Scaled, infinite: Wire, nan: Wire) -> Vec<Wire> {
        let p = self.precision();
        assert_eq!(x.bits.len(), p + 2, "the bits that rounding takes");
        let (&negative, scale) = x.scale.split_last().expect("a scale has a sign");
        let top = x.bits[p + 1];
        // Without a shift the second bit from above is the hidden one. It is shifted by one if there is another above,
        // and a number below the normal ones by as much as its exponent field would be less than two.
        let deficit = arith::negate(b, &x.scale);
        let mut amount = mask(b, &deficit, negative);
        let above = b.not(negative);
        let above = b.and(above, top);
        amount[0] = b.xor(amount[0], above);
        let amount = shift::clamp(b, &amount, x.zero, p + 2);
        let (bits, lost) = shift::right(b, &x.bits, &amount);
        let below = b.or(lost, x.below);
        let significand = &bits[1..=p];
        let up = self.up(b, significand[0], bits[0], below);
        // The exponent field is the scale plus top, hidden bit and carry; below the normal numbers that of the scale
        // is zero, and so is the bit above.
        let low = b.or(negative, x.zero);
        let normal = b.not(low);
        let base = mask(b, scale, normal);
        let above = b.and(top, normal);
        let lowest = b.xor(significand[self.fraction], above);
        let field = self.round_up(b, &base, &[lowest, above], &significand[..self.fraction], up);
        self.finish(b, sign, &field, infinite, nan)
    }

    /// A number from fraction and exponent, which may have more bits than the field: if it is too large, or `infinite`
    /// is one, infinity; with `nan` too, the NaN. e + f ANDs, and e more to find out whether it is too large.
    pub(super) fn finish(self, b: &mut Builder, sign: Wire, field: &[Wire], infinite: Wire, nan: Wire) -> Vec<Wire> {
        let (field, over) = field.split_at(self.exponent + self.fraction);
        let over = any(b, over);
        let ones = all_ones(b, &field[self.fraction..]);
        let over = b.or(over, ones);
        let infinite = b.or(over, infinite);
        self.or_special(b, sign, field, infinite, infinite, nan)
    }

    /// The number with these fields, or if `clear` is one, zero, infinity or the NaN: the latter two need
    /// `clear` as well, and the NaN needs `infinite`. e + f + 1 ANDs.
    pub(super) fn or_special(
        self,
        b: &mut Builder,
        sign: Wire,
        field: &[Wire],
        clear: Wire,
        infinite: Wire,
        nan: Wire,
    ) -> Vec<Wire> {
        let keep = b.not(clear);
        let mut x = mask(b, field, keep);
        for bit in &mut x[self.fraction..] {
            *bit = b.xor(*bit, infinite);
        }
        x[self.fraction - 1] = b.xor(x[self.fraction - 1], nan);
        let number = b.not(nan);
        x.push(b.and(sign, number));
        x
    }
}
