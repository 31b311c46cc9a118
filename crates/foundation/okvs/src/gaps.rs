//! The small dense system: rows that peeling set aside, over the dense columns.

use comity_core::{Backend, Block, gf128};

use crate::layout::DENSE;

/// A row that was set aside.
#[derive(Clone, Copy)]
pub(crate) struct Gap {
    /// The contribution of each dense column to the row, times that column's change.
    pub(crate) changes: [Block; DENSE],
    /// The sum that all must have.
    pub(crate) missing: Block,
}

impl Gap {
    /// Adds another row `factor` times.
    fn add(&mut self, backend: Backend, factor: Block, other: &Gap) {
        for (change, &other) in self.changes.iter_mut().zip(&other.changes) {
            *change ^= gf128::mul(backend, factor, other);
        }
        self.missing ^= gf128::mul(backend, factor, other.missing);
    }
}

/// Changes of the dense columns that fill all gaps, and the places of those that they do not fill.
pub(crate) fn solve(backend: Backend, gaps: Vec<Gap>) -> ([Block; DENSE], Vec<usize>) {
    // Gauss and Jordan: each row of `solved` has a one in its column, where all others have a zero.
    let mut solved: Vec<(usize, Gap)> = Vec::new();
    let mut left = Vec::new();
    for (i, mut gap) in gaps.into_iter().enumerate() {
        for (column, other) in &solved {
            gap.add(backend, gap.changes[*column], other);
        }
        let Some(column) = gap.changes.iter().position(|&change| change != Block::ZERO) else {
            if gap.missing != Block::ZERO {
                left.push(i);
            }
            continue;
        };
        let mut unit = Gap { changes: [Block::ZERO; DENSE], missing: Block::ZERO };
        unit.add(backend, inverse(backend, gap.changes[column]), &gap);
        for (_, other) in &mut solved {
            other.add(backend, other.changes[column], &unit);
        }
        solved.push((column, unit));
    }
    let mut changes = [Block::ZERO; DENSE];
    for (column, gap) in solved {
        changes[column] = gap.missing;
    }
    (changes, left)
}

/// The inverse of an element: its power of `2^128 - 2`, which is the product of its powers of 2, 4, ... 2^127.
fn inverse(backend: Backend, element: Block) -> Block {
    let mut power = element;
    (1..128).fold(Block::from_u128(1), |inverse, _| {
        power = gf128::mul(backend, power, power);
        gf128::mul(backend, inverse, power)
    })
}
