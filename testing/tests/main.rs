//! What tests stand on, tested.

mod harness;
mod ot;
