//! The pseudorandom function over a batch of gates: AES under labels, sixteen at a time.

use comity_core::{Backend, Block, KEYS_AT_ONCE, encrypt_twice_under, encrypt_under};
use zeroize::Zeroizing;

/// Gates of a batch. Their keys and what is encrypted under them stay in the first-level cache.
pub(super) const BATCH: usize = 64;
/// Groups of keys of a batch: four keys a gate.
const GROUPS: usize = 4 * BATCH / KEYS_AT_ONCE;

type Groups = Zeroizing<Vec<[Block; KEYS_AT_ONCE]>>;

/// The number of the next gate, and room for the keys of a batch and for two blocks of each.
pub(super) struct Prf {
    backend: Backend,
    gate: u64,
    keys: Groups,
    blocks: [Groups; 2],
}

/// The side of a gate that a label is an input of.
#[derive(Clone, Copy)]
pub(super) enum Side {
    First,
    Second,
}

/// The point of a gate's side and row.
pub(super) fn point(gate: u64, side: Side, row: u8) -> Block {
    Block::from_u128(u128::from(gate) << 3 | (side as u128) << 2 | u128::from(row))
}

impl Prf {
    pub(super) fn new(backend: Backend) -> Prf {
        let room = || Zeroizing::new(vec![[Block::ZERO; KEYS_AT_ONCE]; GROUPS]);
        Prf { backend, gate: 0, keys: room(), blocks: [room(), room()] }
    }

    /// Takes the numbers of the next gates.
    pub(super) fn take(&mut self, gates: usize) -> u64 {
        let first = self.gate;
        self.gate = first.checked_add(gates as u64).expect("the numbers of gates are used up");
        first
    }

    /// Sets key `at` of the batch, and the blocks that it encrypts.
    pub(super) fn set(&mut self, at: usize, key: Block, blocks: [Block; 2]) {
        self.keys.as_flattened_mut()[at] = key;
        self.blocks.iter_mut().zip(blocks).for_each(|(all, block)| all.as_flattened_mut()[at] = block);
    }

    /// Encrypts the first blocks of the first `keys` keys, and gives them.
    pub(super) fn once(&mut self, keys: usize) -> &[Block] {
        let groups = keys.div_ceil(KEYS_AT_ONCE);
        encrypt_under(self.backend, &self.keys[..groups], &mut self.blocks[0][..groups]);
        self.blocks[0].as_flattened()
    }

    /// Encrypts both blocks of the first `keys` keys, and gives them.
    pub(super) fn twice(&mut self, keys: usize) -> [&[Block]; 2] {
        let groups = keys.div_ceil(KEYS_AT_ONCE);
        let [first, second] = &mut self.blocks;
        encrypt_twice_under(self.backend, &self.keys[..groups], &mut first[..groups], &mut second[..groups]);
        [first.as_flattened(), second.as_flattened()]
    }
}
