//! A universal circuit as a program: loops where blocks are alike, single steps where they are not.
//!
//! At level `l` there are `w = 2^(l + 1)` graphs, and for each the wires of one block, which all blocks use
//! one after another. A register of the level has three pairs of wires for each graph: what came to the
//! block, then what came for its second pole and what the first one gave, then, after a wire that nobody
//! reads, what the second one gave. So a first pole's entrance reads and writes where a second one's does, a
//! pair further: one loop of two turns.

use std::slice::from_ref;

use comity_circuit::{Builder, CircuitId, Goal, Program, ProgramBuilder, Recipients, Register, Span, Wire};

use super::Shape;
use super::walk::{Enter, Leave, Pass, Pole, Walk, walk};

/// A wire, and how far it is to that of the next graph.
type Place = (Span, i64);

/// The most loops in one another: a program may have some more.
const LOOPS: u32 = 12;

/// The graphs of a level.
fn graphs(level: u32) -> u64 {
    2 << level
}

/// The bits that program a pole of a level whose poles are all of one kind.
fn bits_of(level: u32, kind: Pole) -> u64 {
    let Some(below) = level.checked_sub(1) else {
        return match kind {
            Pole::Input => 0,
            Pole::Gate => 4,
            Pole::Output => 1,
        };
    };
    let switches = match kind {
        Pole::Input | Pole::Output => 1,
        Pole::Gate => 3,
    };
    2 * bits_of(below, kind) + switches * graphs(below)
}

/// As [`Shape::program_bits`].
pub(super) fn bits(shape: Shape) -> usize {
    struct Count(u64);
    impl Walk for Count {
        fn whole(&mut self, level: u32, _: usize, kind: Pole, _: usize) -> bool {
            self.0 += bits_of(level, kind);
            true
        }
        fn enter(&mut self, level: u32, _: usize, _: Enter) {
            self.0 += graphs(level);
        }
        fn pass(&mut self, level: u32, _: usize, form: Pass) {
            self.0 += if form == Pass::Choose { graphs(level) } else { 0 };
        }
        fn leave(&mut self, level: u32, _: usize, form: Leave) {
            self.0 += if form == Leave::Both { graphs(level) } else { 0 };
        }
    }
    let mut count = Count(0);
    walk(shape, &mut count);
    count.0 as usize
}

/// As [`universal`](super::universal).
pub(super) fn build(goal: Goal, shape: Shape) -> Program {
    let mut p = ProgramBuilder::for_goal("universal circuit", goal);
    let program = p.input("function", 0, shape.program_bits() as u64);
    let input = p.input("x", 1, shape.inputs as u64);
    let output = p.register(shape.outputs as u64);
    let came = p.register(graphs(0));
    let top = shape.poles().next_power_of_two().ilog2();
    let levels = (0..top).map(|level| p.register(6 * graphs(level))).collect();
    let parts = Parts::new(&mut p);
    let mut build = Build { p, layout: Layout { parts, program, input, output, came, levels }, used: 0 };
    walk(shape, &mut build);
    let Build { mut p, used, .. } = build;
    debug_assert_eq!(used, program.bits());
    p.reveal("y", Recipients::All, output);
    p.finish().expect("a universal circuit is a program")
}

/// The circuits that are called.
#[derive(Clone, Copy)]
struct Parts {
    /// Two wires as they are, or each in the other's place.
    switch: CircuitId,
    /// The first or the second wire.
    choose: CircuitId,
    copy: CircuitId,
    /// A wire twice.
    fork: CircuitId,
    /// The value of any function of two wires, twice.
    gate: CircuitId,
}

