//! The receiver of the extension: sender of the base OTs and of the matrix.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Prg, Result, SessionId, sum_rows};
use rand_core::CryptoRng;
use zeroize::Zeroize;

use super::state::State;
use super::{BASE, BLOCK, ROWS};
use crate::base::BaseOt;
use crate::cot::{CotReceiver, check_length};
use crate::model::{AtLeast, SemiHonest};
use crate::seeds::SenderSeeds;
use crate::stream::grown;

/// The receiver: has choice bits `x_j`, gets `t_j = q_j ^ x_j delta`.
///
/// Made once and extended again and again. Every call of one side meets the call of the same kind and length at the
/// other. After an error it refuses to go on.
pub struct Receiver {
    /// `G(k_i^0)` and `G(k_i^1)` for each row.
    rows: Vec<[Prg; 2]>,
    /// The choice bits of a block. Secret.
    choices: Vec<u8>,
    /// One row of `G(k_i^1)`. Secret.
    other: Vec<Block>,
    state: State,
}

impl Receiver {
    /// Runs the base OTs, as their sender.
    ///
    /// `session` must serve this extension alone: two extensions in one session each take a child of it.
    ///
    /// # Errors
    /// Errors of [`BaseOt::send`].
    pub fn setup<B: BaseOt<Model: AtLeast<SemiHonest>>>(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        rng: &mut dyn CryptoRng,
    ) -> Result<Receiver> {
        let seeds = B::send(ch, &session.child(BASE), ROWS, rng)?;
        Ok(Receiver::new(backend, seeds.weaken()))
    }

    /// The receiver from 128 random OTs.
    ///
    /// # Panics
    /// If there are not 128 OTs.
    pub fn new(backend: Backend, seeds: SenderSeeds<SemiHonest>) -> Receiver {
        assert_eq!(seeds.len(), ROWS, "one base OT for each bit of delta");
        Receiver {
            rows: seeds.pairs().iter().map(|pair| pair.map(|seed| Prg::new(backend, seed))).collect(),
            choices: Vec::with_capacity(BLOCK / 8),
            other: Vec::with_capacity(BLOCK / 128),
            state: State::new(backend),
        }
    }

    /// D13.3 Protocol 1, step 2, for the next `n` OTs: `t^i = G(k_i^0)` and `u^i = t^i ^ G(k_i^1) ^ x`. Of
    /// the rows only the last `sent` go out; where the first does not, its `u` is zero, and so defines `x`
    /// (Protocol 4).
    fn rows(&mut self, n: usize, sent: usize) {
        let x = grown(&mut self.choices, n.div_ceil(64) * 8);
        let other = Block::bytes_of_mut(grown(&mut self.other, n.div_ceil(128)));
        let backend = self.state.backend;
        let [rows, mut wire] = self.state.rows(n, sent);
        for (i, (t, [first, second])) in rows.zip(&mut self.rows).enumerate() {
            first.fill(t);
            second.fill(other);
            if i + sent < ROWS {
                sum_rows(backend, [t, other], x);
            } else {
                let u = wire.next().expect("as many rows as are sent");
                sum_rows(backend, [t, other, x], u);
            }
        }
    }
}

impl CotReceiver for Receiver {
    type Model = SemiHonest;

    const CHUNK: usize = BLOCK;

    fn backend(&self) -> Backend {
        self.state.backend
    }

    fn extend_each(
        &mut self,
        ch: &mut dyn Channel,
        choices: Option<&Bits>,
        n: usize,
        mut each: impl FnMut(usize, &mut [Block]),
    ) -> Result<Bits> {
        if let Some(choices) = choices {
            check_length(choices, n)?;
        }
        let sent = ROWS - usize::from(choices.is_none());
        let mut chosen = Bits::zeros(0);
        self.state.begin()?;
        for start in (0..n).step_by(BLOCK) {
            let n = BLOCK.min(n - start);
            if let Some(choices) = choices {
                let words = &choices.words()[start / 64..(start + n).div_ceil(64)];
                let x = grown(&mut self.choices, 8 * words.len());
                for (bytes, word) in x.chunks_exact_mut(8).zip(words) {
                    bytes.copy_from_slice(&word.to_le_bytes());
                }
            }
            self.rows(n, sent);
            if choices.is_none() {
                chosen.extend_from(&Bits::from_bytes(&self.choices[..n.div_ceil(8)], n));
            }
            ch.send(self.state.wire(n, sent))?;
            self.state.columns(n, |j, t| each(start + j, t));
        }
        ch.flush()?;
        self.state.end();
        Ok(chosen)
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.choices.as_mut_slice().zeroize();
        self.other.as_mut_slice().zeroize();
    }
}
