//! Sums of many bits of mixed weight.
//!
//! Bits wait in columns, column i for those of weight 2^i. From the lowest column upwards, full adders take three bits
//! of a column, leave one and carry one, for one AND gate each; a half adder takes the last two. Compared with a chain
//! of two-operand adders this saves half adders at their low ends, and a constant costs an AND only where its carry
//! depends on data.
//!
//! For size, the adders of a column are a chain: a running bit goes through all of them by XORs alone, and each adds
//! two bits to it. So a carry is one AND deeper than what its column adds up, and the depth is that of about one
//! ripple. Two adders in a row carry a [`Pair`]: a bit, and whether it equals the other one, which costs them no gate
//! and saves the next column's adder one XOR of four (Demenkov, Kojevnikov, Kulikov, Yaroslavtsev: "New upper bounds on
//! the Boolean circuit complexity of symmetric functions", 2010).
//!
//! For depth, adders take the bits that come first, until each column has two at most, and these two words
//! are added by a tree of carries (Oklobdzija, Villeger, Liu: "A method for speed optimized partial product
//! reduction", 1996). An adder's sum goes through no AND: a layer halves the bits of all columns.

use std::collections::VecDeque;

use comity_circuit::{Builder, Goal, Wire};

use super::add::sums;

/// The columns of bits to be added up, modulo 2^width.
pub(super) struct Columns(Vec<VecDeque<Wire>>);

/// Two bits of a column as two adders of the column below carry them: the first one, negated in even columns, and
/// whether both are equal.
#[derive(Clone, Copy)]
struct Pair {
    bit: Wire,
    equal: Wire,
}

/// The two bits that an adder adds to the running one.
#[derive(Clone, Copy)]
enum Two {
    Bits(Wire, Wire),
    Pair(Pair),
}

impl Columns {
    /// The empty sum, modulo 2^width.
    pub(super) fn new(width: usize) -> Columns {
        Columns(vec![VecDeque::new(); width])
    }

    /// The number of columns.
    pub(super) fn width(&self) -> usize {
        self.0.len()
    }

    /// Adds a bit times 2^at.
    pub(super) fn bit(&mut self, at: usize, bit: Wire) {
        if let Some(column) = self.0.get_mut(at) {
            column.push_back(bit);
        }
    }

    /// Adds a word times 2^at.
    pub(super) fn word(&mut self, at: usize, word: &[Wire]) {
        for (i, &bit) in word.iter().enumerate() {
            self.bit(at + i, bit);
        }
    }

    /// The sum: one AND for each carry that depends on data, but none where a lone bit and a constant one carry.
    pub(super) fn sum(mut self, b: &mut Builder) -> Vec<Wire> {
        if b.goal() == Goal::Depth {
            return self.sum_in_layers(b);
        }
        let last = self.0.len() - 1;
        let mut pairs = Vec::new();
        let mut sum: Vec<Wire> = (0..last)
            .map(|i| {
                let (bit, carried) = self.reduce(b, i, &pairs);
                pairs = carried;
                bit
            })
            .collect();
        let bits = self.0[last].iter().fold(Wire::ZERO, |sum, &bit| b.xor(sum, bit));
        let top = pairs.iter().fold(bits, |sum, pair| b.xor(sum, pair.equal));
        sum.push(b.xor(top, Wire::constant(pairs.len() % 2 == 1)));
        sum
    }

