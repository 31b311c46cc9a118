//! Random OT: the sender gets two random blocks, the receiver one of them.
//!
//! [`RandomSender`] and [`RandomReceiver`] are what every extension offers, and what the
//! flavours (OT, C-OT and RR-OT of D13.3 section 3.3) are made of:
//! SR-OT where the receiver gives its choice bits, R-OT where they are random too. They realize *endemic* OT: a corrupt
//! party may choose what it gets itself, and the rest is uniform.

use comity_channel::Channel;
use comity_core::{Bits, Block, Result};

use crate::model::Model;

/// The side that gets both messages. Every call meets the peer's call of the same kind and length. After an error it
/// refuses to go on.
pub trait RandomSender: Send {
    /// The adversary model that the protocol withstands.
    type Model: Model;

    /// SR-OT (D13.3 section 3.3.2): both messages of each of the next OTs.
    ///
    /// # Errors
    /// Errors of the channel, and of the checks if the protocol withstands malicious receivers.
    fn sender_random(&mut self, ch: &mut dyn Channel, out: &mut [[Block; 2]]) -> Result<()>;

    /// R-OT (D13.3 section 3.3.4): both messages of each of the next OTs.
    ///
    /// # Errors
    /// As [`RandomSender::sender_random`].
    fn random(&mut self, ch: &mut dyn Channel, out: &mut [[Block; 2]]) -> Result<()>;
}

/// The side that gets one message.
pub trait RandomReceiver: Send {
    /// The adversary model that the protocol withstands.
    type Model: Model;

    /// SR-OT (D13.3 section 3.3.2): the chosen message of each of the next OTs.
    ///
    /// # Errors
    /// Errors of the channel, and [`InvalidInput`](comity_core::Kind) if the lengths differ.
    fn sender_random(&mut self, ch: &mut dyn Channel, choices: &Bits, out: &mut [Block]) -> Result<()>;

    /// R-OT (D13.3 section 3.3.4): random choice bits, which are returned, and the chosen messages.
    ///
    /// # Errors
    /// Errors of the channel.
    fn random(&mut self, ch: &mut dyn Channel, out: &mut [Block]) -> Result<Bits>;
}
