//! Whole messages in counter mode: the key stream's blocks are independent calls, and their numbers are public.

use comity_circuit::{Builder, Circuit, Goal, Program, ProgramBuilder, Recipients, Register, Span, Wire};
use comity_core::Bits;

use super::chacha20;
use crate::aes::KeySchedule;
use crate::arith::{constant, xor};

/// AES in counter mode under a key of 128, 192 or 256 bits: a block's input is the nonce of 96 bits and the
/// block's number from 1 on, as in RFC 3686 and in GCM. Encrypts and decrypts a message of `bytes` bytes. The
/// key belongs to party 0, nonce and message to party 1. The key is expanded once.
///
/// # Panics
/// If the key has another length.
pub fn aes_ctr_program(goal: Goal, key_bits: usize, bytes: usize) -> Program {
    let mut p = ProgramBuilder::for_goal("aes-ctr", goal);
    let key = p.input("key", 0, key_bits as u64);
    let mut b = p.builder();
    let wires = b.input("key", key_bits);
    let rounds = KeySchedule::expand(&mut b, &wires).to_wires(&mut b);
    b.output("rounds", &rounds);
    let (expand, rounds) = (p.circuit(b.finish()), p.register(rounds.len() as u64));
    p.call(expand, &[key.span()], &[rounds.span()]);
    stream(p, rounds, 128, bytes, |b, rounds, nonce, number| {
        KeySchedule::from_wires(rounds).encrypt(b, &[number, nonce].concat())
    })
}

/// ChaCha20 of a message of `bytes` bytes, the first block's number being 1 (RFC 8439, section 2.4). Encrypts
/// and decrypts. The key belongs to party 0, nonce and message to party 1.
pub fn chacha20_program(goal: Goal, bytes: usize) -> Program {
    let mut p = ProgramBuilder::for_goal("chacha20", goal);
    let key = p.input("key", 0, 256);
    stream(p, key, 512, bytes, chacha20)
}

/// A block of key stream from key, nonce and number.
type Block = fn(&mut Builder, &[Wire], &[Wire], &[Wire]) -> Vec<Wire>;

fn stream(mut p: ProgramBuilder, key: Register, bits: usize, bytes: usize, block: Block) -> Program {
    let nonce = p.input("nonce", 1, 96);
    let message = p.input("message", 1, 8 * bytes as u64);
    let out = p.register(8 * bytes as u64);
    let (blocks, last) = (8 * bytes / bits, 8 * bytes % bits);
    if blocks > 0 {
        let numbers: Bits = (1..=blocks as u64).flat_map(|number| (0..32).map(move |i| number >> i & 1 == 1)).collect();
        let numbers = p.constant(&numbers);
        let circuit = p.circuit(encrypt(p.builder(), key.bits() as usize, None, bits, block));
        let first = |register: Register| register.slice(register.bits() - bits as u64, bits as u64).span();
        let args: [(Span, i64); 4] =
            [(key.span(), 0), (nonce.span(), 0), (first(message), -(bits as i64)), (numbers.slice(0, 32).span(), 32)];
        p.map(circuit, blocks as u64, &args, &[(first(out), -(bits as i64))]);
    }
    if last > 0 {
        let circuit = p.circuit(encrypt(p.builder(), key.bits() as usize, Some(blocks as u128 + 1), last, block));
        let end = |register: Register| register.slice(0, last as u64).span();
        p.call(circuit, &[key.span(), nonce.span(), end(message)], &[end(out)]);
    }
    p.reveal("result", Recipients::All, out);
    p.finish().expect("a built-in program is in order")
}

/// A circuit that XORs `bits` bits of a message with the first of a block of key stream of this number, or of one that
/// is given.
fn encrypt(mut b: Builder, key: usize, number: Option<u128>, bits: usize, block: Block) -> Circuit {
    let (key, nonce, message) = (b.input("key", key), b.input("nonce", 96), b.input("message", bits));
    let number = match number {
        Some(number) => constant(number, 32),
        None => b.input("number", 32),
    };
    let stream = block(&mut b, &key, &nonce, &number);
    let result = xor(&mut b, &message, &stream[stream.len() - bits..]);
    b.output("result", &result);
    b.finish()
}
