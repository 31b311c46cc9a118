//! Equality and order. A result is one wire.

use comity_circuit::{Builder, Wire};

use super::{mux, width};

/// Whether `x` is zero. n - 1 ANDs, ⌈log2 n⌉ deep.
pub fn is_zero(b: &mut Builder, x: &[Wire]) -> Wire {
    width(x, x);
    let mut all: Vec<Wire> = x.iter().map(|&x| b.not(x)).collect();
    while all.len() > 1 {
        all = all.chunks(2).map(|pair| if let [x, y] = *pair { b.and(x, y) } else { pair[0] }).collect();
    }
    all[0]
}

/// `x == y`. n - 1 ANDs, ⌈log2 n⌉ deep.
pub fn eq(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    let differences = super::xor(b, x, y);
    is_zero(b, &differences)
}

/// `x != y`. n - 1 ANDs, ⌈log2 n⌉ deep.
pub fn ne(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    let equal = eq(b, x, y);
    b.not(equal)
}

/// `x < y`, unsigned. n ANDs.
pub fn lt(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    width(x, y);
    x.iter().zip(y).fold(Wire::ZERO, |below, (&x, &y)| less(b, x, y, below))
}

/// `x < y`, signed. n ANDs.
pub fn lt_signed(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    let sign = width(x, y) - 1;
    let below = x[..sign].iter().zip(&y[..sign]).fold(Wire::ZERO, |below, (&x, &y)| less(b, x, y, below));
    less(b, y[sign], x[sign], below)
}

/// The borrow of x - y, `x < y`, where `below` says so of all lower bits.
fn less(b: &mut Builder, x: Wire, y: Wire, below: Wire) -> Wire {
    let differ = b.xor(x, y);
    b.mux(differ, y, below)
}

/// `x <= y`, unsigned. n ANDs.
pub fn le(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    let greater = lt(b, y, x);
    b.not(greater)
}

/// `x <= y`, signed. n ANDs.
pub fn le_signed(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    let greater = lt_signed(b, y, x);
    b.not(greater)
}

/// `x > y`, unsigned. n ANDs.
pub fn gt(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    lt(b, y, x)
}

/// `x > y`, signed. n ANDs.
pub fn gt_signed(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    lt_signed(b, y, x)
}

/// `x >= y`, unsigned. n ANDs.
pub fn ge(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    le(b, y, x)
}

/// `x >= y`, signed. n ANDs.
pub fn ge_signed(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    le_signed(b, y, x)
}

/// The smaller of `x` and `y`, unsigned. 2n ANDs.
pub fn min(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let less = lt(b, x, y);
    mux(b, less, x, y)
}

/// The smaller of `x` and `y`, signed. 2n ANDs.
pub fn min_signed(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let less = lt_signed(b, x, y);
    mux(b, less, x, y)
}

/// The greater of `x` and `y`, unsigned. 2n ANDs.
pub fn max(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let less = lt(b, x, y);
    mux(b, less, y, x)
}

/// The greater of `x` and `y`, signed. 2n ANDs.
pub fn max_signed(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let less = lt_signed(b, x, y);
    mux(b, less, y, x)
}
