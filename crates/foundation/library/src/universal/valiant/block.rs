//! What stands at a block of two or four poles.

use super::walking::{Nodes, node};

/// Bits of the ways through a block's middle, or through a permutation, at most.
const BITS: u32 = 5;

/// Brings wires in another order: those that are wanted, of `width`. One switch for two; for four at most
/// five (Waksman, 1968), with the first two places where the fewest lead to.
pub(super) fn permute<N: Nodes>(
    nodes: &mut N,
    width: usize,
    wires: [Option<N::Wire>; 4],
    wanted: [bool; 4],
    ways: u8,
) -> [Option<N::Wire>; 4] {
    let way = |bit: u8| ways >> bit & 1 == 1;
    if width == 2 {
        let [first, second] = node(nodes, [wires[0], wires[1]], [wanted[0], wanted[1]], way(0));
        return [first, second, None, None];
    }
    let last = wanted[2] | wanted[3];
    let halves = [last | wanted[0], last | wanted[1]];
    let [a, b] = node(nodes, [wires[0], wires[1]], halves, way(0));
    let [c, d] = node(nodes, [wires[2], wires[3]], halves, way(1));
    let [e, first] = node(nodes, [a, c], [last, wanted[0]], way(2));
    let [g, second] = node(nodes, [b, d], [last, wanted[1]], way(3));
    let [third, fourth] = node(nodes, [e, g], [wanted[2], wanted[3]], way(4));
    [first, second, third, fourth]
}

/// The middle of a block: the wires that came for each of its poles, and those that go past them.
pub(super) struct Middle<W> {
    came: [Option<W>; 4],
    given: [Option<W>; 4],
    /// The wires that went past the second pole, and then the first of two past each later one.
    past: [Option<W>; 4],
    /// The wire beside the one that a pole may take.
    beside: Option<W>,
}

impl<W: Copy> Middle<W> {
    pub(super) fn new() -> Middle<W> {
        Middle { came: [None; 4], given: [None; 4], past: [None; 4], beside: None }
    }

    /// Begins a block, to whose poles this came.
    pub(super) fn begin(&mut self, came: [Option<W>; 4]) {
        *self = Middle { came, ..Middle::new() };
    }

    /// What the pole at place `at` takes: what came for it, or one of the wires past the poles before it.
    /// `wanted` says whether it takes any, and whether anybody comes behind it.
    pub(super) fn enter<N: Nodes<Wire = W>>(
        &mut self,
        nodes: &mut N,
        at: usize,
        [takes, goes_on]: [bool; 2],
        ways: u8,
    ) -> Option<W> {
        let way = |bit: usize| ways >> bit & 1 == 1;
        let inside = match at {
            0 => return self.came[0].filter(|_| takes),
            1 => self.given[0],
            _ => {
                let before = if at == 2 { self.past[1] } else { self.beside };
                let wires = [before, self.given[at - 1]];
                let [inside, beside] = node(nodes, wires, [true, goes_on], way(2 * at - 3));
                self.beside = beside;
                inside
            }
        };
        let outside = self.came[at];
        let [taken, past] = match (takes, outside, inside) {
            (false, ..) => [None, inside],
            // What came is for this pole alone.
            (true, Some(_), None) => [outside, None],
            _ => node(nodes, [outside, inside], [true, goes_on], way(2 * at - 2)),
        };
        self.past[at] = past;
        taken
    }

    /// Takes the output of the pole at place `at`.
    pub(super) fn leave(&mut self, at: usize, given: Option<W>) {
        self.given[at] = given;
    }

    /// The wires that may leave a block of `width` poles.
    pub(super) fn exits(&self, width: usize) -> [Option<W>; 4] {
        match width {
            2 => [self.past[1], self.given[1], None, None],
            _ => [self.past[2], self.beside, self.past[3], self.given[3]],
        }
    }
}

/// Wires with names, to find out where ways lead.
pub(super) struct Names;

impl Nodes for Names {
    type Wire = u8;

    fn node(&mut self, [first, second]: [u8; 2], crossed: bool) -> [u8; 2] {
        if crossed { [second, first] } else { [first, second] }
    }
}

/// The ways by which each place of `width` gets the wire that it wants.
pub(super) fn permutation(width: usize, wants: [Option<u8>; 4]) -> u8 {
    let wires = [0, 1, 2, 3].map(|wire| (usize::from(wire) < width).then_some(wire));
    let mut ways = 0..1 << BITS;
    let fits = |ways: &u8| {
        let out = permute(&mut Names, width, wires, [true; 4], *ways);
        wants.iter().zip(out).all(|(want, out)| want.is_none() || *want == out)
    };
    ways.find(fits).expect("a permutation network has all permutations")
}

/// A source of a pole's input, or nothing.
#[derive(Clone, Copy, PartialEq, Eq)]
pub(super) enum Source {
    /// Nothing.
    Nothing,
    /// Another block.
    Outside,
    /// The pole at this place.
    Pole(u8),
}

/// The ways through a middle by which each pole takes from its source, and what those that leave the block
/// give does; and at which exits that is.
pub(super) fn middle(width: usize, sources: &[Source], leaves: [bool; 4]) -> (u8, [Option<u8>; 4]) {
    const OUTSIDE: u8 = 8;
    for ways in 0..1 << BITS {
        let mut middle = Middle::new();
        middle.begin([0, 1, 2, 3].map(|at| Some(OUTSIDE + at)));
        let right = (0..).zip(sources).all(|(at, source)| {
            let taken = middle.enter(&mut Names, usize::from(at), [true; 2], ways);
            middle.leave(usize::from(at), Some(at));
            match source {
                Source::Nothing => true,
                Source::Outside => taken == Some(OUTSIDE + at),
                Source::Pole(pole) => taken == Some(*pole),
            }
        });
        let exits = middle.exits(width);
        let exit = [0, 1, 2, 3].map(|pole| (0..4).find(|&exit| exits[usize::from(exit)] == Some(pole)));
        if right && (0..4).all(|pole| !leaves[pole] || exit[pole].is_some()) {
            return (ways, exit);
        }
    }
    unreachable!("a middle has ways for all edges that a block can have")
}
