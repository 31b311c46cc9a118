//! The receiver of the extension: sender of the base OTs, of the trees and of the corrections.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Error, Result, SessionId, gf128};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use super::matrix::{Matrix, Piece, grown, pieces};
use super::{Answer, BASE, CALL, Challenge, Checking, Corrections, Forest, ROWS, Shape, Trees, build};
use crate::base::BaseOt;
use crate::{AtLeast, DeltaReceiver, Malicious, SemiHonest, SenderSeeds};

/// The receiver: has choice bits `x_j`, gets `t_j = q_j ^ x_j delta`.
///
/// Made once by [`Receiver::setup`] and extended again and again by [`DeltaReceiver`], or a chunk at a time by
/// [`Receiver::offer`]. After an error it refuses to go on.
pub struct Receiver<M: Checking> {
    matrix: Matrix,
    /// The choice bits of two chunks, with those of the padding and the mask. Secret.
    choices: [Vec<Block>; 2],
    model: std::marker::PhantomData<M>,
}

/// The receiver, a chunk's corrections given away.
pub struct Offered<M: Checking> {
    receiver: Receiver<M>,
    n: usize,
}

impl<M: Checking> Receiver<M> {
    /// Runs the base OTs, as their sender, and sends the trees of `k` levels.
    ///
    /// `session` is that of this extension alone: of two under one session each takes a child of it.
    ///
    /// # Errors
    /// Those of [`BaseOt::send`], and [`InvalidInput`](Error::InvalidInput) if `k` is not from 1 to 8.
    pub fn setup<B: BaseOt<Model: AtLeast<M>>, C: Channel + ?Sized>(
        ch: &mut C,
        session: &SessionId,
        backend: Backend,
        k: usize,
        rng: &mut impl CryptoRng,
    ) -> Result<Receiver<M>> {
        Shape::new(k)?;
        let seeds = B::send(ch, &session.child(BASE), ROWS, rng)?;
        let (receiver, trees) = Receiver::new(session, backend, k, seeds.weaken())?;
        ch.send(trees.as_bytes())?;
        ch.flush()?;
        Ok(receiver)
    }

    /// The receiver from 128 random OTs, and the message to the sender.
    ///
    /// # Errors
    /// [`InvalidInput`](Error::InvalidInput) if `k` is not from 1 to 8.
    ///
    /// # Panics
    /// If there are not 128.
    pub fn new(session: &SessionId, backend: Backend, k: usize, seeds: SenderSeeds<M>) -> Result<(Receiver<M>, Trees)> {
        let shape = Shape::new(k)?;
        let (forest, trees) = build(session, backend, shape, &seeds);
        Ok((Receiver::from_forest(session, backend, shape, &forest), trees))
    }

    /// The receiver from its trees.
    pub(crate) fn from_forest(session: &SessionId, backend: Backend, shape: Shape, forest: &Forest) -> Receiver<M> {
        Receiver {
            matrix: Matrix::new::<M>(session, backend, shape, forest),
            choices: [(); 2].map(|()| Vec::with_capacity(M::CHUNK / 128 + 2)),
            model: std::marker::PhantomData,
        }
    }

    /// A chunk of at most [`CHUNK`](Checking::CHUNK) OTs, one for each choice bit: the corrections to send.
    ///
    /// # Errors
    /// [`InvalidInput`](Error::InvalidInput) if there are too many.
    pub fn offer(self, choices: &Bits) -> Result<(Offered<M>, Corrections)> {
        self.offer_any(choices.len(), Some(choices.words()))
    }

    /// A chunk of at most [`CHUNK`](Checking::CHUNK) OTs with random choice bits: the corrections to send.
    ///
    /// # Errors
    /// [`InvalidInput`](Error::InvalidInput) if there are too many.
    pub fn offer_random(self, n: usize) -> Result<(Offered<M>, Corrections)> {
        self.offer_any(n, None)
    }

    fn offer_any(mut self, n: usize, choices: Option<&[u64]>) -> Result<(Offered<M>, Corrections)> {
        if n > M::CHUNK {
            return Err(Error::InvalidInput(format!("{n} OTs are more than a chunk, {}", M::CHUNK)));
        }
        self.matrix.begin()?;
        let mut corrections = Vec::new();
        for piece in pieces::<M>(n) {
            corrections.extend_from_slice(Block::bytes_of(self.correct(0, piece, n, choices)));
        }
        Ok((Offered { receiver: self, n }, Corrections(corrections)))
    }

    /// The next OTs, chunk by chunk. With random choice bits these are given to `chosen`.
    fn chunks<C: Channel + ?Sized>(
        &mut self,
        ch: &mut C,
        mut choices: Option<&[u64]>,
        out: &mut [Block],
        mut chosen: impl FnMut(Bits),
    ) -> Result<()> {
        self.matrix.begin()?;
        let mut waiting = None;
        for (slot, out) in [0, 1].into_iter().cycle().zip(out.chunks_mut(M::CHUNK)) {
            let n = out.len();
            let (now, later) = choices.map(|words| words.split_at(words.len().min(M::CHUNK / 64))).unzip();
            choices = later;
            for piece in pieces::<M>(n) {
                ch.send(Block::bytes_of(self.correct(slot, piece, n, now)))?;
            }
            if now.is_none() {
                chosen(self.chosen(slot, n));
            }
            if !M::CHECKED {
                self.matrix.columns::<M>(slot, out);
            } else if let Some((slot, out)) = waiting.replace((slot, out)) {
                self.settle(ch, slot, out)?;
            }
        }
        if let Some((slot, out)) = waiting {
            self.settle(ch, slot, out)?;
        }
        ch.flush()?;
        self.matrix.end();
        Ok(())
    }

