//! [`Coin`]: the random bits of a row.

use rand_core::Rng;
use zeroize::Zeroize;

/// A coin, which decides a row's place among equal values. It is stored, so that the place stays.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Zeroize)]
pub struct Coin(u64);

impl Coin {
    /// Throws a coin.
    pub fn random(rng: &mut impl Rng) -> Coin {
        Coin(rng.next_u64())
    }

    /// The coin of these uniform bits.
    pub const fn new(bits: u64) -> Coin {
        Coin(bits)
    }

    /// The coin's bits.
    pub const fn bits(self) -> u64 {
        self.0
    }
}
