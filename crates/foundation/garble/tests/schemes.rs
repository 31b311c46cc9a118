//! Every scheme over every stream: equal to the plain evaluator, the same on every backend, with tables as
//! large as it says.

use std::marker::PhantomData;

use comity_circuit::{Builder, Call, Engine, Memory, Program, Put, Shown, Wire};
use comity_core::{Backend, Bits, Block, Delta, Error, Prg, Result};
use comity_garble::{
    EvaluatedStream, Garble, GarbledStream, HalfGates, PrivacyFree, Readable, RowReduced, Scheme, Standard,
    ThreeHalves, parts,
};
use comity_testing::laws::{Outputs, bits, chain_and_layer, clear, random_program, rng};

type WireOf<S> = <<S as Scheme>::Garbler as Garble>::Wire;

/// A garbled program: what leaves the garbler, and what it knows.
struct Garbled {
    /// The active labels of all inputs.
    active: Vec<Block>,
    tables: Vec<u8>,
    /// The two labels of each output bit.
    outputs: Vec<[Block; 2]>,
}

struct Garbling<S: Scheme> {
    memory: Memory<WireOf<S>>,
    stream: GarbledStream<S>,
    rng: Prg,
    garbled: Garbled,
}

impl<S: Scheme> Engine for Garbling<S> {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.memory = Memory::of(program)?;
        Ok(())
    }

    fn input(&mut self, put: Put, value: Option<&Bits>) -> Result<()> {
        for (wire, bit) in self.memory[put.wires()].iter_mut().zip(value.expect("all inputs").iter()) {
            *wire = self.stream.scheme().input(&mut self.rng);
            self.garbled.active.push(self.stream.scheme().label(wire, bit));
        }
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        self.stream.call(call, &mut self.memory, |tables| {
            self.garbled.tables.extend_from_slice(tables);
            Ok(())
        })
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        let (scheme, wires) = (self.stream.scheme(), &self.memory[shown.wires()]);
        self.garbled.outputs.extend(wires.iter().map(|wire| [false, true].map(|bit| scheme.label(wire, bit))));
        Ok(None)
    }
}

/// The evaluator of a garbled program, with its active labels of the outputs.
struct Evaluating<'a, S: Scheme> {
    memory: Memory<Block>,
    stream: EvaluatedStream<S>,
    active: &'a [Block],
    tables: &'a [u8],
    outputs: Vec<Block>,
}

impl<S: Scheme> Engine for Evaluating<'_, S> {
    type Error = Error;

    fn begin(&mut self, program: &Program) -> Result<()> {
        self.memory = Memory::of(program)?;
        Ok(())
    }

    fn input(&mut self, put: Put, _: Option<&Bits>) -> Result<()> {
        self.memory[put.wires()].copy_from_slice(self.active.split_off(..put.bits).expect("labels of the inputs"));
        Ok(())
    }

    fn call(&mut self, call: &Call<'_>) -> Result<()> {
        self.stream.call(call, &mut self.memory, |tables| {
            tables.copy_from_slice(self.tables.split_off(..tables.len()).expect("tables"));
            Ok(())
        })
    }

    fn reveal(&mut self, shown: Shown) -> Result<Option<Bits>> {
        self.outputs.extend_from_slice(&self.memory[shown.wires()]);
        Ok(None)
    }
}

/// The sides of a scheme on a backend, from one seed.
trait Sides: Scheme {
    fn sides(backend: Backend, seed: u128) -> (Self::Garbler, Self::Evaluator);
}

fn delta_and_start(seed: u128) -> (Delta, Block) {
    let mut rng = rng(seed);
    (Delta::new(rng.block()), rng.block())
}

impl Sides for HalfGates {
    fn sides(backend: Backend, seed: u128) -> (Self::Garbler, Self::Evaluator) {
        let (delta, start) = delta_and_start(seed);
        (HalfGates::garbler(backend, delta, start), HalfGates::evaluator(backend, start))
    }
}

impl Sides for PrivacyFree {
    fn sides(backend: Backend, seed: u128) -> (Self::Garbler, Self::Evaluator) {
        let (delta, start) = delta_and_start(seed);
        (PrivacyFree::garbler(backend, delta, start), PrivacyFree::evaluator(backend, start))
    }
}

