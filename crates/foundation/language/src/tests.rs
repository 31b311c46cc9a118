//! Programs, compiled both unrolled and rolled, against results known by hand.

use comity_circuit::{Goal, Observer, Plain, Program, Type};
use comity_core::Bits;

use crate::lower::Limits;

mod costs;
mod errors;
mod lines;
mod notes;
mod numbers;
mod pins;
mod programs;
mod tables;

struct Outputs(Vec<Option<Bits>>);

impl Observer for Outputs {
    fn output(&mut self, index: usize, value: Bits) {
        self.0[index] = Some(value);
    }
}

/// Everything is unrolled that can be; loops are kept from few gates on; from none on.
const LIMITS: [Limits; 3] = [
    Limits { unroll: 1 << 20, unroll_for_constants: 1 << 22 },
    Limits { unroll: 300, unroll_for_constants: 600 },
    Limits { unroll: 0, unroll_for_constants: 0 },
];

fn compile(source: &str, limits: Limits) -> Program {
    compile_for(source, Goal::Size, limits)
}

fn compile_for(source: &str, goal: Goal, limits: Limits) -> Program {
    crate::compile_with("test.cty", source, goal, limits).unwrap_or_else(|error| panic!("{error}\n{source}"))
}

/// The bits of numbers, one after another, in a value of this type.
fn encode(ty: &Type, numbers: &mut impl Iterator<Item = i128>, bits: &mut Vec<bool>) {
    match ty {
        Type::Array(element, count) => (0..*count).for_each(|_| encode(element, numbers, bits)),
        Type::Tuple(types) => types.iter().for_each(|ty| encode(ty, numbers, bits)),
        Type::Struct { fields, .. } => fields.iter().for_each(|(_, ty)| encode(ty, numbers, bits)),
        leaf => {
            let number = numbers.next().unwrap_or(0);
            bits.extend((0..leaf.bits()).map(|i| number >> i.min(127) & 1 == 1));
        }
    }
}

fn decode(ty: &Type, bits: &mut impl Iterator<Item = bool>, numbers: &mut Vec<i128>) {
    match ty {
        Type::Array(element, count) => (0..*count).for_each(|_| decode(element, bits, numbers)),
        Type::Tuple(types) => types.iter().for_each(|ty| decode(ty, bits, numbers)),
        Type::Struct { fields, .. } => fields.iter().for_each(|(_, ty)| decode(ty, bits, numbers)),
        leaf => {
            let mut number = 0;
            for i in 0..leaf.bits() {
                let bit = bits.next().unwrap_or(false);
                if i < 127 {
                    number |= i128::from(bit) << i;
                }
                if bit && i + 1 == leaf.bits() && matches!(leaf, Type::Int(_)) {
                    number -= 1 << (i + 1);
                }
            }
            numbers.push(number);
        }
    }
}

/// Runs a program on numbers, flattened; all outputs, flattened.
fn run(program: &Program, inputs: &[i128]) -> Vec<i128> {
    let mut numbers = inputs.iter().copied();
    let values: Vec<Option<Bits>> = program
        .inputs()
        .iter()
        .map(|input| {
            let mut bits = Vec::new();
            encode(&input.ty, &mut numbers, &mut bits);
            Some(bits.into_iter().collect())
        })
        .collect();
    let mut outputs = Outputs(vec![None; program.outputs().len()]);
    comity_circuit::run(program, &mut Plain::new(), &values, &mut outputs).expect("the program runs");
    let mut all = Vec::new();
    for (output, value) in program.outputs().iter().zip(outputs.0) {
        let bits = value.expect("every output is revealed");
        decode(&output.ty, &mut bits.iter(), &mut all);
    }
    all
}

/// A program gives this, however its loops are compiled.
fn gives(source: &str, inputs: &[i128], outputs: &[i128]) {
    for limits in LIMITS {
        assert_eq!(run(&compile(source, limits), inputs), outputs, "{limits:?}\n{source}");
    }
    let shallow = compile_for(source, Goal::Depth, LIMITS[1]);
    assert_eq!(run(&shallow, inputs), outputs, "for depth\n{source}");
}
