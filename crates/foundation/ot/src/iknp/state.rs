//! What both sides of the extension hold: where the stream stands, and the buffers of a block.

use comity_core::{Backend, Block, Result, transpose_columns};
use zeroize::Zeroize;

use super::{BLOCK, ROWS};
use crate::stream::{begin, grown};

/// The number of columns that are written in one go: they stay in the first-level cache for their use.
const TILE: usize = 512;

/// The state of either side but for its seeds.
pub(super) struct State {
    pub(super) backend: Backend,
    /// Set while a call runs: an error leaves it set.
    broken: bool,
    /// The matrix of a block on the wire: rows of `ceil(n/8)` bytes.
    wire: Vec<u8>,
    /// The matrix of a block: rows padded to whole blocks. Secret; never shrinks, so that all of it is wiped.
    matrix: Vec<Block>,
    /// Some of its columns. Secret.
    tile: Vec<Block>,
}

impl State {
    /// Before the first OT. The buffers have their full capacity, so that no secret is left behind by growing them.
    pub(super) fn new(backend: Backend) -> State {
        State {
            backend,
            broken: false,
            wire: Vec::with_capacity(ROWS * BLOCK / 8),
            matrix: Vec::with_capacity(BLOCK),
            tile: vec![Block::ZERO; TILE],
        }
    }

    /// Starts a call, unless an earlier one failed.
    pub(super) fn begin(&mut self) -> Result<()> {
        begin(&mut self.broken)
    }

    /// Ends a call that succeeded.
    pub(super) fn end(&mut self) {
        self.broken = false;
    }

    /// `sent` rows of the matrix of a block of `n` OTs on the wire.
    pub(super) fn wire(&mut self, n: usize, sent: usize) -> &mut [u8] {
        grown(&mut self.wire, sent * n.div_ceil(8))
    }

    /// The rows of a block of `n` OTs, and the `sent` ones that are on the wire.
    pub(super) fn rows(&mut self, n: usize, sent: usize) -> [impl Iterator<Item = &mut [u8]>; 2] {
        let matrix = Block::bytes_of_mut(grown(&mut self.matrix, padded(n)));
        let wire = grown(&mut self.wire, sent * n.div_ceil(8));
        [matrix.chunks_exact_mut(16 * n.div_ceil(128)), wire.chunks_exact_mut(n.div_ceil(8))]
    }

    /// The columns of the matrix of a block of `n` OTs, a few at a time: calls `each` with the number of the first.
    pub(super) fn columns(&mut self, n: usize, mut each: impl FnMut(usize, &mut [Block])) {
        let matrix = Block::bytes_of(&self.matrix[..padded(n)]);
        for start in (0..n).step_by(TILE) {
            let wanted = TILE.min(n - start);
            let tile = &mut self.tile[..padded(wanted)];
            transpose_columns(self.backend, matrix, start, tile);
            each(start, &mut tile[..wanted]);
        }
    }
}

/// OTs in a block of `n` when rows are padded to whole blocks: also the blocks of its matrix.
fn padded(n: usize) -> usize {
    n.next_multiple_of(128)
}

impl Drop for State {
    fn drop(&mut self) {
        // The elements only: what was reserved and never used holds no secret, and wiping it would touch the memory.
        self.matrix.as_mut_slice().zeroize();
        self.tile.zeroize();
    }
}
