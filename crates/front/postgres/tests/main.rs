//! Encrypted columns on a real server.

// Its macro is for all below.
#[macro_use]
mod common;

mod bound;
mod copies;
mod copy;
mod crash;
mod history;
mod memory;
mod ranges;
mod tls;
