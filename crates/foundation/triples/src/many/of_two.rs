//! `OfTwo`: a dealer of two parties, as one of rows. So a system that is for any number of parties takes two
//! as any other number, and its material from the same lots.

use comity_channel::Mesh;
use comity_core::{PartyId, Result};
use comity_protocol::Dealer;
use comity_share::{GlobalKey, PairSeeds, RowShares, Share};
use zeroize::Zeroizing;

use super::{RowDealer, RowTriples};
use crate::deal::TripleDealer;
use crate::triples::Triple;

/// A dealer of rows for two parties, on top of a dealer of shares.
pub struct OfTwo<'a> {
    dealer: Box<dyn TripleDealer + 'a>,
    seeds: PairSeeds,
}

impl<'a> OfTwo<'a> {
    /// Deals rows from this dealer, which must serve nobody else.
    pub fn new(dealer: Box<dyn TripleDealer + 'a>) -> OfTwo<'a> {
        OfTwo { seeds: PairSeeds::of_two(dealer.party()), dealer }
    }

    /// Writes shares to the places of rows from `at` on: the column of the peer has the MACs, and this
    /// party's the rest.
    fn write<'s>(&self, shares: impl Iterator<Item = &'s Share> + Clone, at: usize, rows: &mut RowShares) {
        let (me, delta) = (self.dealer.party(), self.dealer.key().block());
        for (to, share) in rows.column_mut(me.other())[at..].iter_mut().zip(shares.clone()) {
            *to = share.mac();
        }
        for (to, share) in rows.column_mut(me)[at..].iter_mut().zip(shares) {
            *to = share.key() ^ delta.masked(share.bit());
        }
    }

    fn rows(&self, shares: &[Share]) -> RowShares {
        let mut rows = RowShares::zeros(self.me(), 2, shares.len());
        self.write(shares.iter(), 0, &mut rows);
        rows
    }
}

impl RowDealer for OfTwo<'_> {
    fn me(&self) -> PartyId {
        self.dealer.party()
    }

    fn parties(&self) -> u16 {
        2
    }

    fn key(&self) -> &GlobalKey {
        self.dealer.key()
    }

    fn seeds(&self) -> &PairSeeds {
        &self.seeds
    }

    fn shares(&mut self, net: &mut Mesh<'_>, bits: usize) -> Result<RowShares> {
        let mut shares = Zeroizing::new(vec![Share::default(); bits]);
        self.dealer.shares(net.pair()?.1, &mut shares)?;
        Ok(self.rows(&shares))
    }

    fn masks(&mut self, net: &mut Mesh<'_>, bits: usize) -> Result<Vec<RowShares>> {
        let mut shares = Zeroizing::new(vec![Share::default(); bits]);
        [0, 1]
            .map(PartyId)
            .into_iter()
            .map(|owner| {
                self.dealer.bits(net.pair()?.1, owner, &mut shares)?;
                Ok(self.rows(&shares))
            })
            .collect()
    }
}

impl Dealer for OfTwo<'_> {
    type Batch = RowTriples;

    fn deal(&mut self, net: &mut Mesh<'_>, at_least: usize) -> Result<RowTriples> {
        let (mut batches, mut count) = (Vec::new(), 0);
        while count < at_least {
            let batch = self.dealer.deal(net, at_least - count)?;
            count += batch.len();
            batches.push(batch);
        }
        let mut triples = RowTriples::blank(self.me(), 2, count);
        let mut at = 0;
        for mut batch in batches {
            let some: &[Triple] = batch.take(usize::MAX);
            self.write(some.iter().map(|triple| &triple.a), at, &mut triples.a);
            self.write(some.iter().map(|triple| &triple.b), at, &mut triples.b);
            self.write(some.iter().map(|triple| &triple.c), at, &mut triples.c);
            at += some.len();
        }
        Ok(triples)
    }

    fn check_begins(&mut self) -> Result<()> {
        self.dealer.check_begins()
    }

    fn check_passed(&mut self) -> Result<()> {
        self.dealer.check_passed()
    }
}
