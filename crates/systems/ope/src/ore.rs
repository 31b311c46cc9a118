//! [`Ore`]: left/right order-revealing encryption. Stored ciphertexts show nothing; a query's ciphertext
//! shows how stored values compare to it.
//!
//! K. Lewi, D. Wu, Order-revealing encryption: new constructions, applications, and lower bounds (CCS 2016),
//! sections 3 and 4: blocks of 8 bits, the most significant first. With `x[..i]` the blocks before block `i`,
//! a secret permutation `pi` of the 256 blocks for each prefix, and pseudorandom `F`:
//! - *left* of `x`: for each `i` the position `h = pi(x[..i], x[i])` and the key `F(x[..i], h)`;
//! - *right* of `y`: 128 random bits `r`, and for each `i` and each position `j` the digit
//!   `cmp(pi^-1(y[..i], j), y[i]) + H(F(y[..i], j), r)` in Z_3, in two bits: 64 bytes a block.
//!
//! Where the prefixes are equal, the left's key opens the one digit at its position; the first that is not 0
//! tells the order.
//!
//! *Security* (of the extended version, ePrint 2016/612): right ciphertexts alone are simulated from their
//! number (Theorem 5.5). A left and a right together show the order of the two values and the first block in
//! which they differ, and two lefts the first block in which these differ (Lemma 5.3, from the proof of
//! Theorem 4.1). `F` is AES-128. `H(k, r)`, the random oracle of the proofs, is `CrHash(k ^ r)`, 128 bits
//! reduced to Z_3 (2^-127 from uniform): the keys that a digit is masked under are secret and uniform, the
//! `r` public and distinct. Each `pi` is uniform where AES is random (module `place`). The paper measured a
//! Feistel network of three rounds in its place, two or three encryptions, which on so few bits is far from
//! random, as its footnote 8 says (D. Bogatov, G. Kollios, L. Reyzin, ePrint 2018/953): its speed is not to
//! be had.
//!
//! *Cost*: with `n` blocks a left takes about `27 n` encryptions of a block, 26 of them for the place, a
//! right `538 n`: a key and a mask for each of 256 positions. A right ciphertext has `16 + 64 n` bytes: 528
//! for 64-bit values.

mod place;

use core::cmp::Ordering;

use comity_core::{Aes128, Backend, Block, CrHash, Vectorize};
use zeroize::{Zeroize, Zeroizing};

use crate::digit::{nonzero, pack, remainder, remainders, spread, sum};
use place::{LANES, Places};

/// Blocks at most, so that a value's number is below 2^120: what `F` takes, 128 bits, is 112 bits of prefix
/// at most, the block's number and a counter. The types of columns are made to fit (35 digits, 15 bytes of a
/// text).
const MOST: usize = 15;

/// The order-revealing encryption of one column.
pub struct Ore {
    backend: Backend,
    /// The cipher of permutations.
    places: Aes128,
    /// The cipher of the keys of digits.
    mask: Aes128,
    hash: CrHash,
    blocks: usize,
}

/// A left ciphertext, which a query sends. It shows how stored values compare with the value that it
/// encrypts.
#[derive(Clone)]
pub struct Left(Vec<(Block, u8)>);

impl Left {
    /// The bytes of the ciphertext: for each block the key, 16 bytes, and the position, 1 byte.
    pub fn to_bytes(&self) -> Vec<u8> {
        self.0.iter().flat_map(|(key, at)| key.to_bytes().into_iter().chain([*at])).collect()
    }

    /// Bytes of a left ciphertext for values of `blocks` blocks.
    pub const fn bytes(blocks: usize) -> usize {
        17 * blocks
    }
}

impl Ore {
    /// The scheme for values of `bytes` bytes, 1 to 15, under a key.
    ///
    /// # Panics
    /// If `bytes` is 0 or more than 15.
    pub fn new(backend: Backend, key: &[u8; 32], bytes: usize) -> Ore {
        assert!((1..=MOST).contains(&bytes), "values have 1 to {MOST} bytes");
        let half = |i: usize| Block::new(key[i..i + 16].try_into().expect("16 bytes"));
        Ore {
            backend,
            places: Aes128::new(backend, half(0)),
            mask: Aes128::new(backend, half(16)),
            hash: CrHash::new(backend),
            blocks: bytes,
        }
    }

    /// Bytes of a right ciphertext.
    pub fn right_bytes(&self) -> usize {
        16 + 64 * self.blocks
    }

    /// The left ciphertext of a value, which a query sends.
    pub fn left(&self, value: u128) -> Left {
        let (mut keys, mut at) = ([Block::ZERO; MOST], [0; MOST]);
        let (keys, at) = (&mut keys[..self.blocks], &mut at[..self.blocks]);
        for (i, places) in self.places(value) {
            for (lane, (at, key)) in at[i..].iter_mut().zip(&mut keys[i..]).take(LANES).enumerate() {
                *at = places.at(lane);
                *key = Block::from_u128(self.point(value, i + lane) | u128::from(*at));
            }
        }
        self.mask.encrypt(keys);
        let left = Left(keys.iter().copied().zip(at.iter().copied()).collect());
        keys.zeroize();
        at.zeroize();
        left
    }

