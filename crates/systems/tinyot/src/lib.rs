//! Malicious computation of two parties or more with authenticated shares: TinyOT (Nielsen, Nordholt,
//! Orlandi, Burra, Crypto 2012).
//!
//! Bits are shared and authenticated ([`comity_share`]). XOR costs nothing; an AND consumes a
//! [triple](comity_triples::Triples) made before, when inputs need not be known: [`comity_triples`] has the
//! dealers, of which `nnob12` is the paper's own (figure 5). A computation is reactive: inputs, gates and
//! outputs in any order.
//!
//! - [`Machine`]: the functionality F_2PC (the paper's figures 4 and 6), online; [`PairSharing`] runs programs on it.
//! - [`many`]: the same for any number of parties.
//! - [`TinyOt`]: all of it as a protocol.

mod among;
mod costs;
mod machine;
pub mod many;
mod protocol;
mod run;
mod sharing;
#[cfg(test)]
mod tests;

pub use machine::Machine;
pub use protocol::{TinyOt, run_over};
pub use run::run_with;
pub use sharing::PairSharing;
