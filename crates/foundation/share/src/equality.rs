//! EQ: whether all parties have the same string, by commit and open (Nielsen et al., Crypto 2012, section 2: "the
//! functionality EQ ... leaks both strings if they differ").
//!
//! All say a digest of their strings at the same time ([simultaneous broadcast](crate::simultaneous)), so that nobody can
//! choose its string after it has seen another's. If they differ the run is over, and what was hashed is as good as known to all:
//! only strings that may then be known are compared so. Among them is none that depends on a party's own global key, unless
//! nothing secret is masked under that key before the comparison has passed.

use comity_channel::Mesh;
use comity_core::{Check, Error, Result, SessionId};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;

use crate::simultaneous::say;

/// Ends with `otherwise` unless all parties give the same `digest`, which is a BLAKE3 digest of what is compared. `session` is
/// used for one comparison.
///
/// # Errors
/// `otherwise`: by a party that opens its commitment to something else; by nobody in particular if the digests differ.
/// [`EQUIVOCATION`](crate::checks::EQUIVOCATION) by nobody in particular, if some party told different commitments to
/// different parties; those of the channels.
pub fn equal(
    mesh: &mut Mesh<'_>,
    session: SessionId,
    digest: &[u8; 32],
    otherwise: &'static Check,
    rng: &mut (impl CryptoRng + ?Sized),
) -> Result<()> {
    let digests = say(mesh, session, "equality", digest, otherwise, rng)?;
    let same = digests.iter().all(|(_, theirs)| theirs.ct_eq(digest).into());
    if same { Ok(()) } else { Err(Error::from(otherwise)) }
}
