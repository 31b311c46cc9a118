//! What every garbling scheme has, and what only some have, as traits: a protocol names what it needs.
//!
//! A scheme whose evaluator may learn what labels stand for does not fit where that must stay hidden:
//!
//! ```
//! use comity_garble::{GarbledStream, HalfGates};
//! # use comity_core::{Backend, Block, Delta};
//! # let (backend, delta, start) = (Backend::detect(), Delta::new(Block::from_u128(2)), Block::from_u128(3));
//! let stream = GarbledStream::<HalfGates>::new(HalfGates::garbler(backend, delta, start));
//! ```
//! ```compile_fail,E0277
//! use comity_garble::{GarbledStream, PrivacyFree, Readable};
//! # use comity_core::{Backend, Block, Delta};
//! # let (backend, delta, start) = (Backend::detect(), Delta::new(Block::from_u128(2)), Block::from_u128(3));
//! let stream = GarbledStream::<PrivacyFree>::new(PrivacyFree::garbler(backend, delta, start));
//! ```
//! ```compile_fail,E0277
//! use comity_garble::{GarbledStream, Readable, RowReduced};
//! # use comity_core::{Backend, Block, Delta};
//! # let (backend, delta, start) = (Backend::detect(), Delta::new(Block::from_u128(2)), Block::from_u128(3));
//! let stream = GarbledStream::<RowReduced>::new(RowReduced::garbler(backend, delta, start));
//! ```

use comity_core::{Backend, Block, Delta, Part};
use rand_core::CryptoRng;
use zeroize::Zeroize;

/// A garbling scheme: how large its tables are, and its two sides.
///
/// A scheme owns all gates of a [`Part`], the XOR gates too: some have rows for them. What it writes to the
/// tables is the same however a tape is cut into parts: a part's tables are those of its segments, one after
/// another. Unless they are [uneven](Scheme::UNEVEN).
pub trait Scheme {
    /// Blocks of table for each AND gate.
    const AND_ROWS: usize;
    /// Blocks of table for each XOR gate (a NOT is one): none with free XOR.
    const XOR_ROWS: usize;
    /// Whether gates have bits of table beside their blocks: those of a part come together, after its blocks,
    /// and both sides must cut a tape into the same parts.
    const UNEVEN: bool = false;

    /// The garbler's side of the scheme.
    type Garbler: Garble;
    /// The evaluator's side of the scheme.
    type Evaluator: Evaluate;

    /// Bytes of the tables of a stretch of a tape.
    fn bytes(part: &Part<'_>) -> usize {
        Block::BYTES * (Self::AND_ROWS * part.ands() + Self::XOR_ROWS * part.xors())
    }

    /// Blocks that hold the tables of a stretch of a tape.
    fn rows(part: &Part<'_>) -> usize {
        Self::bytes(part).div_ceil(Block::BYTES)
    }
}

/// A scheme with privacy: an evaluator with one label of each input wire and the tables learns nothing on what
/// the labels stand for. No compiler checks that: an implementation's documentation says who proved it.
pub trait Private: Scheme {}

/// A scheme whose labels show what they stand for, and prove it: the evaluator has all inputs, learns the value of
/// every wire, and can make no label of another value. For proofs.
pub trait Readable: Scheme {
    /// A garbler. `start` is the random start of the gate keys, never used with another delta.
    fn garbler(backend: Backend, delta: Delta, start: Block) -> Self::Garbler;

    /// The evaluator of what the garbler with the same `start` garbles, from its first gate on.
    fn evaluator(backend: Backend, start: Block) -> Self::Evaluator;
}

/// A scheme with free XOR: the two labels of every wire differ by one secret offset, so that a wire is its
/// label for zero.
pub trait FreeXor: Scheme<Garbler: Garble<Wire = Block>> {
    /// The offset between the two labels of every wire; bit 0 is one.
    fn delta(garbler: &Self::Garbler) -> Block;
}

/// The garbler's side of a scheme. It owns its secrets and the counter of its tweaks.
pub trait Garble {
    /// The wire as the garbler holds it: the label for zero where that gives the other one, else both.
    /// `Default` stands for the constant zero, as it does in the memory of an
    /// [`Engine`](comity_circuit::Engine).
    type Wire: Copy + Default + Zeroize;

    /// A fresh wire, for an input.
    fn input(&mut self, rng: &mut dyn CryptoRng) -> Self::Wire;

    /// The wire of a constant: its active label is what [`Evaluate::constant`] gives.
    fn constant(&self, bit: bool) -> Self::Wire;

    /// The label of a wire for a bit, without a branch on it. Bit 0 of a label is its permute bit: the two
    /// labels of a wire differ in it.
    fn label(&self, wire: &Self::Wire, bit: bool) -> Block;

    /// Garbles a stretch of a tape. `slots` hold wires, those of the constants whatever was there; `tables`
    /// takes [`Scheme::rows`] blocks.
    ///
    /// # Panics
    /// If there are fewer slots than the tape has, or `tables` has another length.
    fn garble(&mut self, part: &Part<'_>, slots: &mut [Self::Wire], tables: &mut [Block]);
}

/// The evaluator's side of a scheme: active labels.
pub trait Evaluate {
    /// The active label of a constant.
    fn constant(&self, bit: bool) -> Block;

    /// Evaluates a stretch of a tape. `slots` hold active labels, those of the constants whatever was there;
    /// `tables` are what the garbler wrote.
    ///
    /// # Panics
    /// If there are fewer slots than the tape has, or `tables` has another length.
    fn evaluate(&mut self, part: &Part<'_>, slots: &mut [Block], tables: &[Block]);
}
