//! What the tables run: the paper's functions, as comity has them and with as many gates as the paper's have.
//!
//! Party 0 garbles, and party 1 learns the outputs.

use comity_circuit::{Builder, Circuit, Program, Recipients, Wire};

use crate::wmk17::parties::GARBLER;

/// Bits of the garbler's input, of the evaluator's, and of the output.
pub(super) type Sizes = [usize; 3];

/// Builds a function: from both inputs to the output, or once more, after itself, from its output too.
type Build = fn(&mut Builder, &[Vec<Wire>; 2], Option<&[Wire]>) -> Vec<Wire>;

/// A row of Table 4.
pub(super) struct Function {
    pub(super) name: &'static str,
    sizes: Sizes,
    /// AND gates in the paper.
    ands: usize,
    build: Build,
    /// The number of times that it fits into the paper's gates.
    times: usize,
}

/// The functions of Table 4.
pub(super) const FUNCTIONS: [Function; 4] = [
    Function {
        name: "add",
        sizes: [32, 32, 33],
        ands: 127,
        build: |b, [x, y], _| call(b, "addfull32", &[x.clone(), y.clone()]),
        times: 1,
    },
    Function {
        name: "aes",
        sizes: [128, 128, 128],
        ands: 6_800,
        build: |b, [x, y], _| call(b, "aes128", &[x.clone(), y.clone()]),
        times: 1,
    },
    Function { name: "sha1", sizes: [256, 256, 160], ands: 37_300, build: |b, xy, s| sha(b, "sha1", xy, s), times: 3 },
    Function {
        name: "sha256",
        sizes: [256, 256, 256],
        ands: 90_825,
        build: |b, xy, s| sha(b, "sha256", xy, s),
        times: 4,
    },
];

/// A circuit of the library in another one.
fn call(b: &mut Builder, name: &str, args: &[Vec<Wire>]) -> Vec<Wire> {
    let circuit = comity_library::find(name).expect("the library has the circuits of the benchmarks");
    b.call(&circuit, args).into_iter().flatten().collect()
}

/// The compression of a block, half of which is each party's, into a chaining value, at first the standard one.
fn sha(b: &mut Builder, name: &str, [x, y]: &[Vec<Wire>; 2], state: Option<&[Wire]>) -> Vec<Wire> {
    let block = [&x[..], y].concat();
    match state {
        None => call(b, &format!("{name}-iv"), &[block]),
        Some(state) => call(b, name, &[block, state.to_vec()]),
    }
}

impl Function {
    /// The function with the fewest gates that comity has it in.
    pub(super) fn program(&self) -> Program {
        program(self.circuit(1, 0), self.name)
    }

    /// As many gates as in the paper, and the same inputs and outputs: the function as often as it fits, and ANDs one
    /// after another.
    pub(super) fn program_of_the_papers_size(&self) -> Program {
        let missing = self.ands - self.circuit(self.times, 0).counts().and as usize;
        program(self.circuit(self.times, missing), self.name)
    }

    fn circuit(&self, times: usize, more: usize) -> Circuit {
        let mut b = Builder::new();
        let inputs = [b.input("x", self.sizes[0]), b.input("y", self.sizes[1])];
        let mut z = (self.build)(&mut b, &inputs, None);
        for _ in 1..times {
            z = (self.build)(&mut b, &inputs, Some(&z));
        }
        for link in chains(&mut b, &inputs, more).into_iter().rev().take(CHAINS) {
            z[0] = b.xor(z[0], link);
        }
        b.output("z", &z);
        b.finish()
    }
}

/// A program with these sizes and `ands` AND gates, at least one for each output bit. Each chain ends in an
/// output bit.
pub(super) fn sized(sizes: Sizes, ands: usize) -> Program {
    let mut b = Builder::new();
    let inputs = [b.input("x", sizes[0]), b.input("y", sizes[1])];
    let links = chains(&mut b, &inputs, ands);
    b.output("z", &links[ands - sizes[2]..]);
    program(b.finish(), "sized")
}

/// Chains of ANDs that lie side by side.
const CHAINS: usize = 32;

/// `ands` ANDs in chains. Returns the links; the last link of each chain depends on the whole chain.
fn chains(b: &mut Builder, [x, y]: &[Vec<Wire>; 2], ands: usize) -> Vec<Wire> {
    let mut links: Vec<Wire> = Vec::with_capacity(ands);
    for i in 0..ands {
        let last = if i < CHAINS { x[i % x.len()] } else { links[i - CHAINS] };
        // No two links of a chain have the same operands, nor is one the other's negation.
        let turned = b.xor(last, x[(i + i / x.len() + 1) % x.len()]);
        links.push(b.and(turned, y[i % y.len()]));
    }
    links
}

fn program(circuit: Circuit, name: &str) -> Program {
    let program = Program::from_circuit(circuit).expect("a valid program");
    for_evaluator(program).with_name(name)
}

/// A program whose outputs only the evaluator learns.
pub(super) fn for_evaluator(program: Program) -> Program {
    let outputs = program.outputs().len();
    (0..outputs).fold(program, |program, output| {
        program.with_recipients(output, Recipients::only(1 - GARBLER)).expect("an output that is there")
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn programs_have_the_papers_sizes() {
        for function in &FUNCTIONS {
            let (own, papers) = (function.program(), function.program_of_the_papers_size());
            for program in [&own, &papers] {
                let bits = [program.inputs()[0].bits, program.inputs()[1].bits, program.outputs()[0].bits];
                assert_eq!(bits, function.sizes, "{}", function.name);
            }
            assert_eq!(papers.and_gates(), function.ands as u64, "{}", function.name);
            assert!(own.and_gates() < function.ands as u64, "{}", function.name);
        }
        for (sizes, ands) in [
            ([128; 3], 16_384),
            ([8_128, 128, 128], 16_384),
            ([128, 16_128, 128], 16_384),
            ([128, 128, 16_128], 16_384),
        ] {
            let program = sized(sizes, ands);
            assert_eq!(program.and_gates(), ands as u64, "{sizes:?}");
            assert_eq!(program.outputs()[0].bits, sizes[2], "{sizes:?}");
        }
    }
}
