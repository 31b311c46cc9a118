//! Base OT: oblivious transfer from public-key operations.
//!
//! A few of these (128) are the seed of an extension, which turns them into any number by symmetric cryptography
//! alone. All of them work in ristretto255, a group of prime order, so no element has a small-order part, and
//! every element has exactly one encoding.

pub mod simplest;

use comity_core::{Misbehaviour, Result};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::IsIdentity;
use rand_core::CryptoRng;
use zeroize::Zeroizing;

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
