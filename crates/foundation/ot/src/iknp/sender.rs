//! The sender of the extension: receiver of the base OTs and of the matrix.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Prg, Result, SessionId, mask};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use super::state::State;
use super::{BASE, BLOCK, ROWS};
use crate::base::BaseOt;
use crate::cot::CotSender;
use crate::model::{AtLeast, SemiHonest};
use crate::seeds::ReceiverSeeds;

/// The sender: holds delta, gets `q_j`.
///
/// Made once and extended again and again. Every call of one side meets the call of the same kind and length at the
/// other. After an error it refuses to go on.
pub struct Sender {
    delta: Block,
    /// `G(k_i^(delta_i))` for each row.
    rows: Vec<Prg>,
    state: State,
}

impl Sender {
    /// Runs the base OTs, as their receiver, with the bits of `delta` as choices.
    ///
    /// `session` must serve this extension alone: two extensions in one session each take a child of it.
    /// `delta` must be uniform but for bits that the protocol above fixes (bit 0 for point-and-permute).
    ///
    /// # Errors
    /// Errors of [`BaseOt::receive`].
    pub fn setup<B: BaseOt<Model: AtLeast<SemiHonest>>>(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        delta: Block,
        rng: &mut dyn CryptoRng,
    ) -> Result<Sender> {
        let choices = Bits::from_bytes(&*Zeroizing::new(delta.to_bytes()), ROWS);
        let seeds = B::receive(ch, &session.child(BASE), &choices, rng)?;
        Ok(Sender::new(backend, seeds.weaken()))
    }

    /// The sender from 128 random OTs; their choice bits are delta.
    ///
    /// # Panics
    /// If there are not 128 OTs.
    pub fn new(backend: Backend, seeds: ReceiverSeeds<SemiHonest>) -> Sender {
        assert_eq!(seeds.len(), ROWS, "one base OT for each bit of delta");
        let delta = seeds.choices().iter().enumerate().fold(0, |delta, (i, bit)| delta | u128::from(bit) << i);
        let rows = seeds.chosen().iter().map(|&seed| Prg::new(backend, seed)).collect();
        Sender { delta: Block::from_u128(delta), rows, state: State::new(backend) }
    }

    /// D13.3 Protocol 1, step 4: `q^i = G(k_i^(delta_i)) ^ delta_i u^i`, where `u^i` is zero if it is not sent.
    fn rows(&mut self, n: usize, sent: usize) {
        let [rows, mut wire] = self.state.rows(n, sent);
        for (i, (q, prg)) in rows.zip(&mut self.rows).enumerate() {
            prg.fill(q);
            if i + sent >= ROWS {
                let chosen = mask(self.delta.to_u128() >> i & 1 == 1) as u8;
                for (q, u) in q.iter_mut().zip(wire.next().expect("as many rows as are sent")) {
                    *q ^= *u & chosen;
                }
            }
        }
    }
}

impl CotSender for Sender {
    type Model = SemiHonest;

    const CHUNK: usize = BLOCK;

    fn delta(&self) -> Block {
        self.delta
    }

    fn backend(&self) -> Backend {
        self.state.backend
    }

    fn extend_each(
        &mut self,
        ch: &mut dyn Channel,
        random: bool,
        n: usize,
        mut each: impl FnMut(usize, &mut [Block]),
    ) -> Result<()> {
        let sent = ROWS - usize::from(random);
        self.state.begin()?;
        for start in (0..n).step_by(BLOCK) {
            let n = BLOCK.min(n - start);
            ch.recv(self.state.wire(n, sent))?;
            self.rows(n, sent);
            self.state.columns(n, |j, q| each(start + j, q));
        }
        self.state.end();
        Ok(())
    }
}

impl Drop for Sender {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}
