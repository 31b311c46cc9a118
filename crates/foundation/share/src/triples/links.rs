//! `Link`: random OTs of bits with one peer, both ways at once.

use comity_channel::Channel;
use comity_core::{Backend, Block, CrHash, Error, Result, SessionId, Vectorize};
use comity_ot::base::BaseOt;
use comity_ot::{AtLeast, CotReceiver, CotSender, SemiHonest, iknp, silent, softspoken};
use rand_core::CryptoRng;
use zeroize::{Zeroize, Zeroizing};

use super::spool::Spool;

/// The number of OTs each way whose messages are exchanged at once.
pub const CHUNK: usize = 1 << 17;

/// Correlations that are hashed at once: in the first-level cache, with their hashes.
const TILE: usize = 512;

/// Levels of SoftSpoken's trees: 128/k bits an OT, and the fastest of those below four bytes.
const LEVELS: usize = 4;

/// The OT extension that random OTs come from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum OtKind {
    /// IKNP: 15.9 bytes an OT.
    Iknp,
    /// SoftSpoken with trees of four levels: 3.9 bytes an OT.
    SoftSpoken,
    /// Silent OT: 0.15 bytes an OT.
    Silent,
}

/// What random OTs are made into: their messages, hashed, some hundred at a time and in their order.
pub(crate) trait OtSink {
    /// Both messages of the next OTs that this party sends.
    fn sent(&mut self, backend: Backend, pairs: &[[Block; 2]]);
    /// The chosen messages of the next OTs that this party receives.
    fn received(&mut self, backend: Backend, messages: &[Block]);
    /// The choice bits of the OTs of this chunk that were received, 64 a word.
    fn choices(&mut self, words: &[u64]);
}

/// Random OTs of bits, as many each way: bit `j` of each string is that of OT `j`. All chunks but the last
/// have whole words. Wiped on drop.
#[derive(Default)]
pub(super) struct Ots {
    /// The messages for choice bit zero of the OTs that this party sends.
    pub(super) zero: Vec<u64>,
    /// The sums of both messages of the OTs that this party sends.
    pub(super) sum: Vec<u64>,
    /// The choice bits of the OTs that this party receives.
    pub(super) choice: Vec<u64>,
    /// The chosen messages of the OTs that this party receives.
    pub(super) chosen: Vec<u64>,
}

impl Ots {
    pub(super) fn with_room(ots: usize) -> Ots {
        let room = || Vec::with_capacity(ots.div_ceil(64));
        Ots { zero: room(), sum: room(), choice: room(), chosen: room() }
    }
}

impl OtSink for Ots {
    fn sent(&mut self, backend: Backend, pairs: &[[Block; 2]]) {
        for pairs in pairs.chunks(64) {
            let [zero, one] = backend.vectorize(FirstBits(pairs));
            self.zero.push(zero);
            self.sum.push(zero ^ one);
        }
    }

    fn received(&mut self, backend: Backend, messages: &[Block]) {
        for messages in messages.chunks(64) {
            self.chosen.push(backend.vectorize(FirstBits(messages.as_chunks::<1>().0))[0]);
        }
    }

    fn choices(&mut self, words: &[u64]) {
        self.choice.extend_from_slice(words);
    }
}

impl Drop for Ots {
    fn drop(&mut self) {
        [&mut self.zero, &mut self.sum, &mut self.choice, &mut self.chosen].into_iter().for_each(Zeroize::zeroize);
    }
}

/// Random OTs with one peer, of a kind that callers do not see.
pub(super) struct Link(Box<dyn TwoWay>);

/// Two extensions, one each way. In each chunk this party first runs the side that speaks, and when it has
/// heard the peer's the other one.
trait TwoWay: Send {
    fn speak(&mut self, n: usize, ch: &mut dyn Channel, ots: &mut dyn OtSink) -> Result<()>;
    fn hear(&mut self, n: usize, ch: &mut dyn Channel, ots: &mut dyn OtSink) -> Result<()>;
}

impl Link {
    /// Runs the base OTs. `sessions` are that of the OTs that this party sends, and that of those it
    /// receives; the party that `begins` with sending is one of the two.
    pub(super) fn setup<B: BaseOt<Model: AtLeast<SemiHonest>>>(
        ch: &mut dyn Channel,
        sessions: [SessionId; 2],
        backend: Backend,
        (extension, begins): (OtKind, bool),
        rng: &mut impl CryptoRng,
    ) -> Result<Link> {
        let delta = Block::random(rng);
        Ok(Link(match extension {
            OtKind::Iknp => {
                let (sender, receiver) = both(
                    (ch, rng),
                    begins,
                    |ch, rng| iknp::Sender::setup::<B>(ch, &sessions[0], backend, delta, rng),
                    |ch, rng| iknp::Receiver::setup::<B>(ch, &sessions[1], backend, rng),
                )?;
                Box::new(Both::new(sender, receiver, Speaks::Receiver))
            }
            OtKind::SoftSpoken => {
                let (sender, receiver) = both(
                    (ch, rng),
                    begins,
                    |ch, rng| {
                        softspoken::Sender::<SemiHonest>::setup::<B>(ch, &sessions[0], backend, LEVELS, delta, rng)
                    },
                    |ch, rng| softspoken::Receiver::<SemiHonest>::setup::<B>(ch, &sessions[1], backend, LEVELS, rng),
                )?;
                Box::new(Both::new(sender, receiver, Speaks::Receiver))
            }
            OtKind::Silent => {
                let (sender, receiver) = both(
                    (ch, rng),
                    begins,
                    |ch, rng| silent::Sender::<SemiHonest>::setup::<B>(ch, &sessions[0], backend, delta, rng),
                    |ch, rng| silent::Receiver::<SemiHonest>::setup::<B>(ch, &sessions[1], backend, rng),
                )?;
                Box::new(Both::new(sender, receiver, Speaks::Sender))
            }
        }))
    }

