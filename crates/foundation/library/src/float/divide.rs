//! Division.

use comity_circuit::{Builder, Goal, Wire};

use super::round::Scaled;
use super::shift::normalize;
use super::{FloatFormat, any, arith, flip, resized};

impl FloatFormat {
    /// `x / y`. 1,284 ANDs in binary32, 4,469 in binary64.
    ///
    /// # Panics
    /// If a number has another width.
    pub fn div(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
        b.quiet(|b| {
            let p = self.precision();
            let [x, y] = [x, y].map(|x| self.split(x));
            let (x_kind, y_kind) = (x.kind(b), y.kind(b));
            let (x_hidden, y_hidden) = (b.not(x_kind.small), b.not(y_kind.small));
            let (mut dividend, x_count) = normalize(b, &[x.fraction, &[x_hidden]].concat(), None);
            let (mut divisor, y_count) = normalize(b, &[y.fraction, &[y_hidden]].concat(), None);
            let (x_zero, y_zero) = (b.not(dividend[p - 1]), b.not(divisor[p - 1]));
            (dividend[p - 1], divisor[p - 1]) = (Wire::ONE, Wire::ONE);
            let (quotient, below) = divide(b, &dividend, &divisor);

            let wide = self.exponent + 2;
            let (x_scale, y_scale) = (x.scale(b, x_kind.small), y.scale(b, y_kind.small));
            let y_less = arith::not(b, &resized(&y_scale, wide));
            let x_less = arith::not(b, &resized(&x_count, wide));
            // Two complements want two ones; the scale is two less than the exponent field.
            let offset = arith::constant(self.bias() as u128, wide);
            let y_count = resized(&y_count, wide);
            let scale = arith::sum(b, &[&offset, &resized(&x_scale, wide), &y_less, &y_count, &x_less]);
            let zero = b.or(x_zero, y_kind.special);
            let scaled = Scaled { bits: quotient, below, scale, zero };

            let infinite = b.or(x_kind.special, y_zero);
            let infinite = b.or(infinite, y_kind.nan);
            let infinities = b.and(x_kind.special, y_kind.special);
            let zeros = b.and(x_zero, y_zero);
            let nan = any(b, &[x_kind.nan, y_kind.nan, infinities, zeros]);
            let sign = b.xor(x.sign, y.sign);
            self.pack(b, sign, &scaled, infinite, nan)
        })
    }
}

/// The p + 2 upper bits of the quotient of two words of p bits whose uppermost bits are one, the first one of weight 1,
/// and whether there is a remainder. About p² + 4p ANDs.
///
/// Without restoring: the divisor is subtracted from a remainder that is not negative and added to one that is, so that
/// it stays between the divisor and its negative; a quotient bit is one after each remainder that is not negative.
fn divide(b: &mut Builder, dividend: &[Wire], divisor: &[Wire]) -> (Vec<Wire>, Wire) {
    let p = dividend.len();
    if b.goal() == Goal::Depth {
        return arith::quotient(b, &[&vec![Wire::ZERO; p + 1], dividend, &[Wire::ZERO]].concat(), divisor);
    }
    let wide = [divisor, &[Wire::ZERO]].concat();
    let mut rest = arith::sub(b, &[dividend, &[Wire::ZERO]].concat(), &wide);
    let mut quotient = vec![b.not(rest[p])];
    while quotient.len() < p + 2 {
        let subtract = b.not(rest[p]);
        rest.rotate_right(1);
        rest[0] = Wire::ZERO;
        // x - y is the complement of y plus the complement of x.
        let complement = flip(b, &rest, subtract);
        let sum = arith::add(b, &complement, &wide);
        rest = flip(b, &sum, subtract);
        quotient.push(b.not(rest[p]));
    }
    quotient.reverse();
    // A quotient of more than p bits is not exact: if it is, then the remainder was zero before the last step, and
    // from then on it is the divisor's negative.
    let sum = arith::add(b, &rest, &wide);
    let below = any(b, &sum);
    (quotient, below)
}
