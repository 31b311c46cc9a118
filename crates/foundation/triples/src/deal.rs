//! `TripleDealer`: the functionality F_DEAL, figure 5 of the paper, as the online phase wants it.
//!
//! The paper's dealer gives authenticated bits, ANDs and OTs to each party, of which figure 6 makes the AND
//! of two shared bits. Here that is done to random bits, before any input is known: an authenticated triple
//! is the AND of figure 6 on two random shared bits. Online an AND then shows two bits of each party.

use comity_channel::{Channel, Mesh};
use comity_core::{Error, Result};
use comity_protocol::Dealer;
use comity_share::AuthBits;

use crate::triples::{Checked, Triples};

/// Deals authenticated bits ([`AuthBits`]) and authenticated triples ([`Dealer`]) under the same two global keys.
///
/// Both parties make the same calls in the same order. A dealer makes whole batches of triples, as suits it
/// if `n` are needed next, and at least one triple; both parties get the same number. If a MAC check fails,
/// or its verdict never becomes known, these global keys must not be used again; this matters to dealers
/// whose keys outlive a run.
pub trait TripleDealer: AuthBits + Dealer<Batch = Triples<Checked>> {
    /// [`Dealer::deal`], over the only channel of two.
    ///
    /// # Errors
    /// Those of the channel, and of the checks: then no triple of the batch is given out.
    fn triples(&mut self, ch: &mut dyn Channel, n: usize) -> Result<Triples<Checked>> {
        self.deal(&mut Mesh::of_two(self.party(), ch), n)
    }
}

impl<D: AuthBits + Dealer<Batch = Triples<Checked>> + ?Sized> TripleDealer for D {}

/// The error of a dealer that stopped at an earlier error.
pub(crate) fn stopped() -> Error {
    Error::invalid_input("this dealer stopped at an earlier error; set up a new one")
}
