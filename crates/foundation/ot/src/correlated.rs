//! OT with a fixed correlation, the raw output of an extension: `t_j = q_j ^ x_j delta`.
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

use crate::Model;

/// The side that holds delta. Every call meets the peer's call of the same kind and length. After an error it refuses
/// to go on.
pub trait DeltaSender: Send {
    /// Whom it withstands.
    type Model: Model;

    /// How many OTs a call handles best; both sides have the same number.
    const CHUNK: usize = 1 << 17;

    /// The correlation. Secret.
    fn delta(&self) -> Block;

    /// The backend that this side was made for.
    fn backend(&self) -> Backend;

    /// The next OTs, for choice bits that the receiver gives: `out[j]` gets `q_j`.
    ///
    /// # Errors
    /// Those of the channel, and of the checks if the protocol withstands malicious receivers.
    fn extend(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<()>;

    /// The next OTs, for random choice bits, which costs less on the wire: `out[j]` gets `q_j`.
    ///
    /// # Errors
    /// As [`DeltaSender::extend`].
    fn extend_random(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<()>;

    /// The next `n` OTs, as [`extend`](DeltaSender::extend) or with `random` choice bits as
    /// [`extend_random`](DeltaSender::extend_random), given out in order and a few at a time, while they are in cache:
    /// `each` gets the number of the first, and `q_j`.
    ///
    /// # Errors
    /// As [`DeltaSender::extend`]. What `each` got is then worth nothing, and must not be used.
    fn extend_each(
        &mut self,
        ch: &mut dyn Channel,
        random: bool,
        n: usize,
        mut each: impl FnMut(usize, &mut [Block]),
    ) -> Result<()> {
        let mut q = Zeroizing::new(vec![Block::ZERO; n.min(Self::CHUNK)]);
        for start in (0..n).step_by(Self::CHUNK) {
            let q = &mut q[..Self::CHUNK.min(n - start)];
            if random { self.extend_random(ch, q) } else { self.extend(ch, q) }?;
            each(start, q);
        }
        Ok(())
    }
}

/// The side that holds choice bits.
pub trait DeltaReceiver: Send {
    /// Whom it withstands.
    type Model: Model;

    /// How many OTs a call handles best; both sides have the same number.
    const CHUNK: usize = 1 << 17;

    /// The backend that this side was made for.
    fn backend(&self) -> Backend;

    /// The next OTs, one for each choice bit: `out[j]` gets `t_j`.
    ///
    /// # Errors
    /// Those of the channel, and [`InvalidInput`](comity_core::Kind) if the lengths differ.
    fn extend(&mut self, ch: &mut dyn Channel, choices: &Bits, out: &mut [Block]) -> Result<()>;

    /// The next OTs, for random choice bits, which are returned: `out[j]` gets `t_j`.
    ///
    /// # Errors
    /// Those of the channel.
    fn extend_random(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<Bits>;

    /// The next `n` OTs, as [`extend`](DeltaReceiver::extend) for choice bits, or if there are none as
    /// [`extend_random`](DeltaReceiver::extend_random), given out in order and a few at a time, while they are in cache:
    /// `each` gets the number of the first, and `t_j`. Gives the random choice bits.
    ///
    /// # Errors
    /// As [`DeltaReceiver::extend`]. What `each` got is then worth nothing, and must not be used.
    fn extend_each(
        &mut self,
        ch: &mut dyn Channel,
        choices: Option<&Bits>,
        n: usize,
        mut each: impl FnMut(usize, &mut [Block]),
    ) -> Result<Bits> {
        if let Some(choices) = choices {
            check_length(choices, n)?;
        }
        let mut all = Bits::default();
        let mut t = Zeroizing::new(vec![Block::ZERO; n.min(Self::CHUNK)]);
        for start in (0..n).step_by(Self::CHUNK) {
            let t = &mut t[..Self::CHUNK.min(n - start)];
            match choices {
                Some(choices) => self.extend(ch, &choices.slice(start, t.len()), t)?,
                None => all.extend_from(&self.extend_random(ch, t)?),
            }
            each(start, t);
        }
        Ok(all)
    }
}

/// [`DeltaSender::extend`] or [`DeltaSender::extend_random`] for who has [`DeltaSender::extend_each`]. After an error
/// nothing is in `out`.
pub(crate) fn extend<S: DeltaSender>(
    sender: &mut S,
    ch: &mut dyn Channel,
    random: bool,
    out: &mut [Block],
) -> Result<()> {
    let n = out.len();
    let result = sender.extend_each(ch, random, n, |j, q| out[j..j + q.len()].copy_from_slice(q));
    result.inspect_err(|_| out.zeroize())
}

/// [`DeltaReceiver::extend`] or [`DeltaReceiver::extend_random`], likewise.
pub(crate) fn receive<R: DeltaReceiver>(
    receiver: &mut R,
    ch: &mut dyn Channel,
    choices: Option<&Bits>,
    out: &mut [Block],
) -> Result<Bits> {
    let n = out.len();
    let result = receiver.extend_each(ch, choices, n, |j, t| out[j..j + t.len()].copy_from_slice(t));
    result.inspect_err(|_| out.zeroize())
}

/// A choice bit for each of `n` OTs.
pub(crate) fn check_length(choices: &Bits, n: usize) -> Result<()> {
    let bits = choices.len();
    if bits == n {
        return Ok(());
    }
    Err(Error::invalid_input(format!("{bits} choice bits for {n} oblivious transfers")))
}
