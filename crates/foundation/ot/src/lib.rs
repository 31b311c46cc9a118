//! Oblivious transfer (OT): the receiver gets one of the sender's two messages, and the sender does not learn which.
//!
//! [`base`] makes a few OTs from public-key operations; an extension makes many from these by symmetric cryptography.
//!
//! | module | paper | adversary | assumption | on the wire |
//! |---|---|---|---|---|
//! | [`base::simplest`] | Chou, Orlandi 2015 | semi-honest | CDH, random oracle | 32 bytes and 32 an OT |
//! | [`base::csw`] | Canetti, Sarkar, Wang 2020/110 | malicious | gap CDH, random oracle | 128 bytes and 48 an OT |
//! | [`base::pvw`] | Peikert, Vaikuntanathan, Waters 2008; AMPR 2014 | malicious | DDH, random oracle (CRS) | 160 bytes an OT |
//! | [`alsz`] | ALSZ 2015, 2016/602 | malicious | base OT, PRG, random oracle, random permutation | 29 bytes an OT |
//! | [`iknp`] | IKNP 2003, ALSZ 2013 | semi-honest | base OT, PRG, TCCR hash | 16 bytes an OT |
//! | [`softspoken`] | Roy 2022 | semi-honest or malicious | base OT, PRG; random oracle if malicious | 128/k bits an OT |
//! | [`silent`] | Ferret 2020/924, half-tree 2022/1431 | semi-honest or malicious | LPN, ideal cipher; random oracle if malicious | 1.2 bits an OT |
//! | [`committing`] | WMK 2017 | malicious | as SoftSpoken, random oracle | 4 bytes an OT, both messages; 48 to open |
//! | [`one_of_n`] | KK 2013, KKRT 2016, OOS 2017 | semi-honest or malicious | base OT, PRG, random permutation; random oracle if malicious | 64 bytes an OT |
//!
//! D13.3 in these pages is "The Full Set of New Protocols", deliverable D13.3 of the PRACTICE project (2016).

pub mod alsz;
pub mod base;
pub mod checks;
pub mod committing;
mod cot;
pub mod flavour;
mod hashed;
pub mod iknp;
mod model;
pub mod one_of_n;
mod random;
mod row_check;
mod seeds;
pub mod silent;
pub mod softspoken;
mod stream;

/// What a caller needs besides OTs, so that this crate suffices for a small program.
pub use comity_channel::{Channel, memory};
pub use comity_core::{Backend, Bits, Block, Error, Prg, Result, SessionId};
pub use cot::{CotReceiver, CotSender};
pub use hashed::{HashedReceiver, HashedSender};
pub use model::{AtLeast, Malicious, Model, SemiHonest};
pub use random::{RandomReceiver, RandomSender};
pub use seeds::{ReceiverSeeds, SenderSeeds};

// The example of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
