//! Commitments: BLAKE3 over session, label, salt and message.
//!
//! In the random-oracle model a commitment is binding with 128 bits (collisions of a 256-bit hash) and hides the
//! message with the 256 bits of its salt; it is extractable and, where the session is fresh, not malleable. Two
//! parties that commit under one label could copy each other's commitment: a label names the party that
//! commits.

use core::fmt;

use rand_core::CryptoRng;
use subtle::ConstantTimeEq;
use zeroize::ZeroizeOnDrop;

use crate::arch::verdict;
use crate::hash::framing::Framed;
use crate::session::SessionId;

/// A commitment to a message. Public.
#[derive(Clone, Copy, PartialEq, Eq)]
pub struct Commitment([u8; 32]);

/// The opening of a commitment, besides the message: its salt. Secret until it is sent.
#[derive(ZeroizeOnDrop)]
pub struct Opening([u8; 32]);

/// Commits to a message. `label` names the committing party and the message's role in the session; each label is
/// used once.
pub fn commit(
    session: SessionId,
    label: &str,
    message: &[u8],
    rng: &mut (impl CryptoRng + ?Sized),
) -> (Commitment, Opening) {
    let mut salt = [0; 32];
    rng.fill_bytes(&mut salt);
    let opening = Opening(salt);
    (Commitment::of(session, label, message, &opening), opening)
}

impl Commitment {
    /// Bytes in a commitment.
    pub const BYTES: usize = 32;

    /// The commitment with these bytes.
    pub const fn new(bytes: [u8; 32]) -> Commitment {
        Commitment(bytes)
    }

    /// The commitment's bytes.
    pub const fn to_bytes(self) -> [u8; 32] {
        self.0
    }

    /// Whether `opening` opens this commitment to `message`, in time that depends on the message's length only.
    #[must_use = "a commitment that does not verify must end the protocol"]
    pub fn verify(&self, session: SessionId, label: &str, message: &[u8], opening: &Opening) -> bool {
        verdict(Commitment::of(session, label, message, opening).0.ct_eq(&self.0))
    }

    fn of(session: SessionId, label: &str, message: &[u8], opening: &Opening) -> Commitment {
        let mut hash = Framed::new("comity commitment v1");
        hash.add(&session.to_bytes());
        hash.add(label.as_bytes());
        hash.add(&opening.0);
        hash.add(message);
        Commitment(hash.digest())
    }
}

impl Opening {
    /// Bytes in an opening.
    pub const BYTES: usize = 32;

    /// The opening with these bytes, as received.
    pub const fn new(bytes: [u8; 32]) -> Opening {
        Opening(bytes)
    }

    /// The opening's bytes, to be sent.
    pub const fn to_bytes(&self) -> [u8; 32] {
        self.0
    }
}

impl fmt::Debug for Commitment {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("Commitment(")?;
        for byte in &self.0[..8] {
            write!(f, "{byte:02x}")?;
        }
        f.write_str("..)")
    }
}
