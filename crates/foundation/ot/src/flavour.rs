//! The flavours of D13.3 section 3.3 that send messages, over any extension: OT, C-OT, RR-OT, for messages of
//! any number of bits. SR-OT and R-OT are what [`RandomSender`] and [`RandomReceiver`] do; [`expand`] makes
//! their outputs longer.
//!
//! | flavour | messages | choice bits | sender to receiver, n-bit messages | functions |
//! |---|---|---|---|---|
//! | OT | chosen | chosen | 2n bits an OT | [`send`], [`receive`] |
//! | C-OT | `x0` random, `x1 = f(x0)` | chosen | n | [`send_correlated`], [`receive_correlated`] |
//! | SR-OT | random | chosen | 0 | `sender_random` |
//! | RR-OT | chosen | random | 2n | [`send_to_random`], [`receive_random`] |
//! | R-OT | random | random | 0 | `random` |
//!
//! From receiver to sender goes what the extension sends for these OTs (IKNP: 128 bits an OT, one less for
//! random choice bits). This is D13.3's Table 3.1, and a test counts it.
//!
//! **Functionality.** As D13.3's Functionalities 1 to 4, in their endemic form: a corrupt party may choose
//! its own random outputs. C-OT is reactive: the sender sees `x0` before it says what `x1` is, and a corrupt
//! one may use another correlation in each OT. Therefore it is no substitute for the fixed delta of
//! [`CotSender`](crate::CotSender).
//!
//! **Adversary**: that of the extension. Chosen messages are masked, and not authenticated: in the malicious model a
//! corrupt sender may send what it likes, as it may in the ideal world.
//!
//! **Cost**: the masks of 2^18 OTs in memory at a time (8 MiB at the sender, 4 at the receiver), and a message each way
//! for as many; whatever an extension needs besides.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Prg, Result};
use zeroize::{Zeroize, Zeroizing};

use crate::cot::check_length;
use crate::random::{RandomReceiver, RandomSender};

/// The number of OTs for which the receiver sends its part before it reads the sender's.
const ROUND: usize = 1 << 18;

/// Bytes that are put on the wire at a time, and some more.
const PIECE: usize = 1 << 16;

/// Bytes of a message of `bits` bits. In memory every message has whole bytes, the unused bits of the last one zero; on
/// the wire messages lie bit by bit.
pub const fn bytes(bits: usize) -> usize {
    bits.div_ceil(8)
}

/// A message of `bits` bits from a block of a random OT: its first bits or, if it has fewer, the stream that
/// it is the seed of. `out` has [`bytes`]`(bits)` bytes.
pub fn expand(block: Block, bits: usize, out: &mut [u8]) {
    assert_eq!(out.len(), bytes(bits), "the bytes of a message of {bits} bits");
    if out.len() <= 16 {
        out.copy_from_slice(&block.to_bytes()[..out.len()]);
    } else {
        Prg::new(Backend::detect(), block).fill(out);
    }
    if !bits.is_multiple_of(8) {
        *out.last_mut().expect("more than no bits") &= (1 << (bits % 8)) - 1;
    }
}

/// OT: sends one of two messages of `bits` bits in each OT. Each of `messages` holds those for one choice
/// bit, one after another.
///
/// # Errors
/// Errors of the extension.
///
/// # Panics
/// If the messages are not a whole number, or not the same number for both choice bits.
pub fn send<S: RandomSender>(ot: &mut S, ch: &mut dyn Channel, bits: usize, messages: [&[u8]; 2]) -> Result<()> {
    chosen(ch, bits, messages, |ch, pairs| ot.sender_random(ch, pairs))
}

/// RR-OT: sends one of two messages of `bits` bits in each OT, to a receiver that does not choose.
///
/// # Errors
/// Errors of the extension.
///
/// # Panics
/// As [`send`].
pub fn send_to_random<S: RandomSender>(
    ot: &mut S,
    ch: &mut dyn Channel,
    bits: usize,
    messages: [&[u8]; 2],
) -> Result<()> {
    chosen(ch, bits, messages, |ch, pairs| ot.random(ch, pairs))
}

/// OT: the chosen message of `bits` bits of each OT goes to `out`, one after another.
///
/// # Errors
/// Errors of the extension.
///
/// # Panics
/// If `out` does not have room for exactly one message for each choice bit.
pub fn receive<R: RandomReceiver>(
    ot: &mut R,
    ch: &mut dyn Channel,
    bits: usize,
    choices: &Bits,
    out: &mut [u8],
) -> Result<()> {
    let mut start = 0;
    receive_masked::<2>(ch, bits, choices.len(), out, |ch, masks| {
        let choices = choices.slice(start, masks.len());
        start += masks.len();
        ot.sender_random(ch, &choices, masks).map(|()| choices)
    })
}

