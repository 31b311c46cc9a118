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
use comity_core::{Backend, Bits, Block, Result};

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
    fn extend<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [Block]) -> Result<()>;

    /// The next OTs, for random choice bits, which costs less on the wire: `out[j]` gets `q_j`.
    ///
    /// # Errors
    /// As [`DeltaSender::extend`].
    fn extend_random<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [Block]) -> Result<()>;
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
    /// Those of the channel, and [`InvalidInput`](comity_core::Error::InvalidInput) if the lengths differ.
    fn extend<C: Channel + ?Sized>(&mut self, ch: &mut C, choices: &Bits, out: &mut [Block]) -> Result<()>;

    /// The next OTs, for random choice bits, which are returned: `out[j]` gets `t_j`.
    ///
    /// # Errors
    /// Those of the channel.
    fn extend_random<C: Channel + ?Sized>(&mut self, ch: &mut C, out: &mut [Block]) -> Result<Bits>;
}
