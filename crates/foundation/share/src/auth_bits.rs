//! `AuthBits`: the functionality F_aBit, where authenticated bits come from.

use comity_channel::Channel;
use comity_core::{PartyId, Result};

use crate::share::{GlobalKey, Share};

/// Random authenticated bits of two parties (Nielsen et al., Crypto 2012, figure 5, its aBit commands; F_aBit
/// in later papers).
///
/// Both parties make the same calls in the same order. After an error every further call fails.
pub trait AuthBits: Send {
    /// This party.
    fn party(&self) -> PartyId;

    /// This party's global key, the same for its whole life.
    fn key(&self) -> &GlobalKey;

    /// Random bits of both parties: each gets its share of a bit that neither knows.
    ///
    /// # Errors
    /// Errors of the channel, and of the checks.
    fn shares(&mut self, ch: &mut dyn Channel, out: &mut [Share]) -> Result<()>;

    /// Random bits that only `owner`, one of the two parties, knows: the other party's share is the constant
    /// zero.
    ///
    /// # Errors
    /// As [`AuthBits::shares`].
    fn bits(&mut self, ch: &mut dyn Channel, owner: PartyId, out: &mut [Share]) -> Result<()>;

    /// Random bits of party 0 alone, of party 1 alone, and of both, made together where that saves messages.
    ///
    /// # Errors
    /// As [`AuthBits::shares`].
    fn of_each(&mut self, ch: &mut dyn Channel, own: [&mut [Share]; 2], shares: &mut [Share]) -> Result<()> {
        for (owner, out) in [PartyId(0), PartyId(1)].into_iter().zip(own) {
            if !out.is_empty() {
                self.bits(ch, owner, out)?;
            }
        }
        if shares.is_empty() { Ok(()) } else { self.shares(ch, shares) }
    }
}
