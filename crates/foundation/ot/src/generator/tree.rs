//! Trees of blocks whose levels all sum to delta (Guo, Yang, Wang, Zhang, Xie, Liu, Zhao, EUROCRYPT 2023, section 4).
//!
//! The children of a node `x` are `H(x)` and `x ^ H(x)`. Who lacks the nodes on one path lacks delta, and who
//! has delta has all: so a leaf is known to both but for the one at the path's end, which differs by delta.
//!
//! **Cost**: one AES block a leaf. The receiver must not show which path it lacks: it holds a zero in that
//! path's place, and puts right what comes of it by a mask that is a tree itself.

use comity_core::{Aes128, Backend, Block};
use zeroize::Zeroize;

/// All bits but the lowest, which is the choice bit's.
const UPPER: Block = Block::from_u128(u128::MAX - 1);
const ONE: Block = Block::from_u128(1);
const ALL: Block = Block::from_u128(u128::MAX);

/// Buffers for one tree. The leaves are secret and so is the path.
pub(super) struct Tree {
    backend: Backend,
    depth: usize,
    /// The nodes of a level, at the end the leaves. The node's number has its first step in bit 0.
    nodes: Vec<Block>,
    hashed: Vec<Block>,
    /// For the nodes of a level: all ones on the path, else zero.
    path: Vec<Block>,
}

impl Tree {
    pub(super) fn new(backend: Backend, depth: usize) -> Tree {
        let half = 1 << (depth - 1);
        Tree {
            backend,
            depth,
            nodes: vec![Block::ZERO; 2 * half],
            hashed: vec![Block::ZERO; half],
            path: vec![Block::ZERO; half],
        }
    }

    /// The leaves of the last tree, `v`, or for the receiver `w`, which is `v` with delta added to one.
    pub(super) fn leaves(&self) -> &[Block] {
        &self.nodes
    }

    /// The sender's tree: `q` are its correlations, one a level, bit 0 clear; delta has bit 0 set. Calls `sum` with the
    /// message of each level but the first, which needs none.
    pub(super) fn grow(&mut self, key: Block, delta: Block, q: &[Block], mut sum: impl FnMut(Block)) {
        let aes = Aes128::new(self.backend, key);
        self.nodes[0] = q[0];
        self.nodes[1] = q[0] ^ delta;
        for (level, &q) in q.iter().enumerate().skip(1) {
            sum(self.level(&aes, level) ^ q);
        }
        for leaf in &mut self.nodes {
            *leaf = *leaf & UPPER;
        }
    }

    /// The receiver's tree: `t` are its correlations, whose bits 0 are the steps *beside* the path. Gets the messages.
    pub(super) fn grow_without(&mut self, key: Block, t: &[Block], sums: &[Block]) {
        let aes = Aes128::new(self.backend, key);
        let mut zero = [Block::ZERO];
        aes.encrypt(&mut zero);
        // What comes of the zero in the path's place, on both sides.
        let [garbage] = zero;
        let right = mask(t[0]);
        self.nodes[0] = t[0] & (right ^ ALL);
        self.nodes[1] = t[0] & right;
        self.path[0] = right;
        self.path[1] = right ^ ALL;
        let mut total = t[0];
        for (level, (&t, &message)) in t[1..].iter().zip(sums).enumerate() {
            let (level, last) = (level + 1, level + 2 == self.depth);
            let left_sum = self.level(&aes, level);
            let right_sum = left_sum ^ total;
            // The known side's sum is the message without the correlation: the rest of it is the path's sibling.
            let right = mask(t);
            let sibling = message ^ t ^ left_sum ^ ((left_sum ^ right_sum) & right);
            // On the path a zero; at the end what all leaves sum to delta with.
            let path = if last { left_sum ^ right_sum ^ sibling } else { garbage };
            let differ = (sibling ^ path) & right;
            let [on_left, on_right] = [sibling ^ differ, path ^ differ];
            total = left_sum ^ right_sum ^ sibling ^ path;

            let half = 1 << level;
            let (lefts, rights) = self.nodes[..2 * half].split_at_mut(half);
            if last {
                let [left_bit, right_bit] = [ONE & right, ONE & (right ^ ALL)];
                for ((left_node, right_node), &at) in lefts.iter_mut().zip(rights).zip(&self.path) {
                    *left_node = (*left_node ^ (at & on_left)) & UPPER ^ (at & left_bit);
                    *right_node = (*right_node ^ (at & on_right)) & UPPER ^ (at & right_bit);
                }
            } else {
                let (near, far) = self.path[..2 * half].split_at_mut(half);
                for (((left_node, right_node), at), beyond) in lefts.iter_mut().zip(rights).zip(near).zip(far) {
                    *left_node ^= *at & on_left;
                    *right_node ^= *at & on_right;
                    *beyond = *at & (right ^ ALL);
                    *at = *at & right;
                }
            }
        }
    }

    /// Replaces the nodes of a level by their children: left ones, then right ones. Returns the sum of the left ones.
    fn level(&mut self, aes: &Aes128, level: usize) -> Block {
        let half = 1 << level;
        let (nodes, children) = self.nodes[..2 * half].split_at_mut(half);
        let hashed = &mut self.hashed[..half];
        for (to, &x) in hashed.iter_mut().zip(&*nodes) {
            *to = sigma(x);
        }
        aes.encrypt(hashed);
        let mut sum = Block::ZERO;
        for ((x, child), &encrypted) in nodes.iter_mut().zip(children).zip(&*hashed) {
            let left = encrypted ^ sigma(*x);
            *child = *x ^ left;
            *x = left;
            sum ^= left;
        }
        sum
    }
}

impl Drop for Tree {
    fn drop(&mut self) {
        for buffer in [&mut self.nodes, &mut self.hashed, &mut self.path] {
            buffer.zeroize();
        }
    }
}

/// `(lo, hi) -> (hi, lo ^ hi)`: linear, and neither it nor its sum with the identity sends anything but zero to zero, which
/// makes `pi(sigma(x)) ^ sigma(x)` circular correlation robust (Guo, Katz, Wang, Yu, S&P 2020, section 7.3).
#[inline(always)]
pub(super) fn sigma(x: Block) -> Block {
    let (lo, hi) = (x.to_u128() as u64, (x.to_u128() >> 64) as u64);
    Block::from_u128(u128::from(lo ^ hi) << 64 | u128::from(hi))
}

/// Bit 0 of a block in all its bits.
fn mask(block: Block) -> Block {
    ALL.masked(block.lsb())
}
