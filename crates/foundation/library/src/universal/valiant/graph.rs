//! The graph that has room for every graph of `n` poles in which each pole takes one edge and gives one.

use std::collections::HashMap;

use super::super::colour::{Edge, colours};
use super::block::{self, Source};
use super::small;

/// How a graph splits its poles into blocks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Split {
    /// Into blocks of two: `5 n log2 n` nodes for both graphs of a universal circuit.
    Two,
    /// Into blocks of four: `4.75 n log2 n`.
    Four,
    /// Into blocks of two or four, whichever gives fewer nodes.
    Hybrid,
}

/// What is kept from graph to graph: the sizes of graphs, and the ways through small ones.
pub struct Routes {
    split: Split,
    sizes: HashMap<usize, (usize, usize)>,
    small: HashMap<(bool, Vec<Option<u32>>), u16>,
}

impl Routes {
    /// Routes of which nothing is kept yet.
    pub fn new(split: Split) -> Routes {
        Routes { split, sizes: HashMap::new(), small: HashMap::new() }
    }

    /// The number of nodes of a graph of `poles` poles, those with one input included; with blocks of two it
    /// is `EXACT` of equations (2.5) and (2.6).
    pub fn nodes(&mut self, poles: usize) -> usize {
        self.size(poles).0
    }

    /// The nodes, and the width of blocks.
    fn size(&mut self, poles: usize) -> (usize, usize) {
        if poles <= small::LARGEST {
            return (small::nodes(poles), 0);
        }
        if let Some(size) = self.sizes.get(&poles) {
            return *size;
        }
        let split = self.split;
        let mut of = |width: usize| {
            let subs: usize = subpoles(poles, width).map(|subpoles| subpoles + self.nodes(subpoles)).sum();
            (skeleton(poles, width) + subs, width)
        };
        let size = match split {
            Split::Two => of(2),
            Split::Four => of(4),
            Split::Hybrid => of(2).min(of(4)),
        };
        self.sizes.insert(poles, size);
        size
    }
}

/// The poles of each of the graphs between blocks: the last block takes by as many of them as it has poles.
fn subpoles(poles: usize, width: usize) -> impl Iterator<Item = usize> {
    let blocks = poles.div_ceil(width);
    let last = poles - width * (blocks - 1);
    (0..width).map(move |sub| if sub < last { blocks - 1 } else { blocks - 2 })
}

/// The nodes of blocks, without subpoles.
fn skeleton(poles: usize, width: usize) -> usize {
    let blocks = poles.div_ceil(width);
    let last = poles - width * (blocks - 1);
    // To and from the middle; the nodes in it; and those that bring edges to the last block, by its poles.
    let (order, middle, to_last) = match width {
        2 => (1, [0, 0, 1, 0, 0], [0, 1, 1, 0, 0]),
        _ => (5, [0, 0, 1, 3, 5], [0, 3, 4, 5, 5]),
    };
    let inner = (blocks - 2) * (2 * order + middle[width]);
    inner + middle[width] + to_last[last] + middle[last]
}

/// The ways through a block.
#[derive(Clone, Copy, Default)]
pub(super) struct Ways {
    pub(super) enter: u8,
    pub(super) middle: u8,
    pub(super) leave: u8,
}

/// The parts of a graph. Ways are empty where no edges go.
pub(super) enum Parts {
    /// A small graph, and the ways through it.
    Small(u16),
    /// Blocks, by their number of poles.
    Blocks {
        width: usize,
        subs: Vec<Graph>,
        ways: Vec<Ways>,
        /// Whether each subpole of each graph is crossed.
        crossed: Vec<Vec<bool>>,
    },
}

/// A graph of nodes between poles, and the ways of edges through it.
pub struct Graph {
    pub(super) poles: usize,
    /// The first pole to which something may come.
    first: usize,
    /// The first poles, from which something may go.
    givers: usize,
    /// Whether the poles are those of a circuit, and no subpoles.
    pub(super) top: bool,
    pub(super) parts: Parts,
}

impl Graph {
    /// A graph of poles; through it go the edges to `next`, if there are any.
    pub(super) fn new(
        poles: usize,
        first: usize,
        givers: usize,
        top: bool,
        next: Option<&[Option<u32>]>,
        routes: &mut Routes,
    ) -> Graph {
        let (_, width) = routes.size(poles);
        let mut graph = Graph { poles, first, givers, top, parts: Parts::Small(0) };
        if width == 0 {
            if let Some(next) = next {
                let key = (top, next.to_vec());
                let ways = routes.small.get(&key).copied().unwrap_or_else(|| {
                    let all = Graph { first: 0, givers: poles, parts: Parts::Small(0), ..graph };
                    small::ways(&all, next)
                });
                routes.small.insert(key, ways);
                graph.parts = Parts::Small(ways);
            }
            return graph;
        }
        let routed = next.map(|next| Routed::new(poles, width, next));
        let subs = subpoles(poles, width).enumerate().map(|(sub, poles)| {
            let next = routed.as_ref().map(|routed| &routed.next[sub][..]);
            // A subpole takes what its next block does, and gives what its own one does.
            Graph::new(poles, (first / width).saturating_sub(1), givers.div_ceil(width), false, next, routes)
        });
        let subs = subs.collect();
        let (ways, crossed) = routed.map_or_else(Default::default, |routed| (routed.ways, routed.crossed));
        graph.parts = Parts::Blocks { width, subs, ways, crossed };
        graph
    }

    /// The poles of a block.
    pub(super) fn in_block(&self, width: usize, block: usize) -> usize {
        width.min(self.poles - width * block)
    }

