//! Material of any number of parties, made ahead and kept: batches of triples, bits of each party and random
//! bits as bytes, and a dealer that deals from them. As [`stored`](crate::stored), which is the form of two
//! parties.
//!
//! A [`RowBatch`] is what one party holds of a batch, under that party's global key. All batches of a lot are
//! made by one dealer, under the same keys; all parties make them together, in the same amounts, and use them
//! in the same order.
//!
//! **Once.** [`RowBatch::write`] and dealing consume a batch, and a [`Shelf`] gives out each once: at all
//! parties it counts as used before one of them reads it. **Keys.** What a check has not passed, whatever the
//! reason, ends the keys of all, and with them every batch of the lot: the dealer tells its shelf before a
//! check begins and when it has passed ([`Dealer::check_begins`]).
//!
//! **Another system** takes the same material by [`rows_from_shelf`](crate::rows_from_shelf), which gives it
//! a [`RowDealer`], and says by [`Uses`](crate::Uses) how much a run takes. It calls `check_begins` before
//! the first message of each check of what it opened.
//!
//! **Zero-shares.** A batch has the seeds of its party with each peer, the same in a whole lot, with which
//! every run hides what it opens. A run's session is part of what is made of them, so that two runs on one
//! lot, or on copies of one batch, hide nothing by the same.
//!
//! **Size** among n: 48 n bytes a triple, 16 n a random bit; of bits of one party 16 (n - 1) there, 16 elsewhere.

use std::collections::VecDeque;
use std::io::{Read, Write};

use comity_channel::{Mesh, PerPeer};
use comity_core::{Block, Error, PartyId, Result};
use comity_protocol::{BatchForm, Dealer, Shelf};
use comity_share::forms::own_column;
use comity_share::{GlobalKey, PairSeeds, RowShares};
use zeroize::Zeroizing;

use super::{RowDealer, RowTriples};
use crate::stored::{SHARES, next_batch};

/// The form of a batch.
const FORM: BatchForm = BatchForm { magic: b"comity shares 2\n", name: SHARES };

/// The first bytes of batches without seeds.
const WITHOUT_SEEDS: &[u8; 16] = b"comity shares 1\n";

/// The amounts of each kind in a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct RowAmounts {
    /// Parties.
    pub parties: u16,
    /// Triples: one for each AND.
    pub triples: usize,
    /// Bits of each party alone: one for each bit that it puts in.
    pub masks: usize,
    /// Random shared bits.
    pub shares: usize,
}

impl RowAmounts {
    /// Bytes of a batch with these amounts, at any party.
    pub fn bytes(&self) -> u64 {
        let n = usize::from(self.parties);
        let blocks = 3 * n * self.triples + n * self.shares + 2 * (n - 1) * self.masks;
        (BatchForm::BEGINNING + 4 + Block::BYTES * (n + blocks)) as u64
    }
}

/// A batch of material, at one party.
pub struct RowBatch {
    key: GlobalKey,
    seeds: PairSeeds,
    triples: RowTriples,
    /// The masks of each party.
    masks: Vec<Unused>,
    shares: Unused,
}

/// Shares, the first of which are used up.
struct Unused {
    rows: RowShares,
    used: usize,
}

impl Unused {
    fn len(&self) -> usize {
        self.rows.len() - self.used
    }

    /// Copies unused rows to `out` from `at` on, until it is full or none is left, and returns their number.
    fn take(&mut self, at: usize, out: &mut RowShares) -> usize {
        let count = self.len().min(out.len() - at);
        out.copy_from(at, &self.rows, self.used..self.used + count);
        self.used += count;
        count
    }
}

impl From<RowShares> for Unused {
    fn from(rows: RowShares) -> Unused {
        Unused { rows, used: 0 }
    }
}