impl Sides for RowReduced {
    fn sides(backend: Backend, seed: u128) -> (Self::Garbler, Self::Evaluator) {
        let (delta, start) = delta_and_start(seed);
        (RowReduced::garbler(backend, delta, start), RowReduced::evaluator(backend, start))
    }
}

impl Sides for ThreeHalves {
    fn sides(backend: Backend, seed: u128) -> (Self::Garbler, Self::Evaluator) {
        let (delta, start) = delta_and_start(seed);
        (ThreeHalves::garbler(backend, delta, start, Block::from_u128(!seed)), ThreeHalves::evaluator(backend, start))
    }
}

impl Sides for Standard {
    fn sides(backend: Backend, seed: u128) -> (Self::Garbler, Self::Evaluator) {
        (Standard::garbler(backend, &mut rng(seed)), Standard::evaluator(backend))
    }
}

fn garble<S: Sides>(backend: Backend, program: &Program, inputs: &[Bits], seed: u128) -> Garbled {
    let garbled = Garbled { active: Vec::new(), tables: Vec::new(), outputs: Vec::new() };
    let stream = GarbledStream::readable(S::sides(backend, seed).0);
    let mut engine = Garbling::<S> { memory: Memory::default(), stream, rng: rng(seed), garbled };
    run(program, &mut engine, inputs);
    let Garbling { stream, garbled, .. } = &mut engine;
    let flushed = stream.flush(|tables| {
        garbled.tables.extend_from_slice(tables);
        Ok(())
    });
    flushed.expect("nothing fails");
    assert_eq!(stream.and_gates(), program.and_gates());
    engine.garbled
}

/// The active labels of the outputs.
fn evaluate<S: Sides>(backend: Backend, program: &Program, garbled: &Garbled, seed: u128) -> Vec<Block> {
    let Garbled { active, tables, .. } = garbled;
    let stream = EvaluatedStream::new(S::sides(backend, seed).1);
    let mut engine = Evaluating::<S> { memory: Memory::default(), stream, active, tables, outputs: Vec::new() };
    run(program, &mut engine, inputs_of_nobody(program).as_slice());
    assert!(engine.tables.is_empty() && engine.active.is_empty(), "all that was sent is used");
    assert_eq!(engine.stream.and_gates(), program.and_gates());
    engine.outputs
}

fn inputs_of_nobody(program: &Program) -> Vec<Bits> {
    program.inputs().iter().map(|input| Bits::zeros(input.bits)).collect()
}

fn run(program: &Program, engine: &mut impl Engine<Error = Error>, inputs: &[Bits]) {
    let inputs: Vec<_> = inputs.iter().cloned().map(Some).collect();
    let ended: Result<()> = comity_circuit::run(program, engine, &inputs, &mut Outputs::default()).map_err(Error::from);
    ended.expect("a run");
}

/// The output bits that the active labels stand for.
///
/// # Panics
/// If one is neither label of its wire, or its permute bit is not that label's.
fn meaning(garbled: &Garbled, active: &[Block]) -> Bits {
    let bit = |(labels, active): (&[Block; 2], &Block)| {
        assert!(labels[0].lsb() != labels[1].lsb(), "permute bits differ");
        match [labels[0] == *active, labels[1] == *active] {
            [true, false] => false,
            [false, true] => true,
            both => panic!("an active label is both or no label of its wire: {both:?}"),
        }
    };
    garbled.outputs.iter().zip(active).map(bit).collect()
}

fn joined(values: &[Bits]) -> Bits {
    values.iter().flat_map(|value| value.iter().collect::<Vec<_>>()).collect()
}

/// The bytes of the tables of all calls of a program.
fn bytes<S: Scheme>(program: &Program) -> usize {
    struct Count<S>(usize, PhantomData<S>);
    impl<S: Scheme> Engine for Count<S> {
        type Error = Error;
        fn begin(&mut self, _: &Program) -> Result<()> {
            Ok(())
        }
        fn input(&mut self, _: Put, _: Option<&Bits>) -> Result<()> {
            Ok(())
        }
        fn call(&mut self, call: &Call<'_>) -> Result<()> {
            let tape = call.circuit.tape();
            let bytes: usize = parts(tape).map(|part| S::bytes(&part)).sum();
            if !S::UNEVEN {
                let rows = S::AND_ROWS * tape.ands().len() + S::XOR_ROWS * tape.xors().len();
                assert_eq!(bytes, Block::BYTES * rows);
            }
            self.0 += call.times as usize * bytes;
            Ok(())
        }
        fn reveal(&mut self, _: Shown) -> Result<Option<Bits>> {
            Ok(None)
        }
    }
    let mut count = Count::<S>(0, PhantomData);
    run(program, &mut count, &inputs_of_nobody(program));
    count.0
}

