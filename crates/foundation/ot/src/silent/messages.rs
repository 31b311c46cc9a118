//! What goes over the wire in an iteration.

use blake3::Hasher;
use comity_core::{Block, Error, Result, SessionId};
use zeroize::Zeroize;

use super::Parameters;

/// The sender's message: a nonce that the trees' hash keys are derived from, and for each tree a block for
/// each level but the first.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Trees {
    pub(super) nonce: Block,
    pub(super) sums: Vec<Block>,
}

impl Trees {
    /// The message of an iteration with these bytes.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if they are too many or too few.
    pub fn from_bytes(bytes: &[u8], parameters: &Parameters) -> Result<Trees> {
        let expected = 16 * (1 + sums(parameters));
        if bytes.len() != expected {
            let len = bytes.len();
            return Err(Error::malformed(format!("the trees of an iteration are {expected} bytes long, not {len}")));
        }
        let mut blocks = bytes.as_chunks().0.iter().map(|&block| Block::new(block));
        let nonce = blocks.next().unwrap_or(Block::ZERO);
        Ok(Trees { nonce, sums: blocks.collect() })
    }

    /// The bytes of the message.
    pub fn to_bytes(&self) -> Vec<u8> {
        [&self.nonce.to_bytes(), Block::bytes_of(&self.sums)].concat()
    }
}

/// Blocks of the message but for the nonce.
pub(super) fn sums(parameters: &Parameters) -> usize {
    parameters.trees * (parameters.depth - 1)
}

/// The receiver's challenge, once it has all trees: an element of GF(2^128) whose powers the leaves are multiplied
/// with, and the sum of those at the ends of its paths, masked.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Challenge {
    pub(super) point: Block,
    pub(super) ends: Block,
}

impl Challenge {
    /// Bytes in the message.
    pub const BYTES: usize = 32;

    /// The message with these bytes.
    pub fn from_bytes(bytes: &[u8; Challenge::BYTES]) -> Challenge {
        let [point, ends] = [0, 16].map(|at| Block::new(std::array::from_fn(|i| bytes[at + i])));
        Challenge { point, ends }
    }

    /// The bytes of the message.
    pub fn to_bytes(&self) -> [u8; Challenge::BYTES] {
        let mut bytes = [0; Challenge::BYTES];
        bytes[..16].copy_from_slice(&self.point.to_bytes());
        bytes[16..].copy_from_slice(&self.ends.to_bytes());
        bytes
    }
}

/// The sender's answer: a hash of what the leaves add up to.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer(pub(super) [u8; 32]);

impl Answer {
    /// Bytes in the message.
    pub const BYTES: usize = 32;

    /// The message with these bytes.
    pub fn from_bytes(bytes: [u8; Answer::BYTES]) -> Answer {
        Answer(bytes)
    }

    /// The bytes of the message.
    pub fn to_bytes(&self) -> [u8; Answer::BYTES] {
        self.0
    }

    /// The answer to a challenge where the leaves of iteration `iteration` add up to `sum`.
    pub(super) fn bind(session: &SessionId, iteration: u64, challenge: &Challenge, sum: Block) -> Answer {
        let mut hasher = Hasher::new_derive_key("comity correlation generator: the sum of an iteration's leaves");
        hasher.update(&session.to_bytes()).update(&iteration.to_le_bytes());
        hasher.update(&challenge.to_bytes()).update(&sum.to_bytes());
        let answer = Answer(*hasher.finalize().as_bytes());
        hasher.zeroize();
        answer
    }
}
