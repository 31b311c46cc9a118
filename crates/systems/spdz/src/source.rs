//! `FieldSource`: where material comes from, a dealer or a shelf.

use comity_channel::Mesh;
use comity_core::{Error, Result};
use comity_field_shares::{BinaryField, ByOwner, FieldBits, FieldConduct, FieldDealer, FieldTriples, MacKey};
use comity_protocol::{Dealer, Honest};
use zeroize::Zeroizing;

/// Gives triples, random bits, and bits and elements of each party, all under one MAC key. All parties make
/// the same calls in the same order.
pub trait FieldSource<F: BinaryField>: Dealer<Batch = FieldTriples<F>> {
    /// This party's share of the MAC key.
    fn key(&self) -> &MacKey<F>;

    /// `shared` bits that nobody knows, and `masks` bits of each party, which it alone knows.
    ///
    /// # Errors
    /// Those of the channels and of the dealer's checks.
    fn bits(&mut self, net: &mut Mesh<'_>, shared: usize, masks: usize) -> Result<FieldBits<F>>;

    /// `n` random elements of each party, by owner, and this party's own values.
    ///
    /// # Errors
    /// As [`FieldSource::bits`].
    fn elements(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<(ByOwner<F>, Zeroizing<Vec<F>>)>;
}

/// The most triples that are made at once.
const MOST: usize = 1 << 13;

/// Makes material when it is asked for.
pub struct Fresh<F: BinaryField, C = Honest>(pub FieldDealer<F, C>);

impl<F: BinaryField, C: FieldConduct<F> + Send> Dealer for Fresh<F, C> {
    type Batch = FieldTriples<F>;

    fn deal(&mut self, net: &mut Mesh<'_>, at_least: usize) -> Result<FieldTriples<F>> {
        self.0.triples(net, at_least.clamp(1, MOST))
    }
}

impl<F: BinaryField, C: FieldConduct<F> + Send> FieldSource<F> for Fresh<F, C> {
    fn key(&self) -> &MacKey<F> {
        self.0.key()
    }

    fn bits(&mut self, net: &mut Mesh<'_>, shared: usize, masks: usize) -> Result<FieldBits<F>> {
        self.0.bits(net, shared, masks)
    }

    fn elements(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<(ByOwner<F>, Zeroizing<Vec<F>>)> {
        self.0.masks(net, n)
    }
}

/// The error of a source that gave less than it was asked for.
pub(crate) fn too_little() -> Error {
    Error::invalid_input("a source of field material gave fewer triples, bits or elements than it was asked for")
}
