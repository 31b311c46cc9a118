//! Addition and subtraction.

use comity_circuit::{Builder, Wire};

use super::shift::{self, normalize};
use super::{FloatFormat, all_ones, any, arith, flip, mask, resized};

impl FloatFormat {
    /// `x + y`. 560 ANDs in binary32, 1,223 in binary64.
    ///
    /// # Panics
    /// If a number has another width.
    pub fn add(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
        b.quiet(|b| {
            let p = self.precision();
            let [x, y] = [x, y].map(|x| self.split(x));
            // The greater magnitude comes first. If both are equal, the positive one does: so a sum of
            // opposite numbers is positive zero.
            let swap = arith::less(b, x.magnitude, y.magnitude, x.sign);
            let [x, y] = [[x.magnitude, &[x.sign]].concat(), [y.magnitude, &[y.sign]].concat()];
            let first = arith::mux(b, swap, &y, &x);
            let sum = arith::xor(b, &x, &y);
            let second = arith::xor(b, &sum, &first);
            let [x, y] = [&first, &second].map(|x| self.split(x));
            let subtract = b.xor(x.sign, y.sign);

            let [x_small, y_small] = [&x, &y].map(|x| arith::is_zero(b, x.exponent));
            let (x_scale, y_scale) = (x.scale(b, x_small), y.scale(b, y_small));
            let distance = arith::sub(b, &x_scale, &y_scale);
            let (x_hidden, y_hidden) = (b.not(x_small), b.not(y_small));
            // Two bits more below: one for a difference that loses its uppermost bit, and one to round. What is below
            // those changes the result only by borrowing, and by breaking a tie.
            let aligned = [&[Wire::ZERO; 2], y.fraction, &[y_hidden]].concat();
            let amount = shift::clamp(b, &distance, Wire::ZERO, p + 2);
            let (aligned, below) = shift::right(b, &aligned, &amount);

            // x - y is the complement of y plus the complement of x.
            let x_bits = [&[Wire::ZERO; 3], x.fraction, &[x_hidden]].concat();
            let x_bits = flip(b, &x_bits, subtract);
            let (sum, carry) = arith::add_carry(b, &x_bits, &[&[below], &aligned[..]].concat(), Wire::ZERO);
            let mut bits = flip(b, &sum[1..], subtract);
            bits.push(carry);

            // The exponent field of a sum with a carry is one more than that of x; the hidden bit counts as
            // this one. Without a hidden bit the number is subnormal, and the rest of the exponent none
            // already, or it is zero.
            let (bits, count) = normalize(b, &bits, Some(&x_scale));
            let base = arith::sub(b, &x_scale, &resized(&count, self.exponent));
            let base = mask(b, &base, bits[p + 2]);
            let below = [&bits[..2], &[below]].concat();
            let below = any(b, &below);
            let up = self.up(b, bits[3], bits[2], below);
            let field = self.round_up(b, &base, &[bits[p + 2]], &bits[3..p + 2], up);

            let [x_special, y_special] = [&x, &y].map(|x| all_ones(b, x.exponent));
            let opposite = b.and(subtract, y_special);
            let fraction = any(b, x.fraction);
            let nan = b.or(opposite, fraction);
            let nan = b.and(x_special, nan);
            self.finish(b, x.sign, &field, x_special, nan)
        })
    }

    /// `x - y`. As [`FloatFormat::add`].
    ///
    /// # Panics
    /// If a number has another width.
    pub fn sub(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
        let y = self.neg(b, y);
        self.add(b, x, &y)
    }
}
