//! Silent OT: COTs from a pseudorandom correlation generator (PCG): Ferret (Yang, Weng, Lan, Zhang, Wang, CCS
//! 2020; ePrint 2020/924), with the half-tree of Guo, Yang, Wang, Zhang, Xie, Liu, Zhao (EUROCRYPT 2023;
//! ePrint 2022/1431). Choice bits are random, at 1.2 bits of communication an OT. Semi-honest and malicious.
//!
//! **What**: an *iteration* makes 1.8 million OTs from 149 thousand, and the first 149 thousand of these are the
//! next iteration's. The first ones of all come from another extension, which ends with that.
//!
//! **How**: the outputs are cut into blocks of 1024. For each block a tree of ten levels ([`Trees`]) gives
//! the sender random leaves `v` and the receiver the same, but for one at a place of its choosing (random
//! here), where it has `v ^ delta`: an OT with choice bit one, where all others of the block have zero. To
//! these sparse OTs both add a public linear function of the 131 thousand correlations of the *secret*: ten
//! of them for each output, five at random places of either half. That keeps the correlation, and the choice
//! bits become samples of learning parity with noise (LPN): they look random. Everything after the trees'
//! message is local. Given choice bits cost a bit each more.
//!
//! **Functionality**: [`CotSender`](crate::CotSender) and [`CotReceiver`](crate::CotReceiver), whose page has the
//! leaks. Delta has bit 0 set, whatever the base's bit: `q` has bit 0 clear but for given choice bits, and bit 0 of the
//! receiver's output is the random choice bit. 127 bits of delta are secret.
//!
//! **Adversary**: either party; semi-honest or malicious, as the type says, and from a base that withstands
//! as much. In the malicious model each iteration is checked before any of it is used (Ferret, figure 7):
//! when the receiver has all trees, and not before, it tells a random point of GF(2^128); both sides sum up
//! their leaves times the point's powers; 128 correlations that serve nothing else mask what the ends of the
//! receiver's paths add to that; and the sender's hash of its sum must be the receiver's. Otherwise
//! [`InconsistentCorrelation`](crate::checks::INCONSISTENT_CORRELATION), and the state is gone.
//!
//! *Bound.* A sender whose trees are not consistent with where all paths end passes with at most
//! `2^22 2^-128` an iteration, by the degree of the polynomial; failure adds over iterations, and stays below
//! 2^-40 for 2^66 of them. *Leak.* It passes as well if it guesses where paths end, as far as its lie depends
//! on it: it learns c bits of the noise with probability 2^-c and is caught otherwise. That gains nothing on
//! average: a guess that is right with probability 2^-c makes noiseless outputs at most 2^c as likely, and so
//! do no better the attacks of [`Parameters`]. A receiver that lies in its challenge gets a hash that it can
//! test values of delta with, which is the global-key query. Neither kind of peer can cause a panic, or
//! memory to be claimed that the caller did not ask for.
//!
//! Malicious silent OT does not compile over a semi-honest base:
//!
//! ```compile_fail
//! use comity_core::{Prg, Result, SessionId};
//! use comity_ot::{Malicious, iknp, silent};
//!
//! fn over_semi_honest(
//!     ch: &mut comity_channel::MemoryChannel,
//!     base: iknp::Sender,
//!     rng: &mut Prg,
//! ) -> Result<silent::Sender<Malicious>> {
//!     silent::Sender::<Malicious>::bootstrap(ch, &SessionId::new([0; 32]), base, rng)
//! }
//! ```
//!
//! **Assumptions**: LPN with regular noise and a local linear code of ten terms, with the margin that
//! [`Parameters::security`] tells; AES-128 as ideal cipher (circular correlation robustness); BLAKE3 as
//! random oracle. The matrix is fresh in each iteration and named by the session and by a nonce that the
//! receiver draws, whose noise it hides: a party that hears the other's nonce first in a hello can choose
//! among ids of a session, and so could search for a weak matrix.
//!
//! **Corrections**
//! - *The trees' keys.* The paper hashes all trees under one key, and sends a block for each tree's first
//!   level that makes its root random. Here each tree has an AES key of its own, `K_i = AES_nonce(i)`, for a
//!   nonce that the sender draws and tells once the iteration's correlations are fixed, and the first level
//!   is the correlation itself, `q` and `q ^ delta`: a block a tree less. [Below](#why-a-key-for-each-tree)
//!   is why.
//! - *Parameters.* Sets that are in use meet 128 bits by the published estimates, which take the code for
//!   a random one. Counting that it is sparse they fall well below ([`Parameters::sparse_enumeration`],
//!   [`Parameters::algebraic`]). The set here does not.
//! - *The code.* Rows have five terms in either half of the secret, so that half a table is looked up at a time.
//!   [`Parameters::sparse_gauss`] is why nobody gains by it.
//! - *Paths.* The receiver's work is the same whatever its paths: no branch or memory index depends on them.
//!
//! **Cost** of one OT: 0.15 bytes from sender to receiver (144 a tree), and a bit back for given choice bits;
//! ten look-ups in halves of a table of 2 MiB, which take most of the time, and 1.25 AES blocks for their
//! places; and an AES block for each growing of a leaf: in the semi-honest model one a side, in the malicious
//! model three at the sender and two at the receiver, since trees are grown again rather than kept. Roles
//! over messages grow them once more at a semi-honest sender. An iteration is one message, in the malicious
//! model three. The set-up is that of the base and 149 120 OTs of it, and a nonce from the receiver.
//!
//! *Memory*: 5.5 MiB a side, of it two tables on a huge page of 2 MiB each where the system has such, and 2.4
//! MiB more in the set-up, whatever the number of OTs. In the malicious model the first OT of an iteration
//! waits for all its trees (some 10 ms), so for fewer than a million [`softspoken`](crate::softspoken) is
//! better.
//!
//! # Why a key for each tree
//!
//! A corrupt receiver knows of a tree all nodes but those on its path. The one at level `j` is `delta ^ a_j`,
//! where `a_1` is its correlation, which it may have chosen, and a later `a_j` the sum of the level's other
//! nodes. The messages are `H(delta ^ a_j)`, with or without delta added, plus what it knows: the game of
//! circular correlation robustness, asked at nine points a tree. Take AES for an ideal cipher.
//! - *One tree.* The points differ: each later `a_j` holds a fresh value of `H`, so two are equal with
//!   probability `2^-122` at most. `H(x) = pi(sigma(x)) ^ sigma(x)` looks random at them until someone asks
//!   the cipher, under this key, at a `sigma(delta ^ a_j)` or backwards at what it becomes: of 127 unknown
//!   bits of delta, a question hits one of nine with probability `18 / 2^127` at most. That `pi` is a
//!   permutation shows in `2^10` values with probability `2^-108`.
//! - *All trees.* The keys of an iteration differ, since `AES_nonce` is a permutation. The nonce is unknown
//!   until the correlations are fixed, so whatever they are, a key is one that was used or asked for before
//!   with probability `(T + N) / 2^128`, for `T` questions to the cipher and `N` trees. Else it names a
//!   permutation independent of all others. So neither does it matter that correlations of two trees may be
//!   equal, nor does a question tell about more than one tree's nine points: `T` questions succeed with
//!   probability `T / 2^122`, in however many sessions.
//! - *One key for all* has neither. With equal correlations in two trees, but choice bits that differ, the receiver
//!   gets `H(delta ^ a)` with delta and without: hence the paper's block. And every question tells about `9 N` points,
//!   which costs another 21 bits after `2^31` OTs of all sessions together.
//!
//! A corrupt sender gains nothing by its choice of the nonce: the bound of the check holds whatever leaves the receiver
//! computes, and paths are told to no one.

mod check;
mod code;
mod messages;
mod parameters;
mod receiver;
mod security;
mod sender;
mod state;
#[cfg(test)]
mod tests;
mod tree;

pub use check::LeafSum;
pub use code::{hear_nonce, tell_nonce};
pub use messages::{Answer, Challenge, Trees};
pub use parameters::Parameters;
pub use receiver::{Accepted, Receiver};
pub use sender::{Offered, Sender};
pub use tree::Tree;

/// The session of the extension that it starts from, under its own.
const BASE: &str = "base of the correlation generator";

/// The trees' levels of the SoftSpoken extension that it starts from: fast, and the first correlations are few.
const BASE_K: usize = 4;

/// Trees whose messages travel together.
const GROUP: usize = 64;
