//! KKRT16: an oblivious pseudo-random function for each bin of a cuckoo table.
//!
//! Kolesnikov, Kumaresan, Rosulek, Trieu (CCS 2016), figure 4, [without a stash](comity_hashing).
//! 1. The receiver places its items in bins, one a bin. The sender's items are in all of their three.
//! 2. For each bin an [OPRF](crate::bins), 1-out-of-N OT with a pseudo-random code: the input is the item's
//!    digest, of 126 bits, and by which function it came there.
//! 3. The sender sends the masks of its values, and the receiver looks for its own among them.
//!
//! **Adversary**: semi-honest, either side. A receiver that sends no words of the code learns the sender's
//! secret, and with it all of the sender's masks as a function of items; a sender that sends other masks
//! changes the result.
//!
//! **Assumptions**: those of the OT; AES as an ideal cipher (hashes of values); BLAKE3 as a random oracle
//! (digests, payload).
//!
//! **Cost**: 64 bytes a bin, 1.27 bins for each item of the receiver; three masks for each of the sender, of
//! `rho + log2(3 n1) + log2(n2)` bits, less `log2(n1) - 2` by their order. Two round trips, and those of the
//! set-up.

use comity_core::Result;
use comity_hashing::{ROOMY, Short, bins, distinct};
use comity_ot::base::BaseOt;
use comity_ot::one_of_n::Kkrt16;
use comity_ot::{AtLeast, SemiHonest};
use comity_protocol::Party;

use crate::bins::{self, Digits, FUNCTION_BITS, Placed};
use crate::digest::DigestKey;
use crate::set::{Matches, Sent, Set};
use crate::sizes::Sizes;
use crate::terms::Terms;

pub(crate) fn send<B: BaseOt<Model: AtLeast<SemiHonest>>>(
    me: &mut Party<'_, '_>,
    terms: &Terms,
    set: &Set<'_>,
    sizes: Sizes,
) -> Result<Sent> {
    let placed = place(me, set, sizes)?;
    bins::send::<Kkrt16, B>(me, (terms, set), sizes, (&placed, Digits::WHOLE))
}

pub(crate) fn receive<B: BaseOt<Model: AtLeast<SemiHonest>>>(
    me: &mut Party<'_, '_>,
    terms: &Terms,
    set: &Set<'_>,
    sizes: Sizes,
) -> Result<Matches> {
    let placed = place(me, set, sizes)?;
    bins::receive::<Kkrt16, B>(me, (terms, set), sizes, (&placed, Digits::WHOLE))
}

/// Tosses the digests' key and places the items.
fn place(me: &mut Party<'_, '_>, set: &Set<'_>, sizes: Sizes) -> Result<Placed> {
    let digests = DigestKey::toss(me)?.digests(me.rng, set);
    me.observer.phase("hashing");
    let bins = bins(sizes.receiver, ROOMY);
    let mut placed = Placed::room(digests.len(), 128 - FUNCTION_BITS, bins);
    for digest in digests {
        placed.push(Short { bins: distinct(digest, bins), rest: digest >> FUNCTION_BITS });
    }
    Ok(placed)
}
