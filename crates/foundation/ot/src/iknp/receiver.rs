//! The receiver of the extension: sender of the base OTs and of the matrix.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Error, Prg, Result, SessionId, TccrHash};
use rand_core::CryptoRng;
use zeroize::Zeroize;

use super::state::{State, grown};
use super::{BASE, BLOCK, ROWS};
use crate::base::BaseOt;
use crate::{AtLeast, SemiHonest, SenderSeeds};

/// The receiver: has choice bits `x_j`, gets `t_j = q_j ^ x_j delta`.
///
/// Made once by [`Receiver::setup`] and extended again and again. Every call of one side meets the call of the same
/// kind and length at the other. After an error it refuses to go on.
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
    /// `session` is that of this extension alone: of two under one session each takes a child of it.
    ///
    /// # Errors
    /// Those of [`BaseOt::send`].
    pub fn setup<B: BaseOt<Model: AtLeast<SemiHonest>>, C: Channel + ?Sized>(
        ch: &mut C,
        session: &SessionId,
        backend: Backend,
        rng: &mut impl CryptoRng,
    ) -> Result<Receiver> {
        let seeds = B::send(ch, &session.child(BASE), ROWS, rng)?;
        Ok(Receiver::new(backend, seeds.weaken()))
    }

    /// The receiver from 128 random OTs.
    ///
    /// # Panics
    /// If there are not 128.
    pub fn new(backend: Backend, seeds: SenderSeeds<SemiHonest>) -> Receiver {
        assert_eq!(seeds.len(), ROWS, "one base OT for each bit of delta");
        Receiver {
            rows: seeds.pairs().iter().map(|pair| pair.map(|seed| Prg::new(backend, seed))).collect(),
            choices: Vec::with_capacity(BLOCK / 8),
            other: Vec::with_capacity(BLOCK / 128),
            state: State::new(backend),
        }
    }

    /// Correlated OTs, one for each choice bit: `out[j]` gets `t_j`.
    ///
    /// # Errors
    /// Those of the channel, and [`InvalidInput`](Error::InvalidInput) if the lengths differ.
    pub fn extend<C: Channel + ?Sized>(&mut self, ch: &mut C, choices: &Bits, out: &mut [Block]) -> Result<()> {
        self.blocks(ch, choices, out, |_, _, _| ())
    }

    /// Random OTs, one for each choice bit: `out[j]` gets the chosen message.
    ///
    /// # Errors
    /// As [`Receiver::extend`].
    pub fn random<C: Channel + ?Sized>(&mut self, ch: &mut C, choices: &Bits, out: &mut [Block]) -> Result<()> {
        self.blocks(ch, choices, out, TccrHash::hash)
    }

    /// OTs of chosen messages: the chosen message of each.
    ///
    /// # Errors
    /// Those of the channel.
    pub fn receive<C: Channel + ?Sized>(&mut self, ch: &mut C, choices: &Bits) -> Result<Vec<Block>> {
        let mut messages = vec![Block::ZERO; choices.len()];
        self.random(ch, choices, &mut messages)?;
        self.state.begin()?;
        let mut masked = vec![[Block::ZERO; 2]; BLOCK.min(messages.len())];
        for (start, messages) in (0..).step_by(BLOCK).zip(messages.chunks_mut(BLOCK)) {
            let masked = &mut masked[..messages.len()];
            ch.recv(Block::bytes_of_mut(masked.as_flattened_mut()))?;
            for (j, (message, [zero, one])) in messages.iter_mut().zip(masked).enumerate() {
                *message ^= *zero ^ (*zero ^ *one).masked(choices.get(start + j));
            }
        }
        self.state.end();
        Ok(messages)
    }

    /// The next OTs, block by block: `then` gets the hash, the index of a block's first OT, and its `t_j`.
    fn blocks<C: Channel + ?Sized>(
        &mut self,
        ch: &mut C,
        choices: &Bits,
        out: &mut [Block],
        then: impl Fn(&TccrHash, u128, &mut [Block]),
    ) -> Result<()> {
        if choices.len() != out.len() {
            let (bits, outputs) = (choices.len(), out.len());
            return Err(Error::InvalidInput(format!("{bits} choice bits for {outputs} oblivious transfers")));
        }
        self.state.begin()?;
        for (choices, t) in choices.words().chunks(BLOCK / 64).zip(out.chunks_mut(BLOCK)) {
            self.rows(choices, t.len());
            ch.send(self.state.wire(t.len()))?;
            let first = self.state.columns(t);
            then(&self.state.hash, first, t);
        }
        ch.flush()?;
        self.state.end();
        Ok(())
    }

    /// D13.3 Protocol 1, step 2, for the next `n` OTs: `t^i = G(k_i^0)` and `u^i = t^i ^ G(k_i^1) ^ x`.
    fn rows(&mut self, choices: &[u64], n: usize) {
        let x = grown(&mut self.choices, 8 * choices.len());
        for (bytes, word) in x.chunks_exact_mut(8).zip(choices) {
            bytes.copy_from_slice(&word.to_le_bytes());
        }
        let other = grown(&mut self.other, n.div_ceil(128));
        for ((t, u), [first, second]) in self.state.rows(n).zip(&mut self.rows) {
            first.fill_blocks(t);
            second.fill_blocks(other);
            let masks = Block::bytes_of(t).iter().zip(Block::bytes_of(other));
            for ((u, x), (t, other)) in u.iter_mut().zip(&*x).zip(masks) {
                *u = t ^ other ^ x;
            }
        }
    }
}

impl Drop for Receiver {
    fn drop(&mut self) {
        self.choices.as_mut_slice().zeroize();
        self.other.as_mut_slice().zeroize();
    }
}
