//! Addition and comparison in few layers, for protocols that pay for each layer of ANDs with a round.
//!
//! A ripple has the fewest ANDs and is as deep as the word is wide. Here carries are combined in a tree
//! (Sklansky: "Conditional-sum addition logic", 1960), for about n log2 n more ANDs than a ripple. The tree
//! is not balanced: of two neighbours the upper one's carry goes through no AND when they are joined, so it
//! may come a layer later than the lower one's. With that in the shape, 2^d - 1 bits take d layers, which is
//! the least possible: the carry out of n bits has degree n + 1. Bits that come late have their place nearer
//! to the root.

use comity_circuit::{Builder, Wire};

use super::width;

/// The carry of a run of bits: whether the run makes one, and whether it passes one on.
#[derive(Clone, Copy)]
pub(super) struct Carry {
    /// Whether the run makes a carry itself.
    pub(super) makes: Wire,
    /// Whether the run hands a carry on; never both.
    pub(super) passes: Wire,
}

impl Carry {
    /// A carry that comes in, as the run of nothing below the lowest bit.
    fn incoming(carry: Wire) -> Carry {
        Carry { makes: carry, passes: Wire::ZERO }
    }

    /// The carry of two runs together. Two ANDs, or one if nothing is passed on to the lower one.
    fn above(self, b: &mut Builder, lower: Carry) -> Carry {
        let passed = b.and(self.passes, lower.makes);
        Carry { makes: b.xor(self.makes, passed), passes: b.and(self.passes, lower.passes) }
    }
}

/// The layers by which a run has to be known: `makes` and `passes`.
#[derive(Clone, Copy)]
struct Due {
    makes: u32,
    passes: u32,
}

impl Due {
    /// When the lower one of two runs has to be known, so that both together are.
    fn lower(self) -> Option<Due> {
        Some(Due { makes: self.makes.checked_sub(1)?, passes: self.passes.saturating_sub(1) })
    }

    /// When the upper one has to be known.
    fn upper(self) -> Due {
        Due { makes: self.makes, passes: self.passes.min(self.makes).saturating_sub(1) }
    }
}

/// The shape of a tree over runs, from the layers in which they come.
struct Shape {
    known: Vec<Due>,
    /// The layer in which the carry out of all runs is known. Layers are counted from a little before the last run.
    end: u32,
}

impl Shape {
    fn new(b: &Builder, runs: &[Carry]) -> Shape {
        let latest = runs.iter().map(|run| b.depth(run.makes).max(b.depth(run.passes))).max().unwrap_or(0);
        // What is known long before the latest run can be joined in time in any shape: how long before does not matter.
        let floor = latest.saturating_sub(2 * runs.len().ilog2() + 4);
        let known = |wire| b.depth(wire).saturating_sub(floor);
        let known: Vec<Due> =
            runs.iter().map(|run| Due { makes: known(run.makes), passes: known(run.passes) }).collect();
        let mut shape = Shape { end: known.iter().map(|run| run.makes).max().unwrap_or(0), known };
        while shape.reach(0, runs.len(), shape.root()) < runs.len() {
            shape.end += 1;
        }
        shape
    }

    /// The gates due for all runs, where it does not matter whether they pass a carry on.
    fn root(&self) -> Due {
        Due { makes: self.end, passes: u32::MAX }
    }

    /// How far the runs from `from` on fit a tree that is due then; not beyond `to`.
    fn reach(&self, from: usize, to: usize, due: Due) -> usize {
        if from >= to || self.known[from].makes > due.makes || self.known[from].passes > due.passes {
            return from;
        }
        let alone = from + 1;
        match due.lower() {
            Some(lower) if due.passes > 0 => {
                let middle = self.reach(from, to, lower);
                if middle == from { alone } else { self.reach(middle, to, due.upper()) }
            }
            _ => alone,
        }
    }
}

/// Replaces each run by all runs up to it.
pub(super) fn prefixes(b: &mut Builder, runs: &mut [Carry]) {
    fn part(b: &mut Builder, shape: &Shape, runs: &mut [Carry], from: usize, to: usize, due: Due) {
        let Some(lower) = due.lower().filter(|_| to - from > 1) else { return };
        let middle = shape.reach(from, to, lower);
        part(b, shape, runs, from, middle, lower);
        part(b, shape, runs, middle, to, due.upper());
        for i in middle..to {
            runs[i] = runs[i].above(b, runs[middle - 1]);
        }
    }
    if !runs.is_empty() {
        let shape = Shape::new(b, runs);
        part(b, &shape, runs, 0, runs.len(), shape.root());
    }
}

