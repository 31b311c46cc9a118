//! `CommonView`: what was said to all, hashed, so that all can make sure that they were told the same (echo broadcast: Goldwasser, Lindell,
//! Journal of Cryptology 2005; the protocol of two rounds that Hazay, Scholl, Soria-Vazquez name).
//!
//! Everybody is told directly, and digests are compared before anything leaves that would do harm if views differed: 32 bytes to
//! each peer, however much was said. The [digest](CommonView::digest) is a challenge, too, for what all have seen: nobody can change what
//! was said after it.

use comity_channel::PerPeer;
use comity_core::{Error, PartyId, Result, SessionId};
use subtle::ConstantTimeEq;

use crate::checks;

/// What one party was told, and told, of all that was said to all since the session began. Public.
pub struct CommonView {
    hasher: blake3::Hasher,
}

impl CommonView {
    /// A view of nothing yet. `session` is its alone, the same at all parties.
    pub fn new(session: SessionId) -> CommonView {
        CommonView { hasher: blake3::Hasher::new_keyed(&session.to_bytes()) }
    }

    /// Takes in what party `me` said to all, and what it heard of each other one.
    pub fn absorb(&mut self, me: PartyId, own: &[u8], heard: &PerPeer<Vec<u8>>) {
        for party in (0..heard.parties()).map(PartyId) {
            let said = if party == me { own } else { &heard[party] };
            self.hasher.update(&party.0.to_le_bytes()).update(&(said.len() as u64).to_le_bytes()).update(said);
        }
    }

    /// The digest of all that was said.
    pub fn digest(&self) -> [u8; 32] {
        *self.hasher.finalize().as_bytes()
    }

    /// Holds the others' digests against this party's.
    ///
    /// # Errors
    /// [`EQUIVOCATION`](checks::EQUIVOCATION), by nobody in particular.
    pub fn compare<'a>(own: &[u8; 32], mut theirs: impl Iterator<Item = &'a [u8]>) -> Result<()> {
        let same = theirs.all(|digest| digest.ct_eq(own).into());
        if same { Ok(()) } else { Err(Error::from(checks::EQUIVOCATION)) }
    }
}
