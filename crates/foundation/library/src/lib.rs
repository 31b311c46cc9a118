//! Built-in circuits and programs.
//!
//! The circuits that people ask for by name ([`names`], [`program`]), and the functions that add them to a
//! [`Builder`](comity_circuit::Builder), for circuits of one's own. All have two forms, and the builder's
//! [`Goal`](comity_circuit::Goal) chooses: as few AND gates as we know how, or as few of them one behind
//! another. COUNTS.md next to this file lists both beside the best published figures, and a test keeps it
//! true.
//!
//! [`typed`] has values with operators, for programs written in Rust.
//!
//! A value is one number: wire 0 is its least significant bit, and its hex reads as the standards print it.

pub mod aes;
pub mod arith;
pub mod arrays;
pub mod cipher;
mod entry;
mod error;
pub mod float;
mod gadget;
pub mod hash;
mod lookup;
mod registry;
pub mod sha;
mod straight;
mod table;
pub mod typed;
pub mod universal;

pub use entry::{Entry, Size, Value, Width};
pub use error::LibraryError;
pub use gadget::gadget;
pub use lookup::{lookup, table_circuit};
pub use registry::{circuit, circuit_for, contains, find, is_name, names, program, program_for};
