//! The sender of the extension: receiver of the base OTs, of the trees and of the corrections.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Error, Prg, Result, SessionId, verdict};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::{Zeroize, Zeroizing};

use super::matrix::{Matrix, Piece, pieces};
use super::{
    Answer, BASE, CALL, Challenge, Checking, Corrections, Forest, Hashes, ROWS, ROWS_OF_A_CHUNK, Shape, Trees, delta,
    puncture,
};
use crate::base::BaseOt;
use crate::checks;
use crate::cot::CotSender;
use crate::model::{AtLeast, Malicious, SemiHonest};
use crate::seeds::ReceiverSeeds;

/// The sender: holds delta, gets `q_j`.
///
/// Made once by [`Sender::setup`] and extended again and again by [`CotSender`], or a chunk at a time by
/// [`Sender::take`]. After an error it refuses to go on.
pub struct Sender<M: Checking> {
    delta: Block,
    pub(super) matrix: Matrix,
    challenges: Prg,
    model: std::marker::PhantomData<M>,
}

/// The sender, with a chunk's corrections.
pub struct Taken<M: Checking> {
    sender: Sender<M>,
    out: Zeroizing<Vec<Block>>,
    challenge: Challenge,
    hashes: Hashes,
}

impl<M: Checking> Sender<M> {
    /// Runs the base OTs, as their receiver, with the bits of `delta` as choices, and receives the trees of `k` levels.
    ///
    /// `session` must serve this extension alone: two extensions in one session each take a child of it.
    /// `delta` must be uniform but for bits that the protocol above fixes (bit 0 for point-and-permute).
    ///
    /// # Errors
    /// Errors of [`BaseOt::receive`], [`InvalidInput`](comity_core::Kind) if `k` is not from 1 to 8, and in the
    /// malicious model [`InconsistentTree`](crate::checks::INCONSISTENT_TREE).
    pub fn setup<B: BaseOt<Model: AtLeast<M>>>(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        k: usize,
        delta: Block,
        rng: &mut dyn CryptoRng,
    ) -> Result<Sender<M>> {
        let shape = Shape::new(k)?;
        let choices = Bits::from_bytes(&*Zeroizing::new(delta.to_bytes()), ROWS);
        let seeds = B::receive(ch, &session.child(BASE), &choices, rng)?;
        let mut bytes = vec![0; Trees::len::<M>(shape)];
        ch.recv(&mut bytes)?;
        Sender::new(session, backend, k, seeds.weaken(), &Trees::from_bytes::<M>(&bytes, k)?, rng)
    }

    /// The sender from 128 random OTs, whose choice bits are delta, and the receiver's message.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if `k` is not from 1 to 8, [`Malformed`](comity_core::Kind) if the message
    /// is not for such trees, and in the malicious model [`InconsistentTree`](crate::checks::INCONSISTENT_TREE).
    ///
    /// # Panics
    /// If there are not 128 OTs.
    pub fn new(
        session: &SessionId,
        backend: Backend,
        k: usize,
        seeds: ReceiverSeeds<M>,
        trees: &Trees,
        rng: &mut dyn CryptoRng,
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
        rng: &mut dyn CryptoRng,
    ) -> Sender<M> {
        let mut seed = Zeroizing::new([0; 16]);
        rng.fill_bytes(seed.as_mut());
        Sender {
            delta,
            matrix: Matrix::new::<M>(session, backend, shape, forest, 0),
            challenges: Prg::new(backend, Block::new(*seed)),
            model: std::marker::PhantomData,
        }
    }

    /// A chunk of `n` OTs from the receiver's corrections, for given or for `random` choice bits.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if `n` is more than [`CHUNK`](Checking::CHUNK),
    /// [`Malformed`](comity_core::Kind) if the message is for another number of OTs.
    pub fn take(mut self, n: usize, random: bool, corrections: &Corrections) -> Result<Taken<M>> {
        if n > M::CHUNK {
            return Err(Error::invalid_input(format!("{n} OTs are more than a chunk, {}", M::CHUNK)));
        }
        let corrections = Corrections::from_bytes::<M>(&corrections.0, self.matrix.shape.k, n, random)?;
        self.matrix.begin()?;
        let challenge = self.draw(n);
        let mut hashes = Hashes::new([Block::ZERO; ROWS]);
        let mut out = Zeroizing::new(vec![Block::ZERO; n]);
        let mut bytes = &corrections.0[..];
        for piece in pieces::<M>(n) {
            let wire = Block::bytes_of_mut(self.matrix.wire(piece, random.into()));
            let (now, later) = bytes.split_at(wire.len());
            bytes = later;
            wire.copy_from_slice(now);
            let each = |j: usize, q: &mut [Block]| out[j..j + q.len()].copy_from_slice(q);
            self.absorb(piece, random.into(), n, &mut hashes, each);
        }
        Ok(Taken { sender: self, out, challenge, hashes })
    }

