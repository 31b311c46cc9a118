//! The order in which a universal circuit is computed: the same for whoever builds it and whoever programs it.

use super::Shape;

/// The kind of a pole.
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
    /// Nothing comes to the second pole, or the block has only one: one of the two edges goes to the first.
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
    /// The second pole is an output: the output of the first one goes both ways.
    First,
    /// The first pole gives nothing: what the second one gives goes both ways.
    Second,
}

/// The poles that are walked, from 0 on. Runs of them are `from..to`, whose end may be behind the last one.
pub trait Poles {
    /// The number of poles.
    fn count(&self) -> usize;
    /// Whether something comes to one of a run.
    fn takes(&self, from: usize, to: usize) -> bool;
    /// Whether something goes from one of a run.
    fn gives(&self, from: usize, to: usize) -> bool;
    /// The kind of all poles of a run, and the number of the first among those of its kind; `None` if they
    /// are not all of one kind, or the poles cannot tell. A single pole always has one.
    fn kind(&self, from: usize, to: usize) -> Option<(Pole, usize)>;
}

/// The poles of a shape: inputs, gates, outputs.
impl Poles for Shape {
    fn count(&self) -> usize {
        self.poles()
    }

    fn takes(&self, _: usize, to: usize) -> bool {
        to > self.inputs
    }

    fn gives(&self, from: usize, _: usize) -> bool {
        from < self.inputs + self.gates
    }

    fn kind(&self, from: usize, to: usize) -> Option<(Pole, usize)> {
        let Shape { inputs, gates, .. } = *self;
        match from {
            _ if to > self.poles() => None,
            _ if to <= inputs => Some((Pole::Input, from)),
            _ if from >= inputs + gates => Some((Pole::Output, from - inputs - gates)),
            _ if from >= inputs && to <= inputs + gates => Some((Pole::Gate, from - inputs)),
            _ => None,
        }
    }
}

/// A visitor of a universal circuit, switch by switch. At level `l` there are `2^l` graphs for each one of the
/// lowest level, whose poles are runs of `2^l` poles; a switch of a block is one for each graph of the level. The
/// two graphs of blocks of graph `k` are `2k` and `2k + 1` of the next level.
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

/// Walks through the universal circuit of these poles.
pub fn walk(poles: &impl Poles, visitor: &mut impl Walk) {
    let top = poles.count().next_power_of_two().ilog2();
    Walker { poles, visitor }.visit(top, 0);
}

struct Walker<'a, P, W> {
    poles: &'a P,
    visitor: &'a mut W,
}

impl<P: Poles, W: Walk> Walker<'_, P, W> {
    /// Whether something comes to this pole of a level.
    fn takes(&self, level: u32, at: usize) -> bool {
        self.poles.takes(at << level, (at + 1) << level)
    }

    /// Whether something goes from it.
    fn gives(&self, level: u32, at: usize) -> bool {
        self.poles.gives(at << level, (at + 1) << level)
    }

    fn is_there(&self, level: u32, at: usize) -> bool {
        at << level < self.poles.count()
    }

    fn visit(&mut self, level: u32, at: usize) {
        if let Some((kind, number)) = self.poles.kind(at << level, (at + 1) << level)
            && self.visitor.whole(level, at, kind, number)
        {
            return;
        }
        let Some(below) = level.checked_sub(1) else { return };
        let (first, second) = (2 * at, 2 * at + 1);
        let pair = self.is_there(below, second);
        let also = pair && self.takes(below, second);
        let comes = at > 0 && self.takes(level, at);
        if comes {
            let form = match (self.takes(below, first), also) {
                (_, false) => Enter::First,
                (true, true) => Enter::Both,
                (false, true) => Enter::Second,
            };
            self.visitor.enter(below, at, form);
        }
        self.visit(below, first);
        if !pair {
            return;
        }
        if also {
            let form = match (comes, self.gives(below, first)) {
                (true, true) => Pass::Choose,
                (true, false) => Pass::Outside,
                (false, _) => Pass::Inside,
            };
            self.visitor.pass(below, at, form);
        }
        self.visit(below, second);
        if self.gives(level, at) && self.is_there(level, at + 1) {
            let form = match (self.gives(below, first), self.gives(below, second)) {
                (true, true) => Leave::Both,
                (true, false) => Leave::First,
                (false, _) => Leave::Second,
            };
            self.visitor.leave(below, at, form);
        }
    }
}
