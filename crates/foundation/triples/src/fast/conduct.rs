//! `Act`: what a party is about to do with what it made. An honest party does it; the tests have parties that
//! are honest but for one lie, and a lie is another [`Conduct`](comity_protocol::Conduct).

use comity_core::Block;

use crate::bucket::Partition;

/// An act: something that is about to be used or sent. An honest party does not look at it.
pub enum Act<'a> {
    /// Step 2 of leaky ANDs: `G`.
    G(&'a mut [Block]),
    /// Step 4: the MACs on `x`, `S`, and the packed bits of `S`.
    S {
        /// MACs on `x`.
        x: &'a [Block],
        /// `S`.
        s: &'a mut [Block],
        /// Bit 1 of each `S`, packed.
        bits: &'a mut [u8],
    },
    /// Step 5: `L`, as it is compared.
    L(&'a mut [Block]),
    /// The buckets.
    Buckets(&'a Partition),
    /// Combining: the bits that are shown, and the MACs on them.
    Shown {
        /// The bits, packed.
        bits: &'a mut [u8],
        /// The MACs.
        macs: &'a mut [Block],
    },
}