impl RowBatch {
    /// Reads a batch of party `me` with these amounts, and nothing after it.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if these are not the bytes of such a batch.
    pub fn read(from: &mut dyn Read, me: PartyId, amounts: &RowAmounts) -> Result<RowBatch> {
        let RowAmounts { parties, triples, masks, shares } = *amounts;
        let beginning = FORM.beginning(from)?;
        if beginning == *WITHOUT_SEEDS {
            return Err(Error::store(
                "a batch of shares is of an earlier version, among three parties and more an unsafe one: its runs could show inputs to whoever \
                 listens. Delete its lot (`comity store remove`) and make a new one (`comity prepare`)",
            ));
        }
        let mut of = [0; 4];
        FORM.take(from, &mut of)?;
        if beginning != *FORM.magic || of != place(me, parties) {
            return Err(
                FORM.damaged(format!("it does not begin as one of party {me} of {parties} and of this version does"))
            );
        }
        let mut delta = Zeroizing::new([0; Block::BYTES]);
        FORM.take(from, &mut *delta)?;
        let key =
            GlobalKey::new(Block::new(*delta)).filter(|key| key.block().to_u128() >> 1 & 1 == u128::from(me.0 == 1));
        let key = key.ok_or_else(|| FORM.damaged("its global key has not the last bits that this party's have"))?;
        let mut seeds = vec![Block::ZERO; usize::from(parties) - 1];
        FORM.take_blocks(from, &mut seeds)?;
        let seeds = PairSeeds::stored(PerPeer::from_vec(me, seeds).expect("this party is one of them"));
        let mut rows = |bits: usize| -> Result<RowShares> {
            let mut rows = RowShares::zeros(me, parties, bits);
            for party in (0..parties).map(PartyId) {
                FORM.take_blocks(from, rows.column_mut(party))?;
            }
            whole(rows)
        };
        let triples = RowTriples { a: rows(triples)?, b: rows(triples)?, c: rows(triples)? };
        let shares = rows(shares)?.into();
        let masks = (0..parties).map(PartyId).map(|owner| {
            let mut rows = RowShares::zeros(me, parties, masks);
            for party in (0..parties).map(PartyId).filter(|&party| stored_of(owner, me, party)) {
                FORM.take_blocks(from, rows.column_mut(party))?;
            }
            if owner == me {
                let peer = PartyId(u16::from(me.0 == 0));
                let macs = Zeroizing::new(rows.column(peer).to_vec());
                own_column(&key, &macs, std::iter::empty(), rows.column_mut(me));
            }
            // Where the owner is another one the share is zero, as the columns say that are not stored.
            whole(rows).map(Unused::from)
        });
        let masks = masks.collect::<Result<Vec<Unused>>>()?;
        FORM.ends(from)?;
        Ok(RowBatch { key, seeds, triples, masks, shares })
    }

    /// Writes the batch, which is consumed: only a reader of the bytes has it then.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind).
    pub fn write(self, to: &mut dyn Write) -> Result<()> {
        FORM.begin(to)?;
        let mut put = |bytes: &[u8]| FORM.put(to, bytes);
        let (me, parties) = (self.shares.rows.me(), self.shares.rows.parties());
        put(&place(me, parties))?;
        put(&Zeroizing::new(self.key.block().to_bytes())[..])?;
        self.seeds.iter().try_for_each(|(_, &seed)| put(&Zeroizing::new(seed.to_bytes())[..]))?;
        for rows in [&self.triples.a, &self.triples.b, &self.triples.c, &self.shares.rows] {
            rows.columns().try_for_each(|column| put(Block::bytes_of(column)))?;
        }
        for (owner, masks) in (0..).map(PartyId).zip(&self.masks) {
            for party in (0..parties).map(PartyId).filter(|&party| stored_of(owner, me, party)) {
                put(Block::bytes_of(masks.rows.column(party)))?;
            }
        }
        Ok(())
    }

    fn is_empty(&self) -> bool {
        self.triples.is_empty() && self.shares.len() == 0 && self.masks.iter().all(|masks| masks.len() == 0)
    }
}

/// The number of parties and the id of this party, as bytes.
fn place(me: PartyId, parties: u16) -> [u8; 4] {
    let ([a, b], [c, d]) = (parties.to_le_bytes(), me.0.to_le_bytes());
    [a, b, c, d]
}

/// Whether party `me` stores the column of `party` of bits that are `owner`'s alone: its MACs, or its keys to
/// the owner's. The others follow.
fn stored_of(owner: PartyId, me: PartyId, party: PartyId) -> bool {
    (owner == me) != (party == me)
}

/// Rows whose columns agree in bit 0, as all blocks of one share do.
fn whole(rows: RowShares) -> Result<RowShares> {
    let first = rows.column(PartyId(0));
    let differ = |column: &[Block]| column.iter().zip(first).fold(false, |any, (a, b)| any | (a.lsb() != b.lsb()));
    if rows.columns().fold(false, |any, column| any | differ(column)) {
        return Err(FORM.damaged("a share is not the same towards all"));
    }
    Ok(rows)
}

/// Makes batches, one after another, all under one dealer's keys.
pub struct RowMaker<'a> {
    dealer: Box<dyn RowDealer + 'a>,
    /// Triples that are left over, and how many of them are used up.
    left: (RowTriples, usize),
}

