//! `LookupTable`: public rows at a private index.

use std::sync::Arc;

use comity_core::Bits;

/// A public table of 2^delta rows of sigma bits, to be looked up at a private index. Where a table has fewer rows, the
/// others are zero: an index beyond the end gives 0 and shows nothing.
///
/// With the unit vector of an index, whose bit i is one if the index is i, a row is a sum without products:
/// the XOR of the rows under ones. An engine that shares the unit vector of a random r beforehand opens the
/// index less r, and turns the table by that.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct LookupTable {
    delta: usize,
    sigma: usize,
    bytes: Arc<[u8]>,
}

impl LookupTable {
    /// The most bits of an index. For larger tables gates are better.
    pub const MAX_DELTA: usize = 12;
    /// The most bits of a row.
    pub const MAX_SIGMA: usize = 1024;

    /// A table of rows of `sigma` bits, each in whole bytes, the least significant first. Rows that are
    /// missing up to 2^`delta` are zero. `None` if `delta` or `sigma` is zero or too large, if there are more
    /// rows than indices, if `bytes` is not a whole number of rows, or if an unused bit of a row's last byte
    /// is one.
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
        Some(LookupTable { delta, sigma, bytes: bytes.into() })
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
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tables_have_whole_rows_and_no_more_than_indices() {
        let table = LookupTable::new(2, 9, vec![1, 0, 2, 1]).unwrap();
        assert_eq!(table.bytes(), [1, 0, 2, 1, 0, 0, 0, 0]);
        assert_eq!((table.delta(), table.sigma()), (2, 9));
        assert_eq!(table.row(1).to_bytes(), [2, 1]);
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
