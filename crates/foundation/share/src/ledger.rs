//! `Ledger`: MAC checks that wait.
//!
//! A bit that is shown needs a MAC; that it is right may be found out later, so long as nothing that depends
//! on it leaves before (Nielsen et al., Crypto 2012, section 2). So both parties of a link hash: the one that
//! shows a bit, the MAC on it; the one that sees it, the MAC that it must have. One comparison of digests
//! checks everything since the beginning. It is a 256-bit hash of the MACs in order, one for each direction:
//! of a sum, two flipped bits could cancel each other.
//!
//! A digest is of MACs under the key of the peer that gets it, who could have computed
//! it: it tells nothing of its sender's own key, and so bits may be settled while secrets are masked under that key.
//!
//! For two parties only. Among more a peer that knows another's inputs from its shares could find them by
//! trying: a digest of bare MACs is as good as the shares. There bits are opened under zero-shares
//! ([`opening`](crate::opening)).
//!
//! Cost a link: 32 bytes each way a settlement, 16 bytes hashed a bit and party.

use comity_channel::Channel;
use comity_core::{Block, Error, PartyId, Result, SessionId, verdict};
use subtle::ConstantTimeEq;

use crate::checks;

/// A ledger: hashes of the MACs of all that was shown to a peer, and that this peer showed, since the session began.
pub struct Ledger {
    peer: PartyId,
    shown: blake3::Hasher,
    seen: blake3::Hasher,
}

impl Ledger {
    /// An empty ledger of party `me` with this peer, which keeps the same ledger with the two roles
    /// exchanged. No other ledger may have this `session`.
    pub fn new(session: SessionId, me: PartyId, peer: PartyId) -> Ledger {
        let by =
            |party: PartyId| blake3::Hasher::new_keyed(&session.child(&format!("shown by party {party}")).to_bytes());
        Ledger { peer, shown: by(me), seen: by(peer) }
    }

    /// This party shows bits that carry these MACs.
    pub fn show(&mut self, macs: &[Block]) {
        self.shown.update(Block::bytes_of(macs));
    }

    /// The peer showed bits that must carry these MACs.
    pub fn see(&mut self, expected: &[Block]) {
        self.seen.update(Block::bytes_of(expected));
    }

    /// The digest of all that was shown, for the peer.
    pub fn digest(&self) -> [u8; 32] {
        *self.shown.finalize().as_bytes()
    }

    /// Compares the peer's digest with that of all that was seen.
    ///
    /// # Errors
    /// [`checks::WRONG_MAC`], by the peer.
    pub fn verify(&self, digest: &[u8]) -> Result<()> {
        let right = self.seen.finalize().as_bytes().ct_eq(digest);
        if verdict(right) { Ok(()) } else { Err(Error::from(checks::WRONG_MAC).by(self.peer)) }
    }

    /// Checks all that was shown in either direction. After an error nothing more may leave.
    ///
    /// # Errors
    /// As [`Ledger::verify`], and those of the channel.
    pub fn settle(&mut self, ch: &mut dyn Channel) -> Result<()> {
        let mut theirs = [0; 32];
        ch.send(&self.digest())?;
        ch.recv(&mut theirs)?;
        self.verify(&theirs)
    }
}
