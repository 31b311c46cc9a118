//! Proofs of statements, from outside.

mod broken;
mod committed;
mod drawn;
mod honest;
mod liars;
mod malleable;
mod repeated;
mod shapes;

use comity_circuit::random::Rng;
use comity_circuit::{Builder, Program, eval_many};
use comity_core::{Bits, Prg, SessionId};
use rand_core::SeedableRng;

use crate::statement::Statement;
use crate::{ProofTerms, Soundness, System};

/// The session of a conversation.
pub(crate) const SESSION: SessionId = SessionId::new([7; 32]);

/// The terms of a conversation in that session.
pub(crate) fn terms(statement: &Statement, system: System, level: Soundness) -> ProofTerms<'_> {
    ProofTerms { session: SESSION, statement, system, level }
}

/// The systems that converse.
pub(crate) fn conversing() -> impl Iterator<Item = System> {
    System::ALL.into_iter().filter(|system| system.converses().is_ok())
}

/// A generator of tests.
pub(crate) fn rng(seed: u8) -> Prg {
    Prg::from_seed([seed; 16])
}

/// A value of a number's low bits.
pub(crate) fn bits(n: u64, len: usize) -> Option<Bits> {
    Some(Bits::from_words(vec![n], len))
}

/// The program `both = secret & mask` and `sum = secret ^ mask` of four bits each; the mask is public.
pub(crate) fn masked() -> Program {
    let mut b = Builder::new();
    let (secret, mask) = (b.input("secret", 4), b.input("mask", 4));
    let both: Vec<_> = secret.iter().zip(&mask).map(|(&x, &y)| b.and(x, y)).collect();
    let sum: Vec<_> = secret.iter().zip(&mask).map(|(&x, &y)| b.xor(x, y)).collect();
    b.output("both", &both);
    b.output("sum", &sum);
    Program::from_circuit(b.finish()).unwrap()
}

/// The statement that the secret and 0b0110 have 0b0010 in common, for a context; 0b1011 is a witness.
pub(crate) fn statement(context: &[u8]) -> Statement {
    Statement::new(&masked(), &[None, bits(6, 4)], &[bits(2, 4), None], context).unwrap()
}

/// A witness of [`statement`].
pub(crate) fn witness() -> [Option<Bits>; 2] {
    [bits(11, 4), None]
}

/// The statement that a random circuit, called so often, gives what it gives on random values, and the secret
/// ones of these.
pub(crate) fn random(seed: u64, gates: usize, times: u64) -> (Statement, Bits) {
    let circuit = Rng(seed).circuit(&[40, 30, 20], gates, 50, &[33, 3]);
    let program = Program::map(circuit, times, &[]).unwrap().with_owner(1, 0).unwrap().with_owner(2, 1).unwrap();
    let lengths = [40, 30, 20].map(|bits| bits * times as usize);
    let values = Rng(seed + 1).values(&lengths);
    let outputs = eval_many(&program, std::slice::from_ref(&values)).unwrap().remove(0);
    let expected: Vec<_> = outputs.into_iter().map(Some).collect();
    let statement = Statement::new(&program, &[None, None, Some(values[2].clone())], &expected, b"").unwrap();
    let inputs: Vec<_> = values.into_iter().map(Some).collect();
    let secret = statement.secret(&inputs);
    (statement, secret)
}
