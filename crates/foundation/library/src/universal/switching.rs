//! The switches of a universal circuit as steps of a program.
//!
//! At level `l` there are `w = c 2^l` graphs, `c` those of the lowest level, and for each the wires of one block,
//! which all blocks use one after another. A register of the level has three pairs of wires for each graph: what
//! came to the block, then what came for its second pole and what the first one gave, then, after a wire that
//! nobody reads, what the second one gave. So a first pole's entrance reads and writes where a second one's does, a
//! pair further: one loop of two turns.

use comity_circuit::{Builder, CircuitId, ProgramBuilder, Register, Span, Wire};

use super::walk::{Enter, Leave, Pass, Pole, Poles, Walk, walk};

/// A wire, and how far it is to that of the next graph.
pub(super) type Place = (Span, i64);

/// The wire that comes `wires` wires after this one.
pub(super) fn further(span: &Span, wires: u64) -> Span {
    Span { start: span.start + wires, ..span.clone() }
}

/// A wire of a register.
pub(super) fn wire(register: Register, at: u64) -> Span {
    register.slice(at, 1).span()
}

/// Either half of places that belong to the graphs of the next level: those of its first and second graph for
/// each one here.
pub(super) fn halves((span, step): &Place) -> [Place; 2] {
    [(span.clone(), 2 * step), (further(span, *step as u64), 2 * step)]
}

/// A circuit of a part, whose outputs are single wires.
pub(super) fn part(
    p: &mut ProgramBuilder,
    inputs: &[usize],
    build: impl FnOnce(&mut Builder, &[Vec<Wire>]) -> Vec<Wire>,
) -> CircuitId {
    let mut b = p.builder();
    let wires: Vec<Vec<Wire>> = inputs.iter().map(|&bits| b.input("in", bits)).collect();
    for wire in build(&mut b, &wires) {
        b.output("out", &[wire]);
    }
    p.circuit(b.finish())
}

/// The value of any function of two wires, by the four bits of its table.
pub(super) fn any_gate(b: &mut Builder, [x, y]: [Wire; 2], table: &[Wire]) -> Wire {
    let rows = [0, 2].map(|at| b.mux(x, table[at + 1], table[at]));
    b.mux(y, rows[1], rows[0])
}

/// The circuits of switches.
#[derive(Clone, Copy)]
pub(super) struct Parts {
    /// Two wires as they are, or each in the other's place.
    pub(super) switch: CircuitId,
    /// The first or the second wire.
    pub(super) choose: CircuitId,
    pub(super) copy: CircuitId,
    /// A wire twice.
    pub(super) fork: CircuitId,
}

impl Parts {
    fn new(p: &mut ProgramBuilder) -> Parts {
        Parts {
            switch: part(p, &[1, 1, 1], |b, wires| {
                let (x, y) = (wires[0][0], wires[1][0]);
                let differ = b.xor(x, y);
                let change = b.and(wires[2][0], differ);
                vec![b.xor(x, change), b.xor(y, change)]
            }),
            choose: part(p, &[1, 1, 1], |b, wires| vec![b.mux(wires[2][0], wires[1][0], wires[0][0])]),
            copy: part(p, &[1], |_, wires| vec![wires[0][0]]),
            fork: part(p, &[1], |_, wires| vec![wires[0][0]; 2]),
        }
    }
}

/// The registers of switches, and the bits that program them.
#[derive(Clone)]
pub(super) struct Layout {
    pub(super) parts: Parts,
    /// The graphs of the lowest level.
    lowest: u64,
    program: Register,
    /// The wires with what came to a pole of the lowest level, one for each graph.
    came: Register,
    levels: Vec<Register>,
}

impl Layout {
    /// The graphs of a level.
    pub(super) fn graphs(&self, level: u32) -> u64 {
        self.lowest << level
    }

    /// The wires of what came to a pole of this level.
    pub(super) fn came(&self, level: u32) -> Place {
        let register = level.checked_sub(1).map_or(self.came, |below| self.levels[below as usize]);
        (wire(register, 0), 1)
    }

    /// A wire of the three pairs of a level: 0 and 1 are what came to the block, 2 is what came for its
    /// second pole, 3 and 5 are what its poles gave.
    pub(super) fn pair(&self, level: u32, at: u64) -> Place {
        (wire(self.levels[level as usize], at / 2 * 2 * self.graphs(level) + at % 2), 2)
    }

