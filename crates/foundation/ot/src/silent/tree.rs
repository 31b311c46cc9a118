//! Trees of blocks whose levels all sum to delta (Guo, Yang, Wang, Zhang, Xie, Liu, Zhao, EUROCRYPT 2023, section 4).
//!
//! The children of a node `x` are `H(x)` and `x ^ H(x)`. The side that lacks the nodes on one path lacks
//! delta, and the one that has delta has all: so a leaf is known to both but for the one at the path's end,
//! which differs by delta.
//!
//! **Cost**: one AES block a leaf. The receiver must not show which path it lacks: it holds a zero in that
//! path's place, and puts right what comes of it under a mask, which is one more pass over each level.

use comity_core::{Backend, Block, TreeHash};
use zeroize::Zeroize;

/// All bits but the lowest, which is the choice bit's.
const UPPER: Block = Block::from_u128(u128::MAX - 1);
const ONE: Block = Block::from_u128(1);
const ALL: Block = Block::from_u128(u128::MAX);

/// Buffers for one tree, grown again and again. The leaves are secret, and so is the path.
///
/// Other protocols on such trees get them here: the receiver has the sender's leaves, except for one, which
/// it has with delta added. Each tree needs an AES key of its own that is drawn after the correlations are
/// fixed ([`silent`](super#why-a-key-for-each-tree)).
pub struct Tree {
    backend: Backend,
    depth: usize,
    /// The nodes of a level, at the end the leaves. The node's number has its first step in bit 0.
    nodes: Vec<Block>,
    /// For each four nodes of a level in a row, all ones if the node on the path is among them, else zero.
    path: Vec<u32>,
    /// All ones for the place of the path's node among these four, which the first two steps tell; else zero.
    lane: [Block; 4],
}

impl Tree {
    /// A tree of `depth` levels, at least three.
    ///
    /// # Panics
    /// If there are fewer levels.
    pub fn new(backend: Backend, depth: usize) -> Tree {
        assert!(depth > 2, "a tree of {depth} levels");
        let (nodes, path) = (vec![Block::ZERO; 1 << depth], vec![0; 1 << (depth - 3)]);
        Tree { backend, depth, nodes, path, lane: [Block::ZERO; 4] }
    }

    /// The leaves of the last tree: `v`, or for the receiver `w`, which is `v` with delta added to one leaf.
    /// Bit 0 of a leaf is set at that leaf and nowhere else.
    pub fn leaves(&self) -> &[Block] {
        &self.nodes
    }

    /// Grows the sender's tree: `q` are its correlations, one a level, bit 0 clear; delta has bit 0 set.
    /// Calls `sum` with the message of each level but the first, which needs none.
    pub fn grow(&mut self, key: Block, delta: Block, q: &[Block], mut sum: impl FnMut(Block)) {
        let hash = TreeHash::new(self.backend, key);
        self.nodes[0] = q[0];
        self.nodes[1] = q[0] ^ delta;
        for (level, &q) in q.iter().enumerate().skip(1) {
            sum(hash.children(&mut self.nodes[..2 << level], level + 1 == self.depth) ^ q);
        }
    }

    /// Grows the receiver's tree from the messages `sums`: `t` are its correlations, whose bits 0 are the
    /// steps *beside* the path. No branch or memory index depends on the path.
    pub fn grow_without(&mut self, key: Block, t: &[Block], sums: &[Block]) {
        let hash = TreeHash::new(self.backend, key);
        // What comes of the zero in the path's place, on both sides.
        let garbage = hash.children(&mut [Block::ZERO; 2], false);
        let first = mask(t[0]);
        self.nodes[0] = t[0] & (first ^ ALL);
        self.nodes[1] = t[0] & first;
        let mut total = t[0];
        for (level, (&t, &message)) in t[1..].iter().zip(sums).enumerate() {
            let (level, last) = (level + 1, level + 2 == self.depth);
            let nodes = &mut self.nodes[..2 << level];
            let left_sum = hash.children(nodes, last);
            let right_sum = left_sum ^ total;
            // The known side's sum is the message without the correlation: the rest of it is the path's sibling.
            let right = mask(t);
            let sibling = message ^ t ^ left_sum ^ ((left_sum ^ right_sum) & right);
            // On the path a zero; at the end what all leaves sum to delta with.
            let path = if last { left_sum ^ right_sum ^ sibling } else { garbage };
            let differ = (sibling ^ path) & right;
            let [mut on_left, mut on_right] = [sibling ^ differ, path ^ differ];
            total = left_sum ^ right_sum ^ sibling ^ path;
            if last {
                // Bit 0 of a leaf is the choice bit.
                on_left = on_left & UPPER ^ (ONE & right);
                on_right = on_right & UPPER ^ (ONE & (right ^ ALL));
            }

            if level == 1 {
                let at = [first, first ^ ALL];
                for (i, at) in at.into_iter().enumerate() {
                    nodes[i] ^= at & on_left;
                    nodes[i + 2] ^= at & on_right;
                }
                self.lane = [at[0] & right, at[1] & right, at[0] & (right ^ ALL), at[1] & (right ^ ALL)];
                self.path[0] = u32::MAX;
            } else {
                let fours = 1 << (level - 2);
                let add = [on_left, on_right].map(|add| self.lane.map(|lane| lane & add));
                hash.add_under(&self.path[..fours], &add, nodes);
                if !last {
                    let right = word(t);
                    let (near, far) = self.path[..2 * fours].split_at_mut(fours);
                    for (near, far) in near.iter_mut().zip(far) {
                        *far = *near & !right;
                        *near &= right;
                    }
                }
            }
        }
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        self.nodes.zeroize();
        self.path.zeroize();
        self.lane.zeroize();
    }
}

/// Bit 0 of a block in all bits of a word.
fn word(block: Block) -> u32 {
    comity_core::mask(block.lsb()) as u32
}

/// Bit 0 of a block in all its bits.
fn mask(block: Block) -> Block {
    Block::from_u128(i128::from(word(block).cast_signed()) as u128)
}
