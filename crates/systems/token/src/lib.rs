//! Semi-honest computation among two to sixteen parties on triples from a token (deliverable D13.3 of the
//! PRACTICE project, section 3.4, figure 3.3; Demmler, Schneider, Zohner, USENIX Security 2014).
//!
//! A *token* stands at party 0, its *holder*, and all parties trust it, for instance since they trust whoever
//! made it. It takes the place of oblivious transfer. The three phases of the figure:
//!
//! 1. *Init*, at the holder alone: the token makes seeds, and from them party 0's share of the products `c`
//!    ([`FreshSeeds::init`]).
//! 2. *Set-up*: the token gives party 0 its seed, and every other party its own, sealed to a key of that
//!    party's and signed, by way of party 0 ([`FreshSeeds::set_up`], [`open`]). 296 bytes to and from each
//!    other party, for up to 2^20 triples at a time.
//! 3. *Online*: GMW, unchanged ([`comity_gmw::run_with`]).
//!
//! **Functionality**: that of [`comity_gmw`]: secure evaluation of a program; values can come in and go out shared.
//!
//! **Adversary**: semi-honest, any number of the parties but one, none of which sees into the token. A party
//! that breaks the rules can change any AND and any output, unnoticed, as in GMW. Whoever sees into the token
//! learns everything: a software token is no protection from the administrator of its machine. What a holder
//! that lies about seeds can do is checked all the same: it is not able to pass on a seed of another token,
//! session, party or number of triples, or one that it can open itself.
//!
//! **Assumptions**: AES-128 and BLAKE3 as pseudo-random generators and functions, HPKE (gap Diffie-Hellman in
//! X25519), Ed25519.
//!
//! **Never twice**: a set-up consumes its seeds ([`FreshSeeds`] is no `Clone`); they follow from the master
//! key, a counter that is on the disk before they are made, and 128 bits that are drawn for them and kept
//! nowhere. So a folder that was put back repeats no seed. Not detected: a *running* token that is copied
//! with its memory (a snapshot of a virtual machine) between init and set-up. It can give the same seeds to
//! two sessions, whose parties then learn how inputs differ, if they compare what they heard.
//!
//! **Different from the deliverable**: it has seeds alone; but one share of `c` follows from the others'
//! seeds, and one party has to be told it: party 0, by its token, an eighth of a byte a triple. What the
//! token signs, and that it serves each seed once, is not in it either.
//!
//! - [`token`]: the state machine; [`mod@line`]: it and its holder over a channel.
//! - [`messages`], [`seal`], [`keys`]: what goes where, under which keys.
//! - [`seeds`]: from seeds to triples. [`dealers`]: what GMW runs on. [`GmwToken`]: all of it as a protocol.

pub mod checks;
pub mod dealers;
pub mod keys;
pub mod line;
pub mod messages;
mod protocol;
pub mod seal;
pub mod seeds;
#[cfg(test)]
mod tests;
pub mod token;

pub use dealers::{HOLDER, HolderTriples, PartnerTriples};
pub use keys::{Introduction, SigningKey, TokenKeys, TokenSigner, fingerprint};
pub use line::{TokenLine, serve_holder};
pub use messages::{SealedSeed, SeedAnswer, SeedInit, SeedLetter, SeedOrder, SeedRequest};
pub use protocol::GmwToken;
pub use seal::{RecipientKey, SeedUse, open, vouched};
pub use token::{FreshSeeds, MemoryToken, SeedCounter, TokenAccess};
