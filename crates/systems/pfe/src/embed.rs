//! The bits that make a universal circuit compute a function: the way of each edge through its switches.

use comity_core::Bits;
use comity_library::universal::arity::{Arity, Arrival, Places};
use comity_library::universal::valiant::{self, Split};
use comity_library::universal::{Construction, Edge, Enter, Leave, Pass, Pole, Poles, Shape, Walk, colours, walk};

use crate::function::{Function, Plain, swapped};

const NONE: u32 = u32::MAX;

/// The ways through the blocks of a level: for each block and each graph of the level a bit, as the switches take it.
struct Ways {
    graphs: usize,
    enter: Bits,
    pass: Bits,
    leave: Bits,
}

/// The graphs of a level, each of `poles` poles: for each pole of each graph the pole that its edge goes to.
struct Graphs {
    poles: usize,
    next: Vec<u32>,
}

impl Graphs {
    fn new(count: usize, poles: usize) -> Graphs {
        Graphs { poles, next: vec![NONE; count * poles] }
    }

    /// The ways through the blocks, and the graphs of blocks.
    fn blocks(&self) -> (Ways, Graphs) {
        let (graphs, blocks) = (self.next.len() / self.poles, self.poles.div_ceil(2));
        let bits = || Bits::zeros(blocks * graphs);
        let mut ways = Ways { graphs, enter: bits(), pass: bits(), leave: bits() };
        let mut below = Graphs::new(2 * graphs, blocks);
        let (mut poles, mut edges): (Vec<Edge>, Vec<Edge>) = (Vec::new(), Vec::new());
        for (graph, next) in self.next.chunks_exact(self.poles).enumerate() {
            poles.clear();
            edges.clear();
            for (from, &to) in (0..).zip(next).filter(|&(_, &to)| to != NONE) {
                if from / 2 == to / 2 {
                    ways.pass.set(from as usize / 2 * graphs + graph, true);
                } else {
                    poles.push((from, to));
                    edges.push((from / 2, to / 2));
                }
            }
            for ((&(from, to), &(one, other)), second) in poles.iter().zip(&edges).zip(colours(blocks, &edges)) {
                below.next[(2 * graph + usize::from(second)) * blocks + one as usize] = other;
                // Straight is the first pole by the first graph and the second one by the second.
                ways.leave.set(one as usize * graphs + graph, second != (from % 2 == 1));
                ways.enter.set(other as usize * graphs + graph, second != (to % 2 == 1));
            }
        }
        (ways, below)
    }
}

/// The edges of a function between the poles of a shape, as those of two graphs, and what else its program says.
struct Edges {
    /// For each graph and each pole where its edge goes.
    next: [Vec<u32>; 2],
    tables: Vec<u8>,
    /// Whether what an output takes comes by the second graph.
    selects: Vec<bool>,
}

impl Edges {
    fn new(function: &Function, shape: Shape) -> Edges {
        let Shape { inputs, outputs, gates } = shape;
        let poles = shape.poles();
        let mut edges: Vec<Edge> = Vec::with_capacity(2 * function.gates().len() + outputs);
        for (gate, at) in function.gates().iter().zip((inputs as u32)..) {
            edges.extend(gate.reads.iter().flatten().map(|&read| (read, at)));
        }
        edges.extend(function.outputs().iter().zip((inputs + gates) as u32..).map(|(&read, at)| (read, at)));
        let colour = colours(poles, &edges);
        let mut next = [vec![NONE; poles], vec![NONE; poles]];
        for (&(from, to), &second) in edges.iter().zip(&colour) {
            next[usize::from(second)][from as usize] = to;
        }
        // What comes by the first graph is the first input of a gate.
        let mut colour = colour.into_iter();
        let tables = function.gates().iter().map(|gate| {
            let colours: Vec<bool> =
                gate.reads.iter().flatten().map(|_| colour.next().expect("of each edge")).collect();
            if colours.first() == Some(&true) { swapped(gate.table) } else { gate.table }
        });
        let tables = tables.collect();
        Edges { next, tables, selects: colour.collect() }
    }

    fn gate(&self, number: usize) -> impl Iterator<Item = bool> + use<> {
        rows(&self.tables, number)
    }
}

/// The four bits of a gate; those that the function does not have are zero.
fn rows(tables: &[u8], number: usize) -> impl Iterator<Item = bool> + use<> {
    let table = tables.get(number).copied().unwrap_or(0);
    (0..4).map(move |row| table >> row & 1 == 1)
}

/// The program of a function, with its switches where none of its edges go as they are.
///
/// The shape has room for the function.
pub(crate) fn program(function: &Function, shape: Shape, construction: Construction) -> Bits {
    let edges = Edges::new(function, shape);
    match construction {
        Construction::Liu => by_blocks(edges, shape),
        Construction::Valiant(split) => by_poles(&edges, shape, split),
    }
}

