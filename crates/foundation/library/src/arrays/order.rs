//! Which of two rows comes first.

use comity_circuit::{Builder, Wire};

use crate::arith;

/// An order of rows: by their key, the lowest bits of a row; the other bits are payload. Rows with equal keys are
/// equal to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Order {
    key: usize,
    signed: bool,
    descending: bool,
}

impl Order {
    /// The order with the smallest key first. The key is the lowest `key` bits of a row, at least 1, as an
    /// unsigned number.
    pub const fn ascending(key: usize) -> Order {
        Order { key, signed: false, descending: false }
    }

    /// The order with the greatest key first. The key is the lowest `key` bits of a row, at least 1, as an
    /// unsigned number.
    pub const fn descending(key: usize) -> Order {
        Order { descending: true, ..Order::ascending(key) }
    }

    /// The order with signed keys, in two's complement.
    #[must_use]
    pub const fn signed(self) -> Order {
        Order { signed: true, ..self }
    }

    /// The bits of the key.
    pub const fn key(self) -> usize {
        self.key
    }

    pub(super) const fn is_descending(self) -> bool {
        self.descending
    }

    /// The order for keys with `by` bits more at their low end.
    pub(super) const fn widened(self, by: usize) -> Order {
        Order { key: self.key + by, ..self }
    }

    /// Whether row `x` comes before row `y`; not if their keys are equal. k ANDs.
    ///
    /// # Panics
    /// If a row is shorter than the key, or the key has no bits.
    pub fn before(self, b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
        b.quiet(|b| {
            let (x, y) = (&x[..self.key], &y[..self.key]);
            let (x, y) = if self.descending { (y, x) } else { (x, y) };
            if self.signed { arith::lt_signed(b, x, y) } else { arith::lt(b, x, y) }
        })
    }
}

/// Two rows in order: the first one and the second one. Rows with equal keys stay as they are. k + w ANDs.
pub fn compare_exchange(b: &mut Builder, x: &[Wire], y: &[Wire], order: Order) -> (Vec<Wire>, Vec<Wire>) {
    b.quiet(|b| {
        let swap = order.before(b, y, x);
        exchange(b, swap, x, y)
    })
}

/// The rows as they are, or exchanged if `swap` is one. w ANDs.
pub(super) fn exchange(b: &mut Builder, swap: Wire, x: &[Wire], y: &[Wire]) -> (Vec<Wire>, Vec<Wire>) {
    b.quiet(|b| {
        let differ = arith::xor(b, x, y);
        let change: Vec<Wire> = differ.into_iter().map(|bit| b.and(swap, bit)).collect();
        (arith::xor(b, x, &change), arith::xor(b, y, &change))
    })
}
