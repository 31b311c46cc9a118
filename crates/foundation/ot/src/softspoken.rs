//! SoftSpoken OT extension (Roy, CRYPTO 2022; ePrint 2022/192), semi-honest and malicious: the raw correlation with a
//! fixed delta, for 128/k bits of communication an OT.
//!
//! **What**: 128 base OTs, once, become any number of OTs by symmetric cryptography. The sender's global key is
//! `delta`. For OT `j` with choice bit `x_j` the sender gets a block `q_j` and the receiver `t_j = q_j ^ x_j delta`.
//! Through a hash these are random OTs.
//!
//! **How**: the base OTs run the other way round. Groups of `k` of them become *trees* of `2^k` seeds (section 5,
//! figures 13 and 14): the receiver knows all seeds, the sender all but the one whose number is the group's `k` bits of
//! delta. Each tree gives, locally, a vector OLE over GF(2^k) of any length (figure 7): with `r_x` the stream of seed
//! `x`, the receiver has `u = sum r_x` and rows `v_b = sum of the r_x whose x has bit b`, the sender `w_b = v_b ^
//! delta_b u`. The receiver sends `u ^ x` for each tree (figure 8, with the repetition code), the sender adds this to
//! the rows whose bit of delta is set. The 128 rows of all trees, transposed, are the OTs. With random choice bits, `x`
//! is the first tree's `u`, for which nothing is sent.
//!
//! `k` from 1 to 8 trades communication for computation: `ceil(128/k)` trees. Where `k` does not divide 128, the last
//! tree has the `128 mod k` levels that are left, so that delta has 128 bits always. `k = 1` is IKNP.
//!
//! **Functionality**: [`CotSender`](crate::CotSender) and [`CotReceiver`](crate::CotReceiver), whose page has
//! the leaks.
//!
//! **Adversary**: either party; semi-honest for the type `..<SemiHonest>`, malicious for `..<Malicious>`. In the
//! semi-honest model the sender trusts the receiver to use one `x` in all trees and to build the trees as said.
//! In the malicious model two checks make sure of that:
//! - *Trees* (figure 14, for trees of two levels and more). Every seed `s` gives a key, which is the seed from then on,
//!   and a check value of 256 bits. The receiver sends the sum of a tree's check values, from which the sender gets the
//!   one that it misses, and the hash of all of them, which must agree. Otherwise
//!   [`InconsistentTree`](crate::checks::INCONSISTENT_TREE).
//! - *Choice bits* (section 4.1), for each chunk of 2^16 OTs before it is used. When the sender has a chunk's
//!   corrections it draws a linear hash of rows of bits to GF(2^128): the inner product with random elements, expanded
//!   from a challenge of 128 bits. The receiver answers with the hash of `x` and, bound by BLAKE3, those of its rows;
//!   the sender knows from its own rows, delta and the first what the others must be. Otherwise
//!   [`InconsistentChoices`](crate::checks::INCONSISTENT_CHOICES). 128 OTs a chunk are made for nothing, and
//!   mask what the hash tells about `x`.
//!
//! *Bound.* Trees with different `x` have equal hashes with probability 2^-128 a pair of trees, so but for at most
//! `2^13 2^-128` a chunk every tree whose `x` differs from the answer's fails unless the receiver names the tree's bits
//! of delta. Failure adds over chunks: 2^64 OTs stay below 2^-67, far below 2^-rho. *Leak.* A receiver that guesses all
//! `k` bits of delta for a tree may lie there, and passes with probability 2^-k a tree; so it does if it guesses that
//! delta avoids a part of a tree that it garbled. It learns c bits of delta with probability 2^-c and is caught
//! otherwise, in the set-up and all chunks together. A malicious sender can do nothing beyond what the base OTs allow,
//! and a badly chosen delta. Neither kind of peer can cause a panic, or memory to be claimed that the caller did not
//! ask for.
//!
//! The malicious extension does not compile over base OTs that withstand less:
//!
//! ```compile_fail
//! use comity_core::{Backend, Block, Result, SessionId};
//! use comity_ot::{Malicious, base::Simplest, softspoken::Sender};
//!
//! fn over_semi_honest(ch: &mut comity_channel::MemoryChannel, rng: &mut comity_core::Prg) -> Result<()> {
//!     let session = SessionId::new([0; 32]);
//!     Sender::<Malicious>::setup::<Simplest>(ch, &session, Backend::detect(), 4, Block::ZERO, rng).map(drop)
//! }
//! ```
//!
//! **Assumptions**: base OTs that withstand the same adversary; AES-128 as PRG, where 2^k ceil(128/k) keys that encrypt
//! the same counters cost up to 12 bits of concrete security (each is 176 bytes of secret state); in the malicious
//! model BLAKE3 as random oracle.
//!
//! **Corrections**: the challenge is the sender's and comes after the data that it checks; it is not hashed from the
//! transcript. The hash has 128 bits, not the 40 that the paper asks for: then no two trees collide, and neither the
//! rank of the error nor the number of chunks needs an argument. Seeds are held in the order of `x ^ delta`, so that no
//! memory index is secret.
//!
//! **Cost** of one OT: `ceil(128/k)` bits from receiver to sender for given choice bits, a row less for random ones (8,
//! 4 and 2 bytes for k = 2, 4 and 8); `2^k ceil(128/k) / 128` AES blocks at the receiver, about as many at the sender;
//! one block transposed; in the malicious model one product in GF(2^128) more. A chunk is one message, rounded up to
//! whole blocks of 128 OTs; in the malicious model three, with 64 bytes and 16 for each tree besides, below 0.3 % of a
//! full chunk. The set-up is 128 base OTs and one message of `32 (k - 1)` bytes a tree, and 64 more in the malicious
//! model.
//!
//! Calls work piece by piece through buffers that stay in the second-level cache: a piece is transposed, and at the
//! sender hashed for the check, as soon as it is made. A chunk is checked while the next one is made, so that nobody
//! waits for the network but at the end of a call: for that the receiver keeps the matrices of two chunks, 1 MiB each,
//! in the malicious model. What the sender has written of a chunk that fails is wiped. So any number of OTs needs no
//! memory but the caller's.

