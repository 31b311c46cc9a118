//! The bits that make a universal circuit compute a function: the way of each edge through its switches.

use comity_core::Bits;
use comity_library::universal::{Enter, Leave, Pass, Pole, Shape, Walk, walk};

use crate::colour::{Edge, colours};
use crate::function::{Function, swapped};

const NONE: u32 = u32::MAX;

/// The ways through the blocks of a level: for each block and each graph of the level a bit, as the switches take it.
struct Ways {
    graphs: usize,
    enter: Vec<bool>,
    pass: Vec<bool>,
    leave: Vec<bool>,
}

/// The graphs of a level, each of so many poles: for each pole of each the pole that its edge goes to.
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
        let bits = || vec![false; blocks * graphs];
        let mut ways = Ways { graphs, enter: bits(), pass: bits(), leave: bits() };
        let mut below = Graphs::new(2 * graphs, blocks);
        let (mut poles, mut edges): (Vec<Edge>, Vec<Edge>) = (Vec::new(), Vec::new());
        for (graph, next) in self.next.chunks_exact(self.poles).enumerate() {
            poles.clear();
            edges.clear();
            for (from, &to) in (0..).zip(next).filter(|&(_, &to)| to != NONE) {
                if from / 2 == to / 2 {
                    ways.pass[from as usize / 2 * graphs + graph] = true;
                } else {
                    poles.push((from, to));
                    edges.push((from / 2, to / 2));
                }
            }
            for ((&(from, to), &(one, other)), second) in poles.iter().zip(&edges).zip(colours(blocks, &edges)) {
                below.next[(2 * graph + usize::from(second)) * blocks + one as usize] = other;
                // Straight is the first pole by the first graph and the second one by the second.
                ways.leave[one as usize * graphs + graph] = second != (from % 2 == 1);
                ways.enter[other as usize * graphs + graph] = second != (to % 2 == 1);
            }
        }
        (ways, below)
    }
}

/// The program of a function, with its switches where none of its edges go as they are.
///
/// The shape has room for the function.
pub(crate) fn program(function: &Function, shape: Shape) -> Bits {
    let Shape { inputs, outputs, gates } = shape;
    let poles = shape.poles();
    let mut edges: Vec<Edge> = Vec::with_capacity(2 * function.gates().len() + outputs);
    for (gate, at) in function.gates().iter().zip((inputs as u32)..) {
        edges.extend(gate.reads.iter().flatten().map(|&read| (read, at)));
    }
    edges.extend(function.outputs().iter().zip((inputs + gates) as u32..).map(|(&read, at)| (read, at)));
    let colour = colours(poles, &edges);
    let mut graphs = Graphs::new(2, poles);
    for (&(from, to), &second) in edges.iter().zip(&colour) {
        graphs.next[usize::from(second) * poles + from as usize] = to;
    }
    // What comes by the first graph is the first input of a gate.
    let mut colour = colour.into_iter();
    let tables = function.gates().iter().map(|gate| {
        let colours: Vec<bool> = gate.reads.iter().flatten().map(|_| colour.next().expect("of each edge")).collect();
        if colours.first() == Some(&true) { swapped(gate.table) } else { gate.table }
    });
    let tables = tables.collect();
    let mut levels = Vec::new();
    for _ in 0..poles.next_power_of_two().ilog2() {
        let (ways, below) = graphs.blocks();
        levels.push(ways);
        graphs = below;
    }
    let mut writer =
        Writer { levels, tables, selects: colour.collect(), bits: Vec::with_capacity(shape.program_bits()) };
    walk(shape, &mut writer);
    writer.bits.into_iter().collect()
}

struct Writer {
    levels: Vec<Ways>,
    tables: Vec<u8>,
    /// Whether what an output takes comes by the second graph.
    selects: Vec<bool>,
    bits: Vec<bool>,
}

impl Writer {
    fn write(&mut self, level: u32, block: usize, of: fn(&Ways) -> &[bool]) {
        let ways = &self.levels[level as usize];
        self.bits.extend_from_slice(&of(ways)[block * ways.graphs..][..ways.graphs]);
    }
}

impl Walk for Writer {
    fn whole(&mut self, level: u32, _: usize, kind: Pole, number: usize) -> bool {
        if level > 0 {
            return false;
        }
        match kind {
            Pole::Input => {}
            Pole::Gate => {
                let table = self.tables.get(number).copied().unwrap_or(0);
                self.bits.extend((0..4).map(|row| table >> row & 1 == 1));
            }
            Pole::Output => self.bits.push(self.selects[number]),
        }
        true
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
