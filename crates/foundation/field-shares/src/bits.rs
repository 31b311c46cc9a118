//! Random bits: elements that are 0 or 1, shared and authenticated.
//!
//! 1. Every party puts in bits ([`inputs`](crate::FieldDealer::authenticated)): its terms of the shared ones,
//!    its own, and those of [`COMBINATIONS`] more.
//! 2. A shared bit is the sum of a term of each party: a bit, since the field is binary. So are
//!    [`COMBINATIONS`] that mask what follows, and are dropped.
//! 3. A coin, when all is put in, names [`COMBINATIONS`] subsets of all that was put in by anybody. The sum
//!    of each and a mask is opened, and must be 0 or 1.
//! 4. *MACCheck*.
//!
//! **Sound.** Where something is no bit, a random subset's sum is one with probability at most one half,
//! whatever the mask: over the field modulo 0 and 1 it is a random combination that has to hit one value.
//! 2^-[`COMBINATIONS`] in all. **What it tells**: nothing, as long as one mask has an honest party's term.
//! Without masks, sums of bits would be known.
//!
//! **Cost**: an input of every party for each shared bit, one for each bit of a party's own.

use comity_channel::Mesh;
use comity_core::{Bits, Error, Result};
use zeroize::Zeroizing;

use crate::act::{FieldAct, FieldConduct};
use crate::checks;
use crate::dealer::FieldDealer;
use crate::field::BinaryField;
use crate::sum_share::{ByOwner, SumShare, SumShares, sum_of_owners};

/// The number of combinations that must be bits: the failure probability is two to minus this.
pub const COMBINATIONS: usize = 128;

/// Bits that are put in at most at a time by a party.
const MOST: usize = 1 << 12;

/// Random bits.
pub struct FieldBits<F: BinaryField> {
    /// Bits that nobody knows.
    pub shared: SumShares<F>,
    /// Bits of each party that it alone knows, by party.
    pub masks: ByOwner<F>,
    /// This party's own.
    pub own: Bits,
}

impl<F: BinaryField, C: FieldConduct<F>> FieldDealer<F, C> {
    /// Checked bits: `shared` that nobody knows, and `masks` of each party.
    ///
    /// # Errors
    /// [`NOT_A_BIT`](checks::NOT_A_BIT) by nobody in particular; those of [`FieldDealer::authenticated`].
    /// Then nothing is returned.
    pub fn bits(&mut self, mesh: &mut Mesh<'_>, shared: usize, masks: usize) -> Result<FieldBits<F>> {
        self.guarded(|dealer| {
            let mut all = FieldBits {
                shared: SumShares::default(),
                masks: (0..dealer.parties()).map(|_| SumShares::default()).collect(),
                own: Bits::default(),
            };
            while all.shared.len() < shared || all.own.len() < masks {
                let now = MOST.min(shared - all.shared.len());
                let own = (MOST - now).min(masks - all.own.len());
                let next = dealer.some_bits(mesh, now, own)?;
                all.shared.extend_from_slice(&next.shared);
                all.masks.iter_mut().zip(&next.masks).for_each(|(all, next)| all.extend_from_slice(next));
                all.own.extend_from(&next.own);
            }
            Ok(all)
        })
    }

    fn some_bits(&mut self, mesh: &mut Mesh<'_>, shared: usize, masks: usize) -> Result<FieldBits<F>> {
        // Step 1.
        let n = shared + masks + COMBINATIONS;
        let mut random = Zeroizing::new(vec![0; n.div_ceil(8)]);
        self.rng.fill(&mut random);
        let own = Bits::from_bytes(&random, n);
        let mut terms = Zeroizing::new(own.iter().map(|bit| F::ONE.masked(bit)).collect::<Vec<F>>());
        self.joint.conduct().before(FieldAct::Holds { what: "bits", values: &mut terms });
        let by_owner = self.put_in(mesh, &terms)?;
        // Step 2.
        let mut sums: SumShares<F> = Zeroizing::new((shared + masks..n).map(|i| sum_of_owners(&by_owner, i)).collect());
        // Step 3.
        let coin = self.openings.coin(mesh, self.joint.conduct())?;
        let all = by_owner.iter().flat_map(|shares| &shares[..shared + masks]);
        for (share, subset) in all.zip(subsets(&coin)) {
            for (k, sum) in sums.iter_mut().enumerate() {
                if subset >> k & 1 == 1 {
                    *sum = sum.plus(*share);
                }
            }
        }
        let opened = self.openings.open(mesh, "sums of bits", &sums, self.joint.conduct())?;
        // Step 4.
        self.check(mesh)?;
        if !opened.iter().all(|sum| bool::from(sum.ct_eq(&F::ZERO) | sum.ct_eq(&F::ONE))) {
            return Err(Error::from(checks::NOT_A_BIT));
        }
        let part = |shares: &SumShares<F>| Zeroizing::new(shares[shared..shared + masks].to_vec());
        Ok(FieldBits {
            shared: Zeroizing::new((0..shared).map(|i| sum_of_owners(&by_owner, i)).collect::<Vec<SumShare<F>>>()),
            masks: by_owner.iter().map(part).collect(),
            own: own.slice(shared, masks),
        })
    }
}

/// For one element after another the [`COMBINATIONS`] that it is in, by a coin.
fn subsets(coin: &[u8; 32]) -> impl Iterator<Item = u128> {
    let mut hasher = blake3::Hasher::new_derive_key("comity field shares: subsets of bits");
    let mut stream = hasher.update(coin).finalize_xof();
    core::iter::repeat_with(move || {
        let mut subset = [0; COMBINATIONS / 8];
        stream.fill(&mut subset);
        u128::from_le_bytes(subset)
    })
}

#[cfg(test)]
mod tests {
    use std::collections::HashSet;

    use super::*;

    #[test]
    fn subsets_follow_from_the_coin() {
        let all: HashSet<u128> = [[1; 32], [2; 32]].iter().flat_map(|coin| subsets(coin).take(100)).collect();
        assert_eq!(all.len(), 200, "a subset that comes twice, or with another coin");
        let ones: u32 = all.iter().map(|subset| subset.count_ones()).sum();
        assert!((12_000..13_600).contains(&ones), "{ones} of 25,600");
        assert!(subsets(&[1; 32]).take(100).eq(subsets(&[1; 32]).take(100)));
    }
}
