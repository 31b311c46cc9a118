//! Semi-honest computation among two to sixteen parties on XOR shares (Goldreich, Micali, Wigderson, STOC 1987), with
//! multiplication triples made ahead (Beaver, Crypto 1991).
//!
//! **Functionality**: secure evaluation of a program; each output goes to some parties, or stays shared.
//! Inputs may come in shared. A computation is reactive: inputs, gates and outputs in any order.
//!
//! **Adversary**: semi-honest, any number of the parties but one. A party that breaks the rules can show
//! other shares than it has, and so change any AND and any output, unnoticed; and through the OT extension it
//! can learn the deltas of others, with them their shares of triples, and with these their inputs. Against it
//! this crate promises no more than: no panic, no hang, bounded memory.
//!
//! **Assumptions**: those of the OT extension of the dealer, among them AES-128 as a pseudo-random generator and as a
//! correlation-robust hash, gap Diffie-Hellman and a random oracle in ristretto255 (base OT); silent OT adds LPN.
//!
//! - [`dealers`]: [triples](comity_share::triples) from OT, and from material made ahead.
//! - [`BitMachine`]: inputs, ANDs and outputs; [`BitSharing`] runs programs on it, in the layered lowering.
//! - [`table`]: tables looked up at secret indices, and ANDs of many bits. Calls of a program that mean a
//!   table are so, if their gates would take more than a round.
//! - [`Gmw`]: all of it as a protocol.
//!
//! **Cost** among `n`, by SoftSpoken: an AND sends each other party 3.875 bytes and, but among two, a quarter
//! byte to all but one of them offline, and a quarter byte online. An input bit nothing, an output bit one
//! bit from each party to each recipient. Rounds: the base OTs; one for each 2^17 triples and, among three or
//! more, one for each 2^20; one for each layer of ANDs and 2^18 of them; one for each output value.

pub mod costs;
pub mod dealers;
mod machine;
mod protocol;
mod sharing;
pub mod table;

pub use costs::costs_on;
pub use machine::BitMachine;
pub use protocol::{Gmw, run_with};
pub use sharing::BitSharing;
