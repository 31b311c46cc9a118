//! Square root.

use comity_circuit::{Builder, Wire};

use super::shift::normalize;
use super::{FloatFormat, arith, resized};

impl FloatFormat {
    /// The square root; that of a negative number is the NaN, that of -0 is -0. 530 ANDs in binary32,
    /// 1,997 in binary64.
    ///
    /// # Panics
    /// If the number has another width.
    pub fn sqrt(self, b: &mut Builder, x: &[Wire]) -> Vec<Wire> {
        b.quiet(|b| {
            let p = self.precision();
            let x = self.split(x);
            let kind = x.kind(b);
            let hidden = b.not(kind.small);
            let (mut bits, count) = normalize(b, &[x.fraction, &[hidden]].concat(), None);
            let zero = b.not(bits[p - 1]);
            bits[p - 1] = Wire::ONE;
            // Twice the exponent field of the root, and one more if the power of two is odd.
            let wide = self.exponent + 1;
            let scale = x.scale(b, kind.small);
            let less = arith::not(b, &resized(&count, wide));
            let offset = arith::constant(self.bias() as u128 + 1, wide);
            let twice = arith::sum(b, &[&offset, &resized(&scale, wide), &less]);
            // The number with two bits before the point.
            let (single, double) = ([&bits[..], &[Wire::ZERO]].concat(), [&[Wire::ZERO], &bits[..]].concat());
            let radicand = arith::mux(b, twice[0], &double, &single);
            // It is no tie, since a root of p + 1 bits has a square of more than p; and it is below 2 after
            // rounding, too.
            let root = root(b, &radicand, p + 1);
            let (mut field, _) = arith::add_carry(b, &root[1..p], &vec![Wire::ZERO; self.fraction], root[0]);
            field.extend(&twice[1..]);

            let number = b.not(zero);
            let negative = b.and(x.sign, number);
            let nan = b.or(negative, kind.nan);
            let infinite = b.or(negative, kind.special);
            let clear = b.or(infinite, zero);
            self.or_special(b, x.sign, &field, clear, infinite, nan)
        })
    }
}

/// The upper bits of the square root of a number with two bits before the point, one of which is one. About n²/2 + 2n
/// ANDs for n bits.
///
/// Without restoring, as a division: the divisor is the root so far.
fn root(b: &mut Builder, radicand: &[Wire], bits: usize) -> Vec<Wire> {
    let mut next = radicand.iter().rev().copied().chain(std::iter::repeat(Wire::ZERO));
    let mut pair = || {
        let high = next.next().expect("endless");
        [next.next().expect("endless"), high]
    };
    // The uppermost bit of the root is one, least significant first from here on.
    let mut root = vec![Wire::ONE];
    let one = arith::constant(1, 3);
    let mut rest = arith::sub(b, &resized(&pair(), 3), &one);
    while root.len() < bits {
        // With r the root so far: 4·rest + pair, less 4r + 1 if it is not negative, plus 4r + 3 if it is. Either is
        // to add r or its complement, then two ones.
        let sign = rest[rest.len() - 1];
        let subtract = b.not(sign);
        let mut change = vec![Wire::ONE; 2];
        change.extend(super::flip(b, &root, subtract));
        let shifted = [&pair()[..], &rest].concat();
        // The rest is between -2r - 1 and 2r, and has two bits more than r.
        let width = root.len() + 3;
        change.resize(width, subtract);
        rest = arith::add(b, &shifted[..width], &change);
        root.insert(0, b.not(rest[width - 1]));
    }
    root
}
