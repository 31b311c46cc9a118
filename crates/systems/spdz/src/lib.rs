//! Malicious computation of two parties or more on authenticated shares in a field: SPDZ.
//!
//! **Papers**: I. Damgard, V. Pastro, N. Smart, S. Zakarias, Multiparty Computation from Somewhat Homomorphic
//! Encryption (Crypto 2012): the shares and the online phase, with the check of I. Damgard, M. Keller, E.
//! Larraia, V. Pastro, P. Scholl, N. Smart (ESORICS 2013), which keeps the MAC key. M. Keller, E. Orsini, P.
//! Scholl, MASCOT (CCS 2016, ePrint 2016/505): the material, from oblivious transfer instead of
//! homomorphic encryption.
//!
//! **Functionality**: inputs, sums, products and outputs in any order; programs of bits, which are 0 or 1 in
//! GF(2^128). Each output goes to some parties. **Adversary**: malicious, any number of the parties but one,
//! static, with abort; nobody learns who cheated. **Assumptions**: those of [`comity_field_shares`].
//!
//! - [`comity_field_shares`]: shares, and what makes them.
//! - [`FieldMpc`]: the functionality, and [`FieldMachine`], which is one: the online phase.
//! - [`FieldSharing`]: programs on a machine, in the layered lowering.
//! - [`FieldSource`]: where material comes from: [`Fresh`], or [`stored`].
//! - [`Spdz`]: all of it as a protocol.
//!
//! **Why it is here.** For programs of bits TinyOT does the same with a sixtieth of the bytes. Shares in a
//! field are what products of keys with shared bits are made of in other protocols, and what arithmetic would
//! stand on.
//!
//! **Not audited.** Nobody but its authors has looked at it.

pub mod costs;
mod machine;
pub mod material;
mod mpc;
mod protocol;
mod sharing;
mod source;
pub mod stored;

pub use machine::FieldMachine;
pub use mpc::FieldMpc;
pub use protocol::Spdz;
pub use sharing::FieldSharing;
pub use source::{FieldSource, Fresh};
