//! OT-Phasing: D13.3, section 5.1, by Pinkas, Schneider, Segev, Zohner (USENIX Security 2015, ePrint
//! 2015/634), section 5.
//!
//! As [Protocol 6](crate::bch), but with an OT for each byte of the short item, 1-out-of-256. The value of an
//! item is a hash of its bin, its function and the sum of the strings of its bytes.
//!
//! **Adversary**, **assumptions**: as [Protocol 6](crate::bch), and AES as a random permutation in that hash.
//!
//! **Cost**: 64 bytes for each byte of each bin, of which there are 1.27 for each item of the receiver: with
//! 2^20 items eight. Masks as there.
//!
//! **Difference from the paper**: there the mask is the sum itself, cut. Then four items of a bin whose bytes
//! cancel have masks that do, and a receiver that finds three of them sees the fourth. The strings here have
//! 128 bits, and the sum is hashed.

use comity_core::Result;
use comity_hashing::{ROOMY, bins};
use comity_ot::base::Simplest;
use comity_ot::one_of_n::Kk13;
use comity_protocol::Party;

use crate::bins::{self, Digits, FUNCTION_BITS, Placed};
use crate::set::{Matches, Sent, Set};
use crate::short;
use crate::sizes::Sizes;
use crate::terms::Terms;

/// Bits of a digit.
const DIGIT: u32 = 8;

pub(crate) fn send(me: &mut Party<'_, '_>, terms: &Terms, set: &Set<'_>, sizes: Sizes) -> Result<Sent> {
    let (placed, digits) = place(me, set, sizes)?;
    bins::send::<Kk13, Simplest>(me, (terms, set), sizes, (&placed, digits))
}

pub(crate) fn receive(me: &mut Party<'_, '_>, terms: &Terms, set: &Set<'_>, sizes: Sizes) -> Result<Matches> {
    let (placed, digits) = place(me, set, sizes)?;
    bins::receive::<Kk13, Simplest>(me, (terms, set), sizes, (&placed, digits))
}

/// The items in their bins, and the digits of their rests there.
fn place(me: &mut Party<'_, '_>, set: &Set<'_>, sizes: Sizes) -> Result<(Placed, Digits)> {
    let placed = short::place(me, set, sizes, bins(sizes.receiver, ROOMY), u128::BITS)?;
    let digits = digits(placed.rest_bits + FUNCTION_BITS);
    Ok((placed, digits))
}

/// The digits of values of `bits` bits.
pub(crate) fn digits(bits: u32) -> Digits {
    Digits { count: bits.div_ceil(DIGIT) as usize, bits: DIGIT }
}
