//! [`Ideal`]: mutable order-preserving codes that show the order of the values, and nothing more.
//!
//! F. Kerschbaum, A. Schröpfer, Optimal average-complexity ideal-security order-preserving encryption (CCS
//! 2014); section 4.1 of the deliverable. The client keeps a dictionary; a new value gets the middle of its
//! neighbours' codes, which is a place in an unbalanced search tree; where there is no middle, all codes are
//! spread out evenly (the tree is balanced) and the server replaces them.
//!
//! *Security*: indistinguishable under ordered chosen plaintexts (IND-OCPA): codes are a function of the
//! order in which the ranks of the values came, and of nothing else. Equal values have equal codes.
//!
//! *Cost*: values in uniform random order meet no rebalance with 62-bit codes up to far more than 10^6 (the
//! height of a random search tree is 4.3 ln n). The paper's average is for that order only; sorted input is
//! the worst case of its rule. So where many of the last codes were new greatest ones, the next one is placed
//! close to them and not in the middle of what is free above (the same below). This rule reads codes only,
//! and so shows nothing that they do not show.

use zeroize::Zeroize;

use crate::dictionary::{Dictionary, Place};
use crate::error::{Error, Result};

/// A code: `u64` for 62 bits, which PostgreSQL stores as `bigint`, or `u128` for 126.
pub trait Code: Copy + Ord + Into<u128> {
    /// The most bits of a code.
    const BITS: u32;

    /// The code with this number, which is below `2^BITS`.
    fn new(number: u128) -> Self;
}

impl Code for u64 {
    const BITS: u32 = 62;

    fn new(number: u128) -> u64 {
        number as u64
    }
}

impl Code for u128 {
    const BITS: u32 = 126;

    fn new(number: u128) -> u128 {
        number
    }
}

/// A value: it is ordered, and can be wiped.
pub trait Plaintext: Copy + Ord + Zeroize {}

impl<V: Copy + Ord + Zeroize> Plaintext for V {}

/// The code that a value was given.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Placed<C> {
    /// The code of the value; no other code changed.
    Code(C),
    /// The code of the value; other codes had to change.
    Rebalanced {
        /// The moves: each code that changed, and its new code, in order. Replace all at once.
        moves: Vec<(C, C)>,
        /// The code of the value.
        code: C,
    },
}

impl<C: Copy> Placed<C> {
    /// The code.
    pub fn code(&self) -> C {
        match self {
            Placed::Code(code) | Placed::Rebalanced { code, .. } => *code,
        }
    }
}

/// Codes for many values at once.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Bulk<C> {
    /// The code of each value, in the order in which the values were given.
    pub codes: Vec<C>,
    /// The moves: each older code that changed, and its new code, in order.
    pub moves: Vec<(C, C)>,
}

/// The client's side of ideal-security order-preserving encryption.
pub struct Ideal<V: Plaintext = u64, C: Code = u64> {
    dictionary: Dictionary<V, C>,
    bits: u32,
    pattern: Pattern,
}

/// The pattern of the last codes: how many of them became the greatest or the least, as counts that decay by
/// 1/64 with each code, in units of 2^-16.
#[derive(Clone, Copy, Default, Debug, PartialEq, Eq)]
pub struct Pattern {
    /// The count of codes that became the greatest.
    pub rising: u32,
    /// The count of codes that became the least.
    pub falling: u32,
}

impl Pattern {
    /// The count from which codes rise or fall. In random order the n-th code is a new greatest one with probability
    /// 1/n: with 256 codes, an eighth of the last 64 is no chance.
    const MANY: u32 = 8 << 16;
    const AFTER: usize = 256;

    fn note(&mut self, least: bool, greatest: bool) {
        let next = |count: u32, hit: bool| count - count / 64 + (u32::from(hit) << 16);
        // The first code of all is both, and tells nothing.
        *self =
            Pattern { rising: next(self.rising, greatest && !least), falling: next(self.falling, least && !greatest) };
    }
}

