//! The sender of the extension: receiver of the seeds and of the matrix.

use std::marker::PhantomData;
use std::sync::Arc;

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Prg, Result, SessionId, transpose, verdict};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::code::{encode, room};
use super::hash::ColumnHash;
use super::keys::{Keys, Secret};
use super::{
    Answer, BASE, BASE_LEVELS, Challenge, Corrections, Kk13, Kkrt16, OneOfN, Oos16, Piece, QUARTERS, ROWS,
    ROWS_OF_A_CHUNK, check_seeds, code, fits, hashes_of_rows, pieces, width,
};
use crate::base::BaseOt;
use crate::checks;
use crate::hashed::HashedReceiver;
use crate::model::AtLeast;
use crate::random::RandomReceiver;
use crate::seeds::ReceiverSeeds;
use crate::softspoken::{self, Checking};
use crate::stream::begin;

/// The sender: gets a function from choices to blocks for each OT.
///
/// Made once by [`Sender::setup`] and extended again and again by [`Sender::keys`], or a chunk at a time by
/// [`Sender::take`]. After an error it refuses to go on.
pub struct Sender<S: OneOfN> {
    session: SessionId,
    secret: Arc<Secret>,
    /// `G(k_i^(s_i))` for each row.
    rows: Vec<Prg>,
    challenges: Prg,
    /// The index of the next OT and of the next chunk.
    next: u64,
    chunk: u64,
    broken: bool,
    /// The rows of a chunk, piece by piece. Secret.
    q: Zeroizing<Vec<Block>>,
    wire: Zeroizing<Vec<Block>>,
    columns: Zeroizing<Vec<Block>>,
    scheme: PhantomData<S>,
}

/// The sender, with a chunk's corrections.
pub struct Taken<S: OneOfN> {
    sender: Sender<S>,
    n: usize,
    challenge: Challenge,
}

impl<S: OneOfN> Sender<S> {
    /// Runs the base OTs, as their sender, and extends them to seeds with random choice bits.
    ///
    /// `session` must serve this extension alone: two extensions in one session each take a child of it.
    ///
    /// # Errors
    /// Errors of [`BaseOt::send`] and of the [extension](crate::softspoken).
    pub fn setup<B: BaseOt<Model: AtLeast<S::Model>>>(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        rng: &mut dyn CryptoRng,
    ) -> Result<Sender<S>> {
        let base = session.child(BASE);
        let inner = softspoken::Receiver::<S::Model>::setup::<B>(ch, &base, backend, BASE_LEVELS, rng)?;
        let mut bytes = Zeroizing::new([0; ROWS / 8]);
        rng.fill_bytes(bytes.as_mut());
        let choices = Bits::from_bytes(bytes.as_ref(), ROWS);
        let mut chosen = vec![Block::ZERO; ROWS];
        HashedReceiver::new(inner).sender_random(ch, &choices, &mut chosen)?;
        Sender::new(session, backend, ReceiverSeeds::new(choices, chosen), rng)
    }

