//! `Block`: 128 bits, the unit of labels, keys and seeds.
//!
//! A block is sixteen bytes in memory order on every machine, so that wire formats and hashes do not depend on
//! the machine's endianness. Bit `i` of a block is bit `i % 8` of byte `i / 8`. Blocks are mostly secrets: they
//! compare in constant time and `Debug` does not show them.

use core::fmt;
use core::ops::{BitAnd, BitXor, BitXorAssign};

use rand_core::CryptoRng;
use subtle::{Choice, ConditionallySelectable, ConstantTimeEq};
use zeroize::{DefaultIsZeroes, Zeroizing};

use crate::arch::mask;

/// A block of 128 bits.
#[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C, align(16))]
pub struct Block([u8; 16]);

impl Block {
    /// The block of 128 zero bits.
    pub const ZERO: Block = Block([0; 16]);
    /// Bytes in a block.
    pub const BYTES: usize = 16;

    /// The block with these bytes.
    pub const fn new(bytes: [u8; 16]) -> Block {
        Block(bytes)
    }

    /// The block's bytes.
    pub const fn to_bytes(self) -> [u8; 16] {
        self.0
    }

    /// The block whose bit `i` is bit `i` of `value`.
    pub const fn from_u128(value: u128) -> Block {
        Block(value.to_le_bytes())
    }

    /// A random block from this generator.
    pub fn random(rng: &mut (impl CryptoRng + ?Sized)) -> Block {
        let mut bytes = Zeroizing::new([0; Block::BYTES]);
        rng.fill_bytes(&mut bytes[..]);
        Block(*bytes)
    }

    /// The number whose bit `i` is bit `i` of this block.
    pub const fn to_u128(self) -> u128 {
        u128::from_le_bytes(self.0)
    }

    /// Bit 0: in a label, the permute bit of point-and-permute.
    pub const fn lsb(self) -> bool {
        self.0[0] & 1 == 1
    }

    /// This block with bit 0 set to `bit`.
    #[must_use]
    pub const fn with_lsb(mut self, bit: bool) -> Block {
        self.0[0] = (self.0[0] & 0xfe) | bit as u8;
        self
    }

    /// This block if `bit` is set, else the zero block; without a branch.
    #[must_use]
    #[inline(always)]
    pub fn masked(self, bit: bool) -> Block {
        let mask = u128::from(mask(bit));
        Block::from_u128(self.to_u128() & (mask | mask << 64))
    }

    /// The bytes of a slice of blocks, in order.
    pub fn bytes_of(blocks: &[Block]) -> &[u8] {
        bytemuck::cast_slice(blocks)
    }

    /// The bytes of a slice of blocks, in order, to be written.
    pub fn bytes_of_mut(blocks: &mut [Block]) -> &mut [u8] {
        bytemuck::cast_slice_mut(blocks)
    }
}

// Wiped a block at a time; the derived way would be a byte at a time.
impl DefaultIsZeroes for Block {}

impl BitXor for Block {
    type Output = Block;
    #[inline(always)]
    fn bitxor(self, other: Block) -> Block {
        Block((u128::from_ne_bytes(self.0) ^ u128::from_ne_bytes(other.0)).to_ne_bytes())
    }
}

impl BitXorAssign for Block {
    #[inline(always)]
    fn bitxor_assign(&mut self, other: Block) {
        *self = *self ^ other;
    }
}

impl BitAnd for Block {
    type Output = Block;
    #[inline(always)]
    fn bitand(self, other: Block) -> Block {
        Block((u128::from_ne_bytes(self.0) & u128::from_ne_bytes(other.0)).to_ne_bytes())
    }
}

impl ConstantTimeEq for Block {
    fn ct_eq(&self, other: &Block) -> Choice {
        self.to_u128().ct_eq(&other.to_u128())
    }
}

impl ConditionallySelectable for Block {
    fn conditional_select(a: &Block, b: &Block, choice: Choice) -> Block {
        Block::from_u128(u128::conditional_select(&a.to_u128(), &b.to_u128(), choice))
    }
}

impl PartialEq for Block {
    fn eq(&self, other: &Block) -> bool {
        self.ct_eq(other).into()
    }
}

impl Eq for Block {}

impl fmt::Debug for Block {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Block(..)")
    }
}
