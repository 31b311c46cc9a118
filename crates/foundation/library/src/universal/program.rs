//! A universal circuit as a program: loops where blocks are alike, single steps where they are not. Registers
//! are those of [switches](super::switching), with two graphs at the lowest level.

use std::slice::from_ref;

use comity_circuit::{CircuitId, Goal, Program, ProgramBuilder, Recipients, Register, Span};

use super::Shape;
use super::switching::{Layout, Place, Switching, any_gate, count, further, halves, part, wire};
use super::walk::{Enter, Leave, Pass, Pole, Walk, walk};

/// The graphs of the lowest level.
const LOWEST: u64 = 2;

/// The most loops in one another: a program may have some more.
const LOOPS: u32 = 12;

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
    2 * bits_of(below, kind) + switches * (LOWEST << below)
}

/// As [`Shape::program_bits`].
pub(super) fn bits(shape: Shape) -> usize {
    count(&shape, LOWEST, |level, kind, _| bits_of(level, kind)) as usize
}

/// As [`universal`](super::universal).
pub(super) fn build(goal: Goal, shape: Shape) -> Program {
    let mut p = ProgramBuilder::for_goal("universal circuit", goal);
    let program = p.input("function", 0, shape.program_bits() as u64);
    let input = p.input("x", 1, shape.inputs as u64);
    let output = p.register(shape.outputs as u64);
    let mut switching = Switching::new(p, program, LOWEST, &shape);
    let gate =
        part(&mut switching.p, &[1, 1, 4], |b, wires| vec![any_gate(b, [wires[0][0], wires[1][0]], &wires[2]); 2]);
    let mut build = Build { switching, loops: Loops { input, output, gate } };
    walk(&shape, &mut build);
    let mut p = build.switching.finish();
    p.reveal("y", Recipients::All, output);
    p.finish().expect("a universal circuit is a program")
}

/// The registers and circuits of a program beside its switches.
#[derive(Clone, Copy)]
struct Loops {
    input: Register,
    output: Register,
    /// The value of any function of two wires, twice.
    gate: CircuitId,
}

impl Loops {
    /// All steps of a pole of a level that has poles of one kind. `came` are the wires of what came to it,
    /// `given` those for what it gives; `program` starts with the first of its bits, and `value` with the
    /// first wire of its inputs or outputs.
    fn loops(
        self,
        (p, layout): (&mut ProgramBuilder, &Layout),
        (level, kind): (u32, Pole),
        came: &Place,
        given: &Place,
        program: &Span,
        value: &Span,
    ) {
        let Some(below) = level.checked_sub(1) else {
            return self.pole((p, layout), kind, (came, given), program, value);
        };
        let (switch, wide, inner) = (layout.parts.switch, layout.graphs(below), bits_of(below, kind));
        let entrance = if kind == Pole::Gate { wide } else { 0 };
        let mut program = program.clone();
        if kind == Pole::Output {
            let [first, second] = halves(came);
            let outs = [layout.pair(below, 2), layout.pair(below, 4)];
            p.map(switch, wide, &[first, second, (program.clone(), 1)], &outs);
            program = further(&program, wide);
        }
        p.repeat(2, |p, turn| {
            let next = |(span, step): Place| (span.moving(turn, 2 * wide as i64), step);
            let program = program.clone().moving(turn, (entrance + inner) as i64);
            let came = match kind {
                Pole::Input | Pole::Output => next(layout.pair(below, 2)),
                Pole::Gate => {
                    let [first, second, rest] = [0, 1, 2].map(|at| next(layout.pair(below, at)));
                    p.map(switch, wide, &[first, second, (program.clone(), 1)], &[layout.came(below), rest]);
                    layout.came(below)
                }
            };
            let value = value.clone().moving(turn, 1 << below);
            let given = next(layout.pair(below, 3));
            self.loops((p, layout), (below, kind), &came, &given, &further(&program, entrance), &value);
        });
        if kind != Pole::Output {
            let program = further(&program, 2 * (entrance + inner));
            p.map(switch, wide, &[layout.pair(below, 3), layout.pair(below, 5), (program, 1)], &halves(given));
        }
    }

    /// A pole of the lowest level.
    fn pole(
        self,
        (p, layout): (&mut ProgramBuilder, &Layout),
        kind: Pole,
        (came, given): (&Place, &Place),
        program: &Span,
        value: &Span,
    ) {
        let ([came, also], [given, again]) = (halves(came).map(|(span, _)| span), halves(given).map(|(span, _)| span));
        match kind {
            Pole::Input => p.call(layout.parts.fork, from_ref(value), &[given, again]),
            Pole::Gate => p.call(self.gate, &[came, also, Span { bits: 4, ..program.clone() }], &[given, again]),
            Pole::Output => p.call(layout.parts.choose, &[came, also, program.clone()], from_ref(value)),
        }
    }
}

struct Build {
    switching: Switching,
    loops: Loops,
}

impl Walk for Build {
    fn whole(&mut self, level: u32, at: usize, kind: Pole, number: usize) -> bool {
        if level > LOOPS {
            return false;
        }
        let Build { switching, loops } = self;
        let program = switching.next(bits_of(level, kind));
        let value = match kind {
            Pole::Input => wire(loops.input, number as u64),
            Pole::Output => wire(loops.output, number as u64),
            // Gates have no input or output.
            Pole::Gate => wire(loops.output, 0),
        };
        let Switching { p, layout, .. } = switching;
        let (came, given) = (layout.came(level), layout.given(level, at));
        loops.loops((p, layout), (level, kind), &came, &given, &program, &value);
        true
    }

    fn enter(&mut self, level: u32, _: usize, form: Enter) {
        self.switching.enter(level, form);
    }

    fn pass(&mut self, level: u32, _: usize, form: Pass) {
        self.switching.pass(level, form);
    }

    fn leave(&mut self, level: u32, block: usize, form: Leave) {
        self.switching.leave(level, block, form);
    }
}
