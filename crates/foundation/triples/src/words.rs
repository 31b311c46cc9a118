//! Sums of blocks under masks, as loops over words that the compiler makes vectors of.
//!
//! A mask is a word of zeros or of ones that was made behind the compiler's back and *stored*: a loop that
//! reads it back cannot know that it was made from one bit, so that no branch on a secret comes of it.

use comity_core::{Block, Vectorize, mask};

/// A block as words.
pub type Words = [u64; 2];

/// Blocks as words.
pub fn words(blocks: &[Block]) -> &[Words] {
    bytemuck::cast_slice(blocks)
}

/// Blocks as words, to be written.
pub fn words_mut(blocks: &mut [Block]) -> &mut [Words] {
    bytemuck::cast_slice_mut(blocks)
}

/// A block as words.
pub fn word(block: Block) -> Words {
    bytemuck::cast(block)
}

/// The mask of bit 0 of each block.
pub fn masks_of_bits(blocks: &[Words], masks: &mut [Words]) {
    for (words, block) in masks.iter_mut().zip(blocks) {
        // Bit 0 of a block is that of its first byte.
        *words = [mask(u64::from_le(block[0]) & 1 == 1); 2];
    }
}

/// The mask of each bit of a packed row, beginning with bit `from`.
pub fn masks_of_row(row: &[u8], from: usize, masks: &mut [Words]) {
    for (words, i) in masks.iter_mut().zip(from..) {
        *words = [mask(row[i / 8] >> (i % 8) & 1 == 1); 2];
    }
}

/// Bit `bit` of each block, eight to a byte.
pub fn pack(blocks: &[Words], bit: u32, row: &mut [u8]) {
    for (byte, blocks) in row.iter_mut().zip(blocks.chunks(8)) {
        *byte =
            blocks.iter().zip(0..).fold(0, |byte, (block, i)| byte | ((u64::from_le(block[0]) >> bit & 1) as u8) << i);
    }
}

/// Adds to each block of `to` that of `from`.
pub fn add(to: &mut [Words], from: &[Words]) {
    for (to, from) in to.iter_mut().zip(from) {
        *to = [to[0] ^ from[0], to[1] ^ from[1]];
    }
}

/// Adds to each block of `to` that of `from`, under its mask.
pub fn add_masked(to: &mut [Words], from: &[Words], masks: &[Words]) {
    for ((to, from), mask) in to.iter_mut().zip(from).zip(masks) {
        *to = [to[0] ^ from[0] & mask[0], to[1] ^ from[1] & mask[1]];
    }
}

/// Adds the block `same` to each block of `to`, under its mask.
pub fn add_same(to: &mut [Words], same: Words, masks: &[Words]) {
    for (to, mask) in to.iter_mut().zip(masks) {
        *to = [to[0] ^ same[0] & mask[0], to[1] ^ same[1] & mask[1]];
    }
}

/// Combines triples in one pass: adds to `(x, y, z)` the triple `(x_j, y_j, z_j)`, where `d` is the mask of
/// `y + y_j`: `x += x_j` and `z += z_j + d x_j`.
pub struct Combine<'a> {
    /// The `x` and the `z` of the triples that are added to.
    pub to: [&'a mut [Words]; 2],
    /// The `x_j` and the `z_j` of the triples that are added.
    pub from: [&'a [Words]; 2],
    /// The masks.
    pub d: &'a [Words],
}

impl Vectorize for Combine<'_> {
    type Output = ();

    #[inline(always)]
    fn run(self) {
        let ([x, z], [x_j, z_j]) = (self.to, self.from);
        for ((((x, z), x_j), z_j), d) in x.iter_mut().zip(z).zip(x_j).zip(z_j).zip(self.d) {
            for w in 0..2 {
                x[w] ^= x_j[w];
                z[w] ^= z_j[w] ^ x_j[w] & d[w];
            }
        }
    }
}
