//! Trees of seeds: all leaves come from a root, and all but some can be shown by few seeds.

use zeroize::Zeroizing;

use super::SEED;

/// Which tree: that of the executions' roots, or that of an execution's parties.
#[derive(Clone, Copy)]
pub(super) enum Tree {
    /// The roots of all executions.
    Executions,
    /// The seeds of an execution's parties.
    Parties(usize),
}

/// A tree's hash: each node's children are a hash of it, and of which tree's node it is.
pub(super) struct Node<'a> {
    pub(super) key: &'a [u8; 32],
    pub(super) tree: Tree,
}

impl Node<'_> {
    /// The seeds below a node, which has this place.
    pub(super) fn children(&self, level: u32, index: usize, seed: &[u8; SEED]) -> [[u8; SEED]; 2] {
        let tree = match self.tree {
            Tree::Executions => u64::MAX,
            Tree::Parties(execution) => execution as u64,
        };
        let mut hash = blake3::Hasher::new_keyed(self.key);
        hash.update(&tree.to_le_bytes())
            .update(&level.to_le_bytes())
            .update(&(index as u64).to_le_bytes())
            .update(seed);
        let both = Zeroizing::new(*hash.finalize().as_bytes());
        [0, SEED].map(|at| core::array::from_fn(|i| both[at + i]))
    }

    /// The leaves below a root, as many as `leaves` holds.
    pub(super) fn leaves(&self, root: &[u8; SEED], leaves: &mut [[u8; SEED]]) {
        self.below(0, 0, root, leaves);
    }

    fn below(&self, level: u32, index: usize, seed: &[u8; SEED], leaves: &mut [[u8; SEED]]) {
        if let [leaf] = leaves {
            *leaf = *seed;
            return;
        }
        let children = Zeroizing::new(self.children(level, index, seed));
        let (left, right) = leaves.split_at_mut(left(leaves.len()));
        self.below(level + 1, 2 * index, &children[0], left);
        self.below(level + 1, 2 * index + 1, &children[1], right);
    }

    /// The seeds of the largest parts of the tree that have no hole, from left to right.
    pub(super) fn open(&self, root: &[u8; SEED], holes: &[bool], seeds: &mut Vec<u8>) {
        self.open_below(0, 0, root, holes, seeds);
    }

    fn open_below(&self, level: u32, index: usize, seed: &[u8; SEED], holes: &[bool], seeds: &mut Vec<u8>) {
        if !holes.contains(&true) {
            seeds.extend(seed);
        } else if holes.len() > 1 {
            let children = Zeroizing::new(self.children(level, index, seed));
            let (left, right) = holes.split_at(left(holes.len()));
            self.open_below(level + 1, 2 * index, &children[0], left, seeds);
            self.open_below(level + 1, 2 * index + 1, &children[1], right, seeds);
        }
    }

    /// The leaves from the seeds that [`Node::open`] gave; those in holes stay as they are.
    ///
    /// # Panics
    /// If there are not [`count`] seeds.
    pub(super) fn rebuild(&self, holes: &[bool], seeds: &[[u8; SEED]], leaves: &mut [[u8; SEED]]) {
        let mut seeds = seeds.iter();
        self.rebuild_below(0, 0, holes, &mut seeds, leaves);
        assert!(seeds.next().is_none(), "the number of seeds follows from the holes");
    }

    fn rebuild_below<'s>(
        &self,
        level: u32,
        index: usize,
        holes: &[bool],
        seeds: &mut impl Iterator<Item = &'s [u8; SEED]>,
        leaves: &mut [[u8; SEED]],
    ) {
        if !holes.contains(&true) {
            let seed = seeds.next().expect("the number of seeds follows from the holes");
            self.below(level, index, seed, leaves);
        } else if holes.len() > 1 {
            let at = left(holes.len());
            let (left, right) = leaves.split_at_mut(at);
            self.rebuild_below(level + 1, 2 * index, &holes[..at], seeds, left);
            self.rebuild_below(level + 1, 2 * index + 1, &holes[at..], seeds, right);
        }
    }
}

/// The leaves on the left of a part of the tree: all but the smaller half of a power of two.
fn left(leaves: usize) -> usize {
    leaves.next_power_of_two() / 2
}

/// The number of seeds that show all leaves but those in holes.
pub(super) fn count(holes: &[bool]) -> usize {
    if !holes.contains(&true) {
        return 1;
    }
    if holes.len() == 1 {
        return 0;
    }
    let (left, right) = holes.split_at(left(holes.len()));
    count(left) + count(right)
}
