//! The sender of the extension: receiver of the base OTs and of the matrix.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Misbehaviour, Prg, Result, SessionId};
use rand_core::CryptoRng;
use subtle::Choice;
use zeroize::{Zeroize, Zeroizing};

use super::check::{self, HASH, SumHash};
use super::columns::{ColumnHash, columns};
use super::receiver::{begin, check_count, shape};
use super::{BASE, CHUNK, Parameters};
use crate::base::BaseOt;
use crate::{AtLeast, Malicious, RandomSender, ReceiverSeeds};

/// The sender: gets both messages of each OT.
///
/// Made once and extended again and again. Every call of one side meets the call of the same kind and length at the
/// other. After an error it refuses to go on.
pub struct Sender {
    session: SessionId,
    backend: Backend,
    parameters: Parameters,
    /// `s`: the choice bits of the base OTs.
    s: Bits,
    /// `G(k_i^(s_i))` for each row.
    rows: Vec<Prg>,
    /// Draws the seeds of the checks.
    challenge: Prg,
    hash: ColumnHash,
    chunk: u64,
    broken: bool,
}

impl Sender {
    /// Runs the base OTs, as their receiver.
    ///
    /// `session` is that of this extension alone: of two under one session each takes a child of it.
    ///
    /// # Errors
    /// Those of [`BaseOt::receive`].
    pub fn setup<B: BaseOt<Model: AtLeast<Malicious>>, C: Channel + ?Sized>(
        ch: &mut C,
        session: &SessionId,
        backend: Backend,
        parameters: Parameters,
        rng: &mut impl CryptoRng,
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
    /// [`InvalidInput`](comity_core::Error::InvalidInput) if there are more or fewer.
    pub fn new(
        session: &SessionId,
        backend: Backend,
        parameters: Parameters,
        seeds: ReceiverSeeds<Malicious>,
        rng: &mut impl CryptoRng,
    ) -> Result<Sender> {
        check_count(parameters, seeds.len())?;
        let mut challenge = Zeroizing::new([0; 16]);
        rng.fill_bytes(challenge.as_mut());
        Ok(Sender {
            session: *session,
            backend,
            parameters,
            s: seeds.choices().clone(),
            rows: seeds.chosen().iter().map(|&seed| Prg::new(backend, seed)).collect(),
            challenge: Prg::new(backend, Block::new(*challenge)),
            hash: ColumnHash::new(backend),
            chunk: 0,
            broken: false,
        })
    }

    /// One chunk of random OTs, where the last `sent` rows are on the wire.
    fn chunk<C: Channel + ?Sized>(&mut self, ch: &mut C, sent: usize, out: &mut [[Block; 2]]) -> Result<()> {
        let (n, rows) = (out.len(), self.parameters.rows);
        let (stride, padded) = shape(n);
        // Step 2: a row that is not sent is zero.
        let mut u = vec![0; rows * stride];
        ch.recv(&mut u[(rows - sent) * stride..])?;
        let mut g = Zeroizing::new(vec![0; rows * padded]);
        for (row, prg) in g.chunks_exact_mut(padded).zip(&mut self.rows) {
            prg.fill(row);
        }
        // Step 3: the pairs are drawn when the rows are here.
        check::distinct(&u, stride)?;
        let seed = self.challenge.block();
        ch.send(&seed.to_bytes())?;
        let mut hash = SumHash::new(&self.session, self.chunk);
        let mut honest = Choice::from(1);
        for (pair, (alpha, beta)) in check::pairs(seed, self.backend, self.parameters).into_iter().enumerate() {
            let mut hashes = [[0; HASH]; 4];
            ch.recv(hashes.as_flattened_mut())?;
            let [g_alpha, g_beta] = [alpha, beta].map(|i| &g[i * padded..][..stride]);
            let [u_alpha, u_beta] = [alpha, beta].map(|i| &u[i * stride..][..stride]);
            let [a, b] = [alpha, beta].map(|i| Choice::from(u8::from(self.s.get(i))));
            let own = hash.hash(pair, g_alpha, g_beta);
            let other = hash.hash_four(pair, [g_alpha, g_beta, u_alpha, u_beta]);
            honest &= check::equal(&check::select(&hashes, a, b), &own);
            honest &= check::equal(&check::select(&hashes, !a, !b), &other);
        }
        // All pairs are looked at before the verdict, which tells the receiver whether it guessed right and no more.
        if !bool::from(honest) {
            return Err(Misbehaviour::InconsistentChoices.into());
        }
        // Step 4: q^i = G(k_i^(s_i)) ^ s_i u^i.
        for (i, (q, u)) in g.chunks_exact_mut(padded).zip(u.chunks_exact(stride)).enumerate() {
            let chosen = u8::from(self.s.get(i)).wrapping_neg();
            q.iter_mut().zip(u).for_each(|(q, u)| *q ^= u & chosen);
        }
        let mut low = Zeroizing::new(vec![Block::ZERO; 8 * padded]);
        let mut high = Zeroizing::new(vec![Block::ZERO; 8 * padded]);
        columns(self.backend, &g, padded, &mut low, &mut high);
        let mut bytes = Zeroizing::new(self.s.to_bytes());
        bytes.resize(32, 0);
        let mut s = [0, 16].map(|at| Block::new(bytes[at..at + 16].try_into().expect("16 bytes")));
        self.hash.pairs(s, &mut low, &mut high, out);
        s.zeroize();
        self.chunk += 1;
        Ok(())
    }

    fn chunks<C: Channel + ?Sized>(&mut self, ch: &mut C, sent: usize, out: &mut [[Block; 2]]) -> Result<()> {
        for out in out.chunks_mut(CHUNK) {
            begin(&mut self.broken, self.chunk)?;
            self.chunk(ch, sent, out)?;
            self.broken = false;
        }
        Ok(())
    }
}

impl RandomSender for Sender {
    type Model = Malicious;

    fn sender_random<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [[Block; 2]]) -> Result<()> {
        self.chunks(ch, self.parameters.rows, out)
    }

    fn random<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [[Block; 2]]) -> Result<()> {
        self.chunks(ch, self.parameters.rows - 1, out)
    }
}
