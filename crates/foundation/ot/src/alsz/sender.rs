//! The sender of the extension: receiver of the base OTs and of the matrix.

use std::cmp::Ordering;

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Prg, Result, SessionId, declassify, mask, verdict};
use rand_core::CryptoRng;
use subtle::Choice;
use zeroize::{Zeroize, Zeroizing};

use super::matrix::{Matrix, Piece, State, WIDTH, fill, pieces};
use super::{BASE, CHUNK, Parameters, check};
use crate::base::BaseOt;
use crate::checks;
use crate::model::{AtLeast, Malicious};
use crate::random::RandomSender;
use crate::seeds::ReceiverSeeds;

/// The sender: gets both messages of each OT.
///
/// Made once and extended again and again. Every call of one side meets the call of the same kind and length at the
/// other. After an error it refuses to go on.
pub struct Sender {
    /// `s`: the choice bits of the base OTs.
    s: Bits,
    /// `G(k_i^(s_i))` for each row.
    rows: Vec<Prg>,
    /// Draws the seeds of the checks.
    challenge: Prg,
    /// The rows `G(k_i^(s_i))` of a chunk.
    g: Matrix,
    /// The rows `u` of a chunk.
    u: Matrix,
    /// The rows `q` of a piece. Secret.
    q: Zeroizing<Vec<u8>>,
    state: State,
}

impl Sender {
    /// Runs the base OTs, as their receiver.
    ///
    /// `session` must serve this extension alone: two extensions in one session each take a child of it.
    ///
    /// # Errors
    /// Errors of [`BaseOt::receive`].
    pub fn setup<B: BaseOt<Model: AtLeast<Malicious>>>(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        parameters: Parameters,
        rng: &mut dyn CryptoRng,
    ) -> Result<Sender> {
        let rows = parameters.rows;
        let mut s = Zeroizing::new(vec![0; rows.div_ceil(8)]);
        rng.fill_bytes(&mut s);
        let seeds = B::receive(ch, &session.child(BASE), &Bits::from_bytes(&s, rows), rng)?;
        Sender::new(session, backend, parameters, seeds.weaken(), rng)
    }

