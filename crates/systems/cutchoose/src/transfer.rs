//! Steps 1 and 2: the secrets of the copies and the evaluator's input labels, by oblivious transfer.
//!
//! One run of base OTs serves all (section 4.2): of one malicious extension from garbler to evaluator come the OTs of
//! step 1, those of step 2, and the base OTs of the committing OT of step 3, which goes the other way.
//!
//! In step 2 the messages are 16 bytes for each copy, masked by a stream whose seed is a message of the random OT.

use std::marker::PhantomData;
use std::ops::Range;

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Prg, Result, verdict};
use comity_garble::lockstep::{CopyChoice, GarblingParty, LabelRows};
use comity_ot::base::BaseOt;
use comity_ot::{
    HashedReceiver, HashedSender, Malicious, RandomReceiver, RandomSender, ReceiverSeeds, SenderSeeds, softspoken,
};
use comity_protocol::{Conduct, Here};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::Zeroizing;

use crate::checks;
use crate::conduct::Act;
use crate::copies::{CopySecret, KeyStreams, Replica};
use crate::probe::Probe;
use crate::random::random_bits;
use crate::rows::{Layout, Places, pieces};

/// Levels of the extension's trees: 4 bytes an OT, and the fastest.
const LEVELS: usize = 4;
/// OTs of step 2 whose messages travel together: 320 KiB at forty copies.
const GROUP: usize = 256;
/// Base OTs of the committing OT.
const SEEDS: usize = 128;

/// A block from the peer.
pub(crate) fn receive_block(ch: &mut dyn Channel) -> Result<Block> {
    let mut block = [Block::ZERO];
    ch.recv(Block::bytes_of_mut(&mut block))?;
    Ok(block[0])
}

/// The source of the random OTs.
pub(crate) trait Ots {
    /// The garbler's OTs, for `copies` copies and an encoded input of `inputs` bits.
    fn send(
        &self,
        ch: &mut dyn Channel,
        here: Here,
        copies: usize,
        inputs: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<SenderOts>;

    /// The evaluator's OTs, for a choice of copies and an encoded input.
    fn receive(
        &self,
        ch: &mut dyn Channel,
        here: Here,
        choice: &CopyChoice,
        encoded: &Bits,
        rng: &mut dyn CryptoRng,
    ) -> Result<ReceiverOts>;
}

/// A source of OTs that is an extension of these base OTs.
pub(crate) struct Extended<B>(PhantomData<B>);

impl<B> Extended<B> {
    pub(crate) const NEW: Extended<B> = Extended(PhantomData);
}

impl<B: BaseOt<Model = Malicious>> Ots for Extended<B> {
    fn send(
        &self,
        ch: &mut dyn Channel,
        here: Here,
        copies: usize,
        inputs: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<SenderOts> {
        let (session, delta) = (here.session.child("OT"), Block::random(rng));
        let sender = softspoken::Sender::<Malicious>::setup::<B>(ch, &session, here.backend, LEVELS, delta, rng)?;
        SenderOts::draw(&mut HashedSender::new(sender), ch, copies, inputs)
    }

    fn receive(
        &self,
        ch: &mut dyn Channel,
        here: Here,
        choice: &CopyChoice,
        encoded: &Bits,
        rng: &mut dyn CryptoRng,
    ) -> Result<ReceiverOts> {
        let session = here.session.child("OT");
        let receiver = softspoken::Receiver::<Malicious>::setup::<B>(ch, &session, here.backend, LEVELS, rng)?;
        ReceiverOts::draw(&mut HashedReceiver::new(receiver), ch, choice, encoded, rng)
    }
}

/// The garbler's random OTs.
pub(crate) struct SenderOts {
    /// The OTs of step 1.
    copies: Zeroizing<Vec<[Block; 2]>>,
    /// The OTs of step 2.
    pub(crate) inputs: Zeroizing<Vec<[Block; 2]>>,
    /// The base OTs of the committing OT.
    pub(crate) seeds: SenderSeeds<Malicious>,
}

impl SenderOts {
    /// The next OTs of an extension, for `copies` copies and an encoded input of `inputs` bits.
    pub(crate) fn draw(
        ot: &mut impl RandomSender<Model = Malicious>,
        ch: &mut dyn Channel,
        copies: usize,
        inputs: usize,
    ) -> Result<SenderOts> {
        let mut ots = Zeroizing::new(vec![[Block::ZERO; 2]; copies + inputs]);
        let seeds = SenderSeeds::draw(ot, ch, &mut ots, SEEDS)?;
        let inputs = Zeroizing::new(ots.split_off(copies));
        Ok(SenderOts { copies: ots, inputs, seeds })
    }

