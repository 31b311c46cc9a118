//! `Labels`: a wire of a scheme without free XOR, as its garbler holds it.

use comity_core::Block;
use zeroize::DefaultIsZeroes;

/// A wire: its label for zero, and the difference of its offset to the garbling's, so that memory that
/// nothing was written to is one and the same wire.
#[derive(Clone, Copy, Default)]
pub struct Labels {
    pub(crate) zero: Block,
    pub(crate) offset: Block,
}

impl DefaultIsZeroes for Labels {}

impl Labels {
    /// The wire with these labels for zero and for one, where the garbling's offset is `delta`.
    pub(crate) fn new([zero, one]: [Block; 2], delta: Block) -> Labels {
        Labels { zero, offset: zero ^ one ^ delta }
    }

    /// The label for a bit, without a branch on it.
    pub(crate) fn label(&self, delta: Block, bit: bool) -> Block {
        self.zero ^ (self.offset ^ delta).masked(bit)
    }
}
