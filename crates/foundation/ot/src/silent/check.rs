//! The check of an iteration: what its leaves, times powers of a random point, add up to.

use comity_core::{Backend, Block, gf128};
use zeroize::Zeroize;

/// The sum of all leaves times powers of the challenge's point, and the sum of the powers at the ends of all
/// paths. Tree by tree, by Horner's rule: no two leaves of an iteration have one power.
///
/// This checks trees (Ferret, figure 7): sender and receiver have the same sum of leaves but for what the
/// ends of the receiver's paths add, delta times the sum of the ends.
pub struct LeafSum {
    backend: Backend,
    /// Powers from 0 on, one a leaf.
    powers: Vec<Block>,
    /// The power of a whole tree.
    step: Block,
    leaves: Block,
    ends: Block,
}

impl LeafSum {
    /// The sum over no trees yet. Each tree will have `leaves` leaves.
    pub fn new(backend: Backend, point: Block, leaves: usize) -> LeafSum {
        let mut powers = Vec::with_capacity(leaves);
        let mut power = Block::from_u128(1);
        for _ in 0..leaves {
            powers.push(power);
            power = gf128::mul(backend, power, point);
        }
        LeafSum { backend, powers, step: power, leaves: Block::ZERO, ends: Block::ZERO }
    }

    /// Adds the next tree's leaves.
    pub fn add(&mut self, leaves: &[Block]) {
        let sum = gf128::inner_product(self.backend, &self.powers, leaves);
        self.leaves = gf128::mul(self.backend, self.leaves, self.step) ^ sum;
    }

    /// Adds the end of the next tree's path, `weight` times, for correlations whose bits 0 are the steps
    /// beside it. No memory index depends on them.
    pub fn add_end(&mut self, levels: &[Block], weight: Block) {
        let one = Block::from_u128(1);
        let end = levels.iter().enumerate().fold(weight, |end, (i, beside)| {
            let power = self.powers[1 << i];
            gf128::mul(self.backend, end, power ^ (one ^ power).masked(beside.lsb()))
        });
        self.ends = gf128::mul(self.backend, self.ends, self.step) ^ end;
    }

    /// The sum of all leaves.
    pub fn leaves(&self) -> Block {
        self.leaves
    }

    /// The sum of all ends.
    pub fn ends(&self) -> Block {
        self.ends
    }
}

impl Drop for LeafSum {
    fn drop(&mut self) {
        self.leaves.zeroize();
        self.ends.zeroize();
    }
}

/// 128 correlations as one of field elements: `sum x^i q_i`.
pub(super) fn packed(backend: Backend, masks: &[Block]) -> Block {
    let powers: [Block; 128] = std::array::from_fn(|i| Block::from_u128(1 << i));
    gf128::inner_product(backend, &powers, masks)
}

/// Their choice bits as a field element.
pub(super) fn packed_choices(masks: &[Block]) -> Block {
    Block::from_u128(masks.iter().enumerate().fold(0, |packed, (i, mask)| packed | u128::from(mask.lsb()) << i))
}