    /// Step 1: draws `seed_j` and `key_j` for each copy, and sends them, one of which the evaluator gets.
    pub(crate) fn step1(
        &self,
        ch: &mut dyn Channel,
        rng: &mut dyn CryptoRng,
    ) -> Result<(Vec<CopySecret>, Vec<CopySecret>)> {
        let (mut seeds, mut keys) = (Vec::new(), Vec::new());
        for masks in self.copies.iter() {
            let (seed, key) = (CopySecret(Block::random(rng)), CopySecret(Block::random(rng)));
            ch.send(&(seed.0 ^ masks[0]).to_bytes())?;
            ch.send(&(key.0 ^ masks[1]).to_bytes())?;
            seeds.push(seed);
            keys.push(key);
        }
        Ok((seeds, keys))
    }
}

/// The labels for zero of a chunk of the encoded input, as the seeds of the copies give them.
fn zeros_of_chunk(copies: &mut [Replica], zeros: &mut LabelRows, bits: usize) {
    zeros.draw(0, bits, copies.iter_mut().map(|copy| &mut copy.b));
}

/// The labels of a chunk of the evaluator's input from those of the encoded chunk, `y = E y'`, in their place
/// in memory.
fn decode(probe: &Probe, chunk: &Range<usize>, encoded: &LabelRows, layout: &Layout, memory: &mut LabelRows) {
    let width = encoded.width();
    let encoded = encoded.get(0, probe.encoded_chunk(chunk));
    for run in layout.runs(GarblingParty::Evaluator, chunk.start, chunk.len()) {
        probe.decode_chunk(width, encoded, run.bit - chunk.start, memory.get_mut(run.row, run.bits));
    }
}

/// Puts the labels for zero of the evaluator's input into memory, as the seeds of the copies give them.
pub(crate) fn make_labels(
    probe: &Probe,
    copies: &mut [Replica],
    layout: &Layout,
    memory: &mut LabelRows,
) -> Result<()> {
    let mut zeros = LabelRows::new(copies.len(), probe.largest_chunk())?;
    for chunk in probe.chunks() {
        zeros_of_chunk(copies, &mut zeros, probe.encoded_chunk(&chunk));
        decode(probe, &chunk, &zeros, layout, memory);
    }
    Ok(())
}

/// Step 2 at the garbler: sends both labels of each encoded input bit, of all copies together. If there is a
/// memory, those for zero of the evaluator's input go there.
pub(crate) fn send_labels(
    ch: &mut dyn Channel,
    backend: Backend,
    probe: &Probe,
    copies: &mut [Replica],
    ots: &[[Block; 2]],
    mut to: Option<(&Layout, &mut LabelRows)>,
    conduct: &mut impl for<'a> Conduct<Act<'a>>,
) -> Result<()> {
    let width = copies.len();
    let deltas = Zeroizing::new(copies.iter().map(|copy| copy.delta.block()).collect::<Vec<_>>());
    let mut zeros = LabelRows::new(width, probe.largest_chunk())?;
    let mut messages = Zeroizing::new(vec![Block::ZERO; 2 * width * GROUP]);
    let mut pad = Zeroizing::new(vec![Block::ZERO; width]);
    let mut i = 0;
    for chunk in probe.chunks() {
        let bits = probe.encoded_chunk(&chunk);
        zeros_of_chunk(copies, &mut zeros, bits);
        for (start, n) in pieces(bits, GROUP) {
            let zeros = zeros.get(start, n).chunks_exact(width);
            let messages = &mut messages[..2 * width * n];
            for ((masks, labels), pair) in ots[i..].iter().zip(zeros).zip(messages.chunks_exact_mut(2 * width)) {
                let (zero, one) = pair.split_at_mut(width);
                zero.copy_from_slice(labels);
                one.iter_mut().zip(labels).zip(deltas.iter()).for_each(|((one, label), delta)| *one = *label ^ *delta);
                conduct.before(Act::Labels { i, messages: pair });
                for (mask, message) in masks.iter().zip(pair.chunks_exact_mut(width)) {
                    Prg::new(backend, *mask).fill_blocks(&mut pad);
                    message.iter_mut().zip(pad.iter()).for_each(|(block, pad)| *block ^= *pad);
                }
                i += 1;
            }
            ch.send(Block::bytes_of(messages))?;
        }
        if let Some((layout, memory)) = &mut to {
            decode(probe, &chunk, &zeros, layout, memory);
        }
    }
    Ok(())
}

/// The evaluator's random OTs.
pub(crate) struct ReceiverOts {
    /// The OTs of step 1.
    copies: Zeroizing<Vec<Block>>,
    /// The OTs of step 2, for the encoded input.
    pub(crate) inputs: Zeroizing<Vec<Block>>,
    /// The base OTs of the committing OT.
    pub(crate) seeds: ReceiverSeeds<Malicious>,
}

impl ReceiverOts {
    /// The next OTs of an extension, for a choice of copies and an encoded input.
    pub(crate) fn draw(
        ot: &mut impl RandomReceiver<Model = Malicious>,
        ch: &mut dyn Channel,
        choice: &CopyChoice,
        encoded: &Bits,
        rng: &mut dyn CryptoRng,
    ) -> Result<ReceiverOts> {
        let mut choices = choice.evaluated_bits();
        choices.extend_from(encoded);
        let mut ots = Zeroizing::new(vec![Block::ZERO; choices.len()]);
        let delta = random_bits(SEEDS, rng);
        let seeds = ReceiverSeeds::draw(ot, ch, &choices, &mut ots, delta)?;
        let inputs = Zeroizing::new(ots.split_off(choice.copies()));
        Ok(ReceiverOts { copies: ots, inputs, seeds })
    }

