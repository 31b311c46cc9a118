//! A polynomial hash of a stream, under a key that stays with the one who compares.

use comity_core::{Backend, Block, Result, gf128};
use rand_core::CryptoRng;
use zeroize::Zeroizing;

/// Blocks that are added at once.
const STEP: usize = 1024;

/// The key: powers of a random element of GF(2^128), the highest first, down to the first.
pub(super) struct HashKey {
    backend: Backend,
    powers: Zeroizing<Vec<Block>>,
}

impl HashKey {
    /// A fresh key.
    pub(super) fn random(backend: Backend, rng: &mut dyn CryptoRng) -> HashKey {
        let point = Block::random(rng);
        let mut powers = Zeroizing::new(vec![point; STEP]);
        for i in (0..STEP - 1).rev() {
            powers[i] = gf128::mul(backend, powers[i + 1], point);
        }
        HashKey { backend, powers }
    }

    /// An empty hash.
    pub(super) fn begin(&self) -> PolynomialHash<'_> {
        PolynomialHash { key: self, sum: Block::ZERO, blocks: 0 }
    }
}

/// The hash of `n` blocks `T_i` so far: the sum of `T_i r^(n - i)`, however they were cut. Two streams of one
/// length that differ have one hash with probability `n 2^-128`.
pub(super) struct PolynomialHash<'a> {
    key: &'a HashKey,
    sum: Block,
    blocks: u64,
}

impl PolynomialHash<'_> {
    /// Adds blocks.
    pub(super) fn add(&mut self, blocks: &[Block]) {
        for blocks in blocks.chunks(STEP) {
            let powers = &self.key.powers[STEP - blocks.len()..];
            let backend = self.key.backend;
            self.sum = gf128::mul(backend, self.sum, powers[0]) ^ gf128::inner_product(backend, blocks, powers);
            self.blocks += blocks.len() as u64;
        }
    }

    /// Adds bytes of whole blocks.
    ///
    /// # Errors
    /// None: it stands where a channel's function could.
    pub(super) fn add_bytes(&mut self, bytes: &[u8]) -> Result<()> {
        let mut blocks = [Block::ZERO; 64];
        for bytes in bytes.chunks(16 * blocks.len()) {
            let blocks = &mut blocks[..bytes.len() / 16];
            Block::bytes_of_mut(blocks).copy_from_slice(bytes);
            self.add(blocks);
        }
        Ok(())
    }

    /// The hash, and how many blocks it is of.
    pub(super) fn finish(self) -> (Block, u64) {
        (self.sum, self.blocks)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::rng;

    #[test]
    fn a_hash_is_the_polynomial_however_the_stream_is_cut() {
        let backend = Backend::detect();
        let key = HashKey::random(backend, &mut rng(1));
        let mut stream = vec![Block::ZERO; 3000];
        rng(2).fill_blocks(&mut stream);
        let mut hash = key.begin();
        hash.add(&stream);
        let whole = hash.finish();
        let mut hash = key.begin();
        for part in stream.chunks(7) {
            hash.add_bytes(Block::bytes_of(part)).unwrap();
        }
        assert!(hash.finish() == whole);
        let point = *key.powers.last().unwrap();
        let horner = stream.iter().fold(Block::ZERO, |sum, block| gf128::mul(backend, sum ^ *block, point));
        assert!((horner, 3000) == whole);
        for changed in [0, 1234, 2999] {
            let mut other = stream.clone();
            other[changed] ^= Block::from_u128(1);
            let mut hash = key.begin();
            hash.add(&other);
            assert!(hash.finish() != whole);
        }
        // Whoever knows the key can make another stream of this hash, so each is drawn.
        assert!(*HashKey::random(backend, &mut rng(2)).powers.last().unwrap() != point);
        // And with all its bits: the lowest of a few are no small numbers, nor are the highest.
        let points = [1, 2, 3].map(|seed| HashKey::random(backend, &mut rng(seed)).powers.last().unwrap().to_u128());
        assert!((0..16).all(|byte| points.iter().any(|point| point >> (8 * byte) & 255 != 0)));
    }
}
