//! Authenticated triples, and those who make them: what several protocols use up, each in its own way.
//!
//! Bits are shared and authenticated ([`comity_share`]); a triple is two of them that are random, and their
//! product. Dealers make them before inputs need be known, against parties that cheat, all but one:
//!
//! - [`TripleDealer`]: the functionality for two (Nielsen, Nordholt, Orlandi, Burra, Crypto 2012, figure 5).
//!   - [`fast`]: from SoftSpoken OT extension and the leaky AND of Katz, Ranellucci, Rosulek, Wang (2018/578).
//!   - [`nnob`]: the stack of the paper of 2012.
//!   - [`stored`]: from material made ahead and kept.
//! - [`many`]: the same for any number of parties, in the row form.
//! - [`bucket`]: how many leaky objects make a secure one.
//! - [`material`]: the lots of it that stores keep, the same for every protocol that uses them.
//! - [`costs`]: what dealing costs.

pub mod bucket;
pub mod checks;
pub mod costs;
mod deal;
mod dealers;
pub mod fast;
mod hashes;
pub mod many;
pub mod material;
pub mod nnob;
pub mod stored;
#[cfg(test)]
mod tests;
mod triples;
pub mod words;

pub use deal::TripleDealer;
pub use dealers::{Ands, DealerKind, dealer, dealer_over};
pub use many::{Many, RowDealer, RowTriples};
pub use material::{Uses, from_shelf, rows_from_shelf, stored_bytes};
pub use triples::{Checked, Triple, Triples, Unchecked};
