//! The sender of committing OT: sender of the extension.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Error, Result, SessionId};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use super::{BASE, DeltaOpening, GROUP, Pads, SHAPE, begin};
use crate::base::BaseOt;
use crate::cot::CotSender;
use crate::model::{AtLeast, Malicious};
use crate::seeds::ReceiverSeeds;
use crate::softspoken::{self, Trees, delta, puncture};

/// The sender: gives two messages an OT, and may open all of them.
pub struct Sender {
    extension: softspoken::Sender<Malicious>,
    /// The hash of all seeds that this side holds.
    seeds: [u8; 32],
    pads: Pads,
    /// The index of the next OT.
    next: u64,
    broken: bool,
}

impl Sender {
    /// Draws delta and runs the base OTs, as their receiver.
    ///
    /// `session` must serve this committing OT alone: two of them in one session each take a child of it.
    ///
    /// # Errors
    /// Errors of [`BaseOt::receive`], and [`InconsistentTree`](crate::checks::INCONSISTENT_TREE).
    pub fn setup<B: BaseOt<Model: AtLeast<Malicious>>>(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        rng: &mut dyn CryptoRng,
    ) -> Result<Sender> {
        let mut delta = Zeroizing::new([0; 16]);
        rng.fill_bytes(delta.as_mut());
        let seeds = B::receive(ch, &session.child(BASE), &Bits::from_bytes(delta.as_ref(), 128), rng)?;
        Sender::setup_from(ch, session, backend, seeds.weaken(), rng)
    }

    /// Receives the trees, over 128 random OTs that exist already, whose choice bits are random and become
    /// delta.
    ///
    /// # Errors
    /// Errors of the channel, and of [`Sender::new`].
    ///
    /// # Panics
    /// If there are not 128 OTs.
    pub fn setup_from(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        seeds: ReceiverSeeds<Malicious>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Sender> {
        let mut bytes = vec![0; Trees::len::<Malicious>(SHAPE)];
        ch.recv(&mut bytes)?;
        Sender::new(session, backend, seeds, &Trees::from_bytes::<Malicious>(&bytes, SHAPE.k)?, rng)
    }

    /// The sender from 128 random OTs, whose choice bits are random and become delta, and the receiver's message.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if the message is not for such trees, and
    /// [`InconsistentTree`](crate::checks::INCONSISTENT_TREE).
    ///
    /// # Panics
    /// If there are not 128 OTs.
    pub fn new(
        session: &SessionId,
        backend: Backend,
        seeds: ReceiverSeeds<Malicious>,
        trees: &Trees,
        rng: &mut dyn CryptoRng,
    ) -> Result<Sender> {
        let trees = Trees::from_bytes::<Malicious>(trees.as_bytes(), SHAPE.k)?;
        let forest = puncture(session, backend, SHAPE, &seeds, &trees)?;
        Ok(Sender {
            seeds: forest.digest(session),
            extension: softspoken::Sender::from_forest(session, backend, SHAPE, delta(&seeds), &forest, rng),
            pads: Pads::new(session),
            next: 0,
            broken: false,
        })
    }

    /// OTs of chosen messages, each `len` bytes long.
    ///
    /// # Errors
    /// Errors of the channel, [`InconsistentChoices`](crate::checks::INCONSISTENT_CHOICES), and
    /// [`InvalidInput`](comity_core::Kind) if a message has another length.
    pub fn send<T: AsRef<[u8]>>(&mut self, ch: &mut dyn Channel, len: usize, messages: &[[T; 2]]) -> Result<()> {
        if let Some(other) = messages.iter().flatten().find(|message| message.as_ref().len() != len) {
            let other = other.as_ref().len();
            return Err(Error::invalid_input(format!("a message of {other} bytes among messages of {len}")));
        }
        begin(&mut self.broken)?;
        let q = self.extend(ch, messages.len())?;
        let mut masked = Vec::with_capacity(2 * len * GROUP.min(messages.len()));
        for (messages, q) in messages.chunks(GROUP).zip(q.chunks(GROUP)) {
            // Whole before anything is seen: what is in here at the end of the group is on the wire.
            masked.clear();
            for (pair, q) in messages.iter().zip(q) {
                for (message, b) in pair.iter().zip([false, true]) {
                    let start = masked.len();
                    masked.extend_from_slice(message.as_ref());
                    self.pads.add(self.next, *q ^ self.extension.delta().masked(b), &mut masked[start..]);
                }
                self.next += 1;
            }
            ch.send(&masked)?;
        }
        ch.flush()?;
        self.broken = false;
        Ok(())
    }

    /// OTs of random messages: both of each.
    ///
    /// # Errors
    /// Errors of the channel, and [`InconsistentChoices`](crate::checks::INCONSISTENT_CHOICES).
    pub fn random(&mut self, ch: &mut dyn Channel, out: &mut [[Block; 2]]) -> Result<()> {
        begin(&mut self.broken)?;
        let q = self.extend(ch, out.len())?;
        let delta = self.extension.delta();
        let both = q.iter().zip(self.next..).flat_map(|(q, index)| [(index, *q), (index, *q ^ delta)]);
        self.pads.random(both, out.as_flattened_mut());
        self.next += out.len() as u64;
        self.broken = false;
        Ok(())
    }

    /// Opens all OTs.
    ///
    /// # Errors
    /// Errors of the channel, and [`InvalidInput`](comity_core::Kind) after an earlier error.
    pub fn open(self, ch: &mut dyn Channel) -> Result<()> {
        ch.send(&self.opening()?.to_bytes())?;
        ch.flush()
    }

    /// The message that opens all OTs.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) after an earlier error.
    pub fn opening(mut self) -> Result<DeltaOpening> {
        begin(&mut self.broken)?;
        Ok(DeltaOpening { delta: self.extension.delta(), seeds: self.seeds })
    }

    fn extend(&mut self, ch: &mut dyn Channel, n: usize) -> Result<Zeroizing<Vec<Block>>> {
        let mut q = Zeroizing::new(vec![Block::ZERO; n]);
        self.extension.extend(ch, &mut q)?;
        Ok(q)
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        // With delta's bits it would be an opening.
        self.seeds.zeroize();
    }
}
