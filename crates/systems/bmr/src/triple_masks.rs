//! [`BitMpc`] and [`Masks`] from authenticated bits: section 4.
//!
//! A dealer of n-party TinyOT makes shared bits and triples, and its rows are shares of the products with all
//! offsets already (Claim 41), where its global keys are the garbling's offsets. A product takes a triple
//! (Beaver): `d = u + a` and `e = v + b` are opened, and `u v = c + d b + e a + d e`. Everything that is
//! opened is checked before anything that was made of it leaves ([`Openings`]).
//!
//! The mask of an input is a bit that only its owner knows, as in figure 6, and with the MACs that bits of
//! all have; figure 5 lets a corrupt owner choose it. Section 4.3 makes it of all parties' bits and opens it
//! to the owner (step 8), which takes three rounds more.
//!
//! What only some are to learn goes to each of them alone. The paper opens it to all under a mask of the
//! recipient's own; that shows all other parties' shares to all, and done for two recipients of one value
//! every share.
//!
//! **Rounds**: one for the openings to all of a chunk, one for their check, both with room for other
//! messages, and three for those to some; besides, those of the dealer.

use core::ops::Range;
use std::collections::VecDeque;

use comity_channel::{Mesh, PerPeer};
use comity_circuit::Recipients;
use comity_core::{Bits, Block, PartyId, Prg, Result};
use comity_protocol::{Conduct, Here, Honest};
use comity_share::joint::JointAct;
use comity_share::{Beside, GlobalKey, Openings, RowShares};
use comity_triples::many::{RowDealer, RowTriples};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use crate::masks::{BitMpc, MaskOpening, Masks, SettledBeside};
use crate::planned::Planned;

/// What a dealer deals, as masks.
pub struct TripleMasks<'a, C = Honest> {
    dealer: Box<dyn RowDealer + 'a>,
    openings: Openings,
    key: GlobalKey,
    me: PartyId,
    parties: u16,
    bits: Leftovers,
    /// Bits of each party alone: as many of each are asked for at once.
    own: Vec<Leftovers>,
    /// Those that are left of each deal, the oldest first.
    triples: Vec<Remaining<RowTriples>>,
    /// What was opened and is not settled.
    opened: Vec<Opened>,
    rng: Prg,
    /// What of the plan the dealer was not asked for yet: in all it is asked for no more than was planned.
    planned: Planned,
    conduct: C,
}

/// Bits that were opened together.
struct Opened {
    /// Those that all learn, as they were heard.
    public: Bits,
    /// To whom, and how many, of each value.
    values: Vec<(Recipients, usize)>,
    /// Rows that only some are to learn, for each of them.
    some: Vec<Option<RowShares>>,
}

/// Material of which some is used up.
struct Remaining<T> {
    all: T,
    used: usize,
}

/// Bits of some deals, the oldest first, of which none is dropped before it is used.
#[derive(Default)]
struct Leftovers(VecDeque<Remaining<RowShares>>);

impl Leftovers {
    fn left(&self) -> usize {
        self.0.iter().map(|bits| bits.all.len() - bits.used).sum()
    }

    fn put(&mut self, all: RowShares) {
        self.0.push_back(Remaining { all, used: 0 });
    }

    /// Fills `rows` with unused bits.
    ///
    /// # Panics
    /// If fewer bits are left than `rows` has room for.
    fn take(&mut self, mut rows: &mut [Block]) {
        while !rows.is_empty() {
            let Remaining { all, used } = self.0.front_mut().expect("bits were asked for");
            let n = usize::from(all.parties());
            let now = (rows.len() / n).min(all.len() - *used);
            let (filled, later) = rows.split_at_mut(now * n);
            for (j, column) in all.columns().enumerate() {
                for (row, &block) in filled.chunks_exact_mut(n).zip(&column[*used..]) {
                    row[j] = block;
                }
            }
            *used += now;
            if *used == all.len() {
                self.0.pop_front();
            }
            rows = later;
        }
    }
}

/// The number to ask for at once when `missing` are missing: the planned ones, up to the number that is made
/// at a time.
fn wanted(missing: usize, planned: u64) -> usize {
    usize::try_from(planned).unwrap_or(usize::MAX).min(MOST).max(missing)
}

impl<'a> TripleMasks<'a> {
    /// Masks of this dealer, which serves nobody else. The session is theirs alone; about as much as is
    /// planned will be asked for.
    pub fn new(
        here: Here,
        dealer: Box<dyn RowDealer + 'a>,
        planned: Planned,
        rng: &mut dyn CryptoRng,
    ) -> TripleMasks<'a> {
        TripleMasks::with(here, dealer, planned, rng, Honest)
    }
}

