//! VOLE in the head: zero knowledge from MACs on wires whose key is a hash, in files.
//!
//! **Source**: Baum, Braun, Delpech de Saint Guilhem, Klooß, Orsini, Roy, Scholl (CRYPTO 2023, ePrint
//! 2023/996), as in the signature FAEST; the check of the gates is QuickSilver's (Yang, Sarkar, Weng, Wang,
//! CCS 2021, ePrint 2021/076, section 4), as in [`vole`](crate::vole).
//!
//! **How**
//! 1. The prover grows trees of seeds, and commits to each leaf. The leaves of a tree of `k` levels,
//!    stretched, give it a vector `u` and rows `v` such that who knows all leaves but the one of number `d`
//!    knows `v + d u`: for the trees together these are MACs under a key Delta of 128 bits, `k` of them from
//!    each tree. Corrections make all trees' `u` that of the first one.
//! 2. That the corrections did so: the first challenge draws a linear hash of 256 bits, the prover shows that
//!    of `u`, under a mask, and of all rows their hash's digest.
//! 3. With the MACs of `u` as one-time pads the prover tells the difference of `u` and its secret bits and of
//!    what each AND gate gives. The second challenge draws coefficients, with which it sums up the gates as
//!    in [`vole`](crate::vole), and shows one of both sums.
//! 4. The third challenge is Delta. All leaves of each tree are shown but the one whose number Delta has. The
//!    verifier has keys then, and computes what it was not shown: the rows' digest, the other sum, the MACs
//!    of the expected outputs. All of these are hashed with the challenge after which they were fixed, so
//!    that a single comparison, that of what Delta is the hash of, decides on all.
//!
//! **Soundness**: each challenge is a hash of everything before it, and what it decides is as unlikely by
//! itself as the whole: a prover that wants to pass by wrong corrections, gates or outputs needs a second
//! challenge that lets coefficients of 128 bits cancel, or a Delta among two of 2^128 (wrong corrections do
//! not help: each tree that has them fixes its part of Delta), or a hash of 256 bits that collides. `q`
//! hashes forge a proof with probability about `q 2^-126`; [`Parameters::bits`] has the sum.
//!
//! **Zero knowledge**: hidden leaves are never shown, commitments to them are hashes of seeds that serve
//! nothing else, and what is shown of sums is masked by columns of `u` that serve nothing else.
//!
//! **Differences from the paper**: trees are expanded and leaves committed to by BLAKE3, under a key that
//! comes from statement, salt and parameters; streams are AES-128 in counter mode from a salted place on. The
//! linear hash has 256 bits where the paper has 144, which is 14 bytes a tree: two products in GF(2^128) and
//! no other field. Coefficients come from AES, not from powers.
//!
//! **Assumptions**: BLAKE3 as a programmable random oracle, AES-128 as a pseudorandom generator and, for
//! coefficients, as an ideal cipher.
//!
//! **Cost**: a bit an AND gate, secret bit and tree; `2^k` encryptions for 128 of these a tree.

mod hashes;
mod linear;
mod opening;
mod parameters;
mod prove;
#[cfg(test)]
mod tests;
mod verify;

use comity_core::Block;

use crate::sliced::Word;
use crate::statement::Statement;

pub(crate) use opening::answer_bytes;
pub(crate) use parameters::Parameters;
pub(crate) use prove::Committed;
pub(crate) use verify::check;

/// Bytes of the last challenge, Delta.
pub(crate) const DELTA: usize = Block::BYTES;

/// The rows of MACs, one for each bit of Delta.
const ROWS: usize = 128;
/// The blocks of a row that mask its linear hash.
const HASH_MASK: usize = 2;
/// The block of a row after which those of secret bits and gates come; this one, the third, masks the gates' sums.
const PADS: usize = HASH_MASK + 1;

/// A MAC, a key, or a bit in all places.
type Mac = Word<2>;

/// The sizes of a statement.
#[derive(Clone, Copy)]
struct Shape {
    /// Secret bits and AND gates.
    bits: usize,
}

impl Shape {
    fn new(statement: &Statement) -> Shape {
        Shape { bits: statement.secret_bits() + statement.and_gates() as usize }
    }

    /// The blocks of a row.
    fn width(self) -> usize {
        PADS + self.bits.div_ceil(128)
    }

    fn told_bytes(self) -> usize {
        self.bits.div_ceil(8)
    }
}