    /// The wires for what a pole gives.
    pub(super) fn given(&self, level: u32, at: usize) -> Place {
        self.pair(level, 3 + 2 * (at as u64 % 2))
    }
}

/// A program that is built, switch by switch.
pub(super) struct Switching {
    pub(super) p: ProgramBuilder,
    pub(super) layout: Layout,
    /// The bits of the program that were read.
    used: u64,
}

impl Switching {
    /// The registers for `poles`, with `lowest` graphs at the lowest level, and for the bits in `program`.
    pub(super) fn new(mut p: ProgramBuilder, program: Register, lowest: u64, poles: &impl Poles) -> Switching {
        let came = p.register(lowest);
        let top = poles.count().next_power_of_two().ilog2();
        let levels = (0..top).map(|level| p.register(6 * (lowest << level))).collect();
        let parts = Parts::new(&mut p);
        Switching { p, layout: Layout { parts, lowest, program, came, levels }, used: 0 }
    }

    /// The program, all of whose bits were read.
    pub(super) fn finish(self) -> ProgramBuilder {
        debug_assert_eq!(self.used, self.layout.program.bits());
        self.p
    }

    /// The next bits of the program.
    pub(super) fn next(&mut self, bits: u64) -> Span {
        // None are asked for at the end.
        let at = self.used.min(self.layout.program.bits() - 1);
        self.used += bits;
        wire(self.layout.program, at)
    }

    /// As [`Walk::enter`].
    pub(super) fn enter(&mut self, level: u32, form: Enter) {
        let (wide, layout) = (self.layout.graphs(level), &self.layout);
        let [first, second, rest] = [0, 1, 2].map(|at| layout.pair(level, at));
        let (came, Parts { switch, choose, .. }) = (layout.came(level), layout.parts);
        let program = (self.next(wide), 1);
        match form {
            Enter::Both => self.p.map(switch, wide, &[first, second, program], &[came, rest]),
            Enter::First => self.p.map(choose, wide, &[first, second, program], &[came]),
            Enter::Second => self.p.map(choose, wide, &[second, first, program], &[rest]),
        }
    }

    /// As [`Walk::pass`].
    pub(super) fn pass(&mut self, level: u32, form: Pass) {
        let (wide, layout) = (self.layout.graphs(level), &self.layout);
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

    /// As [`Walk::leave`].
    pub(super) fn leave(&mut self, level: u32, block: usize, form: Leave) {
        let (wide, layout) = (self.layout.graphs(level), &self.layout);
        let (first, second, outs) =
            (layout.pair(level, 3), layout.pair(level, 5), halves(&layout.given(level + 1, block)));
        let Parts { switch, fork, .. } = layout.parts;
        match form {
            Leave::Both => {
                let program = (self.next(wide), 1);
                self.p.map(switch, wide, &[first, second, program], &outs);
            }
            Leave::First => self.p.map(fork, wide, &[first], &outs),
            Leave::Second => self.p.map(fork, wide, &[second], &outs),
        }
    }
}

/// The number of bits that program all switches, with `lowest` graphs at the lowest level. A run of poles of
/// one kind counts what `of` says, and nothing inside of it is counted besides.
pub(super) fn count(poles: &impl Poles, lowest: u64, of: impl Fn(u32, Pole, usize) -> u64) -> u64 {
    struct Count<F> {
        bits: u64,
        lowest: u64,
        of: F,
    }
    impl<F: Fn(u32, Pole, usize) -> u64> Walk for Count<F> {
        fn whole(&mut self, level: u32, _: usize, kind: Pole, number: usize) -> bool {
            self.bits += (self.of)(level, kind, number);
            true
        }
        fn enter(&mut self, level: u32, _: usize, _: Enter) {
            self.bits += self.lowest << level;
        }
        fn pass(&mut self, level: u32, _: usize, form: Pass) {
            self.bits += if form == Pass::Choose { self.lowest << level } else { 0 };
        }
        fn leave(&mut self, level: u32, _: usize, form: Leave) {
            self.bits += if form == Leave::Both { self.lowest << level } else { 0 };
        }
    }
    let mut count = Count { bits: 0, lowest, of };
    walk(poles, &mut count);
    count.bits
}
