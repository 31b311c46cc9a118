//! Semi-honest computation between two parties on three forms of shares: words, bits, and labels of garbled
//! circuits (Demmler, Schneider, Zohner: ABY, NDSS 2015).
//!
//! **Functionality**: secure evaluation of a program; each output goes to its recipients. Every program is
//! taken. What form its operations and its memory have says an [`Assignment`], the same at both parties; all
//! give the same outputs.
//!
//! **Adversary**: semi-honest, either party. A party that breaks the rules can change any output, unnoticed;
//! and through the OT extension it can learn the other's delta, with it shares of triples or labels, and with
//! these inputs. Against it this crate promises no more than: no panic, no hang, bounded memory.
//!
//! **Assumptions**: those of the OT extension, among them AES-128 as a pseudo-random generator and as a
//! correlation-robust hash, gap Diffie-Hellman and a random oracle in ristretto255 (base OT); silent OT adds
//! LPN. AES-128 as an ideal cipher where circuits are garbled.
//!
//! - [`Form`], [`Assignment`], [`regions`], [`allowed`]: what can be said of a program.
//! - [`FormGraph`]: the choices that a planner has, and [`evaluate`]: what an assignment costs.
//! - [`Mixed`]: the protocol; [`run_with`]: under any assignment.
//!
//! **FormCost**: that of the forms, and of conversions as the README has it. Rounds: base OTs, triples; one for each
//! layer of products, and of ANDs on shares of bits; one and a half for each level that converts.

mod chosen;
mod costs;
mod cut;
mod engine;
mod form;
mod graph;
mod material;
mod memory;
mod operation;
mod parts;
mod planner;
mod plans;
mod prices;
mod protocol;
mod stages;
#[cfg(test)]
mod tests;

pub use costs::evaluate;
pub use form::{Assignment, CircuitForms, Form};
pub use graph::{FormCost, FormGraph, Node, NodeOf, Passed};
pub use memory::{Region, regions};
pub use operation::allowed;
pub use protocol::{Mixed, run_with};

// The example of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
