//! Authenticated triples, `c = a b`, as capabilities: only checked ones can be used, and each once.

use std::marker::PhantomData;

use comity_share::Share;
use zeroize::Zeroize;

/// The state of triples that may still be leaky or wrong.
pub enum Unchecked {}

/// The state of triples that passed every check, and were combined so that nobody knows more than its shares.
pub enum Checked {}

/// One party's shares of random bits with `c = a b`.
#[derive(Clone, Copy, Default, bytemuck::Pod, bytemuck::Zeroable)]
#[repr(C)]
pub struct Triple {
    /// A random bit.
    pub a: Share,
    /// Another one.
    pub b: Share,
    /// Their product.
    pub c: Share,
}

impl zeroize::DefaultIsZeroes for Triple {}

/// Triples in a state: unchecked or checked. Wiped on drop.
pub struct Triples<State> {
    list: Vec<Triple>,
    /// The number of triples of the list that are used up.
    used: usize,
    /// The number of used triples that are wiped.
    wiped: usize,
    state: PhantomData<State>,
}

impl Triples<Unchecked> {
    /// Triples that no check has seen.
    pub fn new(list: Vec<Triple>) -> Triples<Unchecked> {
        Triples { list, used: 0, wiped: 0, state: PhantomData }
    }

    /// Room for `n` triples.
    pub fn blank(n: usize) -> Triples<Unchecked> {
        Triples::new(vec![Triple::default(); n])
    }

    /// Makes room for `more` triples and returns it. The triples before may move, and their old memory is
    /// wiped.
    pub fn grow(&mut self, more: usize) -> &mut [Triple] {
        let had = self.list.len();
        let mut grown = Triples::blank(had + more);
        grown.list[..had].copy_from_slice(&self.list);
        (grown.used, grown.wiped) = (self.used, self.wiped);
        *self = grown;
        &mut self.list[had..]
    }

    /// Declares the triples checked. Called only by the code that has just checked and combined them.
    pub fn vouch(mut self) -> Triples<Checked> {
        Triples { list: std::mem::take(&mut self.list), used: self.used, wiped: self.wiped, state: PhantomData }
    }

    /// The triples, for the checks.
    pub fn as_mut_slice(&mut self) -> &mut [Triple] {
        &mut self.list[self.used..]
    }
}

impl Triples<Checked> {
    /// No triples.
    pub fn none() -> Triples<Checked> {
        Triples { list: Vec::new(), used: 0, wiped: 0, state: PhantomData }
    }

    /// Uses up the next triples, at most `n`: this is the only way to see them.
    pub fn take(&mut self, n: usize) -> &[Triple] {
        self.take_mut(n)
    }

    /// As [`Triples::take`], for a caller that wipes them as it uses them, while they are in cache.
    pub fn take_mut(&mut self, n: usize) -> &mut [Triple] {
        let start = self.used;
        self.used += n.min(self.list.len() - start);
        &mut self.list[start..self.used]
    }

    /// Says that the caller has wiped all triples that were taken, so that the drop need not.
    pub fn wiped(&mut self) {
        self.wiped = self.used;
    }
}

impl<State> Triples<State> {
    /// The number of triples that are left.
    pub fn len(&self) -> usize {
        self.list.len() - self.used
    }

    /// Whether no triple is left.
    pub fn is_empty(&self) -> bool {
        self.len() == 0
    }
}

impl<State> Drop for Triples<State> {
    fn drop(&mut self) {
        self.list[self.wiped..].zeroize();
    }
}
