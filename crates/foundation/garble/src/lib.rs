//! Garbling schemes behind one interface, and the streams that carry a program through one.
//!
//! **What**: a garbling scheme turns the AND gates of a [`Part`] of a tape into *tables* (garbler) and, from active labels
//! and tables, finds the output's active labels (evaluator). [`Garble`] and [`Evaluate`] are the two sides of every
//! scheme with free XOR; half gates ([`HalfGates`]) is the one that is here. [`GarbledStream`] and [`EvaluatedStream`]
//! run an engine's calls over a scheme: memory is the wires of the program, the slots of one circuit and one fixed
//! buffer of tables, however long the program is.
//!
//! **Privacy**, in the sense of Bellare, Hoang and Rogaway: who holds one label of each input wire and all tables learns the
//! active label of each wire, and nothing on what the labels stand for. Nothing here protects against a garbler
//! that garbles another circuit; that is for the protocol above.
//!
//! **Cost** of half gates: [`HalfGates`]. XOR and NOT cost no bytes.
//!
//! Copies of one circuit in lockstep, for cut-and-choose: [`LockstepGarbler`], [`LockstepEvaluator`].

mod half_gates;
mod stream;

pub use comity_core::{Cursor, Delta, LockstepEvaluator, LockstepGarbler, Part};
pub use half_gates::HalfGates;
pub use stream::{EvaluatedStream, GarbledStream};

use comity_core::Block;

/// The garbler's side of a scheme with free XOR. It owns its delta and the counter of its tweaks.
pub trait Garble {
    /// Blocks of table for each AND gate.
    const ROWS: usize;

    /// The offset between the two labels of every wire; bit 0 is one.
    fn delta(&self) -> Block;

    /// Garbles a stretch of a tape. `slots` hold the labels for zero, `tables` takes [`Garble::ROWS`] blocks for each AND
    /// gate.
    fn garble(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &mut [Block]);
}

/// The evaluator's side of a scheme with free XOR.
pub trait Evaluate {
    /// Blocks of table for each AND gate.
    const ROWS: usize;

    /// Evaluates a stretch of a tape. `slots` hold active labels.
    fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &[Block]);
}
