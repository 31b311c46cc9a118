//! `SumShare`: one party's part of an authenticated element, two elements.
//!
//! The values of all parties add up to `x`, their MACs to `alpha x`, where `alpha` is the sum of the parties'
//! [`MacKey`]s, which nobody knows (Damgard, Pastro, Smart, Zakarias, Crypto 2012; in the form of MASCOT,
//! section 4). So shares can be added, and multiplied by public elements, with no message; and a party that
//! changes its value by `e` has to change its MAC by `alpha e`, and does not know `alpha`.

use comity_core::{Backend, PartyId};
use zeroize::{Zeroize, ZeroizeOnDrop, Zeroizing};

use crate::field::Field;

/// A party's share of the MAC key. Secret; wiped on drop.
#[derive(Clone)]
pub struct MacKey<F: Field>(F);

impl<F: Field> MacKey<F> {
    /// The share with this value, which is uniform.
    pub fn new(share: F) -> MacKey<F> {
        MacKey(share)
    }

    /// The share itself.
    pub fn element(&self) -> F {
        self.0
    }
}

impl<F: Field> Zeroize for MacKey<F> {
    fn zeroize(&mut self) {
        self.0.zeroize();
    }
}

impl<F: Field> Drop for MacKey<F> {
    fn drop(&mut self) {
        self.zeroize();
    }
}

impl<F: Field> ZeroizeOnDrop for MacKey<F> {}

/// One party's part of a shared, authenticated element. Secret.
#[derive(Clone, Copy)]
pub struct SumShare<F> {
    /// The value's share.
    pub value: F,
    /// The MAC's share.
    pub mac: F,
}

/// Shares, wiped on drop.
pub type SumShares<F> = Zeroizing<Vec<SumShare<F>>>;

/// Shares of what each party put in, by party: its owner.
pub type ByOwner<F> = Vec<SumShares<F>>;

impl<F: Field> Zeroize for SumShare<F> {
    fn zeroize(&mut self) {
        self.value.zeroize();
        self.mac.zeroize();
    }
}

impl<F: Field> Default for SumShare<F> {
    fn default() -> SumShare<F> {
        SumShare::ZERO
    }
}

impl<F: Field> SumShare<F> {
    /// A share of zero that everybody knows.
    pub const ZERO: SumShare<F> = SumShare { value: F::ZERO, mac: F::ZERO };

    /// The share of party `me` of a public element: party 0 has its value, and everybody a MAC of it.
    pub fn constant(backend: Backend, me: PartyId, key: &MacKey<F>, element: F) -> SumShare<F> {
        SumShare { value: element.masked(me.0 == 0), mac: key.element().times(backend, element) }
    }

    /// The share of the sum.
    #[must_use]
    pub fn plus(self, other: SumShare<F>) -> SumShare<F> {
        SumShare { value: self.value.plus(other.value), mac: self.mac.plus(other.mac) }
    }

    /// The share of the difference.
    #[must_use]
    pub fn minus(self, other: SumShare<F>) -> SumShare<F> {
        SumShare { value: self.value.minus(other.value), mac: self.mac.minus(other.mac) }
    }

    /// The share of the product with a public element.
    #[must_use]
    pub fn times(self, backend: Backend, element: F) -> SumShare<F> {
        SumShare { value: self.value.times(backend, element), mac: self.mac.times(backend, element) }
    }
}

/// The sum of shares of one thing by each owner.
pub(crate) fn sum_of_owners<F: Field>(by_owner: &[SumShares<F>], at: usize) -> SumShare<F> {
    by_owner.iter().fold(SumShare::ZERO, |sum, shares| sum.plus(shares[at]))
}
