//! What both sides of the extension hold: where the stream stands, and the buffers of a block.

use comity_core::{Backend, Block, Error, Result, transpose};
use zeroize::Zeroize;

use super::{BLOCK, ROWS};

/// The state of either side but for its seeds.
pub(super) struct State {
    pub(super) backend: Backend,
    /// Set while a call runs: an error leaves it set.
    broken: bool,
    /// The matrix of a block on the wire: rows of `ceil(n/8)` bytes.
    wire: Vec<u8>,
    /// The matrix of a block: rows padded to whole blocks. Secret; never shrinks, so that all of it is wiped.
    matrix: Vec<Block>,
    /// Its columns, where the output has no room for the padding. Secret, likewise.
    spare: Vec<Block>,
}

impl State {
    /// Before the first OT. The buffers have their full capacity, so that no secret is left behind by growing them.
    pub(super) fn new(backend: Backend) -> State {
        State {
            backend,
            broken: false,
            wire: Vec::with_capacity(ROWS * BLOCK / 8),
            matrix: Vec::with_capacity(BLOCK),
            spare: Vec::with_capacity(BLOCK),
        }
    }

    /// Starts a call that advances the stream, unless an earlier one failed: the two sides then no longer agree on how
    /// far the streams have advanced.
    pub(super) fn begin(&mut self) -> Result<()> {
        if std::mem::replace(&mut self.broken, true) {
            return Err(Error::InvalidInput("this OT extension stopped at an earlier error; set up a new one".into()));
        }
        Ok(())
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

    /// Writes the columns of the matrix of a block.
    pub(super) fn columns(&mut self, out: &mut [Block]) {
        let padded = padded(out.len());
        let matrix = Block::bytes_of(&self.matrix[..padded]);
        let columns = |out: &mut [Block]| transpose(self.backend, matrix, Block::bytes_of_mut(out), ROWS, padded);
        if padded == out.len() {
            columns(out);
        } else {
            let spare = grown(&mut self.spare, padded);
            columns(spare);
            out.copy_from_slice(&spare[..out.len()]);
        }
    }
}

/// OTs in a block of `n` when rows are padded to whole blocks: also the blocks of its matrix.
fn padded(n: usize) -> usize {
    n.next_multiple_of(128)
}

/// The first `n` elements of a buffer, which grows if it must and does not shrink.
pub(super) fn grown<T: Copy + Default>(buffer: &mut Vec<T>, n: usize) -> &mut [T] {
    if buffer.len() < n {
        buffer.resize(n, T::default());
    }
    &mut buffer[..n]
}

impl Drop for State {
    fn drop(&mut self) {
        // The elements only: what was reserved and never used holds no secret, and wiping it would touch the memory.
        self.matrix.as_mut_slice().zeroize();
        self.spare.as_mut_slice().zeroize();
    }
}
