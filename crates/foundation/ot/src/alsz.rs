//! OT extension against malicious adversaries by checking pairs of rows (Asharov, Lindell, Schneider, Zohner, Eurocrypt
//! 2015; D13.3 section 3.2 and Protocol 1), with the few checks of the Journal of Cryptology version (ePrint 2016/602).
//!
//! **What**: [`iknp`](crate::iknp) with `l` rows instead of 128, and a check that all rows were made from the
//! same choice bits. A receiver that uses other choice bits in some rows passes only if it guesses bits of
//! the sender's `s`, the base OTs' choice bits; the additional rows make up for what it guesses.
//!
//! **How** (a chunk of at most 2^17 - 128 OTs; step numbers of D13.3 Protocol 1)
//! - 2: the receiver sends `u^i = G(k_i^0) ^ G(k_i^1) ^ r` for every row, a kibibyte of all rows at a time.
//! - 3: only now the sender draws a seed, from which both take pairs of rows, alpha and beta. For each pair
//!   the receiver sends the hashes of `G(k_alpha^a) ^ G(k_beta^b)`, for the four a, b. The sender knows what
//!   two of them must be, and checks both: that for `(s_alpha, s_beta)`, and with `u^alpha ^ u^beta` added
//!   that for the complements. Equal rows u are refused, anywhere in the matrix.
//! - 4: columns of `l` bits are hashed, all of their bits, and give the random OTs.
//!
//! **Functionality**: endemic random OT ([`RandomSender`](crate::RandomSender)): SR-OT and R-OT, on which
//! [`flavour`](crate::flavour) builds the others. There is no fixed delta of 128 bits here.
//!
//! **Adversary**: malicious, either party, standing on malicious base OTs, in the random oracle model for the
//! check, and with AES under fixed keys as random permutations for the hash of columns. What the check leaks:
//! a receiver may guess c bits of `s`, and is caught but for probability 2^-c. [`Parameters`] says how many
//! rows and checks bound everything else by 2^-rho over a session of 2^28 OTs, after which the extension
//! ends.
//!
//! **Corrections and differences**
//! - The paper takes every pair of rows at first; which pairs are taken is the sender's choice, drawn after
//!   the matrix is fixed, and never derived from the transcript (a soundness of 2^-rho could be searched
//!   offline).
//! - The pairs are those of perfect matchings, so that every row is in equally many: that takes a fifth fewer
//!   pairs than where each row draws its partners, as in 2016/602, for the same bound ([`Parameters`]).
//! - A hash over few columns would give away the rows themselves: 128 columns of OTs that nobody uses are added to each
//!   chunk, so that every row has 128 bits that the sender cannot guess.
//! - The hash of a column of two blocks `(a, b)` is `H(pi(a) ^ a ^ pi'(b) ^ b, j)` for two permutations and
//!   the tweakable hash H of Guo, Katz, Wang, Yu. In the random-permutation model whoever misses 128 bits of
//!   the column's partner must still guess the input of H.
//!
//! **Cost**: `l` bits an OT from receiver to sender (230 for rho = 40), and for each chunk `16 l + 64 l p`
//! bytes more, with p = 3 partners a row, a third of a byte an OT; 16 bytes and a round trip back. Hashing
//! dominates: six hashes over every row at the receiver (172 bytes an OT), three at the sender. Then come at
//! the receiver 3.6 AES blocks of streams and four of the hash of columns, and two blocks transposed. A party
//! holds the matrices of one chunk, 8 MiB.
//!
//! Each side hashes the columns of a chunk when it has time, before the check; if that fails, the outputs are wiped.

mod check;
mod columns;
mod matrix;
mod parameters;
mod receiver;
mod sender;

pub use parameters::Parameters;
pub use receiver::Receiver;
pub use sender::Sender;

/// The session of the base OTs, under that of the extension.
const BASE: &str = "base OT of ALSZ";

/// OTs that are checked together: with the spare ones a whole number of the hash's pieces.
const CHUNK: usize = (1 << 17) - SPARE;

/// Chunks in the life of an extension: the bound on a cheat's success is over all of them.
const CHUNKS: u64 = 1 << 11;

/// Columns that are added to every chunk and not used.
const SPARE: usize = 128;

#[cfg(test)]
mod tests;