impl<V: Plaintext, C: Code> Default for Ideal<V, C> {
    fn default() -> Ideal<V, C> {
        Ideal { dictionary: Dictionary::new(), bits: C::BITS, pattern: Pattern::default() }
    }
}

impl<V: Plaintext, C: Code> Ideal<V, C> {
    /// An empty dictionary.
    pub fn new() -> Ideal<V, C> {
        Ideal::default()
    }

    /// An empty dictionary with codes of fewer bits.
    ///
    /// # Errors
    /// [`Error::Invalid`] if `bits` is more than the type has, or less than 4.
    pub fn with_bits(bits: u32) -> Result<Ideal<V, C>> {
        if !(4..=C::BITS).contains(&bits) {
            return Err(Error::Invalid(format!("codes have 4 to {} bits, not {bits}", C::BITS)));
        }
        Ok(Ideal { bits, ..Ideal::new() })
    }

    /// The dictionary of known pairs, in order, for instance from a database.
    ///
    /// # Errors
    /// [`Error::Disordered`] if values or codes do not rise; [`Error::Malformed`] if a code is out of range; as
    /// [`with_bits`](Ideal::with_bits).
    pub fn from_pairs(bits: u32, pairs: &[(V, C)], pattern: Pattern) -> Result<Ideal<V, C>> {
        let empty = Ideal::with_bits(bits)?;
        if pairs.windows(2).any(|pair| pair[0].0 >= pair[1].0 || pair[0].1 >= pair[1].1) {
            return Err(Error::Disordered);
        }
        // They rise: the ends tell.
        let outside = |pair: Option<&(V, C)>| pair.is_some_and(|pair| !empty.fits(pair.1));
        if outside(pairs.first()) || outside(pairs.last()) {
            return Err(Error::Malformed("a code is out of range".into()));
        }
        Ok(Ideal { dictionary: Dictionary::from_sorted(pairs.iter().copied()), pattern, ..empty })
    }

    /// Takes over a pair that another client has made.
    ///
    /// # Errors
    /// As [`from_pairs`](Ideal::from_pairs), if it does not fit in.
    pub fn adopt(&mut self, value: V, code: C) -> Result<()> {
        if !self.fits(code) {
            return Err(Error::Malformed("a code is out of range".into()));
        }
        match self.dictionary.find(value) {
            Ok(place) => match self.dictionary.pair(place) {
                Some((_, known)) if known == code => Ok(()),
                _ => Err(Error::Disordered),
            },
            Err(place) => {
                let gap = self.gap(place);
                if code.into() <= gap.low || code.into() >= gap.high {
                    return Err(Error::Disordered);
                }
                self.dictionary.insert(place, value, code);
                Ok(())
            }
        }
    }

    fn fits(&self, code: C) -> bool {
        (1..1 << self.bits).contains(&code.into())
    }

    /// The code of a value; a new value gets a new code.
    ///
    /// # Errors
    /// [`Error::Exhausted`].
    pub fn insert(&mut self, value: V) -> Result<Placed<C>> {
        let place = match self.dictionary.find(value) {
            Ok(place) => return Ok(Placed::Code(self.dictionary.pair(place).expect("it was found").1)),
            Err(place) => place,
        };
        let gap = self.gap(place);
        let mut pattern = self.pattern;
        pattern.note(gap.least, gap.greatest);
        if let Some((first, _)) = self.spread(&gap, 1, pattern) {
            self.pattern = pattern;
            let code = C::new(first);
            self.dictionary.insert(place, value, code);
            return Ok(Placed::Code(code));
        }
        self.step(1)?;
        self.pattern = pattern;
        let moves = self.respace(&[value]);
        Ok(Placed::Rebalanced { moves, code: self.encrypt(value).expect("it was inserted") })
    }

