//! One bit of each of a group's executions in a byte: what is packed in rows, an execution each, comes in and
//! goes out so.

use comity_core::{Backend, transpose};
use zeroize::Zeroizing;

use super::GROUP;
use super::strips::Parties;

/// Bits of a group's executions: a byte for each column, and in it a bit for each execution.
pub(super) struct Columns(pub(super) Zeroizing<Vec<u8>>);

impl Columns {
    /// `count` columns of zeros.
    pub(super) fn zeros(count: usize) -> Columns {
        Columns(Zeroizing::new(vec![0; count.next_multiple_of(8)]))
    }

    /// The columns of rows; one that is empty has zeros.
    pub(super) fn of_rows<'a>(backend: Backend, rows: impl Iterator<Item = &'a [u8]>, count: usize) -> Columns {
        let mut columns = Columns::zeros(count);
        let mut all = Zeroizing::new(vec![0; columns.0.len()]);
        let bytes = all.len() / GROUP;
        rows.enumerate().for_each(|(lane, row)| all[lane * bytes..][..row.len()].copy_from_slice(row));
        transpose(backend, &all, &mut columns.0, GROUP, 8 * bytes);
        columns
    }

    /// The rows of all executions.
    pub(super) fn to_rows(&self, backend: Backend) -> Packed {
        let mut rows = Zeroizing::new(vec![0; self.0.len()]);
        transpose(backend, &self.0, &mut rows, self.0.len(), GROUP);
        Packed(rows)
    }
}

/// A row of packed bits for each execution of a group.
pub(super) struct Packed(Zeroizing<Vec<u8>>);

impl Packed {
    /// The row of an execution.
    pub(super) fn row(&self, lane: usize) -> &[u8] {
        let bytes = self.0.len() / GROUP;
        &self.0[lane * bytes..][..bytes]
    }
}

/// The column in which an execution has its lane's bit, of a word that has the same bit all over each lane.
#[inline(always)]
pub(super) fn column(word: Parties) -> u8 {
    word.iter().enumerate().fold(0, |column, (lane, bits)| column | bits & 1 << lane) as u8
}

/// The word that has an execution's bit all over its lane.
#[inline(always)]
pub(super) fn spread(column: u8) -> Parties {
    core::array::from_fn(|lane| (u64::from(column) >> lane & 1).wrapping_neg())
}
