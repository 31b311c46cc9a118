//! Programs to hold protocols to the laws by: of few shapes, and random ones.

use comity_circuit::{Builder, Circuit, Plain, Program, Recipients, Wire};
use comity_core::{Backend, Bits, Block, Prg};

use super::Outputs;
use super::words::Gates;

/// A random generator of this seed.
pub fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

/// A chain of dependent ANDs and a wide layer of independent ones.
pub fn chain_and_layer(width: usize) -> Circuit {
    chain_and_layer_of(Gates::All, width)
}

pub(super) fn chain_and_layer_of(gates: Gates, width: usize) -> Circuit {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", width), b.input("y", width));
    let mut chain = x[0];
    let mut layer = vec![];
    for i in 0..width {
        let and = gates.and(&mut b, chain, y[i]);
        chain = gates.xor(&mut b, and, x[i]);
        layer.push(gates.and(&mut b, x[i], y[(i + 7) % width]));
    }
    layer.push(chain);
    b.output("out", &layer);
    b.finish()
}

/// `times` turns of `width` ANDs: all wires of a value, each from three of the turn before.
pub fn turns(width: usize, times: u64) -> Program {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", width), b.input("y", width));
    let next: Vec<_> = (0..width)
        .map(|i| {
            let and = b.and(x[i], y[(i + 1) % width]);
            b.xor(and, y[(i + 3) % width])
        })
        .collect();
    b.output("next", &next);
    Program::iterate(b.finish(), times, &[(0, 1)]).expect("a turn follows on a turn")
}

/// Random bits.
pub fn bits(len: usize, rng: &mut Prg) -> Bits {
    (0..len).map(|_| rng.block().lsb()).collect()
}

/// The outputs of a program in the clear.
pub fn clear(program: &Program, inputs: &[Bits]) -> Vec<Bits> {
    let mut outputs = Outputs::default();
    let inputs: Vec<_> = inputs.iter().cloned().map(Some).collect();
    comity_circuit::run(program, &mut Plain::new(), &inputs, &mut outputs).expect("the plain evaluator");
    outputs.0.into_iter().map(|(_, value)| value).collect()
}

/// A circuit of random gates, with or without ANDs.
pub fn random_circuit(widths: &[usize], gates: usize, ands: bool, rng: &mut Prg) -> Circuit {
    random_circuit_of(if ands { Gates::All } else { Gates::Xors }, widths, gates, rng)
}

pub(super) fn random_circuit_of(of: Gates, widths: &[usize], gates: usize, rng: &mut Prg) -> Circuit {
    let mut b = Builder::new();
    let mut wires: Vec<Wire> = vec![Wire::ZERO, Wire::ONE];
    for (i, &width) in widths.iter().enumerate() {
        wires.extend(b.input(&format!("in{i}"), width));
    }
    let mut pick = |wires: &[Wire]| wires[below(wires.len(), rng)];
    for i in 0..gates {
        let (x, y) = (pick(&wires), pick(&wires));
        wires.push(if i % 3 != 0 { of.and(&mut b, x, y) } else { of.xor(&mut b, x, y) });
    }
    for (name, width) in [("x", 9), ("y", 1), ("z", 10)] {
        let value: Vec<Wire> = (0..width).map(|_| pick(&wires)).collect();
        b.output(name, &value);
    }
    b.finish()
}

/// A random program for `parties` parties, of a circuit called once, side by side or in turns.
pub fn random_program(parties: u16, gates: usize, ands: bool, rng: &mut Prg) -> Program {
    random_program_of(if ands { Gates::All } else { Gates::Xors }, parties, gates, rng)
}

pub(super) fn random_program_of(of: Gates, parties: u16, gates: usize, rng: &mut Prg) -> Program {
    let widths: Vec<usize> = (0..2 + below(2, rng)).map(|_| below(40, rng)).collect();
    let circuit = random_circuit_of(of, &widths, 1 + below(gates, rng), rng);
    let program = match below(3, rng) {
        0 => Program::map(circuit, 5, &[]),
        _ => Program::from_circuit(circuit),
    };
    assigned(program.expect("a program"), parties, rng)
}

/// Gives the values of a program to random owners and recipients.
pub(super) fn assigned(mut program: Program, parties: u16, rng: &mut Prg) -> Program {
    for index in 0..program.inputs().len() {
        program = program.with_owner(index, below(parties.into(), rng) as u16).expect("an owner");
    }
    for index in 0..program.outputs().len() {
        let to = match below(3, rng) {
            0 => Recipients::All,
            1 => Recipients::only(below(parties.into(), rng) as u16),
            _ => Recipients::Parties((0..parties).filter(|&party| party == 0 || below(2, rng) == 0).collect()),
        };
        program = program.with_recipients(index, to).expect("recipients");
    }
    program
}

pub(super) fn below(n: usize, rng: &mut Prg) -> usize {
    (rng.block().to_u128() % n as u128) as usize
}
