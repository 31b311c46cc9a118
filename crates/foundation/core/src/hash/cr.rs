//! `CrHash`: a correlation-robust hash from one fixed-key permutation, for semi-honest protocols.

use crate::arch::Backend;
use crate::hash::aes::Aes128;
use crate::hash::tccr::TccrHash;
use crate::memory::block::Block;

/// The hash H(x) = pi(x) ^ x, where pi is AES-128 under the public key [`TccrHash::KEY`].
///
/// Guo, Katz, Wang and Yu (S&P 2020, section 7.2) prove it correlation robust where pi is a random
/// permutation: with a secret uniform delta, H(x ^ delta) looks random for distinct x. That is enough where
/// no party chooses what is hashed, for instance to break the correlation of a semi-honest OT extension: its
/// q are pseudorandom, and so distinct except with probability n^2 / 2^128.
///
/// *When not.* Where a cheating party can influence what is hashed, or where delta itself is added to the
/// hash: these need [`TccrHash`]. As there, all use the same key, and the bound loses log2 of the number of
/// calls.
///
/// *Cost.* One encryption a block, half of [`TccrHash`]'s. The key is expanded once.
pub struct CrHash(Aes128);

impl CrHash {
    /// The hash on a backend.
    pub fn new(backend: Backend) -> CrHash {
        CrHash(Aes128::new(backend, TccrHash::KEY))
    }

    /// Replaces every block by its hash.
    pub fn hash_blocks(&self, blocks: &mut [Block]) {
        self.0.cr(blocks);
    }

    /// Writes the hashes of every block and of its sum with `delta`: the two messages of an OT.
    ///
    /// # Panics
    /// If there is not a pair for each block.
    pub fn hash_pairs(&self, delta: Block, blocks: &[Block], pairs: &mut [[Block; 2]]) {
        self.0.cr_pairs(delta, blocks, pairs);
    }
}
