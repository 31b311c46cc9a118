//! Authenticated bits: what a party holds of a shared bit, and what keeps it from lying about its share.
//!
//! A bit `x = x_0 + x_1` (sums of bits are XORs) is shared between two parties. Either has a global key, a
//! secret delta, and for each share of the peer a local key `K`; the peer has with its share the MAC
//! `M = K + x * delta`. A party that shows another share than it has must show another MAC, which means to
//! guess delta (Nielsen, Nordholt, Orlandi, Burra, Crypto 2012, section 2; the notation `[x]` of its figures
//! is a [`Share`] of both parties here). MACs are linear, so shares can be added, and constants can be added,
//! with no message.
//!
//! Between more than two parties a bit has one share for each, and each two of them hold MACs and keys like
//! these (Hazay, Scholl, Soria-Vazquez, Asiacrypt 2017): a [`Share`] is then one party's view towards one
//! other. [`forms`] has all of them together, and what they add up to.
//!
//! - [`Share`] and [`GlobalKey`]: the algebra of two. [`Pairwise`] and [`RowShares`]: that of any number.
//! - [`Ledger`]: what was shown and seen between two, with MAC checks that wait until they must be done
//!   (section 2 of the same). [`tally`] packs 64 of them into one.
//! - [`equal`] and [`coin`]: the small sub-protocols among all parties of a mesh, comparison and a common
//!   random string; [`equal_with_coin`] is both at once.
//! - [`AuthBits`]: the functionality F_aBit, random authenticated bits of two; [`Extension`] makes them from
//!   a maliciously secure OT extension with a fixed correlation. [`Joint`] does among any number, and tests
//!   sums for zero without showing them.
//! - [`Openings`]: bits that all open to all, or to some, and their check by products of rows.
//!   [`zero_shares`] hide what each says for it.
//!
//! For parties that follow their protocol there are [XOR shares](bits) without a MAC, and [triples] of them;
//! and, between two, additive shares of [words](ring), and triples of these.
//!
//! **A rule for whoever builds checks of these**: no message of a check depends on its sender's own global
//! key, unless nothing secret is masked under that key before the check has passed. A cheat who fails a check
//! on purpose would else learn from it what unmasks the rest. The modules of the checks say how each keeps to
//! it.
//!
//! **Adversary** of all that has MACs: malicious, any number of the parties. A false MAC passes for whoever
//! guesses delta, which has 127 secret bits less those that a protocol fixes ([`GlobalKey`]); a ledger's
//! digest adds what a collision of BLAKE3 takes.

mod auth_bits;
pub mod bits;
pub mod checks;
mod coin;
mod equality;
mod extension;
pub mod forms;
pub mod joint;
mod ledger;
pub mod opening;
pub mod ring;
mod share;
mod simultaneous;
pub mod tally;
pub mod triples;
pub mod zero_shares;

pub use auth_bits::AuthBits;
pub use bits::BitShares;
pub use coin::{coin, coin_with};
pub use equality::{equal, equal_with_coin};
pub use extension::Extension;
pub use forms::{Pairwise, RowShares};
pub use joint::Joint;
pub use joint::talk::Beside;
pub use ledger::Ledger;
pub use opening::Openings;
pub use share::{GlobalKey, Share};
pub use simultaneous::say_string;
pub use tally::{KeyMultiples, MacTally, Packer};
pub use triples::BitTriples;
pub use zero_shares::{PairSeeds, ZeroShares};
