//! Order and equality. A NaN is not equal to anything, nor less, nor greater.

use comity_circuit::{Builder, Wire};

use super::{FloatFormat, any, arith, flip, mask};

impl FloatFormat {
    /// Whether `x == y`: zeros of either sign are equal, a NaN is not equal to itself. 133 ANDs in binary64.
    ///
    /// # Panics
    /// If a number has another width.
    pub fn eq(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
        b.quiet(|b| {
            let [x, y] = [x, y].map(|x| self.split(x));
            let same = arith::eq(b, x.magnitude, y.magnitude);
            // If they have the same magnitude, the tests of one are those of both.
            let kind = x.kind(b);
            let fraction = any(b, x.fraction);
            let tiny = b.not(fraction);
            let zero = b.and(kind.small, tiny);
            let same_sign = b.xnor(x.sign, y.sign);
            let sign = b.or(same_sign, zero);
            let number = b.not(kind.nan);
            let equal = b.and(same, sign);
            b.and(equal, number)
        })
    }

    /// Whether `x < y`. No if one is a NaN. 197 ANDs in binary64.
    ///
    /// # Panics
    /// If a number has another width.
    pub fn lt(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
        b.quiet(|b| {
            let (less, unordered) = self.less(b, x, y);
            let ordered = b.not(unordered);
            b.and(less, ordered)
        })
    }

    /// Whether `x <= y`. No if one is a NaN.
    ///
    /// # Panics
    /// If a number has another width.
    pub fn le(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
        b.quiet(|b| {
            let (greater, unordered) = self.less(b, y, x);
            b.nor(greater, unordered)
        })
    }

    /// Whether `x > y`. No if one is a NaN.
    ///
    /// # Panics
    /// If a number has another width.
    pub fn gt(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
        self.lt(b, y, x)
    }

    /// Whether `x >= y`. No if one is a NaN.
    ///
    /// # Panics
    /// If a number has another width.
    pub fn ge(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
        self.le(b, y, x)
    }

    /// The smaller of `x` and `y`. If one is a NaN, the other one; -0 is less than 0 (minimumNumber of IEEE 754-2019).
    ///
    /// # Panics
    /// If a number has another width.
    pub fn min(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
        b.quiet(|b| self.choose(b, x, y, |_, less| less))
    }

    /// The greater of `x` and `y`. If one is a NaN, the other one; -0 is less than 0 (maximumNumber of IEEE 754-2019).
    ///
    /// # Panics
    /// If a number has another width.
    pub fn max(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
        b.quiet(|b| self.choose(b, x, y, Builder::not))
    }

    /// Whether `x < y`, and whether one is a NaN: then the former says nothing.
    fn less(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> (Wire, Wire) {
        let [x, y] = [x, y].map(|x| self.split(x));
        let [x_nan, y_nan] = [&x, &y].map(|x| x.nan(b));
        // -0 is not less than 0, nor than itself: as x it is taken for 0. As y it may stay, and less than 0.
        let parts = [any(b, x.fraction), any(b, x.exponent)];
        let nonzero = any(b, &parts);
        let sign = b.and(x.sign, nonzero);
        let less = signed_less(b, (x.magnitude, sign), (y.magnitude, y.sign));
        (less, b.or(x_nan, y_nan))
    }

    /// The choice of x or y, as `x_of` says from whether x is less, or of the one that is not a NaN.
    fn choose(
        self,
        b: &mut Builder,
        x: &[Wire],
        y: &[Wire],
        x_of: impl FnOnce(&mut Builder, Wire) -> Wire,
    ) -> Vec<Wire> {
        let [left, right] = [x, y].map(|x| self.split(x));
        let [x_nan, y_nan] = [&left, &right].map(|x| x.nan(b));
        let less = signed_less(b, (left.magnitude, left.sign), (right.magnitude, right.sign));
        let wanted = x_of(b, less);
        let wanted = b.or(wanted, y_nan);
        let number = b.not(x_nan);
        let wanted = b.and(wanted, number);
        let chosen = arith::mux(b, wanted, x, y);
        // A NaN is chosen only if both are, and becomes the one NaN: its exponent is as it is.
        let nan = b.and(x_nan, y_nan);
        let number = b.not(nan);
        let mut fraction = mask(b, &chosen[..self.fraction], number);
        fraction[self.fraction - 1] = b.xor(fraction[self.fraction - 1], nan);
        let sign = b.and(chosen[self.bits() - 1], number);
        [&fraction, &chosen[self.fraction..self.bits() - 1], &[sign]].concat()
    }
}

/// Whether `x < y`, for magnitudes with signs: -0 is less than 0. n ANDs for n bits with the sign.
fn signed_less(b: &mut Builder, (x, x_sign): (&[Wire], Wire), (y, y_sign): (&[Wire], Wire)) -> Wire {
    // Of two negative numbers the one with the greater magnitude is less, and so is the complement of that
    // magnitude.
    let [x, y] = [x, y].map(|x| flip(b, x, x_sign));
    let less = arith::lt(b, &x, &y);
    let differ = b.xor(x_sign, y_sign);
    b.mux(differ, x_sign, less)
}
