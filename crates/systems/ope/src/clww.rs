//! [`Clww`]: order-revealing encryption bit by bit, for comparison only.
//!
//! N. Chenette, K. Lewi, S. Weis, D. Wu, Practical order-revealing encryption with limited leakage (FSE
//! 2016), section 3: digit `i` is `F(x[..i]) + x[i]` in Z_3. Any two ciphertexts show the order of their
//! values and the first bit in which they differ, a stolen copy, too: that is more than order, and so no
//! column is stored this way.

use core::cmp::Ordering;

use comity_core::{Aes128, Backend, Block, Vectorize};
use zeroize::Zeroize;

use crate::digit::{pack, remainders, spread, sum};

/// The order-revealing encryption of 64-bit values.
pub struct Clww(Backend, Aes128);

impl Clww {
    /// The scheme under a key.
    pub fn new(backend: Backend, key: [u8; 16]) -> Clww {
        Clww(backend, Aes128::new(backend, Block::new(key)))
    }

    /// The ciphertext of a value: 64 digits of two bits each, the first one on top.
    pub fn encrypt(&self, value: u64) -> u128 {
        let mut blocks: [Block; 64] = core::array::from_fn(|i| {
            let prefix = value.checked_shr(64 - i as u32).unwrap_or(0);
            Block::from_u128(u128::from(prefix) << 64 | i as u128)
        });
        self.1.encrypt(&mut blocks);
        let digits = self.0.vectorize(Digits { blocks: &blocks, value });
        blocks.zeroize();
        digits
    }

    /// The order of the values of two ciphertexts. It takes no key.
    pub fn compare(one: u128, two: u128) -> Ordering {
        let first = (one ^ two).leading_zeros() / 2;
        if first == 64 {
            return Ordering::Equal;
        }
        let digit = |digits: u128| (digits >> (126 - 2 * first)) & 3;
        if (digit(one) + 1) % 3 == digit(two) { Ordering::Less } else { Ordering::Greater }
    }
}

/// The digits of a value, masked.
struct Digits<'a> {
    blocks: &'a [Block; 64],
    value: u64,
}

impl Vectorize for Digits<'_> {
    type Output = u128;

    #[inline(always)]
    fn run(self) -> u128 {
        let (mut digits, mut bits, mut bytes) = ([0; 64], [0; 64], [0; 16]);
        remainders(self.blocks, &mut digits);
        spread(&[self.value.reverse_bits()], &mut bits);
        for (digit, bit) in digits.iter_mut().zip(&bits) {
            *digit = sum(*digit, *bit);
        }
        // The first digit goes on top.
        digits.reverse();
        pack(&digits, &mut bytes);
        u128::from_le_bytes(bytes)
    }
}
