//! The receiver of silent OT: holds choice bits, grows the trees but for one path each.

use std::convert::Infallible;
use std::marker::PhantomData;
use std::ops::Range;

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Error, Prg, Result, SessionId, verdict};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::check::{LeafSum, packed, packed_choices};
use super::code::tell_nonce;
use super::state::{Grow, State};
use super::tree::Tree;
use super::{Answer, BASE, BASE_K, Challenge, GROUP, Parameters, Trees, messages};
use crate::base::BaseOt;
use crate::checks;
use crate::cot::{CotReceiver, check_length, receive_in_chunks};
use crate::model::{AtLeast, Malicious, Model, SemiHonest};
use crate::softspoken::{self, Checking};

/// Outputs whose choice bits are read together: those of whole passes over the secret.
const PIECE: usize = 1 << 17;

/// The receiver: has choice bits `x_j`, gets `t_j = q_j ^ x_j delta`. Bit 0 of an output is its choice bit.
///
/// Made once and extended again and again by [`CotReceiver`], or an iteration at a time by [`Receiver::accept`]. After
/// an error it refuses to go on.
pub struct Receiver<M: Model> {
    /// The iteration's messages, tree by tree.
    sums: Vec<Block>,
    challenges: Prg,
    pub(super) state: State,
    model: PhantomData<M>,
}

/// The receiver that has taken an iteration's trees; in the malicious model they are yet to be checked.
pub struct Accepted<M: Model> {
    receiver: Receiver<M>,
    check: Option<Check>,
}

/// An iteration's check that waits for the sender's answer.
struct Check {
    challenge: Challenge,
    answer: Answer,
}

impl<M: Model> Receiver<M> {
    /// The receiver on top of a SoftSpoken extension of its own, made from base OTs.
    ///
    /// `session` must serve this extension alone.
    ///
    /// # Errors
    /// Errors of SoftSpoken's set-up, and of [`Receiver::bootstrap`].
    pub fn setup<B: BaseOt<Model: AtLeast<M>>>(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        rng: &mut dyn CryptoRng,
    ) -> Result<Receiver<M>>
    where
        M: Checking,
    {
        let base = softspoken::Receiver::<M>::setup::<B>(ch, &session.child(BASE), backend, BASE_K, rng)?;
        Receiver::bootstrap(ch, session, base, rng)
    }

    /// The receiver from correlations of another extension, which is used up.
    ///
    /// `session` must serve this extension alone. With a nonce that this side sends, it determines the code.
    ///
    /// # Errors
    /// Errors of the extension and the channel.
    pub fn bootstrap<D: CotReceiver<Model: AtLeast<M>>>(
        ch: &mut dyn Channel,
        session: &SessionId,
        base: D,
        rng: &mut dyn CryptoRng,
    ) -> Result<Receiver<M>> {
        Receiver::with_parameters(Parameters::STANDARD, ch, session, base, rng)
    }

    /// As [`Receiver::bootstrap`], of any size.
    pub(super) fn with_parameters<D: CotReceiver>(
        parameters: Parameters,
        ch: &mut dyn Channel,
        session: &SessionId,
        mut base: D,
        rng: &mut dyn CryptoRng,
    ) -> Result<Receiver<M>> {
        let mut t = Zeroizing::new(vec![Block::ZERO; parameters.reserved()]);
        let choices = base.extend_random(ch, &mut t)?;
        for (t, choice) in t.iter_mut().zip(choices.iter()) {
            *t = t.with_lsb(choice);
        }
        let mut seed = Zeroizing::new([0; 16]);
        rng.fill_bytes(seed.as_mut());
        let session = tell_nonce(ch, session, rng)?;
        Ok(Receiver {
            sums: Vec::with_capacity(messages::sums(&parameters)),
            challenges: Prg::new(base.backend(), Block::new(*seed)),
            state: State::new(parameters, &session, base.backend(), &t),
            model: PhantomData,
        })
    }

