//! Malicious computation of two parties or more with authenticated shares: TinyOT (Nielsen, Nordholt, Orlandi, Burra, Crypto 2012).
//!
//! Bits are shared and authenticated ([`comity_share`]). XOR costs nothing; an AND consumes a [`Triples`] entry made before,
//! when inputs need not be known. A computation is reactive: inputs, gates and outputs in any order.
//!
//! - [`TripleDealer`]: the functionality that deals authenticated bits and triples (the paper's figure 5), offline.
//!   - [`fast`]: from SoftSpoken OT extension and the leaky AND of Katz, Ranellucci, Rosulek, Wang (2018/578).
//!   - [`nnob`]: the paper's own stack.
//!   - [`stored`]: from material made ahead and kept.
//! - [`bucket`]: how many leaky objects make a secure one.
//! - [`Machine`]: the functionality F_2PC (the paper's figures 4 and 6), online; [`PairSharing`] runs programs on it.
//! - [`TinyOt`]: all of it as a protocol.

mod among;
pub mod bucket;
pub mod checks;
pub mod costs;
mod deal;
mod dealers;
pub mod fast;
mod hashes;
mod machine;
pub mod many;
mod material;
pub mod nnob;
mod protocol;
mod run;
mod sharing;
pub mod stored;
#[cfg(test)]
mod tests;
mod triples;
mod words;

pub use deal::TripleDealer;
pub use dealers::{Ands, DealerKind, dealer, dealer_over};
pub use machine::Machine;
pub use many::{Many, RowDealer, RowTriples};
pub use material::{Uses, from_shelf, rows_from_shelf, stored_bytes};
pub use protocol::{TinyOt, run_over};
pub use run::run_with;
pub use sharing::PairSharing;
pub use triples::{Checked, Triple, Triples, Unchecked};
