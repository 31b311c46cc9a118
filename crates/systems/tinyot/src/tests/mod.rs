//! Tests of the online phase over a trusted dealer, and what they share.

mod cheats;
pub(crate) mod dealer;
pub(crate) mod engine;
mod machine;
mod stock;
mod wire;
