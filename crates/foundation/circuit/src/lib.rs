//! Boolean circuits and programs.
//!
//! A [`Circuit`] is a static list of gates, built by a [`Builder`], and beside them [notes](Note) of which
//! words they compute. A [`Program`] says which party puts in what, which circuits are called how often, and
//! who learns what; it is never unrolled. Running a program walks it over an [`Engine`]: the plain evaluator
//! is one, each protocol is another.

mod builder;
mod circuit;
mod engine;
mod goal;
mod layered;
mod lower;
mod memory;
mod note;
mod party;
mod plain;
mod program;
pub mod random;
mod run;
mod sliced;
mod table;
mod types;

pub use builder::{Builder, Results, Wire};
pub use circuit::{Circuit, CircuitError, Counts, Gate, Group, Op};
pub use engine::{Call, Engine, Observer, Place, Put, Shown};
pub use goal::Goal;
pub use layered::{Layer, Layered};
pub use lower::Lowered;
pub use memory::{Memory, NoMemory};
pub use note::{ArgBit, Form, Gadgets, Note, NoteError, NoteFlaw, WordOp};
pub use party::{Owner, PartySet, Recipients};
pub use plain::{Plain, eval_circuit};
pub use program::{
    CallOperand, CircuitId, CircuitList, DecodeError, FlattenError, Input, Output, Program, ProgramBuilder,
    ProgramError, Register, Span, Step, StepPath, Totals, Turn, Unshared,
};
pub use run::{InputError, RunError, run};
pub use sliced::{Sliced, eval_many};
pub use table::LookupTable;
pub use types::{FloatWidth, Type};
