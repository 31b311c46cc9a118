//! Products of shared matrices.

use std::collections::BTreeMap;

use comity_channel::{Mesh, PerPeer};
use comity_core::{Error, PartyId, Result};
use comity_share::ring::{MatrixProduct, MatrixTriples, WordProduct, WordReader, WordWriter, word_mask};
use zeroize::Zeroizing;

use super::{Products, WordMachine};
use crate::dealers::most_matrices;

/// Products of matrices of one kind, of the same layer: their factors' shares, row after row and one product
/// after another.
pub struct Matrices {
    /// The kind.
    pub what: MatrixProduct,
    /// The shares of the first factors.
    pub x: Zeroizing<Vec<u128>>,
    /// The shares of the second factors.
    pub y: Zeroizing<Vec<u128>>,
}

/// Triples of matrices of one kind, and how many are still expected to be used.
#[derive(Default)]
pub(super) struct Announced {
    ready: MatrixTriples,
    planned: u64,
}

/// The products of words that products of matrices are.
pub(crate) fn one_by_one(what: MatrixProduct, count: u64) -> (WordProduct, u64) {
    let products = [what.m, what.n, what.p].into_iter().fold(count, |all, size| all.saturating_mul(size.into()));
    (WordProduct { bits: what.bits, square: false }, products)
}

impl Matrices {
    /// The numbers of rows and columns: m, n and p.
    fn sizes(&self) -> [usize; 3] {
        [self.what.m, self.what.n, self.what.p].map(|size| size as usize)
    }

    /// How many products there are.
    fn count(&self) -> usize {
        self.x.len() / self.what.words()[0]
    }
}

/// Adds products of matrices, one after another, to `to`, modulo 2^128.
fn add_products([m, n, p]: [usize; 3], x: &[u128], y: &[u128], to: &mut [u128]) {
    for ((x, y), to) in x.chunks(m * n).zip(y.chunks(n * p)).zip(to.chunks_mut(m * p)) {
        for (x, to) in x.chunks(n).zip(to.chunks_mut(p)) {
            for (x, y) in x.iter().zip(y.chunks(p)) {
                to.iter_mut().zip(y).for_each(|(to, y)| *to = to.wrapping_add(x.wrapping_mul(*y)));
            }
        }
    }
}