impl<'a> RowMaker<'a> {
    /// Batches of this dealer's material.
    pub fn new(dealer: Box<dyn RowDealer + 'a>) -> RowMaker<'a> {
        let none = RowTriples::blank(dealer.me(), dealer.parties(), 0);
        RowMaker { dealer, left: (none, 0) }
    }

    /// The next batch. All parties make it at once, with the same amounts.
    ///
    /// # Errors
    /// Those of the dealer.
    pub fn make(&mut self, net: &mut Mesh<'_>, amounts: &RowAmounts) -> Result<RowBatch> {
        let mut triples = RowTriples::blank(self.dealer.me(), amounts.parties, amounts.triples);
        let mut at = 0;
        while at < amounts.triples {
            let (left, used) = &mut self.left;
            if *used == left.len() {
                (*left, *used) = (self.dealer.deal(net, amounts.triples - at)?, 0);
            }
            let now = (left.len() - *used).min(amounts.triples - at);
            triples.copy_from(at, left, *used..*used + now);
            *used += now;
            at += now;
        }
        let masks = self.dealer.masks(net, amounts.masks)?.into_iter().map(Unused::from).collect();
        let shares = self.dealer.shares(net, amounts.shares)?.into();
        let (key, seeds) = (self.dealer.key().clone(), self.dealer.seeds().clone());
        Ok(RowBatch { key, seeds, triples, masks, shares })
    }
}

/// A dealer of the batches of one stored lot. It sends nothing.
pub struct RowsFromShelf<'s> {
    shelf: &'s mut dyn Shelf,
    amounts: RowAmounts,
    me: PartyId,
    key: GlobalKey,
    seeds: PairSeeds,
    /// Batches that are not used up.
    open: VecDeque<RowBatch>,
}

impl<'s> RowsFromShelf<'s> {
    /// Deals from this shelf, whose batches belong to party `me` and hold these amounts.
    ///
    /// # Errors
    /// Those of the shelf; [`InvalidInput`](comity_core::Kind) if it has no batch.
    pub fn new(shelf: &'s mut dyn Shelf, me: PartyId, amounts: RowAmounts) -> Result<RowsFromShelf<'s>> {
        let first = RowBatch::read(&mut *next_batch(shelf)?, me, &amounts)?;
        let (key, seeds) = (first.key.clone(), first.seeds.clone());
        Ok(RowsFromShelf { shelf, amounts, me, key, seeds, open: VecDeque::from([first]) })
    }

    /// Opens one more batch.
    fn more(&mut self) -> Result<()> {
        let next = RowBatch::read(&mut *next_batch(self.shelf)?, self.me, &self.amounts)?;
        if next.key.block() != self.key.block() || !next.seeds.iter().eq(self.seeds.iter()) {
            return Err(FORM.damaged("its batches are not of one lot"));
        }
        self.open.retain(|batch| !batch.is_empty());
        self.open.push_back(next);
        Ok(())
    }

    /// Bits of one kind from the batches. More batches are opened as needed.
    fn draw(&mut self, bits: usize, of: impl Fn(&mut RowBatch) -> &mut Unused) -> Result<RowShares> {
        let mut out = RowShares::zeros(self.me, self.amounts.parties, bits);
        let mut at = 0;
        loop {
            for batch in &mut self.open {
                at += of(batch).take(at, &mut out);
            }
            if at == bits {
                return Ok(out);
            }
            self.more()?;
        }
    }
}

impl RowDealer for RowsFromShelf<'_> {
    fn me(&self) -> PartyId {
        self.me
    }

    fn parties(&self) -> u16 {
        self.amounts.parties
    }

    fn key(&self) -> &GlobalKey {
        &self.key
    }

    fn seeds(&self) -> &PairSeeds {
        &self.seeds
    }

    fn shares(&mut self, _: &mut Mesh<'_>, bits: usize) -> Result<RowShares> {
        self.draw(bits, |batch| &mut batch.shares)
    }

    fn masks(&mut self, _: &mut Mesh<'_>, bits: usize) -> Result<Vec<RowShares>> {
        (0..usize::from(self.amounts.parties)).map(|owner| self.draw(bits, |batch| &mut batch.masks[owner])).collect()
    }
}

impl Dealer for RowsFromShelf<'_> {
    type Batch = RowTriples;

    /// Triples from the fewest batches that have enough. A batch is opened only when it is wanted, so a run
    /// that breaks off loses few.
    fn deal(&mut self, _: &mut Mesh<'_>, at_least: usize) -> Result<RowTriples> {
        let there = |open: &VecDeque<RowBatch>| open.iter().map(|batch| batch.triples.len()).sum::<usize>();
        while there(&self.open) < at_least {
            self.more()?;
        }
        let mut triples = RowTriples::blank(self.me, self.amounts.parties, there(&self.open));
        let mut at = 0;
        for batch in &mut self.open {
            let some = std::mem::replace(&mut batch.triples, RowTriples::blank(self.me, self.amounts.parties, 0));
            triples.copy_from(at, &some, 0..some.len());
            at += some.len();
        }
        Ok(triples)
    }

    fn check_begins(&mut self) -> Result<()> {
        self.shelf.check_begins()
    }

    fn check_passed(&mut self) -> Result<()> {
        self.shelf.check_passed()
    }
}
