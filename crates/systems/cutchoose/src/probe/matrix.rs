//! M, and products with it: of bits, and of rows of labels.
//!
//! *Cost.* Columns go in groups of six, whose 64 sums are formed once ("four Russians"), so that a row of labels takes a
//! sixth of an XOR for each column, and nearly as little again for the sums. Everything goes in tiles of 128 bytes, which
//! stay in registers, and the sums in the nearest caches.

use comity_core::Block;
use rand_core::CryptoRng;
use zeroize::{DefaultIsZeroes, Zeroizing};

/// Columns whose sums are looked up together.
const GROUP: usize = 6;

/// The sums of a group.
const SUBSETS: usize = 1 << GROUP;

/// Groups whose sums are kept at a time: 64 KiB of them.
const KEPT: usize = 8;

/// Blocks of a tile.
const BLOCKS: usize = 8;

/// The matrix. Bit `j` of a row is bit `j % GROUP` of its digit `j / GROUP`.
pub(super) struct Matrix {
    columns: usize,
    groups: usize,
    digits: Vec<u8>,
}

/// A bit for each column, in digits as those of a row. They are secret.
pub(super) struct Masks {
    columns: usize,
    digits: Zeroizing<Vec<u8>>,
}

impl Matrix {
    /// The published matrix of this size: a digit is the low bits of a byte of BLAKE3's output, row by row.
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

    /// Uniform bits.
    pub(super) fn random(&self, rng: &mut impl CryptoRng) -> Masks {
        let mut digits = Zeroizing::new(vec![0; self.groups]);
        rng.fill_bytes(&mut digits);
        cut(&mut digits, self.columns);
        Masks { columns: self.columns, digits }
    }

    /// The first of these bits.
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

    /// The product of a row and bits.
    pub(super) fn product(&self, row: usize, masks: &Masks) -> bool {
        let sum = self.row(row).iter().zip(&*masks.digits).fold(0, |sum, (row, mask)| sum ^ row & mask);
        sum.count_ones() % 2 == 1
    }

    /// Adds to row `i` of `out` the sum of the rows of `masks` that row `i` of the matrix names. There are `width` blocks
    /// in a row, and in `out` at most as many rows as in the matrix.
    pub(super) fn add_products(&self, width: usize, masks: &[Block], out: &mut [Block]) {
        let wide = width / BLOCKS * BLOCKS;
        let (stride, masks, out) = (16 * width, Block::bytes_of(masks), Block::bytes_of_mut(out));
        if wide > 0 {
            let mut sums = Zeroizing::new(vec![Tile::<{ 2 * BLOCKS }>::default(); KEPT * SUBSETS]);
            for block in (0..wide).step_by(BLOCKS) {
                self.add_tile(stride, 16 * block, masks, out, &mut sums);
            }
        }
        // What is left over of a row goes block by block.
        if wide < width {
            let mut sums = Zeroizing::new(vec![Tile::<2>::default(); KEPT * SUBSETS]);
            for block in wide..width {
                self.add_tile(stride, 16 * block, masks, out, &mut sums);
            }
        }
    }

    /// The same for one tile of each row of `stride` bytes, that from byte `at` on.
    fn add_tile<const WORDS: usize>(
        &self,
        stride: usize,
        at: usize,
        masks: &[u8],
        out: &mut [u8],
        sums: &mut [Tile<WORDS>],
    ) {
        let tables = sums.as_chunks_mut::<SUBSETS>().0;
        for first in (0..self.groups).step_by(KEPT) {
            let groups = first..self.groups.min(first + KEPT);
            let tables = &mut tables[..groups.len()];
            for (group, table) in groups.clone().zip(tables.iter_mut()) {
                // A last group of fewer columns fills less of its table, and its digits name no more.
                let columns = GROUP * group..self.columns.min(GROUP * (group + 1));
                table[0] = Tile::default();
                for (bit, column) in columns.enumerate() {
                    let mask = Tile::load(&masks[stride * column + at..]);
                    let (without, with) = table[..2 << bit].split_at_mut(1 << bit);
                    for (with, without) in with.iter_mut().zip(without) {
                        *with = *without;
                        with.add(&mask);
                    }
                }
            }
            for (row, out) in out.chunks_exact_mut(stride).enumerate() {
                let mut sum = Tile::load(&out[at..]);
                for (table, &digit) in tables.iter().zip(&self.row(row)[groups.clone()]) {
                    sum.add(&table[usize::from(digit) % SUBSETS]);
                }
                sum.store(&mut out[at..]);
            }
        }
    }
}

impl Masks {
    /// The bits, a column after the other.
    pub(super) fn bits(&self) -> impl Iterator<Item = bool> {
        (0..self.columns).map(|j| self.digits[j / GROUP] >> (j % GROUP) & 1 == 1)
    }
}

/// Clears the bits that are of no column.
fn cut(digits: &mut [u8], columns: usize) {
    for (group, digit) in digits.iter_mut().enumerate() {
        *digit &= (SUBSETS >> GROUP.saturating_sub(columns - GROUP * group)) as u8 - 1;
    }
}

/// A part of a row of labels, as words and aligned, so that every machine adds it by whole registers.
#[derive(Clone, Copy)]
#[repr(align(16))]
struct Tile<const WORDS: usize>([u64; WORDS]);

impl<const WORDS: usize> Tile<WORDS> {
    /// The first bytes of what is left of a row.
    #[inline(always)]
    fn load(from: &[u8]) -> Tile<WORDS> {
        let mut tile = Tile::default();
        let words = from[..8 * WORDS].as_chunks().0;
        tile.0.iter_mut().zip(words).for_each(|(word, bytes)| *word = u64::from_ne_bytes(*bytes));
        tile
    }

    #[inline(always)]
    fn store(&self, to: &mut [u8]) {
        let words = to[..8 * WORDS].as_chunks_mut().0;
        words.iter_mut().zip(&self.0).for_each(|(bytes, word)| *bytes = word.to_ne_bytes());
    }

    #[inline(always)]
    fn add(&mut self, other: &Tile<WORDS>) {
        self.0.iter_mut().zip(&other.0).for_each(|(word, other)| *word ^= other);
    }
}

impl<const WORDS: usize> Default for Tile<WORDS> {
    fn default() -> Tile<WORDS> {
        Tile([0; WORDS])
    }
}

// Wiped a tile at a time.
impl<const WORDS: usize> DefaultIsZeroes for Tile<WORDS> {}