impl WordMachine<'_> {
    /// Announces the products of matrices that will follow, as [`WordMachine::prepare`] does those of words.
    ///
    /// # Errors
    /// Errors of the dealer.
    pub fn prepare_matrices(&mut self, net: &mut Mesh<'_>, products: &BTreeMap<MatrixProduct, u64>) -> Result<()> {
        if !self.makes_matrices() {
            let mut words: BTreeMap<WordProduct, u64> = BTreeMap::new();
            for (what, count) in products.iter().map(|(what, count)| one_by_one(*what, *count)) {
                let all = words.entry(what).or_default();
                *all = all.saturating_add(count);
            }
            return self.prepare(net, &words);
        }
        for (&what, &count) in products {
            let kept = self.matrices.entry(what).or_default();
            kept.planned = kept.planned.saturating_add(count);
        }
        self.guarded(|machine| {
            let kinds: Vec<MatrixProduct> = machine.matrices.keys().copied().collect();
            kinds.into_iter().try_for_each(|what| machine.refill_matrices(net, what, 1))
        })
    }

    /// The shares of all products of matrices of a layer: one message each way.
    ///
    /// # Errors
    /// Errors of the dealer and of the channel.
    pub fn multiply_matrices(&mut self, net: &mut Mesh<'_>, layer: Vec<Matrices>) -> Result<Vec<Zeroizing<Vec<u128>>>> {
        if !self.makes_matrices() {
            return self.multiply_one_by_one(net, &layer);
        }
        let me = self.me;
        self.guarded(|machine| {
            let mut taken = Vec::with_capacity(layer.len());
            for matrices in &layer {
                taken.push(machine.take_matrices(net, matrices.what, matrices.count())?);
            }
            let mut to = WordWriter::default();
            let mut opened: Vec<[Zeroizing<Vec<u128>>; 2]> = Vec::with_capacity(layer.len());
            for (matrices, triples) in layer.iter().zip(&taken) {
                let (bits, [a, b, _]) = (matrices.what.bits, triples.shares());
                let masked = |shares: &[u128], masks: &[u128]| {
                    let masked =
                        shares.iter().zip(masks).map(|(share, mask)| share.wrapping_sub(*mask) & word_mask(bits));
                    Zeroizing::new(masked.collect::<Vec<u128>>())
                };
                let both = [masked(&matrices.x, a), masked(&matrices.y, b)];
                both.iter().flat_map(|words| words.iter()).for_each(|word| to.put(*word, bits));
                opened.push(both);
            }
            let said = to.finish();
            let mut into = PerPeer::new(me, net.parties(), |_| vec![0; said.len()]);
            let out = PerPeer::new(me, net.parties(), |_| said.clone());
            net.exchange(&out, &mut into)?;
            let (_, into) = into.iter().next().expect("one of two parties");
            let mut reader = WordReader::new(into);
            let product =
                |((matrices, triples), mut opened): ((&Matrices, &MatrixTriples), [Zeroizing<Vec<u128>>; 2])| {
                    let (bits, sizes, [a, b, c]) = (matrices.what.bits, matrices.sizes(), triples.shares());
                    opened
                        .iter_mut()
                        .flat_map(|words| words.iter_mut())
                        .for_each(|word| *word = word.wrapping_add(reader.take(bits)));
                    let [d, e] = &opened;
                    let mut product = Zeroizing::new(c.to_vec());
                    add_products(sizes, d, b, &mut product);
                    add_products(sizes, a, e, &mut product);
                    if me == PartyId(0) {
                        add_products(sizes, d, e, &mut product);
                    }
                    product.iter_mut().for_each(|word| *word &= word_mask(bits));
                    product
                };
            Ok(layer.iter().zip(&taken).zip(opened).map(product).collect())
        })
    }

    fn makes_matrices(&mut self) -> bool {
        self.dealer.as_mut().is_none_or(|dealer| dealer.matrices().is_some())
    }

    /// As [`WordMachine::multiply_matrices`], by products of words.
    fn multiply_one_by_one(&mut self, net: &mut Mesh<'_>, layer: &[Matrices]) -> Result<Vec<Zeroizing<Vec<u128>>>> {
        let factors = layer.iter().map(|matrices| {
            let [m, n, p] = matrices.sizes();
            let (what, products) = one_by_one(matrices.what, matrices.count() as u64);
            let at = |i: usize| (i / (m * n * p), i / (n * p) % m, i / n % p, i % n);
            let x = |(product, row, _, l): (usize, usize, usize, usize)| matrices.x[(product * m + row) * n + l];
            let y = |(product, _, column, l): (usize, usize, usize, usize)| matrices.y[(product * n + l) * p + column];
            let all = 0..products as usize;
            let factors = [all.clone().map(|i| x(at(i))).collect(), all.map(|i| y(at(i))).collect::<Vec<u128>>()];
            let [x, y] = factors.map(Zeroizing::new);
            Products { what, x, y }
        });
        let factors: Vec<Products> = factors.collect();
        let products = self.multiply(net, factors)?;
        let summed = |(matrices, products): (&Matrices, Zeroizing<Vec<u128>>)| {
            let sum = |terms: &[u128]| terms.iter().fold(0, |sum: u128, term| sum.wrapping_add(*term));
            let sums =
                products.chunks(matrices.what.n as usize).map(|terms| sum(terms) & word_mask(matrices.what.bits));
            Zeroizing::new(sums.collect::<Vec<u128>>())
        };
        Ok(layer.iter().zip(products).map(summed).collect())
    }

    /// Uses up triples for `n` products.
    fn take_matrices(&mut self, net: &mut Mesh<'_>, what: MatrixProduct, n: usize) -> Result<MatrixTriples> {
        let (mut taken, mut left) = (MatrixTriples::default(), n);
        while left > 0 {
            if self.matrices.get(&what).is_none_or(|kept| kept.ready.is_empty()) {
                self.refill_matrices(net, what, left)?;
            }
            let kept = self.matrices.get_mut(&what).expect("they were made");
            let used = kept.ready.take(what, left, &mut taken);
            kept.planned = kept.planned.saturating_sub(used as u64);
            left -= used;
        }
        Ok(taken)
    }

    /// Asks the dealer for triples: for the planned products, up to a bound, and at least for `products`.
    fn refill_matrices(&mut self, net: &mut Mesh<'_>, what: MatrixProduct, products: usize) -> Result<()> {
        let none = || Error::invalid_input("this computation was set up without a dealer of triples");
        let dealer = self.dealer.as_mut().and_then(|dealer| dealer.matrices()).ok_or_else(none)?;
        let kept = self.matrices.entry(what).or_default();
        let wanted = usize::try_from(kept.planned).unwrap_or(usize::MAX).max(products).min(most_matrices(what));
        kept.ready = dealer.deal_matrices(net, what, wanted)?;
        Ok(())
    }
}
