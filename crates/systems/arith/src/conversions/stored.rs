//! OTs that were made ahead: their batches, and a way that takes them.
//!
//! The receiver of such an OT has a random bit c and the block `q + c delta`, the sender has q and delta. For
//! its bit b the receiver tells `b + c`, and to `q + (b + c) delta`, which the sender goes on with, the
//! receiver's block is that of b (Beaver, Precomputing Oblivious Transfer, Crypto 1995; since all have one
//! correlation, nothing is sent back). That is a bit for an OT, where an extension sends four bytes or more.
//!
//! A lot has one delta for each way. In every run on the lot that of party 0 is the garbling's, unless there are
//! adders that were garbled ahead: what it is hashed with is never the same twice, since an OT is used once, and the
//! keys of gates follow from the run's session.

use std::io::{Read, Write};

use comity_channel::Channel;
use comity_core::{Bits, Block, CrHash, Delta, Error, PartyId, Result, SessionId};
use comity_ot::base::BaseOt;
use comity_ot::{AtLeast, SemiHonest};
use comity_protocol::{BatchForm, Here, Party, Shelf};
use comity_share::triples::OtKind;
use zeroize::Zeroizing;

use super::ways::{Receives, Sends, Way, hash_messages, hash_pairs};

/// OTs in a stored batch: 264 kB.
pub(crate) const OT_BATCH: usize = 1 << 14;

/// The stored OTs, by who sends them.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtMaterial {
    /// For labels, words of bits, and half of each choice.
    First,
    /// For the other half of choices.
    Second,
}

const FORM: BatchForm = BatchForm { magic: b"comity word OT 1", name: "a batch of OTs for conversions" };

/// What is wrong with a delta whose lowest bit, the difference of two permute bits, is zero.
pub(super) const EVEN: &str = "its delta does not tell the labels of a wire apart";

impl OtMaterial {
    /// Both.
    pub const ALL: [OtMaterial; 2] = [OtMaterial::First, OtMaterial::Second];

    /// The material's name.
    pub const fn name(self) -> &'static str {
        match self {
            OtMaterial::First => "OTs from party 0",
            OtMaterial::Second => "OTs from party 1",
        }
    }

    fn sender(self) -> PartyId {
        PartyId(self as u16)
    }

    /// The bytes of a batch at its receiver, whose part is the larger one.
    pub(crate) fn batch_bytes(self) -> u64 {
        (BatchForm::BEGINNING + 2 + SessionId::BYTES + OT_BATCH / 8 + OT_BATCH * Block::BYTES) as u64
    }

    /// Reads party `me`'s part of a batch of `n` OTs. The reader has nothing else.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind) if these are not the bytes of such a batch.
    pub fn read(self, from: &mut dyn Read, me: PartyId, n: usize) -> Result<OtBatch> {
        let (mut of, mut lot) = ([0; 2], [0; SessionId::BYTES]);
        FORM.begins(from)?;
        FORM.take(from, &mut of)?;
        FORM.take(from, &mut lot)?;
        if of != [me.0 as u8, self as u8] {
            return Err(FORM.damaged(format_args!("it is not party {me}'s of {}", self.name())));
        }
        let part = if self.sender() == me {
            let mut delta = Zeroizing::new(Block::ZERO);
            FORM.take_blocks(from, core::slice::from_mut(&mut *delta))?;
            if !delta.lsb() {
                return Err(FORM.damaged(EVEN));
            }
            Part::Sender(delta)
        } else {
            Part::Receiver(FORM.take_bits(from, n)?)
        };
        let mut blocks = Zeroizing::new(vec![Block::ZERO; n]);
        FORM.take_blocks(from, &mut blocks)?;
        FORM.ends(from)?;
        Ok(OtBatch { material: self, lot: SessionId::new(lot), part, blocks })
    }
}

