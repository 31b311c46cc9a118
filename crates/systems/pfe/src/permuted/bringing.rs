//! What brings labels from sources to places: the part in which both protocols differ.

use comity_channel::Channel;
use comity_core::{Bits, Block, Result};
use comity_library::universal::Shape;

/// The sources and the places of a shape.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) struct Ends {
    /// The inputs.
    pub(super) inputs: usize,
    /// Inputs, and what gates give.
    pub(super) sources: usize,
    /// What gates read, two each, and what outputs do.
    pub(super) places: usize,
}

impl Ends {
    pub(super) fn new(shape: Shape) -> Ends {
        let (inputs, sources, places) = (shape.inputs, shape.inputs + shape.gates, 2 * shape.gates + shape.outputs);
        Ends { inputs, sources, places }
    }
}

/// The garbler's side.
pub(super) trait Giving {
    /// The C-OTs that it takes.
    fn switches(&self) -> usize;
    /// The correlation of a C-OT, in which its own message is `q`. They come in order.
    fn switch(&mut self, at: usize, q: Block) -> Block;
    /// The label for zero of a place, once all switches are done.
    fn label(&self, place: usize) -> Block;
    /// Sends what makes labels of sources those of places: `zeros` are the sources' labels for zero, the
    /// first ones those of the inputs `x`.
    fn send(&self, ch: &mut dyn Channel, zeros: &[Block], delta: Block, x: &Bits) -> Result<()>;
}

/// The evaluator's side.
pub(super) trait Taking {
    /// Its choices in the C-OTs.
    fn ways(&self) -> Bits;
    /// Takes what the garbler [sends](Giving::send), and what came of the C-OTs.
    fn receive(&mut self, ch: &mut dyn Channel, chosen: &[Block]) -> Result<()>;
    /// Takes the active label of the next source that is a gate.
    fn source(&mut self, label: Block) -> Result<()>;
    /// The active label of a place, whose source is there.
    fn label(&self, place: usize) -> Block;
}
