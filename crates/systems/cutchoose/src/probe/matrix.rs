//! M, and products with it: of bits, and of rows of labels.
//!
//! *Cost.* Columns go in groups of six, whose 64 sums are formed once ([`SubsetSums`]), so that a row of
//! labels takes a sixth of an XOR for each column, and nearly as little again for the sums.

use comity_core::{Backend, Block, SubsetSums};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

/// Columns whose sums are looked up together.
const GROUP: usize = SubsetSums::DIGIT;

/// The sums of a group.
const SUBSETS: usize = 1 << GROUP;

/// The matrix. Bit `j` of a row is bit `j % GROUP` of its digit `j / GROUP`.
pub(super) struct Matrix {
    columns: usize,
    groups: usize,
    digits: Vec<u8>,
}

/// Masks: a secret bit for each column, in digits as those of a row.
pub(super) struct Masks {
    columns: usize,
    digits: Zeroizing<Vec<u8>>,
}

impl Matrix {
    /// The published matrix of `rows` x `columns` bits: a digit is the low bits of a byte of BLAKE3's output,
    /// row by row.
    pub(super) fn new(rho: u32, rows: usize, columns: usize) -> Matrix {
        let mut hasher = blake3::Hasher::new_derive_key("comity 2026 rho-probe matrix");
        for size in [u64::from(rho), rows as u64, columns as u64] {
            hasher.update(&size.to_le_bytes());
        }
        let groups = columns.div_ceil(GROUP);
        let mut digits = vec![0; rows * groups];
        hasher.finalize_xof().fill(&mut digits);
        let mut matrix = Matrix { columns, groups, digits };
        if groups > 0 {
            matrix.digits.chunks_exact_mut(groups).for_each(|row| cut(row, columns));
        }
        matrix
    }

    pub(super) fn columns(&self) -> usize {
        self.columns
    }

    /// Uniform masks.
    pub(super) fn random(&self, rng: &mut dyn CryptoRng) -> Masks {
        let mut digits = Zeroizing::new(vec![0; self.groups]);
        rng.fill_bytes(&mut digits);
        cut(&mut digits, self.columns);
        Masks { columns: self.columns, digits }
    }

    /// The masks of the first bits given.
    pub(super) fn pack(&self, bits: impl Iterator<Item = bool>) -> Masks {
        let mut digits = Zeroizing::new(vec![0; self.groups]);
        for (j, bit) in bits.take(self.columns).enumerate() {
            digits[j / GROUP] |= u8::from(bit) << (j % GROUP);
        }
        Masks { columns: self.columns, digits }
    }

    fn row(&self, row: usize) -> &[u8] {
        &self.digits[row * self.groups..][..self.groups]
    }

    /// The product of a row and the masks.
    pub(super) fn product(&self, row: usize, masks: &Masks) -> bool {
        let sum = self.row(row).iter().zip(&*masks.digits).fold(0, |sum, (row, mask)| sum ^ row & mask);
        sum.count_ones() % 2 == 1
    }

    /// Adds to row `i` of `out` the sum of the rows of `masks` that row `first + i` of the matrix names.
    /// There are `width` blocks in a row, and in `out` at most as many rows as in the matrix from `first` on.
    pub(super) fn add_products(&self, width: usize, masks: &[Block], first: usize, out: &mut [Block]) {
        let rows = out.len().checked_div(width).unwrap_or(0);
        let digits = &self.digits[first * self.groups..][..rows * self.groups];
        SubsetSums::new(Backend::detect()).add(width, masks, digits, out);
    }
}

impl Masks {
    /// The bits of the masks, a column after the other.
    pub(super) fn bits(&self) -> impl Iterator<Item = bool> {
        (0..self.columns).map(|j| self.digits[j / GROUP] >> (j % GROUP) & 1 == 1)
    }
}

/// Clears the bits of the last digit that belong to no column.
fn cut(digits: &mut [u8], columns: usize) {
    for (group, digit) in digits.iter_mut().enumerate() {
        *digit &= (SUBSETS >> GROUP.saturating_sub(columns - GROUP * group)) as u8 - 1;
    }
}
