//! Semi-honest computation between two parties on additive shares of words modulo 2^k, k from 1 to 128.
//!
//! **Functionality**: secure evaluation of a program that adds, subtracts, negates, multiplies and squares
//! words, multiplies them by constants and by powers of two, and cuts off their upper bits; each output goes
//! to its recipients. Which words there are is read from the [notes](comity_circuit::Note) beside a program's
//! gates; the gates are not run.
//!
//! **Adversary**: semi-honest, either party. A party that breaks the rules can show other shares than it has,
//! and so change any product and any output, unnoticed; and through the OT extension it can learn the other's
//! delta, with it the other's shares of triples, and with these its inputs. Against it this crate promises no
//! more than: no panic, no hang, bounded memory.
//!
//! **Assumptions**: those of the OT extension of the dealer, among them AES-128 as a pseudo-random generator
//! and as a correlation-robust hash, gap Diffie-Hellman and a random oracle in ristretto255 (base OT); silent
//! OT adds LPN.
//!
//! - [`dealers`]: triples and square pairs of words, from OT, and triples from material made ahead.
//! - [`WordMachine`]: inputs, products and outputs on shares.
//! - [`Arith`]: all of it as a protocol.
//!
//! **Cost** by SoftSpoken: a product of k bits sends 3.875 k + (k + 1) k / 16 bytes each way offline, and k /
//! 4 bytes online; a square half of that. Rounds: the base OTs; two for each 2^17 OTs; one for each layer of
//! products, of all calls that run side by side; one for each output value.

mod costs;
pub mod dealers;
mod engine;
mod layout;
mod machine;
mod protocol;
mod words;

pub use machine::{Products, WordMachine};
pub use protocol::{Arith, run_with};