    /// Step 1: receives the key of each copy that is evaluated and the seed of each other, in the order of the copies.
    pub(crate) fn step1(&self, ch: &mut dyn Channel, choice: &CopyChoice) -> Result<Vec<CopySecret>> {
        let mut secrets = Vec::new();
        for (mask, evaluated) in self.copies.iter().zip(choice.evaluated_bits().iter()) {
            let mut messages = [[0; Block::BYTES]; 2];
            ch.recv(messages.as_flattened_mut())?;
            let [seed, key] = messages.map(Block::new);
            secrets.push(CopySecret(*mask ^ seed ^ (seed ^ key).masked(evaluated)));
        }
        Ok(secrets)
    }
}

/// The copies as the evaluator has them.
pub(crate) struct OpenedCopies {
    pub(crate) choice: CopyChoice,
    /// The checked copies, made from their seeds, in order.
    pub(crate) checked: Vec<Replica>,
    /// The streams of the keys of the evaluated copies, in their order.
    pub(crate) keys: Vec<KeyStreams>,
}

impl OpenedCopies {
    pub(crate) fn new(here: Here, choice: CopyChoice, secrets: &[CopySecret]) -> OpenedCopies {
        let Here { backend, session, .. } = here;
        let checked = choice.checked.iter().map(|&j| Replica::new(backend, &session, j, secrets[j].clone())).collect();
        let keys = choice.evaluated.iter().map(|&j| KeyStreams::new(backend, &session, j, &secrets[j])).collect();
        OpenedCopies { choice, checked, keys }
    }
}

/// Step 2 at the evaluator: puts into memory the labels of its input in the evaluated copies and, if there is
/// a memory for them, the labels for zero in the checked copies, as their seeds give them.
///
/// Step 9a is done here: the labels that arrived for the checked copies must be what the seeds give.
pub(crate) fn receive_labels(
    ch: &mut dyn Channel,
    backend: Backend,
    probe: &Probe,
    opened: &mut OpenedCopies,
    encoded: &Bits,
    ots: &[Block],
    places: &mut Places<'_>,
) -> Result<()> {
    let OpenedCopies { choice, checked: copies, .. } = opened;
    let Places { layout, zeros: zeros_to, active: active_to } = places;
    let width = choice.copies();
    let deltas = Zeroizing::new(copies.iter().map(|copy| copy.delta.block()).collect::<Vec<_>>());
    let mut zeros = LabelRows::new(copies.len(), probe.largest_chunk())?;
    let mut active = LabelRows::new(choice.evaluated.len(), probe.largest_chunk())?;
    let mut messages = vec![Block::ZERO; 2 * width * GROUP];
    let mut labels = Zeroizing::new(vec![Block::ZERO; width]);
    let mut wrong = Block::ZERO;
    let mut i = 0;
    for chunk in probe.chunks() {
        let bits = probe.encoded_chunk(&chunk);
        zeros_of_chunk(copies, &mut zeros, bits);
        for (start, n) in pieces(bits, GROUP) {
            let messages = &mut messages[..2 * width * n];
            ch.recv(Block::bytes_of_mut(messages))?;
            for (row, pair) in (start..).zip(messages.chunks_exact(2 * width)) {
                let (zero, one) = pair.split_at(width);
                let bit = encoded.get(i);
                Prg::new(backend, ots[i]).fill_blocks(&mut labels);
                for ((label, zero), one) in labels.iter_mut().zip(zero).zip(one) {
                    *label ^= *zero ^ (*zero ^ *one).masked(bit);
                }
                for (label, &j) in active.get_mut(row, 1).iter_mut().zip(&choice.evaluated) {
                    *label = labels[j];
                }
                for ((zero, &j), delta) in zeros.get(row, 1).iter().zip(&choice.checked).zip(deltas.iter()) {
                    let difference = *zero ^ delta.masked(bit) ^ labels[j];
                    wrong = Block::from_u128(wrong.to_u128() | difference.to_u128());
                }
                i += 1;
            }
        }
        if let Some(memory) = zeros_to {
            decode(probe, &chunk, &zeros, layout, memory);
        }
        decode(probe, &chunk, &active, layout, active_to);
    }
    if verdict(wrong.ct_eq(&Block::ZERO)) { Ok(()) } else { Err(checks::INPUT_LABEL.into()) }
}

/// Adds the next bytes of a key's stream to blocks.
pub(crate) fn mask_blocks(stream: &mut Prg, blocks: &mut [Block]) {
    stream.mask(Block::bytes_of_mut(blocks));
}
