//! The forms of one authenticated bit among `n` parties, and their algebra.
//!
//! A bit `x = x_0 + ... + x_{n-1}`; party `i` holds `x_i`, and of each other party's share a key. `R_j` is
//! the global key of party `j`.
//!
//! - *Pairwise* ([`Pairwise`]): with each peer `j` the MAC `M_j = K + x_i R_j` on the own share, whose key
//!   `K` party `j` has, and the key to the peer's share: as a [`Share`](crate::Share) with each. Needed where
//!   a MAC or a key is hashed alone.
//! - *Row* ([`RowShares`]), `n` blocks: `Z_j = M_j` for a peer `j`, and for the party itself
//!   `Z_i = x_i R_i + ` the sum of its keys. Over the parties the blocks `Z_j` sum up to `x R_j` (Hazay,
//!   Scholl, Soria-Vazquez, Asiacrypt 2017, Claim 41, in whose proof two indices are exchanged): shares of
//!   the bit times every global key.
//! - *Sum* ([`RowShares::sums`]), one block: the sum of the row. Over the parties it sums up to `x R`, where
//!   `R` is the sum of all global keys.
//!
//! All three are linear. **Fixed bits.** Bit 0 of every global key is one and of every key zero, so that bit
//! 0 of every block of a row is the share `x_i`. Bit 1 is one in the key of party 1 alone
//! ([`GlobalKey::of`](crate::GlobalKey::of)), so that bit 1 of `R` is one, and bit 1 of the sum is one more
//! additive share of `x`. 126 bits of a global key are secret.

use core::ops::Range;

use comity_channel::PerPeer;
use comity_core::{Bits, Block, PartyId};
use zeroize::Zeroize;

use crate::share::GlobalKey;

/// Bit 0.
const BIT: Block = Block::from_u128(1);

/// One party's shares of some bits, with a MAC for each peer and a key for each peer's share. Secret; wiped on drop.
pub struct Pairwise {
    /// The MACs on this party's shares, under each peer's key. Bit 0 is the share.
    pub macs: PerPeer<Vec<Block>>,
    /// The keys to each peer's shares. Bit 0 is zero.
    pub keys: PerPeer<Vec<Block>>,
}

impl Pairwise {
    /// Shares of zero for `bits` bits.
    pub fn zeros(me: PartyId, parties: u16, bits: usize) -> Pairwise {
        let blocks = || PerPeer::new(me, parties, |_| vec![Block::ZERO; bits]);
        Pairwise { macs: blocks(), keys: blocks() }
    }