    /// The codes of many values. They are spread out evenly, so that neither the order nor the size of the
    /// batch unbalances the codes.
    ///
    /// # Errors
    /// [`Error::Exhausted`].
    pub fn insert_many(&mut self, values: &[V]) -> Result<Bulk<C>> {
        let order = sorted(values);
        let mut new = zeroize::Zeroizing::new(Vec::with_capacity(values.len()));
        let runs = || order.chunk_by(|one, two| one.0 == two.0);
        new.extend(runs().map(|run| run[0].0).filter(|value| self.is_empty() || self.encrypt(*value).is_none()));
        let Bulk { codes: placed, moves } = self.insert_sorted(&new)?;
        // Both rise: a value is either the next new one, or was there.
        let mut placed = new.iter().zip(placed).peekable();
        let mut codes = vec![C::new(0); values.len()];
        for run in runs() {
            let code = match placed.next_if(|new| *new.0 == run[0].0) {
                Some((_, code)) => code,
                None => self.encrypt(run[0].0).expect("it was there"),
            };
            run.iter().for_each(|(_, at)| codes[*at] = code);
        }
        Ok(Bulk { codes, moves })
    }

    /// Inserts values that rise and are new; returns their codes, and the moves.
    pub(crate) fn insert_sorted(&mut self, sorted: &[V]) -> Result<Bulk<C>> {
        // All groups of values between the same neighbours first: the dictionary changes only if it can be done.
        let mut pattern = self.pattern;
        let mut codes: Vec<C> = Vec::with_capacity(sorted.len());
        let mut rest = sorted;
        while let Some(first) = rest.first() {
            let place = self.dictionary.find(*first).expect_err("only new values come here");
            let gap = self.gap(place);
            let count = match self.dictionary.pair(place) {
                Some((next, _)) => rest.partition_point(|value| *value < next),
                None => rest.len(),
            };
            (0..count.min(1024)).for_each(|_| pattern.note(gap.least, gap.greatest));
            let Some((first, step)) = self.spread(&gap, count, pattern) else { break };
            codes.extend((0..count).map(|i| C::new(first + i as u128 * step)));
            rest = &rest[count..];
        }
        if !rest.is_empty() {
            self.step(sorted.len())?;
            self.pattern = pattern;
            let moves = self.respace(sorted);
            let code = |value: &V| self.encrypt(*value).expect("it was inserted");
            return Ok(Bulk { codes: sorted.iter().map(code).collect(), moves });
        }
        self.pattern = pattern;
        let new = sorted.iter().copied().zip(codes.iter().copied());
        if sorted.len() < self.dictionary.len() / 4 {
            for (value, code) in new {
                let place = self.dictionary.find(value).expect_err("only new values come here");
                self.dictionary.insert(place, value, code);
            }
        } else if self.dictionary.len() == 0 {
            self.dictionary = Dictionary::from_sorted(new);
        } else {
            let merged = merge(self.dictionary.iter(), new);
            self.dictionary = Dictionary::from_sorted(merged);
        }
        Ok(Bulk { codes, moves: Vec::new() })
    }

    /// Spreads all codes out evenly; returns the codes that changed.
    ///
    /// # Errors
    /// [`Error::Exhausted`].
    pub fn rebalance(&mut self) -> Result<Vec<(C, C)>> {
        self.step(0)?;
        Ok(self.respace(&[]))
    }

    /// Forgets a value; returns its code.
    pub fn remove(&mut self, value: V) -> Option<C> {
        self.dictionary.remove(value)
    }

    /// The code of a value that has one.
    pub fn encrypt(&self, value: V) -> Option<C> {
        self.dictionary.find(value).ok().and_then(|place| self.dictionary.pair(place)).map(|pair| pair.1)
    }

    /// The value of a code.
    pub fn decrypt(&self, code: C) -> Option<V> {
        self.dictionary.value(code)
    }

    /// The least and the greatest code of the values from `low` to `high`, both included; `None` if there are
    /// no such values.
    pub fn range(&self, low: V, high: V) -> Option<(C, C)> {
        let (Ok(first) | Err(first)) = self.dictionary.find(low);
        let last = match self.dictionary.find(high) {
            Ok(place) => self.dictionary.pair(place),
            Err(place) => self.dictionary.before(place),
        };
        let ((_, first), (_, last)) = (self.dictionary.pair(first)?, last?);
        (first <= last).then_some((first, last))
    }

    /// The number of values that have codes.
    pub fn len(&self) -> usize {
        self.dictionary.len()
    }

