//! `FieldMpc`: what protocols ask of shared elements of a field.

use comity_channel::Mesh;
use comity_core::PartyId;
use comity_core::{Bits, Result};
use comity_field_shares::{BinaryField, ByOwner, SumShare, SumShares};
use zeroize::Zeroizing;

/// The functionality of secret sharing in a field, for malicious adversaries: elements that are stored,
/// added, multiplied and opened, and of which each party has an additive share.
///
/// A sum of shares is a share of the sum, and so is a product with a public element. All parties make the
/// same calls in the same order. After an error nothing of it is used again.
pub trait FieldMpc<F: BinaryField> {
    /// The share of a public element.
    fn constant(&self, element: F) -> SumShare<F>;

    /// *Random* bits that nobody knows.
    ///
    /// # Errors
    /// Errors of the channels, of checks, and of where the material comes from.
    fn random_bits(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<SumShares<F>>;

    /// *Input* of random bits by `owner`, and at the owner their values.
    ///
    /// # Errors
    /// As [`FieldMpc::random_bits`].
    fn random_bits_of(&mut self, net: &mut Mesh<'_>, owner: PartyId, n: usize) -> Result<(SumShares<F>, Bits)>;

    /// *Input* of random elements by every party, as many of each: their shares by owner, and the values of
    /// one's own.
    ///
    /// # Errors
    /// As [`FieldMpc::random_bits`].
    fn random_elements(&mut self, net: &mut Mesh<'_>, n: usize) -> Result<(ByOwner<F>, Zeroizing<Vec<F>>)>;

    /// *Multiply*: replaces each of `x` by its product with that of `y`. Products may be false until the next
    /// [check](FieldMpc::check).
    ///
    /// # Errors
    /// As [`FieldMpc::random_bits`].
    fn products(&mut self, net: &mut Mesh<'_>, x: &mut [SumShare<F>], y: &[SumShare<F>]) -> Result<()>;

    /// *Open*: the values of these shares, to all. They may be false until the next check.
    ///
    /// # Errors
    /// Errors of the channels, and of what does not decode.
    fn open(&mut self, net: &mut Mesh<'_>, what: &'static str, shares: &[SumShare<F>]) -> Result<Vec<F>>;

    /// Bits that one party says to all, which it gives as `own` and nobody else does. That all heard the same
    /// is known after the next check.
    ///
    /// # Errors
    /// Errors of the channels.
    fn announced(
        &mut self,
        net: &mut Mesh<'_>,
        what: &'static str,
        of: (PartyId, usize),
        own: Option<&Bits>,
    ) -> Result<Bits>;

    /// *Check* of everything that was opened or said since the last one.
    ///
    /// # Errors
    /// Those of the checks and of the channels.
    fn check(&mut self, net: &mut Mesh<'_>) -> Result<()>;
}