    pub(super) fn is_last(&self, width: usize, block: usize) -> bool {
        width * (block + 1) >= self.poles
    }

    /// Whether something may come to a pole.
    pub(super) fn takes(&self, pole: usize) -> bool {
        pole >= self.first
    }

    /// Whether something may go from a pole.
    pub(super) fn gives(&self, pole: usize) -> bool {
        pole < self.givers
    }

    /// Whether the output of a pole may go anywhere: to a later one, or through a second subpole of three.
    pub(super) fn wants(&self, pole: usize) -> bool {
        let passes = self.poles == 3 && !self.top && pole == 1;
        pole + 1 < self.poles && self.takes(self.poles - 1) && (self.gives(pole) || passes)
    }
}

/// The edges of a graph by the graphs between its blocks.
struct Routed {
    /// For each of the graphs, and each of its poles, where the edge goes that leaves it.
    next: Vec<Vec<Option<u32>>>,
    crossed: Vec<Vec<bool>>,
    ways: Vec<Ways>,
}

impl Routed {
    fn new(poles: usize, width: usize, next: &[Option<u32>]) -> Routed {
        let edges: Vec<Edge> = (0..).zip(next).filter_map(|(from, to)| to.map(|to| (from, to))).collect();
        let of = |pole: u32| pole as usize / width;
        let (within, between): (Vec<Edge>, Vec<Edge>) = edges.into_iter().partition(|&(from, to)| of(from) == of(to));
        let blocks = poles.div_ceil(width);
        let colour = named(poles, width, &between, graphs_of(blocks, width, &between));
        let mut next: Vec<Vec<Option<u32>>> = subpoles(poles, width).map(|subpoles| vec![None; subpoles]).collect();
        let mut crossed: Vec<Vec<bool>> = next.iter().map(|next| vec![false; next.len()]).collect();
        // For each block: the graph by which each pole's edge comes, and goes; and where each takes from.
        let mut comes = vec![[None; 4]; blocks];
        let mut goes = vec![[None; 4]; blocks];
        let mut sources = vec![[Source::Nothing; 4]; blocks];
        for (&(from, to), &sub) in between.iter().zip(&colour) {
            let (leaves, enters) = (of(from), of(to) - 1);
            if leaves != enters {
                next[sub][leaves] = Some(enters as u32);
                crossed[sub][leaves] = true;
                crossed[sub][enters] = true;
            }
            goes[leaves][from as usize % width] = Some(sub);
            comes[of(to)][to as usize % width] = Some(sub as u8);
            sources[of(to)][to as usize % width] = Source::Outside;
        }
        for &(from, to) in &within {
            sources[of(to)][to as usize % width] = Source::Pole((from as usize % width) as u8);
        }
        let ways = (0..blocks).map(|at| {
            let there = width.min(poles - width * at);
            let (middle, exits) = block::middle(width, &sources[at][..there], goes[at].map(|goes| goes.is_some()));
            let mut wants = [None; 4];
            for (goes, exit) in goes[at].iter().zip(exits) {
                if let Some(sub) = goes {
                    wants[*sub] = exit;
                }
            }
            Ways { enter: block::permutation(width, comes[at]), middle, leave: block::permutation(width, wants) }
        });
        let ways = ways.collect();
        Routed { next, crossed, ways }
    }
}

/// Colours edges between blocks, of which at most `width` leave each and at most `width` enter it.
fn graphs_of(blocks: usize, width: usize, edges: &[Edge]) -> Vec<usize> {
    let ends: Vec<Edge> = edges.iter().map(|&(from, to)| (from / width as u32, to / width as u32)).collect();
    let two = |ends: &[Edge]| colours(blocks, ends).into_iter().map(usize::from);
    if width == 2 {
        return two(&ends).collect();
    }
    // Blocks of four are two of two edges each: then at most two of their edges have one colour, and those
    // are colored again.
    let mut seen = [vec![0; blocks], vec![0; blocks]];
    let halves: Vec<Edge> = ends
        .iter()
        .map(|&(from, to)| {
            let mut half = |side: usize, block: u32| {
                let seen: &mut u32 = &mut seen[side][block as usize];
                *seen += 1;
                2 * block + (*seen - 1) / 2
            };
            (half(0, from), half(1, to))
        })
        .collect();
    let first = colours(2 * blocks, &halves);
    let mut all = vec![0; edges.len()];
    for half in [false, true] {
        let (places, ends): (Vec<usize>, Vec<Edge>) =
            ends.iter().enumerate().filter(|(at, _)| first[*at] == half).map(|(at, &edge)| (at, edge)).unzip();
        for (at, second) in places.into_iter().zip(two(&ends)) {
            all[at] = 2 * usize::from(half) + second;
        }
    }
    all
}

/// Names colours so that an edge to the last block has the colour of its pole's place there.
fn named(poles: usize, width: usize, edges: &[Edge], mut colour: Vec<usize>) -> Vec<usize> {
    let last = (poles - 1) / width * width;
    let mut names = [None; 4];
    for (&(_, to), &colour) in edges.iter().zip(&colour) {
        if let Some(place) = (to as usize).checked_sub(last) {
            names[colour] = Some(place);
        }
    }
    for place in 0..width {
        if !names.contains(&Some(place)) {
            let free = names.iter_mut().find(|name| name.is_none()).expect("as many names as colours");
            *free = Some(place);
        }
    }
    colour.iter_mut().for_each(|colour| *colour = names[*colour].expect("each has a name"));
    colour
}