/// Holds a scheme's runs of a program against the plain evaluator's.
fn holds<S: Sides>(program: &Program, seed: u128) {
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng(!seed))).collect();
    let wanted = joined(&clear(program, &inputs));
    let mut first = None;
    for backend in Backend::available() {
        let garbled = garble::<S>(backend, program, &inputs, seed);
        let active = evaluate::<S>(backend, program, &garbled, seed);
        assert!(meaning(&garbled, &active) == wanted, "{backend}");
        assert_eq!(garbled.tables.len(), bytes::<S>(program), "{backend}");
        let tables = first.get_or_insert_with(|| garbled.tables.clone());
        assert!(*tables == garbled.tables, "{backend} garbles as the first backend does");
    }
}

/// The programs to test: random ones; one with more ANDs than fill a buffer; one of XORs alone, more than
/// fill it; one whose outputs are constants.
fn programs() -> Vec<Program> {
    let mut rng = rng(1);
    let mut programs: Vec<Program> = (0..12).map(|i| random_program(2, 400, i % 4 != 0, &mut rng)).collect();
    programs.push(Program::from_circuit(chain_and_layer(3_000)).expect("a program"));
    programs.push(Program::map(chain_and_layer(200), 23, &[]).expect("a program"));
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 9_000), b.input("y", 9_000));
    let sums: Vec<_> = x.iter().zip(&y).map(|(&x, &y)| b.xor(x, y)).collect();
    b.output("sums", &sums);
    programs.push(Program::map(b.finish(), 3, &[]).expect("a program"));
    let mut b = Builder::new();
    b.input("x", 1);
    b.output("constants", &[Wire::ZERO, Wire::ONE]);
    programs.push(Program::from_circuit(b.finish()).expect("a program"));
    programs
}

#[test]
fn half_gates_compute_what_is_computed_in_the_clear() {
    programs().iter().zip(10..).for_each(|(program, seed)| holds::<HalfGates>(program, seed));
}

#[test]
fn privacy_free_garbling_computes_what_is_computed_in_the_clear() {
    programs().iter().zip(20..).for_each(|(program, seed)| holds::<PrivacyFree>(program, seed));
}

#[test]
fn garbling_with_a_row_for_every_gate_computes_what_is_computed_in_the_clear() {
    programs().iter().zip(60..).for_each(|(program, seed)| holds::<RowReduced>(program, seed));
}

#[test]
fn garbling_under_standard_assumptions_computes_what_is_computed_in_the_clear() {
    programs().iter().zip(30..).for_each(|(program, seed)| holds::<Standard>(program, seed));
}

#[test]
fn three_halves_compute_what_is_computed_in_the_clear() {
    programs().iter().zip(70..).for_each(|(program, seed)| holds::<ThreeHalves>(program, seed));
}

/// 24 bytes and five bits an AND gate, nothing for XOR gates and NOTs; the bits in whole bytes for each
/// circuit.
#[test]
fn bytes_of_three_halves_are_what_the_docs_say() {
    for (times, width, bytes) in [(1, 8, 197), (5, 21, 5 * (504 + 14)), (1, 4_096, 100_864), (1, 4_097, 100_864 + 25)] {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", width), b.input("y", width));
        let sums: Vec<_> = x.iter().zip(&y).map(|(&x, &y)| b.xor(x, y)).collect();
        let ands: Vec<_> = sums.iter().zip(&x).map(|(&sum, &x)| b.and(sum, x)).collect();
        let nots: Vec<_> = ands.iter().map(|&and| b.not(and)).collect();
        b.output("nots", &nots);
        let program = Program::map(b.finish(), times, &[]).expect("a program");
        assert_eq!(self::bytes::<ThreeHalves>(&program), bytes);
    }
}

