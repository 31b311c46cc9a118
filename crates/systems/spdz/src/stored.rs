//! Material made ahead and kept: batches of triples in GF(2^128), of bits and of elements, and a source that
//! gives them out.
//!
//! A [`FieldBatch`] is what one party holds of a batch, under the MAC key that all batches of a lot have. All
//! parties make them together, in the same amounts, and use them in the same order.
//!
//! **Once.** Writing and dealing consume a batch, and a [`Shelf`] gives out each once: all parties count it
//! as used before one of them reads it. **Key.** A check that begins and does not pass, whatever the reason,
//! ends the key, and with it every batch of the lot: the source notes on its shelf that a check begins, and
//! that it has passed.
//!
//! **Size** among n: 96 bytes a triple, 32 a bit that nobody knows, 32 n a bit or an element of each party.

use core::ops::Range;
use std::collections::VecDeque;
use std::io::{Read, Write};

use comity_channel::Mesh;
use comity_core::{Bits, Block, Error, PartyId, Result};
use comity_field_shares::{ByOwner, FieldBits, FieldTriple, FieldTriples, MacKey, SumShare, SumShares};
use comity_protocol::{BatchForm, Dealer, Shelf};
use zeroize::Zeroizing;

use crate::source::{FieldSource, too_little};

/// The form of a batch's bytes.
const FORM: BatchForm = BatchForm { magic: b"comity field 2\n\0", name: "a batch of field material" };

/// How much a batch holds.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct FieldAmounts {
    /// Parties.
    pub parties: u16,
    /// Triples: one for each product.
    pub triples: usize,
    /// Bits that nobody knows.
    pub shares: usize,
    /// Bits of each party alone, a multiple of eight.
    pub masks: usize,
    /// Elements of each party alone.
    pub elements: usize,
}

impl FieldAmounts {
    /// The bytes of a batch of these amounts, at any party.
    pub fn bytes(&self) -> u64 {
        let own = self.masks + self.elements;
        let blocks = 1 + 6 * self.triples + 2 * self.shares + 2 * usize::from(self.parties) * own + self.elements;
        (BatchForm::BEGINNING + 4 + Block::BYTES * blocks + self.masks / 8) as u64
    }
}

/// A batch of material, at one party.
pub struct FieldBatch {
    me: PartyId,
    key: MacKey<Block>,
    triples: FieldTriples<Block>,
    bits: FieldBits<Block>,
    elements: ByOwner<Block>,
    /// This party's own elements.
    own: Zeroizing<Vec<Block>>,
}

impl FieldBatch {
    /// The next batch of a source. All parties make it at once, and of the same amounts.
    ///
    /// # Errors
    /// Those of the source.
    pub fn make(source: &mut dyn FieldSource<Block>, net: &mut Mesh<'_>, amounts: &FieldAmounts) -> Result<FieldBatch> {
        let mut triples = FieldTriples::new(Vec::with_capacity(amounts.triples));
        while triples.len() < amounts.triples {
            let more = source.deal(net, amounts.triples - triples.len())?;
            if more.is_empty() || more.len() > amounts.triples - triples.len() {
                return Err(too_little());
            }
            triples.extend_from_slice(&more);
        }
        let bits = source.bits(net, amounts.shares, amounts.masks)?;
        let (elements, own) = source.elements(net, amounts.elements)?;
        Ok(FieldBatch { me: net.me(), key: source.key().clone(), triples, bits, elements, own })
    }

