//! What tests stand on, tested.

mod harness;
mod mutants;
mod ot;
