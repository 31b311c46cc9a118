//! What tests stand on, tested.

mod harness;
mod laws;
mod mutants;
mod ot;
