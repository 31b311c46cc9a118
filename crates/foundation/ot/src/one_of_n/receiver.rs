//! The receiver of the extension: sender of the seeds and of the matrix.

use std::marker::PhantomData;

use comity_channel::Channel;
use comity_core::{Backend, Block, Error, Prg, Result, SessionId, transpose};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::bch::MESSAGE;
use super::code::{Code, Scratch, room};
use super::hash::ColumnHash;
use super::{
    Answer, BASE, BASE_LEVELS, Challenge, Corrections, Kk13, Kkrt16, OneOfN, Oos16, PIECE, Piece, ROWS,
    ROWS_OF_A_CHUNK, check_seeds, code, fits, hashes_of_rows, in_range, pieces, width,
};
use crate::base::BaseOt;
use crate::hashed::HashedSender;
use crate::model::AtLeast;
use crate::random::RandomSender;
use crate::seeds::SenderSeeds;
use crate::softspoken::{self, Checking};
use crate::stream::begin;

/// The receiver: has a choice in each OT, gets the block of it.
///
/// Made once by [`Receiver::setup`] and extended again and again by [`Receiver::receive`], or a chunk at a time by
/// [`Receiver::offer`]. After an error it refuses to go on.
pub struct Receiver<S: OneOfN> {
    session: SessionId,
    backend: Backend,
    code: Code,
    hash: ColumnHash,
    /// `G(k_i^0)` and `G(k_i^1)` for each row.
    rows: Vec<[Prg; 2]>,
    /// Draws the choices of masks.
    mask: Prg,
    /// The index of the next OT and of the next chunk.
    next: u64,
    chunk: u64,
    broken: bool,
    /// The rows of a chunk, piece by piece, and in the malicious model those of its choices. All that follows is
    /// secret.
    t: Zeroizing<Vec<Block>>,
    choices: Zeroizing<Vec<Block>>,
    words: Zeroizing<Vec<Block>>,
    wire: Zeroizing<Vec<Block>>,
    columns: Zeroizing<Vec<Block>>,
    scratch: Scratch,
    scheme: PhantomData<S>,
}

/// The receiver that has sent a chunk's corrections.
pub struct Offered<S: OneOfN> {
    receiver: Receiver<S>,
    n: usize,
}

impl<S: OneOfN> Receiver<S> {
    /// Runs the base OTs, as their receiver, and extends them to seeds.
    ///
    /// `session` must serve this extension alone: two extensions in one session each take a child of it.
    ///
    /// # Errors
    /// Errors of [`BaseOt::receive`] and of the [extension](crate::softspoken).
    pub fn setup<B: BaseOt<Model: AtLeast<S::Model>>>(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        rng: &mut dyn CryptoRng,
    ) -> Result<Receiver<S>> {
        let base = session.child(BASE);
        let mut delta = Zeroizing::new([0; 16]);
        rng.fill_bytes(delta.as_mut());
        let delta = Block::new(*delta);
        let inner = softspoken::Sender::<S::Model>::setup::<B>(ch, &base, backend, BASE_LEVELS, delta, rng)?;
        let mut pairs = vec![[Block::ZERO; 2]; ROWS];
        HashedSender::new(inner).sender_random(ch, &mut pairs)?;
        Receiver::new(session, backend, SenderSeeds::new(pairs), rng)
    }

