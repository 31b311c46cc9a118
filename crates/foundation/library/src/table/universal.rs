//! Universal circuits.

use comity_circuit::{Builder, Wire};

use super::{sized, value};
use crate::entry::{Build, Entry, Size, Width};
use crate::universal::valiant::{self, Split};
use crate::universal::{Shape, direct, universal};

const fn shape(Size { n, w, k }: Size) -> Shape {
    Shape { inputs: n, outputs: w, gates: k }
}

fn build(b: &mut Builder, size: Size, split: Split, inputs: &[Vec<Wire>]) -> Vec<Wire> {
    valiant::build(b, shape(size), split, &inputs[0], &inputs[1])
}

/// The largest numbers of circuits that are no program of loops: some millions of gates.
const FLAT: &[usize] = &[1 << 12, 1 << 12, 1 << 17];

pub(super) const ENTRIES: &[Entry] = &[
    sized(
        ("universalNxWxK", &[Shape::MAX; 3]),
        "any circuit of N inputs, W outputs and K gates, of x: which one, its first input says (`comity pfe`)",
        &[value("function", Width::Function), value("x", Width::N)],
        &[value("y", Width::W)],
        Build::Program(|goal, size| universal(goal, shape(size))),
    ),
    sized(
        ("valiantNxWxK", FLAT),
        "the same by Valiant's circuit with blocks of two, which is larger",
        &[value("function", Width::FunctionOf(Split::Two)), value("x", Width::N)],
        &[value("y", Width::W)],
        Build::Any(|b, size, inputs| build(b, size, Split::Two, inputs)),
    ),
    sized(
        ("valiantfourNxWxK", FLAT),
        "the same by Valiant's circuit with blocks of four",
        &[value("function", Width::FunctionOf(Split::Four)), value("x", Width::N)],
        &[value("y", Width::W)],
        Build::Any(|b, size, inputs| build(b, size, Split::Four, inputs)),
    ),
    sized(
        ("hybridNxWxK", FLAT),
        "the same with blocks of two or four, whichever are smaller (Günther, Kiss, Schneider)",
        &[value("function", Width::FunctionOf(Split::Hybrid)), value("x", Width::N)],
        &[value("y", Width::W)],
        Build::Any(|b, size, inputs| build(b, size, Split::Hybrid, inputs)),
    ),
    sized(
        ("directNxWxK", &[direct::MAX; 3]),
        "any circuit of N inputs, W outputs and K gates read as often as one likes: each wire is chosen among all (`comity pfe`)",
        &[value("function", Width::DirectFunction), value("x", Width::N)],
        &[value("y", Width::W)],
        Build::Program(|goal, size| direct::program(goal, shape(size))),
    ),
];
