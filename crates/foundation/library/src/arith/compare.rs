//! Equality and order. A result is one wire.

use std::cmp::Reverse;
use std::collections::BinaryHeap;

use comity_circuit::{Builder, Goal, Wire, WordOp};

use super::{mux, prefix, width};
use crate::gadget::gadget;

/// Whether `x` is zero. n - 1 ANDs, ⌈log2 n⌉ deep.
pub fn is_zero(b: &mut Builder, x: &[Wire]) -> Wire {
    width(x, x);
    let all: Vec<Wire> = x.iter().map(|&x| b.not(x)).collect();
    tree(b, all, Builder::and)
}

/// All wires together by a function of two. For depth, those of the fewest layers are joined first, and of as
/// many layers inputs in the order in which they stand here, then gates in that in which they were built:
/// what numbers inputs have makes no difference.
pub(crate) fn tree(b: &mut Builder, mut wires: Vec<Wire>, gate: fn(&mut Builder, Wire, Wire) -> Wire) -> Wire {
    if b.goal() == Goal::Size {
        while wires.len() > 1 {
            wires = wires.chunks(2).map(|pair| if let [x, y] = *pair { gate(b, x, y) } else { pair[0] }).collect();
        }
        return wires[0];
    }
    let place = |b: &Builder, i: usize, wire: Wire| {
        let gate = b.is_gate(wire).then_some(wire);
        Reverse((b.depth(wire), gate, i, wire))
    };
    let mut waiting: BinaryHeap<_> = (0..).zip(wires).map(|(i, wire)| place(b, i, wire)).collect();
    let mut next = waiting.len();
    loop {
        let Reverse((.., x)) = waiting.pop().expect("at least one wire");
        let Some(Reverse((.., y))) = waiting.pop() else { return x };
        let both = gate(b, x, y);
        waiting.push(place(b, next, both));
        next += 1;
    }
}

/// `x == y`. n - 1 ANDs, ⌈log2 n⌉ deep.
pub fn eq(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    b.noted(gadget, WordOp::Equal, &[x, y], |b| {
        let differences = super::xor(b, x, y);
        is_zero(b, &differences)
    })
}

/// `x != y`. n - 1 ANDs, ⌈log2 n⌉ deep.
pub fn ne(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    let equal = eq(b, x, y);
    b.not(equal)
}

/// `x < y`, unsigned. n ANDs.
pub fn lt(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    b.noted(gadget, WordOp::Less { signed: false, or_equal: false }, &[x, y], |b| {
        width(x, y);
        less(b, x, y, Wire::ZERO)
    })
}

/// `x < y`, signed. n ANDs.
pub fn lt_signed(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    b.noted(gadget, WordOp::Less { signed: true, or_equal: false }, &[x, y], |b| {
        let sign = width(x, y) - 1;
        // The sign counts the other way round.
        let signs_last = |low: &[Wire], sign: Wire| [low, &[sign]].concat();
        let (x, y) = (signs_last(&x[..sign], y[sign]), signs_last(&y[..sign], x[sign]));
        less(b, &x, &y, Wire::ZERO)
    })
}

/// The borrow of x - y, `x < y`, where `below` is the borrow from lower bits. n ANDs.
pub(crate) fn less(b: &mut Builder, x: &[Wire], y: &[Wire], below: Wire) -> Wire {
    match b.goal() {
        Goal::Size => x.iter().zip(y).fold(below, |below, (&x, &y)| {
            let differ = b.xor(x, y);
            b.mux(differ, y, below)
        }),
        Goal::Depth => prefix::less(b, x, y, below),
    }
}

/// `x <= y`, unsigned. n ANDs.
pub fn le(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    b.noted(gadget, WordOp::Less { signed: false, or_equal: true }, &[x, y], |b| {
        let greater = lt(b, y, x);
        b.not(greater)
    })
}

/// `x <= y`, signed. n ANDs.
pub fn le_signed(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    b.noted(gadget, WordOp::Less { signed: true, or_equal: true }, &[x, y], |b| {
        let greater = lt_signed(b, y, x);
        b.not(greater)
    })
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