    /// Whether no value has a code.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }

    /// All pairs, in order.
    pub fn iter(&self) -> impl Iterator<Item = (V, C)> + '_ {
        self.dictionary.iter()
    }

    /// The pattern in which the last codes were given, to be stored with the pairs.
    pub fn pattern(&self) -> Pattern {
        self.pattern
    }

    /// The gap of free codes at a place.
    fn gap(&self, place: Place) -> Gap {
        let (below, above) = (self.dictionary.before(place), self.dictionary.pair(place));
        Gap {
            low: below.map_or(0, |pair| pair.1.into()),
            high: above.map_or(1 << self.bits, |pair| pair.1.into()),
            least: below.is_none(),
            greatest: above.is_none(),
        }
    }

    /// The first code of `count` new ones in a gap, and the step from one to the next; `None` if they have no room.
    fn spread(&self, gap: &Gap, count: usize, pattern: Pattern) -> Option<(u128, u128)> {
        let (width, count) = (gap.high - gap.low, count as u128);
        let even = width / (count + 1);
        if even == 0 {
            return None;
        }
        let seasoned = self.dictionary.len() >= Pattern::AFTER;
        let close = (width >> 20).max(1).min(even);
        if seasoned && gap.greatest && !gap.least && pattern.rising > Pattern::MANY {
            return Some((gap.low + close, close));
        }
        if seasoned && gap.least && !gap.greatest && pattern.falling > Pattern::MANY {
            return Some((gap.high - count * close, close));
        }
        Some((gap.low + even, even))
    }

    /// The distance of codes that are spread out evenly, with `new` new ones. Below 2 the next insertion would do it
    /// all again.
    fn step(&self, new: usize) -> Result<u128> {
        let step = (1u128 << self.bits) / (self.len() + new + 1) as u128;
        if step < 2 { Err(Error::Exhausted { bits: self.bits }) } else { Ok(step) }
    }

    /// Inserts new values, in order, and spreads all codes out evenly. That there is room was checked.
    fn respace(&mut self, new: &[V]) -> Vec<(C, C)> {
        let step = self.step(new.len()).expect("there is room");
        let even = |i: usize| C::new((i as u128 + 1) * step);
        if new.is_empty() {
            let codes = self.dictionary.codes_mut().enumerate();
            let moves = codes.map(|(i, code)| (std::mem::replace(code, even(i)), even(i)));
            return moves.filter(|(old, new)| old != new).collect();
        }
        // Codes are from 1 up: nought stands for what has none yet.
        let none = C::new(0);
        let merged = merge(self.dictionary.iter(), new.iter().map(|value| (*value, none)));
        let mut moves = Vec::with_capacity(self.len());
        let respaced = merged.enumerate().map(|(i, (value, old))| {
            if old != none && old != even(i) {
                moves.push((old, even(i)));
            }
            (value, even(i))
        });
        let dictionary = Dictionary::from_sorted(respaced);
        self.dictionary = dictionary;
        moves
    }
}

/// The gap between the codes around a place, both excluded: 0 and `2^bits` at the ends.
struct Gap {
    low: u128,
    high: u128,
    least: bool,
    greatest: bool,
}

/// Values in order, each with its place among those that were given.
pub(crate) fn sorted<V: Plaintext>(values: &[V]) -> zeroize::Zeroizing<Vec<(V, usize)>> {
    let mut order: zeroize::Zeroizing<Vec<_>> = values.iter().copied().zip(0..).collect::<Vec<_>>().into();
    order.sort_unstable();
    order
}

/// Two sequences in order as one.
fn merge<V: Ord, C>(
    old: impl Iterator<Item = (V, C)>,
    new: impl Iterator<Item = (V, C)>,
) -> impl Iterator<Item = (V, C)> {
    let (mut old, mut new) = (old.peekable(), new.peekable());
    std::iter::from_fn(move || match (old.peek(), new.peek()) {
        (Some(a), Some(b)) if a.0 < b.0 => old.next(),
        (_, Some(_)) => new.next(),
        (_, None) => old.next(),
    })
}