/// RR-OT: the choice bits, which are random, and in `out` the chosen messages of `bits` bits of `count` OTs.
///
/// # Errors
/// Errors of the extension.
///
/// # Panics
/// If `out` does not have room for exactly `count` messages.
pub fn receive_random<R: RandomReceiver>(
    ot: &mut R,
    ch: &mut dyn Channel,
    bits: usize,
    count: usize,
    out: &mut [u8],
) -> Result<Bits> {
    let mut all = Bits::zeros(0);
    receive_masked::<2>(ch, bits, count, out, |ch, masks| {
        let choices = ot.random(ch, masks)?;
        all.extend_from(&choices);
        Ok(choices)
    })?;
    Ok(all)
}

/// C-OT: in OT `j` the message for 0 is random and goes to `zeros`; `f(j, zero, one)` computes the one for 1
/// from it.
///
/// # Errors
/// Errors of the extension.
///
/// # Panics
/// If `zeros` does not hold whole messages of `bits` bits.
pub fn send_correlated<S: RandomSender>(
    ot: &mut S,
    ch: &mut dyn Channel,
    bits: usize,
    zeros: &mut [u8],
    mut f: impl FnMut(usize, &[u8], &mut [u8]),
) -> Result<()> {
    let len = bytes(bits);
    let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; ROUND.min(count(zeros.len(), len))]);
    let (mut one, mut mask) = (Zeroizing::new(vec![0; len]), Zeroizing::new(vec![0; len]));
    let mut j = 0;
    for zeros in zeros.chunks_mut(ROUND * len.max(1)) {
        let pairs = &mut pairs[..zeros.len() / len];
        ot.sender_random(ch, pairs)?;
        let mut wire = Packer::new(bits);
        for (zero, pair) in zeros.chunks_exact_mut(len).zip(&*pairs) {
            expand(pair[0], bits, zero);
            one.fill(0);
            f(j, zero, &mut one);
            expand(pair[1], bits, &mut mask);
            wire.push(&one, &mask);
            wire.send_full(ch)?;
            j += 1;
        }
        wire.finish(ch)?;
    }
    Ok(())
}

/// C-OT: the chosen message of `bits` bits of each OT goes to `out`, one after another.
///
/// # Errors
/// Errors of the extension.
///
/// # Panics
/// As [`receive`].
pub fn receive_correlated<R: RandomReceiver>(
    ot: &mut R,
    ch: &mut dyn Channel,
    bits: usize,
    choices: &Bits,
    out: &mut [u8],
) -> Result<()> {
    let mut start = 0;
    receive_masked::<1>(ch, bits, choices.len(), out, |ch, masks| {
        let choices = choices.slice(start, masks.len());
        start += masks.len();
        ot.sender_random(ch, &choices, masks).map(|()| choices)
    })
}

/// The number of messages of `len` bytes each; 0 if a message has no bits and thus no bytes.
fn count(bytes: usize, len: usize) -> usize {
    assert!(
        if len == 0 { bytes == 0 } else { bytes.is_multiple_of(len) },
        "{bytes} bytes are not a whole number of messages of {len} bytes"
    );
    bytes.checked_div(len).unwrap_or(0)
}

/// Sends both masked messages of each OT.
fn chosen(
    ch: &mut dyn Channel,
    bits: usize,
    [zeros, ones]: [&[u8]; 2],
    mut random: impl FnMut(&mut dyn Channel, &mut [[Block; 2]]) -> Result<()>,
) -> Result<()> {
    assert_eq!(zeros.len(), ones.len(), "as many messages for either choice bit");
    let len = bytes(bits);
    let mut pairs = Zeroizing::new(vec![[Block::ZERO; 2]; ROUND.min(count(zeros.len(), len))]);
    let mut mask = Zeroizing::new(vec![0; len]);
    let round = ROUND * len.max(1);
    for (zeros, ones) in zeros.chunks(round).zip(ones.chunks(round)) {
        let pairs = &mut pairs[..zeros.len() / len];
        random(ch, pairs)?;
        let mut wire = Packer::new(bits);
        for ((zero, one), pair) in zeros.chunks_exact(len).zip(ones.chunks_exact(len)).zip(&*pairs) {
            for (message, block) in [zero, one].into_iter().zip(pair) {
                expand(*block, bits, &mut mask);
                wire.push(message, &mask);
            }
            wire.send_full(ch)?;
        }
        wire.finish(ch)?;
    }
    Ok(())
}

