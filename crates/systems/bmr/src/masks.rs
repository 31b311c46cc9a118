//! What garbling asks of a protocol for bits: shared bits whose shares multiply every party's offset.

use comity_channel::Mesh;
use comity_circuit::Recipients;
use comity_core::{Bits, Block, Result};

/// Shared random bits, their products and openings, for malicious adversaries: figure 4 of the paper, with what Claim 41 or figure
/// 8 adds.
///
/// A party's share of a bit `x` is a *row*: `n` blocks, of which block `j` is this party's share `Z_j` of `x R^j`, where `R^j` is the offset
/// of party `j`. The sums over all parties are `x R^0, …, x R^(n-1)`. Rows of several bits follow one another. A sum of rows is a row
/// of the sum; the row of the constant one is the own offset at the own place, and zero elsewhere.
///
/// All parties make the same calls in the same order. After an error nothing of it is used again.
pub trait Masks {
    /// This party's offset `R`, whose bit 0 is one. The peers know nothing of the other bits, but for one guess or two.
    fn offset(&self) -> Block;

    /// Rows of random bits that nobody knows.
    ///
    /// # Errors
    /// Errors of the channels and of checks.
    fn random(&mut self, net: &mut Mesh<'_>, rows: &mut [Block]) -> Result<()>;

    /// Rows of the products `u v`, and the values that are opened: each is there if this party is to learn it. When
    /// it returns, every check of what was said for this has passed, at this party.
    ///
    /// # Errors
    /// Errors of the channels and of checks.
    fn products(
        &mut self,
        net: &mut Mesh<'_>,
        factors: [&[Block]; 2],
        products: &mut [Block],
        opened: &[MaskOpening<'_>],
    ) -> Result<Vec<Option<Bits>>>;
}

/// Bits that are to be opened, one recipient at least.
#[derive(Clone, Copy)]
pub struct MaskOpening<'a> {
    /// The rows of the bits.
    pub rows: &'a [Block],
    /// Those who learn them, and nobody else does.
    pub to: Recipients,
}
