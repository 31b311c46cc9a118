//! OTs one way, of raw labels or hashed: from an extension, or from a store.

use std::num::Wrapping;

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, CrHash, PartyId, Result, mask};
use comity_ot::base::BaseOt;
use comity_ot::{AtLeast, CotReceiver, CotSender, SemiHonest, iknp, silent, softspoken};
use comity_protocol::Party;
use comity_share::ring::{Modular, WordReader, WordWriter, word_mask};
use comity_share::triples::OtKind;
use zeroize::Zeroizing;

/// Levels of SoftSpoken's trees.
const LEVELS: usize = 4;

/// OTs that are hashed at once: in the first-level cache, with their hashes.
const TILE: usize = 512;

/// The sender of OTs: each is of raw labels or hashed, by the call.
pub(super) trait Sends: Send {
    fn labels(&mut self, ch: &mut dyn Channel, zeros: &mut [Block]) -> Result<()>;

    /// Both messages of the next `n` OTs, some at a time and in their order.
    fn pairs(&mut self, ch: &mut dyn Channel, n: usize, each: &mut dyn FnMut(&[[Block; 2]])) -> Result<()>;
}

/// The receiver of OTs.
pub(super) trait Receives: Send {
    fn labels(&mut self, ch: &mut dyn Channel, choices: &Bits, active: &mut [Block]) -> Result<()>;

    /// The chosen messages of the next OTs, some at a time and in their order.
    fn messages(&mut self, ch: &mut dyn Channel, choices: &Bits, each: &mut dyn FnMut(&[Block])) -> Result<()>;
}

/// Hashes both messages of OTs, some at a time.
pub(super) fn hash_pairs(hash: &CrHash, delta: Block, zeros: &[Block], each: &mut dyn FnMut(&[[Block; 2]])) {
    let mut pairs = Zeroizing::new([[Block::ZERO; 2]; TILE]);
    for zeros in zeros.chunks(TILE) {
        let pairs = &mut pairs[..zeros.len()];
        hash.hash_pairs(delta, zeros, pairs);
        each(pairs);
    }
}

/// Hashes the chosen messages of OTs, some at a time.
pub(super) fn hash_messages(hash: &CrHash, messages: &mut [Block], each: &mut dyn FnMut(&[Block])) {
    for messages in messages.chunks_mut(TILE) {
        hash.hash_blocks(messages);
        each(messages);
    }
}

struct Raw<E> {
    extension: E,
    hash: CrHash,
}

impl<S: CotSender<Model = SemiHonest>> Sends for Raw<S> {
    fn labels(&mut self, ch: &mut dyn Channel, zeros: &mut [Block]) -> Result<()> {
        self.extension.extend(ch, zeros)
    }

    fn pairs(&mut self, ch: &mut dyn Channel, n: usize, each: &mut dyn FnMut(&[[Block; 2]])) -> Result<()> {
        let (delta, hash) = (self.extension.delta(), &self.hash);
        self.extension.extend_each(ch, false, n, |_, q| hash_pairs(hash, delta, q, each))
    }
}

impl<R: CotReceiver<Model = SemiHonest>> Receives for Raw<R> {
    fn labels(&mut self, ch: &mut dyn Channel, choices: &Bits, active: &mut [Block]) -> Result<()> {
        self.extension.extend(ch, choices, active)
    }

    fn messages(&mut self, ch: &mut dyn Channel, choices: &Bits, each: &mut dyn FnMut(&[Block])) -> Result<()> {
        let hash = &self.hash;
        let hashed = |_, t: &mut [Block]| hash_messages(hash, t, each);
        self.extension.extend_each(ch, Some(choices), choices.len(), hashed).map(drop)
    }
}

