//! The sender of silent OT: holds delta, makes the trees.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::Range;

use comity_channel::Channel;
use comity_core::{Backend, Block, Error, Prg, Result, SessionId, gf128};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use super::check::{LeafSum, packed};
use super::code::hear_nonce;
use super::state::{Grow, State};
use super::tree::Tree;
use super::{Answer, BASE, BASE_K, Challenge, GROUP, Parameters, Trees};
use crate::base::BaseOt;
use crate::cot::{CotSender, send_in_chunks};
use crate::model::{AtLeast, Malicious, Model, SemiHonest};
use crate::softspoken::{self, Checking};

/// The sender: holds delta, gets `q_j`.
///
/// Made once and extended again and again by [`CotSender`], or an iteration at a time by [`Sender::offer`]. After an
/// error it refuses to go on.
pub struct Sender<M: Model> {
    delta: Block,
    nonces: Prg,
    pub(super) state: State,
    model: PhantomData<M>,
}

/// The sender that has sent an iteration's trees.
pub struct Offered<M: Model>(pub(super) Sender<M>);

impl<M: Model> Sender<M> {
    /// The sender on top of a SoftSpoken extension of its own, made from base OTs.
    ///
    /// `session` must serve this extension alone. `delta` must be uniform but for bits that the protocol
    /// above fixes; bit 0 is set here.
    ///
    /// # Errors
    /// Errors of SoftSpoken's set-up, and of [`Sender::bootstrap`].
    pub fn setup<B: BaseOt<Model: AtLeast<M>>>(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        delta: Block,
        rng: &mut dyn CryptoRng,
    ) -> Result<Sender<M>>
    where
        M: Checking,
    {
        let delta = delta.with_lsb(true);
        let base = softspoken::Sender::<M>::setup::<B>(ch, &session.child(BASE), backend, BASE_K, delta, rng)?;
        Sender::bootstrap(ch, session, base, rng)
    }

    /// The sender from correlations of another extension, which is used up. It has that one's delta, with bit
    /// 0 set.
    ///
    /// `session` must serve this extension alone. With a nonce that the receiver sends, it determines the
    /// code.
    ///
    /// # Errors
    /// Errors of the extension and the channel.
    pub fn bootstrap<D: CotSender<Model: AtLeast<M>>>(
        ch: &mut dyn Channel,
        session: &SessionId,
        base: D,
        rng: &mut dyn CryptoRng,
    ) -> Result<Sender<M>> {
        Sender::with_parameters(Parameters::STANDARD, ch, session, base, rng)
    }

    /// As [`Sender::bootstrap`], of any size.
    pub(super) fn with_parameters<D: CotSender>(
        parameters: Parameters,
        ch: &mut dyn Channel,
        session: &SessionId,
        mut base: D,
        rng: &mut dyn CryptoRng,
    ) -> Result<Sender<M>> {
        let mut q = Zeroizing::new(vec![Block::ZERO; parameters.reserved()]);
        base.extend_random(ch, &mut q)?;
        for q in q.iter_mut() {
            // The same bit at both sides' correlation: it is then one with a delta that has it set.
            *q = q.with_lsb(false);
        }
        let mut seed = Zeroizing::new([0; 16]);
        rng.fill_bytes(seed.as_mut());
        let nonces = Prg::new(base.backend(), Block::new(*seed));
        let session = hear_nonce(ch, session)?;
        let state = State::new(parameters, &session, base.backend(), &q);
        Ok(Sender { delta: base.delta().with_lsb(true), nonces, state, model: PhantomData })
    }

    /// Takes the next outputs that need no message; returns how many there were.
    pub fn take(&mut self, out: &mut [Block]) -> usize {
        self.state.take_local(out, growing(self.delta, |_| ()))
    }

    /// The next iteration's trees, to send to the receiver.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if not all outputs of the last iteration are
    /// [taken](Sender::take), or after an error. In the semi-honest model, an iteration that a call over a
    /// channel began can only be finished by such calls.
    pub fn offer(mut self) -> Result<(Offered<M>, Trees)> {
        self.state.all_taken()?;
        let nonce = self.nonce();
        let mut sums = Vec::new();
        self.grow(0..self.state.parameters.trees, &mut sums);
        Ok((Offered(self), Trees { nonce, sums }))
    }

    /// Draws the iteration's nonce.
    fn nonce(&mut self) -> Block {
        let nonce = self.nonces.block();
        self.state.set_keys(nonce);
        nonce
    }

    /// The messages of some trees.
    fn grow(&mut self, trees: Range<usize>, sums: &mut Vec<Block>) {
        let mut grow = growing(self.delta, |sum| sums.push(sum));
        for i in trees {
            let Ok(()) = self.state.grow(i, &mut grow);
        }
    }

    /// The answer to a challenge.
    fn answer(&mut self, challenge: &Challenge) -> Answer {
        self.answer_with(challenge, Block::ZERO)
    }

