//! Material made ahead and kept: batches of masks, shares and triples as bytes, and a dealer that deals from them.
//!
//! A [`StoredBatch`] is what one party holds of a batch, under that party's global key. All batches of a lot
//! are made by one dealer, under the same keys. Both parties make them together, batch by batch, in the same
//! amounts, and use them in the same order.
//!
//! **Once.** A batch is used in one run: [`StoredBatch::write`] and dealing consume it. The store
//! ([`Shelf`]) has to make sure that no batch is read twice (two ANDs on one triple tell the peer the difference of
//! the inputs), that both sides use the same batches, and that nothing is used under keys for which a check
//! failed or had no verdict. The bytes are as secret as the inputs: the store encrypts and authenticates
//! them.
//!
//! **Size**: 96 bytes a triple, 32 a share, 16 a mask, and 33.

use std::collections::VecDeque;
use std::io::{Read, Write};

use comity_channel::{Channel, Mesh};
use comity_core::{Block, Error, PartyId, Result};
use comity_protocol::{BatchForm, Dealer, Shelf};
use comity_share::{AuthBits, GlobalKey, Share};
use zeroize::{Zeroize, Zeroizing};

use crate::deal::TripleDealer;
use crate::triples::{Checked, Triple, Triples};

/// The form of a batch of two parties.
const FORM: BatchForm = BatchForm { magic: b"comity tinyot 1\n", name: SHARES };

/// The name of a batch of shares in errors, of two parties or more.
pub(crate) const SHARES: &str = "a batch of shares";

/// The amounts of each kind in a batch.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Amounts {
    /// Triples: one for each AND.
    pub triples: usize,
    /// Input masks of party 0 and of party 1: one for each bit that the party puts in.
    pub masks: [usize; 2],
    /// Random shared bits.
    pub shares: usize,
}

impl Amounts {
    /// Bytes of a batch with these amounts, at either party.
    pub fn bytes(&self) -> u64 {
        let items = [(self.triples, size_of::<Triple>()), (self.masks[0], 16), (self.masks[1], 16), (self.shares, 32)];
        (BatchForm::BEGINNING + 1 + Block::BYTES) as u64
            + items.iter().map(|&(count, size)| count as u64 * size as u64).sum::<u64>()
    }
}

/// A batch of material, at one party.
pub struct StoredBatch {
    party: PartyId,
    key: GlobalKey,
    triples: Triples<Checked>,
    masks: [Pool; 2],
    shares: Pool,
}

/// Shares to be used once. Wiped on drop.
struct Pool(Vec<Share>);

impl Pool {
    /// Moves shares to the front of `out`, until it is full or none is left, and returns their number.
    fn take(&mut self, out: &mut [Share]) -> usize {
        let count = self.0.len().min(out.len());
        let rest = self.0.len() - count;
        out[..count].copy_from_slice(&self.0[rest..]);
        self.0[rest..].zeroize();
        self.0.truncate(rest);
        count
    }
}

impl Drop for Pool {
    fn drop(&mut self) {
        self.0.zeroize();
    }
}

impl StoredBatch {
    /// Reads a batch of party `party` with these amounts, and nothing after it.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if these are not the bytes of such a batch.
    pub fn read(from: &mut dyn Read, party: PartyId, amounts: &Amounts) -> Result<StoredBatch> {
        FORM.begins(from)?;
        let mut of = [0];
        FORM.take(from, &mut of)?;
        if u16::from(of[0]) != party.0 {
            return Err(FORM.damaged(format!("it is not one of party {party}")));
        }
        let mut delta = Zeroizing::new([0; Block::BYTES]);
        FORM.take(from, &mut *delta)?;
        let key =
            GlobalKey::new(Block::new(*delta)).filter(|key| key.block().to_u128() >> 1 & 1 == u128::from(party.0));
        let key = key.ok_or_else(|| FORM.damaged("its global key has not the last bits that this party's have"))?;
        let mut triples = Triples::blank(amounts.triples);
        FORM.take(from, bytemuck::cast_slice_mut(triples.as_mut_slice()))?;
        let mut masks = [0, 1].map(|owner: usize| Pool(vec![Share::default(); amounts.masks[owner]]));
        let mut block = Zeroizing::new([0; Block::BYTES]);
        for (owner, pool) in (0..).zip(&mut masks) {
            for mask in &mut pool.0 {
                FORM.take(from, &mut *block)?;
                let block = Block::new(*block);
                *mask =
                    if PartyId(owner) == party { Share::own(block.lsb(), block) } else { whole(Block::ZERO, block)? };
            }
        }
        let mut shares = Pool(vec![Share::default(); amounts.shares]);
        FORM.take(from, Share::bytes_of_mut(&mut shares.0))?;
        let all = bytemuck::cast_slice::<Triple, Share>(triples.as_mut_slice()).iter().chain(&shares.0);
        for share in all {
            whole(share.mac(), share.key())?;
        }
        FORM.ends(from)?;
        Ok(StoredBatch { party, key, triples: triples.vouch(), masks, shares })
    }

    /// Writes the batch, which is consumed: only a reader of the bytes has it then.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind).
    pub fn write(mut self, to: &mut dyn Write) -> Result<()> {
        FORM.begin(to)?;
        let mut put = |bytes: &[u8]| FORM.put(to, bytes);
        put(&[self.party.0 as u8])?;
        put(&Zeroizing::new(self.key.block().to_bytes())[..])?;
        put(bytemuck::cast_slice(self.triples.take(usize::MAX)))?;
        for (owner, pool) in (0..).zip(&self.masks) {
            for mask in &pool.0 {
                let block = if PartyId(owner) == self.party { mask.mac() } else { mask.key() };
                put(Block::bytes_of(&[block]))?;
            }
        }
        put(Share::bytes_of(&self.shares.0))
    }
}

