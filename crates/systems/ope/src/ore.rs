//! [`Ore`]: left/right order-revealing encryption. Stored ciphertexts show nothing; a query's ciphertext shows how stored values compare to it.
//!
//! K. Lewi, D. Wu, Order-revealing encryption: new constructions, applications, and lower bounds (CCS 2016), sections 3 and 4: blocks of 8
//! bits, the most significant first. With `x[..i]` the blocks before block `i`, a secret permutation `pi` of the 256 blocks for each prefix,
//! and pseudorandom `F`:
//! - *left* of `x`: for each `i` the position `h = pi(x[..i], x[i])` and the key `F(x[..i], h)`;
//! - *right* of `y`: 128 random bits `r`, and for each `i` and each position `j` the digit `cmp(pi^-1(y[..i], j), y[i]) + H(F(y[..i], j), r)`
//!   in Z_3, in two bits: 64 bytes a block.
//!
//! Where the prefixes are equal, the left's key opens the one digit at its position; the first that is not 0 tells the order.
//!
//! *Security*: right ciphertexts alone are indistinguishable from random. A left and a right together show the order of the two values and
//! the first block in which they differ (the leakage of Theorem 4.1). Left ciphertexts of one column show which of them share leading blocks.
//! `F` is AES-128. `H(k, r)` is `CrHash(k ^ r)`, 128 bits reduced to Z_3 (2^-127 from uniform): the keys that a digit is masked under are
//! secret and uniform, the `r` public and distinct, which is what correlation robustness is about. `pi` is a shuffle of Fisher and
//! Yates from 64 bits a step, within 2^-48 of uniform a permutation.
//!
//! *Cost*: with `n` blocks a left takes `129 n` encryptions of a block, a right `128 n + 512 n`, and both a shuffle, which weighs as much.
//! A right ciphertext has `16 + 64 n` bytes: 528 for 64-bit values.

use core::cmp::Ordering;

use comity_core::{Aes128, Backend, Block, CrHash};
use zeroize::{Zeroize, Zeroizing};

/// Blocks at most: a value's number is below 2^120.
const MOST: usize = 15;

/// The order-revealing encryption of one column.
pub struct Ore {
    /// Permutations.
    shuffle: Aes128,
    /// Keys of digits.
    mask: Aes128,
    hash: CrHash,
    blocks: usize,
}

/// What a query sends. It shows how stored values compare to the one that it stands for.
#[derive(Clone)]
pub struct Left(Vec<(Block, u8)>);

impl Left {
    /// For each block the key, 16 bytes, and the position, 1 byte.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|(key, at)| key.to_bytes().into_iter().chain([*at])).collect()
    }

    /// Bytes for values of so many blocks.
    pub const fn bytes(blocks: usize) -> usize {
        17 * blocks
    }
}

/// A digit in Z_3 from 128 bits: 2^32 is 1 modulo 3.
fn digit(block: Block) -> u8 {
    let number = block.to_u128();
    let limb = |i: u32| u64::from((number >> (32 * i)) as u32);
    ((limb(0) + limb(1) + limb(2) + limb(3)) % 3) as u8
}

impl Ore {
    /// The scheme for values of `bytes` bytes, 1 to 15, under a key.
    ///
    /// # Panics
    /// If there are none or more.
    pub fn new(backend: Backend, key: &[u8; 32], bytes: usize) -> Ore {
        assert!((1..=MOST).contains(&bytes), "values have 1 to {MOST} bytes");
        let half = |i: usize| Block::new(key[i..i + 16].try_into().expect("16 bytes"));
        Ore {
            shuffle: Aes128::new(backend, half(0)),
            mask: Aes128::new(backend, half(16)),
            hash: CrHash::new(backend),
            blocks: bytes,
        }
    }

    /// Bytes of a right ciphertext.
    pub fn right_bytes(&self) -> usize {
        16 + 64 * self.blocks
    }

    /// What a query for this value sends.
    pub fn left(&self, value: u128) -> Left {
        // A step of all shuffles in each, so that one element is followed through them at once, a lane for each block.
        let mut swaps = Zeroizing::new([Block::ZERO; 256]);
        let mut words = Zeroizing::new([Block::ZERO; 128]);
        for i in 0..self.blocks {
            self.draw(value, i, &mut words);
            let lanes = Block::bytes_of_mut(&mut swaps[..]);
            (1..256).for_each(|step| lanes[16 * step + i] = choice(&words, step));
        }
        let mut at = [0u8; 16];
        at[..self.blocks].copy_from_slice(&self.value(value));
        for (step, swaps) in swaps.iter().enumerate().skip(1).rev() {
            let step = step as u8;
            for (at, swap) in at.iter_mut().zip(swaps.to_bytes()) {
                // Masks, not branches: the position is secret.
                let (here, there) = (mask(*at == step), mask(*at == swap));
                *at = (here & swap) | (!here & ((there & step) | (!there & *at)));
            }
        }
        let mut keys = [Block::ZERO; MOST];
        let keys = &mut keys[..self.blocks];
        for (i, key) in keys.iter_mut().enumerate() {
            *key = self.point(value, i, at[i]);
        }
        self.mask.encrypt(keys);
        let left = Left(keys.iter().copied().zip(at).collect());
        keys.zeroize();
        left
    }

