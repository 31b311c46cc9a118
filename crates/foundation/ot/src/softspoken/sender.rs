//! The sender of the extension: receiver of the base OTs, of the trees and of the corrections.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Error, Misbehaviour, Prg, Result, SessionId};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::Zeroize;

use super::matrix::{Matrix, Piece, pieces};
use super::{Answer, BASE, CALL, Challenge, Checking, Corrections, Forest, ROWS, Shape, Trees, delta, puncture};
use crate::base::BaseOt;
use crate::{AtLeast, DeltaSender, Malicious, ReceiverSeeds, SemiHonest};

/// The sender: holds delta, gets `q_j`.
///
/// Made once by [`Sender::setup`] and extended again and again by [`DeltaSender`], or a chunk at a time by
/// [`Sender::take`]. After an error it refuses to go on.
pub struct Sender<M: Checking> {
    delta: Block,
    matrix: Matrix,
    challenges: Prg,
    model: std::marker::PhantomData<M>,
}

/// The sender, with a chunk's corrections.
pub struct Taken<M: Checking> {
    sender: Sender<M>,
    n: usize,
    challenge: Challenge,
}

impl<M: Checking> Sender<M> {
    /// Runs the base OTs, as their receiver, with the bits of `delta` as choices, and receives the trees of `k` levels.
    ///
    /// `session` is that of this extension alone: of two under one session each takes a child of it.
    /// `delta` must be uniform but for bits that the protocol above fixes (bit 0 for point-and-permute).
    ///
    /// # Errors
    /// Those of [`BaseOt::receive`], [`InvalidInput`](Error::InvalidInput) if `k` is not from 1 to 8, and in the
    /// malicious model [`InconsistentTree`](Misbehaviour::InconsistentTree).
    pub fn setup<B: BaseOt<Model: AtLeast<M>>, C: Channel + ?Sized>(
        ch: &mut C,
        session: &SessionId,
        backend: Backend,
        k: usize,
        delta: Block,
        rng: &mut impl CryptoRng,
    ) -> Result<Sender<M>> {
        let shape = Shape::new(k)?;
        let choices = Bits::from_bytes(&delta.to_bytes(), ROWS);
        let seeds = B::receive(ch, &session.child(BASE), &choices, rng)?;
        let mut bytes = vec![0; Trees::len::<M>(shape)];
        ch.recv(&mut bytes)?;
        Sender::new(session, backend, k, seeds.weaken(), &Trees::from_bytes::<M>(&bytes, k)?, rng)
    }

    /// The sender from 128 random OTs, whose choice bits are delta, and the receiver's message.
    ///
    /// # Errors
    /// [`InvalidInput`](Error::InvalidInput) if `k` is not from 1 to 8, [`Malformed`](Error::Malformed) if the message
    /// is not for such trees, and in the malicious model [`InconsistentTree`](Misbehaviour::InconsistentTree).
    ///
    /// # Panics
    /// If there are not 128.
    pub fn new(
        session: &SessionId,
        backend: Backend,
        k: usize,
        seeds: ReceiverSeeds<M>,
        trees: &Trees,
        rng: &mut impl CryptoRng,
    ) -> Result<Sender<M>> {
        let shape = Shape::new(k)?;
        let trees = Trees::from_bytes::<M>(trees.as_bytes(), k)?;
        let forest = puncture(session, backend, shape, &seeds, &trees)?;
        Ok(Sender::from_forest(session, backend, shape, delta(&seeds), &forest, rng))
    }

    /// The sender from its trees.
    pub(crate) fn from_forest(
        session: &SessionId,
        backend: Backend,
        shape: Shape,
        delta: Block,
        forest: &Forest,
        rng: &mut impl CryptoRng,
    ) -> Sender<M> {
        let mut seed = [0; 16];
        rng.fill_bytes(&mut seed);
        Sender {
            delta,
            matrix: Matrix::new::<M>(session, backend, shape, forest),
            challenges: Prg::new(backend, Block::new(seed)),
            model: std::marker::PhantomData,
        }
    }

    /// A chunk of `n` OTs from the receiver's corrections, for given or for `random` choice bits.
    ///
    /// # Errors
    /// [`InvalidInput`](Error::InvalidInput) if there are more than [`CHUNK`](Checking::CHUNK),
    /// [`Malformed`](Error::Malformed) if the message is not for so many.
    pub fn take(mut self, n: usize, random: bool, corrections: &Corrections) -> Result<Taken<M>> {
        if n > M::CHUNK {
            return Err(Error::InvalidInput(format!("{n} OTs are more than a chunk, {}", M::CHUNK)));
        }
        let corrections = Corrections::from_bytes::<M>(&corrections.0, self.matrix.shape.k, n, random)?;
        self.matrix.begin()?;
        let mut bytes = &corrections.0[..];
        for piece in pieces::<M>(n) {
            let wire = Block::bytes_of_mut(self.matrix.wire(piece, random.into()));
            let (now, later) = bytes.split_at(wire.len());
            bytes = later;
            wire.copy_from_slice(now);
            self.absorb(0, piece, random.into());
        }
        let challenge = Challenge::draw(&mut self.challenges);
        Ok(Taken { sender: self, n, challenge })
    }