    /// Does the part of the next `n` OTs each way that waits for nothing. The message for the peer goes to
    /// `out`.
    pub(super) fn speak(&mut self, n: usize, out: &mut Vec<u8>, ots: &mut dyn OtSink) -> Result<()> {
        out.clear();
        self.0.speak(n, &mut Spool::speaking(out), ots)
    }

    /// Does the other part, with the peer's message.
    pub(super) fn hear(&mut self, n: usize, into: &[u8], ots: &mut dyn OtSink) -> Result<()> {
        let mut nothing = Vec::new();
        let mut ch = Spool::hearing(into, &mut nothing);
        self.0.hear(n, &mut ch, ots)?;
        if ch.left() > 0 {
            return Err(Error::malformed("an extension's message is longer than it has to be"));
        }
        Ok(())
    }
}

/// Sets up both ways one after the other, in the same order at both parties.
fn both<S, R, G>(
    (ch, rng): (&mut dyn Channel, &mut G),
    begins: bool,
    sender: impl FnOnce(&mut dyn Channel, &mut G) -> Result<S>,
    receiver: impl FnOnce(&mut dyn Channel, &mut G) -> Result<R>,
) -> Result<(S, R)> {
    if begins {
        let sender = sender(ch, rng)?;
        Ok((sender, receiver(ch, rng)?))
    } else {
        let receiver = receiver(ch, rng)?;
        Ok((sender(ch, rng)?, receiver))
    }
}

/// The side of an extension that speaks.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Speaks {
    Sender,
    Receiver,
}

/// Two extensions of one kind, one each way.
struct Both<S, R> {
    sender: S,
    receiver: R,
    hash: CrHash,
    speaks: Speaks,
}

impl<S: CotSender<Model = SemiHonest>, R: CotReceiver<Model = SemiHonest>> Both<S, R> {
    fn new(sender: S, receiver: R, speaks: Speaks) -> Both<S, R> {
        let hash = CrHash::new(sender.backend());
        Both { sender, receiver, hash, speaks }
    }

    fn send(&mut self, n: usize, ch: &mut dyn Channel, ots: &mut dyn OtSink) -> Result<()> {
        let (hash, delta, backend) = (&self.hash, self.sender.delta(), self.sender.backend());
        let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; TILE.min(n)]);
        self.sender.extend_each(ch, true, n, |_, q| {
            for q in q.chunks(TILE) {
                let pairs = &mut pairs[..q.len()];
                hash.hash_pairs(delta, q, pairs);
                ots.sent(backend, pairs);
            }
        })
    }

    fn receive(&mut self, n: usize, ch: &mut dyn Channel, ots: &mut dyn OtSink) -> Result<()> {
        let (hash, backend) = (&self.hash, self.receiver.backend());
        let choice = self.receiver.extend_each(ch, None, n, |_, t| {
            for t in t.chunks_mut(TILE) {
                hash.hash_blocks(t);
                ots.received(backend, t);
            }
        })?;
        ots.choices(choice.words());
        Ok(())
    }
}

impl<S: CotSender<Model = SemiHonest>, R: CotReceiver<Model = SemiHonest>> TwoWay for Both<S, R> {
    fn speak(&mut self, n: usize, ch: &mut dyn Channel, ots: &mut dyn OtSink) -> Result<()> {
        match self.speaks {
            Speaks::Sender => self.send(n, ch, ots),
            Speaks::Receiver => self.receive(n, ch, ots),
        }
    }

    fn hear(&mut self, n: usize, ch: &mut dyn Channel, ots: &mut dyn OtSink) -> Result<()> {
        match self.speaks {
            Speaks::Sender => self.receive(n, ch, ots),
            Speaks::Receiver => self.send(n, ch, ots),
        }
    }
}

/// Bit 0 of each block of at most 64 tuples: a word for each place of a tuple.
struct FirstBits<'a, const N: usize>(&'a [[Block; N]]);

impl<const N: usize> Vectorize for FirstBits<'_, N> {
    type Output = [u64; N];

    #[inline(always)]
    fn run(self) -> [u64; N] {
        let mut words = [0; N];
        if let Ok(all) = <&[[Block; N]; 64]>::try_from(self.0) {
            // As many as the registers want, so that no loop's end has to be looked for.
            for (i, tuple) in all.iter().enumerate() {
                for (word, block) in words.iter_mut().zip(tuple) {
                    *word |= u64::from(block.lsb()) << i;
                }
            }
        } else {
            for (i, tuple) in self.0.iter().enumerate() {
                for (word, block) in words.iter_mut().zip(tuple) {
                    *word |= u64::from(block.lsb()) << i;
                }
            }
        }
        words
    }
}
