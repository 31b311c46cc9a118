//! The check of a chunk of an extension: a random linear hash of the rows of its matrix (Roy, CRYPTO 2022;
//! Orrù, Orsini, Scholl, CT-RSA 2017).
//!
//! The sender's challenge names the hash. The receiver answers with the hashes of its rows of choice bits, in
//! the clear, and a digest that binds it to those of its matrix; what the sender makes of its own matrix, its
//! delta and the choices must have this digest. The hash is linear over GF(2^128), and so commutes with the
//! code that made rows from choices.

use blake3::Hasher;
use comity_core::{Backend, Block, Error, Prg, Result, SessionId, gf128};
use zeroize::Zeroize;

/// The sender's challenge for a chunk: names the linear hash. Sent when the sender has the chunk's corrections.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Challenge(Block);

impl Challenge {
    /// Bytes in the message.
    pub const BYTES: usize = Block::BYTES;

    /// Draws a challenge.
    pub(crate) fn draw(from: &mut Prg) -> Challenge {
        Challenge(from.block())
    }

    /// The message with these bytes.
    pub fn from_bytes(bytes: [u8; Challenge::BYTES]) -> Challenge {
        Challenge(Block::new(bytes))
    }

    /// The bytes of the message.
    pub fn to_bytes(self) -> [u8; Challenge::BYTES] {
        self.0.to_bytes()
    }

    /// The elements that the blocks of a row are multiplied with. The last one is one: the last block is random, and so
    /// masks the hash whatever the challenge.
    pub(crate) fn coefficients(&self, backend: Backend, out: &mut [Block]) {
        Prg::new(backend, self.0).fill_blocks(out);
        if let Some(last) = out.last_mut() {
            *last = Block::from_u128(1);
        }
    }
}

/// The receiver's answer: the hashes of its `N` rows of choices, and what binds it to those of its matrix.
#[derive(Clone, Copy, PartialEq, Eq, Debug)]
pub struct Answer<const N: usize> {
    pub(crate) choices: [Block; N],
    pub(crate) rows: [u8; 32],
}

impl<const N: usize> Answer<N> {
    /// Bytes in the message.
    pub const BYTES: usize = 16 * N + 32;

    /// The message with these bytes.
    ///
    /// # Errors
    /// [`Malformed`](comity_core::Kind) if there are not [`BYTES`](Answer::BYTES).
    pub fn from_bytes(bytes: &[u8]) -> Result<Answer<N>> {
        let (Some((choices, rows)), true) = (bytes.split_last_chunk(), bytes.len() == Answer::<N>::BYTES) else {
            let (expected, len) = (Answer::<N>::BYTES, bytes.len());
            return Err(Error::malformed(format!("the answer to a challenge is {expected} bytes long, not {len}")));
        };
        let mut answer = Answer { choices: [Block::ZERO; N], rows: *rows };
        Block::bytes_of_mut(&mut answer.choices).copy_from_slice(choices);
        Ok(answer)
    }

    /// The hashes of the rows of choices, which are the same for the same choices and the same challenge.
    pub fn choices(&self) -> [Block; N] {
        self.choices
    }

    /// The bytes of the message.
    pub fn to_bytes(self) -> Vec<u8> {
        [Block::bytes_of(&self.choices), &self.rows].concat()
    }

    /// The answer that binds to the hashes of the `rows` of chunk `chunk`. `protocol` is the context of the
    /// digest, one of each extension.
    pub(crate) fn bind(
        protocol: &str,
        (session, chunk): (&SessionId, u64),
        challenge: &Challenge,
        choices: [Block; N],
        rows: &[Block],
    ) -> Answer<N> {
        let mut hasher = Hasher::new_derive_key(protocol);
        hasher.update(&session.to_bytes()).update(&chunk.to_le_bytes()).update(&challenge.to_bytes());
        hasher.update(Block::bytes_of(&choices)).update(Block::bytes_of(rows));
        let rows = *hasher.finalize().as_bytes();
        hasher.zeroize();
        Answer { choices, rows }
    }
}

/// Adds to `hashes` those of a piece of the rows: one after another, each as long as the coefficients.
pub(crate) fn hash_rows(backend: Backend, coefficients: &[Block], rows: &[Block], hashes: &mut [Block]) {
    for (hash, row) in hashes.iter_mut().zip(rows.chunks_exact(coefficients.len())) {
        *hash ^= gf128::inner_product(backend, row, coefficients);
    }
}
