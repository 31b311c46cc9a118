//! The receiver of committing OT: receiver of the extension, and judge of the opening.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Result, SessionId, mask, verdict};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use super::{BASE, DeltaOpening, GROUP, Pads, SHAPE, begin};
use crate::base::BaseOt;
use crate::checks;
use crate::cot::CotReceiver;
use crate::model::{AtLeast, Malicious};
use crate::seeds::SenderSeeds;
use crate::softspoken::{self, Forest, Trees, build};

/// The receiver: gets the chosen message of each OT, and both when the sender opens.
pub struct Receiver {
    session: SessionId,
    extension: softspoken::Receiver<Malicious>,
    forest: Forest,
    pads: Pads,
    /// All OTs, call by call.
    calls: Vec<Call>,
    broken: bool,
}

/// The messages of a call, kept until the opening.
struct Call {
    choices: Bits,
    t: Zeroizing<Vec<Block>>,
    /// Bytes in a message.
    len: usize,
    /// The two masked messages of each OT; `None` if messages are random.
    masked: Option<Vec<u8>>,
}

impl Receiver {
    /// Runs the base OTs, as their sender, and sends the trees.
    ///
    /// `session` must serve this committing OT alone: two of them in one session each take a child of it.
    ///
    /// # Errors
    /// Errors of [`BaseOt::send`].
    pub fn setup<B: BaseOt<Model: AtLeast<Malicious>>>(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        rng: &mut dyn CryptoRng,
    ) -> Result<Receiver> {
        let seeds = B::send(ch, &session.child(BASE), 128, rng)?;
        let receiver = Receiver::setup_from(ch, session, backend, seeds.weaken())?;
        ch.flush()?;
        Ok(receiver)
    }

    /// Sends the trees, over 128 random OTs that exist already, such as outputs of a malicious extension in
    /// the other direction.
    ///
    /// # Errors
    /// Errors of the channel.
    ///
    /// # Panics
    /// If there are not 128 OTs.
    pub fn setup_from(
        ch: &mut dyn Channel,
        session: &SessionId,
        backend: Backend,
        seeds: SenderSeeds<Malicious>,
    ) -> Result<Receiver> {
        let (receiver, trees) = Receiver::new(session, backend, seeds);
        ch.send(trees.as_bytes())?;
        Ok(receiver)
    }

    /// The receiver from 128 random OTs, and the message to the sender.
    ///
    /// # Panics
    /// If there are not 128 OTs.
    pub fn new(session: &SessionId, backend: Backend, seeds: SenderSeeds<Malicious>) -> (Receiver, Trees) {
        let (forest, trees) = build(session, backend, SHAPE, &seeds);
        let receiver = Receiver {
            session: *session,
            extension: softspoken::Receiver::from_forest(session, backend, SHAPE, &forest),
            forest,
            pads: Pads::new(session),
            calls: Vec::new(),
            broken: false,
        };
        (receiver, trees)
    }

    /// OTs of chosen messages of `len` bytes: the chosen one of each.
    ///
    /// # Errors
    /// Errors of the channel.
    pub fn receive(&mut self, ch: &mut dyn Channel, len: usize, choices: &Bits) -> Result<Vec<Vec<u8>>> {
        begin(&mut self.broken)?;
        let t = self.extend(ch, choices)?;
        let mut index = self.next();
        let mut masked = Vec::new();
        let mut messages = Vec::with_capacity(choices.len());
        for start in (0..choices.len()).step_by(GROUP) {
            let group = start..choices.len().min(start + GROUP);
            let at = masked.len();
            masked.resize(at + 2 * len * group.len(), 0);
            ch.recv(&mut masked[at..])?;
            for (i, j) in group.enumerate() {
                let (zero, one) = masked[at + 2 * len * i..][..2 * len].split_at(len);
                let chosen = mask(choices.get(j)) as u8;
                let mut message: Vec<u8> =
                    zero.iter().zip(one).map(|(zero, one)| zero ^ (zero ^ one) & chosen).collect();
                self.pads.add(index, t[j], &mut message);
                messages.push(message);
                index += 1;
            }
        }
        self.calls.push(Call { choices: choices.clone(), t, len, masked: Some(masked) });
        self.broken = false;
        Ok(messages)
    }

