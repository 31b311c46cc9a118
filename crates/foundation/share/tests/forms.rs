//! The forms of an authenticated bit, as an ideal dealer deals them: the sums that they promise, through
//! every local operation.

use comity_core::{Backend, Bits, Block, PartyId, Prg};
use comity_share::{GlobalKey, Pairwise, RowShares};
use proptest::prelude::*;

use crate::shares;

pub(crate) fn keys(parties: u16, prg: &mut Prg) -> Vec<GlobalKey> {
    (0..parties).map(|party| GlobalKey::of(PartyId(party), prg)).collect()
}

/// All parties' shares of random bits.
pub(crate) fn deal(keys: &[GlobalKey], bits: usize, prg: &mut Prg) -> Vec<Pairwise> {
    let parties = keys.len() as u16;
    let ids = || (0..parties).map(PartyId);
    let mut all: Vec<Pairwise> = ids().map(|me| Pairwise::zeros(me, parties, bits)).collect();
    for (i, me) in ids().enumerate() {
        for k in 0..bits {
            let share = prg.block().lsb();
            for (j, peer) in ids().enumerate().filter(|&(j, _)| j != i) {
                let key = prg.block().with_lsb(false);
                all[i].macs[peer][k] = key ^ keys[j].block().masked(share);
                all[j].keys[me][k] = key;
            }
        }
    }
    all
}

fn rows(keys: &[GlobalKey], all: &[Pairwise]) -> Vec<RowShares> {
    keys.iter().zip(all).map(|(key, pairwise)| pairwise.rows(key)).collect()
}

/// The bits that are shared, if rows and sums are what they promise.
fn opened(keys: &[GlobalKey], rows: &[RowShares]) -> Bits {
    let mut bits = Bits::zeros(rows[0].len());
    rows.iter().for_each(|rows| bits.xor_assign(&shares(rows)));
    let total = keys.iter().fold(Block::ZERO, |sum, key| sum ^ key.block());
    assert_eq!(total.to_u128() >> 1 & 1, 1, "bit 1 of the sum of all keys");
    for (k, bit) in bits.iter().enumerate() {
        let mut second = false;
        for (party, key) in keys.iter().enumerate() {
            let column = |rows: &RowShares| rows.column(PartyId(party as u16))[k];
            let sum = rows.iter().fold(Block::ZERO, |sum, rows| sum ^ column(rows));
            assert!(sum == key.block().masked(bit), "bit {k} times the key of party {party}");
            assert!(rows.iter().all(|rows| column(rows).lsb() == shares(rows).get(k)));
        }
        let sum = rows.iter().fold(Block::ZERO, |sum, rows| {
            second ^= rows.sums()[k].to_u128() >> 1 & 1 == 1;
            sum ^ rows.sums()[k]
        });
        assert!(sum == total.masked(bit) && second == bit, "the sum of bit {k}");
    }
    bits
}

fn random(bits: usize, prg: &mut Prg) -> Bits {
    (0..bits).map(|_| prg.block().lsb()).collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn rows_and_sums_add_up_to_the_bit_times_the_keys(parties in 2u16..=9, bits in 1usize..12, seed: u128) {
        let mut prg = Prg::new(Backend::detect(), Block::from_u128(seed));
        let keys = keys(parties, &mut prg);
        let [x, y] = [(); 2].map(|()| rows(&keys, &deal(&keys, bits, &mut prg)));
        let values = opened(&keys, &x);

        // Sums of bits, public constants, public multiples.
        let others = opened(&keys, &y);
        let (constants, mask) = (random(bits, &mut prg), random(bits, &mut prg));
        let mut z = x.clone();
        for ((z, y), key) in z.iter_mut().zip(&y).zip(&keys) {
            z.add(y);
            z.add_constants(&constants, key);
            z.mask(&mask);
        }
        let expected: Bits = (0..bits).map(|k| (values.get(k) ^ others.get(k) ^ constants.get(k)) & mask.get(k)).collect();
        prop_assert!(opened(&keys, &z) == expected);
    }

    #[test]
    fn one_deal_is_bits_of_each_party_for_itself(parties in 2u16..=9, seed: u128) {
        let mut prg = Prg::new(Backend::detect(), Block::from_u128(seed));
        let keys = keys(parties, &mut prg);
        let all = deal(&keys, 8, &mut prg);
        let mut sum = Bits::zeros(8);
        for owner in (0..parties).map(PartyId) {
            let rows: Vec<RowShares> = keys.iter().zip(&all).map(|(key, bits)| bits.rows_of(owner, key)).collect();
            let bits = opened(&keys, &rows);
            for rows in &rows {
                let expected = if rows.me() == owner { bits.clone() } else { Bits::zeros(8) };
                prop_assert!(shares(rows) == expected);
            }
            sum.xor_assign(&bits);
        }
        prop_assert!(sum == opened(&keys, &rows(&keys, &all)));
    }
}
