//! Multiplication.

use comity_circuit::{Builder, Wire};

use super::round::Scaled;
use super::shift::normalize;
use super::{FloatFormat, any, arith, resized};

impl FloatFormat {
    /// `x * y`. 1,182 ANDs in binary32, 3,855 in binary64.
    ///
    /// # Panics
    /// If a number has another width.
    pub fn mul(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
        b.quiet(|b| {
            let p = self.precision();
            let [x, y] = [x, y].map(|x| self.split(x));
            let (x_kind, y_kind) = (x.kind(b), y.kind(b));

            // Only one factor is normalized: x if it has no hidden bit, else y. Two that have none give a
            // number that is far below the smallest, and one that is rounded to zero in any case.
            let small = arith::mux(b, x_kind.small, x.fraction, y.fraction);
            let sum = arith::xor(b, x.fraction, y.fraction);
            let mut large = arith::xor(b, &sum, &small);
            let hidden = b.nor(x_kind.small, y_kind.small);
            let (mut small, count) = normalize(b, &[&small[..], &[hidden]].concat(), None);
            let zero = b.not(small[p - 1]);
            small[p - 1] = Wire::ONE;
            large.push(Wire::ONE);
            let product = arith::mul_full(b, &small, &large);

            let wide = self.exponent + 2;
            let (x_scale, y_scale) = (x.scale(b, x_kind.small), y.scale(b, y_kind.small));
            let less = arith::not(b, &resized(&count, wide));
            let offset = arith::constant((1 - (1 << (self.exponent - 1)) as i128) as u128, wide);
            let scale = arith::sum(b, &[&offset, &resized(&x_scale, wide), &resized(&y_scale, wide), &less]);
            let below = any(b, &product[..p - 2]);
            let scaled = Scaled { bits: product[p - 2..].to_vec(), below, scale, zero };

            let special = b.or(x_kind.special, y_kind.special);
            let either = b.or(x_kind.nan, y_kind.nan);
            let undefined = b.and(special, zero);
            let nan = b.or(either, undefined);
            let sign = b.xor(x.sign, y.sign);
            self.pack(b, sign, &scaled, special, nan)
        })
    }
}
