//! Whether what one turn of a loop writes is used in another one.

use super::super::overlap::{Term, reaches};
use crate::program::Span;

/// Steps of the search that one loop may take, and pairs of spans that are looked at: beyond that turns count as
/// meeting.
const BUDGET: u64 = 1 << 18;
const PAIRS: u64 = 1 << 16;

/// A span of a call in a loop's body.
pub(super) struct Use<'s> {
    /// Whether the call writes it.
    pub(super) write: bool,
    pub(super) span: &'s Span,
    /// How far it moves from one call to the next, and the number of calls.
    pub(super) stride: i64,
    pub(super) times: u64,
    /// The turns of the loops around the call, inside of the loop that is looked at; outermost first.
    pub(super) inner: Vec<u64>,
}

/// The search for two turns of one loop that meet.
pub(super) struct Meeting<'l> {
    /// The turns of the loops around the loop.
    outer: &'l [u64],
    /// The loop's turns.
    turns: u64,
    budget: u64,
    pairs: u64,
}

impl Meeting<'_> {
    pub(super) fn new(outer: &[u64], turns: u64) -> Meeting<'_> {
        Meeting { outer, turns, budget: BUDGET, pairs: PAIRS }
    }

    /// Whether one of these spans is written in one turn and used in another one.
    pub(super) fn turns_meet(&mut self, uses: &[(usize, &Use<'_>)]) -> bool {
        uses.iter().enumerate().any(|(i, (_, a))| {
            uses[i..].iter().any(|(_, b)| {
                if !(a.write || b.write) {
                    return false;
                }
                self.pairs = self.pairs.saturating_sub(1);
                self.pairs == 0 || self.budget == 0 || self.pair_meets(a, b)
            })
        })
    }

    /// Whether `a` in some turn and `b` in another one share a wire. Two conditions, each necessary: some pair
    /// of turns, the same one included, makes them meet; some turn and a later one do, with as many turns
    /// added.
    fn pair_meets(&mut self, a: &Use<'_>, b: &Use<'_>) -> bool {
        let depth = self.outer.len();
        let stride = |one: &Use, depth: usize| i128::from(one.span.strides.get(depth).copied().unwrap_or(0));
        let term = |factor: i128, times: u64| Term { factor, last: i128::from(times) - 1 };
        // Loops around both are in the same turn; those inside, and the calls, go on by themselves.
        let mut terms: Vec<Term> =
            self.outer.iter().enumerate().map(|(i, &times)| term(stride(b, i) - stride(a, i), times)).collect();
        for (one, sign) in [(a, -1), (b, 1)] {
            let inner = one.inner.iter().enumerate().map(|(i, &times)| term(sign * stride(one, depth + 1 + i), times));
            terms.extend(inner.chain([term(sign * i128::from(one.stride), one.times)]));
        }
        let (s, u) = (stride(a, depth), stride(b, depth));
        let start = i128::from(b.span.start) - i128::from(a.span.start);
        let mut with = |start: i128, times: u64, factors: [i128; 2]| {
            let turns = factors.map(|factor| term(factor, times));
            let (low, high) = (1 - i128::from(b.span.bits), i128::from(a.span.bits) - 1);
            reaches(start, &[&terms[..], &turns].concat(), low, high, &mut self.budget)
        };
        with(start, self.turns, [u, -s])
            && (with(start + u, self.turns - 1, [u - s, u]) || with(start - s, self.turns - 1, [u - s, -s]))
    }
}