impl Parts {
    fn new(p: &mut ProgramBuilder) -> Parts {
        let mut part = |inputs: &[usize], build: fn(&mut Builder, &[Vec<Wire>]) -> Vec<Wire>| {
            let mut b = p.builder();
            let wires: Vec<Vec<Wire>> = inputs.iter().map(|&bits| b.input("in", bits)).collect();
            for wire in build(&mut b, &wires) {
                b.output("out", &[wire]);
            }
            p.circuit(b.finish())
        };
        Parts {
            switch: part(&[1, 1, 1], |b, wires| {
                let (x, y) = (wires[0][0], wires[1][0]);
                let differ = b.xor(x, y);
                let change = b.and(wires[2][0], differ);
                vec![b.xor(x, change), b.xor(y, change)]
            }),
            choose: part(&[1, 1, 1], |b, wires| vec![b.mux(wires[2][0], wires[1][0], wires[0][0])]),
            copy: part(&[1], |_, wires| vec![wires[0][0]]),
            fork: part(&[1], |_, wires| vec![wires[0][0]; 2]),
            gate: part(&[1, 1, 4], |b, wires| {
                let (x, y, table) = (wires[0][0], wires[1][0], &wires[2]);
                let rows = [0, 2].map(|at| b.mux(x, table[at + 1], table[at]));
                vec![b.mux(y, rows[1], rows[0]); 2]
            }),
        }
    }
}

/// The memory of the program.
struct Layout {
    parts: Parts,
    program: Register,
    input: Register,
    output: Register,
    /// What came to a pole of the lowest level.
    came: Register,
    levels: Vec<Register>,
}

/// The wire that comes `wires` wires after this one.
fn further(span: &Span, wires: u64) -> Span {
    Span { start: span.start + wires, ..span.clone() }
}

fn wire(register: Register, at: u64) -> Span {
    register.slice(at, 1).span()
}

/// Either half of places that belong to the graphs of the next level: those of its first and second graph for
/// each one here.
fn halves((span, step): &Place) -> [Place; 2] {
    [(span.clone(), 2 * step), (further(span, *step as u64), 2 * step)]
}

impl Layout {
    /// What came to a pole of this level.
    fn came(&self, level: u32) -> Place {
        let register = level.checked_sub(1).map_or(self.came, |below| self.levels[below as usize]);
        (wire(register, 0), 1)
    }

    /// A wire of the three pairs of a level: 0 and 1 are what came to the block, 2 is what came for its
    /// second pole, 3 and 5 are what its poles gave.
    fn pair(&self, level: u32, at: u64) -> Place {
        (wire(self.levels[level as usize], at / 2 * 2 * graphs(level) + at % 2), 2)
    }

    /// Where what a pole gives belongs.
    fn given(&self, level: u32, at: usize) -> Place {
        self.pair(level, 3 + 2 * (at as u64 % 2))
    }

    /// All of a pole of a level that has poles of one kind. `came` is what came to it, `given` where what it
    /// gives belongs, `program` the first of its bits, and `value` that of the inputs or outputs.
    fn loops(
        &self,
        p: &mut ProgramBuilder,
        (level, kind): (u32, Pole),
        came: &Place,
        given: &Place,
        program: &Span,
        value: &Span,
    ) {
        let Some(below) = level.checked_sub(1) else {
            return self.pole(p, kind, came, given, program, value);
        };
        let (switch, wide, inner) = (self.parts.switch, graphs(below), bits_of(below, kind));
        let entrance = if kind == Pole::Gate { wide } else { 0 };
        let mut program = program.clone();
        if kind == Pole::Output {
            let [first, second] = halves(came);
            p.map(switch, wide, &[first, second, (program.clone(), 1)], &[self.pair(below, 2), self.pair(below, 4)]);
            program = further(&program, wide);
        }
        p.repeat(2, |p, turn| {
            let next = |(span, step): Place| (span.moving(turn, 2 * wide as i64), step);
            let program = program.clone().moving(turn, (entrance + inner) as i64);
            let came = match kind {
                Pole::Input | Pole::Output => next(self.pair(below, 2)),
                Pole::Gate => {
                    let [first, second, rest] = [0, 1, 2].map(|at| next(self.pair(below, at)));
                    p.map(switch, wide, &[first, second, (program.clone(), 1)], &[self.came(below), rest]);
                    self.came(below)
                }
            };
            let value = value.clone().moving(turn, 1 << below);
            self.loops(p, (below, kind), &came, &next(self.pair(below, 3)), &further(&program, entrance), &value);
        });
        if kind != Pole::Output {
            let program = further(&program, 2 * (entrance + inner));
            p.map(switch, wide, &[self.pair(below, 3), self.pair(below, 5), (program, 1)], &halves(given));
        }
    }