    /// The sum in few layers.
    fn sum_in_layers(mut self, b: &mut Builder) -> Vec<Wire> {
        let last = self.0.len() - 1;
        let (mut x, mut y) = (Vec::with_capacity(last + 1), Vec::with_capacity(last + 1));
        // Whether all columns so far have one bit left: then nothing carries into this one any more.
        let mut alone = true;
        for at in 0..last {
            let mut column = self.by_depth(b, at);
            // An odd number of bits: with a half adder two are left, and the latest does not carry.
            let count = column.len();
            if count > 2 && count % 2 == 1 {
                let (other, latest) = (column[count - 3], column[count - 1]);
                let next = self.0[at + 1].iter().map(|&bit| b.depth(bit)).max().unwrap_or(0);
                if b.depth(latest) >= next.max(b.depth(other) + 1) {
                    self.add_first(b, at, &mut column, 2);
                }
            }
            while column.len() > 2 {
                self.add_first(b, at, &mut column, 3);
            }
            // Where all of the next column comes as late as a carry from here, this column can be done.
            let late = |&bit: &Wire| column.back().is_some_and(|&last| b.depth(bit) > b.depth(last));
            if alone && column.len() == 2 && self.0[at + 1].iter().all(late) {
                self.add_first(b, at, &mut column, 2);
            }
            alone &= column.len() < 2;
            let mut column = column.into_iter();
            x.push(column.next().unwrap_or(Wire::ZERO));
            y.push(column.next().unwrap_or(Wire::ZERO));
        }
        let (mut sum, carry) = sums(b, &x, &y, Wire::ZERO);
        sum.push(self.0[last].iter().fold(carry, |sum, &bit| b.xor(sum, bit)));
        sum
    }

    /// The bits of a column from the first to the latest; a constant one is the first, and pairs of them carry.
    fn by_depth(&mut self, b: &Builder, at: usize) -> VecDeque<Wire> {
        let mut one = false;
        let mut bits: Vec<Wire> = std::iter::from_fn(|| self.next(at, &mut one)).collect();
        bits.extend(one.then_some(Wire::ONE));
        bits.sort_by_key(|&bit| (b.depth(bit), bit.as_constant().is_none()));
        bits.into()
    }

    /// Adds the first two or three bits of a column: the sum takes its place in it, the carry goes to the next one.
    fn add_first(&mut self, b: &mut Builder, at: usize, column: &mut VecDeque<Wire>, count: usize) {
        let mut first = column.drain(..count);
        let [x, y, z] = [(); 3].map(|()| first.next().unwrap_or(Wire::ZERO));
        drop(first);
        let (bit, carry) = full_adder(b, x, y, z);
        self.bit(at + 1, carry);
        let depth = b.depth(bit);
        let place = column.partition_point(|&other| b.depth(other) < depth);
        column.insert(place, bit);
    }

    /// The sum of column `at` modulo 2, where these pairs were carried into it, and those that it carries; other
    /// carries go to the next column as bits.
    fn reduce(&mut self, b: &mut Builder, at: usize, carried: &[Pair]) -> (Wire, Vec<Pair>) {
        let mut one = false;
        let bits: Vec<Wire> = std::iter::from_fn(|| self.next(at, &mut one)).collect();
        // The running bit is the odd one, or else a constant.
        let (mut sum, bits) = match bits.len() % 2 {
            1 => (bits[0], &bits[1..]),
            _ => (Wire::constant(std::mem::take(&mut one)), &bits[..]),
        };
        let mut bits = bits.chunks(2).map(|two| Two::Bits(two[0], two[1]));
        let mut pairs = carried.iter().copied().map(Two::Pair);
        let mut out = Vec::new();
        // The cheapest double adders take a pair first, then two bits.
        while let Some(first) = pairs.next().or_else(|| bits.next()) {
            let second = if bits.len() > 0 { bits.next() } else { pairs.next() };
            let Some(second) = second else {
                let (bit, carry) = adder(b, at, sum, first);
                sum = bit;
                self.bit(at + 1, carry);
                break;
            };
            let (bit, pair) = double_adder(b, at, sum, first, second);
            sum = bit;
            out.push(pair);
        }
        if one {
            self.bit(at + 1, sum);
            sum = b.not(sum);
        }
        (sum, out)
    }

