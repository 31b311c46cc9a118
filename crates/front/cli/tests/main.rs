//! The command, run as people run it.

mod bench;
mod circuit;
mod common;
mod cutchoose;
mod eval;
mod first_hour;
mod interrupt;
mod job;
mod key;
mod local;
mod netlist;
mod nisc;
mod nisc_misuse;
mod nisc_store;
mod ope;
mod plan;
mod prepare;
mod psi;
mod repl;
mod run;
mod serve;
mod shares;
mod shell;
mod store;
mod typed;
mod zk;