    /// The sender from as many random OTs as [`Parameters`] has rows. Their choice bits must be uniform.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there are more or fewer.
    pub fn new(
        session: &SessionId,
        backend: Backend,
        parameters: Parameters,
        seeds: ReceiverSeeds<Malicious>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Sender> {
        let state = State::new(session, backend, parameters, seeds.len())?;
        let mut challenge = Zeroizing::new([0; 16]);
        rng.fill_bytes(challenge.as_mut());
        Ok(Sender {
            s: seeds.choices().clone(),
            rows: seeds.chosen().iter().map(|&seed| Prg::new(backend, seed)).collect(),
            challenge: Prg::new(backend, Block::new(*challenge)),
            g: Matrix::new(parameters.rows),
            u: Matrix::new(parameters.rows),
            q: Zeroizing::new(vec![0; Parameters::MAX_ROWS * WIDTH]),
            state,
        })
    }

    /// One chunk of random OTs, where the last `sent` rows are on the wire.
    fn chunk(&mut self, ch: &mut dyn Channel, sent: usize, out: &mut [[Block; 2]]) -> Result<()> {
        self.state.begin()?;
        let n = out.len();
        self.g.begin(n);
        self.u.begin(n);
        for piece in pieces(n) {
            self.take(ch, sent, piece)?;
        }
        // Step 3: the pairs are drawn when the rows are here. The receiver need not wait for the rest of the work on
        // them.
        let seed = declassify(self.challenge.block(), "the receiver is told the pairs");
        ch.send(&seed.to_bytes())?;
        ch.flush()?;
        self.distinct(n)?;
        // What is written here is not given out before the check. The last piece may be all spare.
        for (piece, out) in pieces(n).zip(out.chunks_mut(8 * WIDTH)) {
            self.columns(piece, out);
        }
        let pairs = check::pairs(seed, self.state.backend, self.state.parameters);
        let (g, u) = (&self.g, &self.u);
        let zero = [0; WIDTH];
        // Secret: which of the receiver's hashes they are tells `s`.
        let own = Zeroizing::new(self.state.hashes(n, 2 * pairs.len(), |piece, i| {
            let (alpha, beta) = pairs[i / 2];
            let u = |row| if i & 1 == 0 { &zero[..piece.width] } else { u.row(piece, row) };
            [g.row(piece, alpha), g.row(piece, beta), u(alpha), u(beta)]
        }));
        let mut theirs = vec![[0; 32]; 4 * pairs.len()];
        ch.recv(theirs.as_flattened_mut())?;
        let mut honest = Choice::from(1);
        for ((&(alpha, beta), own), theirs) in pairs.iter().zip(own.as_chunks::<2>().0).zip(theirs.as_chunks().0) {
            let [a, b] = [alpha, beta].map(|i| Choice::from(u8::from(self.s.get(i))));
            honest &= check::equal(&check::select(theirs, a, b), &own[0]);
            honest &= check::equal(&check::select(theirs, !a, !b), &own[1]);
        }
        // All pairs are looked at before the verdict, which tells the receiver whether it guessed right and no more.
        if !verdict(honest) {
            return Err(checks::INCONSISTENT_CHOICES.into());
        }
        self.state.end();
        Ok(())
    }

    /// Step 2, for a piece: a row that is not sent is zero.
    fn take(&mut self, ch: &mut dyn Channel, sent: usize, piece: Piece) -> Result<()> {
        let rows = self.rows.len();
        let wire = &mut self.state.wire;
        wire.clear();
        wire.resize(rows * piece.width, 0);
        ch.recv(&mut wire[(rows - sent) * piece.width..])?;
        let u = self.u.piece(piece).chunks_exact_mut(piece.padded);
        u.zip(wire.chunks_exact(piece.width)).for_each(|(u, wire)| u[..piece.width].copy_from_slice(wire));
        fill(self.g.piece(piece), piece, self.rows.iter_mut());
        Ok(())
    }

    /// Step 4, for a piece: `q^i = G(k_i^(s_i)) ^ s_i u^i`, and its columns.
    fn columns(&mut self, piece: Piece, out: &mut [[Block; 2]]) {
        let q = &mut self.q[..Parameters::MAX_ROWS * piece.padded];
        let mut rows = q.chunks_exact_mut(piece.padded).enumerate();
        for (i, q) in (&mut rows).take(self.rows.len()) {
            let chosen = mask(self.s.get(i)) as u8;
            let (g, u) = (self.g.row(piece, i), self.u.row(piece, i));
            for ((q, g), u) in q.iter_mut().zip(g).zip(u) {
                *q = g ^ (u & chosen);
            }
        }
        rows.for_each(|(_, row)| row.fill(0));
        let mut bytes = Zeroizing::new(self.s.to_bytes());
        bytes.resize(32, 0);
        let mut s = [0, 16].map(|at| Block::new(std::array::from_fn(|i| bytes[at + i])));
        let ([low, high], hash) = self.state.columns(q);
        hash.pairs(s, low, high, out);
        s.zeroize();
    }

    /// Checks that no two rows u are equal.
    fn distinct(&self, n: usize) -> Result<()> {
        let mut rows: Vec<usize> = (0..self.rows.len()).collect();
        let compare = |&a: &usize, &b: &usize| {
            let mut each = pieces(n).map(|piece| self.u.row(piece, a).cmp(self.u.row(piece, b)));
            each.find(|order| order.is_ne()).unwrap_or(Ordering::Equal)
        };
        rows.sort_unstable_by(compare);
        if rows.windows(2).any(|pair| compare(&pair[0], &pair[1]).is_eq()) {
            return Err(checks::EQUAL_ROWS.into());
        }
        Ok(())
    }

    fn chunks(&mut self, ch: &mut dyn Channel, sent: usize, out: &mut [[Block; 2]]) -> Result<()> {
        for out in out.chunks_mut(CHUNK) {
            if let Err(error) = self.chunk(ch, sent, out) {
                out.as_flattened_mut().zeroize();
                return Err(error);
            }
        }
        Ok(())
    }
}

impl RandomSender for Sender {
    type Model = Malicious;

    fn sender_random(&mut self, ch: &mut dyn Channel, out: &mut [[Block; 2]]) -> Result<()> {
        self.chunks(ch, self.rows.len(), out)
    }

    fn random(&mut self, ch: &mut dyn Channel, out: &mut [[Block; 2]]) -> Result<()> {
        self.chunks(ch, self.rows.len() - 1, out)
    }
}
