//! Elements of a field shared among any number of parties, with MACs, and what makes them from oblivious transfer.
//!
//! **Paper**: M. Keller, E. Orsini, P. Scholl, MASCOT: Faster Malicious Arithmetic Secure Computation with
//! Oblivious Transfer (CCS 2016, ePrint 2016/505); the shares and their MACs are those of SPDZ (Damgard,
//! Pastro, Smart, Zakarias, Crypto 2012), whose offline phase is homomorphic encryption. Here it is OT: the
//! functionality is the same.
//!
//! **Functionality**: authenticated shares ([`SumShare`]) of elements that parties put in, of random triples
//! `c = a b`, and of random bits; values that open to all, and the check of their MACs ([`FieldOpenings`]).
//! **Adversary**: malicious, all parties but one, static, with abort; nobody learns who it was. An error ends
//! the MAC key and all that is shared under it. **Assumptions**: those of [`Joint`](comity_share::Joint), AES
//! as a pseudo-random generator and an ideal cipher, BLAKE3 as a random oracle. 2^-126 for each check beside
//! the guesses that the modules say.
//!
//! - [`Field`]: what is asked of a field, and GF(2^128), where XOR is addition and a bit is 0 or 1.
//! - [`SumShare`] and [`MacKey`]: what a party holds, and its algebra.
//! - [`FieldDealer`]: the parties' set-up and what they make: inputs, triples, bits, each module with its
//!   figure's steps.
//!
//! **What differs from the paper.** Shares of inputs come from streams of each pair, and cost no message.
//! Products with shares of the key go by trees of seeds, four digits at a time ([`TREE`]).
//! Triples combine four elements instead of three ([`TAU`]). That a party's share of the key is one towards
//! all is checked. OT extension is SoftSpoken. The MAC check of inputs, of `rho` and of what must be zero is
//! one.
//!
//! **Not audited.** Nobody but its authors has looked at it.

mod act;
mod bits;
pub mod checks;
mod cope;
mod dealer;
mod field;
mod inputs;
mod openings;
mod sum_share;
mod triples;

pub use act::{FieldAct, FieldConduct};
pub use bits::{COMBINATIONS, FieldBits};
pub use dealer::FieldDealer;
pub use field::{BinaryField, Field, Streams, TREE};
pub use openings::FieldOpenings;
pub use sum_share::{ByOwner, MacKey, SumShare, SumShares};
pub use triples::{FieldTriple, FieldTriples, TAU};
