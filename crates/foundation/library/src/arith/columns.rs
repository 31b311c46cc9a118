//! Sums of many bits of mixed weight.
//!
//! Bits wait in columns, column i for those of weight 2^i. From the lowest column upwards, full adders take three bits
//! of a column, leave one and carry one, for one AND gate each; a half adder takes the last two. Compared with a chain
//! of two-operand adders this saves half adders at their low ends, and a constant costs an AND only where its carry
//! depends on data. Adders take the bits that have waited longest. So those of a late carry are added last, and the
//! depth is that of about one ripple; and in a column of many bits the adders form a tree.

use std::collections::VecDeque;

use comity_circuit::{Builder, Wire};

/// The columns of bits to be added up, modulo 2^width.
pub(super) struct Columns(Vec<VecDeque<Wire>>);

impl Columns {
    /// The empty sum, modulo 2^width.
    pub(super) fn new(width: usize) -> Columns {
        Columns(vec![VecDeque::new(); width])
    }

    /// Adds a bit times 2^at.
    pub(super) fn bit(&mut self, at: usize, bit: Wire) {
        if let Some(column) = self.0.get_mut(at) {
            column.push_back(bit);
        }
    }

    /// Adds a word times 2^at.
    pub(super) fn word(&mut self, at: usize, word: &[Wire]) {
        for (i, &bit) in word.iter().enumerate() {
            self.bit(at + i, bit);
        }
    }

    /// The sum: one AND for each carry that depends on data, but none where a lone bit and a constant one carry.
    pub(super) fn sum(mut self, b: &mut Builder) -> Vec<Wire> {
        let last = self.0.len() - 1;
        let mut sum: Vec<Wire> = (0..last).map(|i| self.reduce(b, i)).collect();
        sum.push(self.0[last].iter().fold(Wire::ZERO, |sum, &bit| b.xor(sum, bit)));
        sum
    }

    /// The sum of column `at` modulo 2; its carries go to the next column.
    fn reduce(&mut self, b: &mut Builder, at: usize) -> Wire {
        let mut one = false;
        loop {
            let Some(x) = self.next(at, &mut one) else {
                return Wire::constant(one);
            };
            let Some(y) = self.next(at, &mut one) else {
                if !one {
                    return x;
                }
                self.bit(at + 1, x);
                return b.not(x);
            };
            let z = self.next(at, &mut one).unwrap_or_else(|| Wire::constant(std::mem::take(&mut one)));
            let (bit, carry) = full_adder(b, x, y, z);
            self.bit(at, bit);
            self.bit(at + 1, carry);
        }
    }

    /// The next bit of a column that is no constant. Constant ones on the way toggle `one`, and carry in pairs.
    fn next(&mut self, at: usize, one: &mut bool) -> Option<Wire> {
        while let Some(bit) = self.0[at].pop_front() {
            match bit.as_constant() {
                None => return Some(bit),
                Some(false) => {}
                Some(true) => {
                    if *one {
                        self.bit(at + 1, Wire::ONE);
                    }
                    *one = !*one;
                }
            }
        }
        None
    }
}

/// The sum of three bits and its carry. One AND; the fewest XORs if a constant is among them.
pub(super) fn full_adder(b: &mut Builder, x: Wire, y: Wire, z: Wire) -> (Wire, Wire) {
    let is_constant = |w: Wire| w.as_constant().is_some();
    let (x, y, z) = if is_constant(x) {
        (z, y, x)
    } else if is_constant(y) {
        (x, z, y)
    } else {
        (x, y, z)
    };
    let differ = b.xor(x, y);
    let carry = match z.as_constant() {
        Some(false) => b.and(x, y),
        Some(true) => b.or(x, y),
        None => b.mux(differ, z, y),
    };
    (b.xor(differ, z), carry)
}
