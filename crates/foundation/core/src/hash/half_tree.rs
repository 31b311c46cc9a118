//! `TreeHash`: from the nodes of a half-tree to their children.

use zeroize::Zeroize;

use crate::arch::Backend;
use crate::arch::{RoundKeys, half_tree};
use crate::memory::block::Block;

/// The hash of a half-tree (Guo, Yang, Wang, Zhang, Xie, Liu, Zhao, EUROCRYPT 2023, section 4):
/// `H(x) = pi(sigma(x)) ^ sigma(x)` for AES-128 under one key and `sigma(lo, hi) = (hi, lo ^ hi)`, which
/// neither itself nor in its sum with the identity sends anything but zero to zero. That makes it circular
/// correlation robust where pi is an ideal permutation (Guo, Katz, Wang, Yu, S&P 2020, section 7.3).
///
/// The children of a node `x` are `H(x)` and `x ^ H(x)`. A level lies in memory with all left children first:
/// the number of a node has its first step in bit 0.
pub struct TreeHash {
    backend: Backend,
    keys: RoundKeys,
}

impl TreeHash {
    /// The hash under this key.
    pub fn new(backend: Backend, key: Block) -> TreeHash {
        TreeHash { backend, keys: backend.aes_expand(key) }
    }

    /// Replaces the nodes by their children: the first half of `nodes` holds the parents, the second half
    /// anything. Afterwards they hold the left children, then the right ones. Returns the sum of the left
    /// children. If the children are `leaves`, bit 0 of all is cleared, but not in the sum.
    ///
    /// # Panics
    /// If the number of nodes is not a power of two, or is one.
    pub fn children(&self, nodes: &mut [Block], leaves: bool) -> Block {
        assert!(nodes.len() > 1 && nodes.len().is_power_of_two(), "{} nodes are no level", nodes.len());
        half_tree::children(self.backend, &self.keys, nodes, leaves)
    }

    /// Adds blocks to both children of some parents, whose numbers may be secret. Each word of `fours` stands
    /// for four parents in a row: if it is all ones, they get `add[0]` at their left children and `add[1]` at
    /// their right ones. All other words must be zero. No branch or memory index depends on words or blocks.
    ///
    /// # Panics
    /// If there is not a word for each four parents.
    pub fn add_under(&self, fours: &[u32], add: &[[Block; 4]; 2], nodes: &mut [Block]) {
        assert_eq!(nodes.len(), 8 * fours.len(), "a word for four parents");
        half_tree::add_under(self.backend, fours, add, nodes);
    }
}

impl Drop for TreeHash {
    fn drop(&mut self) {
        self.keys.zeroize();
    }
}
