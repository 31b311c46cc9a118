//! Dealers of what products of words take.

use comity_channel::Mesh;
use comity_core::Result;
use comity_ot::base::{BaseOt, Simplest};
use comity_ot::{AtLeast, SemiHonest};
use comity_protocol::Party;
use comity_share::ring::{RingDealer, RingTriples, WordProduct};
use comity_share::triples::OtKind;

/// A dealer of triples and square pairs of words. It has its own randomness and its own session.
pub trait WordDealer: Send {
    /// Makes at least so many for products of a kind. Both parties ask for the same, in the same order. After
    /// an error a dealer is not used again.
    ///
    /// # Errors
    /// Errors of the channel: then nothing is given out.
    fn deal(&mut self, net: &mut Mesh<'_>, what: WordProduct, at_least: usize) -> Result<RingTriples>;
}

/// The most triples of a kind that are made at once: 6 MiB.
pub const MOST_WORDS: usize = 1 << 17;

impl WordDealer for RingDealer {
    fn deal(&mut self, net: &mut Mesh<'_>, what: WordProduct, at_least: usize) -> Result<RingTriples> {
        RingDealer::deal(self, net, what, at_least)
    }
}

/// A dealer from OT. The session of the party is this dealer's alone.
///
/// # Errors
/// Those of [`RingDealer::setup`].
pub fn from_ot(me: &mut Party<'_, '_>, extension: OtKind) -> Result<Box<RingDealer>> {
    from_ot_over::<Simplest>(me, extension)
}

/// As [`from_ot`], by other base OTs.
///
/// # Errors
/// Those of [`RingDealer::setup`].
pub fn from_ot_over<B: BaseOt<Model: AtLeast<SemiHonest>>>(
    me: &mut Party<'_, '_>,
    extension: OtKind,
) -> Result<Box<RingDealer>> {
    let (session, backend) = (me.here.session, me.here.backend);
    Ok(Box::new(RingDealer::setup::<B>(me.net, session, backend, extension, me.rng)?))
}
