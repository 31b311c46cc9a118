//! `Dealer`: the functionality F_DEAL, figure 5 of the paper, as the online phase wants it.
//!
//! The paper's dealer gives authenticated bits, ANDs and OTs to each party, of which figure 6 makes the AND of two shared
//! bits. Here that is done to random bits, before any input is known: an authenticated triple is the AND of figure 6 on two
//! random shared bits. Online an AND then shows two bits of each party.

use comity_channel::Channel;
use comity_core::{Error, Result};
use comity_share::AuthBits;

use crate::triples::{Checked, Triples};

/// Deals authenticated bits ([`AuthBits`]) and authenticated triples under the same two global keys.
///
/// Both parties make the same calls in the same order. After an error a dealer is not used again.
pub trait Dealer: AuthBits {
    /// New triples, at least one: a dealer makes whole batches, as suits it if `n` are needed next. Both parties get the
    /// same number.
    ///
    /// # Errors
    /// Those of the channel, and of the checks: then none of the batch is given out.
    fn triples(&mut self, ch: &mut dyn Channel, n: usize) -> Result<Triples<Checked>>;

    /// A MAC check begins: told before its first message. If it fails, or its verdict is never known, nothing under these
    /// global keys may be used again, which matters to dealers whose keys outlive a run.
    ///
    /// # Errors
    /// If this cannot be noted; the check is then not begun.
    fn check_begins(&mut self) -> Result<()> {
        Ok(())
    }

    /// The check that began has passed.
    ///
    /// # Errors
    /// If this cannot be noted.
    fn check_passed(&mut self) -> Result<()> {
        Ok(())
    }
}

/// What a dealer says that stopped at an error.
pub(crate) fn stopped() -> Error {
    Error::invalid_input("this dealer stopped at an earlier error; set up a new one")
}
