//! Addition and comparison in few layers, for protocols that pay for each layer of ANDs with a round.
//!
//! A ripple has the fewest ANDs and is as deep as the word is wide. Here carries are combined in a tree (Sklansky:
//! "Conditional-sum addition logic", 1960): ⌈log2 n⌉ + 1 layers for about (n log2 n) more ANDs than a ripple.

use comity_circuit::{Builder, Wire};

use super::width;

/// The carry of a run of bits: what the run does with it.
#[derive(Clone, Copy)]
struct Carry {
    /// Whether the run makes a carry itself.
    makes: Wire,
    /// Whether the run hands a carry on; never both.
    passes: Wire,
}

impl Carry {
    /// The carry of two runs together. Two ANDs, or one if nothing is passed on to the lower one.
    fn above(self, b: &mut Builder, lower: Carry) -> Carry {
        let passed = b.and(self.passes, lower.makes);
        Carry { makes: b.xor(self.makes, passed), passes: b.and(self.passes, lower.passes) }
    }
}

/// `x + y` modulo 2^n, as [`add`](super::add), in ⌈log2 (n - 1)⌉ + 1 layers for n > 2. For n = 2^k: n·k - 2k + 1 ANDs, k > 0.
pub fn add_prefix(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let sums = super::xor(b, x, y);
    let makes = super::and(b, x, y);
    with_carries(b, &sums, &makes, &sums)
}

/// `x - y` modulo 2^n, as [`sub`](super::sub). Layers and ANDs as [`add_prefix`].
pub fn sub_prefix(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Vec<Wire> {
    let differ = super::xor(b, x, y);
    // A borrow starts where only y is one, and goes on where both are equal.
    let makes = super::and(b, &differ, y);
    let passes = super::not(b, &differ);
    with_carries(b, &differ, &makes, &passes)
}

/// `x < y`, unsigned, as [`lt`](super::lt), in ⌈log2 n⌉ + 1 layers. 3n - ⌊log2 n⌋ - 2 ANDs if n is a power of two.
pub fn lt_prefix(b: &mut Builder, x: &[Wire], y: &[Wire]) -> Wire {
    width(x, y);
    let differ = super::xor(b, x, y);
    let makes = super::and(b, &differ, y);
    let passes = super::not(b, &differ);
    let mut runs: Vec<Carry> = makes.iter().zip(&passes).map(|(&makes, &passes)| Carry { makes, passes }).collect();
    runs[0].passes = Wire::ZERO;
    while runs.len() > 1 {
        let pair = |pair: &[Carry]| if let [lower, upper] = *pair { upper.above(b, lower) } else { pair[0] };
        runs = runs.chunks(2).map(pair).collect();
    }
    runs[0].makes
}

/// The sums of bits and the carries into them.
fn with_carries(b: &mut Builder, sums: &[Wire], makes: &[Wire], passes: &[Wire]) -> Vec<Wire> {
    let n = sums.len() - 1; // nobody asks for the carry out of the top
    let mut runs: Vec<Carry> = makes[..n].iter().zip(passes).map(|(&makes, &passes)| Carry { makes, passes }).collect();
    if let Some(lowest) = runs.first_mut() {
        lowest.passes = Wire::ZERO;
    }
    // After each round, runs[i] is that of the bits from i down to the last multiple of 2·half.
    let mut half = 1;
    while half < n {
        for i in (0..n).filter(|i| i & half != 0) {
            runs[i] = runs[i].above(b, runs[i / half * half - 1]);
        }
        half *= 2;
    }
    let carries = [Wire::ZERO].into_iter().chain(runs.iter().map(|run| run.makes));
    sums.iter().zip(carries).map(|(&sum, carry)| b.xor(sum, carry)).collect()
}
