//! Oblivious transfer as its users have it.

mod committing;
mod deviations;
mod flavour;
mod functionality;
mod generator;
mod iknp;
mod simplest;
mod softspoken;
mod table;