/// Reads masked messages, `N` for each OT: both, or only that for choice bit 1. `random` gives the masks of
/// the next OTs and their choice bits.
fn receive_masked<const N: usize>(
    ch: &mut dyn Channel,
    bits: usize,
    all: usize,
    out: &mut [u8],
    mut random: impl FnMut(&mut dyn Channel, &mut [Block]) -> Result<Bits>,
) -> Result<()> {
    let len = bytes(bits);
    assert_eq!(out.len(), all * len, "room for {all} messages of {len} bytes");
    let mut masks = Zeroizing::new(vec![Block::ZERO; ROUND.min(all)]);
    let mut sent = vec![0; N * len];
    for (start, out) in (0..all).step_by(ROUND).zip(out.chunks_mut(ROUND * len.max(1))) {
        let masks = &mut masks[..ROUND.min(all - start)];
        let choices = random(ch, masks)?;
        check_length(&choices, masks.len())?;
        let mut wire = Unpacker::new(bits, N * masks.len());
        for ((message, mask), choice) in out.chunks_exact_mut(len).zip(&*masks).zip(choices.iter()) {
            for sent in sent.chunks_exact_mut(len) {
                wire.pull(ch, sent)?;
            }
            expand(*mask, bits, message);
            // Whether a message is added is the receiver's secret: no branch and no index on it.
            let chosen = comity_core::mask(choice) as u8;
            let (first, last) = (&sent[..len], &sent[(N - 1) * len..]);
            for ((byte, zero), one) in message.iter_mut().zip(first).zip(last) {
                *byte ^= if N == 2 { zero & !chosen | one & chosen } else { one & chosen };
            }
        }
    }
    Ok(())
}

/// Messages on their way out, bit by bit.
struct Packer {
    bits: usize,
    bytes: Vec<u8>,
    /// Bits that do not fill a byte yet, and how many.
    rest: (u32, usize),
}

impl Packer {
    fn new(bits: usize) -> Packer {
        Packer { bits, bytes: Vec::with_capacity(PIECE + 2 * bytes(bits)), rest: (0, 0) }
    }

    /// Appends a masked message.
    fn push(&mut self, message: &[u8], mask: &[u8]) {
        let whole = self.bits / 8;
        if self.rest.1 == 0 {
            self.bytes.extend(message[..whole].iter().zip(mask).map(|(m, k)| m ^ k));
        } else {
            for i in 0..whole {
                self.append(message[i] ^ mask[i], 8);
            }
        }
        if !self.bits.is_multiple_of(8) {
            let used = (1 << (self.bits % 8)) - 1;
            self.append((message[whole] ^ mask[whole]) & used, self.bits % 8);
        }
    }

    fn append(&mut self, byte: u8, bits: usize) {
        let (acc, held) = (self.rest.0 | u32::from(byte) << self.rest.1, self.rest.1 + bits);
        self.rest = if held >= 8 {
            self.bytes.push(acc as u8);
            (acc >> 8, held - 8)
        } else {
            (acc, held)
        };
    }

    fn send_full(&mut self, ch: &mut dyn Channel) -> Result<()> {
        if self.bytes.len() >= PIECE {
            ch.send(&self.bytes)?;
            self.bytes.clear();
        }
        Ok(())
    }

    fn finish(mut self, ch: &mut dyn Channel) -> Result<()> {
        if self.rest.1 > 0 {
            self.bytes.push(self.rest.0 as u8);
        }
        ch.send(&self.bytes)?;
        ch.flush()
    }
}

impl Drop for Packer {
    fn drop(&mut self) {
        self.rest.0.zeroize();
    }
}

/// Messages on their way in, bit by bit.
struct Unpacker {
    bits: usize,
    /// Bytes of the round that were not read from the channel yet.
    unread: usize,
    bytes: Vec<u8>,
    at: usize,
    /// Bits left of the byte that was begun, and how many.
    rest: (u8, usize),
}

impl Unpacker {
    fn new(bits: usize, messages: usize) -> Unpacker {
        Unpacker { bits, unread: (bits * messages).div_ceil(8), bytes: Vec::new(), at: 0, rest: (0, 0) }
    }

    /// The next message.
    fn pull(&mut self, ch: &mut dyn Channel, message: &mut [u8]) -> Result<()> {
        let (whole, part) = (self.bits / 8, self.bits % 8);
        if part == 0 {
            let mut filled = 0;
            while filled < whole {
                self.fill(ch)?;
                let now = (whole - filled).min(self.bytes.len() - self.at);
                message[filled..filled + now].copy_from_slice(&self.bytes[self.at..self.at + now]);
                (filled, self.at) = (filled + now, self.at + now);
            }
            return Ok(());
        }
        for byte in &mut message[..whole] {
            *byte = self.take(ch, 8)?;
        }
        message[whole] = self.take(ch, part)?;
        Ok(())
    }

    fn take(&mut self, ch: &mut dyn Channel, bits: usize) -> Result<u8> {
        let (mut acc, mut held) = (u32::from(self.rest.0), self.rest.1);
        if held < bits {
            self.fill(ch)?;
            acc |= u32::from(self.bytes[self.at]) << held;
            (self.at, held) = (self.at + 1, held + 8);
        }
        self.rest = ((acc >> bits) as u8, held - bits);
        Ok((acc & ((1 << bits) - 1)) as u8)
    }

    /// Reads more if all that was read is used up.
    fn fill(&mut self, ch: &mut dyn Channel) -> Result<()> {
        if self.at == self.bytes.len() {
            self.bytes.resize(PIECE.min(self.unread), 0);
            ch.recv(&mut self.bytes)?;
            (self.unread, self.at) = (self.unread - self.bytes.len(), 0);
        }
        Ok(())
    }
}