    /// The answer of a sender whose leaves add up to `more`: zero but where it cheats.
    pub(super) fn answer_with(&mut self, challenge: &Challenge, more: Block) -> Answer {
        let (backend, delta) = (self.state.backend, self.delta);
        let mut sum = LeafSum::new(backend, challenge.point, 1 << self.state.parameters.depth);
        for i in 0..self.state.parameters.trees {
            let Ok(()) = self.state.grow(i, &mut growing(delta, |_| ()));
            sum.add(self.state.tree.leaves());
        }
        let total =
            sum.leaves() ^ packed(backend, self.state.masks()) ^ gf128::mul(backend, challenge.ends, delta) ^ more;
        Answer::bind(&self.state.session, self.state.iteration, challenge, total)
    }

    fn open(&mut self) {
        let Ok(()) = self.state.open(false, growing(self.delta, |_| ()));
    }

    /// Starts an iteration over a channel. In the malicious model it sends and checks all trees now; in the
    /// semi-honest one it sends each when its leaves become outputs, and so grows each once.
    fn iterate(&mut self, ch: &mut dyn Channel) -> Result<()> {
        let nonce = self.nonce();
        ch.send(&nonce.to_bytes())?;
        if !M::MALICIOUS {
            return self.state.open(true, telling(ch, self.delta));
        }
        let mut sums = Vec::new();
        let trees = self.state.parameters.trees;
        for first in (0..trees).step_by(GROUP) {
            sums.clear();
            self.grow(first..trees.min(first + GROUP), &mut sums);
            ch.send(Block::bytes_of(&sums))?;
            ch.flush()?;
        }
        let mut challenge = [0; Challenge::BYTES];
        ch.recv(&mut challenge)?;
        ch.send(&self.answer(&Challenge::from_bytes(&challenge)).to_bytes())?;
        ch.flush()?;
        self.open();
        Ok(())
    }

    /// The next outputs, with messages as they are needed.
    fn fill(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<()> {
        let mut done = 0;
        loop {
            let rest = &mut out[done..];
            done += match self.state.streamed {
                true => self.state.take(rest, telling(ch, self.delta))?,
                false => self.take(rest),
            };
            if done == out.len() {
                return ch.flush();
            }
            self.iterate(ch)?;
        }
    }
}

/// Grows trees, and does this with their messages.
fn growing(delta: Block, mut sum: impl FnMut(Block)) -> impl Grow<Infallible> {
    move |tree: &mut Tree, _: usize, key: Block, q: &[Block]| {
        tree.grow(key, delta, q, &mut sum);
        Ok(())
    }
}

/// Grows trees, and tells each to the receiver.
fn telling(ch: &mut dyn Channel, delta: Block) -> impl Grow<Error> {
    let mut sums = Vec::new();
    move |tree: &mut Tree, i: usize, key: Block, q: &[Block]| {
        sums.clear();
        tree.grow(key, delta, q, |sum| sums.push(sum));
        ch.send(Block::bytes_of(&sums))?;
        if (i + 1).is_multiple_of(GROUP) { ch.flush() } else { Ok(()) }
    }
}

impl Offered<SemiHonest> {
    /// The sender with the iteration's outputs.
    pub fn finish(mut self) -> Sender<SemiHonest> {
        self.0.open();
        self.0
    }
}

impl Offered<Malicious> {
    /// The answer to the receiver's challenge, and the sender with the iteration's outputs.
    pub fn answer(mut self, challenge: &Challenge) -> (Sender<Malicious>, Answer) {
        let answer = self.0.answer(challenge);
        self.0.open();
        (self.0, answer)
    }
}

impl<M: Model> CotSender for Sender<M> {
    type Model = M;

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
        each: impl FnMut(usize, &mut [Block]),
    ) -> Result<()> {
        send_in_chunks(self, ch, random, n, each)
    }

    fn extend(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<()> {
        self.state.begin()?;
        for out in out.chunks_mut(Self::CHUNK) {
            self.fill(ch, out)?;
            let mut flips = vec![0; out.len().div_ceil(8)];
            ch.recv(&mut flips)?;
            if let (Some(last), used @ 1..) = (flips.last(), out.len() % 8)
                && last >> used != 0
            {
                return Err(Error::malformed("bits after those of the last oblivious transfer"));
            }
            for (j, q) in out.iter_mut().enumerate() {
                *q ^= self.delta.masked(flips[j / 8] >> (j % 8) & 1 == 1);
            }
        }
        self.state.end();
        Ok(())
    }

    fn extend_random(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<()> {
        self.state.begin()?;
        self.fill(ch, out)?;
        self.state.end();
        Ok(())
    }
}

impl<M: Model> Drop for Sender<M> {
    fn drop(&mut self) {
        self.delta.zeroize();
    }
}
