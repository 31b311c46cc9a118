//! `Ledger`: MAC checks that wait.
//!
//! A bit that is shown needs a MAC; that it is right may be found out later, so long as nothing that depends on it leaves
//! before (Nielsen et al., Crypto 2012, section 2). So both parties hash: who shows a bit, the MAC on it; who sees it,
//! the MAC that it must have. One comparison of digests checks everything since the beginning. It is a 256-bit hash of the MACs
//! in order, one for each direction: of a sum, two flipped bits could cancel each other.
//!
//! Cost: 32 bytes each way a settlement, 16 bytes hashed a bit and party.

use comity_channel::Channel;
use comity_core::{Block, Error, PartyId, Result, SessionId};
use subtle::ConstantTimeEq;

use crate::checks;

/// What was shown to the peer, and what the peer showed, since the session began.
pub struct Ledger {
    shown: blake3::Hasher,
    seen: blake3::Hasher,
}

impl Ledger {
    /// An empty ledger for party 0 or 1 of a session. `session` is the ledger's alone.
    pub fn new(session: SessionId, party: PartyId) -> Ledger {
        let by =
            |party: PartyId| blake3::Hasher::new_keyed(&session.child(&format!("shown by party {party}")).to_bytes());
        Ledger { shown: by(party), seen: by(party.other()) }
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

    /// Holds the peer's digest against all that was seen.
    ///
    /// # Errors
    /// [`checks::WRONG_MAC`].
    pub fn verify(&self, digest: &[u8; 32]) -> Result<()> {
        let right = self.seen.finalize().as_bytes().ct_eq(digest);
        if right.into() { Ok(()) } else { Err(Error::from(checks::WRONG_MAC)) }
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

#[cfg(test)]
mod tests {
    use comity_core::Kind;
    use comity_testing::Pair;

    use super::*;

    fn settle(changes: impl Fn(&mut Ledger, u16) + Sync) -> [Result<()>; 2] {
        let session = SessionId::derive("test", &[]);
        let party = |party: u16| {
            let changes = &changes;
            move |ch: &mut comity_channel::MemoryChannel| {
                let mut ledger = Ledger::new(session, PartyId(party));
                changes(&mut ledger, party);
                ledger.settle(ch)
            }
        };
        let (a, b) = Pair::run(party(0), party(1));
        [a, b]
    }

    #[test]
    fn what_is_shown_must_be_what_is_seen() {
        let macs = [Block::from_u128(1), Block::from_u128(2)];
        let right = settle(|ledger, party| if party == 0 { ledger.show(&macs) } else { ledger.see(&macs) });
        assert!(right.iter().all(Result::is_ok));
        let turned = [macs[1], macs[0]];
        let [shower, seer] = settle(|ledger, party| if party == 0 { ledger.show(&turned) } else { ledger.see(&macs) });
        assert!(shower.is_ok());
        assert!(matches!(seer, Err(Error { kind: Kind::Misbehaved(checks::WRONG_MAC), .. })));
    }

    #[test]
    fn directions_are_apart() {
        // Each shows to the other what it was to see: a digest sent back does not pass.
        let macs = [Block::from_u128(1)];
        let both = settle(|ledger, _| ledger.show(&macs));
        assert!(both.iter().all(Result::is_err));
    }
}