    /// The next OTs, chunk by chunk; no corrections come for the first `skip` trees.
    fn chunks(
        &mut self,
        ch: &mut dyn Channel,
        skip: usize,
        n: usize,
        mut each: impl FnMut(usize, &mut [Block]),
    ) -> Result<()> {
        self.matrix.begin()?;
        let mut waiting = None;
        for start in (0..n).step_by(M::CHUNK) {
            let n = M::CHUNK.min(n - start);
            let challenge = self.draw(n);
            let mut hashes = Hashes::new([Block::ZERO; ROWS]);
            let mut pieces = pieces::<M>(n);
            while let Some(piece) = pieces.next() {
                ch.recv(Block::bytes_of_mut(self.matrix.wire(piece, skip)))?;
                if M::CHECKED && pieces.len() == 0 {
                    // All that it checks is here; the receiver need not wait for the rest of the work on it.
                    ch.send(&challenge.to_bytes())?;
                    ch.flush()?;
                }
                self.absorb(piece, skip, n, &mut hashes, |j, q| each(start + j, q));
            }
            if M::CHECKED
                && let Some((challenge, hashes)) = waiting.replace((challenge, hashes))
            {
                self.settle(ch, &challenge, hashes)?;
            }
        }
        if let Some((challenge, hashes)) = waiting {
            self.settle(ch, &challenge, hashes)?;
        }
        self.matrix.end();
        Ok(())
    }

    /// The challenge for a chunk of `n` OTs, which nobody sees before the corrections are here.
    pub(super) fn draw(&mut self, n: usize) -> Challenge {
        let challenge = Challenge::draw(&mut self.challenges);
        if M::CHECKED {
            self.matrix.challenge::<M>(n, &challenge);
        }
        challenge
    }

    /// Receives the answer for a chunk, and checks it.
    pub(super) fn settle(&mut self, ch: &mut dyn Channel, challenge: &Challenge, mut hashes: Hashes) -> Result<()> {
        let mut answer = [0; Answer::BYTES];
        ch.recv(&mut answer)?;
        self.check(challenge, &mut hashes, &Answer::from_bytes(&answer)?)
    }

    /// Takes the corrections of a piece of a chunk of `n` OTs that are on the wire into its rows, which are then used
    /// up: hashed, and transposed.
    fn absorb(
        &mut self,
        piece: Piece,
        skip: usize,
        n: usize,
        hashes: &mut [Block; ROWS],
        each: impl FnMut(usize, &mut [Block]),
    ) {
        self.take_in(piece, skip, hashes);
        self.matrix.columns(0, piece.alone(), piece, n, each);
    }

    /// The first part of [`absorb`](Sender::absorb): the rows, hashed.
    pub(super) fn take_in(&mut self, piece: Piece, skip: usize, hashes: &mut [Block; ROWS]) {
        let delta = self.delta.to_u128();
        let place = piece.alone();
        self.matrix.fill(0, place, skip, |first, _, rows, wire| {
            let Some(wire) = wire else { return };
            for (row, i) in rows.chunks_exact_mut(piece.width).zip(first..) {
                let set = Block::from_u128(u128::MAX).masked(delta >> i & 1 == 1);
                for (w, correction) in row.iter_mut().zip(&*wire) {
                    *w ^= *correction & set;
                }
            }
        });
        if M::CHECKED {
            self.matrix.hash(0, place, piece, hashes);
        }
    }

    /// Compares a chunk, of which only the hashes are left, with the answer.
    pub(super) fn check(&mut self, challenge: &Challenge, rows: &mut Hashes, answer: &Answer) -> Result<()> {
        let (session, chunk) = (self.matrix.session, self.matrix.count());
        for (i, row) in rows.iter_mut().enumerate() {
            *row ^= answer.choices[0].masked(self.delta.to_u128() >> i & 1 == 1);
        }
        let expected = Answer::bind(ROWS_OF_A_CHUNK, (&session, chunk), challenge, answer.choices, &rows[..]);
        if !verdict(expected.rows[..].ct_eq(&answer.rows)) {
            return Err(checks::INCONSISTENT_CHOICES.into());
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
    /// [`InconsistentChoices`](crate::checks::INCONSISTENT_CHOICES) if the answer is wrong. The sender is then gone.
    pub fn check(mut self, answer: &Answer) -> Result<(Sender<Malicious>, Vec<Block>)> {
        self.sender.check(&self.challenge, &mut self.hashes, answer)?;
        Ok(self.done())
    }
}

impl<M: Checking> Taken<M> {
    fn done(mut self) -> (Sender<M>, Vec<Block>) {
        self.sender.matrix.end();
        (self.sender, std::mem::take(&mut *self.out))
    }
}

impl Taken<SemiHonest> {
    /// The sender for the next chunk, and the OTs' `q_j`.
    pub fn finish(self) -> (Sender<SemiHonest>, Vec<Block>) {
        self.done()
    }
}

impl<M: Checking> CotSender for Sender<M> {
    type Model = M;

    const CHUNK: usize = CALL * <M as Checking>::CHUNK;

    fn delta(&self) -> Block {
        self.delta
    }

    fn backend(&self) -> Backend {
        self.matrix.backend
    }

    fn extend_each(
        &mut self,
        ch: &mut dyn Channel,
        random: bool,
        n: usize,
        each: impl FnMut(usize, &mut [Block]),
    ) -> Result<()> {
        self.chunks(ch, random.into(), n, each)
    }
}

impl<M: Checking> Drop for Sender<M> {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}
