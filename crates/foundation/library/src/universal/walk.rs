//! The order in which a universal circuit is computed: the same for whoever builds it and whoever programs it.

use super::Shape;

/// What a pole is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pole {
    /// An input: nothing comes to it.
    Input,
    /// A gate.
    Gate,
    /// An output: nothing goes from it.
    Output,
}

/// The form of a switch at the entrance of a block: to which of its poles the two edges go that come to it.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Enter {
    /// Either way.
    Both,
    /// There is no second pole: one of the two goes to the first.
    First,
    /// The first pole is an input: one of the two goes to the second.
    Second,
}

/// Where the second pole of a block takes its edge from.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Pass {
    /// From outside or from the first pole, by a switch.
    Choose,
    /// From outside: the first pole is an output.
    Outside,
    /// From the first pole: nothing comes from outside.
    Inside,
}

/// How a block is left.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Leave {
    /// By a switch.
    Both,
    /// The second pole is an output: what the first one gives goes both ways.
    First,
}

/// A visitor of a universal circuit, switch by switch. At level `l` there are `2^(l + 1)` graphs, whose poles
/// are runs of `2^l` poles; a switch of a block is one for each graph of the level. The two graphs of blocks
/// of graph `k` are `2k` and `2k + 1` of the next level.
pub trait Walk {
    /// Pole `at` of a level: a run of poles of one kind, the first of them the `number`-th of that kind.
    /// Returns whether the visitor took care of the whole run; if not, its blocks follow one by one. For a
    /// run of a single pole nothing else follows.
    fn whole(&mut self, level: u32, at: usize, kind: Pole, number: usize) -> bool;
    /// The entrance of block `block` of a level.
    fn enter(&mut self, level: u32, block: usize, form: Enter);
    /// The way between the poles of the block.
    fn pass(&mut self, level: u32, block: usize, form: Pass);
    /// The exit of the block.
    fn leave(&mut self, level: u32, block: usize, form: Leave);
}

/// Walks through the universal circuit of a shape.
pub fn walk(shape: Shape, visitor: &mut impl Walk) {
    let top = shape.poles().next_power_of_two().ilog2();
    Walker { shape, visitor }.visit(top, 0);
}

struct Walker<'a, W> {
    shape: Shape,
    visitor: &'a mut W,
}

impl<W: Walk> Walker<'_, W> {
    /// Whether something comes to this pole of a level.
    fn takes(&self, level: u32, at: usize) -> bool {
        (at + 1) << level > self.shape.inputs
    }

    /// Whether something goes from it.
    fn gives(&self, level: u32, at: usize) -> bool {
        at << level < self.shape.inputs + self.shape.gates
    }

    fn is_there(&self, level: u32, at: usize) -> bool {
        at << level < self.shape.poles()
    }

    /// The kind of all poles in this one of a level, and the number of the first among those of its kind.
    fn kind(&self, level: u32, at: usize) -> Option<(Pole, usize)> {
        let Shape { inputs, gates, .. } = self.shape;
        let (from, to) = (at << level, (at + 1) << level);
        match from {
            _ if to > self.shape.poles() => None,
            _ if to <= inputs => Some((Pole::Input, from)),
            _ if from >= inputs + gates => Some((Pole::Output, from - inputs - gates)),
            _ if from >= inputs && to <= inputs + gates => Some((Pole::Gate, from - inputs)),
            _ => None,
        }
    }

    fn visit(&mut self, level: u32, at: usize) {
        if let Some((kind, number)) = self.kind(level, at)
            && self.visitor.whole(level, at, kind, number)
        {
            return;
        }
        let Some(below) = level.checked_sub(1) else { return };
        let (first, second) = (2 * at, 2 * at + 1);
        let pair = self.is_there(below, second);
        let comes = at > 0 && self.takes(level, at);
        if comes {
            let form = match (pair, self.takes(below, first)) {
                (false, _) => Enter::First,
                (true, true) => Enter::Both,
                (true, false) => Enter::Second,
            };
            self.visitor.enter(below, at, form);
        }
        self.visit(below, first);
        if !pair {
            return;
        }
        if self.takes(below, second) {
            let form = match (comes, self.gives(below, first)) {
                (true, true) => Pass::Choose,
                (true, false) => Pass::Outside,
                (false, _) => Pass::Inside,
            };
            self.visitor.pass(below, at, form);
        }
        self.visit(below, second);
        if self.gives(level, at) && self.is_there(level, at + 1) {
            let form = if self.gives(below, second) { Leave::Both } else { Leave::First };
            self.visitor.leave(below, at, form);
        }
    }
}
