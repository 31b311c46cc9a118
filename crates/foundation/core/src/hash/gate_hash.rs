//! The garbling hash alone, for schemes that have no fused kernel.

use crate::arch::Backend;
use crate::arch::garble as kernels;
use crate::arch::garble::KeyRing;
use crate::memory::block::Block;

/// The hash `H(x, t) = E(start ^ t, s(x)) ^ s(x)` under tweaks that count up and never repeat: see
/// [`Garbler`](crate::Garbler).
///
/// Sixteen keys are expanded together, so a batch that is not a multiple of sixteen skips the tweaks that are
/// left.
pub struct GateHash {
    backend: Backend,
    keys: KeyRing,
}

impl GateHash {
    /// Tweaks in a group.
    const GROUP: usize = 16;

    /// A hash whose keys start at `start`.
    pub fn new(backend: Backend, start: Block) -> GateHash {
        GateHash { backend, keys: KeyRing::new(start) }
    }

    /// Hashes each block under the next tweak.
    pub fn each(&mut self, blocks: &mut [Block]) {
        let (groups, rest) = blocks.as_chunks_mut::<{ GateHash::GROUP }>();
        kernels::hash(self.backend, &mut self.keys, groups, None);
        if !rest.is_empty() {
            let mut group = [[Block::ZERO; GateHash::GROUP]];
            group[0][..rest.len()].copy_from_slice(rest);
            kernels::hash(self.backend, &mut self.keys, &mut group, None);
            rest.copy_from_slice(&group[0][..rest.len()]);
        }
    }

    /// Hashes `first[i]` and `second[i]` under the same next tweak.
    ///
    /// # Panics
    /// If the lengths differ.
    pub fn pairs(&mut self, first: &mut [Block], second: &mut [Block]) {
        assert_eq!(first.len(), second.len(), "pairs");
        let (groups, rest) = first.as_chunks_mut::<{ GateHash::GROUP }>();
        let (seconds, second_rest) = second.as_chunks_mut::<{ GateHash::GROUP }>();
        kernels::hash(self.backend, &mut self.keys, groups, Some(seconds));
        if !rest.is_empty() {
            let mut group = [[[Block::ZERO; GateHash::GROUP]]; 2];
            group[0][0][..rest.len()].copy_from_slice(rest);
            group[1][0][..rest.len()].copy_from_slice(second_rest);
            let [first, second] = &mut group;
            kernels::hash(self.backend, &mut self.keys, first, Some(second));
            rest.copy_from_slice(&group[0][0][..rest.len()]);
            second_rest.copy_from_slice(&group[1][0][..rest.len()]);
        }
    }
}
