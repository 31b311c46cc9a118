//! The receiver of the extension: sender of the base OTs, of the trees and of the corrections.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Error, Result, SessionId, gf128};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use super::matrix::{Matrix, Piece, pieces, room, width};
use super::{
    Answer, BASE, CALL, Challenge, Checking, Corrections, Forest, Hashes, ROWS, ROWS_OF_A_CHUNK, Shape, Trees, build,
};
use crate::base::BaseOt;
use crate::cot::{CotReceiver, check_length};
use crate::model::{AtLeast, Malicious, SemiHonest};
use crate::seeds::SenderSeeds;
use crate::stream::grown;

/// The receiver: has choice bits `x_j`, gets `t_j = q_j ^ x_j delta`.
///
/// Made once by [`Receiver::setup`] and extended again and again by [`CotReceiver`], or a chunk at a time by
/// [`Receiver::offer`]. After an error it refuses to go on.
pub struct Receiver<M: Checking> {
    pub(super) matrix: Matrix,
    /// The choice bits of two chunks, with those of the padding and the mask. Secret.
    choices: [Vec<Block>; 2],
    model: std::marker::PhantomData<M>,
}

/// The receiver that has sent a chunk's corrections.
pub struct Offered<M: Checking> {
    receiver: Receiver<M>,
    out: Zeroizing<Vec<Block>>,
}

