//! The built-in circuits against published vectors and the machine's own arithmetic.

mod aes;
mod arith;
mod arrays;
mod benchmarks;
mod cipher;
mod counts;
mod float;
mod goals;
mod hash;
mod lookup;
mod notes;
mod registry;
mod sha;
mod typed;

use comity_circuit::{Builder, Circuit, Goal, Observer, Op, Plain, Program, Wire, eval_circuit};
use comity_core::Bits;

/// Evaluates 64 instances at once: bit k of a word is the wire's value in instance k.
fn evaluate(circuit: &Circuit, inputs: &[u64]) -> Vec<u64> {
    let mut wires = vec![0, !0];
    wires.extend(inputs);
    for gate in circuit.gates() {
        let (a, b) = (wires[gate.a as usize], wires[gate.b as usize]);
        wires.push(if gate.op == Op::And { a & b } else { a ^ b });
    }
    circuit.output_wires().iter().map(|&w| wires[w as usize]).collect()
}

/// Runs 64 instances on numbers: `inputs[value][instance]` gives `outputs[value][instance]`.
fn run(circuit: &Circuit, inputs: &[[u128; 64]]) -> Vec<[u128; 64]> {
    let mut bits = Vec::new();
    for (group, value) in circuit.inputs().iter().zip(inputs) {
        bits.extend((0..group.bits).map(|i| (0..64).fold(0, |word, k| word | ((value[k] >> i & 1) as u64) << k)));
    }
    assert_eq!(bits.len(), circuit.input_bits());
    let out = evaluate(circuit, &bits);
    let mut out = out.iter();
    let value = |group: &comity_circuit::Group| {
        let mut value = [0; 64];
        for (i, word) in out.by_ref().take(group.bits).enumerate() {
            value.iter_mut().enumerate().for_each(|(k, v)| *v |= u128::from(word >> k & 1) << i);
        }
        value
    };
    circuit.outputs().iter().map(value).collect()
}

/// Runs a circuit on values written in hex, the most significant digit first.
fn run_hex(circuit: &Circuit, inputs: &[&str]) -> Vec<String> {
    let widths = circuit.inputs().iter().map(|group| group.bits);
    let inputs: Vec<Bits> = inputs.iter().zip(widths).map(|(hex, bits)| from_hex(hex, bits)).collect();
    eval_circuit(circuit, &inputs).into_iter().map(to_hex).collect()
}

/// Runs a program on values written in hex, the most significant digit first.
fn run_program(program: &Program, inputs: &[&str]) -> Vec<String> {
    struct Outputs(Vec<String>);
    impl Observer for Outputs {
        fn output(&mut self, _index: usize, value: Bits) {
            self.0.push(to_hex(value));
        }
    }
    let widths = program.inputs().iter().map(|input| input.bits);
    let inputs: Vec<Option<Bits>> = inputs.iter().zip(widths).map(|(hex, bits)| Some(from_hex(hex, bits))).collect();
    let mut outputs = Outputs(Vec::new());
    comity_circuit::run(program, &mut Plain::new(), &inputs, &mut outputs).expect("the inputs fit");
    outputs.0
}

fn from_hex(hex: &str, bits: usize) -> Bits {
    assert_eq!(hex.len(), bits.div_ceil(4));
    let digits: Vec<u32> = hex.chars().rev().map(|digit| digit.to_digit(16).unwrap()).collect();
    (0..bits).map(|i| digits[i / 4] >> (i % 4) & 1 == 1).collect()
}

fn to_hex(bits: Bits) -> String {
    bits.to_bytes().iter().rev().map(|byte| format!("{byte:02x}")).collect()
}

/// A circuit for size over words: `build` gets one word for each width and returns the words of the result. The circuit
/// for depth is held against it.
fn circuit<const N: usize>(
    widths: [usize; N],
    build: impl Fn(&mut Builder, [&[Wire]; N]) -> Vec<Vec<Wire>>,
) -> Circuit {
    let [size, depth] = [Goal::Size, Goal::Depth].map(|goal| circuit_for(goal, widths, &build));
    goals::equal("a circuit", &size, &depth);
    size
}

/// A circuit over words for a goal.
fn circuit_for<const N: usize>(
    goal: Goal,
    widths: [usize; N],
    build: impl Fn(&mut Builder, [&[Wire]; N]) -> Vec<Vec<Wire>>,
) -> Circuit {
    let mut b = Builder::for_goal(goal);
    let inputs: Vec<Vec<Wire>> = widths.iter().map(|&n| b.input("x", n)).collect();
    for word in build(&mut b, std::array::from_fn(|i| &inputs[i][..])) {
        b.output("y", &word);
    }
    b.finish()
}

/// A generator for test inputs (SplitMix64).
struct Random(u64);

impl Random {
    fn next(&mut self) -> u64 {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let z = (self.0 ^ self.0 >> 30).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        let z = (z ^ z >> 27).wrapping_mul(0x94d0_49bb_1331_11eb);
        z ^ z >> 31
    }

    /// A batch of numbers of `bits` bits, most of them random and the others at the edges.
    fn words(&mut self, bits: usize) -> [u128; 64] {
        let mask = u128::MAX >> (128 - bits);
        std::array::from_fn(|_| {
            let random = u128::from(self.next()) << 64 | u128::from(self.next());
            match self.next() % 16 {
                0 => 0,
                1 => mask,
                2 => 1 << (bits - 1),
                3 => mask >> 1,
                4 => 1,
                5 => 1 << (random as usize % bits),
                _ => random & mask,
            }
        })
    }
}

/// The pairs of all numbers of `bits` bits in order, 64 at a time; the last batch is filled up with zeros.
fn all_pairs(bits: usize) -> Vec<[[u128; 64]; 2]> {
    let total = 1 << (2 * bits);
    let pair = |i: usize| if i < total { [i & ((1 << bits) - 1), i >> bits] } else { [0, 0] };
    let batch = |start: usize| [0, 1].map(|v| std::array::from_fn(|k| pair(start + k)[v] as u128));
    (0..total).step_by(64).map(batch).collect()
}
