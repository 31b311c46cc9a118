//! What a party of the malicious form is about to use or send: where a test's liar may lie.

use comity_core::Bits;
use comity_share::bits::BitShares;

/// A step, with what is about to be used or sent.
#[cfg_attr(not(test), allow(dead_code, reason = "read by the liars of the tests"))]
pub(crate) enum Act<'a> {
    /// The masked bits of an input.
    Input(&'a mut Bits),
    /// The bits that a party looked up for a message.
    Table(&'a mut BitShares),
    /// The digest of the MACs on all bits that were looked up.
    Digest(&'a mut [u8; 32]),
    /// The shares of the masks of an output.
    Output(&'a mut Bits),
    /// The digest that has their MACs in it.
    OutputDigest(&'a mut [u8; 32]),
}