/// A batch of OTs, as one party has it.
pub struct OtBatch {
    material: OtMaterial,
    /// The lot's session.
    lot: SessionId,
    part: Part,
    blocks: Zeroizing<Vec<Block>>,
}

/// What else a party has: delta, or the choice bits.
enum Part {
    Sender(Zeroizing<Block>),
    Receiver(Bits),
}

impl OtBatch {
    /// Writes the batch: the party's and the sender's number, the lot, delta or the choice bits, and a block for each
    /// OT. A reader of the bytes can use the OTs.
    ///
    /// # Errors
    /// [`Store`](comity_core::Kind).
    pub fn write(&self, to: &mut dyn Write) -> Result<()> {
        let me = match self.part {
            Part::Sender(_) => self.material as u8,
            Part::Receiver(_) => 1 - self.material as u8,
        };
        FORM.begin(to)?;
        FORM.put(to, &[me, self.material as u8])?;
        FORM.put(to, &self.lot.to_bytes())?;
        match &self.part {
            Part::Sender(delta) => FORM.put_blocks(to, core::slice::from_ref(&**delta))?,
            Part::Receiver(choices) => FORM.put_bits(to, choices)?,
        }
        FORM.put_blocks(to, &self.blocks)
    }
}

/// Makes batches of OTs, for random choice bits.
pub(crate) struct OtMaker {
    material: OtMaterial,
    delta: Delta,
    way: Way<'static>,
}

impl OtMaker {
    /// Draws a delta and runs base OTs. The session of the party is that of the lot.
    ///
    /// # Errors
    /// Errors of the base OTs and of the channel.
    pub(crate) fn setup<B: BaseOt<Model: AtLeast<SemiHonest>>>(
        me: &mut Party<'_, '_>,
        material: OtMaterial,
        extension: OtKind,
    ) -> Result<OtMaker> {
        let delta = Delta::new(Block::random(me.rng));
        let way = Way::setup::<B>(me, material.sender(), extension, delta.block())?;
        Ok(OtMaker { material, delta, way })
    }

    /// Makes a batch and writes this party's part.
    ///
    /// # Errors
    /// Errors of the OTs and of the channel; [`Store`](comity_core::Kind).
    pub(crate) fn write(&mut self, me: &mut Party<'_, '_>, to: &mut dyn Write) -> Result<()> {
        let (ch, here, rng, _) = me.pair()?;
        let mut blocks = Zeroizing::new(vec![Block::ZERO; OT_BATCH]);
        let part = match &mut self.way {
            Way::Out(sender) => {
                sender.labels(ch, &mut blocks)?;
                Part::Sender(Zeroizing::new(self.delta.block()))
            }
            Way::In(receiver) => {
                let mut drawn = Zeroizing::new(vec![0; OT_BATCH / 8]);
                rng.fill_bytes(&mut drawn);
                let choices = Bits::from_bytes(&drawn, OT_BATCH);
                receiver.labels(ch, &choices, &mut blocks)?;
                Part::Receiver(choices)
            }
        };
        ch.flush()?;
        OtBatch { material: self.material, lot: here.session, part, blocks }.write(to)
    }
}

/// The OTs of a shelf, as one party has them.
pub(super) struct Stored<'s> {
    shelf: &'s mut dyn Shelf,
    material: OtMaterial,
    me: PartyId,
    hash: CrHash,
    /// The lot's session.
    lot: Option<SessionId>,
    /// At the sender.
    delta: Zeroizing<Block>,
    /// The batch under way, its choice bits at the receiver, and how many of its OTs were taken.
    blocks: Zeroizing<Vec<Block>>,
    choices: Bits,
    taken: usize,
}

