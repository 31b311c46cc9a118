//! Oblivious transfer as its users have it.

mod committing;
mod deviations;
mod drawn;
mod flavour;
mod functionality;
mod iknp;
mod silent;
mod simplest;
mod softspoken;
mod table;
