//! What a circuit means, for engines that have a better way than its gates.
//!
//! An engine that knows no better runs the gates and never looks. One that does takes the meaning alone, so it has to be
//! true: it is held against the gates on all inputs, whoever says it.

use comity_core::Bits;

use crate::circuit::{Circuit, Op};

/// The meaning of a circuit.
#[non_exhaustive]
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Meaning {
    /// The circuit looks up a row of a table: its input value is the index, its output value the row.
    Table(LookupTable),
}

/// A public table of 2^delta rows of sigma bits, to be looked up at a private index. Where a table has fewer rows, the
/// others are zero: an index beyond the end gives 0 and shows nothing.
///
/// With the unit vector of an index, whose bit i is one if the index is i, a row is a sum without products: the XOR of
/// the rows under ones. An engine that shares the unit vector of a random r beforehand opens the index less r, and turns
/// the table by that.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LookupTable {
    delta: usize,
    sigma: usize,
    bytes: Vec<u8>,
}

impl LookupTable {
    /// The most bits of an index. Of larger tables the gates are the better way.
    pub const MAX_DELTA: usize = 12;
    /// The most bits of a row.
    pub const MAX_SIGMA: usize = 1024;

    /// A table of rows of `sigma` bits, each in whole bytes, the least significant first. Rows that are missing up to
    /// 2^`delta` are zero. None if the index or the rows have no bits or too many, if there are more rows than indices or
    /// no whole number of them, or if a bit behind a row is one.
    pub fn new(delta: usize, sigma: usize, mut bytes: Vec<u8>) -> Option<LookupTable> {
        if !(1..=LookupTable::MAX_DELTA).contains(&delta) || !(1..=LookupTable::MAX_SIGMA).contains(&sigma) {
            return None;
        }
        let (width, rest) = (sigma.div_ceil(8), sigma % 8);
        let clean = |row: &[u8]| rest == 0 || row[width - 1] >> rest == 0;
        if !bytes.len().is_multiple_of(width) || bytes.len() > width << delta || !bytes.chunks(width).all(clean) {
            return None;
        }
        bytes.resize(width << delta, 0);
        Some(LookupTable { delta, sigma, bytes })
    }

    /// The bits of an index.
    pub fn delta(&self) -> usize {
        self.delta
    }

    /// The bits of a row.
    pub fn sigma(&self) -> usize {
        self.sigma
    }

    /// All 2^delta rows, each in ⌈sigma / 8⌉ bytes, the least significant first.
    pub fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The row at an index.
    ///
    /// # Panics
    /// If the index has more than delta bits.
    pub fn row(&self, index: usize) -> Bits {
        let width = self.sigma.div_ceil(8);
        Bits::from_bytes(&self.bytes[index * width..][..width], self.sigma)
    }

    /// Bit `bit` of the row at an index.
    fn bit(&self, index: usize, bit: usize) -> bool {
        self.bytes[index * self.sigma.div_ceil(8) + bit / 8] >> (bit % 8) & 1 == 1
    }
}

impl Meaning {
    /// Whether a circuit computes this, by its gates on all inputs: 64 at once, so at most 64 steps for each gate.
    pub fn is_of(&self, circuit: &Circuit) -> bool {
        let Meaning::Table(table) = self;
        let ([index], [row]) = (circuit.inputs(), circuit.outputs()) else { return false };
        if (index.bits, row.bits) != (table.delta, table.sigma) {
            return false;
        }
        let rows = 1 << table.delta;
        let mut wires = vec![0u64; circuit.first_gate_wire() + circuit.gates().len()];
        (0..rows).step_by(64).all(|start| {
            let indices = start..rows.min(start + 64);
            let word =
                |bit: &dyn Fn(usize) -> bool| indices.clone().rev().fold(0, |word, i| word << 1 | u64::from(bit(i)));
            wires[1] = !0;
            for (i, wire) in wires[2..circuit.first_gate_wire()].iter_mut().enumerate() {
                *wire = word(&|index| index >> i & 1 == 1);
            }
            for (i, gate) in circuit.gates().iter().enumerate() {
                let (a, b) = (wires[gate.a as usize], wires[gate.b as usize]);
                wires[circuit.first_gate_wire() + i] = if gate.op == Op::And { a & b } else { a ^ b };
            }
            let all = word(&|_| true);
            let mut outputs = circuit.output_wires().iter().enumerate();
            outputs.all(|(i, &wire)| wires[wire as usize] & all == word(&|index| table.bit(index, i)))
        })
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::builder::Builder;

    /// The product of two numbers of two bits, as a table and as a circuit.
    fn product(table: impl Fn(u8) -> u8) -> (LookupTable, Circuit) {
        let mut b = Builder::new();
        let x = b.input("x", 4);
        let [low, cross, other, high] = [(0, 2), (1, 2), (0, 3), (1, 3)].map(|(i, j)| b.and(x[i], x[j]));
        let (second, carry) = (b.xor(cross, other), b.and(cross, other));
        let (third, fourth) = (b.xor(high, carry), b.and(high, carry));
        b.output("y", &[low, second, third, fourth]);
        (LookupTable::new(4, 4, (0..16).map(table).collect()).unwrap(), b.finish())
    }

    #[test]
    fn a_meaning_is_held_against_all_inputs() {
        let right = |i: u8| (i & 3) * (i >> 2);
        let (table, circuit) = product(right);
        assert_eq!(table.row(0b1011).to_bytes(), [6]);
        assert!(Meaning::Table(table).is_of(&circuit));
        for wrong in 0..16 {
            let (table, circuit) = product(|i| right(i) ^ u8::from(i == wrong));
            assert!(!Meaning::Table(table).is_of(&circuit), "row {wrong}");
        }
        // The same rows, of another width.
        let wide = LookupTable::new(5, 4, (0..16).map(right).collect()).unwrap();
        assert!(!Meaning::Table(wide).is_of(&circuit));
        let wide = LookupTable::new(4, 5, (0..16).map(right).collect()).unwrap();
        assert!(!Meaning::Table(wide).is_of(&circuit));
    }

    #[test]
    fn tables_have_whole_rows_and_no_more_than_indices() {
        let table = LookupTable::new(2, 9, vec![1, 0, 2, 1]).unwrap();
        assert_eq!(table.bytes(), [1, 0, 2, 1, 0, 0, 0, 0]);
        assert_eq!((table.delta(), table.sigma()), (2, 9));
        for (delta, sigma, bytes) in [
            (0, 8, vec![]),
            (LookupTable::MAX_DELTA + 1, 8, vec![]),
            (2, 0, vec![]),
            (2, LookupTable::MAX_SIGMA + 1, vec![]),
            (2, 9, vec![1]),
            (2, 9, vec![0, 2]),
            (1, 8, vec![1, 2, 3]),
        ] {
            assert_eq!(LookupTable::new(delta, sigma, bytes), None, "{delta} {sigma}");
        }
    }
}