impl<'a, C: for<'b> Conduct<JointAct<'b>>> TripleMasks<'a, C> {
    /// As [`TripleMasks::new`], for a party that may not be honest.
    pub fn with(
        here: Here,
        dealer: Box<dyn RowDealer + 'a>,
        planned: Planned,
        rng: &mut dyn CryptoRng,
        conduct: C,
    ) -> TripleMasks<'a, C> {
        let Here { me, parties, session, backend, .. } = here;
        let key = dealer.key().clone();
        TripleMasks {
            openings: Openings::new(session.child("openings of masks"), backend, key.clone(), dealer.seeds()),
            dealer,
            key,
            me,
            parties,
            bits: Leftovers::default(),
            own: (0..parties).map(|_| Leftovers::default()).collect(),
            triples: Vec::new(),
            opened: Vec::new(),
            rng: Prg::new(backend, Block::random(rng)),
            planned,
            conduct,
        }
    }

    /// Has what was planned made now, up to what is made at a time: it depends on no program.
    ///
    /// # Errors
    /// Those of the dealer.
    pub fn prepare(&mut self, net: &mut Mesh<'_>) -> Result<()> {
        let some = |planned: u64| usize::from(planned > 0);
        self.have_bits(net, some(self.planned.shares))?;
        self.have_own(net, 0, some(self.planned.own))?;
        self.have_triples(net, wanted(0, self.planned.ands))
    }

    /// Makes sure that `count` bits are there: those that are left, and new ones.
    fn have_bits(&mut self, net: &mut Mesh<'_>, count: usize) -> Result<()> {
        let left = self.bits.left();
        if left < count {
            let bits = self.dealer.shares(net, wanted(count - left, self.planned.shares))?;
            self.planned.shares = self.planned.shares.saturating_sub(bits.len() as u64);
            self.bits.put(bits);
        }
        Ok(())
    }

    /// Makes sure that `count` bits of a party alone are there. New ones come in the same number for each
    /// other party.
    fn have_own(&mut self, net: &mut Mesh<'_>, owner: usize, count: usize) -> Result<()> {
        let left = self.own[owner].left();
        if left < count {
            let wanted = wanted(count - left, self.planned.own);
            self.planned.own = self.planned.own.saturating_sub(wanted as u64);
            let fresh = self.dealer.masks(net, wanted)?;
            self.own.iter_mut().zip(fresh).for_each(|(own, fresh)| own.put(fresh));
        }
        Ok(())
    }

    /// Makes sure that `count` triples are there: those that are left, and new ones. A dealer may deal more
    /// than it is asked for.
    fn have_triples(&mut self, net: &mut Mesh<'_>, count: usize) -> Result<()> {
        self.triples.retain(|triples| triples.used < triples.all.len());
        let left: usize = self.triples.iter().map(|triples| triples.all.len() - triples.used).sum();
        if left < count {
            let all = self.dealer.deal(net, wanted(count - left, self.planned.ands))?;
            self.planned.ands = self.planned.ands.saturating_sub(all.len() as u64);
            self.triples.push(Remaining { all, used: 0 });
        }
        Ok(())
    }

    /// The next triples for `count` products: of each deal those from a number on, and for which products.
    fn next_triples(&self, count: usize) -> impl Iterator<Item = (&RowTriples, usize, Range<usize>)> {
        let mut at = 0;
        self.triples.iter().map(move |Remaining { all, used }| {
            let of = at..count.min(at + all.len() - used);
            at = of.end;
            (all, *used, of)
        })
    }
}

/// Triples and bits that are asked for at a time.
pub(crate) const MOST: usize = 1 << 15;