/// The program for [`universal`](comity_library::universal::universal).
fn by_blocks(mut edges: Edges, shape: Shape) -> Bits {
    let graphs = Graphs { poles: shape.poles(), next: core::mem::take(&mut edges.next).concat() };
    let mut writer = Writer { levels: levels(graphs), poles: edges, bits: Bits::zeros(0) };
    walk(&shape, &mut writer);
    writer.bits
}

/// The program of a function for [`Arity::program`], which has room for it.
pub(crate) fn of_arity(function: &Plain, arity: &Arity) -> Bits {
    let places = arity.places();
    let mut graph = Graphs::new(1, places.count());
    // Who reads a wire takes the next one of its places.
    let mut free = places.first.clone();
    let mut edge = |wire: u32, to: u32| {
        let from = &mut free[wire as usize];
        graph.next[*from as usize] = to;
        *from += 1;
    };
    for (gate, takes) in function.gates.iter().zip(places.takes.as_chunks().0) {
        let [first, second] = *takes;
        for (read, to) in gate.reads.into_iter().zip([first, second]) {
            read.into_iter().for_each(|wire| edge(wire, to));
        }
    }
    let outputs = &places.takes[2 * arity.shape().gates..];
    function.outputs.iter().zip(outputs).for_each(|(&wire, &to)| edge(wire, to));
    let tables = function.gates.iter().map(|gate| gate.table).collect();
    let mut writer =
        Writer { levels: levels(graph), poles: AtPlaces { places: &places, tables }, bits: Bits::zeros(0) };
    walk(&places, &mut writer);
    writer.bits
}

/// The ways through the blocks of all levels.
fn levels(mut graphs: Graphs) -> Vec<Ways> {
    let mut levels = Vec::new();
    for _ in 0..graphs.poles.next_power_of_two().ilog2() {
        let (ways, below) = graphs.blocks();
        levels.push(ways);
        graphs = below;
    }
    levels
}

/// The program for Valiant's circuits.
fn by_poles(edges: &Edges, shape: Shape, split: Split) -> Bits {
    let mut routes = valiant::Routes::new(split);
    let graphs = edges.next.each_ref().map(|next| {
        let next: Vec<Option<u32>> = next.iter().map(|&to| (to != NONE).then_some(to)).collect();
        valiant::Graph::of(shape, Some(&next), &mut routes)
    });
    let mut writer = PoleWriter { edges, bits: Bits::zeros(0) };
    valiant::walk(shape, &graphs, &mut writer);
    writer.bits
}

struct PoleWriter<'a> {
    edges: &'a Edges,
    bits: Bits,
}

impl valiant::Nodes for PoleWriter<'_> {
    type Wire = ();

    fn node(&mut self, _: [(); 2], crossed: bool) -> [(); 2] {
        self.bits.push(crossed);
        [(); 2]
    }
}

impl valiant::Poles for PoleWriter<'_> {
    fn input(&mut self, _: usize) {}

    fn gate(&mut self, number: usize, _: [Option<()>; 2]) {
        self.edges.gate(number).for_each(|bit| self.bits.push(bit));
    }

    fn output(&mut self, number: usize, _: [Option<()>; 2]) {
        self.bits.push(self.edges.selects[number]);
    }
}

/// What a program says at a pole of the lowest level.
trait AtPole {
    fn write(&self, kind: Pole, number: usize, bits: &mut Bits);
}

impl AtPole for Edges {
    fn write(&self, kind: Pole, number: usize, bits: &mut Bits) {
        match kind {
            Pole::Input => {}
            Pole::Gate => self.gate(number).for_each(|bit| bits.push(bit)),
            Pole::Output => bits.push(self.selects[number]),
        }
    }
}

/// The gates of a function at the places where they have both wires.
struct AtPlaces<'a> {
    places: &'a Places,
    tables: Vec<u8>,
}

impl AtPole for AtPlaces<'_> {
    fn write(&self, _: Pole, at: usize, bits: &mut Bits) {
        if let Some(Arrival::Second(number)) = self.places.taken(at) {
            rows(&self.tables, number).for_each(|bit| bits.push(bit));
        }
    }
}

struct Writer<P> {
    levels: Vec<Ways>,
    poles: P,
    bits: Bits,
}

impl<P> Writer<P> {
    fn write(&mut self, level: u32, block: usize, of: fn(&Ways) -> &Bits) {
        let ways = &self.levels[level as usize];
        self.bits.extend_from(&of(ways).slice(block * ways.graphs, ways.graphs));
    }
}

impl<P: AtPole> Walk for Writer<P> {
    fn whole(&mut self, level: u32, _: usize, kind: Pole, number: usize) -> bool {
        if level == 0 {
            self.poles.write(kind, number, &mut self.bits);
        }
        level == 0
    }

    fn enter(&mut self, level: u32, block: usize, _: Enter) {
        self.write(level, block, |ways| &ways.enter);
    }

    fn pass(&mut self, level: u32, block: usize, form: Pass) {
        if form == Pass::Choose {
            self.write(level, block, |ways| &ways.pass);
        }
    }

    fn leave(&mut self, level: u32, block: usize, form: Leave) {
        if form == Leave::Both {
            self.write(level, block, |ways| &ways.leave);
        }
    }
}
