//! The check of a chunk: a random linear hash of rows, which commutes with the code.

use blake3::Hasher;
use comity_core::{Backend, Block, Error, Prg, Result, SessionId, gf128};
use zeroize::Zeroize;

use super::bch::MESSAGE;
use super::{Piece, ROWS};

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

    /// The elements that the `width` blocks of a row are multiplied with. The last one is one: the last block is
    /// random, and so masks the hash whatever the challenge.
    pub(super) fn coefficients(&self, backend: Backend, width: usize) -> Vec<Block> {
        let mut coefficients = vec![Block::ZERO; width];
        Prg::new(backend, self.0).fill_blocks(&mut coefficients);
        if let Some(last) = coefficients.last_mut() {
            *last = Block::from_u128(1);
        }
        coefficients
    }
}

/// The receiver's answer: the hashes of its rows of choices, and what binds it to those of its rows.
#[derive(Clone, PartialEq, Eq, Debug)]
pub struct Answer {
    pub(super) choices: [Block; MESSAGE],
    pub(super) rows: [u8; 32],
}

impl Answer {
    /// Bytes in the message.
    pub const BYTES: usize = 16 * MESSAGE + 32;

    /// The message with these bytes.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if there are not [`BYTES`](Answer::BYTES).
    pub fn from_bytes(bytes: &[u8]) -> Result<Answer> {
        let (Some((choices, rows)), true) = (bytes.split_last_chunk(), bytes.len() == Answer::BYTES) else {
            let (expected, len) = (Answer::BYTES, bytes.len());
            return Err(Error::malformed(format!("the answer to a challenge is {expected} bytes long, not {len}")));
        };
        let mut answer = Answer { choices: [Block::ZERO; MESSAGE], rows: *rows };
        Block::bytes_of_mut(&mut answer.choices).copy_from_slice(choices);
        Ok(answer)
    }

    /// The bytes of the message.
    pub fn to_bytes(&self) -> Vec<u8> {
        [Block::bytes_of(&self.choices), &self.rows].concat()
    }

    /// What binds to the hashes of the rows of chunk `chunk`.
    pub(super) fn bind(
        session: &SessionId,
        chunk: u64,
        challenge: &Challenge,
        choices: [Block; MESSAGE],
        rows: &[Block; ROWS],
    ) -> Answer {
        let mut hasher = Hasher::new_derive_key("comity 1-out-of-N OT: hashes of the rows of a chunk");
        hasher.update(&session.to_bytes()).update(&chunk.to_le_bytes()).update(&challenge.to_bytes());
        hasher.update(Block::bytes_of(&choices)).update(Block::bytes_of(rows));
        let rows = *hasher.finalize().as_bytes();
        hasher.zeroize();
        Answer { choices, rows }
    }
}

/// The hashes of rows that lie piece by piece.
pub(super) fn hash_rows<const N: usize>(
    backend: Backend,
    coefficients: &[Block],
    rows: &[Block],
    pieces: impl Iterator<Item = Piece>,
) -> [Block; N] {
    let mut hashes = [Block::ZERO; N];
    for Piece { at, width } in pieces {
        let coefficients = &coefficients[at..at + width];
        for (hash, row) in hashes.iter_mut().zip(rows[N * at..N * (at + width)].chunks_exact(width)) {
            *hash ^= gf128::inner_product(backend, row, coefficients);
        }
    }
    hashes
}
