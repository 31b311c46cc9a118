//! From one format to another.

use comity_circuit::{Builder, Wire};

use super::round::Scaled;
use super::shift::normalize;
use super::{FloatFormat, any, arith, resized};

impl FloatFormat {
    /// The number in another format: exact if that one is larger, rounded if it is smaller.
    ///
    /// # Panics
    /// If the number has another width, or of the formats one has more bits of exponent and fewer of fraction.
    pub fn convert(self, b: &mut Builder, x: &[Wire], to: FloatFormat) -> Vec<Wire> {
        b.quiet(|b| {
            let widens = to.exponent >= self.exponent && to.fraction >= self.fraction;
            let narrows = to.exponent <= self.exponent && to.fraction <= self.fraction;
            assert!(widens || narrows, "one of the formats is as large as the other in both its fields");
            if widens { self.widen(b, x, to) } else { self.narrow(b, x, to) }
        })
    }

    fn widen(self, b: &mut Builder, x: &[Wire], to: FloatFormat) -> Vec<Wire> {
        let x = self.split(x);
        let kind = x.kind(b);
        let padding = vec![Wire::ZERO; to.fraction - self.fraction];
        if to.exponent == self.exponent {
            let field = [&padding, x.magnitude].concat();
            return to.or_special(b, x.sign, &field, kind.special, kind.special, kind.nan);
        }
        let p = self.precision();
        let hidden = b.not(kind.small);
        let (bits, count) = normalize(b, &[x.fraction, &[hidden]].concat(), None);
        let scale = x.scale(b, kind.small);
        let less = arith::not(b, &resized(&count, to.exponent));
        let offset = arith::constant((to.bias() - self.bias() + 1) as u128, to.exponent);
        let exponent = arith::sum(b, &[&offset, &resized(&scale, to.exponent), &less]);
        // Zero has no uppermost bit and keeps its fraction, which is zero.
        let zero = b.not(bits[p - 1]);
        let field = [&padding, &bits[..p - 1], &exponent].concat();
        let clear = b.or(kind.special, zero);
        to.or_special(b, x.sign, &field, clear, kind.special, kind.nan)
    }

    fn narrow(self, b: &mut Builder, x: &[Wire], to: FloatFormat) -> Vec<Wire> {
        let x = self.split(x);
        let kind = x.kind(b);
        let dropped = self.fraction - to.fraction;
        let below = any(b, &x.fraction[..dropped.saturating_sub(1)]);
        if to.exponent == self.exponent {
            let round = dropped.checked_sub(1).map_or(Wire::ZERO, |i| x.fraction[i]);
            let up = to.up(b, x.fraction[dropped], round, below);
            let field = to.round_up(b, x.exponent, &[], &x.fraction[dropped..], up);
            return to.finish(b, x.sign, &field, kind.special, kind.nan);
        }
        // One bit to round, and one above the significand. Subnormal numbers are far below the other format's.
        let mut bits = vec![Wire::ZERO; 1usize.saturating_sub(dropped)];
        bits.extend(&x.fraction[dropped.saturating_sub(1)..]);
        bits.extend([Wire::ONE, Wire::ZERO]);
        let wide = self.exponent + 2;
        let offset = arith::constant((self.bias() - to.bias() + 1) as u128, wide);
        let scale = arith::sub(b, &resized(x.exponent, wide), &offset);
        let scaled = Scaled { bits, below, scale, zero: Wire::ZERO };
        to.pack(b, x.sign, &scaled, kind.special, kind.nan)
    }
}
