//! A receiver and senders who multiply small numbers.

use comity_circuit::{Builder, Program, Recipients, Wire};
use comity_core::{Backend, Bits, Block, Prg};
use comity_mail::{Name, Query, QueryKey, Sealer, respond};
use comity_nisc::Copies;

pub(crate) fn backend() -> Backend {
    Backend::detect()
}

pub(crate) fn rng(seed: u128) -> Prg {
    Prg::new(backend(), Block::from_u128(seed))
}

/// A number of copies for which an answer has two chunks.
pub(crate) const COPIES: usize = 10;

pub(crate) fn program() -> Program {
    let program = comity_library::program("mul16").unwrap();
    (0..program.outputs().len()).fold(program, |program, i| program.with_recipients(i, Recipients::only(0)).unwrap())
}

/// Another program of the same shape as [`program`]: AND bit by bit.
pub(crate) fn other_program() -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 16), b.input("y", 16));
    let z: Vec<Wire> = x.iter().zip(&y).map(|(&x, &y)| b.and(x, y)).collect();
    b.output("z", &z);
    Program::from_circuit(b.finish()).unwrap().with_recipients(0, Recipients::only(0)).unwrap()
}

pub(crate) fn number(value: u64) -> Bits {
    Bits::from_bytes(&value.to_le_bytes(), 16)
}

pub(crate) fn name(text: &str) -> Name {
    Name::new(text).unwrap()
}

pub(crate) fn key_for(program: &Program, x: u64, seed: u128) -> QueryKey {
    let inputs = [Some(number(x)), None];
    let copies = Copies::all(COPIES).unwrap();
    QueryKey::publish(backend(), program, "folder/mul16", &inputs, copies, 4, &mut rng(seed)).unwrap()
}

pub(crate) fn key(x: u64, seed: u128) -> QueryKey {
    key_for(&program(), x, seed)
}

pub(crate) fn answer_as(query: &Query, program: &Program, who: &str, y: u64, seed: u128) -> Vec<u8> {
    let mut out = Vec::new();
    let inputs = [None, Some(number(y))];
    respond(backend(), query, program, &inputs, &name(who), &mut rng(seed), &mut out).unwrap();
    out
}

pub(crate) fn answer(query: &Query, who: &str, y: u64, seed: u128) -> Vec<u8> {
    answer_as(query, &program(), who, y, seed)
}

/// An answer whose garbled tables are wrong in all copies; sealed as it should be.
pub(crate) fn cheat(query: &Query, who: &str, seed: u128) -> Vec<u8> {
    let (mut plain, mut rng, context) = (Vec::new(), rng(seed), context(query, who, seed + 1));
    let inputs = [None, Some(number(7))];
    comity_nisc::respond(backend(), query.message(), &context, &program(), &inputs, &mut rng, &mut plain).unwrap();
    // Header, binding, numbers 1 to 9 of the answer for 16 input bits of both and 16 of the output.
    let (t, n) = (COPIES, 16);
    let m: usize = program().outputs().iter().map(|output| output.bits).sum();
    let tables = 52 + 64 + 32 + 64 * n + 64 * m + 96 * t + 64 * t + 32 * t * n + 128 * t * n;
    plain[tables..][..32 * t].iter_mut().for_each(|byte| *byte ^= 1);
    let end = plain.len() - 32;
    let sum = blake3::derive_key("comity NISC: the checksum of a file", &plain[..end]);
    plain[end..].copy_from_slice(&sum);
    seal(query, who, &plain, seed + 1)
}

/// The context of the answer that [`seal`] seals.
pub(crate) fn context(query: &Query, who: &str, seed: u128) -> [u8; 32] {
    *Sealer::new(query, &name(who), &mut rng(seed), &mut std::io::sink()).unwrap().context()
}

/// An answer that is these bytes, sealed as it should be.
pub(crate) fn seal(query: &Query, who: &str, plain: &[u8], seed: u128) -> Vec<u8> {
    let mut out = Vec::new();
    let mut sealer = Sealer::new(query, &name(who), &mut rng(seed), &mut out).unwrap();
    std::io::Write::write_all(&mut sealer, plain).unwrap();
    sealer.finish().unwrap();
    out
}

/// The file with its checksum made right again.
pub(crate) fn mend(mut answer: Vec<u8>) -> Vec<u8> {
    let end = answer.len() - 32;
    let sum = blake3::derive_key("comity mail: the checksum of an answer", &answer[..end]);
    answer[end..].copy_from_slice(&sum);
    answer
}
