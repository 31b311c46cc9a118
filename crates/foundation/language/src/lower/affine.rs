//! Public numbers: known while compiling, up to the turns of the loops around them.

/// A loop that is kept as a loop.
pub(crate) type LoopId = u32;

/// `start + sum(factor * turn)` over loops; the terms are in order, and no factor is 0.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Affine {
    pub(crate) start: i128,
    pub(crate) terms: Vec<(LoopId, i128)>,
}

/// Numbers stay below this, so that nothing overflows.
const LIMIT: u128 = 1 << 126;

/// The turns that are looked at to find a zero, at most.
const SEARCHED: u32 = 1 << 16;

impl Affine {
    pub(crate) fn constant(start: i128) -> Affine {
        Affine { start, terms: Vec::new() }
    }

    pub(crate) fn as_constant(&self) -> Option<i128> {
        self.terms.is_empty().then_some(self.start)
    }

    /// `self + factor * other`, if that is no larger than numbers may be.
    pub(crate) fn add(&self, other: &Affine, factor: i128) -> Option<Affine> {
        let small = |value: &i128| value.unsigned_abs() < LIMIT;
        let start = self.start.checked_add(other.start.checked_mul(factor)?).filter(small)?;
        let mut terms = self.terms.clone();
        for &(id, value) in &other.terms {
            let value = value.checked_mul(factor).filter(small)?;
            match terms.binary_search_by_key(&id, |term| term.0) {
                Ok(i) => terms[i].1 = terms[i].1.checked_add(value).filter(small)?,
                Err(i) => terms.insert(i, (id, value)),
            }
        }
        terms.retain(|term| term.1 != 0);
        Some(Affine { start, terms })
    }

    /// Whether it is zero in some turn, given how many turns each loop has; `None` if that takes too long to
    /// find out.
    pub(crate) fn is_ever_zero(&self, times: impl Fn(LoopId) -> u64) -> Option<bool> {
        let mut goal = self.start.checked_neg()?;
        let mut terms = Vec::with_capacity(self.terms.len());
        for &(id, factor) in &self.terms {
            let last = i128::from(times(id)) - 1;
            // A term that falls is one that rises from its last turn.
            goal = goal.checked_sub(factor.min(0).checked_mul(last)?)?;
            terms.push((factor.abs(), last));
        }
        terms.sort_unstable_by(|a, b| b.cmp(a));
        reaches(&terms, goal, &mut SEARCHED.clone())
    }

    /// The smallest and the largest value, given how many turns each loop has; `None` if that is too large.
    pub(crate) fn range(&self, times: impl Fn(LoopId) -> u64) -> Option<(i128, i128)> {
        let (mut low, mut high) = (self.start, self.start);
        for &(id, factor) in &self.terms {
            let far = factor.checked_mul(i128::from(times(id)) - 1)?;
            low = low.checked_add(far.min(0))?;
            high = high.checked_add(far.max(0))?;
        }
        Some((low, high))
    }
}

/// Whether a sum of these terms, each a factor times a number from 0 to its last, is the goal; the largest
/// factor comes first.
fn reaches(terms: &[(i128, i128)], goal: i128, left: &mut u32) -> Option<bool> {
    let Some((&(factor, last), rest)) = terms.split_first() else { return Some(goal == 0) };
    let mut most = 0i128;
    for &(factor, last) in rest {
        most = most.checked_add(factor.checked_mul(last)?)?;
    }
    // Those turns of this term are left from which the other terms can make up the difference.
    let least = goal.checked_sub(most)?.max(0);
    let from = least.div_euclid(factor) + i128::from(least.rem_euclid(factor) > 0);
    for turn in from..=goal.div_euclid(factor).min(last) {
        *left = left.checked_sub(1)?;
        if reaches(rest, goal - factor * turn, left)? {
            return Some(true);
        }
    }
    Some(false)
}
