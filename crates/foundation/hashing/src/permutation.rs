//! Permutation-based hashing: where an item is says a part of it, so that less has to be stored there.
//!
//! Arbitman, Naor, Segev (FOCS 2010), as in Phasing, section 3.1. An item is a number `x = xR b + xL` for `b`
//! bins; it goes to bins `(xL + f_i(xR)) mod b` and there it is `(xR, i)`, from which and the bin it follows.
//! The functions are three different numbers of AES under a key, as a pseudo-random function of `xR`, so that
//! the three bins differ.

use comity_core::{Aes128, Backend, Block};

use crate::places::{FUNCTIONS, distinct};

/// Items hashed in one go.
const BATCH: usize = 128;

/// A permutation of the items for a number of bins.
pub struct Permutation {
    functions: Aes128,
    bins: u32,
}

/// An item as it is in its bins.
#[derive(Clone, Copy)]
pub struct Short {
    /// The bins.
    pub bins: [u32; FUNCTIONS],
    /// The part `xR` of the item, which does not follow from the bin.
    pub rest: u128,
}

impl Permutation {
    /// The permutation of this key, for `bins` bins.
    pub fn new(backend: Backend, key: Block, bins: u32) -> Permutation {
        Permutation { functions: Aes128::new(backend, key), bins }
    }

    /// Calls `each` with every item in its bins, in their order.
    pub fn shorten(&self, items: &[u128], mut each: impl FnMut(Short)) {
        let (mut values, mut rests) = ([Block::ZERO; BATCH], [0; BATCH]);
        let bins = u128::from(self.bins);
        for items in items.chunks(BATCH) {
            let values = &mut values[..items.len()];
            for ((value, rest), item) in values.iter_mut().zip(&mut rests).zip(items) {
                // A division of 128 bits is slow: only one.
                *rest = item / bins;
                *value = Block::from_u128(*rest);
            }
            self.functions.encrypt(values);
            for ((value, &rest), item) in values.iter().zip(&rests).zip(items) {
                let left = (item - rest * bins) as u32;
                let shifted = |offset: u32| {
                    let (sum, over) = left.overflowing_add(offset);
                    if over || sum >= self.bins { sum.wrapping_sub(self.bins) } else { sum }
                };
                each(Short { bins: distinct(value.to_u128(), self.bins).map(shifted), rest });
            }
        }
    }

    /// The bits of an item's rest, for items of `bits` bits in `bins` bins.
    pub fn rest_bits(bins: u32, bits: u32) -> u32 {
        let most = if bits == 128 { u128::MAX } else { (1 << bits) - 1 };
        128 - (most / u128::from(bins)).leading_zeros()
    }

    /// The item that is in a bin, by a function, with this rest.
    #[cfg(test)]
    pub(crate) fn item(&self, bin: u32, function: usize, rest: u128) -> u128 {
        let mut value = [Block::from_u128(rest)];
        self.functions.encrypt(&mut value);
        let offset = u64::from(distinct(value[0].to_u128(), self.bins)[function]);
        let left = (u64::from(bin) + u64::from(self.bins) - offset) % u64::from(self.bins);
        rest * u128::from(self.bins) + u128::from(left)
    }
}