    /// What is stored for this value. No two have the same `nonce`.
    pub fn right(&self, value: u128, nonce: [u8; 16]) -> Vec<u8> {
        let mut words = Zeroizing::new([Block::ZERO; 128]);
        let mut elements = Zeroizing::new([Block::ZERO; 16]);
        let mut right = Vec::with_capacity(self.right_bytes());
        right.extend_from_slice(&nonce);
        let mut keys = Zeroizing::new([Block::ZERO; 256]);
        for (i, own) in self.value(value).iter().enumerate() {
            self.draw(value, i, &mut words);
            let element = Block::bytes_of_mut(&mut elements[..]);
            element.iter_mut().enumerate().for_each(|(j, element)| *element = j as u8);
            for step in (1..256).rev() {
                element.swap(step, choice(&words, step).into());
            }
            let base = self.point(value, i, 0).to_u128();
            for (j, key) in keys.iter_mut().enumerate() {
                *key = Block::from_u128(base | (j as u128) << 120);
            }
            self.mask.encrypt(&mut keys[..]);
            let nonce = Block::new(nonce);
            keys.iter_mut().for_each(|key| *key ^= nonce);
            self.hash.hash_blocks(&mut keys[..]);
            for (keys, elements) in keys.chunks_exact(4).zip(element.chunks_exact(4)) {
                let mut byte = 0;
                for (k, (key, element)) in keys.iter().zip(elements).enumerate() {
                    let order = u8::from(element < own) + 2 * u8::from(element > own);
                    byte |= ((order + digit(*key)) % 3) << (2 * k);
                }
                right.push(byte);
            }
        }
        right
    }

    /// How the value of a left ciphertext compares to that of a right one; `None` if the two do not fit each other.
    pub fn compare(&self, left: &Left, right: &[u8]) -> Option<Ordering> {
        if left.0.len() != self.blocks || right.len() != self.right_bytes() {
            return None;
        }
        let (nonce, digits) = right.split_first_chunk::<16>()?;
        let nonce = Block::new(*nonce);
        for ((key, at), digits) in left.0.iter().zip(digits.chunks_exact(64)) {
            let mut mask = [*key ^ nonce];
            self.hash.hash_blocks(&mut mask);
            let stored = digits[usize::from(at / 4)] >> (2 * (at % 4)) & 3;
            match (stored + 3 - digit(mask[0])) % 3 {
                _ if stored == 3 => return None,
                0 => (),
                1 => return Some(Ordering::Less),
                _ => return Some(Ordering::Greater),
            }
        }
        Some(Ordering::Equal)
    }

    /// The value's bytes, the most significant first.
    fn value(&self, value: u128) -> Zeroizing<Vec<u8>> {
        Zeroizing::new(value.to_be_bytes()[16 - self.blocks..].to_vec())
    }

    /// What `F` takes: the block's number, the blocks before it, and a last byte.
    fn point(&self, value: u128, block: usize, last: u8) -> Block {
        // The prefix as a number; never shifted by all its bits, since one block at least is cut off.
        let prefix = value >> (8 * (self.blocks - block));
        Block::from_u128(u128::from(last) << 120 | prefix << 8 | block as u128)
    }

    /// Draws the shuffle of a block: 64 bits a step.
    fn draw(&self, value: u128, block: usize, words: &mut [Block; 128]) {
        let base = self.point(value, block, 0).to_u128();
        for (j, word) in words.iter_mut().enumerate() {
            *word = Block::from_u128(base | (j as u128) << 120);
        }
        self.shuffle.encrypt(words);
    }
}

/// With which place, from 0 to `step`, a step of a shuffle swaps place `step`.
#[inline(always)]
fn choice(words: &[Block; 128], step: usize) -> u8 {
    let word = u64::from_le_bytes(Block::bytes_of(words)[8 * step..8 * step + 8].try_into().expect("8 bytes"));
    ((u128::from(word) * (step as u128 + 1)) >> 64) as u8
}

#[inline(always)]
fn mask(condition: bool) -> u8 {
    u8::from(condition).wrapping_neg()
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The position that a left follows through its shuffle is where the right's shuffle puts the element.
    #[test]
    fn one_element_is_followed_as_all_are_shuffled() {
        let ore = Ore::new(Backend::detect(), &[7; 32], 2);
        let mut words = [Block::ZERO; 128];
        for block in 0..2 {
            ore.draw(0x1200, block, &mut words);
            let mut element: [u8; 256] = core::array::from_fn(|j| j as u8);
            (1..256).rev().for_each(|step| element.swap(step, choice(&words, step).into()));
            for (at, element) in element.iter().enumerate() {
                let value = if block == 0 { u128::from(*element) << 8 } else { 0x1200 | u128::from(*element) };
                assert_eq!(usize::from(ore.left(value).0[block].1), at);
            }
        }
    }

    #[test]
    fn digits_are_remainders() {
        for number in [0, 1, 2, 3, u128::MAX, u128::MAX - 1, 1 << 64, 12_345_678_901_234_567_890_123] {
            assert_eq!(u128::from(digit(Block::from_u128(number))), number % 3);
        }
    }
}
