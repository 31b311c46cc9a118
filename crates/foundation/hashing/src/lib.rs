//! Hashing of sets into bins, as private set intersection takes it.
//!
//! One party puts each of its items into one bin ([`Cuckoo`]), the other puts each into all bins where it
//! could be ([`Simple`]), so that only what is in one bin has to be compared. Items are numbers from 0; where
//! they go is a function that the caller has: [`distinct`] bins of a pseudo-random digest, or those of a
//! [`Permutation`], which leaves less to compare.
//!
//! Pinkas, Schneider, Segev, Zohner: Phasing (USENIX Security 2015); Pinkas, Schneider, Zohner: Scalable Private Set
//! Intersection Based on OT Extension (ACM TOPS 2018). Three functions.
//!
//! **Failure.** Sets for which hashing fails say something about their items to whoever learns of it. So
//! nothing here fails: an item without a place is left out, and its owner is told. With [`bins`] as many as
//! here that has a probability below 2^-40 for items that do not depend on the functions. *Differences from
//! the papers*: the three bins of an item differ (else 2^8 items fail with probability 2^-26), placement ends
//! only when no placement exists, and small sets get the table of a larger one.
//!
//! Tables are memory indexed by items, which are secret to their owner: time tells about them to whoever
//! shares its machine.

mod cuckoo;
mod load;
mod permutation;
mod places;
mod simple;
#[cfg(test)]
mod tests;

pub use cuckoo::Cuckoo;
pub use load::fullest_bin;
pub use permutation::{Permutation, Short};
pub use places::{BinEntry, DENSE, FUNCTIONS, LEAST, ROOMY, bins, distinct};
pub use simple::Simple;