    /// The receiver from 512 random OTs.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there are not 512 OTs.
    pub fn new(
        session: &SessionId,
        backend: Backend,
        seeds: SenderSeeds<S::Model>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Receiver<S>> {
        check_seeds(seeds.len())?;
        let mut mask = Zeroizing::new([0; 16]);
        rng.fill_bytes(mask.as_mut());
        Ok(Receiver {
            session: *session,
            backend,
            code: code::<S>(backend, session),
            hash: ColumnHash::new(backend),
            rows: seeds.pairs().iter().map(|pair| pair.map(|seed| Prg::new(backend, seed))).collect(),
            mask: Prg::new(backend, Block::new(*mask)),
            next: 0,
            chunk: 0,
            broken: false,
            t: Zeroizing::default(),
            choices: Zeroizing::default(),
            words: Zeroizing::default(),
            wire: Zeroizing::default(),
            columns: Zeroizing::default(),
            scratch: Scratch::default(),
            scheme: PhantomData,
        })
    }

    /// The next OTs, one for each choice: `out[j]` gets the block of OT `j` at `choices[j]`.
    ///
    /// # Errors
    /// Errors of the channel, and [`InvalidInput`](comity_core::Kind) if the lengths differ or a choice is
    /// out of range.
    pub fn receive(&mut self, ch: &mut dyn Channel, choices: &[u128], out: &mut [Block]) -> Result<()> {
        if choices.len() != out.len() {
            let (choices, outputs) = (choices.len(), out.len());
            return Err(Error::invalid_input(format!("{choices} choices for {outputs} oblivious transfers")));
        }
        in_range::<S>(choices.iter().copied())?;
        begin(&mut self.broken)?;
        for (choices, out) in choices.chunks(S::CHUNK).zip(out.chunks_mut(S::CHUNK)) {
            self.start(choices.len());
            for piece in pieces::<S>(choices.len()) {
                ch.send(Block::bytes_of(self.correct(piece, choices)))?;
            }
            if S::Model::CHECKED {
                let mut challenge = [0; Challenge::BYTES];
                ch.recv(&mut challenge)?;
                let answer = self.answer(choices.len(), &Challenge::from_bytes(challenge));
                ch.send(&answer.to_bytes())?;
                ch.flush()?;
            }
            self.blocks(out);
        }
        ch.flush()?;
        self.broken = false;
        Ok(())
    }

    /// A chunk of at most [`CHUNK`](OneOfN::CHUNK) OTs, one for each choice: the corrections to send.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there are too many, a choice is out of range, or a call of
    /// [`receive`](Receiver::receive) failed before.
    pub fn offer(mut self, choices: &[u128]) -> Result<(Offered<S>, Corrections)> {
        fits::<S>(choices.len())?;
        in_range::<S>(choices.iter().copied())?;
        begin(&mut self.broken)?;
        self.start(choices.len());
        let mut corrections = Vec::with_capacity(16 * ROWS * width::<S>(choices.len()));
        for piece in pieces::<S>(choices.len()) {
            corrections.extend_from_slice(Block::bytes_of(self.correct(piece, choices)));
        }
        Ok((Offered { receiver: self, n: choices.len() }, Corrections(corrections)))
    }

    /// Room for the rows of a chunk.
    fn start(&mut self, n: usize) {
        let width = width::<S>(n);
        room(&mut self.t, ROWS * width);
        if S::Model::CHECKED {
            room(&mut self.choices, MESSAGE * width);
        }
    }

    /// Step 2 for a piece of a chunk with these choices: `t^i = G(k_i^0)` and `u^i = t^i ^ G(k_i^1) ^ c^i`.
    fn correct(&mut self, Piece { at, width }: Piece, choices: &[u128]) -> &[Block] {
        let words = room(&mut self.words, 128 * width);
        words.fill(Block::ZERO);
        let choices = choices.get(128 * at..).unwrap_or_default();
        words.iter_mut().zip(choices).for_each(|(word, &choice)| *word = Block::from_u128(choice));
        if S::Model::CHECKED && choices.len() <= 128 * (width - 1) {
            // The chunk's last block is the mask.
            for word in &mut words[128 * (width - 1)..] {
                *word = Block::from_u128(self.mask.block().to_u128() >> (128 - S::CHOICE_BITS));
            }
        }
        let wire = room(&mut self.wire, ROWS * width);
        self.code.rows(self.backend, words, &mut self.scratch, wire);
        if S::Model::CHECKED {
            // The code is systematic: its first rows are those of the choices.
            self.choices[MESSAGE * at..MESSAGE * (at + width)].copy_from_slice(&wire[..MESSAGE * width]);
        }
        let other = room(&mut self.columns, width);
        let t = self.t[ROWS * at..].chunks_exact_mut(width);
        for ((t, u), [zero, one]) in t.zip(wire.chunks_exact_mut(width)).zip(&mut self.rows) {
            zero.fill_blocks(t);
            one.fill_blocks(other);
            for ((u, t), other) in u.iter_mut().zip(t).zip(&*other) {
                *u = *u ^ *t ^ *other;
            }
        }
        wire
    }

    /// The answer for a chunk of `n` OTs.
    fn answer(&mut self, n: usize, challenge: &Challenge) -> Answer {
        let choices = hashes_of_rows::<S, MESSAGE>(self.backend, challenge, &self.choices, n);
        let rows = Zeroizing::new(hashes_of_rows::<S, ROWS>(self.backend, challenge, &self.t, n));
        self.chunk += 1;
        Answer::bind(ROWS_OF_A_CHUNK, (&self.session, self.chunk - 1), challenge, choices, &rows[..])
    }

    /// Step 4 for a chunk: hashes its columns.
    fn blocks(&mut self, out: &mut [Block]) {
        out.fill(Block::ZERO);
        for (Piece { at, width }, out) in pieces::<S>(out.len()).zip(out.chunks_mut(128 * PIECE)) {
            let rows = self.t[ROWS * at..ROWS * (at + width)].chunks_exact(128 * width);
            let columns = room(&mut self.columns, 128 * width);
            for (quarter, rows) in rows.enumerate() {
                transpose(self.backend, Block::bytes_of(rows), Block::bytes_of_mut(columns), 128, 128 * width);
                self.hash.absorb(quarter, &columns[..out.len()], out);
            }
        }
        self.hash.finish(self.next.., out);
        self.next += out.len() as u64;
    }
}

impl<S: OneOfN> Offered<S> {
    fn done(mut self) -> (Receiver<S>, Vec<Block>) {
        let mut out = vec![Block::ZERO; self.n];
        self.receiver.blocks(&mut out);
        self.receiver.broken = false;
        (self.receiver, out)
    }
}

impl Offered<Kk13> {
    /// The receiver for the next chunk, and the blocks.
    pub fn finish(self) -> (Receiver<Kk13>, Vec<Block>) {
        self.done()
    }
}

impl Offered<Kkrt16> {
    /// The receiver for the next chunk, and the blocks.
    pub fn finish(self) -> (Receiver<Kkrt16>, Vec<Block>) {
        self.done()
    }
}

impl Offered<Oos16> {
    /// Answers the sender's challenge: the receiver for the next chunk, the blocks, and the answer to send.
    pub fn answer(mut self, challenge: &Challenge) -> (Receiver<Oos16>, Vec<Block>, Answer) {
        let answer = self.receiver.answer(self.n, challenge);
        let (receiver, out) = self.done();
        (receiver, out, answer)
    }
}
