//! EQ: whether all parties have the same string, by commit and open (Nielsen et al., Crypto 2012, section 2: "the
//! functionality EQ ... leaks both strings if they differ").
//!
//! All say a digest of their strings at the same time ([simultaneous broadcast](crate::simultaneous)), so
//! that nobody can choose its string after it has seen another's. If they differ the run is over, and what
//! was hashed is as good as known to all: only strings that may then be known are compared so. Among them is
//! none that depends on a party's own global key, unless nothing secret is masked under that key before the
//! comparison has passed.

use comity_channel::{Mesh, PerPeer};
use comity_core::{Check, Error, Result, SessionId, declassify_all, verdict};
use rand_core::CryptoRng;
use subtle::ConstantTimeEq;

use crate::simultaneous::say;

/// Ends with `otherwise` unless all parties give the same `digest`, which is a BLAKE3 digest of what is
/// compared. `session` is used for one comparison.
///
/// # Errors
/// `otherwise`: by a party that opens its commitment to something else; by no party if the digests differ.
/// [`EQUIVOCATION`](crate::checks::EQUIVOCATION), which names no party, if some party told different
/// commitments to different parties; those of the channels.
pub fn equal(
    mesh: &mut Mesh<'_>,
    session: SessionId,
    digest: &[u8; 32],
    otherwise: &'static Check,
    rng: &mut (impl CryptoRng + ?Sized),
) -> Result<()> {
    let digests = say(mesh, session, "equality", digest, otherwise, rng)?;
    all_same(digest, &digests, otherwise)
}

/// As [`equal`], and draws 256 random bits, the same for all parties, in no more rounds.
///
/// A party sends its part of the coin with its string, and neither can depend on another party's. So what is
/// compared here, and every guess by which a cheat hopes to pass, is fixed before any party knows the coin.
/// The party that sends last learns the coin first, and whether its guesses were right; all it can still do
/// is stop, as after [`coin`](crate::coin).
///
/// # Errors
/// As [`equal`].
pub fn equal_with_coin(
    mesh: &mut Mesh<'_>,
    session: SessionId,
    digest: &[u8; 32],
    otherwise: &'static Check,
    rng: &mut (impl CryptoRng + ?Sized),
) -> Result<[u8; 32]> {
    let mut own = [0; 64];
    let (string, seed) = own.split_at_mut(32);
    string.copy_from_slice(digest);
    rng.fill_bytes(seed);
    let said = say(mesh, session, "equality and coin", &own, otherwise, rng)?;
    let parts = |said: &[u8; 64]| [0, 32].map(|start| std::array::from_fn(|i| said[start + i]));
    let mut digests = PerPeer::new(mesh.me(), mesh.parties(), |_| [0; 32]);
    let [_, mut coin]: [[u8; 32]; 2] = parts(&own);
    for (peer, said) in said.iter() {
        let [theirs, seed] = parts(said);
        digests[peer] = theirs;
        coin.iter_mut().zip(seed).for_each(|(coin, byte)| *coin ^= byte);
    }
    all_same(digest, &digests, otherwise)?;
    declassify_all(&mut coin, "all seeds were opened");
    Ok(coin)
}

/// Ends with `otherwise` unless all digests are this one.
fn all_same(digest: &[u8; 32], theirs: &PerPeer<[u8; 32]>, otherwise: &'static Check) -> Result<()> {
    let same = theirs.iter().all(|(_, theirs)| verdict(theirs.ct_eq(digest)));
    if same { Ok(()) } else { Err(Error::from(otherwise)) }
}
