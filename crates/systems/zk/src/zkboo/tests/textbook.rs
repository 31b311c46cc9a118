//! ZKBoo as it stands in figure 3.5, a round and a gate at a time: an oracle for the sliced one, and the
//! place where provers cheat.

use comity_circuit::{Call, Engine, Memory, Program, Put, Shown, run};
use comity_core::{Backend, Bits, Error, Result};

use crate::gates::Nobody;
use crate::statement::Statement;
use crate::system::System;
use crate::zkboo::Shape;
use crate::zkboo::commitments::{Hashes, place};

/// What a prover does otherwise, in every round.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Cheat {
    None,
    /// Adds one to what a branch's AND gate gives.
    Gate {
        branch: usize,
        gate: usize,
    },
    /// Adds the wrong output to a branch's output share, as it is committed to.
    Output {
        branch: usize,
    },
}

/// A round of the prover.
pub(super) struct Round {
    seeds: [[u8; 16]; 3],
    commitments: [[u8; 32]; 3],
    share: Vec<u8>,
    views: [Vec<u8>; 3],
}

pub(super) struct Textbook {
    system: System,
    pub(super) salt: [u8; 32],
    pub(super) first: [u8; 32],
    pub(super) rounds: Vec<Round>,
}

/// The tape of a branch, as bits from its first AND gate, or its first input bit.
pub(super) fn tape(hashes: &Hashes, shape: &Shape, round: usize, branch: usize, seed: &[u8; 16]) -> [Vec<bool>; 2] {
    let mut row = vec![comity_core::Block::ZERO; shape.columns().div_ceil(128)];
    let tape = hashes.tape().tapes(Backend::detect(), [(place(round, branch), seed)]).next().unwrap();
    tape.fill(0, &mut row);
    let all: Vec<bool> = Bits::from_bytes(comity_core::Block::bytes_of(&row), 128 * row.len()).iter().collect();
    let gates = shape.secret.next_multiple_of(128);
    [all[..shape.secret].to_vec(), all[gates..gates + shape.ands].to_vec()]
}

fn packed(bits: &[bool]) -> Vec<u8> {
    bits.iter().copied().collect::<Bits>().to_bytes()
}

impl Textbook {
    /// Commit, with values of which the statement need not be true. `seeds` are a round's three seeds, in order.
    pub(super) fn new(
        system: System,
        statement: &Statement,
        inputs: &[Option<Bits>],
        salt: [u8; 32],
        seeds: &[[[u8; 16]; 3]],
        cheat: Cheat,
    ) -> Textbook {
        let shape = Shape::new(statement, seeds.len());
        let hashes = Hashes::new(system, seeds.len(), statement.digest(), &salt);
        let mut first = hashes.first();
        let round = |(round, seeds): (usize, &[[u8; 16]; 3])| {
            let tapes = [0, 1, 2].map(|branch| tape(&hashes, &shape, round, branch, &seeds[branch]));
            let mut secret = Bits::default();
            inputs.iter().zip(statement.public()).for_each(|(value, public)| {
                value.iter().filter(|_| public.is_none()).for_each(|value| secret.extend_from(value));
            });
            let last: Vec<bool> = (0..shape.secret).map(|i| secret.get(i) ^ tapes[0][0][i] ^ tapes[1][0][i]).collect();
            let shares: Vec<Vec<bool>> = vec![tapes[0][0].clone(), tapes[1][0].clone(), last.clone()];
            let mut engine = Scalar {
                memory: Memory::default(),
                first: [true, false, false],
                shares,
                tapes: tapes.iter().map(|tape| tape[1].clone()).collect(),
                given: None,
                views: vec![Vec::new(); 3],
                outputs: vec![Vec::new(); 3],
                public: statement.public().to_vec(),
                inputs: 0,
                cheat,
            };
            run(statement.program(), &mut engine, statement.public(), &mut Nobody).unwrap();
            if let Cheat::Output { branch } = cheat {
                let wrong = |i: usize| engine.outputs.iter().fold(statement.outputs().get(i), |sum, y| sum ^ y[i]);
                let wrong: Vec<bool> = (0..shape.outputs).map(wrong).collect();
                engine.outputs[branch].iter_mut().zip(wrong).for_each(|(y, wrong)| *y ^= wrong);
            }
            let views = [0, 1, 2].map(|branch| packed(&engine.views[branch]));
            let share = packed(&last);
            let commitments =
                [0, 1, 2].map(|branch| hashes.view(round, branch, &seeds[branch], &share, &views[branch]));
            let outputs = [0, 1, 2].map(|branch| packed(&engine.outputs[branch]));
            first.add(&commitments, [&outputs[0], &outputs[1], &outputs[2]]);
            Round { seeds: *seeds, commitments, share, views }
        };
        let rounds = seeds.iter().enumerate().map(round).collect();
        let first = first.digest();
        Textbook { system, salt, first, rounds }
    }

