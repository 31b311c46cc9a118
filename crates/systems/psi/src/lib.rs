//! Private set intersection: two parties have a set each; one of them, the *receiver*, learns which of its
//! items the other one, the *sender*, has too.
//!
//! [`send`] and [`receive`] are the two sides. Which protocol runs between them is a [`Method`], whose card
//! says what it withstands and what it costs:
//!
//! | method | what it is | adversary |
//! |---|---|---|
//! | [`Method::Vole`] | Rindal, Schoppmann 2021 with the encoding of Raghuraman, Rindal 2022 | semi-honest or malicious |
//! | [`Method::Kkrt`] | Kolesnikov, Kumaresan, Rosulek, Trieu 2016: an OPRF for each bin of a cuckoo table | semi-honest |
//! | [`Method::OtBch`] | deliverable D13.3, section 5.2.2, Protocol 6: 1-out-of-N OT with a BCH code | semi-honest |
//! | [`Method::Phasing`] | D13.3, section 5.1: OT for each digit of permutation-hashed items | semi-honest |
//! | [`Method::Circuit`] | D13.3, section 5.1: bins compared by a circuit, under any general protocol | that protocol's |
//! | [`Method::OprfAes`] | D13.3, section 5.2.1: an oblivious AES for each item of the receiver | semi-honest |
//!
//! For sets of very different sizes [`oprf`] is that function as an object of its own, and [`base`] has the
//! larger set in a file that is published once.
//!
//! **Functionality**: the receiver learns both sets' sizes, as [told](Set::pad_to), which of its items are
//! common, and for each of them the sender's [payload](Terms::payload). The sender learns both sizes. Where
//! hashing leaves an item out (with probability below 2^-40) its owner is told and nobody else.
//!
//! **Common to all methods.** Terms and sizes are said and compared; then both toss a coin, committed, for
//! the key under which [items](Item) are digested to 128 bits. Nobody can choose items for which hashing
//! fails, since the key comes after the sets; nobody can choose the key, since it is committed to.
//!
//! **Not hidden.** How long a party computes depends on its own items: hash tables are memory indexed by
//! secrets. Whoever shares the machine may see that; the peer sees when messages come, which depends on sizes
//! and hardly on items.

pub mod base;
mod bch;
mod bins;
mod card;
pub mod checks;
mod circuit;
mod code;
mod cost;
mod digest;
mod kkrt;
mod masks;
mod method;
pub mod oprf;
mod payload;
mod phasing;
mod run;
mod set;
mod short;
mod sizes;
mod sort;
mod terms;
#[cfg(test)]
mod tests;
mod vole;

pub use card::CARD;
pub use circuit::comparison;
pub use code::MaskList;
pub use cost::MethodCost;
pub use method::{Method, MethodCard};
pub use run::{receive, send};
#[doc(hidden)]
pub use run::{receive_over, send_over};
pub use set::{Item, MAX_ITEMS, Matches, Sent, Set};
pub use terms::{MOST, Terms};
