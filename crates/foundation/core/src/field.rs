//! Arithmetic in binary fields, and sums over them.

pub(crate) mod erasure;
pub mod gf128;
pub(crate) mod subset;
pub(crate) mod vole;
