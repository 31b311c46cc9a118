//! HMAC (RFC 2104) over a chained hash.

use comity_circuit::{Builder, Goal, Program, ProgramBuilder, Recipients, Wire};

use super::chain::Start;
use super::{Chain, bytes, finish};

/// The key, padded to a block, with a byte added to each of its bytes.
fn padded(b: &mut Builder, hash: &Chain, key: &[Wire], byte: u8) -> Vec<Wire> {
    let mut block = vec![Wire::ZERO; 8 * hash.block - key.len()];
    block.extend(key);
    crate::arith::xor(b, &block, &bytes(&vec![byte; hash.block]))
}

/// The chaining values of the inner and the outer hash after the key, which is at most a block.
fn keyed(b: &mut Builder, hash: &Chain, key: &[Wire]) -> [Vec<Wire>; 2] {
    [0x36, 0x5c].map(|byte| {
        let block = padded(b, hash, key, byte);
        hash.compress(b, &block, &hash.initial())
    })
}

/// The HMAC of a message under a key: four compressions for a message that with its padding is one block, and one more
/// for each further one. A key longer than a block is hashed first.
///
/// # Panics
/// If key or message are not of whole bytes.
pub fn hmac(b: &mut Builder, hash: &Chain, key: &[Wire], message: &[Wire]) -> Vec<Wire> {
    b.quiet(|b| {
        let key = if key.len() > 8 * hash.block { hash.digest(b, key) } else { key.to_vec() };
        let [inner, outer] = keyed(b, hash, &key);
        let inner = hash.close(b, &inner, message, hash.block);
        hash.close(b, &outer, &inner, hash.block)
    })
}

/// The HMAC of a message of `bytes` bytes under a key of `key_bytes`, as a program. The key belongs to party
/// 0, the message to party 1.
pub fn hmac_program(goal: Goal, hash: &Chain, key_bytes: usize, bytes: usize) -> Program {
    let mut p = ProgramBuilder::for_goal("hmac", goal);
    let key = p.input("key", 0, 8 * key_bytes as u64);
    let message = p.input("message", 1, 8 * bytes as u64);
    let key = if key_bytes > hash.block { hash.steps(&mut p, Start::Initial, key) } else { key };
    let mut b = p.builder();
    let wires = b.input("key", key.bits() as usize);
    let states = keyed(&mut b, hash, &wires);
    for (name, state) in ["inner", "outer"].into_iter().zip(&states) {
        b.output(name, state);
    }
    let keyed = p.circuit(b.finish());
    let [inner, outer] = [(); 2].map(|()| p.register(hash.state as u64));
    p.call(keyed, &[key.span()], &[inner.span(), outer.span()]);
    let digest = hash.steps(&mut p, Start::State(inner, hash.block), message);
    let tag = hash.steps(&mut p, Start::State(outer, hash.block), digest);
    p.reveal("tag", Recipients::All, tag);
    finish(p)
}