    /// Reads a batch of party `me`, of these amounts, up to the end of the reader.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if these are not the bytes of such a batch.
    pub fn read(from: &mut dyn Read, me: PartyId, amounts: &FieldAmounts) -> Result<FieldBatch> {
        let FieldAmounts { parties, triples, shares, masks, elements } = *amounts;
        FORM.begins(from)?;
        let mut of = [0; 4];
        FORM.take(from, &mut of)?;
        if of != owner(me, parties) {
            return Err(FORM.damaged(format_args!("it is not one of party {me} among {parties}")));
        }
        let key = MacKey::new(blocks(from, 1)?[0]);
        let triples = read_shares(from, 3 * triples)?;
        let triples = triples.chunks_exact(3).map(|abc| FieldTriple { a: abc[0], b: abc[1], c: abc[2] });
        let triples = Zeroizing::new(triples.collect());
        let shared = read_shares(from, shares)?;
        let of_each = |from: &mut dyn Read, n: usize| (0..parties).map(|_| read_shares(from, n)).collect::<Result<_>>();
        let masks_of_each = of_each(from, masks)?;
        let elements_of_each = of_each(from, elements)?;
        let own = blocks(from, elements)?;
        let own_bits = FORM.take_bits(from, masks)?;
        FORM.ends(from)?;
        let bits = FieldBits { shared, masks: masks_of_each, own: own_bits };
        Ok(FieldBatch { me, key, triples, bits, elements: elements_of_each, own })
    }

    /// Writes the batch, for one use by its reader.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind).
    pub fn write(self, to: &mut dyn Write) -> Result<()> {
        FORM.begin(to)?;
        FORM.put(to, &owner(self.me, self.bits.masks.len() as u16))?;
        FORM.put_blocks(to, &[self.key.element()])?;
        let triples = self.triples.iter().flat_map(|triple| [&triple.a, &triple.b, &triple.c]);
        let of_each = self.bits.masks.iter().chain(&self.elements).flat_map(|shares| shares.iter());
        for share in triples.chain(self.bits.shared.iter()).chain(of_each) {
            FORM.put_blocks(to, &[share.value, share.mac])?;
        }
        FORM.put_blocks(to, &self.own)?;
        FORM.put_bits(to, &self.bits.own)
    }
}

/// The number of parties, and whose a batch is.
fn owner(me: PartyId, parties: u16) -> [u8; 4] {
    let [[a, b], [c, d]] = [parties, me.0].map(u16::to_le_bytes);
    [a, b, c, d]
}

fn blocks(from: &mut dyn Read, n: usize) -> Result<Zeroizing<Vec<Block>>> {
    let mut blocks = Zeroizing::new(vec![Block::ZERO; n]);
    FORM.take_blocks(from, &mut blocks)?;
    Ok(blocks)
}

fn read_shares(from: &mut dyn Read, n: usize) -> Result<SumShares<Block>> {
    let blocks = blocks(from, 2 * n)?;
    Ok(Zeroizing::new(blocks.chunks_exact(2).map(|pair| SumShare { value: pair[0], mac: pair[1] }).collect()))
}

/// A source of stored batches: those of one lot. It sends nothing.
pub struct FieldsFromShelf<'s> {
    shelf: &'s mut dyn Shelf,
    amounts: FieldAmounts,
    me: PartyId,
    key: MacKey<Block>,
    /// Batches of which some is left.
    open: VecDeque<OpenBatch>,
}

/// A batch of which some is used up.
struct OpenBatch {
    batch: FieldBatch,
    /// What is left of its bits that nobody knows, of its bits of each party, and of its elements.
    left: [Range<usize>; 3],
}

/// The kinds of what is left.
const SHARES: usize = 0;
const MASKS: usize = 1;
const ELEMENTS: usize = 2;

