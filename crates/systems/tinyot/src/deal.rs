//! `Dealer`: the functionality F_DEAL, figure 5 of the paper, as the online phase wants it.
//!
//! The paper's dealer gives authenticated bits, ANDs and OTs to each party, of which figure 6 makes the AND of two shared
//! bits. Here that is done to random bits, before any input is known: an authenticated triple is the AND of figure 6 on two
//! random shared bits. Online an AND then shows two bits of each party.

use comity_channel::Channel;
use comity_core::Result;
use comity_share::Source;

use crate::{Checked, Triples};

/// Deals authenticated bits ([`Source`]) and authenticated triples under the same two global keys.
///
/// Both parties make the same calls in the same order. After an error a dealer is not used again.
pub trait Dealer: Source {
    /// At least `n` new triples: a dealer makes whole batches.
    ///
    /// # Errors
    /// Those of the channel, and of the checks: then none of the batch is given out.
    fn triples(&mut self, ch: &mut dyn Channel, n: usize) -> Result<Triples<Checked>>;
}
