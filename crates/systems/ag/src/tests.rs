//! Tests of the protocol whole, and of its lies over trusted material.

mod cheats;
mod cost;
mod dealer;
mod laws;
mod leaks;
mod order;
mod prepared;
mod verdict;
