//! OT with a BCH code: D13.3, section 5.2.2, Protocol 6, by Pinkas, Schneider, Zohner (ACM TOPS 2018, ePrint 2016/930).
//!
//! - 1(a): the sender puts each item into its three bins; 1(b): the receiver places each of its own in one
//!   bin, and fills empty ones.
//! - 2(a), (b): for each bin 1-out-of-2^mu OT, Kolesnikov and Kumaresan's with the BCH code
//!   [512, 76, >= 172], whose input is the short item: `mu = rho + log2(n1) + log2(n2) - log2(b) + 2` bits.
//!   2(c): the sender has the strings of its own items.
//! - 3(a): the sender sends its masks, sorted, which is an order that says nothing on the items' ("randomly
//!   permutes"); 3(b): the receiver looks for its own.
//!
//! **Adversary**, **assumptions**: as [KKRT16](crate::kkrt). The code's distance is proven, so the OT needs
//! no word on how likely two words are close.
//!
//! **Cost**: `512 b` bits from the receiver (rounded up to 128 bins), `b = 1.2 n2`; `3 n1` evaluations and as
//! many masks of `rho + log2(3 n1) + log2(n2)` bits from the sender, less `log2(n1) - 2` by their order.
//!
//! **Differences from the section.** *No stash*: its stash is for tables that are given up too early; here an
//! item is left out only if no placement exists, at 1.2 bins an item below 2^-40 ([hashing](comity_hashing)).
//! `s` entries would cost `s n1` further evaluations and masks, which the section's formula for the bytes
//! leaves out. *Statistical parameter*: sigma is an item's length there, and in the mask's length it stands
//! for rho. *Code*: "[277, 512, 129]" is no code; the one here takes 76 bits, which is checked. *Dummies* lie
//! outside of the items' range by their function. *The output* is the items and not what is in the bins,
//! where they are cut. *Bins* of an item differ, and the function is part of the input: else an item with two
//! equal bins shows a mask twice.

use comity_core::Result;
use comity_hashing::{DENSE, bins};
use comity_ot::base::Simplest;
use comity_ot::one_of_n::{Kk13, OneOfN};
use comity_protocol::Party;

use crate::bins::{self, Digits, Placed};
use crate::set::{Matches, Sent, Set};
use crate::short;
use crate::sizes::Sizes;
use crate::terms::Terms;

pub(crate) fn send(me: &mut Party<'_, '_>, terms: &Terms, set: &Set<'_>, sizes: Sizes) -> Result<Sent> {
    let placed = place(me, set, sizes)?;
    bins::send::<Kk13, Simplest>(me, (terms, set), sizes, (&placed, Digits::WHOLE))
}

pub(crate) fn receive(me: &mut Party<'_, '_>, terms: &Terms, set: &Set<'_>, sizes: Sizes) -> Result<Matches> {
    let placed = place(me, set, sizes)?;
    bins::receive::<Kk13, Simplest>(me, (terms, set), sizes, (&placed, Digits::WHOLE))
}

/// Step 1, as far as it is the same on both sides: which bins an item has.
fn place(me: &mut Party<'_, '_>, set: &Set<'_>, sizes: Sizes) -> Result<Placed> {
    short::place(me, set, sizes, bins(sizes.receiver, DENSE), Kk13::CHOICE_BITS)
}