/// 32 bytes and a bit an AND gate, 16 bytes an XOR gate, nothing for a NOT.
#[test]
fn bytes_under_standard_assumptions_are_what_the_docs_say() {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 21), b.input("y", 21));
    let sums: Vec<_> = x.iter().zip(&y).map(|(&x, &y)| b.xor(x, y)).collect();
    let ands: Vec<_> = sums.iter().zip(&x).map(|(&sum, &x)| b.and(sum, x)).collect();
    let nots: Vec<_> = ands.iter().map(|&and| b.not(and)).collect();
    b.output("nots", &nots);
    let program = Program::map(b.finish(), 5, &[]).expect("a program");
    assert_eq!(bytes::<Standard>(&program), 5 * (21 * 32 + 3 + 21 * 16));
}

/// Without privacy an active label shows what it stands for.
#[test]
fn a_privacy_free_label_shows_its_bit() {
    shows::<PrivacyFree>();
    shows::<RowReduced>();
}

fn shows<S: Sides>() {
    let program = random_program(2, 300, true, &mut rng(40));
    let inputs: Vec<Bits> = program.inputs().iter().map(|input| bits(input.bits, &mut rng(41))).collect();
    let garbled = garble::<S>(Backend::detect(), &program, &inputs, 42);
    let active = evaluate::<S>(Backend::detect(), &program, &garbled, 42);
    let shown: Bits = active.iter().map(|label| label.lsb()).collect();
    assert!(shown == joined(&clear(&program, &inputs)));
    assert!(garbled.outputs.iter().all(|[zero, one]| !zero.lsb() && one.lsb()));
}

/// Authenticity of a row for every gate: a wrong row of an XOR gate is looked at where its first input is
/// one, that of an AND gate where only the second one is zero; the label is then none of the wire's. No two
/// wires have one offset, but those that share it by XOR.
#[test]
fn a_wrong_row_of_any_gate_makes_no_label_of_the_wire() {
    for and in [false, true] {
        let mut b = Builder::new();
        let (x, y) = (b.input("x", 1), b.input("y", 1));
        let out = if and { b.and(x[0], y[0]) } else { b.xor(x[0], y[0]) };
        b.output("out", &[out]);
        let program = Program::from_circuit(b.finish()).expect("a program");
        let mut looked_at = 0;
        for values in 0..4u8 {
            let inputs = [values & 1, values >> 1].map(|bit| Bits::from_bytes(&[bit], 1));
            let mut garbled = garble::<RowReduced>(Backend::detect(), &program, &inputs, 50);
            let honest = evaluate::<RowReduced>(Backend::detect(), &program, &garbled, 50);
            garbled.tables[7] ^= 1;
            let active = evaluate::<RowReduced>(Backend::detect(), &program, &garbled, 50);
            if active[0] != honest[0] {
                assert!(!garbled.outputs[0].contains(&active[0]));
                looked_at += 1;
            }
        }
        assert_eq!(looked_at, if and { 1 } else { 2 });
    }
}

/// Authenticity, as far as a test goes: the AND of a one takes the row, and with another row its label is
/// none of the wire's; of a zero the row is not looked at.
#[test]
fn a_wrong_row_makes_no_label_of_the_wire() {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", 1), b.input("y", 1));
    let and = b.and(x[0], y[0]);
    b.output("and", &[and]);
    let program = Program::from_circuit(b.finish()).expect("a program");
    for values in 0..4u8 {
        let inputs = [values & 1, values >> 1].map(|bit| Bits::from_bytes(&[bit], 1));
        let mut garbled = garble::<PrivacyFree>(Backend::detect(), &program, &inputs, 50);
        let honest = evaluate::<PrivacyFree>(Backend::detect(), &program, &garbled, 50);
        // The row is looked at where the second input of the lowered gate is one.
        garbled.tables[7] ^= 1;
        let active = evaluate::<PrivacyFree>(Backend::detect(), &program, &garbled, 50);
        let looked_at = active[0] != honest[0];
        assert!(!looked_at || !garbled.outputs[0].contains(&active[0]));
        assert!(looked_at || values != 3, "the AND of two ones takes the row");
        assert!(!looked_at || values != 0, "that of two zeros does not");
    }
}