    /// The right ciphertext of a value, which is stored. A `nonce` must be used once.
    pub fn right(&self, value: u128, nonce: [u8; 16]) -> Vec<u8> {
        let mut right = vec![0; self.right_bytes()];
        right[..16].copy_from_slice(&nonce);
        let digits = right[16..].as_chunks_mut::<64>().0;
        let mut keys = Zeroizing::new([Block::ZERO; 256]);
        // The keys, with the nonce added.
        let mask = self.mask.adding(Block::new(nonce));
        for (i, places) in self.places(value) {
            for (lane, digits) in digits[i..].iter_mut().take(LANES).enumerate() {
                mask.count(self.point(value, i + lane), &mut keys[..]);
                self.hash.hash_blocks(&mut keys[..]);
                let (below, at) = (places.below(lane), places.at(lane));
                self.backend.vectorize(Digits { hashes: &keys, below, at, digits });
            }
        }
        right
    }

    /// The order of the value of a left ciphertext and that of a right one; `None` if the two do not fit each other.
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
            match (stored + 3 - remainder(mask)) % 3 {
                _ if stored == 3 => return None,
                0 => (),
                1 => return Some(Ordering::Less),
                _ => return Some(Ordering::Greater),
            }
        }
        Some(Ordering::Equal)
    }

    /// The places of the value's blocks, some at once, with the index of the first of them.
    fn places(&self, value: u128) -> impl Iterator<Item = (usize, Places)> + '_ {
        (0..self.blocks).step_by(LANES).map(move |first| {
            // Lanes behind the last block repeat it.
            let blocks: [usize; LANES] = core::array::from_fn(|lane| (first + lane).min(self.blocks - 1));
            let own = blocks.map(|i| (value >> (8 * (self.blocks - 1 - i))) as u8);
            let bases = blocks.map(|i| self.point(value, i));
            (first, Places::find(self.backend, own, bases, |blocks| self.places.encrypt(blocks)))
        })
    }

    /// The input of `F` for a block, up to a counter of 12 bits: the blocks before it and its number.
    fn point(&self, value: u128, block: usize) -> u128 {
        // Never shifted by all its bits, since one block at least is cut off.
        let prefix = value >> (8 * (self.blocks - block));
        prefix << 16 | (block as u128) << 12
    }
}

/// Work that writes the digits of a block: how the element at each place compares to the block's own, masked.
struct Digits<'a> {
    hashes: &'a [Block; 256],
    /// The places of smaller elements, and of the block's own.
    below: [u64; 4],
    at: u8,
    digits: &'a mut [u8; 64],
}

impl Vectorize for Digits<'_> {
    type Output = ();

    // Loops over arrays, each of few operations, are vectorized one by one.
    #[inline(always)]
    fn run(self) {
        let mut digits = [0; 256];
        remainders(self.hashes, &mut digits);
        let mut below = [0; 256];
        spread(&self.below, &mut below);
        for ((digit, below), place) in digits.iter_mut().zip(&below).zip(&PLACE) {
            let other = nonzero(place ^ self.at).wrapping_neg();
            *digit = sum(*digit, other & (2 - below));
        }
        pack(&digits, self.digits);
    }
}

/// The numbers of the places, in order.
const PLACE: [u8; 256] = {
    let mut places = [0; 256];
    let mut j = 0;
    while j < 256 {
        places[j] = j as u8;
        j += 1;
    }
    places
};

#[cfg(test)]
mod tests {
    use super::*;

    /// Digits unmasked: 0 at the value's own position, 1 where smaller elements are, as many as there are,
    /// and 2 elsewhere.
    #[test]
    fn digits_say_how_elements_compare() {
        let ore = Ore::new(Backend::detect(), &[7; 32], 5);
        for value in [0, 0x12_34ff_0080, (1 << 40) - 1] {
            let (left, right) = (ore.left(value), ore.right(value, [9; 16]));
            for (i, digits) in right[16..].chunks_exact(64).enumerate() {
                let own = (value >> (8 * (4 - i))) as u8;
                let mut counts = [0; 3];
                for j in 0..256u128 {
                    let mut key = [Block::from_u128(ore.point(value, i) | j)];
                    ore.mask.encrypt(&mut key);
                    key[0] ^= Block::new([9; 16]);
                    ore.hash.hash_blocks(&mut key);
                    let stored = digits[j as usize / 4] >> (2 * (j % 4)) & 3;
                    let digit = (stored + 3 - remainder(key)) % 3;
                    counts[usize::from(digit)] += 1;
                    assert_eq!(digit == 0, left.0[i].1 == j as u8);
                }
                assert_eq!(counts, [1, u32::from(own), 255 - u32::from(own)]);
            }
        }
    }
}