/// The carry out of all runs.
fn carry_out(b: &mut Builder, runs: &[Carry]) -> Wire {
    fn part(b: &mut Builder, shape: &Shape, runs: &[Carry], from: usize, to: usize, due: Due) -> Carry {
        let Some(lower) = due.lower().filter(|_| to - from > 1) else { return runs[from] };
        let middle = shape.reach(from, to, lower);
        let low = part(b, shape, runs, from, middle, lower);
        if middle == to {
            return low;
        }
        let high = part(b, shape, runs, middle, to, due.upper());
        high.above(b, low)
    }
    let shape = Shape::new(b, runs);
    part(b, &shape, runs, 0, runs.len(), shape.root()).makes
}

/// The carries of `x + y`, bit by bit, and the sums without them.
pub(super) fn of_sum(b: &mut Builder, x: &[Wire], y: &[Wire]) -> (Vec<Carry>, Vec<Wire>) {
    let run = |(&x, &y): (&Wire, &Wire)| {
        let sum = b.xor(x, y);
        (Carry { makes: b.and(x, y), passes: sum }, sum)
    };
    x.iter().zip(y).map(run).unzip()
}

/// The borrows of `x - y`, bit by bit, and the differences without them.
pub(super) fn of_difference(b: &mut Builder, x: &[Wire], y: &[Wire]) -> (Vec<Carry>, Vec<Wire>) {
    let run = |(&x, &y): (&Wire, &Wire)| {
        // A borrow starts where only y is one, and goes on where both are equal.
        let differ = b.xor(x, y);
        (Carry { makes: b.and(differ, y), passes: b.not(differ) }, differ)
    };
    x.iter().zip(y).map(run).unzip()
}

/// The sums with their carries, and the carry out, where `carry` comes in.
pub(super) fn resolve(b: &mut Builder, (runs, sums): (Vec<Carry>, Vec<Wire>), carry: Wire) -> (Vec<Wire>, Wire) {
    let mut runs = [&[Carry::incoming(carry)], &runs[..]].concat();
    // Without a carry that comes in, the lowest bit is the end of all runs.
    let none = usize::from(carry == Wire::ZERO && runs.len() > 1);
    if none == 1 {
        runs[1].passes = Wire::ZERO;
    }
    prefixes(b, &mut runs[none..]);
    let with_carry = |(&sum, run): (&Wire, &Carry)| b.xor(sum, run.makes);
    let word = sums.iter().zip(&runs).map(with_carry).collect();
    (word, runs[runs.len() - 1].makes)
}

/// `x + y` modulo 2^n, as [`add`](super::add), in ⌈log2 n⌉ layers. For n = 2^k, k > 0: n·k ANDs less one.
pub fn add_prefix(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    width(x, y);
    let bits = of_sum(b, x, y);
    resolve(b, bits, Wire::ZERO).0
}

/// `x - y` modulo 2^n, as [`sub`](super::sub). Layers and ANDs as [`add_prefix`].
pub fn sub_prefix(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    width(x, y);
    let bits = of_difference(b, x, y);
    resolve(b, bits, Wire::ZERO).0
}

/// `x < y`, unsigned, as [`lt`](super::lt), in ⌊log2 n⌋ + 1 layers. 3n - ⌊log2 n⌋ - 2 ANDs if n is a power of
/// two.
pub fn lt_prefix(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    width(x, y);
    less(b, x, y, Wire::ZERO)
}

/// The borrow of `x - y` where `below` comes in.
pub(super) fn less(b: &mut Builder, x: &[Wire], y: &[Wire], below: Wire) -> Wire {
    let (mut runs, _) = of_difference(b, x, y);
    match runs.first_mut() {
        Some(lowest) if below == Wire::ZERO => lowest.passes = Wire::ZERO,
        _ => runs.insert(0, Carry::incoming(below)),
    }
    carry_out(b, &runs)
}

/// |x - y|, unsigned. A negative difference is the complement of x - y - 1: the borrow out comes in again.
pub(super) fn distance(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let (mut runs, differences) = of_difference(b, x, y);
    prefixes(b, &mut runs);
    let negative = runs[width(x, y) - 1].makes;
    let around = Carry::incoming(negative);
    let borrows = [Carry { makes: Wire::ZERO, passes: Wire::ONE }].into_iter().chain(runs);
    differences
        .into_iter()
        .zip(borrows)
        .map(|(difference, run)| {
            let borrow = run.above(b, around).makes;
            let bit = b.xor(difference, borrow);
            b.xor(bit, negative)
        })
        .collect()
}
