//! The protocol from outside: what it computes, costs, waits for, refuses and withstands.

mod cost;
mod deviations;
mod prepared;
mod protocol;
mod waits;