    /// The sender from 512 random OTs, whose choice bits must be uniform.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there are not 512 OTs.
    pub fn new(
        session: &SessionId,
        backend: Backend,
        seeds: ReceiverSeeds<S::Model>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Sender<S>> {
        check_seeds(seeds.len())?;
        let mut challenges = Zeroizing::new([0; 16]);
        rng.fill_bytes(challenges.as_mut());
        let bytes = Zeroizing::new(seeds.choices().to_bytes());
        let mut s = [Block::ZERO; QUARTERS];
        Block::bytes_of_mut(&mut s).copy_from_slice(&bytes);
        let secret = Secret { backend, code: code::<S>(backend, session), hash: ColumnHash::new(backend), s };
        Ok(Sender {
            session: *session,
            secret: Arc::new(secret),
            rows: seeds.chosen().iter().map(|&seed| Prg::new(backend, seed)).collect(),
            challenges: Prg::new(backend, Block::new(*challenges)),
            next: 0,
            chunk: 0,
            broken: false,
            q: Zeroizing::default(),
            wire: Zeroizing::default(),
            columns: Zeroizing::default(),
            scheme: PhantomData,
        })
    }

    /// The next `n` OTs, for choices that the receiver makes.
    ///
    /// # Errors
    /// Errors of the channel; in the malicious model
    /// [`InconsistentChoices`](crate::checks::INCONSISTENT_CHOICES).
    pub fn keys(&mut self, ch: &mut dyn Channel, n: usize) -> Result<Keys<S>> {
        begin(&mut self.broken)?;
        let mut keys = Keys::room(&self.secret, self.next, n);
        for start in (0..n).step_by(S::CHUNK) {
            let n = S::CHUNK.min(n - start);
            self.start(n);
            for piece in pieces::<S>(n) {
                ch.recv(Block::bytes_of_mut(room(&mut self.wire, ROWS * piece.width)))?;
                self.correct(piece);
            }
            if S::Model::CHECKED {
                let challenge = Challenge::draw(&mut self.challenges);
                ch.send(&challenge.to_bytes())?;
                let mut answer = [0; Answer::BYTES];
                ch.recv(&mut answer)?;
                self.check(n, &challenge, &Answer::from_bytes(&answer)?)?;
            }
            self.columns(n, &mut keys);
        }
        self.broken = false;
        Ok(keys)
    }

    /// Takes the corrections of a chunk of `n` OTs.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if `n` is above [`CHUNK`](OneOfN::CHUNK), or a call of
    /// [`keys`](Sender::keys) failed before; [`Malformed`](comity_core::Kind) if the message is not for
    /// `n` OTs.
    pub fn take(mut self, n: usize, corrections: &Corrections) -> Result<Taken<S>> {
        fits::<S>(n)?;
        begin(&mut self.broken)?;
        let corrections = Corrections::from_bytes::<S>(corrections.as_bytes(), n)?;
        self.start(n);
        let mut wire = corrections.as_bytes();
        for piece in pieces::<S>(n) {
            let (now, later) = wire.split_at(16 * ROWS * piece.width);
            Block::bytes_of_mut(room(&mut self.wire, ROWS * piece.width)).copy_from_slice(now);
            self.correct(piece);
            wire = later;
        }
        let challenge = Challenge::draw(&mut self.challenges);
        Ok(Taken { sender: self, n, challenge })
    }

    /// Room for the rows of a chunk.
    fn start(&mut self, n: usize) {
        room(&mut self.q, ROWS * width::<S>(n));
    }

    /// Step 3 for a piece: `q^i = G(k_i^(s_i)) ^ s_i u^i`.
    fn correct(&mut self, Piece { at, width }: Piece) {
        let q = self.q[ROWS * at..].chunks_exact_mut(width);
        let s = self.secret.s.iter().flat_map(|s| (0..128).map(move |i| s.to_u128() >> i & 1 == 1));
        for (((q, u), prg), bit) in q.zip(self.wire.chunks_exact(width)).zip(&mut self.rows).zip(s) {
            prg.fill_blocks(q);
            let mask = Block::from_u128(u128::MAX).masked(bit);
            q.iter_mut().zip(u).for_each(|(q, u)| *q ^= *u & mask);
        }
    }

    /// Checks the answer for a chunk: `R(q^i)` is `R(t^i)`, and where `s_i` is set that of `c^i` besides.
    fn check(&mut self, n: usize, challenge: &Challenge, answer: &Answer) -> Result<()> {
        let Secret { backend, s, .. } = &*self.secret;
        let mut rows = Zeroizing::new(hashes_of_rows::<S, ROWS>(*backend, challenge, &self.q, n));
        let mut words = [Block::ZERO; ROWS];
        encode(&answer.choices, 1, &mut Zeroizing::default(), &mut words);
        for (i, (row, word)) in rows.iter_mut().zip(&words).enumerate() {
            *row ^= word.masked(s[i / 128].to_u128() >> (i % 128) & 1 == 1);
        }
        let expected = Answer::bind(ROWS_OF_A_CHUNK, (&self.session, self.chunk), challenge, answer.choices, &rows[..]);
        self.chunk += 1;
        if !verdict(expected.rows.ct_eq(&answer.rows)) {
            return Err(checks::INCONSISTENT_CHOICES.into());
        }
        Ok(())
    }

    /// Writes the columns of a chunk, the next one in `keys`.
    fn columns(&mut self, n: usize, keys: &mut Keys<S>) {
        let start = (self.next - keys.first) as usize;
        for Piece { at, width } in pieces::<S>(n) {
            let columns = n.saturating_sub(128 * at).min(128 * width);
            let rows = self.q[ROWS * at..ROWS * (at + width)].chunks_exact(128 * width);
            let spare = room(&mut self.columns, 128 * width);
            for (rows, q) in rows.zip(&mut keys.q) {
                // The mask and the padding have no place in the keys.
                let q = &mut q[(start + 128 * at).min(start + n)..][..columns];
                let out = if columns == 128 * width { &mut *q } else { &mut *spare };
                transpose(self.secret.backend, Block::bytes_of(rows), Block::bytes_of_mut(out), 128, 128 * width);
                if columns < 128 * width {
                    q.copy_from_slice(&spare[..columns]);
                }
            }
        }
        self.next += n as u64;
    }
}

impl<S: OneOfN> Taken<S> {
    fn done(mut self) -> (Sender<S>, Keys<S>) {
        let mut keys = Keys::room(&self.sender.secret, self.sender.next, self.n);
        self.sender.columns(self.n, &mut keys);
        self.sender.broken = false;
        (self.sender, keys)
    }
}

impl Taken<Kk13> {
    /// The sender for the next chunk, and the OTs.
    pub fn finish(self) -> (Sender<Kk13>, Keys<Kk13>) {
        self.done()
    }
}

impl Taken<Kkrt16> {
    /// The sender for the next chunk, and the OTs.
    pub fn finish(self) -> (Sender<Kkrt16>, Keys<Kkrt16>) {
        self.done()
    }
}

impl Taken<Oos16> {
    /// The challenge to send.
    pub fn challenge(&self) -> Challenge {
        self.challenge
    }

    /// Checks the answer: the sender for the next chunk, and the OTs.
    ///
    /// # Errors
    /// [`InconsistentChoices`](crate::checks::INCONSISTENT_CHOICES); the extension is gone then.
    pub fn check(mut self, answer: &Answer) -> Result<(Sender<Oos16>, Keys<Oos16>)> {
        self.sender.check(self.n, &self.challenge, answer)?;
        Ok(self.done())
    }
}
