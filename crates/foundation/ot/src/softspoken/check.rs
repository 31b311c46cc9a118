//! The check of a chunk: a random linear hash of the rows.

use blake3::Hasher;
use comity_core::{Backend, Block, Error, Prg, Result, SessionId, gf128};
use zeroize::{Zeroize, Zeroizing};

use super::ROWS;

/// The sender's challenge for a chunk: names the linear hash. Sent when the sender has the chunk's corrections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Challenge(Block);

impl Challenge {
    /// Bytes in the message.
    pub const BYTES: usize = Block::BYTES;

    /// A fresh one.
    pub(super) fn draw(from: &mut Prg) -> Challenge {
        Challenge(from.block())
    }

    /// The message with these bytes.
    pub fn from_bytes(bytes: [u8; Challenge::BYTES]) -> Challenge {
        Challenge(Block::new(bytes))
    }

    /// The bytes of the message.
    pub fn to_bytes(&self) -> [u8; Challenge::BYTES] {
        self.0.to_bytes()
    }

    /// The elements that blocks of a row are multiplied with. The last one is one: the last block is random, and so
    /// masks the hash whatever the challenge.
    pub(super) fn coefficients(&self, backend: Backend, out: &mut [Block]) {
        Prg::new(backend, self.0).fill_blocks(out);
        if let Some(last) = out.last_mut() {
            *last = Block::from_u128(1);
        }
    }
}

/// The hashes of a chunk's rows. Secret: those of both sides together are delta.
pub(super) type Hashes = Zeroizing<[Block; ROWS]>;

/// The receiver's answer: the hash of its choice bits, and what binds it to those of its rows.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer {
    pub(super) choices: Block,
    pub(super) rows: [u8; 32],
}

impl Answer {
    /// Bytes in the message.
    pub const BYTES: usize = 48;

    /// The message with these bytes.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if there are not [`BYTES`](Answer::BYTES).
    pub fn from_bytes(bytes: &[u8]) -> Result<Answer> {
        let (Some((choices, rest)), true) = (bytes.split_first_chunk(), bytes.len() == Answer::BYTES) else {
            let len = bytes.len();
            return Err(Error::malformed(format!("the answer to a challenge is 48 bytes long, not {len}")));
        };
        Ok(Answer { choices: Block::new(*choices), rows: std::array::from_fn(|i| rest[i]) })
    }

    /// The bytes of the message.
    pub fn to_bytes(&self) -> [u8; Answer::BYTES] {
        let mut bytes = [0; Answer::BYTES];
        bytes[..16].copy_from_slice(&self.choices.to_bytes());
        bytes[16..].copy_from_slice(&self.rows);
        bytes
    }

    /// What binds to the hashes of the rows of chunk `chunk`.
    pub(super) fn bind(
        session: &SessionId,
        chunk: u64,
        challenge: &Challenge,
        choices: Block,
        rows: &[Block; ROWS],
    ) -> Answer {
        let mut hasher = Hasher::new_derive_key("comity SoftSpoken OT: hashes of the rows of a chunk");
        hasher.update(&session.to_bytes()).update(&chunk.to_le_bytes()).update(&challenge.to_bytes());
        hasher.update(&choices.to_bytes()).update(Block::bytes_of(rows));
        let rows = *hasher.finalize().as_bytes();
        hasher.zeroize();
        Answer { choices, rows }
    }
}

/// Adds to `hashes` those of a piece: rows one after another, each as long as the coefficients.
pub(super) fn hash_rows(backend: Backend, coefficients: &[Block], rows: &[Block], hashes: &mut [Block; ROWS]) {
    for (hash, row) in hashes.iter_mut().zip(rows.chunks_exact(coefficients.len())) {
        *hash ^= gf128::inner_product(backend, row, coefficients);
    }
}
