//! Universal circuits.

use super::{sized, value};
use crate::entry::{Build, Entry, Size, Width};
use crate::universal::{Shape, universal};

pub(super) const ENTRIES: &[Entry] = &[sized(
    ("universalNxWxK", &[Shape::MAX; 3]),
    "any circuit of N inputs, W outputs and K gates, of x: which one, its first input says (`comity pfe`)",
    &[value("function", Width::Function), value("x", Width::N)],
    &[value("y", Width::W)],
    Build::Program(|goal, Size { n, w, k }| universal(goal, Shape { inputs: n, outputs: w, gates: k })),
)];
