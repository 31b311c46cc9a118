//! Semi-honest computation between two parties on additive shares of words modulo 2^k, k from 1 to 128.
//!
//! **Functionality**: secure evaluation of a program that computes on words: sums, products, comparisons,
//! choices, quotients, remainders, shifts, and parts of words; each output goes to its recipients. Which
//! words there are is read from the [notes](comity_circuit::Note) beside a program's gates; the gates are not
//! run.
//!
//! **Adversary**: semi-honest, either party. A party that breaks the rules can show other shares than it has,
//! and so change any product and any output, unnoticed; and through the OT extension it can learn the other's
//! delta, with it the other's shares of triples, and with these its inputs. Against it this crate promises no
//! more than: no panic, no hang, bounded memory.
//!
//! **Assumptions**: those of the OT extension of the dealer, among them AES-128 as a pseudo-random generator
//! and as a correlation-robust hash, gap Diffie-Hellman and a random oracle in ristretto255 (base OT); silent
//! OT adds LPN. Where circuits are garbled, AES-128 as an ideal cipher.
//!
//! - [`dealers`]: triples and square pairs of words, from OT, and triples from material made ahead.
//! - [`Conversions`]: from shares of words to shares of bits, small garbled circuits on these, and back.
//! - [`WordMachine`]: inputs, products and outputs on shares.
//! - [`Party`]: every operation by hand, on vectors of words.
//! - [`Arith`]: all of it as a protocol.
//!
//! **Cost** by SoftSpoken: a product of k bits sends 3.875 k + (k + 1) k / 16 bytes each way offline, and k /
//! 4 bytes online; a square half of that. A comparison of 64 bits sends 6.6 kilobytes, a quotient 76, or 3 by
//! a public number; the README has all. Rounds: the base OTs; two for each 2^17 OTs; one for each layer of
//! products, of all calls that run side by side; one for a layer of circuits, of bits that become words and
//! of choices, where there are such; one for each output value.

mod circuits;
mod conversions;
pub mod costs;
pub mod dealers;
mod engine;
mod hand;
mod lanes;
mod layout;
mod machine;
mod plan;
mod protocol;
mod sketch;
mod word_circuit;
mod words;

pub use conversions::{Conversions, Lifted, OpenedWords, permute_bits};
pub use hand::{Party, Word};
pub use machine::{Matrices, Products, WordMachine};
pub use protocol::{Arith, prepare_adders, run_with};
pub use word_circuit::WordCircuit;

// The example of the README runs.
#[cfg(doctest)]
#[doc = include_str!("../README.md")]
struct Readme;