    /// OTs of random messages: the chosen one of each.
    ///
    /// # Errors
    /// Errors of the channel.
    pub fn random(&mut self, ch: &mut dyn Channel, choices: &Bits) -> Result<Vec<Block>> {
        begin(&mut self.broken)?;
        let t = self.extend(ch, choices)?;
        let mut messages = vec![Block::ZERO; choices.len()];
        self.pads.random((self.next()..).zip(t.iter().copied()), &mut messages);
        self.calls.push(Call { choices: choices.clone(), t, len: Block::BYTES, masked: None });
        self.broken = false;
        Ok(messages)
    }

    /// Receives the opening: both messages of every OT of every call, in order.
    ///
    /// # Errors
    /// Errors of the channel, and those of [`Receiver::finish`].
    pub fn open(self, ch: &mut dyn Channel) -> Result<Vec<[Vec<u8>; 2]>> {
        let mut opening = [0; DeltaOpening::BYTES];
        ch.recv(&mut opening)?;
        self.finish(&DeltaOpening::from_bytes(&opening)?)
    }

    /// Takes the opening: both messages of every OT of every call, in order.
    ///
    /// # Errors
    /// [`WrongOpening`](crate::checks::WRONG_OPENING) if delta is not that of the base OTs, and
    /// [`InvalidInput`](comity_core::Kind) after an earlier error.
    pub fn finish(mut self, opening: &DeltaOpening) -> Result<Vec<[Vec<u8>; 2]>> {
        self.verify(opening)?;
        let mut opened = Vec::with_capacity(self.next() as usize);
        for call in &self.calls {
            for (j, t) in call.t.iter().enumerate() {
                let index = opened.len() as u64;
                let q = *t ^ opening.delta.masked(call.choices.get(j));
                let message = |b: usize| {
                    let block = q ^ opening.delta.masked(b == 1);
                    let Some(masked) = &call.masked else {
                        let mut message = [Block::ZERO];
                        self.pads.random([(index, block)].into_iter(), &mut message);
                        return message[0].to_bytes().to_vec();
                    };
                    let mut message = masked[call.len * (2 * j + b)..][..call.len].to_vec();
                    self.pads.add(index, block, &mut message);
                    message
                };
                opened.push([message(0), message(1)]);
            }
        }
        Ok(opened)
    }

    /// Receives the opening of OTs that were all random: both messages of each, in order.
    ///
    /// # Errors
    /// Errors of [`Receiver::open`].
    ///
    /// # Panics
    /// If messages were chosen.
    pub fn open_random(self, ch: &mut dyn Channel) -> Result<Vec<[Block; 2]>> {
        let mut opening = [0; DeltaOpening::BYTES];
        ch.recv(&mut opening)?;
        self.finish_random(&DeltaOpening::from_bytes(&opening)?)
    }

    /// Takes the opening of OTs that were all random: both messages of each, in order.
    ///
    /// # Errors
    /// Errors of [`Receiver::finish`].
    ///
    /// # Panics
    /// If messages were chosen.
    pub fn finish_random(mut self, opening: &DeltaOpening) -> Result<Vec<[Block; 2]>> {
        self.verify(opening)?;
        let mut opened = vec![[Block::ZERO; 2]; self.next() as usize];
        let all = self.calls.iter().flat_map(|call| {
            assert!(call.masked.is_none(), "the messages are random ones");
            call.t.iter().zip(call.choices.iter())
        });
        let both = (0..).zip(all).flat_map(|(index, (t, choice))| {
            let q = *t ^ opening.delta.masked(choice);
            [(index, q), (index, q ^ opening.delta)]
        });
        self.pads.random(both, opened.as_flattened_mut());
        Ok(opened)
    }

    /// Whether delta is that of the base OTs.
    fn verify(&mut self, opening: &DeltaOpening) -> Result<()> {
        begin(&mut self.broken)?;
        let held = self.forest.without(SHAPE, opening.delta).digest(&self.session);
        if !verdict(held[..].ct_eq(&opening.seeds)) {
            return Err(checks::WRONG_OPENING.into());
        }
        Ok(())
    }

    /// The index of the next OT.
    fn next(&self) -> u64 {
        self.calls.iter().map(|call| call.t.len() as u64).sum()
    }

    fn extend(&mut self, ch: &mut dyn Channel, choices: &Bits) -> Result<Zeroizing<Vec<Block>>> {
        let mut t = Zeroizing::new(vec![Block::ZERO; choices.len()]);
        self.extension.extend(ch, choices, &mut t)?;
        Ok(t)
    }
}
