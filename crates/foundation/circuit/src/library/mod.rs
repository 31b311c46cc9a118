//! Built-in circuits.
pub mod aes;
pub mod arith;
pub mod sha;
