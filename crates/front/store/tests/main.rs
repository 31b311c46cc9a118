//! A store of lots, as its users have it.

mod common;
mod crash;
mod lots;
mod model;
mod store;