    /// Takes the next outputs that need no message; returns how many there were. Bit 0 of each is its choice
    /// bit.
    pub fn take(&mut self, out: &mut [Block]) -> usize {
        self.state.take_local(out, growing(&self.sums))
    }

    /// Takes the trees of the next iteration.
    ///
    /// # Errors
    /// [`InvalidInput`](comity_core::Kind) if not all outputs of the last iteration are
    /// [taken](Receiver::take), or after an error (see [`Sender::offer`](super::Sender::offer));
    /// [`Malformed`](comity_core::Kind) if the message is not for such an iteration.
    pub fn accept(mut self, trees: &Trees) -> Result<Accepted<M>> {
        self.state.all_taken()?;
        if trees.sums.len() != messages::sums(&self.state.parameters) {
            return Err(Error::malformed("trees of an iteration of another size"));
        }
        self.state.set_keys(trees.nonce);
        self.sums.clone_from(&trees.sums);
        let check = M::MALICIOUS.then(|| {
            let (point, mut sum) = self.sum();
            self.add(0..self.state.parameters.trees, &mut sum);
            self.check(point, &sum)
        });
        Ok(Accepted { receiver: self, check })
    }

    /// A point, drawn and not told before the trees are there, and the sum at it.
    fn sum(&mut self) -> (Block, LeafSum) {
        let point = self.challenges.block();
        (point, LeafSum::new(self.state.backend, point, 1 << self.state.parameters.depth))
    }

    /// Adds some trees to the check's sum.
    fn add(&mut self, trees: Range<usize>, sum: &mut LeafSum) {
        for i in trees {
            let Ok(()) = self.state.grow(i, &mut growing(&self.sums));
            sum.add(self.state.tree.leaves());
            sum.add_end(self.state.levels(i), Block::from_u128(1));
        }
    }

    /// The challenge, and what an honest sender answers.
    fn check(&self, point: Block, sum: &LeafSum) -> Check {
        let masks = self.state.masks();
        let challenge = Challenge { point, ends: sum.ends() ^ packed_choices(masks) };
        let total = sum.leaves() ^ packed(self.state.backend, masks);
        let answer = Answer::bind(&self.state.session, self.state.iteration, &challenge, total);
        Check { challenge, answer }
    }

    fn open(&mut self) {
        let Ok(()) = self.state.open(false, growing(&self.sums));
    }

    /// Starts an iteration over a channel. In the malicious model all trees come and are checked now; in the
    /// semi-honest one each comes when its leaves become outputs.
    fn iterate(&mut self, ch: &mut dyn Channel) -> Result<()> {
        let mut nonce = [0; 16];
        ch.recv(&mut nonce)?;
        self.state.set_keys(Block::new(nonce));
        let Parameters { trees, depth, .. } = self.state.parameters;
        self.sums.resize(trees * (depth - 1), Block::ZERO);
        if !M::MALICIOUS {
            return self.state.open(true, hearing(ch, &mut self.sums));
        }
        let (point, mut sum) = self.sum();
        for first in (0..trees).step_by(GROUP) {
            let last = trees.min(first + GROUP);
            ch.recv(Block::bytes_of_mut(&mut self.sums[first * (depth - 1)..last * (depth - 1)]))?;
            self.add(first..last, &mut sum);
        }
        let check = self.check(point, &sum);
        ch.send(&check.challenge.to_bytes())?;
        let mut answer = [0; Answer::BYTES];
        ch.recv(&mut answer)?;
        check.verify(&Answer::from_bytes(answer))?;
        self.open();
        Ok(())
    }