    /// The number of bits.
    pub fn len(&self) -> usize {
        self.macs.iter().next().map_or(0, |(_, macs)| macs.len())
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// Some of the bits.
    ///
    /// # Panics
    /// If the range goes beyond the last bit.
    pub fn slice(&self, range: Range<usize>) -> Pairwise {
        let [macs, keys] = [&self.macs, &self.keys]
            .map(|blocks| PerPeer::new(blocks.me(), blocks.parties(), |peer| blocks[peer][range.clone()].to_vec()));
        Pairwise { macs, keys }
    }

    /// The MACs and the keys of some of the bits, to be written.
    pub(crate) fn slices(&mut self, range: Range<usize>) -> [PerPeer<&mut [Block]>; 2] {
        [&mut self.macs, &mut self.keys].map(|blocks| {
            let me = blocks.me();
            let slices = blocks.as_mut_slice().iter_mut().map(|blocks| &mut blocks[range.clone()]).collect();
            PerPeer::from_vec(me, slices).expect("one a peer")
        })
    }

    /// Appends bits. Memory that is moved is wiped where it was.
    pub(crate) fn append(&mut self, more: &Pairwise) {
        for (all, more) in [(&mut self.macs, &more.macs), (&mut self.keys, &more.keys)] {
            for (peer, all) in all.iter_mut() {
                let mut grown = Vec::with_capacity(all.len() + more[peer].len());
                grown.extend_from_slice(all);
                grown.extend_from_slice(&more[peer]);
                all.zeroize();
                *all = grown;
            }
        }
    }

    /// The same bits as rows.
    pub fn rows(&self, key: &GlobalKey) -> RowShares {
        let (me, parties) = (self.macs.me(), self.macs.parties());
        let bits = self.len();
        let mut rows = RowShares::zeros(me, parties, bits);
        for (peer, macs) in self.macs.iter() {
            rows.column_mut(peer).copy_from_slice(macs);
        }
        let (own, macs) = rows.own_and_macs();
        own_column(key, macs, self.keys.iter().map(|(_, keys)| &keys[..]), own);
        rows
    }

    /// The bits of `owner` alone, as rows: every other party's share is zero. So one batch of random bits gives
    /// each party the same number of bits that it alone knows.
    pub fn rows_of(&self, owner: PartyId, key: &GlobalKey) -> RowShares {
        let (me, parties) = (self.macs.me(), self.macs.parties());
        let bits = self.len();
        let mut rows = RowShares::zeros(me, parties, bits);
        if owner == me {
            for (peer, macs) in self.macs.iter() {
                rows.column_mut(peer).copy_from_slice(macs);
            }
            let (own, macs) = rows.own_and_macs();
            own_column(key, macs, std::iter::empty(), own);
        } else {
            rows.column_mut(me).copy_from_slice(&self.keys[owner]);
        }
        rows
    }
}

impl Drop for Pairwise {
    fn drop(&mut self) {
        for blocks in [&mut self.macs, &mut self.keys] {
            blocks.as_mut_slice().iter_mut().for_each(|blocks| blocks.as_mut_slice().zeroize());
        }
    }
}

/// This party's own block of each row: its share, which is bit 0 of `macs`, times its global key, plus all
/// keys to the others' shares.
///
/// # Panics
/// If the lengths differ.
pub fn own_column<'a>(key: &GlobalKey, macs: &[Block], keys: impl Iterator<Item = &'a [Block]>, out: &mut [Block]) {
    assert_eq!(macs.len(), out.len(), "a block for each bit");
    let delta = key.block();
    for (out, mac) in out.iter_mut().zip(macs) {
        *out = delta.masked(mac.lsb());
    }
    for keys in keys {
        assert_eq!(keys.len(), out.len(), "a key for each bit");
        out.iter_mut().zip(keys).for_each(|(out, &key)| *out ^= key);
    }
}

/// One party's rows of some bits, `n` columns of blocks: column `j` belongs to the global key of party `j`.
/// Secret; wiped on drop.
#[derive(Clone)]
pub struct RowShares {
    me: PartyId,
    parties: u16,
    bits: usize,
    blocks: Vec<Block>,
}

impl RowShares {
    /// The rows of shares of zero.
    ///
    /// # Panics
    /// If there are fewer than two parties, or `me` is not one of them.
    pub fn zeros(me: PartyId, parties: u16, bits: usize) -> RowShares {
        assert!(parties > 1 && me.0 < parties, "party {me} of {parties}");
        RowShares { me, parties, bits, blocks: vec![Block::ZERO; usize::from(parties) * bits] }
    }

    /// This party.
    pub fn me(&self) -> PartyId {
        self.me
    }

    /// The number of parties.
    pub fn parties(&self) -> u16 {
        self.parties
    }

    /// The number of bits.
    pub fn len(&self) -> usize {
        self.bits
    }

    /// Whether there are no bits.
    pub fn is_empty(&self) -> bool {
        self.bits == 0
    }

    /// The blocks that belong to the global key of `party`.
    ///
    /// # Panics
    /// If there is no such party.
    pub fn column(&self, party: PartyId) -> &[Block] {
        &self.blocks[usize::from(party.0) * self.bits..][..self.bits]
    }

    /// The blocks that belong to the global key of `party`, to be written.
    ///
    /// # Panics
    /// If there is no such party.
    pub fn column_mut(&mut self, party: PartyId) -> &mut [Block] {
        &mut self.blocks[usize::from(party.0) * self.bits..][..self.bits]
    }

    /// All columns, in the order of the parties.
    pub fn columns(&self) -> impl Iterator<Item = &[Block]> {
        (0..self.parties).map(|party| self.column(PartyId(party)))
    }

