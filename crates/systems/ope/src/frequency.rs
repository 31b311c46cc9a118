//! [`FrequencyHiding`]: codes that do not show which values are equal.
//!
//! F. Kerschbaum, Frequency-hiding order-preserving encryption (CCS 2015); section 4.2 of the deliverable.
//! Every row gets a code of its own, and where its value is there already, its place among the equal ones is
//! random. Here each row has a *coin*, 64 random bits, and the dictionary is that of [`Ideal`] over pairs
//! (value, coin): the rank of a new row among the `c` equal ones is then uniform among the `c + 1` gaps and
//! independent of all ranks before, since that is what the relative ranks of independent uniform numbers are.
//! A retry that keeps its coin keeps its place.
//!
//! *Security*: the notion of the paper (IND-FAOCPA) cannot be met as printed; in the corrected one of M.
//! Maffei, M. Reinert, D. Schröder (CANS 2017, IND-FA-OCPA*) the adversary's two sequences share a randomized
//! order, and that order, with the times of rebalancing, is all that codes show. What it does *not* stop:
//! each range query shows the ends of two runs of equal values, and attacks that know the distribution need
//! no frequencies (Grubbs and others, S&P 2017).
//!
//! *Storage*: a code and a coin for every row, and each distinct value once. The paper's runs of (value,
//! least, greatest), up to 1/15 of the plain text, are given up: a repeated value is then placed at the end
//! of its run, so that the order of insertion shows which rows are equal.

use crate::coin::Coin;
use crate::error::{Error, Result};
use crate::ideal::{Bulk, Code, Ideal, Pattern, Placed, Plaintext, sorted};

/// The client's side of frequency-hiding order-preserving encryption.
pub struct FrequencyHiding<V: Plaintext = u64, C: Code = u64>(Ideal<(V, Coin), C>);

impl<V: Plaintext, C: Code> Default for FrequencyHiding<V, C> {
    fn default() -> FrequencyHiding<V, C> {
        FrequencyHiding(Ideal::default())
    }
}

impl<V: Plaintext, C: Code> FrequencyHiding<V, C> {
    /// An empty dictionary.
    pub fn new() -> FrequencyHiding<V, C> {
        FrequencyHiding::default()
    }

    /// An empty dictionary with codes of fewer bits.
    ///
    /// # Errors
    /// As [`Ideal::with_bits`].
    pub fn with_bits(bits: u32) -> Result<FrequencyHiding<V, C>> {
        Ideal::with_bits(bits).map(FrequencyHiding)
    }

    /// The dictionary of known rows, in the order of value and coin.
    ///
    /// # Errors
    /// As [`Ideal::from_pairs`].
    pub fn from_rows(bits: u32, rows: &[((V, Coin), C)], pattern: Pattern) -> Result<FrequencyHiding<V, C>> {
        Ideal::from_pairs(bits, rows, pattern).map(FrequencyHiding)
    }

    /// Takes over a row that another client has made.
    ///
    /// # Errors
    /// As [`Ideal::adopt`].
    pub fn adopt(&mut self, value: V, coin: Coin, code: C) -> Result<()> {
        self.0.adopt((value, coin), code)
    }

    /// The code of a new row.
    ///
    /// # Errors
    /// [`Error::CoinUsed`] if this coin was thrown for this value before; [`Error::Exhausted`].
    pub fn insert(&mut self, value: V, coin: Coin) -> Result<Placed<C>> {
        if self.0.encrypt((value, coin)).is_some() {
            return Err(Error::CoinUsed);
        }
        self.0.insert((value, coin))
    }

    /// The codes of many new rows.
    ///
    /// # Errors
    /// As [`insert`](FrequencyHiding::insert).
    pub fn insert_many(&mut self, rows: &[(V, Coin)]) -> Result<Bulk<C>> {
        let order = sorted(rows);
        let new: zeroize::Zeroizing<Vec<(V, Coin)>> = order.iter().map(|row| row.0).collect::<Vec<_>>().into();
        let repeated = new.windows(2).any(|pair| pair[0] == pair[1]);
        if repeated || (!self.0.is_empty() && new.iter().any(|row| self.0.encrypt(*row).is_some())) {
            return Err(Error::CoinUsed);
        }
        let Bulk { codes: placed, moves } = self.0.insert_sorted(&new)?;
        let mut codes = vec![C::new(0); rows.len()];
        order.iter().zip(placed).for_each(|((_, at), code)| codes[*at] = code);
        Ok(Bulk { codes, moves })
    }

    /// Spreads all codes out evenly; returns the codes that changed.
    ///
    /// # Errors
    /// [`Error::Exhausted`].
    pub fn rebalance(&mut self) -> Result<Vec<(C, C)>> {
        self.0.rebalance()
    }

    /// Forgets a row; returns its code.
    pub fn remove(&mut self, value: V, coin: Coin) -> Option<C> {
        self.0.remove((value, coin))
    }

    /// The code of a row that has one.
    pub fn encrypt(&self, value: V, coin: Coin) -> Option<C> {
        self.0.encrypt((value, coin))
    }

    /// The value of a code.
    pub fn decrypt(&self, code: C) -> Option<V> {
        self.0.decrypt(code).map(|row| row.0)
    }

    /// The least and the greatest code of the values from `low` to `high`, both included; `None` if there are
    /// no such values.
    pub fn range(&self, low: V, high: V) -> Option<(C, C)> {
        self.0.range((low, Coin::new(0)), (high, Coin::new(u64::MAX)))
    }

    /// The number of rows that have codes.
    pub fn len(&self) -> usize {
        self.0.len()
    }

    /// Whether no row has a code.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// All rows, in order.
    pub fn iter(&self) -> impl Iterator<Item = ((V, Coin), C)> + '_ {
        self.0.iter()
    }

    /// The pattern in which the last codes were given, to be stored with the rows.
    pub fn pattern(&self) -> Pattern {
        self.0.pattern()
    }
}
