//! Graphs of six poles at most: with 0, 0, 0, 3, 7 and 9 nodes beside the poles (D13.3, Figure 2.2).
//!
//! Up to three poles stand one behind the other, and an edge that skips the second goes through it, which is
//! a subpole, and straight. Poles that are no subpoles pass nothing on: three of them have a node.
//!
//! Of more, what goes past the second pole is a wire, past the third two or three, and past the last but one
//! is again one; five nodes for six poles are the same from either end.

use super::block::Names;
use super::graph::Graph;
use super::walking::{Nodes, node};

/// The largest of them.
pub(super) const LARGEST: usize = 6;

/// The nodes of a graph of `poles` poles.
pub(super) fn nodes(poles: usize) -> usize {
    [0, 0, 0, 0, 3, 7, 9][poles]
}

/// A walk through a small graph.
pub(super) struct Small<W> {
    given: Option<W>,
    /// The wires that go past the poles.
    past: [Option<W>; 3],
}

impl<W: Copy> Small<W> {
    pub(super) fn new() -> Small<W> {
        Small { given: None, past: [None; 3] }
    }

    pub(super) fn leave(&mut self, pole: usize, given: Option<W>) {
        if pole == 0 {
            self.past[0] = given;
        }
        self.given = given;
    }

    pub(super) fn enter<N: Nodes<Wire = W>>(
        &mut self,
        graph: &Graph,
        pole: usize,
        ways: u16,
        nodes: &mut N,
    ) -> Option<W> {
        let (given, takes) = (self.given, graph.takes(pole));
        let mut node = |bit: u16, wires, wanted| node(nodes, wires, wanted, ways >> bit & 1 == 1);
        let [a, b, c] = self.past;
        let last = pole + 1 == graph.poles;
        match (graph.poles, pole) {
            (_, 0) => None,
            (3, 2) if graph.top => node(0, [a, given], [takes, false])[0],
            // The second pole may be one through which an edge goes.
            (2 | 3, _) => given,
            (_, 1) => {
                // One wire, for the pole and past it.
                self.past = [given, None, None];
                given.filter(|_| takes)
            }
            (4, _) => {
                let [taken, past] = node(pole as u16 - 2, [a, given], [takes, !last]);
                self.past[0] = past;
                taken
            }
            (_, 2) => {
                let [one, other] = node(0, [a, given], [true, true]);
                // Again one wire for the pole and past it.
                self.past = [one, other, None];
                one.filter(|_| takes)
            }
            (5, 3) => {
                let [one, rest] = node(1, [a, given], [true, true]);
                let [taken, past] = node(2, [one, b], [takes, true]);
                self.past = [rest, past, None];
                taken
            }
            (5, _) => {
                let [one, _] = node(3, [a, b], [true, false]);
                node(4, [one, given], [takes, false])[0]
            }
            (_, 3) => {
                let [one, rest] = node(1, [a, given], [true, true]);
                let [rest, third] = node(2, [rest, b], [true, true]);
                let [taken, past] = node(3, [one, rest], [takes, true]);
                self.past = [past, third, None];
                taken
            }
            (_, 4) => {
                let [one, _] = node(4, [a, given], [true, false]);
                let [taken, past] = node(5, [one, b], [takes, true]);
                self.past = [past, None, c];
                taken
            }
            _ => node(6, [a, given], [takes, false])[0],
        }
    }
}

/// The ways by which each pole's edge goes to `next`.
pub(super) fn ways(graph: &Graph, next: &[Option<u32>]) -> u16 {
    let fits = |ways: &u16| {
        let mut small = Small::new();
        (0..graph.poles).all(|pole| {
            let came = small.enter(graph, pole, *ways, &mut Names);
            let from = next.iter().position(|next| *next == Some(pole as u32));
            // Through the second of three subpoles goes the edge past it, if it has none of its own.
            let passes = graph.poles == 3 && !graph.top && pole == 1 && next[0] == Some(2);
            small.leave(pole, if passes { came } else { Some(pole as u8) });
            from.is_none_or(|from| came == Some(from as u8))
        })
    };
    (0..1 << 7).find(fits).expect("a small graph has ways for all edges")
}
