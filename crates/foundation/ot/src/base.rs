//! Base OT: oblivious transfer from public-key operations.
//!
//! A few of these (128) are the seed of an extension, which turns them into any number by symmetric cryptography
//! alone. All of them work in ristretto255, a group of prime order, so no element has a small-order part, and
//! every element has exactly one encoding.

pub mod csw;
#[cfg(test)]
mod functionality;
mod points;
pub mod pvw;
pub mod simplest;

use comity_channel::Channel;
use comity_core::{Bits, Result, SessionId};
use rand_core::CryptoRng;

pub use csw::Csw;
pub use pvw::Pvw;
pub use simplest::Simplest;

use crate::model::Model;
use crate::seeds::{ReceiverSeeds, SenderSeeds};

/// A protocol for base OTs, as an extension takes it: `IKNP` over [`Simplest`].
pub trait BaseOt {
    /// The adversary model that the protocol withstands.
    type Model: Model;

    /// The sender's side of `n` random OTs.
    ///
    /// # Errors
    /// Errors of the channel, and a [check](comity_core::Check) for what the receiver sent.
    fn send(
        ch: &mut dyn Channel,
        session: &SessionId,
        n: usize,
        rng: &mut dyn CryptoRng,
    ) -> Result<SenderSeeds<Self::Model>>;

    /// The receiver's side of one random OT for each choice bit.
    ///
    /// # Errors
    /// Errors of the channel, and a [check](comity_core::Check) for what the sender sent.
    fn receive(
        ch: &mut dyn Channel,
        session: &SessionId,
        choices: &Bits,
        rng: &mut dyn CryptoRng,
    ) -> Result<ReceiverSeeds<Self::Model>>;
}