/// One way of OTs.
pub(super) enum Way<'d> {
    Out(Box<dyn Sends + 'd>),
    In(Box<dyn Receives + 'd>),
}

impl<'d> Way<'d> {
    /// OTs of an extension, for which base OTs are run.
    pub(super) fn setup<B: BaseOt<Model: AtLeast<SemiHonest>>>(
        me: &mut Party<'_, '_>,
        sender: PartyId,
        kind: OtKind,
        delta: Block,
    ) -> Result<Way<'d>> {
        let label = if sender == PartyId(0) { "OTs from party 0" } else { "OTs from party 1" };
        let mut me = me.sub(label);
        let (ch, here, rng, _) = me.pair()?;
        let (session, backend) = (here.session, here.backend);
        fn out(extension: impl CotSender<Model = SemiHonest> + 'static, backend: Backend) -> Way<'static> {
            Way::Out(Box::new(Raw { extension, hash: CrHash::new(backend) }))
        }
        fn into(extension: impl CotReceiver<Model = SemiHonest> + 'static, backend: Backend) -> Way<'static> {
            Way::In(Box::new(Raw { extension, hash: CrHash::new(backend) }))
        }
        Ok(match (kind, sender == here.me) {
            (OtKind::Iknp, true) => out(iknp::Sender::setup::<B>(ch, &session, backend, delta, rng)?, backend),
            (OtKind::Iknp, false) => into(iknp::Receiver::setup::<B>(ch, &session, backend, rng)?, backend),
            (OtKind::SoftSpoken, true) => {
                let sender = softspoken::Sender::<SemiHonest>::setup::<B>(ch, &session, backend, LEVELS, delta, rng)?;
                out(sender, backend)
            }
            (OtKind::SoftSpoken, false) => {
                let receiver = softspoken::Receiver::<SemiHonest>::setup::<B>(ch, &session, backend, LEVELS, rng)?;
                into(receiver, backend)
            }
            (OtKind::Silent, true) => {
                out(silent::Sender::<SemiHonest>::setup::<B>(ch, &session, backend, delta, rng)?, backend)
            }
            (OtKind::Silent, false) => {
                into(silent::Receiver::<SemiHonest>::setup::<B>(ch, &session, backend, rng)?, backend)
            }
        })
    }

    /// Shares of what the OTs of these words add up to: of each word the sum of `choice_i number_i 2^i`, with the bits
    /// of the receiver's words as choices, and what `number` makes of the sender's. Two messages.
    pub(super) fn products(
        &mut self,
        ch: &mut dyn Channel,
        all: &[ByBits<'_>],
        number: fn(u128, u32) -> u128,
    ) -> Result<Vec<Zeroizing<Vec<u128>>>> {
        let bits: usize = all.iter().map(ByBits::told).sum();
        let mut walk = Walk::new(all);
        match self {
            Way::Out(sender) => {
                let mut told = WordWriter::with_room(bits);
                sender.pairs(ch, walk.ots(), &mut |pairs| walk.offer(pairs, number, &mut told))?;
                ch.send(&told.finish())?;
                ch.flush()?;
            }
            Way::In(receiver) => {
                let mut choices = WordWriter::with_room(walk.ots());
                all.iter().for_each(|of| of.words.iter().for_each(|word| choices.put(*word, of.ots)));
                let choices = Bits::from_bytes(&Zeroizing::new(choices.finish()), walk.ots());
                receiver.messages(ch, &choices, &mut |messages| walk.add(messages))?;
                let mut told = vec![0; bits.div_ceil(8)];
                ch.recv(&mut told)?;
                walk.hear(&told);
            }
        }
        Ok(walk.sums)
    }
}

/// Words modulo 2^to with an OT for each of their lowest bits.
pub(super) struct ByBits<'a> {
    pub(super) ots: u32,
    pub(super) to: u32,
    pub(super) words: &'a [u128],
}

impl ByBits<'_> {
    /// The bits that the sender tells: for bit `i` of a word all but `i`.
    fn told(&self) -> usize {
        let (ots, to) = (self.ots as usize, self.to as usize);
        self.words.len() * (0..ots).map(|i| to - i).sum::<usize>()
    }
}

/// A walk through the OTs of words, in their order, some at a time: what they add up to.
struct Walk<'a> {
    all: &'a [ByBits<'a>],
    sums: Vec<Zeroizing<Vec<u128>>>,
    /// The words, the word of these, and its bit whose OT is next.
    next: (usize, usize, u32),
}