    /// A pole of the lowest level.
    fn pole(&self, p: &mut ProgramBuilder, kind: Pole, came: &Place, given: &Place, program: &Span, value: &Span) {
        let Parts { choose, fork, gate, .. } = self.parts;
        let ([came, also], [given, again]) = (halves(came).map(|(span, _)| span), halves(given).map(|(span, _)| span));
        match kind {
            Pole::Input => p.call(fork, from_ref(value), &[given, again]),
            Pole::Gate => p.call(gate, &[came, also, Span { bits: 4, ..program.clone() }], &[given, again]),
            Pole::Output => p.call(choose, &[came, also, program.clone()], from_ref(value)),
        }
    }
}

struct Build {
    p: ProgramBuilder,
    layout: Layout,
    /// The bits of the program that were read.
    used: u64,
}

impl Build {
    /// The next bits of the program.
    fn next(&mut self, bits: u64) -> Span {
        // None are asked for at the end.
        let at = self.used.min(self.layout.program.bits() - 1);
        self.used += bits;
        wire(self.layout.program, at)
    }

    fn whole(&mut self, level: u32, at: usize, kind: Pole, number: usize) {
        let program = self.next(bits_of(level, kind));
        let Build { p, layout, .. } = self;
        let value = match kind {
            Pole::Input => wire(layout.input, number as u64),
            Pole::Output => wire(layout.output, number as u64),
            // Gates have none.
            Pole::Gate => wire(layout.output, 0),
        };
        layout.loops(p, (level, kind), &layout.came(level), &layout.given(level, at), &program, &value);
    }
}

impl Walk for Build {
    fn whole(&mut self, level: u32, at: usize, kind: Pole, number: usize) -> bool {
        let fits = level <= LOOPS;
        if fits {
            self.whole(level, at, kind, number);
        }
        fits
    }

    fn enter(&mut self, level: u32, _: usize, form: Enter) {
        let (wide, layout) = (graphs(level), &self.layout);
        let [first, second, rest] = [0, 1, 2].map(|at| layout.pair(level, at));
        let (came, Parts { switch, choose, .. }) = (layout.came(level), layout.parts);
        let program = (self.next(wide), 1);
        match form {
            Enter::Both => self.p.map(switch, wide, &[first, second, program], &[came, rest]),
            Enter::First => self.p.map(choose, wide, &[first, second, program], &[came]),
            Enter::Second => self.p.map(choose, wide, &[second, first, program], &[rest]),
        }
    }

    fn pass(&mut self, level: u32, _: usize, form: Pass) {
        let (wide, layout) = (graphs(level), &self.layout);
        let [outside, inside] = [2, 3].map(|at| layout.pair(level, at));
        let (came, Parts { choose, copy, .. }) = (layout.came(level), layout.parts);
        match form {
            Pass::Choose => {
                let program = (self.next(wide), 1);
                self.p.map(choose, wide, &[outside, inside, program], &[came]);
            }
            Pass::Outside => self.p.map(copy, wide, &[outside], &[came]),
            Pass::Inside => self.p.map(copy, wide, &[inside], &[came]),
        }
    }

    fn leave(&mut self, level: u32, block: usize, form: Leave) {
        let (wide, layout) = (graphs(level), &self.layout);
        let (first, second, outs) =
            (layout.pair(level, 3), layout.pair(level, 5), halves(&layout.given(level + 1, block)));
        let Parts { switch, fork, .. } = layout.parts;
        match form {
            Leave::Both => {
                let program = (self.next(wide), 1);
                self.p.map(switch, wide, &[first, second, program], &outs);
            }
            Leave::First => self.p.map(fork, wide, &[first], &outs),
        }
    }
}
