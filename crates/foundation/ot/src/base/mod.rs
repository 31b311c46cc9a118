//! Base OT: oblivious transfer from public-key operations.
//!
//! A few of these (128) are the seed of an extension, which turns them into any number by symmetric cryptography
//! alone. All of them work in ristretto255, a group of prime order, so no element has a small-order part, and
//! every element has exactly one encoding.

pub mod csw;
#[cfg(test)]
mod functionality;
pub mod pvw;
pub mod simplest;

use comity_channel::Channel;
use comity_core::{Bits, Misbehaviour, Result, SessionId};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

pub use csw::Csw;
pub use pvw::Pvw;
pub use simplest::Simplest;

use crate::{Model, ReceiverSeeds, SenderSeeds};

/// A protocol for base OTs, as an extension takes it: `IKNP` over [`Simplest`].
pub trait BaseOt {
    /// Whom it withstands.
    type Model: Model;

    /// The sender's side of `n` random OTs.
    ///
    /// # Errors
    /// Those of the channel, and a [`Misbehaviour`] for what the receiver sent.
    fn send<C: Channel + ?Sized>(
        ch: &mut C,
        session: &SessionId,
        n: usize,
        rng: &mut impl CryptoRng,
    ) -> Result<SenderSeeds<Self::Model>>;

    /// The receiver's side of one random OT for each choice bit.
    ///
    /// # Errors
    /// Those of the channel, and a [`Misbehaviour`] for what the sender sent.
    fn receive<C: Channel + ?Sized>(
        ch: &mut C,
        session: &SessionId,
        choices: &Bits,
        rng: &mut impl CryptoRng,
    ) -> Result<ReceiverSeeds<Self::Model>>;
}

/// Bytes of an encoded group element.
const POINT_BYTES: usize = 32;

/// A peer's group element: canonically encoded and not the identity, or refused by name.
fn decode(bytes: &[u8; POINT_BYTES]) -> Result<RistrettoPoint> {
    let point = CompressedRistretto(*bytes).decompress().ok_or(Misbehaviour::InvalidPoint)?;
    if point.is_identity() {
        return Err(Misbehaviour::IdentityPoint.into());
    }
    Ok(point)
}

/// A uniform scalar: 64 random bytes reduced, so that the bias is below 2^-250.
fn random_scalar(rng: &mut impl CryptoRng) -> Scalar {
    let mut wide = Zeroizing::new([0; 64]);
    rng.fill_bytes(wide.as_mut());
    Scalar::from_bytes_mod_order_wide(&wide)
}