    /// This party's own column, and a column of MACs.
    fn own_and_macs(&mut self) -> (&mut [Block], &[Block]) {
        let (own, bits) = (usize::from(self.me.0) * self.bits, self.bits);
        if own == 0 {
            let (own, rest) = self.blocks.split_at_mut(bits);
            (own, &rest[..bits])
        } else {
            let (macs, rest) = self.blocks.split_at_mut(own);
            (&mut rest[..bits], &macs[..bits])
        }
    }

    /// This party's shares of the bits. They are not always random, so nothing but
    /// [`opening`](crate::opening) sees them, and what leaves is [blinded](crate::zero_shares).
    pub(crate) fn shares(&self) -> Bits {
        let word = |blocks: &[Block]| blocks.iter().rev().fold(0, |word, block| word << 1 | u64::from(block.lsb()));
        Bits::from_words(self.column(PartyId(0)).chunks(64).map(word).collect(), self.bits)
    }

    /// The sum form of the bits: one block of each.
    pub fn sums(&self) -> Vec<Block> {
        let mut sums = vec![Block::ZERO; self.bits];
        for column in self.columns() {
            sums.iter_mut().zip(column).for_each(|(sum, &block)| *sum ^= block);
        }
        sums
    }

    /// Some of the bits.
    ///
    /// # Panics
    /// If the range goes beyond the last bit.
    pub fn slice(&self, range: Range<usize>) -> RowShares {
        let mut some = RowShares::zeros(self.me, self.parties, range.len());
        some.copy_from(0, self, range);
        some
    }

    /// Overwrites the bits from `at` on by some of the bits of `other`.
    ///
    /// # Panics
    /// If either has fewer bits, or the numbers of parties differ.
    pub fn copy_from(&mut self, at: usize, other: &RowShares, range: Range<usize>) {
        assert_eq!(self.parties, other.parties, "rows of one kind");
        for party in (0..self.parties).map(PartyId) {
            let to = &mut self.column_mut(party)[at..at + range.len()];
            to.copy_from_slice(&other.column(party)[range.clone()]);
        }
    }

    /// Adds the bits of `other`, each to the one at the same place.
    ///
    /// # Panics
    /// If the numbers of bits differ, or `other` is another party's.
    pub fn add(&mut self, other: &RowShares) {
        assert_eq!((self.me, self.parties, self.bits), (other.me, other.parties, other.bits), "rows of one kind");
        self.blocks.iter_mut().zip(&other.blocks).for_each(|(own, &other)| *own ^= other);
    }

    /// Keeps each bit where the public `mask` is one, and sets it to zero where the mask is zero.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn mask(&mut self, mask: &Bits) {
        assert_eq!(mask.len(), self.bits, "a mask of each bit");
        for party in 0..self.parties {
            for (block, bit) in self.column_mut(PartyId(party)).iter_mut().zip(mask.iter()) {
                *block = block.masked(bit);
            }
        }
    }

    /// Adds public constants: to the share of party 0, and to what the others expect of that share.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn add_constants(&mut self, constants: &Bits, key: &GlobalKey) {
        assert_eq!(constants.len(), self.bits, "a constant for each bit");
        for party in 0..self.parties {
            let (me, party) = (self.me, PartyId(party));
            let Some(one) = constant_one(me, party, key) else { continue };
            for (block, bit) in self.column_mut(party).iter_mut().zip(constants.iter()) {
                *block ^= one.masked(bit);
            }
        }
    }
}

/// What the constant one adds to the column of `party` in a row of party `me`; `None` if it adds nothing.
pub fn constant_one(me: PartyId, party: PartyId, key: &GlobalKey) -> Option<Block> {
    match (me.0 == 0, me == party) {
        (true, true) => Some(key.block()),
        (true, false) => Some(BIT),
        (false, true) => Some(key.block() ^ BIT),
        (false, false) => None,
    }
}

impl Drop for RowShares {
    fn drop(&mut self) {
        // Once: a vector's own wiping goes over its memory twice, and it never grows.
        self.blocks.as_mut_slice().zeroize();
    }
}
