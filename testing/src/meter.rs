//! How much of a secret is a linear function of what somebody knows: algebra over GF(2), a bit a run.
//!
//! Over many runs a bit that is seen is a column, with an entry a run. A secret bit (or an XOR of some) that
//! is the XOR of bits that are seen, always the same ones, is in the span of their columns; one that is
//! masked is not, however many runs there are more than columns: by chance with probability
//! `2^(columns - runs)`.

use comity_core::Bits;

/// The span of some columns.
#[derive(Default)]
pub struct Span {
    /// A basis: each column with the place of its first one, which no later column has.
    basis: Vec<(usize, Bits)>,
}

impl Span {
    /// The dimension.
    pub fn rank(&self) -> usize {
        self.basis.len()
    }

    /// Adds a column. Returns whether it was outside of the span before.
    pub fn insert(&mut self, mut column: Bits) -> bool {
        for (pivot, other) in &self.basis {
            if column.get(*pivot) {
                column.xor_assign(other);
            }
        }
        let first = column.words().iter().position(|&word| word != 0);
        let pivot = first.map(|at| 64 * at + column.words()[at].trailing_zeros() as usize);
        self.basis.extend(pivot.map(|pivot| (pivot, column)));
        pivot.is_some()
    }
}

/// The number of independent bits, of these secrets and of their XORs, that follow from what is known: the
/// dimension of the intersection of both spans. The secrets must be independent of each other; otherwise what
/// depends counts as learnt.
///
/// ```
/// use comity_core::Bits;
/// use comity_testing::meter::{Span, learnt};
///
/// let column = |bits: u128| Bits::from_u128(bits, 8).expect("it fits");
/// // Of a and b, who sees a ^ b and a mask learns one bit: the XOR.
/// let (a, b, mask) = (0b1101_0010, 0b1011_1000, 0b0010_1111);
/// let mut seen = Span::default();
/// seen.insert(column(a ^ b));
/// seen.insert(column(mask));
/// assert_eq!(learnt(seen, &[column(a), column(b)]), 1);
/// ```
pub fn learnt(mut known: Span, secrets: &[Bits]) -> usize {
    secrets.iter().filter(|&secret| !known.insert(secret.clone())).count()
}
