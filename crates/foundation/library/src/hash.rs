//! Hashes of whole messages, with their padding: chained ones (MD5, SHA-1, SHA-2) with HMAC, and sponges
//! (SHA-3, SHAKE).
//!
//! A message is any number of whole bytes, and its length is public. Bytes are in the order in which they are
//! printed: the first one is the most significant of the value, as everywhere in the library. What is public,
//! the padding and the initial state, folds into the gates. Each hash comes as a function on a
//! [`Builder`](comity_circuit::Builder), for short messages, and as a [`Program`] that calls one block's
//! circuit again and again.

mod chain;
mod hmac;
mod md5;
mod sponge;

pub use chain::Chain;
pub use hmac::{hmac, hmac_program};
pub use md5::{MD5_INITIAL, md5};
pub use sponge::Sponge;

use comity_circuit::{Program, ProgramBuilder, Register, Wire};

use super::arith;

/// The wires of bytes: the last one is on the first wires.
fn bytes(bytes: &[u8]) -> Vec<Wire> {
    bytes.iter().rev().flat_map(|&byte| arith::constant(byte.into(), 8)).collect()
}

/// Block `index` of a message, of `size` bytes. The first one is at its end.
fn block(message: Register, index: u64, size: usize) -> Register {
    let bits = 8 * size as u64;
    message.slice(message.bits() - (index + 1) * bits, bits)
}

/// The rest of a message after the last whole block of `size` bytes.
fn rest(message: Register, size: usize) -> Register {
    message.slice(0, message.bits() % (8 * size as u64))
}

fn finish(p: ProgramBuilder) -> Program {
    p.finish().expect("a built-in program is in order")
}