    /// The next bit of a column that is no constant. Constant ones on the way toggle `one`, and carry in pairs.
    fn next(&mut self, at: usize, one: &mut bool) -> Option<Wire> {
        while let Some(bit) = self.0[at].pop_front() {
            match bit.as_constant() {
                None => return Some(bit),
                Some(false) => {}
                Some(true) => {
                    if *one {
                        self.bit(at + 1, Wire::ONE);
                    }
                    *one = !*one;
                }
            }
        }
        None
    }
}

/// The pair of two bits of column `at`. One XOR.
fn paired(b: &mut Builder, at: usize, two: Two) -> Pair {
    match two {
        Two::Pair(pair) => pair,
        Two::Bits(x, y) if at.is_multiple_of(2) => {
            let bit = b.not(x);
            Pair { bit, equal: b.xor(bit, y) }
        }
        Two::Bits(x, y) => Pair { bit: x, equal: b.xnor(x, y) },
    }
}

/// The sum of a bit and two more of column `at`, and its carry. One AND, and four XORs for bits, three for a pair.
fn adder(b: &mut Builder, at: usize, sum: Wire, two: Two) -> (Wire, Wire) {
    let pair = match two {
        Two::Bits(x, y) => return full_adder(b, x, y, sum),
        Two::Pair(pair) => pair,
    };
    let odd = Wire::constant(at % 2 == 1);
    let running = b.xor(sum, odd);
    // In even columns all but the running bit is negated, in odd columns that alone.
    let next = b.xor(running, pair.equal);
    let differ = b.xor(running, pair.bit);
    let change = b.and(pair.equal, differ);
    let carry = b.xor(change, next);
    let even = Wire::constant(at.is_multiple_of(2));
    (b.xor(next, even), b.xor(carry, odd))
}

/// The sum of a bit and four more of column `at`, and the two bits that it carries. Two ANDs, and four XORs for each
/// two bits, three for each pair.
///
/// With s = x ^ y ^ z the sum of the first three, their carry is s ^ !(!(x ^ y) & !(x ^ z)), and that of s and the next
/// two is s ^ (s ^ u)(s ^ v): the sum of both needs no s.
fn double_adder(b: &mut Builder, at: usize, sum: Wire, first: Two, second: Two) -> (Wire, Pair) {
    let Pair { bit, equal } = paired(b, at, first);
    let (even, odd) = (Wire::constant(at.is_multiple_of(2)), Wire::constant(at % 2 == 1));
    let running = b.xor(sum, odd);
    // The sum of the first three, negated in even columns.
    let middle = b.xor(running, equal);
    let same = b.xor(running, bit);
    let neither = b.and(equal, same);
    let carry = b.xor(neither, middle);
    let (sum, change) = match second {
        Two::Pair(Pair { bit, equal }) => {
            let differ = b.xor(middle, bit);
            let change = b.and(equal, differ);
            let sum = b.xor(middle, equal);
            (b.xor(sum, odd), change)
        }
        Two::Bits(x, y) => {
            let middle = b.xor(middle, even);
            let (one, other) = (b.xor(middle, x), b.xor(middle, y));
            (b.xor(one, y), b.and(one, other))
        }
    };
    (sum, Pair { bit: carry, equal: b.xor(neither, change) })
}

/// The sum of three bits and its carry. One AND; the fewest XORs if a constant is among them.
pub(super) fn full_adder(b: &mut Builder, x: Wire, y: Wire, z: Wire) -> (Wire, Wire) {
    let is_constant = |w: Wire| w.as_constant().is_some();
    let (x, y, z) = if is_constant(x) {
        (z, y, x)
    } else if is_constant(y) {
        (x, z, y)
    } else {
        (x, y, z)
    };
    let differ = b.xor(x, y);
    let carry = match z.as_constant() {
        Some(false) => b.and(x, y),
        Some(true) => b.or(x, y),
        None => b.mux(differ, z, y),
    };
    (b.xor(differ, z), carry)
}
