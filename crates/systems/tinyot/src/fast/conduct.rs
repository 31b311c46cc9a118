//! `Act`: what a party is about to do with what it made. An honest party does it; the tests have parties that are honest but
//! for one lie, and a lie is another [`Conduct`].

use comity_core::Block;

use crate::bucket::Partition;

/// What is about to be used or sent. An honest party does not look at it.
#[cfg_attr(not(test), allow(dead_code, reason = "read by the liars of the tests"))]
pub(super) enum Act<'a> {
    /// Step 2 of leaky ANDs: `G`.
    G(&'a mut [Block]),
    /// Step 4: the MACs on `x`, `S`, and the packed bits of `S`.
    S { x: &'a [Block], s: &'a mut [Block], bits: &'a mut [u8] },
    /// Step 5: `L`, as it is compared.
    L(&'a mut [Block]),
    /// The buckets.
    Buckets(&'a Partition),
    /// Combining: the bits that are shown, and the MACs on them.
    Shown { bits: &'a mut [u8], macs: &'a mut [Block] },
}

/// How a party behaves.
pub(super) trait Conduct: Send {
    /// May change what is about to be used or sent.
    fn before(&mut self, act: Act<'_>);
}

/// As the protocol says.
pub(super) struct Honest;

impl Conduct for Honest {
    #[inline(always)]
    fn before(&mut self, _: Act<'_>) {}
}