impl<C: for<'b> Conduct<JointAct<'b>>> BitMpc for TripleMasks<'_, C> {
    fn width(&self) -> usize {
        self.parties.into()
    }

    fn one(&self) -> Vec<Block> {
        let mut one = vec![Block::ZERO; self.parties.into()];
        one[usize::from(self.me.0)] = self.key.block();
        one
    }

    fn random(&mut self, net: &mut Mesh<'_>, rows: &mut [Block]) -> Result<()> {
        let n = usize::from(self.parties);
        let mut rest = rows;
        while !rest.is_empty() {
            if self.bits.left() == 0 {
                self.have_bits(net, (rest.len() / n).min(MOST))?;
            }
            let now = (rest.len() / n).min(self.bits.left());
            let (rows, later) = rest.split_at_mut(now * n);
            self.bits.take(rows);
            rest = later;
        }
        Ok(())
    }

    fn random_of(&mut self, net: &mut Mesh<'_>, owner: PartyId, rows: &mut [Block]) -> Result<Option<Bits>> {
        let (at, n) = (usize::from(owner.0), usize::from(self.parties));
        self.have_own(net, at, rows.len() / n)?;
        self.own[at].take(rows);
        Ok((owner == self.me).then(|| rows.chunks_exact(n).map(|row| row[0].lsb()).collect()))
    }

    fn products(
        &mut self,
        net: &mut Mesh<'_>,
        [u, v]: [&[Block]; 2],
        products: &mut [Block],
        opened: &[MaskOpening<'_>],
        beside: &Beside,
    ) -> Result<PerPeer<Vec<u8>>> {
        let (n, me) = (usize::from(self.parties), usize::from(self.me.0));
        let (gates, key) = (products.len() / n, self.key.block());
        self.have_triples(net, gates)?;

        // d, e, and what all learn.
        let bits = |opened: &MaskOpening<'_>| opened.rows.len() / n;
        let to_all = |opened: &&MaskOpening<'_>| opened.to == Recipients::All;
        let total = 2 * gates + opened.iter().filter(to_all).map(bits).sum::<usize>();
        let mut rows = RowShares::zeros(self.me, self.parties, total);
        for j in 0..n {
            let party = PartyId(j as u16);
            let column = rows.column_mut(party);
            for (triples, first, of) in self.next_triples(gates) {
                for (i, (factor, random)) in [(u, &triples.a), (v, &triples.b)].into_iter().enumerate() {
                    let to = &mut column[i * gates..][of.clone()];
                    let factor = factor.chunks_exact(n).skip(of.start);
                    for ((to, row), &random) in to.iter_mut().zip(factor).zip(&random.column(party)[first..]) {
                        *to = row[j] ^ random;
                    }
                }
            }
            let all = opened.iter().filter(to_all).flat_map(|opened| opened.rows.chunks_exact(n));
            column[2 * gates..].iter_mut().zip(all).for_each(|(to, row)| *to = row[j]);
        }
        // What only some learn, for each of them.
        let for_some = |party: PartyId| opened.iter().filter(move |o| !to_all(o) && o.to.includes(party));
        let some: Vec<Option<RowShares>> = (0..self.parties)
            .map(PartyId)
            .map(|party| {
                let total: usize = for_some(party).map(bits).sum();
                let mut rows = RowShares::zeros(self.me, self.parties, total);
                for j in 0..n {
                    let from = for_some(party).flat_map(|opened| opened.rows.chunks_exact(n));
                    let column = rows.column_mut(PartyId(j as u16));
                    column.iter_mut().zip(from).for_each(|(to, row)| *to = row[j]);
                }
                (total > 0).then_some(rows)
            })
            .collect();
        if self.opened.is_empty() {
            self.dealer.check_begins()?;
        }
        let (public, heard) = self.openings.open_beside(net, &rows, beside, &mut self.conduct)?;

        // What is left is each party's own business.
        for j in 0..n {
            let party = PartyId(j as u16);
            for (triples, first, of) in self.next_triples(gates) {
                let [a, b, c] = [&triples.a, &triples.b, &triples.c].map(|rows| &rows.column(party)[first..]);
                for (i, gate) in of.enumerate() {
                    let (d, e) = (public.get(gate), public.get(gates + gate));
                    let product = &mut products[gate * n + j];
                    *product = c[i] ^ b[i].masked(d) ^ a[i].masked(e);
                    if j == me {
                        *product ^= key.masked(d & e);
                    }
                }
            }
        }
        let mut left = gates;
        for triples in &mut self.triples {
            let now = left.min(triples.all.len() - triples.used);
            triples.used += now;
            left -= now;
        }
        let values = opened.iter().map(|opened| (opened.to, bits(opened))).collect();
        self.opened.push(Opened { public: public.slice(2 * gates, public.len() - 2 * gates), values, some });
        Ok(heard)
    }

    fn settle(&mut self, net: &mut Mesh<'_>, beside: &Beside) -> Result<SettledBeside> {
        if self.opened.is_empty() {
            self.dealer.check_begins()?;
        }
        let heard = self.openings.settle_beside(net, beside, &mut self.conduct)?;
        let mut all = Vec::new();
        for Opened { public, values, some } in core::mem::take(&mut self.opened) {
            let own = match some.iter().any(Option::is_some) {
                true => {
                    let rows = |party: PartyId| some[usize::from(party.0)].as_ref();
                    self.openings.open_each(net, rows, &mut self.rng, &mut self.conduct)?
                }
                false => None,
            };
            let (mut at, mut used) = (0, 0);
            let own = own.unwrap_or_default();
            all.extend(values.into_iter().map(|(to, bits)| {
                let (from, at) = match (to == Recipients::All, to.includes(self.me)) {
                    (true, _) => (&public, &mut at),
                    (false, true) => (&own, &mut used),
                    (false, false) => return None,
                };
                let value = from.slice(*at, bits);
                *at += bits;
                Some(value)
            }));
        }
        self.dealer.check_passed()?;
        Ok((all, heard))
    }

    fn check_begins(&mut self) -> Result<()> {
        self.dealer.check_begins()
    }

    fn check_passed(&mut self) -> Result<()> {
        self.dealer.check_passed()
    }
}

impl<C: for<'b> Conduct<JointAct<'b>>> Masks for TripleMasks<'_, C> {
    fn offset(&self) -> Block {
        self.key.block()
    }

    /// Claim 41: the rows are these products.
    fn times_offsets(
        &mut self,
        _: &mut Mesh<'_>,
        rows: Zeroizing<Vec<Block>>,
        _: &[usize],
    ) -> Result<Zeroizing<Vec<Block>>> {
        Ok(rows)
    }
}
