//! The receiver of the extension: sender of the base OTs and of the matrix.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Error, Prg, Result, SessionId};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

use super::check::{self, SumHash};
use super::columns::{ColumnHash, columns};
use super::{BASE, CHUNK, CHUNKS, Parameters, SPARE};
use crate::base::BaseOt;
use crate::hashed::same_length;
use crate::{AtLeast, Malicious, RandomReceiver, SenderSeeds};

/// The receiver: has choice bits, gets the chosen message of each OT.
///
/// Made once and extended again and again. Every call of one side meets the call of the same kind and length at the
/// other. After an error it refuses to go on.
pub struct Receiver {
    session: SessionId,
    backend: Backend,
    parameters: Parameters,
    /// `G(k_i^0)` and `G(k_i^1)` for each row.
    rows: Vec<[Prg; 2]>,
    /// Draws the choice bits of spare columns.
    spare: Prg,
    hash: ColumnHash,
    chunk: u64,
    broken: bool,
}

impl Receiver {
    /// Runs the base OTs, as their sender.
    ///
    /// `session` is that of this extension alone: of two under one session each takes a child of it.
    ///
    /// # Errors
    /// Those of [`BaseOt::send`].
    pub fn setup<B: BaseOt<Model: AtLeast<Malicious>>, C: Channel + ?Sized>(
        ch: &mut C,
        session: &SessionId,
        backend: Backend,
        parameters: Parameters,
        rng: &mut impl CryptoRng,
    ) -> Result<Receiver> {
        let seeds = B::send(ch, &session.child(BASE), parameters.rows, rng)?;
        Receiver::new(session, backend, parameters, seeds.weaken(), rng)
    }

    /// The receiver from as many random OTs as [`Parameters`] has rows.
    ///
    /// # Errors
    /// [`Error::InvalidInput`] if there are more or fewer.
    pub fn new(
        session: &SessionId,
        backend: Backend,
        parameters: Parameters,
        seeds: SenderSeeds<Malicious>,
        rng: &mut impl CryptoRng,
    ) -> Result<Receiver> {
        check_count(parameters, seeds.len())?;
        let mut spare = Zeroizing::new([0; 16]);
        rng.fill_bytes(spare.as_mut());
        Ok(Receiver {
            session: *session,
            backend,
            parameters,
            rows: seeds.pairs().iter().map(|pair| pair.map(|seed| Prg::new(backend, seed))).collect(),
            spare: Prg::new(backend, Block::new(*spare)),
            hash: ColumnHash::new(backend),
            chunk: 0,
            broken: false,
        })
    }

    /// One chunk: random OTs for the choice bits given, or if there are none, for those that the first row defines.
    fn chunk<C: Channel + ?Sized>(&mut self, ch: &mut C, choices: Option<&Bits>, out: &mut [Block]) -> Result<Bits> {
        let (n, rows) = (out.len(), self.parameters.rows);
        let (stride, padded) = shape(n);
        // Both G of every row, and r with the spare bits behind it.
        let mut both = Zeroizing::new([vec![0; rows * padded], vec![0; rows * padded]]);
        for (i, prgs) in self.rows.iter_mut().enumerate() {
            for (rows, prg) in both.iter_mut().zip(prgs) {
                prg.fill(&mut rows[i * padded..][..padded]);
            }
        }
        let [zeros, ones] = &*both;
        let row = |side: &'_ Vec<u8>, i: usize| -> std::ops::Range<usize> {
            debug_assert_eq!(side.len(), rows * padded);
            i * padded..i * padded + stride
        };
        let mut r = Zeroizing::new(vec![0; stride]);
        let sent = match choices {
            Some(choices) => {
                let (chosen, spare) = r.split_at_mut(n.div_ceil(8));
                chosen.copy_from_slice(&Zeroizing::new(choices.to_bytes())[..chosen.len()]);
                self.spare.fill(spare);
                rows
            }
            None => {
                // D13.3 Protocol 4: the first u is zero and not sent, and so defines r.
                let first = zeros[row(zeros, 0)].iter().zip(&ones[row(ones, 0)]);
                r.iter_mut().zip(first).for_each(|(r, (zero, one))| *r = zero ^ one);
                rows - 1
            }
        };
        // Step 2.
        let mut u = vec![0; stride];
        for i in rows - sent..rows {
            let masks = zeros[row(zeros, i)].iter().zip(&ones[row(ones, i)]);
            u.iter_mut().zip(masks).zip(&*r).for_each(|((u, (zero, one)), r)| *u = zero ^ one ^ r);
            ch.send(&u)?;
        }
        // Step 3: the sender says which pairs only now.
        let mut seed = [0; 16];
        ch.recv(&mut seed)?;
        let mut hash = SumHash::new(&self.session, self.chunk);
        for (pair, (alpha, beta)) in
            check::pairs(Block::new(seed), self.backend, self.parameters).into_iter().enumerate()
        {
            for first in [zeros, ones] {
                for second in [zeros, ones] {
                    ch.send(&hash.hash(pair, &first[row(first, alpha)], &second[row(second, beta)]))?;
                }
            }
        }
        ch.flush()?;
        // Step 4.
        let mut low = Zeroizing::new(vec![Block::ZERO; 8 * padded]);
        let mut high = Zeroizing::new(vec![Block::ZERO; 8 * padded]);
        columns(self.backend, zeros, padded, &mut low, &mut high);
        self.hash.blocks(&mut low, &mut high, out);
        self.chunk += 1;
        Ok(Bits::from_bytes(&r, n))
    }

    fn begin(&mut self) -> Result<()> {
        begin(&mut self.broken, self.chunk)
    }
}

impl RandomReceiver for Receiver {
    type Model = Malicious;

    fn sender_random<C: Channel + ?Sized>(&mut self, ch: &mut C, choices: &Bits, out: &mut [Block]) -> Result<()> {
        same_length(choices, out)?;
        for (out, start) in out.chunks_mut(CHUNK).zip((0..).step_by(CHUNK)) {
            self.begin()?;
            self.chunk(ch, Some(&choices.slice(start, out.len())), out)?;
            self.broken = false;
        }
        Ok(())
    }

    fn random<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [Block]) -> Result<Bits> {
        let mut choices = Bits::zeros(0);
        for out in out.chunks_mut(CHUNK) {
            self.begin()?;
            choices.extend_from(&self.chunk(ch, None, out)?);
            self.broken = false;
        }
        Ok(choices)
    }
}

/// Bytes of a row of a chunk of `n` OTs on the wire, and in memory, where rows are whole blocks.
pub(super) fn shape(n: usize) -> (usize, usize) {
    let stride = n.div_ceil(8) + SPARE / 8;
    (stride, stride.next_multiple_of(16))
}

/// That there is a seed for each row.
pub(super) fn check_count(parameters: Parameters, seeds: usize) -> Result<()> {
    if parameters.rows == seeds {
        return Ok(());
    }
    Err(Error::InvalidInput(format!("{seeds} base OTs where this extension takes {}", parameters.rows)))
}

/// Begins a chunk, unless an earlier one failed or there were too many for the bound on cheating.
pub(super) fn begin(broken: &mut bool, chunk: u64) -> Result<()> {
    if std::mem::replace(broken, true) {
        return Err(Error::InvalidInput("this OT extension stopped at an earlier error; set up a new one".into()));
    }
    if chunk >= CHUNKS {
        return Err(Error::InvalidInput(format!("this OT extension has made its {CHUNKS} chunks; set up a new one")));
    }
    Ok(())
}