    /// Prove.
    pub(super) fn answer(&self, trits: &[u8]) -> Vec<u8> {
        let mut answer = Vec::new();
        for (round, &e) in self.rounds.iter().zip(trits) {
            let e = usize::from(e);
            let next = (e + 1) % 3;
            answer.extend(round.seeds[e]);
            answer.extend(round.seeds[next]);
            answer.extend(round.commitments[(e + 2) % 3]);
            if e != 0 {
                answer.extend(&round.share);
            }
            if self.system == System::ZkBoo {
                answer.extend(&round.views[e]);
            }
            answer.extend(&round.views[next]);
        }
        answer
    }
}

/// A round in the clear, of three branches, or of two of which the second one's view is given.
pub(super) struct Scalar {
    pub(super) memory: Memory<[bool; 3]>,
    /// Which branches are the first one.
    pub(super) first: [bool; 3],
    pub(super) shares: Vec<Vec<bool>>,
    pub(super) tapes: Vec<Vec<bool>>,
    pub(super) given: Option<Vec<bool>>,
    pub(super) views: Vec<Vec<bool>>,
    pub(super) outputs: Vec<Vec<bool>>,
    pub(super) public: Vec<Option<Bits>>,
    pub(super) inputs: usize,
    pub(super) cheat: Cheat,
}

impl Scalar {
    fn branches(&self) -> usize {
        self.shares.len()
    }

    fn constant(&self, bit: bool) -> [bool; 3] {
        self.first.map(|first| first && bit)
    }
}

impl Engine for Scalar {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.memory = Memory::of(program)?;
        Ok(())
    }

    fn input(&mut self, put: Put, _: Option<&Bits>) -> Result<()> {
        for (i, at) in put.wires().enumerate() {
            if let Some(value) = &self.public[put.index] {
                self.memory[at] = self.constant(value.get(i));
            } else {
                (0..self.branches()).for_each(|branch| self.memory[at][branch] = self.shares[branch][self.inputs]);
                self.inputs += 1;
            }
        }
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        let tape = call.circuit.tape();
        for t in 0..call.times {
            let mut slots = vec![[false; 3]; tape.slots().max(2)];
            call.load(t, &self.memory, &mut slots);
            (slots[0], slots[1]) = (self.constant(false), self.constant(true));
            let (mut xors, mut ands) = (tape.xors().iter(), tape.ands().iter());
            for segment in tape.segments() {
                for gate in xors.by_ref().take(segment.xors as usize) {
                    slots[gate.out()] = [0, 1, 2].map(|i| slots[gate.a()][i] ^ slots[gate.b()][i]);
                }
                for gate in ands.by_ref().take(segment.ands as usize) {
                    let (a, b, at) = (slots[gate.a()], slots[gate.b()], self.views[0].len());
                    let branches = self.branches();
                    for i in 0..branches {
                        let next = (i + 1) % branches;
                        let tapes = self.tapes[i][at] ^ self.tapes[next][at];
                        let mut share = (a[i] & b[i]) ^ (a[next] & b[i]) ^ (a[i] & b[next]) ^ tapes;
                        if let (Some(given), 1) = (&self.given, i) {
                            share = given[at];
                        }
                        share ^= self.cheat == Cheat::Gate { branch: i, gate: at };
                        self.views[i].push(share);
                        slots[gate.out()][i] = share;
                    }
                }
            }
            call.store(t, &slots, &mut self.memory);
        }
        Ok(())
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        let wires = &self.memory[shown.wires()];
        for branch in 0..self.branches() {
            self.outputs[branch].extend(wires.iter().map(|wire| wire[branch]));
        }
        Ok(None)
    }
}
