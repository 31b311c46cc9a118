//! A dealer for tests, which costs nothing and notes what it is told.

use std::sync::Mutex;

use comity_core::PartyId;
use comity_protocol::Dealer;
use comity_share::{GlobalKey, PairSeeds, RowShares};
use comity_triples::many::{RowDealer, RowTriples};

use super::*;
use crate::Masks;

/// A dealer that knows the ideal one's seed, and deals as many as it is asked for.
pub(super) struct IdealDealer<'t> {
    ideal: Ideal,
    key: GlobalKey,
    seeds: PairSeeds,
    me: PartyId,
    parties: u16,
    noted: &'t Mutex<Noted>,
}

/// What a dealer was told.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct Noted {
    /// How many it was asked for.
    pub(super) taken: Planned,
    /// The checks: `(` where one began, `)` where it passed.
    pub(super) checks: String,
}

impl<'t> IdealDealer<'t> {
    pub(super) fn new(here: Here, noted: &'t Mutex<Noted>) -> IdealDealer<'t> {
        let Here { me, parties, session, .. } = here;
        let ideal = Ideal::new(session.child("ideal"), me.0.into(), parties.into());
        let key = GlobalKey::new(ideal.offset()).unwrap();
        let seeds = PairSeeds::stored(PerPeer::new(me, parties, |peer| Block::from_u128(u128::from(me.0 + peer.0))));
        IdealDealer { ideal, key, seeds, me, parties, noted }
    }

    fn rows(&self, rows: &[Block]) -> RowShares {
        let n = usize::from(self.parties);
        let mut shares = RowShares::zeros(self.me, self.parties, rows.len() / n);
        for j in 0..self.parties {
            let column = shares.column_mut(PartyId(j));
            column.iter_mut().zip(rows.chunks_exact(n)).for_each(|(to, row)| *to = row[usize::from(j)]);
        }
        shares
    }

    fn blank(&self, bits: usize) -> Vec<Block> {
        vec![Block::ZERO; bits * usize::from(self.parties)]
    }
}

impl RowDealer for IdealDealer<'_> {
    fn me(&self) -> PartyId {
        self.me
    }

    fn parties(&self) -> u16 {
        self.parties
    }

    fn key(&self) -> &GlobalKey {
        &self.key
    }

    fn seeds(&self) -> &PairSeeds {
        &self.seeds
    }

    fn shares(&mut self, net: &mut Mesh<'_>, bits: usize) -> Result<RowShares> {
        self.noted.lock().unwrap().taken.shares += bits as u64;
        let mut rows = self.blank(bits);
        self.ideal.random(net, &mut rows)?;
        Ok(self.rows(&rows))
    }

    fn masks(&mut self, net: &mut Mesh<'_>, bits: usize) -> Result<Vec<RowShares>> {
        self.noted.lock().unwrap().taken.own += bits as u64;
        let mut rows = self.blank(bits);
        let parties = self.parties;
        let of = |owner: u16| {
            self.ideal.random_of(net, PartyId(owner), &mut rows)?;
            Ok(self.rows(&rows))
        };
        (0..parties).map(of).collect()
    }
}

impl Dealer for IdealDealer<'_> {
    type Batch = RowTriples;

    fn deal(&mut self, _: &mut Mesh<'_>, triples: usize) -> Result<RowTriples> {
        self.noted.lock().unwrap().taken.ands += triples as u64;
        let dealt: Vec<_> = (0..triples).map(|_| self.ideal.triple()).collect();
        let [a, b, c] =
            [0, 1, 2].map(|i| self.rows(&dealt.iter().flat_map(|triple| &triple[i]).copied().collect::<Vec<_>>()));
        Ok(RowTriples { a, b, c })
    }

    fn check_begins(&mut self) -> Result<()> {
        self.noted.lock().unwrap().checks.push('(');
        Ok(())
    }

    fn check_passed(&mut self) -> Result<()> {
        self.noted.lock().unwrap().checks.push(')');
        Ok(())
    }
}
