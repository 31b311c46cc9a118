//! COT, correlated OT with one delta for all: the raw output of an extension, `t_j = q_j ^ x_j delta`.
//!
//! **Functionality** (of one chunk of `n` OTs; delta is the sender's, uniform but for what the protocol above fixes,
//! and the same in every OT). The sender gets `q`, the receiver `t = q ^ x delta` for its choice bits `x`. In
//! the malicious model
//! - a corrupt receiver may choose its `t`, a corrupt sender its `q`: the rest follows;
//! - a corrupt receiver may guess some bits of delta; if the guess is wrong the sender aborts, if it is right the run
//!   goes on (the *selective leak*: c bits are learned with probability 2^-c);
//! - a corrupt receiver may at any time ask whether delta is a given value (the *global-key query*).
//!
//! This is a type of its own: C-OT (D13.3 section 3.3.1) is no substitute, since there a
//! cheating sender can use another delta in each OT, and there is no conversion.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Error, Result};
use zeroize::{Zeroize, Zeroizing};

use crate::model::Model;

/// The sender of COTs, which holds delta. Every call meets the peer's call of the same kind and length. After
/// an error it refuses to go on.
pub trait CotSender: Send {
    /// The adversary model that the extension withstands.
    type Model: Model;

    /// The number of OTs that a call handles best, the same at both sides.
    const CHUNK: usize = 1 << 17;

    /// Delta, the correlation. Secret.
    fn delta(&self) -> Block;

    /// The backend that this side was made for.
    fn backend(&self) -> Backend;

    /// The next `n` OTs, for choice bits that the receiver gives or, which costs less on the wire, for
    /// `random` ones. They are given out in order and a few at a time, while they are in cache: `each` gets
    /// the number of the first OT, and the `q_j`.
    ///
    /// # Errors
    /// Errors of the channel, and of the checks if the protocol withstands malicious receivers. The values
    /// that `each` got must then not be used.
    fn extend_each(
        &mut self,
        ch: &mut dyn Channel,
        random: bool,
        n: usize,
        each: impl FnMut(usize, &mut [Block]),
    ) -> Result<()>;

    /// The next OTs, for choice bits that the receiver gives: `out[j]` gets `q_j`. After an error nothing is in `out`.
    ///
    /// # Errors
    /// As [`CotSender::extend_each`].
    fn extend(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<()> {
        let result = self.extend_each(ch, false, out.len(), |j, q| out[j..j + q.len()].copy_from_slice(q));
        result.inspect_err(|_| out.zeroize())
    }

    /// The next OTs, for random choice bits: `out[j]` gets `q_j`. After an error nothing is in `out`.
    ///
    /// # Errors
    /// As [`CotSender::extend_each`].
    fn extend_random(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<()> {
        let result = self.extend_each(ch, true, out.len(), |j, q| out[j..j + q.len()].copy_from_slice(q));
        result.inspect_err(|_| out.zeroize())
    }
}

/// The receiver of COTs, which holds choice bits.
pub trait CotReceiver: Send {
    /// The adversary model that the extension withstands.
    type Model: Model;

    /// The number of OTs that a call handles best, the same at both sides.
    const CHUNK: usize = 1 << 17;

    /// The backend that this side was made for.
    fn backend(&self) -> Backend;

    /// The next `n` OTs, for the given choice bits, or without them for random ones, which are returned. They
    /// are given out in order and a few at a time, while they are in cache: `each` gets the number of the
    /// first OT, and the `t_j`.
    ///
    /// # Errors
    /// Errors of the channel, and [`InvalidInput`](comity_core::Kind) if there are not `n` choice bits. The
    /// values that `each` got must then not be used.
    fn extend_each(
        &mut self,
        ch: &mut dyn Channel,
        choices: Option<&Bits>,
        n: usize,
        each: impl FnMut(usize, &mut [Block]),
    ) -> Result<Bits>;

    /// The next OTs, one for each choice bit: `out[j]` gets `t_j`. After an error nothing is in `out`.
    ///
    /// # Errors
    /// As [`CotReceiver::extend_each`].
    fn extend(&mut self, ch: &mut dyn Channel, choices: &Bits, out: &mut [Block]) -> Result<()> {
        let n = out.len();
        let result = self.extend_each(ch, Some(choices), n, |j, t| out[j..j + t.len()].copy_from_slice(t));
        result.map(drop).inspect_err(|_| out.zeroize())
    }

    /// The next OTs, for random choice bits, which are returned: `out[j]` gets `t_j`. After an error nothing
    /// is in `out`.
    ///
    /// # Errors
    /// As [`CotReceiver::extend_each`].
    fn extend_random(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<Bits> {
        let result = self.extend_each(ch, None, out.len(), |j, t| out[j..j + t.len()].copy_from_slice(t));
        result.inspect_err(|_| out.zeroize())
    }
}

/// [`CotSender::extend_each`] for a type that has the two other calls and makes a chunk at a time.
pub(crate) fn send_in_chunks<S: CotSender>(
    sender: &mut S,
    ch: &mut dyn Channel,
    random: bool,
    n: usize,
    mut each: impl FnMut(usize, &mut [Block]),
) -> Result<()> {
    let mut q = Zeroizing::new(vec![Block::ZERO; n.min(S::CHUNK)]);
    for start in (0..n).step_by(S::CHUNK) {
        let q = &mut q[..S::CHUNK.min(n - start)];
        if random { sender.extend_random(ch, q) } else { sender.extend(ch, q) }?;
        each(start, q);
    }
    Ok(())
}

/// [`CotReceiver::extend_each`] for a type that has the two other calls and makes a chunk at a time.
pub(crate) fn receive_in_chunks<R: CotReceiver>(
    receiver: &mut R,
    ch: &mut dyn Channel,
    choices: Option<&Bits>,
    n: usize,
    mut each: impl FnMut(usize, &mut [Block]),
) -> Result<Bits> {
    if let Some(choices) = choices {
        check_length(choices, n)?;
    }
    let mut all = Bits::default();
    let mut t = Zeroizing::new(vec![Block::ZERO; n.min(R::CHUNK)]);
    for start in (0..n).step_by(R::CHUNK) {
        let t = &mut t[..R::CHUNK.min(n - start)];
        match choices {
            Some(choices) => receiver.extend(ch, &choices.slice(start, t.len()), t)?,
            None => all.extend_from(&receiver.extend_random(ch, t)?),
        }
        each(start, t);
    }
    Ok(all)
}

/// A choice bit for each of `n` OTs.
pub(crate) fn check_length(choices: &Bits, n: usize) -> Result<()> {
    let bits = choices.len();
    if bits == n {
        return Ok(());
    }
    Err(Error::invalid_input(format!("{bits} choice bits for {n} oblivious transfers")))
}
