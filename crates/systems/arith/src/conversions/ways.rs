//! OTs one way, of raw labels or hashed: from an extension, or from a store.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, CrHash, PartyId, Result, mask};
use comity_ot::base::BaseOt;
use comity_ot::{AtLeast, CotReceiver, CotSender, SemiHonest, iknp, silent, softspoken};
use comity_protocol::Party;
use comity_share::ring::{WordReader, WordWriter, word_mask};
use comity_share::triples::OtKind;
use zeroize::Zeroizing;

/// Levels of SoftSpoken's trees.
const LEVELS: usize = 4;

/// The sender of OTs: each is of raw labels or hashed, by the call.
pub(super) trait Sends: Send {
    fn labels(&mut self, ch: &mut dyn Channel, zeros: &mut [Block]) -> Result<()>;
    fn pairs(&mut self, ch: &mut dyn Channel, pairs: &mut [[Block; 2]]) -> Result<()>;
}

/// The receiver of OTs.
pub(super) trait Receives: Send {
    fn labels(&mut self, ch: &mut dyn Channel, choices: &Bits, active: &mut [Block]) -> Result<()>;
    fn messages(&mut self, ch: &mut dyn Channel, choices: &Bits, messages: &mut [Block]) -> Result<()>;
}

struct Raw<E> {
    extension: E,
    hash: CrHash,
}

impl<S: CotSender<Model = SemiHonest>> Sends for Raw<S> {
    fn labels(&mut self, ch: &mut dyn Channel, zeros: &mut [Block]) -> Result<()> {
        self.extension.extend(ch, zeros)
    }

    fn pairs(&mut self, ch: &mut dyn Channel, pairs: &mut [[Block; 2]]) -> Result<()> {
        let (delta, hash, n) = (self.extension.delta(), &self.hash, pairs.len());
        let each = |j: usize, q: &mut [Block]| hash.hash_pairs(delta, q, &mut pairs[j..j + q.len()]);
        self.extension.extend_each(ch, false, n, each)
    }
}

impl<R: CotReceiver<Model = SemiHonest>> Receives for Raw<R> {
    fn labels(&mut self, ch: &mut dyn Channel, choices: &Bits, active: &mut [Block]) -> Result<()> {
        self.extension.extend(ch, choices, active)
    }

    fn messages(&mut self, ch: &mut dyn Channel, choices: &Bits, messages: &mut [Block]) -> Result<()> {
        self.extension.extend(ch, choices, messages)?;
        self.hash.hash_blocks(messages);
        Ok(())
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

    /// Shares of `choice * word` modulo 2^bits, of words of the sender and bits of the receiver: `own` are
    /// those of this party. Two messages.
    pub(super) fn products(
        &mut self,
        ch: &mut dyn Channel,
        widths: impl Iterator<Item = u32> + Clone,
        own: &[u128],
    ) -> Result<Zeroizing<Vec<u128>>> {
        let bits: usize = widths.clone().map(|bits| bits as usize).sum();
        let mut shares = Zeroizing::new(Vec::with_capacity(own.len()));
        match self {
            Way::Out(sender) => {
                let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; own.len()]);
                sender.pairs(ch, &mut pairs)?;
                let mut told = WordWriter::with_room(bits);
                for (([zero, one], word), bits) in pairs.iter().zip(own).zip(widths) {
                    let (zero, one) = (zero.to_u128(), one.to_u128());
                    told.put(zero.wrapping_sub(one).wrapping_add(*word), bits);
                    shares.push(zero.wrapping_neg() & word_mask(bits));
                }
                ch.send(&told.finish())?;
                ch.flush()?;
            }
            Way::In(receiver) => {
                let choices: Bits = own.iter().map(|bit| bit & 1 == 1).collect();
                let mut messages = Zeroizing::new(vec![Block::ZERO; own.len()]);
                receiver.messages(ch, &choices, &mut messages)?;
                let mut told = vec![0; bits.div_ceil(8)];
                ch.recv(&mut told)?;
                let mut told = WordReader::new(&told);
                for ((message, choice), bits) in messages.iter().zip(own).zip(widths) {
                    let u = told.take(bits) & all_ones(*choice);
                    shares.push(message.to_u128().wrapping_add(u) & word_mask(bits));
                }
            }
        }
        Ok(shares)
    }
}

/// All ones if the lowest bit is one, else zero.
pub(super) fn all_ones(bit: u128) -> u128 {
    let half = u128::from(mask(bit & 1 == 1));
    half << 64 | half
}
