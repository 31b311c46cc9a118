//! Correlation-generator OT (Ferret: Yang, Weng, Lan, Zhang, Wang, CCS 2020; ePrint 2020/924), with the half-tree of Guo,
//! Yang, Wang, Zhang, Xie, Liu, Zhao (EUROCRYPT 2023; ePrint 2022/1431): the raw correlation with a fixed delta, with
//! random choice bits, for 1.2 bits of communication an OT. Semi-honest and malicious.
//!
//! **What**: an *iteration* makes 2.2 million OTs from 127 thousand, and the first 127 thousand of these are the
//! next iteration's. The first ones of all come from another extension, which ends with that.
//!
//! **How**: the outputs are cut into blocks of 1024. For each block a tree of ten levels ([`Trees`]) gives the sender
//! random leaves `v` and the receiver the same, but for one at a place of its choosing (random here), where it has `v ^
//! delta`: an OT with choice bit one, where all others of the block have zero. To these sparse OTs both
//! add a public linear function of the 105 thousand correlations of the *secret*: ten of them, at random places, for each output.
//! That keeps the correlation, and the choice bits become samples of learning parity with noise (LPN): they look random.
//! Everything after the trees' message is local. Given choice bits cost a bit each more.
//!
//! **Functionality**: [`DeltaSender`](crate::DeltaSender) and [`DeltaReceiver`](crate::DeltaReceiver), whose page has the
//! leaks. Delta has bit 0 set, whatever the base's bit: `q` has bit 0 clear but for given choice bits, and bit 0 of the
//! receiver's output is the random choice bit. 127 bits of delta are secret.
//!
//! **Adversary**: either party; semi-honest or malicious, as the type says, and from a base that withstands as
//! much. In the malicious model each iteration is checked before any of it is used (Ferret, figure 7): when the receiver
//! has all trees, and not before, it tells a random point of GF(2^128); both sides sum up their leaves times the point's powers; 128
//! correlations that serve nothing else mask what the ends of the receiver's paths add to that; and the sender's hash
//! of its sum must be the receiver's. Otherwise
//! [`InconsistentCorrelation`](comity_core::Misbehaviour::InconsistentCorrelation), and the state is gone.
//!
//! *Bound.* A sender whose trees are not consistent with where all paths end passes with at most `2^22 2^-128` an iteration,
//! by the degree of the polynomial; failure adds over iterations, and stays below 2^-40 for 2^66 of them. *Leak.* It passes as well if it
//! guesses where paths end, as far as its lie depends on it: it learns c bits of the noise with probability 2^-c and is caught
//! otherwise. That gains nothing on average: a guess that is right with probability 2^-c makes noiseless outputs at
//! most 2^c as likely, and so do no better the attacks of [`Parameters`]. A receiver that lies in its challenge gets a hash that it can
//! test values of delta with, which is the global-key query. Neither kind of peer can cause a panic, or memory to be claimed
//! that the caller did not ask for.
//!
//! The malicious generator does not compile over a semi-honest base:
//!
//! ```compile_fail
//! use comity_core::{Prg, Result, SessionId};
//! use comity_ot::{Malicious, generator, iknp};
//!
//! fn over_semi_honest(
//!     ch: &mut comity_channel::MemoryChannel,
//!     base: iknp::Sender,
//!     rng: &mut Prg,
//! ) -> Result<generator::Sender<Malicious>> {
//!     generator::Sender::<Malicious>::bootstrap(ch, &SessionId::new([0; 32]), base, rng)
//! }
//! ```
//!
//! **Assumptions**: LPN with regular noise and a local linear code of ten terms, with the margin that
//! [`Parameters::security`] tells; AES-128 as ideal cipher (circular correlation robustness); BLAKE3 as random
//! oracle. The matrix is fresh in each iteration and named by the session, which therefore must be of both
//! parties' making: who picks the matrix alone could pick a weak one.
//!
//! **Corrections**
//! - *The trees' keys.* Each tree has an AES key of its own, drawn from a nonce that the sender tells when the
//!   correlations are fixed. So its first level needs no message: its nodes are the correlation itself, `q` and `q ^ delta`, where
//!   the paper sends one block to make them random. With one key for all trees a receiver with equal correlations in two of
//!   them would learn both children of one node, and thus delta. And work on one key tells about 2^10 nodes only, where a
//!   key for all would lose the logarithm of their number in all sessions.
//! - *Parameters.* Sets that are in use with blocks of 2048 and more fall well below 128 bits by [`Parameters::algebraic`],
//!   which follows ePrint 2023/176 and, more severely than it, counts that the code is sparse. The set here has shorter blocks.
//! - *Paths.* The receiver's work is the same whatever its paths: no branch or memory index depends on them.
//!
//! **Cost** of one OT: 0.1491 bytes from sender to receiver (144 a tree), and a bit back for given choice bits; ten look-ups in a table of 1.6
//! MiB, 2.5 AES blocks for their places, and a leaf's one for each pass over the trees: two at the sender and one at the
//! receiver, in the malicious model one more each. An iteration is one message, in the malicious model three. The
//! set-up is that of the base and 127 360 OTs of it. Memory: about 6 MiB a side, of it two tables of 2 MiB, whatever the number of OTs.
//! The first OT of an iteration waits for the whole of it (some tens of milliseconds), so for fewer than a
//! million [`softspoken`](crate::softspoken) is better.

mod check;
mod code;
mod messages;
mod parameters;
mod receiver;
mod sender;
mod state;
#[cfg(test)]
mod tests;
mod tree;

pub use messages::{Answer, Challenge, Trees};
pub use parameters::Parameters;
pub use receiver::{Accepted, Receiver};
pub use sender::{Offered, Sender};

/// The session of the extension that it starts from, under its own.
const BASE: &str = "base of the correlation generator";

/// The trees' levels of the SoftSpoken extension that it starts from: fast, and the first correlations are few.
const BASE_K: usize = 4;

/// Trees whose messages travel together.
const GROUP: usize = 64;
