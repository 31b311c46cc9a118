//! Trees of seeds: all leaves come from a root, and all but some can be shown by few seeds.
//!
//! A tree of `n` leaves is a binary one whose levels are filled from the left: level `l` from the leaves up
//! has `n / 2^l` nodes, rounded up.

use comity_core::ShortHash;
use zeroize::Zeroizing;

/// Bytes of a seed.
pub(crate) const SEED: usize = 16;
/// A seed.
pub(crate) type Seed = [u8; SEED];

/// The hash of a proof's trees: each node's children are a hash of it and of its tree.
pub(crate) struct Trees(ShortHash);

/// The seeds of a tree, level by level from the root on. Where they are not known they are zero.
pub(crate) struct Grown(Vec<Zeroizing<Vec<Seed>>>);

impl Trees {
    /// The trees of the proof whose key this is.
    pub(crate) fn new(key: [u8; 32]) -> Trees {
        Trees(ShortHash::new(key))
    }

    /// The tree of `leaves` leaves below a root.
    pub(crate) fn grow(&self, tree: u64, root: &Seed, leaves: usize) -> Grown {
        self.rebuild(tree, &vec![false; leaves], std::slice::from_ref(root))
    }

    /// The tree from the seeds that [`Grown::open`] gives for these holes.
    ///
    /// # Panics
    /// If there are not [`count`] seeds.
    pub(crate) fn rebuild(&self, tree: u64, holes: &[bool], seeds: &[Seed]) -> Grown {
        assert_eq!(seeds.len(), count(holes), "the number of seeds follows from the holes");
        let (mut seeds, holes) = (seeds.iter(), above(holes));
        let mut levels: Vec<Zeroizing<Vec<Seed>>> = Vec::with_capacity(holes.len());
        for (level, width) in holes.iter().map(Vec::len).enumerate() {
            let mut nodes = Zeroizing::new(vec![[0; SEED]; width]);
            if level > 0 {
                self.children((tree, level), &holes[level - 1], &levels[level - 1], &mut nodes);
            }
            shown(&holes, level).zip(&mut seeds).for_each(|(node, seed)| nodes[node] = *seed);
            levels.push(nodes);
        }
        Grown(levels)
    }

    /// Writes the nodes of a level whose parents are known: those that have no hole below them.
    fn children(&self, (tree, level): (u64, usize), holes: &[bool], parents: &[Seed], nodes: &mut [Seed]) {
        let known: Vec<usize> = (0..parents.len()).filter(|parent| !holes[*parent]).collect();
        let messages: Zeroizing<Vec<_>> = Zeroizing::new(
            known.iter().map(|&parent| message([tree, level as u64, parent as u64], &parents[parent])).collect(),
        );
        let mut both = Zeroizing::new(vec![[0; 2 * SEED]; known.len()]);
        self.0.hash(&messages, &mut both);
        for (&parent, both) in known.iter().zip(&*both) {
            nodes[2 * parent..].iter_mut().zip(both.as_chunks().0).take(2).for_each(|(node, seed)| *node = *seed);
        }
    }
}

impl Grown {
    /// The leaves.
    pub(crate) fn leaves(&self) -> &[Seed] {
        self.0.last().expect("a tree has a root")
    }

    /// The seeds of the largest parts of the tree that have no hole, from the root down and from left to right.
    pub(crate) fn open(&self, holes: &[bool], seeds: &mut Vec<u8>) {
        let holes = above(holes);
        for (level, nodes) in self.0.iter().enumerate() {
            shown(&holes, level).for_each(|node| seeds.extend(nodes[node]));
        }
    }
}

/// The number of seeds that show all leaves but those in holes.
pub(crate) fn count(holes: &[bool]) -> usize {
    let holes = above(holes);
    (0..holes.len()).map(|level| shown(&holes, level).count()).sum()
}

/// The message that is hashed for a node: its place, which no other one has, and its seed.
pub(crate) fn message(place: [u64; 3], seed: &Seed) -> [u8; 64] {
    let mut message = [0; 64];
    message[..24].copy_from_slice(place.map(u64::to_le_bytes).as_flattened());
    message[24..24 + SEED].copy_from_slice(seed);
    message
}

/// Whether there is a hole below each node of each level, from the root on.
fn above(holes: &[bool]) -> Vec<Vec<bool>> {
    let mut levels = vec![holes.to_vec()];
    while let Some(below) = levels.last().filter(|below| below.len() > 1) {
        levels.push(below.chunks(2).map(|pair| pair.contains(&true)).collect());
    }
    levels.reverse();
    levels
}

/// The nodes of a level that are shown: those without a hole whose parent has one, or that have no parent.
fn shown(holes: &[Vec<bool>], level: usize) -> impl Iterator<Item = usize> {
    let parent = move |node: usize| level == 0 || holes[level - 1][node / 2];
    (0..holes[level].len()).filter(move |&node| !holes[level][node] && parent(node))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_shown_gives_all_leaves_but_those_in_holes() {
        let trees = Trees::new([1; 32]);
        for leaves in [1, 2, 3, 8, 11, 343] {
            let whole = trees.grow(7, &[5; SEED], leaves);
            assert_eq!(whole.leaves().len(), leaves);
            for step in [1, 2, 5, 1000] {
                let holes: Vec<bool> = (0..leaves).map(|leaf| leaf % step == step / 2).collect();
                let mut seeds = Vec::new();
                whole.open(&holes, &mut seeds);
                let rebuilt = trees.rebuild(7, &holes, seeds.as_chunks().0);
                for (leaf, hole) in holes.iter().enumerate() {
                    let wanted = if *hole { [0; SEED] } else { whole.leaves()[leaf] };
                    assert_eq!(rebuilt.leaves()[leaf], wanted, "leaf {leaf} of {leaves}");
                }
            }
        }
        // One hole in 2^k leaves: a seed a level.
        assert_eq!(count(&core::array::from_fn::<_, 64, _>(|leaf| leaf == 17)), 6);
        assert_eq!((count(&[false; 9]), count(&[true; 9])), (1, 0));
    }

    #[test]
    fn every_node_has_a_hash_of_its_own() {
        let leaves = |key: u8, tree, root: u8| Trees::new([key; 32]).grow(tree, &[root; SEED], 8).leaves().to_vec();
        let all = [leaves(1, 1, 1), leaves(2, 1, 1), leaves(1, 2, 1), leaves(1, 1, 2)].concat();
        assert!(all.iter().enumerate().all(|(i, leaf)| !all[..i].contains(leaf)));
        // The same seed in two places has other children.
        let places = [[1, 1, 1], [2, 1, 1], [1, 2, 1], [1, 1, 2]].map(|place| message(place, &[3; SEED]));
        assert!(places.iter().enumerate().all(|(i, place)| !places[..i].contains(place)));
    }

    #[test]
    fn one_seed_has_other_children_in_each_place() {
        // A prover that shows one seed in places of several levels, or in several of a level.
        for holes in [vec![0], vec![0, 4]] {
            let holes: Vec<bool> = (0..8).map(|leaf| holes.contains(&leaf)).collect();
            let same = [3; SEED];
            let Grown(levels) = Trees::new([1; 32]).rebuild(0, &holes, &vec![same; count(&holes)]);
            let nodes: Vec<Seed> = levels.iter().flat_map(|level| level.to_vec()).collect();
            let hashed: Vec<&Seed> = nodes.iter().filter(|node| **node != same && **node != [0; SEED]).collect();
            assert!(hashed.len() >= 4 && hashed.iter().enumerate().all(|(i, node)| !hashed[..i].contains(node)));
        }
    }
}
