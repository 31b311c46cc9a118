//! `Array`: a register as rows.

use comity_circuit::{ProgramBuilder, Register};

use super::Moving;

/// A register that holds rows of the same width, the first one on its lowest wires.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Array {
    register: Register,
    len: usize,
    width: usize,
}

impl Array {
    /// A new array of `len` rows of `width` bits each.
    pub fn new(p: &mut ProgramBuilder, len: usize, width: usize) -> Array {
        // A memory that is too large is refused when the program is finished, by its size.
        let register = p.register((len as u64).saturating_mul(width as u64));
        Array { register, len, width }
    }

    /// The array of the rows of `width` bits in a register.
    ///
    /// # Panics
    /// If the register does not hold a whole number of rows, or the width is zero.
    pub fn of(register: Register, width: usize) -> Array {
        let (rows, rest) = (register.bits() / width as u64, register.bits() % width as u64);
        assert_eq!(rest, 0, "{} bits are no whole number of rows of {width}", register.bits());
        Array { register, len: rows as usize, width }
    }

    /// The register that the array is in.
    pub fn register(self) -> Register {
        self.register
    }

    /// The number of rows.
    pub fn len(self) -> usize {
        self.len
    }

    /// Whether there are no rows.
    pub fn is_empty(self) -> bool {
        self.len == 0
    }

    /// The number of bits of a row.
    pub fn width(self) -> usize {
        self.width
    }

    /// The array of the first `len` rows.
    ///
    /// # Panics
    /// If there are fewer.
    #[must_use]
    pub fn first(self, len: usize) -> Array {
        self.rows(0, len)
    }

    /// The array of `len` rows from index `from` on.
    pub(super) fn rows(self, from: usize, len: usize) -> Array {
        let register = self.register.slice((from * self.width) as u64, (len * self.width) as u64);
        Array { register, len, width: self.width }
    }

    /// The register of a row.
    pub(super) fn row(self, index: usize) -> Register {
        self.register.element(index as u64, self.width as u64)
    }

    /// The span of a row that is the same for all calls.
    pub(super) fn still(self, index: usize) -> Moving {
        (self.row(index).span(), 0)
    }

    /// The span of the row at `from` for the first call, and one row on with each.
    pub(super) fn from(self, from: usize) -> Moving {
        self.every(from, 1)
    }

    /// The span of the row at `from` for the first call, and `step` rows on with each.
    pub(super) fn every(self, from: usize, step: usize) -> Moving {
        (self.row(from).span(), (step * self.width) as i64)
    }
}
