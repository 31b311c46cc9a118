//! [`Clww`]: order-revealing encryption bit by bit, for comparison only.
//!
//! N. Chenette, K. Lewi, S. Weis, D. Wu, Practical order-revealing encryption with limited leakage (FSE 2016), section 3: digit `i` is
//! `F(x[..i]) + x[i]` in Z_3. Any two ciphertexts show the order of their values and the first bit in which they differ, a stolen copy, too:
//! that is more than order, and so no column is stored this way.

use core::cmp::Ordering;

use comity_core::{Aes128, Backend, Block};
use zeroize::Zeroize;

/// The order-revealing encryption of 64-bit values.
pub struct Clww(Aes128);

impl Clww {
    /// The scheme under a key.
    pub fn new(backend: Backend, key: [u8; 16]) -> Clww {
        Clww(Aes128::new(backend, Block::new(key)))
    }

    /// 64 digits of two bits each, the first one on top.
    pub fn encrypt(&self, value: u64) -> u128 {
        let mut blocks: [Block; 64] = core::array::from_fn(|i| {
            let prefix = value.checked_shr(64 - i as u32).unwrap_or(0);
            Block::from_u128(u128::from(prefix) << 64 | i as u128)
        });
        self.0.encrypt(&mut blocks);
        let mut digits = 0;
        for (i, block) in blocks.iter().enumerate() {
            let number = block.to_u128();
            let bit = value >> (63 - i) & 1;
            // 2^32 is 1 modulo 3.
            let limb = |i: u32| u64::from((number >> (32 * i)) as u32);
            let sum = limb(0) + limb(1) + limb(2) + limb(3) + bit;
            digits = digits << 2 | u128::from(sum % 3);
        }
        blocks.zeroize();
        digits
    }

    /// How the values of two ciphertexts compare. It takes no key.
    pub fn compare(one: u128, two: u128) -> Ordering {
        let first = (one ^ two).leading_zeros() / 2;
        if first == 64 {
            return Ordering::Equal;
        }
        let digit = |digits: u128| (digits >> (126 - 2 * first)) & 3;
        if (digit(one) + 1) % 3 == digit(two) { Ordering::Less } else { Ordering::Greater }
    }
}