    /// The next outputs, with messages as they are needed.
    fn fill(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<()> {
        let mut done = 0;
        loop {
            let rest = &mut out[done..];
            done += match self.state.streamed {
                true => self.state.take(rest, hearing(ch, &mut self.sums))?,
                false => self.take(rest),
            };
            if done == out.len() {
                return Ok(());
            }
            self.iterate(ch)?;
        }
    }

    /// As [`fill`](Receiver::fill), with the choice bits: of a piece while it is in the cache.
    fn fill_and_choose(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<Bits> {
        let mut choices = Vec::with_capacity(out.len().div_ceil(64));
        for piece in out.chunks_mut(PIECE) {
            self.fill(ch, piece)?;
            let (words, rest) = piece.as_chunks::<64>();
            choices.extend(words.iter().map(|word| choice_bits(word)));
            choices.extend((!rest.is_empty()).then(|| choice_bits(rest)));
        }
        Ok(Bits::from_words(choices, out.len()))
    }
}

/// Grows trees with these messages.
fn growing(sums: &[Block]) -> impl Grow<Infallible> {
    |tree: &mut Tree, i: usize, key: Block, t: &[Block]| {
        let width = t.len() - 1;
        tree.grow_without(key, t, &sums[i * width..(i + 1) * width]);
        Ok(())
    }
}

/// Grows trees with messages that the sender tells now.
fn hearing(ch: &mut dyn Channel, sums: &mut [Block]) -> impl Grow<Error> {
    |tree: &mut Tree, i: usize, key: Block, t: &[Block]| {
        let width = t.len() - 1;
        let sums = &mut sums[i * width..(i + 1) * width];
        ch.recv(Block::bytes_of_mut(sums))?;
        tree.grow_without(key, t, sums);
        Ok(())
    }
}

impl Check {
    fn verify(&self, answer: &Answer) -> Result<()> {
        if !verdict(self.answer.0.ct_eq(&answer.0)) {
            return Err(checks::INCONSISTENT_CORRELATION.into());
        }
        Ok(())
    }
}

impl Accepted<SemiHonest> {
    /// The receiver with the iteration's outputs.
    pub fn finish(mut self) -> Receiver<SemiHonest> {
        self.receiver.open();
        self.receiver
    }
}

impl Accepted<Malicious> {
    /// The challenge to the sender.
    pub fn challenge(&self) -> Challenge {
        self.check.as_ref().expect("in the malicious model there is a check").challenge
    }

    /// The receiver with the iteration's outputs, if the answer is right.
    ///
    /// # Errors
    /// [`InconsistentCorrelation`](crate::checks::INCONSISTENT_CORRELATION) if it is not; the receiver is
    /// then gone.
    pub fn check(mut self, answer: &Answer) -> Result<Receiver<Malicious>> {
        self.check.take().expect("in the malicious model there is a check").verify(answer)?;
        self.receiver.open();
        Ok(self.receiver)
    }
}

impl<M: Model> CotReceiver for Receiver<M> {
    type Model = M;

    fn backend(&self) -> Backend {
        self.state.backend
    }

    fn extend_each(
        &mut self,
        ch: &mut dyn Channel,
        choices: Option<&Bits>,
        n: usize,
        each: impl FnMut(usize, &mut [Block]),
    ) -> Result<Bits> {
        receive_in_chunks(self, ch, choices, n, each)
    }

    fn extend(&mut self, ch: &mut dyn Channel, choices: &Bits, out: &mut [Block]) -> Result<()> {
        check_length(choices, out.len())?;
        self.state.begin()?;
        let mut start = 0;
        for out in out.chunks_mut(Self::CHUNK) {
            let mut flips = self.fill_and_choose(ch, out)?;
            flips.xor_assign(&choices.slice(start, out.len()));
            ch.send(&flips.to_bytes())?;
            start += out.len();
        }
        ch.flush()?;
        self.state.end();
        Ok(())
    }

    fn extend_random(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<Bits> {
        self.state.begin()?;
        let choices = self.fill_and_choose(ch, out)?;
        self.state.end();
        Ok(choices)
    }
}

/// Bit 0 of each of at most 64 blocks. Where it is clear that there are 64 no shift needs its width computed.
#[inline(always)]
fn choice_bits(blocks: &[Block]) -> u64 {
    blocks.iter().enumerate().fold(0, |word, (i, block)| word | u64::from(block.lsb()) << i)
}
