//! Garbling schemes behind one interface, and what carries a program through one.
//!
//! **What**: a garbling scheme turns the gates of a [`Part`] of a tape into *tables* (garbler) and, from
//! active labels and tables, finds the output's active labels (evaluator). [`Scheme`] is what every scheme
//! has, whether it has free XOR or rows for XOR gates, and whether it hides what labels stand for
//! ([`Private`]) or not:
//!
//! | scheme | rows an AND | rows an XOR | private |
//! |---|---|---|---|
//! | [`HalfGates`] | 2 | 0 | yes |
//! | [`PrivacyFree`] | 1 | 0 | no |
//! | [`RowReduced`] | 1 | 1 | no |
//! | [`Standard`] | 2 and a bit | 1 | yes |
//! | [`ThreeHalves`] | 1.5 and five bits | 0 | yes |
//!
//! [`GarbledStream`] and [`EvaluatedStream`] run an engine's calls over a scheme: memory is the wires of the
//! program, the slots of one circuit and one fixed buffer of tables, however long the program is.
//!
//! [`hidden`] has gates beside the schemes: the garbler chooses each one's function, and the evaluator does not
//! learn it.
//!
//! **Cut and choose** garbles many copies of one program with half gates: [`lockstep`] runs it over all of
//! them at once, [`coded`] lets fewer tables travel than there are copies.
//!
//! **Privacy**, in the sense of Bellare, Hoang and Rogaway: an evaluator with one label of each input wire and all
//! tables learns the active label of each wire, and nothing on what the labels stand for. Nothing here
//! protects against a garbler that garbles another circuit; that is for the protocol above.

pub mod coded;
mod half_gates;
pub mod hidden;
pub mod lockstep;
mod packed;
pub mod privacy_free;
pub mod row_reduced;
mod scheme;
pub mod standard;
mod stream;
pub mod three_halves;

pub use comity_circuit::{Builder, Circuit, Lowered};
pub use comity_core::{
    Backend, Block, Cursor, Delta, Labels, LockstepChecker, LockstepEvaluator, LockstepGarbler, Part, Prg, Tape,
};
pub use half_gates::HalfGates;
pub use privacy_free::PrivacyFree;
pub use row_reduced::RowReduced;
pub use scheme::{Evaluate, FreeXor, Garble, Private, Readable, Scheme};
pub use standard::Standard;
pub use stream::{EvaluatedStream, GarbledStream, parts};
pub use three_halves::ThreeHalves;

// The example of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
