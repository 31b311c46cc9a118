//! Built-in circuits.
pub mod arith;