/// A share whose blocks are as a share's blocks are.
fn whole(mac: Block, key: Block) -> Result<Share> {
    if key.lsb() {
        Err(FORM.damaged("the key of a share does not end in a zero bit"))
    } else {
        Ok(Share::from_parts(mac, key))
    }
}

/// Makes batches, one after another, all under one dealer's keys.
pub struct Maker<'a> {
    dealer: Box<dyn TripleDealer + 'a>,
    left: Triples<Checked>,
}

impl<'a> Maker<'a> {
    /// Batches of this dealer's material.
    pub fn new(dealer: Box<dyn TripleDealer + 'a>) -> Maker<'a> {
        Maker { dealer, left: Triples::none() }
    }

    /// The next batch. Both parties make it at once, with the same amounts.
    ///
    /// # Errors
    /// Those of the dealer.
    pub fn make(&mut self, ch: &mut dyn Channel, amounts: &Amounts) -> Result<StoredBatch> {
        let mut triples = Triples::blank(amounts.triples);
        let mut at = 0;
        while at < amounts.triples {
            if self.left.is_empty() {
                self.left = self.dealer.triples(ch, amounts.triples - at)?;
            }
            let now = self.left.take(amounts.triples - at);
            triples.as_mut_slice()[at..at + now.len()].copy_from_slice(now);
            at += now.len();
        }
        let mut masks = [0, 1].map(|owner: usize| Pool(vec![Share::default(); amounts.masks[owner]]));
        for (owner, pool) in (0..).zip(&mut masks) {
            if !pool.0.is_empty() {
                self.dealer.bits(ch, PartyId(owner), &mut pool.0)?;
            }
        }
        let mut shares = Pool(vec![Share::default(); amounts.shares]);
        if !shares.0.is_empty() {
            self.dealer.shares(ch, &mut shares.0)?;
        }
        let (party, key) = (self.dealer.party(), self.dealer.key().clone());
        Ok(StoredBatch { party, key, triples: triples.vouch(), masks, shares })
    }
}

/// A dealer of the batches of one stored lot. It sends nothing.
pub struct FromShelf<'s> {
    shelf: &'s mut dyn Shelf,
    amounts: Amounts,
    party: PartyId,
    key: GlobalKey,
    /// Batches that are not used up.
    open: VecDeque<StoredBatch>,
}

impl<'s> FromShelf<'s> {
    /// Deals from this shelf, whose batches belong to party `party` and hold these amounts.
    ///
    /// # Errors
    /// Those of the shelf; [`InvalidInput`](comity_core::Kind) if it has no batch.
    pub fn new(shelf: &'s mut dyn Shelf, party: PartyId, amounts: Amounts) -> Result<FromShelf<'s>> {
        let first = StoredBatch::read(&mut *next_batch(shelf)?, party, &amounts)?;
        Ok(FromShelf { shelf, amounts, party, key: first.key.clone(), open: VecDeque::from([first]) })
    }

    /// Opens one more batch.
    fn more(&mut self) -> Result<()> {
        let next = StoredBatch::read(&mut *next_batch(self.shelf)?, self.party, &self.amounts)?;
        if next.key.block() != self.key.block() {
            return Err(FORM.damaged("its batches are not of one lot"));
        }
        self.open.retain(|batch| {
            !(batch.triples.is_empty()
                && batch.shares.0.is_empty()
                && batch.masks.iter().all(|masks| masks.0.is_empty()))
        });
        self.open.push_back(next);
        Ok(())
    }

    /// Fills `out` from one pool of the batches, opening more as needed.
    fn draw(&mut self, mut out: &mut [Share], pool: impl Fn(&mut StoredBatch) -> &mut Pool) -> Result<()> {
        loop {
            for batch in &mut self.open {
                let count = pool(batch).take(out);
                out = &mut out[count..];
            }
            if out.is_empty() {
                return Ok(());
            }
            self.more()?;
        }
    }
}

/// The next batch of a shelf, which from now on counts as used.
pub(crate) fn next_batch(shelf: &mut dyn Shelf) -> Result<Box<dyn Read + Send + '_>> {
    shelf.take()?.ok_or_else(|| {
        Error::invalid_input(
            "no batch of shares is left: prepare more together with the other parties, or run without a store",
        )
    })
}

impl AuthBits for FromShelf<'_> {
    fn party(&self) -> PartyId {
        self.party
    }

    fn key(&self) -> &GlobalKey {
        &self.key
    }

    fn shares(&mut self, _: &mut dyn Channel, out: &mut [Share]) -> Result<()> {
        self.draw(out, |batch| &mut batch.shares)
    }

    fn bits(&mut self, _: &mut dyn Channel, owner: PartyId, out: &mut [Share]) -> Result<()> {
        self.draw(out, |batch| &mut batch.masks[usize::from(owner.0) & 1])
    }
}

impl Dealer for FromShelf<'_> {
    type Batch = Triples<Checked>;

    /// The triples of the first batch that has some: batches are opened one at a time, so that few are lost
    /// with a run that breaks off.
    fn deal(&mut self, _: &mut Mesh<'_>, _: usize) -> Result<Triples<Checked>> {
        loop {
            if let Some(batch) = self.open.iter_mut().find(|batch| !batch.triples.is_empty()) {
                return Ok(std::mem::replace(&mut batch.triples, Triples::none()));
            }
            self.more()?;
        }
    }

    fn check_begins(&mut self) -> Result<()> {
        self.shelf.check_begins()
    }

    fn check_passed(&mut self) -> Result<()> {
        self.shelf.check_passed()
    }
}