    /// The next OTs, chunk by chunk; no corrections come for the first `skip` trees.
    fn chunks<C: Channel + ?Sized>(&mut self, ch: &mut C, skip: usize, out: &mut [Block]) -> Result<()> {
        self.matrix.begin()?;
        let mut waiting = None;
        for (slot, out) in [0, 1].into_iter().cycle().zip(out.chunks_mut(M::CHUNK)) {
            let challenge = Challenge::draw(&mut self.challenges);
            let mut pieces = pieces::<M>(out.len());
            while let Some(piece) = pieces.next() {
                ch.recv(Block::bytes_of_mut(self.matrix.wire(piece, skip)))?;
                if M::CHECKED && pieces.len() == 0 {
                    // All that it checks is here; the receiver need not wait for the rest of the work on it.
                    ch.send(&challenge.to_bytes())?;
                    ch.flush()?;
                }
                self.absorb(slot, piece, skip);
            }
            if !M::CHECKED {
                self.matrix.columns::<M>(slot, out);
            } else if let Some((slot, challenge, out)) = waiting.replace((slot, challenge, out)) {
                self.settle(ch, slot, &challenge, out)?;
            }
        }
        if let Some((slot, challenge, out)) = waiting {
            self.settle(ch, slot, &challenge, out)?;
        }
        self.matrix.end();
        Ok(())
    }

    /// Checks a chunk, and gives it out.
    fn settle<C: Channel + ?Sized>(
        &mut self,
        ch: &mut C,
        slot: usize,
        challenge: &Challenge,
        out: &mut [Block],
    ) -> Result<()> {
        let mut answer = [0; Answer::BYTES];
        ch.recv(&mut answer)?;
        self.check(slot, out.len(), challenge, &Answer::from_bytes(&answer)?)?;
        self.matrix.columns::<M>(slot, out);
        Ok(())
    }

    /// Takes the corrections of a piece that are on the wire into its rows.
    fn absorb(&mut self, slot: usize, piece: Piece, skip: usize) {
        let delta = self.delta.to_u128();
        self.matrix.fill(slot, piece, skip, |first, _, rows, wire| {
            let Some(wire) = wire else { return };
            for (row, i) in rows.chunks_exact_mut(piece.width).zip(first..) {
                let set = Block::from_u128(u128::MAX).masked(delta >> i & 1 == 1);
                for (w, correction) in row.iter_mut().zip(&*wire) {
                    *w ^= *correction & set;
                }
            }
        });
    }

    /// Holds a chunk against the answer.
    fn check(&mut self, slot: usize, n: usize, challenge: &Challenge, answer: &Answer) -> Result<()> {
        let (session, chunk) = (self.matrix.session, self.matrix.count());
        let (_, mut rows) = self.matrix.hash::<M>(slot, n, challenge);
        for (i, row) in rows.iter_mut().enumerate() {
            *row ^= answer.choices.masked(self.delta.to_u128() >> i & 1 == 1);
        }
        let expected = Answer::bind(&session, chunk, challenge, answer.choices, &rows);
        if !bool::from(expected.rows[..].ct_eq(&answer.rows)) {
            return Err(Misbehaviour::InconsistentChoices.into());
        }
        Ok(())
    }
}

impl Taken<Malicious> {
    /// The challenge to send.
    pub fn challenge(&self) -> Challenge {
        self.challenge
    }

    /// Checks the receiver's answer: the sender for the next chunk, and the OTs' `q_j`.
    ///
    /// # Errors
    /// [`InconsistentChoices`](Misbehaviour::InconsistentChoices) if the answer is wrong. The sender is then gone.
    pub fn check(mut self, answer: &Answer) -> Result<(Sender<Malicious>, Vec<Block>)> {
        self.sender.check(0, self.n, &self.challenge, answer)?;
        Ok(self.done())
    }
}

impl<M: Checking> Taken<M> {
    fn done(mut self) -> (Sender<M>, Vec<Block>) {
        let mut out = vec![Block::ZERO; self.n];
        self.sender.matrix.columns::<M>(0, &mut out);
        self.sender.matrix.end();
        (self.sender, out)
    }
}

impl Taken<SemiHonest> {
    /// The sender for the next chunk, and the OTs' `q_j`.
    pub fn finish(self) -> (Sender<SemiHonest>, Vec<Block>) {
        self.done()
    }
}

impl<M: Checking> DeltaSender for Sender<M> {
    type Model = M;

    const CHUNK: usize = CALL * <M as Checking>::CHUNK;

    fn delta(&self) -> Block {
        self.delta
    }

    fn backend(&self) -> Backend {
        self.matrix.backend
    }

    fn extend<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [Block]) -> Result<()> {
        self.chunks(ch, 0, out)
    }

    fn extend_random<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [Block]) -> Result<()> {
        self.chunks(ch, 1, out)
    }
}

impl<M: Checking> Drop for Sender<M> {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}
