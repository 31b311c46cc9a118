//! The sender of the extension: receiver of the base OTs and of the matrix.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Prg, Result, SessionId};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use super::state::State;
use super::{BASE, BLOCK, ROWS};
use crate::base::BaseOt;
use crate::{AtLeast, ReceiverSeeds, SemiHonest};

/// OTs hashed in one go: enough to fill the AES units, in a corner of the first-level cache.
const HASHED: usize = 128;

/// The sender: holds delta, gets `q_j`.
///
/// Made once by [`Sender::setup`] and extended again and again. Every call of one side meets the call of the same
/// kind and length at the other. After an error it refuses to go on.
pub struct Sender {
    delta: Block,
    /// `G(k_i^(delta_i))` for each row.
    rows: Vec<Prg>,
    state: State,
}

impl Sender {
    /// Runs the base OTs, as their receiver, with the bits of `delta` as choices.
    ///
    /// `session` is that of this extension alone: of two under one session each takes a child of it.
    /// `delta` must be uniform but for bits that the protocol above fixes (bit 0 for point-and-permute).
    ///
    /// # Errors
    /// Those of [`BaseOt::receive`].
    pub fn setup<B: BaseOt<Model: AtLeast<SemiHonest>>, C: Channel + ?Sized>(
        ch: &mut C,
        session: &SessionId,
        backend: Backend,
        delta: Block,
        rng: &mut impl CryptoRng,
    ) -> Result<Sender> {
        let choices = Bits::from_bytes(&delta.to_bytes(), ROWS);
        let seeds = B::receive(ch, &session.child(BASE), &choices, rng)?;
        Ok(Sender::new(backend, seeds.weaken()))
    }

    /// The sender from 128 random OTs; their choice bits are delta.
    ///
    /// # Panics
    /// If there are not 128.
    pub fn new(backend: Backend, seeds: ReceiverSeeds<SemiHonest>) -> Sender {
        assert_eq!(seeds.len(), ROWS, "one base OT for each bit of delta");
        let delta = seeds.choices().iter().enumerate().fold(0, |delta, (i, bit)| delta | u128::from(bit) << i);
        let rows = seeds.chosen().iter().map(|&seed| Prg::new(backend, seed)).collect();
        Sender { delta: Block::from_u128(delta), rows, state: State::new(backend) }
    }

    /// Correlated OTs, one for each element of `out`, which gets `q_j`.
    ///
    /// # Errors
    /// Those of the channel.
    pub fn extend<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [Block]) -> Result<()> {
        self.state.begin()?;
        for q in out.chunks_mut(BLOCK) {
            self.block(ch, q)?;
        }
        self.state.end();
        Ok(())
    }

    /// Random OTs: both messages of each.
    ///
    /// # Errors
    /// Those of the channel.
    pub fn random<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [[Block; 2]]) -> Result<()> {
        self.state.begin()?;
        self.pads(ch, out)?;
        self.state.end();
        Ok(())
    }

    /// OTs of chosen messages. Until it ends, a call holds as much memory again as the messages take.
    ///
    /// # Errors
    /// Those of the channel.
    pub fn send<C: Channel + ?Sized>(&mut self, ch: &mut C, messages: &[[Block; 2]]) -> Result<()> {
        self.state.begin()?;
        // The receiver sends its whole matrix before it reads, so it is read whole before the answer is sent. There
        // is nothing to wipe: this holds pads that mask nothing yet, and then what everybody may see.
        let mut masked = vec![[Block::ZERO; 2]; messages.len()];
        self.pads(ch, &mut masked)?;
        for (masked, message) in masked.iter_mut().zip(messages) {
            masked[0] ^= message[0];
            masked[1] ^= message[1];
        }
        ch.send(Block::bytes_of(masked.as_flattened()))?;
        ch.flush()?;
        self.state.end();
        Ok(())
    }

    /// `H(j, q_j)` and `H(j, q_j ^ delta)` of the next OTs.
    fn pads<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [[Block; 2]]) -> Result<()> {
        let mut batch = Zeroizing::new([[Block::ZERO; HASHED]; 2]);
        for block in out.chunks_mut(BLOCK) {
            // The q of the block wait in the second half of its room: what the pairs need of it has been read by then.
            let n = block.len();
            let mut first = self.block(ch, &mut block.as_flattened_mut()[n..])?;
            for start in (0..n).step_by(HASHED) {
                let count = HASHED.min(n - start);
                let [zeros, ones] = batch.each_mut().map(|blocks| &mut blocks[..count]);
                zeros.copy_from_slice(&block.as_flattened()[n + start..][..count]);
                for (one, zero) in ones.iter_mut().zip(zeros.iter()) {
                    *one = *zero ^ self.delta;
                }
                self.state.hash.hash(first, zeros);
                self.state.hash.hash(first, ones);
                for ((pair, zero), one) in block[start..].iter_mut().zip(zeros).zip(ones) {
                    *pair = [*zero, *one];
                }
                first += count as u128;
            }
        }
        Ok(())
    }

    /// The next block of the stream; gives the index of its first OT.
    fn block<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [Block]) -> Result<u128> {
        ch.recv(self.state.wire(out.len()))?;
        Ok(self.columns(out))
    }

    /// D13.3 Protocol 1, step 4: `q^i = G(k_i^(delta_i)) ^ delta_i u^i`, transposed.
    fn columns(&mut self, out: &mut [Block]) -> u128 {
        for (i, ((q, u), prg)) in self.state.rows(out.len()).zip(&mut self.rows).enumerate() {
            prg.fill_blocks(q);
            let chosen = ((self.delta.to_u128() >> i & 1) as u8).wrapping_neg();
            for (q, u) in Block::bytes_of_mut(q).iter_mut().zip(u) {
                *q ^= *u & chosen;
            }
        }
        self.state.columns(out)
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}