    /// Answers for a chunk. Its challenge has come, as a rule, while the next one was made.
    fn settle<C: Channel + ?Sized>(&mut self, ch: &mut C, slot: usize, out: &mut [Block]) -> Result<()> {
        let mut challenge = [0; Challenge::BYTES];
        ch.recv(&mut challenge)?;
        ch.send(&self.answer(slot, out.len(), &Challenge::from_bytes(challenge)).to_bytes())?;
        // The sender can do nothing more before it has this, and the next message takes its time.
        ch.flush()?;
        self.matrix.columns::<M>(slot, out);
        Ok(())
    }

    /// The corrections of a piece of a chunk of `n` OTs: `u ^ x` for each tree, or with random choice bits `x = u` for
    /// the first.
    fn correct(&mut self, slot: usize, piece: Piece, n: usize, choices: Option<&[u64]>) -> &[Block] {
        let Piece { at, width } = piece;
        let skip = usize::from(choices.is_none());
        let x = &mut grown(&mut self.choices[slot], at + width)[at..];
        self.matrix.fill(slot, piece, skip, |first, u, _, wire| {
            if first == 0 {
                // The padding and the mask have random choice bits.
                x.copy_from_slice(u);
                if let Some(words) = choices {
                    place(words, n, at, x);
                }
            }
            if let Some(wire) = wire {
                for ((wire, u), x) in wire.iter_mut().zip(u).zip(&*x) {
                    *wire = *u ^ *x;
                }
            }
        });
        self.matrix.wire(piece, skip)
    }

    /// The answer for a chunk of `n` OTs.
    fn answer(&mut self, slot: usize, n: usize, challenge: &Challenge) -> Answer {
        let (backend, session, chunk) = (self.matrix.backend, self.matrix.session, self.matrix.count());
        let (coefficients, rows) = self.matrix.hash::<M>(slot, n, challenge);
        let choices = gf128::inner_product(backend, &self.choices[slot][..coefficients.len()], coefficients);
        Answer::bind(&session, chunk, challenge, choices, &rows)
    }

    /// The choice bits of the chunk.
    fn chosen(&self, slot: usize, n: usize) -> Bits {
        Bits::from_bytes(Block::bytes_of(&self.choices[slot]), n)
    }
}

impl Offered<Malicious> {
    /// Answers the sender's challenge: the receiver for the next chunk, the choice bits, the OTs' `t_j`, and the answer
    /// to send.
    pub fn answer(mut self, challenge: &Challenge) -> (Receiver<Malicious>, Bits, Vec<Block>, Answer) {
        let answer = self.receiver.answer(0, self.n, challenge);
        let (receiver, chosen, out) = self.done();
        (receiver, chosen, out, answer)
    }
}

impl<M: Checking> Offered<M> {
    fn done(mut self) -> (Receiver<M>, Bits, Vec<Block>) {
        let mut out = vec![Block::ZERO; self.n];
        self.receiver.matrix.columns::<M>(0, &mut out);
        self.receiver.matrix.end();
        let chosen = self.receiver.chosen(0, self.n);
        (self.receiver, chosen, out)
    }
}

impl Offered<SemiHonest> {
    /// The receiver for the next chunk, the choice bits and the OTs' `t_j`.
    pub fn finish(self) -> (Receiver<SemiHonest>, Bits, Vec<Block>) {
        self.done()
    }
}

impl<M: Checking> DeltaReceiver for Receiver<M> {
    type Model = M;

    const CHUNK: usize = CALL * <M as Checking>::CHUNK;

    fn backend(&self) -> Backend {
        self.matrix.backend
    }

    fn extend<C: Channel + ?Sized>(&mut self, ch: &mut C, choices: &Bits, out: &mut [Block]) -> Result<()> {
        if choices.len() != out.len() {
            let (bits, outputs) = (choices.len(), out.len());
            return Err(Error::InvalidInput(format!("{bits} choice bits for {outputs} oblivious transfers")));
        }
        self.chunks(ch, Some(choices.words()), out, |_| ())
    }

    fn extend_random<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [Block]) -> Result<Bits> {
        let mut all = Bits::default();
        self.chunks(ch, None, out, |bits| all.extend_from(&bits))?;
        Ok(all)
    }
}

impl<M: Checking> Drop for Receiver<M> {
    fn drop(&mut self) {
        self.choices.iter_mut().for_each(|choices| choices.as_mut_slice().zeroize());
    }
}

/// Puts the first `n` choice bits in their places in blocks `at` and on, and leaves the bits after them.
fn place(words: &[u64], n: usize, at: usize, x: &mut [Block]) {
    let words = words.get(2 * at..).unwrap_or_default();
    for ((x, words), start) in x.iter_mut().zip(words.chunks(2)).zip((128 * at..).step_by(128)) {
        let choices = Zeroizing::new(words.iter().rev().fold(0, |choices, &word| choices << 64 | u128::from(word)));
        let mask = if n - start < 128 { (1 << (n - start)) - 1 } else { u128::MAX };
        *x = Block::from_u128(*choices & mask | x.to_u128() & !mask);
    }
}
