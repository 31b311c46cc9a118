//! Whole runs: honest ones, and ones with a lie.

use comity_circuit::{Builder, Observer, Plain, Program, Recipients, Wire};
use comity_core::{Backend, Bits, Block, Error, Prg, Result};
use comity_protocol::{Conduct, Honest};

use crate::conduct::SenderAct;
use crate::open::{Opened, open};
use crate::plan::Copies;
use crate::query::{Query, Secret, publish};
use crate::respond::{Question, respond_as};
use crate::stream::Out;

mod checks;
mod files;
mod forms;
mod honest;
mod liars;
mod rates;
mod stored;

pub(crate) fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

pub(crate) fn bits(len: usize, rng: &mut Prg) -> Bits {
    (0..len).map(|_| rng.block().lsb()).collect()
}

/// A program of one random circuit over an input of each party, with outputs for party 0.
pub(crate) fn random_program(widths: [usize; 2], gates: usize, outputs: [usize; 2], rng: &mut Prg) -> Program {
    let mut b = Builder::new();
    let mut wires: Vec<Wire> = vec![Wire::ZERO, Wire::ONE];
    for (name, width) in ["x", "y"].iter().zip(widths) {
        wires.extend(b.input(name, width));
    }
    let pick = |wires: &[Wire], rng: &mut Prg| wires[(rng.block().to_u128() % wires.len() as u128) as usize];
    for _ in 0..gates {
        let (p, q) = (pick(&wires, rng), pick(&wires, rng));
        let wire = if rng.block().lsb() { b.and(p, q) } else { b.xor(p, q) };
        wires.push(wire);
    }
    for (name, width) in ["u", "v"].iter().zip(outputs) {
        let chosen: Vec<Wire> = (0..width).map(|_| pick(&wires, rng)).collect();
        b.output(name, &chosen);
    }
    to_receiver(Program::from_circuit(b.finish()).unwrap())
}

/// A program with all of its outputs for party 0.
pub(crate) fn to_receiver(program: Program) -> Program {
    (0..program.outputs().len()).fold(program, |program, i| program.with_recipients(i, Recipients::only(0)).unwrap())
}

/// A program all of whose output bits are ANDs of one bit of either input: a lie about any label shows.
pub(crate) fn ands(width: usize) -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", width), b.input("y", width));
    let z: Vec<Wire> = x.iter().zip(&y).map(|(&x, &y)| b.and(x, y)).collect();
    b.output("z", &z);
    to_receiver(Program::from_circuit(b.finish()).unwrap())
}

/// The output values in the clear.
pub(crate) fn plain(program: &Program, inputs: &[Bits]) -> Vec<Bits> {
    struct Outputs(Vec<Bits>);
    impl Observer for Outputs {
        fn output(&mut self, _: usize, value: Bits) {
            self.0.push(value);
        }
    }
    let mut outputs = Outputs(Vec::new());
    let all: Vec<_> = inputs.iter().cloned().map(Some).collect();
    comity_circuit::run(program, &mut Plain::new(), &all, &mut outputs).unwrap();
    outputs.0
}

/// The context of the answers here.
pub(crate) const CONTEXT: [u8; 32] = [0xc0; 32];

/// The input values of one party.
pub(crate) fn own(program: &Program, party: u32, inputs: &[Bits]) -> Vec<Option<Bits>> {
    program
        .inputs()
        .iter()
        .zip(inputs)
        .map(|(input, value)| (input.owner.includes(party as u16)).then(|| value.clone()))
        .collect()
}

/// A query of a program, and what a test needs to answer and open it.
pub(crate) struct Case {
    pub(crate) backend: Backend,
    pub(crate) program: Program,
    pub(crate) inputs: Vec<Bits>,
    pub(crate) query: Query,
    pub(crate) secret: Secret,
}

impl Case {
    pub(crate) fn new(backend: Backend, program: Program, inputs: Vec<Bits>, copies: Copies, seed: u128) -> Case {
        let own = own(&program, 0, &inputs);
        let (query, secret) = publish(backend, &program, &own, copies, &mut rng(seed)).unwrap();
        Case { backend, program, inputs, query, secret }
    }

    fn question(&self) -> Question<'_> {
        Question { query: &self.query, context: &CONTEXT, program: &self.program }
    }

    pub(crate) fn answer_as(&self, seed: u128, conduct: &mut impl for<'a> Conduct<SenderAct<'a>>) -> Vec<u8> {
        let own = own(&self.program, 1, &self.inputs);
        let mut answer = Vec::new();
        let out = Out::new(&mut answer);
        respond_as(self.backend, &self.question(), &own, &mut rng(!seed), out, conduct).unwrap();
        answer
    }

    pub(crate) fn answer(&self, seed: u128) -> Vec<u8> {
        self.answer_as(seed, &mut Honest)
    }

    pub(crate) fn open(&self, answer: &[u8]) -> Result<Opened> {
        open(self.backend, &self.secret, &CONTEXT, &self.program, &mut &answer[..])
    }

    pub(crate) fn plain(&self) -> Vec<Bits> {
        plain(&self.program, &self.inputs)
    }
}
