//! Universal circuits: programs that compute any circuit of a given number of inputs, gates and outputs.
//! Their first input says which circuit.
//!
//! After Valiant ("Universal circuits", STOC 1976), in the form of Liu, Yu, Zhao, Zhang and Liu ("Pushing the
//! Limits of Valiant's Universal Circuits", CRYPTO 2021, ePrint 2020/161). A circuit is a graph on *poles*:
//! its inputs, its gates in some order, and its outputs. Each has at most two edges in and two out, all from
//! an earlier pole to a later one. Coloured with two colours, the edges are two graphs in each of which a
//! pole has at most one edge in and one out, and for those there is a graph of switches that has room for all
//! of them.
//!
//! **The graph of switches**, on `n` poles: pairs of poles are *blocks*. An edge between two blocks is one of
//! a graph on `n/2` poles, the blocks; since a block has two edges in and two out there are two such graphs,
//! built in the same way. What arrives at a block by the two comes through three switches:
//!
//! ```text
//! from both graphs -> enter -> first pole -+------------> leave -> to both graphs
//!                         +-----------> pass -> second pole -+
//! ```
//!
//! `enter` says which of the two is for which pole, `pass` whether the second pole takes what came or what
//! the first pole gave, and `leave` by which graph either goes on. Each is an AND gate, a whole level of them
//! costs `3n/2`, and there are `log2 n` levels and two graphs: `3n log2 n` in all, and three ANDs a gate,
//! which is any of the sixteen. Switches are left out where nothing can come or go: at inputs, outputs, and
//! both ends.
//!
//! [`valiant`] has the circuits before it, for comparison, [`direct`] a program whose gates choose among all earlier
//! wires, and [`arity`] circuits that are smaller and show how often each wire is read.
//!
//! **As a program** it is a recursion: a pole of one level is a block of the level below. Where a block has
//! poles of one kind it is loops in loops, a few steps a level; so the program is small, and its memory a few
//! wires a pole and those of its first input.

pub mod arity;
mod colour;
pub mod direct;
mod program;
mod switching;
pub mod valiant;
mod walk;

use comity_circuit::{Goal, Program};

pub use colour::{Edge, colours};
pub use walk::{Enter, Leave, Pass, Pole, Poles, Walk, walk};

/// The public size of a circuit that a universal one computes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Shape {
    /// The bits of its input, at least 1.
    pub inputs: usize,
    /// The bits of its output, at least 1.
    pub outputs: usize,
    /// Its gates, of two inputs each and read twice at most; copies count. At least 1.
    pub gates: usize,
}

impl Shape {
    /// The largest number in a shape.
    pub const MAX: usize = 1 << 20;

    /// The poles: inputs, gates and outputs.
    pub fn poles(self) -> usize {
        self.inputs + self.gates + self.outputs
    }

    /// A shape that tells somewhat less of the circuit: it has more gates, by an eighth at most.
    #[must_use]
    pub fn rounded(self) -> Shape {
        let step = (self.gates.next_power_of_two() / 16).max(1);
        Shape { gates: self.gates.next_multiple_of(step).min(Shape::MAX), ..self }
    }

    /// The bits that say which circuit is computed: one for each switch and output, and four for each gate.
    pub fn program_bits(self) -> usize {
        program::bits(self)
    }

    /// The shape whose universal program this is, with any recipients of the output; `None` if it is not such a
    /// program.
    pub fn of(program: &Program) -> Option<Shape> {
        Shape::found(program, Shape::MAX, Shape::program_bits, universal)
    }

    /// The shape whose program this is, of a family of which more gates have more bits.
    fn found(
        program: &Program,
        max: usize,
        bits: fn(Shape) -> usize,
        build: fn(Goal, Shape) -> Program,
    ) -> Option<Shape> {
        let ([function, x], [y]) = (program.inputs(), program.outputs()) else { return None };
        let shape = |gates| Shape { inputs: x.bits, outputs: y.bits, gates };
        if ![x.bits, y.bits].iter().all(|bits| (1..=max).contains(bits)) {
            return None;
        }
        let (mut least, mut most) = (1, max);
        while least < most {
            let middle = least.midpoint(most);
            match bits(shape(middle)) < function.bits {
                true => least = middle + 1,
                false => most = middle,
            }
        }
        let shape = shape(least);
        // A program of any other size is not worth building one to compare with.
        if bits(shape) != function.bits {
            return None;
        }
        let built = build(program.goal(), shape).with_recipients(0, y.to).ok()?;
        (built.digest() == program.digest()).then_some(shape)
    }

    /// The name of the built-in program.
    pub fn name(self) -> String {
        Construction::Liu.program_name(self)
    }
}

/// The construction of a universal circuit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Construction {
    /// The construction of Liu and others of 2021, with three switches for a block of two: see the
    /// [module](self). It is the smallest, and the default.
    Liu,
    /// One of [Valiant's](valiant).
    Valiant(valiant::Split),
}

impl Construction {
    /// All of them.
    pub const ALL: [Construction; 4] = [
        Construction::Liu,
        Construction::Valiant(valiant::Split::Two),
        Construction::Valiant(valiant::Split::Four),
        Construction::Valiant(valiant::Split::Hybrid),
    ];

    /// The name in flags and tables.
    pub fn name(self) -> &'static str {
        match self {
            Construction::Liu => "liu",
            Construction::Valiant(valiant::Split::Two) => "valiant",
            Construction::Valiant(valiant::Split::Four) => "valiant4",
            Construction::Valiant(valiant::Split::Hybrid) => "hybrid",
        }
    }

    /// The bits that say which circuit of this shape is computed: one for each switch and output, and four
    /// for each gate.
    pub fn program_bits(self, shape: Shape) -> usize {
        match self {
            Construction::Liu => shape.program_bits(),
            Construction::Valiant(split) => valiant::program_bits(shape, split),
        }
    }

    /// The switches for a shape.
    pub fn switches(self, shape: Shape) -> usize {
        self.program_bits(shape) - 4 * shape.gates - shape.outputs
    }

    /// The name of the built-in program of a shape.
    pub fn program_name(self, shape: Shape) -> String {
        let Shape { inputs, outputs, gates } = shape;
        let family = match self {
            Construction::Liu => "universal",
            Construction::Valiant(valiant::Split::Two) => "valiant",
            Construction::Valiant(valiant::Split::Four) => "valiantfour",
            Construction::Valiant(valiant::Split::Hybrid) => "hybrid",
        };
        format!("{family}{inputs}x{outputs}x{gates}")
    }
}

/// The universal program of a shape. Its inputs are the [bits](Shape::program_bits) of a circuit, of party 0,
/// and the circuit's input, of party 1; all learn the output.
pub fn universal(goal: Goal, shape: Shape) -> Program {
    program::build(goal, shape)
}
