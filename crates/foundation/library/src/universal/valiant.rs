//! Valiant's universal circuits: graphs of switches that split their poles into blocks of two or of four.
//!
//! **Sources**: PRACTICE deliverable D13.3 (2016), sections 2.4.2 and 2.4.3 (Kiss, Schneider, Eurocrypt
//! 2016), for blocks of two; L. G. Valiant, "Universal circuits" (STOC 1976), for blocks of four; D. Günther,
//! Á. Kiss, T. Schneider, "More Efficient Universal Circuit Constructions" (Asiacrypt 2017), for both in one
//! graph, whichever is smaller. They are here for comparison: the [circuit of 2021](super) has fewer
//! switches.
//!
//! **How**: an edge that leaves a block and enters a later one goes through a graph whose poles, *subpoles*,
//! stand between two neighbouring blocks. A block of `w` poles has `w` edges in and `w` out at most, so there
//! are `w` such graphs ([`Graph`]), and coloring the edges between blocks (Algorithm 1) says which goes
//! through which one. At a block, edges are brought in order (*enter*), go past poles and are joined by what
//! these give (*middle*), and are brought in order again (*leave*). A subpole is a switch, too: it passes an
//! edge on to the next block, or into its graph. The first of an edge's three endings in section 2.4.2 is a
//! graph of six poles at most, the second one within a block, and the third a subpole that is straight.
//!
//! The last block has no *enter*: colours are named so that they fit (node A of Figure 2.2). Nodes of one
//! input are wires (node B), and so are those by which nothing can come to inputs, or go from outputs: both
//! optimizations of section 2.4.3.

mod block;
mod graph;
mod small;
#[cfg(test)]
mod tests;
mod walking;

use comity_circuit::{Builder, Goal, Program, Wire};

use super::Shape;

pub use graph::{Graph, Routes, Split};
pub use walking::Nodes;

use walking::Walking;

/// A visitor of one of Valiant's universal circuits, pole by pole.
pub trait Poles: Nodes {
    /// The wire of an input.
    fn input(&mut self, number: usize) -> Self::Wire;
    /// The output of a gate; `came` are the wires that come to it by either graph.
    fn gate(&mut self, number: usize, came: [Option<Self::Wire>; 2]) -> Self::Wire;
    /// Takes an output; `came` are the wires that come to it by either graph.
    fn output(&mut self, number: usize, came: [Option<Self::Wire>; 2]);
}

impl Graph {
    /// The graph of all poles of a shape, of which each takes at most one edge and gives one; through it go
    /// the edges to `next`, if there are any.
    pub fn of(shape: Shape, next: Option<&[Option<u32>]>, routes: &mut Routes) -> Graph {
        Graph::new(shape.poles(), shape.inputs, shape.inputs + shape.gates, true, next, routes)
    }
}

/// Walks through the poles of a shape, and through the nodes of both its graphs.
pub fn walk(shape: Shape, graphs: &[Graph; 2], poles: &mut impl Poles) {
    let mut walking = graphs.each_ref().map(Walking::new);
    for pole in 0..shape.poles() {
        let came = walking.each_mut().map(|graph| graph.enter(pole, poles));
        let given = match pole {
            _ if pole < shape.inputs => Some(poles.input(pole)),
            _ if pole < shape.inputs + shape.gates => Some(poles.gate(pole - shape.inputs, came)),
            _ => {
                poles.output(pole - shape.inputs - shape.gates, came);
                None
            }
        };
        walking.iter_mut().for_each(|graph| graph.leave(pole, given, poles));
    }
}

/// The two graphs of a shape, through which no edges go.
fn graphs(shape: Shape, split: Split) -> [Graph; 2] {
    let mut routes = Routes::new(split);
    [(); 2].map(|()| Graph::of(shape, None, &mut routes))
}

/// The switches that are left of a shape's circuit.
pub fn switches(shape: Shape, split: Split) -> usize {
    struct Count(usize);
    impl Nodes for Count {
        type Wire = ();
        fn node(&mut self, _: [(); 2], _: bool) -> [(); 2] {
            self.0 += 1;
            [(); 2]
        }
    }
    impl Poles for Count {
        fn input(&mut self, _: usize) {}
        fn gate(&mut self, _: usize, _: [Option<()>; 2]) {}
        fn output(&mut self, _: usize, _: [Option<()>; 2]) {}
    }
    let mut count = Count(0);
    walk(shape, &graphs(shape, split), &mut count);
    count.0
}

/// The bits that program a shape: one for each switch and output, and four for each gate.
pub fn program_bits(shape: Shape, split: Split) -> usize {
    switches(shape, split) + 4 * shape.gates + shape.outputs
}

/// The outputs of the circuit of a shape, of its program and its inputs.
pub(crate) fn build(b: &mut Builder, shape: Shape, split: Split, program: &[Wire], x: &[Wire]) -> Vec<Wire> {
    let mut build = Build { b, program: program.iter().copied(), x, y: Vec::with_capacity(shape.outputs) };
    walk(shape, &graphs(shape, split), &mut build);
    debug_assert_eq!(build.program.len(), 0);
    build.y
}

/// The universal program of a shape, as [`universal`](super::universal): one circuit, as large as it is.
pub fn program(goal: Goal, shape: Shape, split: Split) -> Program {
    let mut b = Builder::for_goal(goal);
    let (function, x) = (b.input("function", program_bits(shape, split)), b.input("x", shape.inputs));
    let y = build(&mut b, shape, split, &function, &x);
    b.output("y", &y);
    Program::from_circuit(b.finish()).expect("a circuit is a program")
}

struct Build<'a, P> {
    b: &'a mut Builder,
    program: P,
    x: &'a [Wire],
    y: Vec<Wire>,
}

impl<P: Iterator<Item = Wire>> Build<'_, P> {
    fn next(&mut self) -> Wire {
        self.program.next().expect("a bit for each switch, and four for each gate")
    }
}

impl<P: Iterator<Item = Wire>> Nodes for Build<'_, P> {
    type Wire = Wire;

    /// Equation (2.3).
    fn node(&mut self, [first, second]: [Wire; 2], _: bool) -> [Wire; 2] {
        let (way, differ) = (self.next(), self.b.xor(first, second));
        let change = self.b.and(way, differ);
        [self.b.xor(first, change), self.b.xor(second, change)]
    }
}

impl<P: Iterator<Item = Wire>> Poles for Build<'_, P> {
    fn input(&mut self, number: usize) -> Wire {
        self.x[number]
    }

    /// Equation (2.4).
    fn gate(&mut self, _: usize, came: [Option<Wire>; 2]) -> Wire {
        let table = [(); 4].map(|()| self.next());
        let [x, y] = came.map(|wire| wire.unwrap_or(Wire::ZERO));
        let rows = [0, 2].map(|at| self.b.mux(x, table[at + 1], table[at]));
        self.b.mux(y, rows[1], rows[0])
    }

    fn output(&mut self, _: usize, came: [Option<Wire>; 2]) {
        let way = self.next();
        let [first, second] = came.map(|wire| wire.unwrap_or(Wire::ZERO));
        self.y.push(self.b.mux(way, second, first));
    }
}