impl<'a> Walk<'a> {
    fn new(all: &'a [ByBits<'a>]) -> Walk<'a> {
        let sums = all.iter().map(|of| Zeroizing::new(vec![0; of.words.len()])).collect();
        Walk { all, sums, next: (0, 0, 0) }
    }

    /// How many OTs there are.
    fn ots(&self) -> usize {
        self.all.iter().map(|of| of.words.len() * of.ots as usize).sum()
    }

    /// Goes on through the next OTs, which have these messages: calls `each` with the words, the word, its sum, the bit
    /// of the first OT, and the messages of this word.
    fn on<M>(&mut self, mut messages: &[M], mut each: impl FnMut(&ByBits<'_>, u128, &mut u128, u32, &[M])) {
        while !messages.is_empty() {
            let (group, word, bit) = self.next;
            let of = &self.all[group];
            if word == of.words.len() || of.ots == 0 {
                self.next = (group + 1, 0, 0);
                continue;
            }
            let now;
            (now, messages) = messages.split_at(messages.len().min((of.ots - bit) as usize));
            each(of, of.words[word], &mut self.sums[group][word], bit, now);
            let end = bit + now.len() as u32;
            self.next = if end == of.ots { (group, word + 1, 0) } else { (group, word, end) };
        }
    }

    /// The sender's: what it tells in the next OTs, `r_0 - r_1 + number`, and minus the sum of the `r_0`.
    fn offer(&mut self, pairs: &[[Block; 2]], number: fn(u128, u32) -> u128, told: &mut WordWriter) {
        self.on(pairs, |of, word, sum, bit, pairs| {
            if of.to <= u64::BITS {
                offer::<Wrapping<u64>>(of, word, sum, bit, pairs, number, told);
            } else {
                offer::<Wrapping<u128>>(of, word, sum, bit, pairs, number, told);
            }
        });
    }

    /// The receiver's: the sum of the messages.
    fn add(&mut self, messages: &[Block]) {
        self.on(messages, |of, _, sum, bit, messages| {
            if of.to <= u64::BITS {
                add::<Wrapping<u64>>(sum, bit, messages);
            } else {
                add::<Wrapping<u128>>(sum, bit, messages);
            }
        });
    }

    /// The receiver's: what the sender told, where the bit is one.
    fn hear(&mut self, told: &[u8]) {
        let mut told = WordReader::new(told);
        for (of, sums) in self.all.iter().zip(&mut self.sums) {
            for (sum, word) in sums.iter_mut().zip(of.words) {
                for i in 0..of.ots {
                    *sum = sum.wrapping_add((told.take(of.to - i) & all_ones(word >> i)) << i);
                }
                *sum &= word_mask(of.to);
            }
        }
    }
}

fn offer<W: Modular>(
    of: &ByBits<'_>,
    word: u128,
    sum: &mut u128,
    bit: u32,
    pairs: &[[Block; 2]],
    number: fn(u128, u32) -> u128,
    told: &mut WordWriter,
) {
    let mut zeros = W::default();
    for ([zero, one], i) in pairs.iter().zip(bit..) {
        let (zero, one) = (W::low(zero.to_u128()), W::low(one.to_u128()));
        told.put((zero - one + W::low(number(word, i))).wide(), of.to - i);
        zeros += zero << i as usize;
    }
    *sum = (W::low(*sum) - zeros).wide() & word_mask(of.to);
}

fn add<W: Modular>(sum: &mut u128, bit: u32, messages: &[Block]) {
    let messages = messages.iter().zip(bit as usize..).map(|(message, i)| W::low(message.to_u128()) << i);
    *sum = messages.fold(W::low(*sum), W::add).wide();
}

/// All ones if the lowest bit is one, else zero.
pub(super) fn all_ones(bit: u128) -> u128 {
    let half = u128::from(mask(bit & 1 == 1));
    half << 64 | half
}