mod matrix;
mod receiver;
mod sender;
mod shown;
#[cfg(test)]
pub(crate) mod tests;
mod trees;
mod two_way;

pub use crate::row_check::Challenge;
pub use matrix::{Checking, Corrections};
pub use receiver::{Offered, Receiver};
pub use sender::{Sender, Taken};
pub use trees::{Forest, Trees};
pub use two_way::TwoWay;

pub(crate) use trees::{build, delta, puncture};

use comity_core::{Block, Error, Result};
use zeroize::Zeroizing;

use crate::row_check;

/// The receiver's answer to a challenge.
pub type Answer = row_check::Answer<1>;

/// The context of what binds an answer.
const ROWS_OF_A_CHUNK: &str = "comity SoftSpoken OT: hashes of the rows of a chunk";

/// The hashes of a chunk's rows. Secret: those of both sides together are delta.
type Hashes = Zeroizing<[Block; ROWS]>;

/// The session of the base OTs, under that of the extension.
const BASE: &str = "base OT of SoftSpoken";

/// Rows of the matrix: the base OTs, and the bits of delta.
const ROWS: usize = 128;

/// Chunks that a call handles best: the checks of all but the last are under way while the next one is made.
const CALL: usize = 4;

/// How the bits of delta are cut into trees.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(crate) struct Shape {
    /// The levels of a tree, but perhaps of the last one. From 1 to 8.
    pub(crate) k: usize,
}

impl Shape {
    /// Trees of `k` levels.
    pub(crate) fn new(k: usize) -> Result<Shape> {
        if !(1..=8).contains(&k) {
            return Err(Error::invalid_input(format!("SoftSpoken OT extension has k = 1 to 8, not {k}")));
        }
        Ok(Shape { k })
    }

    /// The number of trees: also of the rows of corrections for given choice bits.
    fn trees(self) -> usize {
        ROWS.div_ceil(self.k)
    }

    /// The levels of each tree.
    fn depths(self) -> impl Iterator<Item = usize> {
        (0..ROWS).step_by(self.k).map(move |first| self.k.min(ROWS - first))
    }
}

/// Bytes of a call that makes `n` OTs with random choice bits: from the receiver, and from the sender. The
/// set-up is not in them.
///
/// # Panics
/// If there are no trees of `k` levels, 1 to 8.
pub fn random_bytes<M: Checking>(k: usize, n: usize) -> [u64; 2] {
    let rows = Shape::new(k).expect("trees of 1 to 8 levels").trees() - 1;
    let chunk = |n: usize| {
        let checked = u64::from(M::CHECKED);
        [(16 * rows * matrix::width::<M>(n)) as u64 + checked * Answer::BYTES as u64, checked * Challenge::BYTES as u64]
    };
    let (whole, rest) = ((n / M::CHUNK) as u64, n % M::CHUNK);
    let (full, last) = (chunk(M::CHUNK), if rest > 0 { chunk(rest) } else { [0; 2] });
    [0, 1].map(|side| whole * full[side] + last[side])
}