impl<'s> FieldsFromShelf<'s> {
    /// A source that gives out this shelf's batches, of party `me` and of these amounts.
    ///
    /// # Errors
    /// Those of the shelf; [`InvalidInput`](comity_core::Kind) if it has no batch.
    pub fn new(shelf: &'s mut dyn Shelf, me: PartyId, amounts: FieldAmounts) -> Result<FieldsFromShelf<'s>> {
        let (key, open) = (MacKey::new(Block::ZERO), VecDeque::new());
        let mut source = FieldsFromShelf { shelf, amounts, me, key, open };
        let first = source.next()?;
        source.key = first.key.clone();
        source.put(first);
        Ok(source)
    }

    fn next(&mut self) -> Result<FieldBatch> {
        let mut batch = self.shelf.take()?.ok_or_else(|| {
            Error::invalid_input(
                "no batch of field material is left: prepare more together with the other parties, or run without a store",
            )
        })?;
        FieldBatch::read(&mut *batch, self.me, &self.amounts)
    }

    fn put(&mut self, batch: FieldBatch) {
        let FieldAmounts { shares, masks, elements, .. } = self.amounts;
        self.open.retain(|open| !open.batch.triples.is_empty() || open.left.iter().any(|left| !left.is_empty()));
        self.open.push_back(OpenBatch { batch, left: [0..shares, 0..masks, 0..elements] });
    }

    /// Opens one more batch.
    fn more(&mut self) -> Result<()> {
        let next = self.next()?;
        if next.key.element() != self.key.element() {
            return Err(FORM.damaged("it is not of one lot with those before"));
        }
        self.put(next);
        Ok(())
    }

    /// Uses up `n` units of a kind: first of the batches that are open, then of further ones.
    fn draw(&mut self, kind: usize, n: usize, mut give: impl FnMut(&FieldBatch, Range<usize>)) -> Result<()> {
        let mut missing = n;
        loop {
            for OpenBatch { batch, left } in &mut self.open {
                let now = missing.min(left[kind].len());
                give(batch, left[kind].start..left[kind].start + now);
                left[kind].start += now;
                missing -= now;
            }
            if missing == 0 {
                return Ok(());
            }
            self.more()?;
        }
    }
}

impl Dealer for FieldsFromShelf<'_> {
    type Batch = FieldTriples<Block>;

    /// The triples of one batch. A batch is opened only when it is needed, so that a run that breaks off
    /// wastes few.
    fn deal(&mut self, _: &mut Mesh<'_>, _: usize) -> Result<FieldTriples<Block>> {
        loop {
            let some = self.open.iter_mut().find(|open| !open.batch.triples.is_empty());
            if let Some(open) = some {
                return Ok(core::mem::take(&mut open.batch.triples));
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

impl FieldSource<Block> for FieldsFromShelf<'_> {
    fn key(&self) -> &MacKey<Block> {
        &self.key
    }

    fn bits(&mut self, _: &mut Mesh<'_>, shared: usize, masks: usize) -> Result<FieldBits<Block>> {
        let mut bits = FieldBits {
            shared: Zeroizing::new(Vec::with_capacity(shared)),
            masks: (0..self.amounts.parties).map(|_| Zeroizing::new(Vec::with_capacity(masks))).collect(),
            own: Bits::default(),
        };
        self.draw(SHARES, shared, |batch, some| bits.shared.extend_from_slice(&batch.bits.shared[some]))?;
        self.draw(MASKS, masks, |batch, some| {
            for (all, shares) in bits.masks.iter_mut().zip(&batch.bits.masks) {
                all.extend_from_slice(&shares[some.clone()]);
            }
            bits.own.extend_from(&batch.bits.own.slice(some.start, some.len()));
        })?;
        Ok(bits)
    }

    fn elements(&mut self, _: &mut Mesh<'_>, n: usize) -> Result<(ByOwner<Block>, Zeroizing<Vec<Block>>)> {
        let mut all: ByOwner<Block> =
            (0..self.amounts.parties).map(|_| Zeroizing::new(Vec::with_capacity(n))).collect();
        let mut own = Zeroizing::new(Vec::with_capacity(n));
        self.draw(ELEMENTS, n, |batch, some| {
            for (all, shares) in all.iter_mut().zip(&batch.elements) {
                all.extend_from_slice(&shares[some.clone()]);
            }
            own.extend_from_slice(&batch.own[some]);
        })?;
        Ok((all, own))
    }
}
