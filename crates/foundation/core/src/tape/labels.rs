//! `Labels`: a wire of a garbling without free XOR, as its garbler holds it.

use zeroize::DefaultIsZeroes;

use crate::memory::block::Block;

/// A wire: its label for zero, and the difference of its offset to the garbling's, so that memory that
/// nothing was written to is one and the same wire.
#[derive(Clone, Copy, Default)]
#[repr(C)]
pub struct Labels {
    /// The label for zero.
    pub zero: Block,
    /// The sum of both labels and of the garbling's offset.
    pub offset: Block,
}

impl DefaultIsZeroes for Labels {}

impl Labels {
    /// The wire with these labels for zero and for one, where the garbling's offset is `delta`.
    pub fn new([zero, one]: [Block; 2], delta: Block) -> Labels {
        Labels { zero, offset: zero ^ one ^ delta }
    }

    /// The label for a bit, without a branch on it.
    pub fn label(&self, delta: Block, bit: bool) -> Block {
        self.zero ^ (self.offset ^ delta).masked(bit)
    }

    /// The wire whose labels are this one's, exchanged.
    #[must_use]
    pub fn inverted(&self, delta: Block) -> Labels {
        Labels { zero: self.label(delta, true), offset: self.offset }
    }
}
