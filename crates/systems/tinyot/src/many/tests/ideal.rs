//! A trusted dealer: all parties draw everything from one generator, and each keeps its own part.

use core::ops::Range;

use comity_channel::{Mesh, PerPeer};
use comity_core::{Backend, Block, PartyId, Prg, Result};
use comity_protocol::Dealer;
use comity_share::{GlobalKey, PairSeeds, RowShares};

use comity_triples::{RowDealer, RowTriples};

/// One party's part of the trusted dealer.
pub(crate) struct Trusted {
    me: PartyId,
    keys: Vec<GlobalKey>,
    seeds: PairSeeds,
    prg: Prg,
    /// Triples are dealt in batches of this size or more.
    batch: usize,
}

impl Trusted {
    /// Those of the same seed deal parts that fit.
    pub(crate) fn new(me: PartyId, parties: u16, seed: u128, batch: usize) -> Trusted {
        let mut prg = Prg::new(Backend::detect(), Block::from_u128(seed));
        let keys = (0..parties).map(|party| GlobalKey::of(PartyId(party), &mut prg)).collect();
        let of_pairs: Vec<Block> = (0..1 << 10).map(|_| prg.block()).collect();
        let seed = |peer: PartyId| of_pairs[usize::from(me.0.min(peer.0)) << 5 | usize::from(me.0.max(peer.0))];
        let seeds = PairSeeds::stored(PerPeer::new(me, parties, seed));
        Trusted { me, keys, seeds, prg, batch }
    }

    fn bit(&mut self) -> bool {
        self.prg.block().lsb()
    }

    /// Writes this party's row of a bit whose shares are these, and which nobody has but these parties.
    fn row(&mut self, holders: Range<usize>, shares: &[bool], k: usize, rows: &mut RowShares) {
        let (me, n) = (usize::from(self.me.0), self.keys.len());
        rows.column_mut(self.me)[k] = self.keys[me].block().masked(shares[me]);
        for holder in holders {
            for owner in (0..n).filter(|&owner| owner != holder) {
                let key = self.prg.block().with_lsb(false);
                if holder == me {
                    rows.column_mut(PartyId(owner as u16))[k] = key ^ self.keys[owner].block().masked(shares[me]);
                }
                if owner == me {
                    rows.column_mut(self.me)[k] ^= key;
                }
            }
        }
    }

    fn shared(&mut self, bit: Option<bool>) -> Vec<bool> {
        let mut shares: Vec<bool> = (0..self.keys.len()).map(|_| self.bit()).collect();
        if let Some(bit) = bit {
            shares[0] ^= bit ^ shares.iter().fold(false, |sum, share| sum ^ share);
        }
        shares
    }
}

impl RowDealer for Trusted {
    fn me(&self) -> PartyId {
        self.me
    }

    fn parties(&self) -> u16 {
        self.keys.len() as u16
    }

    fn key(&self) -> &GlobalKey {
        &self.keys[usize::from(self.me.0)]
    }

    fn seeds(&self) -> &PairSeeds {
        &self.seeds
    }

    fn shares(&mut self, _: &mut Mesh<'_>, bits: usize) -> Result<RowShares> {
        let mut rows = RowShares::zeros(self.me, self.parties(), bits);
        for k in 0..bits {
            let shares = self.shared(None);
            self.row(0..shares.len(), &shares, k, &mut rows);
        }
        Ok(rows)
    }

    fn masks(&mut self, _: &mut Mesh<'_>, bits: usize) -> Result<Vec<RowShares>> {
        (0..self.keys.len())
            .map(|owner| {
                let mut rows = RowShares::zeros(self.me, self.parties(), bits);
                for k in 0..bits {
                    let mut shares = vec![false; self.keys.len()];
                    shares[owner] = self.bit();
                    self.row(owner..owner + 1, &shares, k, &mut rows);
                }
                Ok(rows)
            })
            .collect()
    }
}

impl Dealer for Trusted {
    type Batch = RowTriples;

    fn deal(&mut self, _: &mut Mesh<'_>, n: usize) -> Result<RowTriples> {
        let n = n.max(self.batch);
        let mut triples = RowTriples::blank(self.me, self.parties(), n);
        for k in 0..n {
            let (a, b) = (self.bit(), self.bit());
            for (bit, rows) in [(a, &mut triples.a), (b, &mut triples.b), (a & b, &mut triples.c)] {
                let shares = self.shared(Some(bit));
                self.row(0..shares.len(), &shares, k, rows);
            }
        }
        Ok(triples)
    }
}
