//! Tests of the online phase over a trusted dealer, and what they share.

pub(crate) mod dealer;
mod engine;
mod machine;
mod stock;
