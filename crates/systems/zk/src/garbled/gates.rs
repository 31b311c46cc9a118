//! The program garbled, and evaluated.

use comity_circuit::{Call, Engine, Memory, Program, Put, Shown, run};
use comity_core::{Backend, Bits, Block, Delta, Error, Prg, Result, SessionId};
use comity_garble::{Evaluate, EvaluatedStream, Garble, GarbledStream, Readable, Scheme};
use zeroize::Zeroizing;

use crate::gates::Nobody;
use crate::statement::Statement;

/// A garbling of a statement's program, all of it from a seed: the labels of secret inputs, drawn before
/// anything is garbled.
pub(super) struct Garbling<S: Scheme> {
    stream: GarbledStream<S>,
    /// The wires of all secret bits.
    wires: Zeroizing<Vec<WireOf<S>>>,
}

/// The wire as the garbler holds it.
type WireOf<S> = <<S as Scheme>::Garbler as Garble>::Wire;

impl<S: Readable> Garbling<S> {
    /// The garbling from this seed.
    pub(super) fn new(backend: Backend, session: &SessionId, statement: &Statement, seed: Block) -> Garbling<S> {
        let mut prg = Prg::new(backend, seed);
        let mut scheme = S::garbler(backend, Delta::new(prg.block()), gate_keys(session));
        let wires = (0..statement.secret_bits()).map(|_| scheme.input(&mut prg)).collect();
        Garbling { stream: GarbledStream::readable(scheme), wires: Zeroizing::new(wires) }
    }

    /// Both labels of each secret bit.
    pub(super) fn pairs(&mut self) -> Zeroizing<Vec<[Block; 2]>> {
        let scheme = self.stream.scheme();
        Zeroizing::new(self.wires.iter().map(|wire| [false, true].map(|bit| scheme.label(wire, bit))).collect())
    }

    /// Garbles the program; tables go to `send`. The hash of the labels of the expected outputs comes back.
    pub(super) fn run(
        self,
        session: &SessionId,
        statement: &Statement,
        send: &mut dyn FnMut(&[u8]) -> Result<()>,
    ) -> Result<[u8; 32]> {
        let (Garbling { stream, wires }, memory) = (self, Memory::default());
        let mut engine =
            Garbler { stream, memory, wires, next: 0, public: statement.public(), outputs: Zeroizing::default(), send };
        run(statement.program(), &mut engine, statement.public(), &mut Nobody)?;
        engine.stream.flush(&mut engine.send)?;
        let scheme = engine.stream.scheme();
        let (wires, expected) = (&engine.outputs, statement.outputs());
        let labels = wires.iter().zip(expected.iter()).map(|(wire, bit)| scheme.label(wire, bit));
        let labels: Zeroizing<Vec<Block>> = Zeroizing::new(labels.collect());
        Ok(digest(session, &labels))
    }
}

/// The start of the gates' keys: a new session has another one.
fn gate_keys(session: &SessionId) -> Block {
    session.block("gate keys of a proof by a garbled circuit")
}

/// The hash of the labels of all outputs, which the prover commits to.
fn digest(session: &SessionId, labels: &[Block]) -> [u8; 32] {
    SessionId::derive("comity zk output labels v1", &[&session.to_bytes(), Block::bytes_of(labels)]).to_bytes()
}

/// Evaluates the program on the labels of secret bits; tables come from `recv`. The hash of the labels of the
/// outputs comes back.
pub(super) fn evaluate<S: Readable>(
    backend: Backend,
    session: &SessionId,
    statement: &Statement,
    labels: &[Block],
    recv: &mut dyn FnMut(&mut [u8]) -> Result<()>,
) -> Result<[u8; 32]> {
    let scheme = S::evaluator(backend, gate_keys(session));
    let constants = [false, true].map(|bit| scheme.constant(bit));
    let stream = EvaluatedStream::<S>::new(scheme);
    let (memory, outputs) = (Memory::default(), Zeroizing::default());
    let mut engine =
        Evaluator { stream, memory, constants, labels, next: 0, public: statement.public(), outputs, recv };
    run(statement.program(), &mut engine, statement.public(), &mut Nobody)?;
    Ok(digest(session, &engine.outputs))
}

struct Garbler<'a, S: Scheme> {
    stream: GarbledStream<S>,
    memory: Memory<WireOf<S>>,
    wires: Zeroizing<Vec<WireOf<S>>>,
    next: usize,
    public: &'a [Option<Bits>],
    outputs: Zeroizing<Vec<WireOf<S>>>,
    send: &'a mut dyn FnMut(&[u8]) -> Result<()>,
}

impl<S: Readable> Engine for Garbler<'_, S> {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.memory = Memory::of(program)?;
        Ok(())
    }

    fn input(&mut self, put: Put, _: Option<&Bits>) -> Result<()> {
        let wires = &mut self.memory[put.wires()];
        if let Some(value) = &self.public[put.index] {
            let scheme = self.stream.scheme();
            wires.iter_mut().zip(value.iter()).for_each(|(wire, bit)| *wire = scheme.constant(bit));
        } else {
            wires.copy_from_slice(&self.wires[self.next..][..put.bits]);
            self.next += put.bits;
        }
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        self.stream.call(call, &mut self.memory, &mut self.send)
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        self.outputs.extend_from_slice(&self.memory[shown.wires()]);
        Ok(None)
    }
}

struct Evaluator<'a, S: Scheme> {
    stream: EvaluatedStream<S>,
    memory: Memory<Block>,
    constants: [Block; 2],
    labels: &'a [Block],
    next: usize,
    public: &'a [Option<Bits>],
    outputs: Zeroizing<Vec<Block>>,
    recv: &'a mut dyn FnMut(&mut [u8]) -> Result<()>,
}

impl<S: Readable> Engine for Evaluator<'_, S> {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.memory = Memory::of(program)?;
        Ok(())
    }

    fn input(&mut self, put: Put, _: Option<&Bits>) -> Result<()> {
        let wires = &mut self.memory[put.wires()];
        if let Some(value) = &self.public[put.index] {
            wires.iter_mut().zip(value.iter()).for_each(|(wire, bit)| *wire = self.constants[usize::from(bit)]);
        } else {
            wires.copy_from_slice(&self.labels[self.next..][..put.bits]);
            self.next += put.bits;
        }
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        self.stream.call(call, &mut self.memory, &mut self.recv)
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        self.outputs.extend_from_slice(&self.memory[shown.wires()]);
        Ok(None)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::SESSION;

    #[test]
    fn a_session_has_gate_keys_and_a_hash_of_its_own() {
        let other = SessionId::new([8; 32]);
        assert!(gate_keys(&SESSION) != gate_keys(&other));
        let labels = [Block::from_u128(1), Block::from_u128(2)];
        assert_ne!(digest(&SESSION, &labels), digest(&other, &labels));
    }
}
