//! `Aes128`: one key, many blocks.

use zeroize::Zeroize;

use crate::arch::Backend;
use crate::arch::RoundKeys;
use crate::memory::block::Block;

/// AES-128 (FIPS 197) under one key, in the forward direction. The round keys are wiped on drop.
///
/// A block costs many times less in a call with many blocks than in a call of its own: the machine's AES
/// units work on 8 to 32 blocks at once.
pub struct Aes128 {
    backend: Backend,
    keys: RoundKeys,
}

impl Aes128 {
    /// Keys that [`encrypt_each`](Aes128::encrypt_each) expands together.
    pub const GROUP: usize = 16;

    /// Expands a key.
    pub fn new(backend: Backend, key: Block) -> Aes128 {
        Aes128 { backend, keys: backend.aes_expand(key) }
    }

    /// The cipher whose results are this one's plus a block. It costs nothing: the block is added to the last
    /// round key.
    pub fn adding(&self, block: Block) -> Aes128 {
        let mut keys = self.keys;
        keys[10] ^= block;
        Aes128 { backend: self.backend, keys }
    }

    /// Encrypts blocks in place under keys of which each is for a few of them: expanding [`Aes128::GROUP`] keys
    /// together costs a fraction of one by one. For each group of keys there are as many groups of blocks, one
    /// after another, and in each of these block `i` is for key `i`.
    ///
    /// # Panics
    /// If the groups of blocks are no multiple of those of keys.
    pub fn encrypt_each(backend: Backend, keys: &[[Block; Aes128::GROUP]], blocks: &mut [[Block; Aes128::GROUP]]) {
        assert!(blocks.len().is_multiple_of(keys.len().max(1)), "as many groups of blocks for each group of keys");
        crate::arch::garble::encrypt_each(backend, keys, blocks);
    }

    /// Encrypts every block in place.
    pub fn encrypt(&self, blocks: &mut [Block]) {
        self.backend.aes_encrypt(&self.keys, bytemuck::cast_slice_mut(blocks));
    }

    /// Writes the encryptions of the counter blocks `first`, `first + 1`, ... (as [`Block::from_u128`]), modulo 2^128.
    pub fn count(&self, first: u128, out: &mut [Block]) {
        self.counter(first, bytemuck::cast_slice_mut(out));
    }

    /// Counts as [`count`](Aes128::count), into bytes.
    pub(crate) fn counter(&self, first: u128, out: &mut [[u8; 16]]) {
        self.backend.aes_counter(&self.keys, first, out);
    }

    /// Replaces block `j` = x by pi(pi(x) ^ (first + j)) ^ pi(x).
    pub(crate) fn tccr(&self, first: u128, blocks: &mut [Block]) {
        self.backend.aes_tccr(&self.keys, first, bytemuck::cast_slice_mut(blocks));
    }

    /// Replaces every block x by pi(x) ^ x.
    pub(crate) fn cr(&self, blocks: &mut [Block]) {
        self.backend.aes_cr(&self.keys, bytemuck::cast_slice_mut(blocks));
    }

    /// Writes pi(x) ^ x for every block x, and for its sum with `delta`.
    pub(crate) fn cr_pairs(&self, delta: Block, blocks: &[Block], pairs: &mut [[Block; 2]]) {
        let (blocks, pairs) = (bytemuck::cast_slice(blocks), bytemuck::cast_slice_mut(pairs));
        self.backend.aes_cr_pairs(&self.keys, delta.to_bytes(), blocks, pairs);
    }

    /// Writes pi(pi(x) ^ (first + j)) ^ pi(x) for x = block `j`, and for its sum with `delta`.
    pub(crate) fn tccr_pairs(&self, first: u128, delta: Block, blocks: &[Block], pairs: &mut [[Block; 2]]) {
        let (blocks, pairs) = (bytemuck::cast_slice(blocks), bytemuck::cast_slice_mut(pairs));
        self.backend.aes_tccr_pairs(&self.keys, first, delta.to_bytes(), blocks, pairs);
    }
}

impl Drop for Aes128 {
    fn drop(&mut self) {
        self.keys.zeroize();
    }
}