impl<M: Checking> Receiver<M> {
    /// Runs the base OTs, as their sender, and sends the trees of `k` levels.
    ///
    /// `session` must serve this extension alone: two extensions in one session each take a child of it.
    ///
    /// # Errors
    /// Errors of [`BaseOt::send`], and [`InvalidInput`](comity_core::Kind) if `k` is not from 1 to 8.
    pub fn setup<B: BaseOt<Model: AtLeast<M>>>(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        k: usize,
        rng: &mut dyn CryptoRng,
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
    /// [`InvalidInput`](comity_core::Kind) if `k` is not from 1 to 8.
    ///
    /// # Panics
    /// If there are not 128 OTs.
    pub fn new(session: &SessionId, backend: Backend, k: usize, seeds: SenderSeeds<M>) -> Result<(Receiver<M>, Trees)> {
        let shape = Shape::new(k)?;
        let (forest, trees) = build(session, backend, shape, &seeds);
        Ok((Receiver::from_forest(session, backend, shape, &forest), trees))
    }

    /// The receiver from its trees.
    pub(crate) fn from_forest(session: &SessionId, backend: Backend, shape: Shape, forest: &Forest) -> Receiver<M> {
        Receiver {
            matrix: Matrix::new::<M>(session, backend, shape, forest, if M::CHECKED { 2 } else { 1 }),
            choices: [(); 2].map(|()| Vec::with_capacity(M::CHUNK / 128 + 2)),
            model: std::marker::PhantomData,
        }
    }

    /// A chunk of at most [`CHUNK`](Checking::CHUNK) OTs, one for each choice bit: the corrections to send.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there are more choice bits.
    pub fn offer(self, choices: &Bits) -> Result<(Offered<M>, Corrections)> {
        self.offer_any(choices.len(), Some(choices.words()))
    }

    /// A chunk of at most [`CHUNK`](Checking::CHUNK) OTs with random choice bits: the corrections to send.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if `n` is larger.
    pub fn offer_random(self, n: usize) -> Result<(Offered<M>, Corrections)> {
        self.offer_any(n, None)
    }

    fn offer_any(mut self, n: usize, choices: Option<&[u64]>) -> Result<(Offered<M>, Corrections)> {
        if n > M::CHUNK {
            return Err(Error::invalid_input(format!("{n} OTs are more than a chunk, {}", M::CHUNK)));
        }
        self.matrix.begin()?;
        let mut corrections = Vec::new();
        let mut out = Zeroizing::new(vec![Block::ZERO; n]);
        for piece in pieces::<M>(n) {
            corrections.extend_from_slice(Block::bytes_of(self.correct(0, piece, n, choices)));
            self.matrix.columns(0, piece, piece, n, |j, t| out[j..j + t.len()].copy_from_slice(t));
        }
        Ok((Offered { receiver: self, out }, Corrections(corrections)))
    }

    /// Room for a chunk of `n` OTs in slot 0, where it may be longer than [`CHUNK`](Checking::CHUNK).
    pub(super) fn make_room(&mut self, n: usize) {
        self.matrix.make_room::<M>(n);
        room(&mut self.choices[0], width::<M>(n));
    }

    /// The next OTs, chunk by chunk. With random choice bits these are given to `chosen`.
    fn chunks(
        &mut self,
        ch: &mut dyn Channel,
        mut choices: Option<&[u64]>,
        n: usize,
        mut each: impl FnMut(usize, &mut [Block]),
        mut chosen: impl FnMut(Bits),
    ) -> Result<()> {
        self.matrix.begin()?;
        let mut waiting = None;
        // While one chunk waits for its challenge the next one is made.
        let slots = if M::CHECKED { [0, 1] } else { [0, 0] };
        for (slot, start) in slots.into_iter().cycle().zip((0..n).step_by(M::CHUNK)) {
            let n = M::CHUNK.min(n - start);
            let (now, later) = choices.map(|words| words.split_at(words.len().min(M::CHUNK / 64))).unzip();
            choices = later;
            for piece in pieces::<M>(n) {
                ch.send(Block::bytes_of(self.correct(slot, piece, n, now)))?;
                self.matrix.columns(slot, piece, piece, n, |j, t| each(start + j, t));
            }
            if now.is_none() {
                chosen(self.chosen(slot, n));
            }
            if M::CHECKED
                && let Some((slot, n)) = waiting.replace((slot, n))
            {
                self.settle(ch, slot, n)?;
            }
        }
        if let Some((slot, n)) = waiting {
            self.settle(ch, slot, n)?;
        }
        ch.flush()?;
        self.matrix.end();
        Ok(())
    }

    /// Answers for a chunk. Its challenge has come, as a rule, while the next one was made.
    fn settle(&mut self, ch: &mut dyn Channel, slot: usize, n: usize) -> Result<()> {
        let mut challenge = [0; Challenge::BYTES];
        ch.recv(&mut challenge)?;
        ch.send(&self.answer(slot, n, &Challenge::from_bytes(challenge)).to_bytes())?;
        // The sender can do nothing more before it has this, and the next message takes its time.
        ch.flush()
    }

    /// The corrections of a piece of a chunk of `n` OTs: `u ^ x` for each tree, or with random choice bits `x = u` for
    /// the first.
    pub(super) fn correct(&mut self, slot: usize, piece: Piece, n: usize, choices: Option<&[u64]>) -> &[Block] {
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
    pub(super) fn answer(&mut self, slot: usize, n: usize, challenge: &Challenge) -> Answer {
        let (backend, session, chunk) = (self.matrix.backend, self.matrix.session, self.matrix.count());
        let coefficients = self.matrix.challenge::<M>(n, challenge);
        let choices = gf128::inner_product(backend, &self.choices[slot][..coefficients.len()], coefficients);
        let mut rows = Hashes::new([Block::ZERO; ROWS]);
        for piece in pieces::<M>(n) {
            self.matrix.hash(slot, piece, piece, &mut rows);
        }
        Answer::bind(ROWS_OF_A_CHUNK, (&session, chunk), challenge, [choices], &rows[..])
    }

    /// Puts a piece's choice bits where its first row is, and the row where they were: so that they become
    /// bit 0 of each column. The hashes are of the rows as they were. Slot 0.
    pub(super) fn swap_first_row(&mut self, piece: Piece) {
        let Piece { at, width } = piece;
        self.matrix.row(piece, 0).swap_with_slice(&mut self.choices[0][at..at + width]);
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
        let answer = self.receiver.answer(0, self.out.len(), challenge);
        let (receiver, chosen, out) = self.done();
        (receiver, chosen, out, answer)
    }
}

impl<M: Checking> Offered<M> {
    fn done(mut self) -> (Receiver<M>, Bits, Vec<Block>) {
        self.receiver.matrix.end();
        let chosen = self.receiver.chosen(0, self.out.len());
        (self.receiver, chosen, std::mem::take(&mut *self.out))
    }
}

impl Offered<SemiHonest> {
    /// The receiver for the next chunk, the choice bits and the OTs' `t_j`.
    pub fn finish(self) -> (Receiver<SemiHonest>, Bits, Vec<Block>) {
        self.done()
    }
}

impl<M: Checking> CotReceiver for Receiver<M> {
    type Model = M;

    const CHUNK: usize = CALL * <M as Checking>::CHUNK;

    fn backend(&self) -> Backend {
        self.matrix.backend
    }

    fn extend_each(
        &mut self,
        ch: &mut dyn Channel,
        choices: Option<&Bits>,
        n: usize,
        each: impl FnMut(usize, &mut [Block]),
    ) -> Result<Bits> {
        let mut all = Bits::default();
        if let Some(choices) = choices {
            check_length(choices, n)?;
        }
        self.chunks(ch, choices.map(Bits::words), n, each, |bits| all.extend_from(&bits))?;
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
