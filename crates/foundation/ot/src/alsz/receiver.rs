//! The receiver of the extension: sender of the base OTs and of the matrix.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Prg, Result, SessionId, sum_rows};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::matrix::{Matrix, State, WIDTH, fill, pieces};
use super::{BASE, CHUNK, Parameters, SPARE, check};
use crate::base::BaseOt;
use crate::cot::check_length;
use crate::model::{AtLeast, Malicious};
use crate::random::RandomReceiver;
use crate::seeds::SenderSeeds;

/// The receiver: has choice bits, gets the chosen message of each OT.
///
/// Made once and extended again and again. Every call of one side meets the call of the same kind and length at the
/// other. After an error it refuses to go on.
pub struct Receiver {
    /// `G(k_i^0)` and `G(k_i^1)` for each row.
    rows: Vec<[Prg; 2]>,
    /// Draws the choice bits of spare columns.
    spare: Prg,
    /// The rows of a chunk: those of all `G(k_i^0)`, and of all `G(k_i^1)`.
    zeros: Matrix,
    ones: Matrix,
    state: State,
}

impl Receiver {
    /// Runs the base OTs, as their sender.
    ///
    /// `session` must serve this extension alone: two extensions in one session each take a child of it.
    ///
    /// # Errors
    /// Errors of [`BaseOt::send`].
    pub fn setup<B: BaseOt<Model: AtLeast<Malicious>>>(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        parameters: Parameters,
        rng: &mut dyn CryptoRng,
    ) -> Result<Receiver> {
        let seeds = B::send(ch, &session.child(BASE), parameters.rows, rng)?;
        Receiver::new(session, backend, parameters, seeds.weaken(), rng)
    }

    /// The receiver from as many random OTs as [`Parameters`] has rows.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if there are more or fewer.
    pub fn new(
        session: &SessionId,
        backend: Backend,
        parameters: Parameters,
        seeds: SenderSeeds<Malicious>,
        rng: &mut dyn CryptoRng,
    ) -> Result<Receiver> {
        let state = State::new(session, backend, parameters, seeds.len())?;
        let mut spare = Zeroizing::new([0; 16]);
        rng.fill_bytes(spare.as_mut());
        Ok(Receiver {
            rows: seeds.pairs().iter().map(|pair| pair.map(|seed| Prg::new(backend, seed))).collect(),
            spare: Prg::new(backend, Block::new(*spare)),
            zeros: Matrix::new(Parameters::MAX_ROWS),
            ones: Matrix::new(parameters.rows),
            state,
        })
    }

    /// One chunk: random OTs for the given choice bits; without them, for those that the first row defines.
    fn chunk(&mut self, ch: &mut dyn Channel, choices: Option<&Bits>, out: &mut [Block]) -> Result<Bits> {
        self.state.begin()?;
        let n = out.len();
        self.zeros.begin(n);
        self.ones.begin(n);
        // The choice bits, and those of the spare columns behind them.
        let mut r = Zeroizing::new(vec![0; n.div_ceil(8) + SPARE / 8]);
        if let Some(choices) = choices {
            let (chosen, spare) = r.split_at_mut(n.div_ceil(8));
            chosen.copy_from_slice(&Zeroizing::new(choices.to_bytes()));
            self.spare.fill(spare);
        }
        self.offer(ch, choices.is_some(), &mut r, out)?;
        // Step 3: the sender says which pairs only now.
        let mut seed = [0; 16];
        ch.recv(&mut seed)?;
        let pairs = check::pairs(Block::new(seed), self.state.backend, self.state.parameters);
        let (zeros, ones) = (&self.zeros, &self.ones);
        let hashes = self.state.hashes(n, 4 * pairs.len(), |piece, i| {
            let (alpha, beta) = pairs[i / 4];
            [
                if i & 2 == 0 { zeros } else { ones }.row(piece, alpha),
                if i & 1 == 0 { zeros } else { ones }.row(piece, beta),
            ]
        });
        ch.send(hashes.as_flattened())?;
        ch.flush()?;
        self.state.end();
        Ok(Bits::from_bytes(&r, n))
    }

    /// Step 2, and step 4, which needs no answer, piece by piece. Choice bits that are not `given` are written to `r`.
    fn offer(&mut self, ch: &mut dyn Channel, given: bool, r: &mut [u8], out: &mut [Block]) -> Result<()> {
        let n = out.len();
        let mut out = out.chunks_mut(8 * WIDTH);
        for (piece, r) in pieces(n).zip(r.chunks_mut(WIDTH)) {
            let (zeros, ones) = (self.zeros.piece(piece), self.ones.piece(piece));
            fill(zeros, piece, self.rows.iter_mut().map(|[zero, _]| zero));
            fill(ones, piece, self.rows.iter_mut().map(|[_, one]| one));
            let (backend, unsent) = (self.state.backend, usize::from(!given));
            let wire = &mut self.state.wire;
            wire.resize((self.rows.len() - unsent) * piece.width, 0);
            let mut masks = zeros.chunks_exact(piece.padded).zip(ones.chunks_exact(piece.padded));
            if let Some((zero, one)) = masks.by_ref().take(unsent).next() {
                // D13.3 Protocol 4: the first u is zero and not sent, and so defines r.
                sum_rows(backend, [zero, one], r);
            }
            for (u, (zero, one)) in wire.chunks_exact_mut(piece.width).zip(masks) {
                sum_rows(backend, [zero, one, r], u);
            }
            ch.send(wire)?;
            // The last piece may be all spare.
            if let Some(out) = out.next() {
                let ([low, high], hash) = self.state.columns(zeros);
                hash.blocks(low, high, out);
            }
        }
        Ok(())
    }
}

impl RandomReceiver for Receiver {
    type Model = Malicious;

    fn sender_random(&mut self, ch: &mut dyn Channel, choices: &Bits, out: &mut [Block]) -> Result<()> {
        check_length(choices, out.len())?;
        for (out, start) in out.chunks_mut(CHUNK).zip((0..).step_by(CHUNK)) {
            self.chunk(ch, Some(&choices.slice(start, out.len())), out)?;
        }
        Ok(())
    }

    fn random(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<Bits> {
        let mut choices = Bits::zeros(0);
        for out in out.chunks_mut(CHUNK) {
            choices.extend_from(&self.chunk(ch, None, out)?);
        }
        Ok(choices)
    }
}
