//! Chosen messages: 1-out-of-N OT as it is usually meant.

use comity_channel::Channel;
use comity_core::{Block, Error, Result, declassify};
use subtle::{ConditionallySelectable, ConstantTimeEq};
use zeroize::Zeroizing;

use super::{OneOfN, Receiver, Sender};
use crate::flavour::expand;

/// Blocks that the sender masks with at a time.
const ROUND: usize = 1 << 16;

/// OTs that are made in one go.
fn round(entries: usize) -> usize {
    (ROUND / entries).clamp(1, 1 << 13)
}

/// The number of OTs with `entries` messages of `len` bytes each in `bytes`.
fn count(bytes: usize, entries: usize, len: usize) -> Result<usize> {
    match entries.checked_mul(len) {
        Some(size @ 1..) if bytes.is_multiple_of(size) => Ok(bytes / size),
        _ => Err(Error::invalid_input(format!("{bytes} bytes are not {entries} messages of {len} bytes for each OT"))),
    }
}

/// Sends one of `entries` messages of `len` bytes in each OT. `messages` holds those of the first OT, one
/// after another, then those of the second OT, and so on.
///
/// Each message is masked, and not authenticated. An OT takes `entries * len` bytes on the wire; every
/// `2^16 / entries` OTs or so take a round trip.
///
/// # Errors
/// Errors of [`Sender::keys`], and [`InvalidInput`](comity_core::Kind) if the messages are not a whole
/// number.
pub fn send<S: OneOfN>(
    sender: &mut Sender<S>,
    ch: &mut dyn Channel,
    entries: usize,
    len: usize,
    messages: &[u8],
) -> Result<()> {
    let ots = count(messages.len(), entries, len)?;
    let mut masks = Zeroizing::new(vec![Block::ZERO; round(entries).min(ots) * entries]);
    let mut masked = Vec::new();
    let mut mask = Zeroizing::new(vec![0; len]);
    for messages in messages.chunks(round(entries) * entries * len) {
        let ots = messages.len() / (entries * len);
        let masks = &mut masks[..ots * entries];
        sender.keys(ch, ots)?.tables(entries, masks)?;
        for (messages, masks) in messages.chunks(entries * len).zip(masks.chunks(entries)) {
            masked.clear();
            for (message, &block) in messages.chunks_exact(len).zip(masks) {
                expand(block, 8 * len, &mut mask);
                masked.extend(message.iter().zip(&*mask).map(|(message, mask)| message ^ mask));
            }
            ch.send(&masked)?;
        }
        ch.flush()?;
    }
    Ok(())
}

/// The chosen one of `entries` messages of `len` bytes of each OT goes to `out`, one after another.
///
/// # Errors
/// Errors of [`Receiver::receive`], and [`InvalidInput`](comity_core::Kind) if `out` does not have room for
/// exactly one message for each choice, or a choice is not below `entries`.
pub fn receive<S: OneOfN>(
    receiver: &mut Receiver<S>,
    ch: &mut dyn Channel,
    entries: usize,
    len: usize,
    choices: &[u128],
    out: &mut [u8],
) -> Result<()> {
    if count(out.len(), 1, len)? != choices.len() {
        let (choices, bytes) = (choices.len(), out.len());
        return Err(Error::invalid_input(format!("{choices} choices for {bytes} bytes of messages of {len}")));
    }
    count(0, entries, len)?;
    let outside = choices.iter().fold(false, |outside, &choice| outside | (choice >= entries as u128));
    if declassify(outside, "a choice out of range is an error of the caller") {
        return Err(Error::invalid_input(format!("a choice is not below the number of messages, {entries}")));
    }
    let mut blocks = Zeroizing::new(vec![Block::ZERO; round(entries).min(choices.len())]);
    let mut message = vec![0; len];
    for (choices, out) in choices.chunks(round(entries)).zip(out.chunks_mut(round(entries) * len)) {
        let blocks = &mut blocks[..choices.len()];
        receiver.receive(ch, choices, blocks)?;
        for ((choice, block), out) in choices.iter().zip(&*blocks).zip(out.chunks_exact_mut(len)) {
            expand(*block, 8 * len, out);
            // All messages are looked at, so that none tells the choice.
            for entry in 0..entries as u128 {
                ch.recv(&mut message)?;
                let chosen = entry.ct_eq(choice);
                for (out, byte) in out.iter_mut().zip(&message) {
                    *out ^= u8::conditional_select(&0, byte, chosen);
                }
            }
        }
    }
    Ok(())
}