impl<'s> Stored<'s> {
    /// Takes the first batch.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there is none; [`Store`](comity_core::Kind) if it is damaged.
    pub(super) fn open(shelf: &'s mut dyn Shelf, material: OtMaterial, here: &Here) -> Result<Stored<'s>> {
        let (delta, choices) = Default::default();
        let blocks = Zeroizing::new(vec![Block::ZERO; OT_BATCH]);
        let hash = CrHash::new(here.backend);
        let mut stored = Stored { shelf, material, me: here.me, hash, lot: None, delta, blocks, choices, taken: 0 };
        stored.next()?;
        Ok(stored)
    }

    fn sends(&self) -> bool {
        self.material.sender() == self.me
    }

    /// The correlation, if this party sends.
    pub(super) fn delta(&self) -> Option<Block> {
        self.sends().then_some(*self.delta)
    }

    pub(super) fn way(self) -> Way<'s> {
        if self.sends() { Way::Out(Box::new(self)) } else { Way::In(Box::new(self)) }
    }

    /// Reads the next batch.
    fn next(&mut self) -> Result<()> {
        let Some(mut batch) = self.shelf.take()? else {
            return Err(Error::invalid_input(format!(
                "no batch of {} is left: prepare more together with the other party, or run without a store",
                self.material.name()
            )));
        };
        let batch = self.material.read(&mut batch, self.me, OT_BATCH)?;
        if self.lot.replace(batch.lot).is_some_and(|before| before != batch.lot) {
            return Err(FORM.damaged("it is of another lot than the one before it"));
        }
        match batch.part {
            Part::Sender(delta) => self.delta = delta,
            Part::Receiver(choices) => self.choices = choices,
        }
        (self.blocks, self.taken) = (batch.blocks, 0);
        Ok(())
    }

    /// Uses up an OT for each block of `out`. Returns their choice bits, at the receiver.
    fn take(&mut self, out: &mut [Block]) -> Result<Bits> {
        let (mut choices, mut filled) = (Bits::default(), 0);
        while filled < out.len() {
            if self.taken == OT_BATCH {
                self.next()?;
            }
            let count = (OT_BATCH - self.taken).min(out.len() - filled);
            out[filled..][..count].copy_from_slice(&self.blocks[self.taken..][..count]);
            if !self.sends() {
                choices.extend_from(&self.choices.slice(self.taken, count));
            }
            self.taken += count;
            filled += count;
        }
        Ok(choices)
    }
}

impl Sends for Stored<'_> {
    fn labels(&mut self, ch: &mut dyn Channel, zeros: &mut [Block]) -> Result<()> {
        self.take(zeros)?;
        let mut told = vec![0; zeros.len().div_ceil(8)];
        ch.recv(&mut told)?;
        let told = Bits::from_bytes(&told, zeros.len());
        zeros.iter_mut().zip(told.iter()).for_each(|(zero, bit)| *zero ^= self.delta.masked(bit));
        Ok(())
    }

    fn pairs(&mut self, ch: &mut dyn Channel, n: usize, each: &mut dyn FnMut(&[[Block; 2]])) -> Result<()> {
        let mut zeros = Zeroizing::new(vec![Block::ZERO; n]);
        Sends::labels(self, ch, &mut zeros)?;
        hash_pairs(&self.hash, *self.delta, &zeros, each);
        Ok(())
    }
}

impl Receives for Stored<'_> {
    fn labels(&mut self, ch: &mut dyn Channel, choices: &Bits, active: &mut [Block]) -> Result<()> {
        if choices.len() != active.len() {
            return Err(Error::invalid_input(format!("{} choice bits for {} OTs", choices.len(), active.len())));
        }
        let mut told = self.take(active)?;
        told.xor_assign(choices);
        ch.send(&told.to_bytes())?;
        ch.flush()
    }

    fn messages(&mut self, ch: &mut dyn Channel, choices: &Bits, each: &mut dyn FnMut(&[Block])) -> Result<()> {
        let mut messages = Zeroizing::new(vec![Block::ZERO; choices.len()]);
        Receives::labels(self, ch, choices, &mut messages)?;
        hash_messages(&self.hash, &mut messages, each);
        Ok(())
    }
}

#[cfg(test)]
mod tests;
