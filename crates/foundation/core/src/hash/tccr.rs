//! `TccrHash`: a tweakable circular correlation-robust hash from one fixed-key permutation.

use crate::arch::Backend;
use crate::hash::aes::Aes128;
use crate::memory::block::Block;

/// The hash H(x, i) = pi(pi(x) ^ i) ^ pi(x), where pi is AES-128 under the public key [`TccrHash::KEY`].
///
/// Guo, Katz, Wang and Yu (S&P 2020, the construction TMMO) prove it tweakable circular correlation robust where pi
/// is a random permutation: with a secret uniform delta, H(x ^ delta, i) looks random for distinct pairs (x, i), even
/// where delta itself is added to it. That is what breaking the correlation of extended OTs takes.
///
/// *When not.* All use the same public key, so an adversary's work on pi counts against every call of every
/// session: the bound loses log2 of the number of calls. It is not for garbling, which makes billions of
/// calls and re-keys for each gate instead. Tweaks must not repeat under a delta.
///
/// *Cost.* Two encryptions a block. The key is expanded once.
pub struct TccrHash(Aes128);

impl TccrHash {
    /// The public key of the permutation: the first 128 bits of the fraction of the number pi.
    pub const KEY: Block = Block::new(*b"\x24\x3f\x6a\x88\x85\xa3\x08\xd3\x13\x19\x8a\x2e\x03\x70\x73\x44");

    /// The hash on a backend.
    pub fn new(backend: Backend) -> TccrHash {
        TccrHash(Aes128::new(backend, TccrHash::KEY))
    }

    /// Replaces block `j` by its hash under the tweak `first_tweak + j` (modulo 2^128).
    pub fn hash(&self, first_tweak: u128, blocks: &mut [Block]) {
        self.0.tccr(first_tweak, blocks);
    }

    /// Writes the hashes of block `j` and of its sum with `delta`, both under the tweak `first_tweak + j`
    /// (modulo 2^128): both messages of an OT.
    ///
    /// # Panics
    /// If there is not a pair for each block.
    pub fn hash_pairs(&self, first_tweak: u128, delta: Block, blocks: &[Block], pairs: &mut [[Block; 2]]) {
        self.0.tccr_pairs(first_tweak, delta, blocks, pairs);
    }
}
