//! A graph's nodes in the order of its poles.

use super::block::{Middle, permute};
use super::graph::{Graph, Parts};
use super::small::Small;

/// A maker of nodes, which are switches of two wires.
pub trait Nodes {
    /// A wire.
    type Wire: Copy;
    /// The two wires as they leave a switch: as they came, or crossed. One of them may lead nowhere.
    fn node(&mut self, wires: [Self::Wire; 2], crossed: bool) -> [Self::Wire; 2];
}

/// A node, and the wires that leave it. With one wire, or two that are not needed, no node is made.
pub(super) fn node<N: Nodes>(
    nodes: &mut N,
    wires: [Option<N::Wire>; 2],
    wanted: [bool; 2],
    crossed: bool,
) -> [Option<N::Wire>; 2] {
    let out = match wires {
        _ if wanted == [false; 2] => [None; 2],
        [Some(first), Some(second)] => nodes.node([first, second], crossed).map(Some),
        [one, other] => [one.or(other); 2],
    };
    [0, 1].map(|at| out[at].filter(|_| wanted[at]))
}

/// A walk through a graph: for each pole the caller asks for the wires that come to it, and then gives its
/// outputs.
pub(super) struct Walking<'g, W> {
    graph: &'g Graph,
    /// The outputs of the subpoles in front of the block.
    arrived: [Option<W>; 4],
    middle: Middle<W>,
    small: Small<W>,
    subs: Vec<Walking<'g, W>>,
}

impl<'g, W: Copy> Walking<'g, W> {
    pub(super) fn new(graph: &'g Graph) -> Walking<'g, W> {
        let subs = match &graph.parts {
            Parts::Small(_) => Vec::new(),
            Parts::Blocks { subs, .. } => subs.iter().map(Walking::new).collect(),
        };
        Walking { graph, arrived: [None; 4], middle: Middle::new(), small: Small::new(), subs }
    }

    /// The wire that comes to a pole.
    pub(super) fn enter<N: Nodes<Wire = W>>(&mut self, pole: usize, nodes: &mut N) -> Option<W> {
        let graph = self.graph;
        let (width, ways) = match &graph.parts {
            Parts::Small(ways) => return self.small.enter(graph, pole, *ways, nodes),
            Parts::Blocks { width, ways, .. } => (*width, ways),
        };
        let (block, at) = (pole / width, pole % width);
        let ways = ways.get(block).copied().unwrap_or_default();
        if at == 0 {
            let takes = [0, 1, 2, 3].map(|at| at < graph.in_block(width, block) && graph.takes(pole + at));
            let came = if graph.is_last(width, block) {
                [0, 1, 2, 3].map(|at| self.arrived[at].filter(|_| takes[at]))
            } else {
                permute(nodes, width, self.arrived, takes, ways.enter)
            };
            self.middle.begin(came);
        }
        let goes_on = !graph.is_last(width, block) || at + 1 < graph.in_block(width, block);
        self.middle.enter(nodes, at, [graph.takes(pole), goes_on], ways.middle)
    }

    /// Takes the output of a pole.
    pub(super) fn leave<N: Nodes<Wire = W>>(&mut self, pole: usize, given: Option<W>, nodes: &mut N) {
        let graph = self.graph;
        let (width, ways, crossed) = match &graph.parts {
            Parts::Small(_) => return self.small.leave(pole, given),
            Parts::Blocks { width, ways, crossed, .. } => (*width, ways, crossed),
        };
        let (block, at) = (pole / width, pole % width);
        self.middle.leave(at, given);
        if at + 1 < width || graph.is_last(width, block) {
            return;
        }
        let there = [0, 1, 2, 3].map(|sub| self.subs.get(sub).is_some_and(|sub| block < sub.graph.poles));
        let ways = ways.get(block).copied().unwrap_or_default();
        let out = match graph.gives(width * block) {
            true => permute(nodes, width, self.middle.exits(width), there, ways.leave),
            false => [None; 4],
        };
        self.arrived = [None; 4];
        for (sub, walking) in self.subs.iter_mut().enumerate().filter(|(sub, _)| there[*sub]) {
            let inner = walking.enter(block, nodes);
            let wanted = [walking.graph.takes(block), walking.graph.wants(block)];
            let crossed = crossed.get(sub).is_some_and(|crossed| crossed[block]);
            let [on, into] = node(nodes, [out[sub], inner], wanted, crossed);
            walking.leave(block, into, nodes);
            self.arrived[sub] = on;
        }
    }
}
