//! The OPRF as a method of a run, without a base that lasts: the sender is the server under a key for this
//! run, and its masks come over the channel. Both sizes are those of the run, and so is the length of masks.

use comity_core::Result;
use comity_protocol::Party;

use super::{Oprf, ask};
use crate::digest::DigestKey;
use crate::masks::Masks;
use crate::set::{Matches, Sent, Set};
use crate::sizes::Sizes;
use crate::terms::Terms;

pub(crate) fn send(me: &mut Party<'_, '_>, terms: &Terms, set: &Set<'_>, sizes: Sizes) -> Result<Sent> {
    let digests = DigestKey::toss(me)?.digests(me.rng, set);
    let oprf = Oprf::random(me.rng);
    oprf.serve(me, sizes.receiver)?;
    let (ch, here, _, observer) = me.pair()?;
    observer.phase("masks");
    let masks = Masks::new(here, sizes.mask_bits(1), terms.payload);
    let values = oprf.evaluate(here.backend, digests.into_iter());
    let mut group = masks.group(values.len());
    masks.add(&mut group, &values, 0..);
    masks.send(ch, group, set)?;
    ch.flush()?;
    Ok(Sent { theirs: sizes.receiver, left_out: 0 })
}

pub(crate) fn receive(me: &mut Party<'_, '_>, terms: &Terms, set: &Set<'_>, sizes: Sizes) -> Result<Matches> {
    let digests = DigestKey::toss(me)?.digests(me.rng, set);
    let values = ask(me, &digests)?;
    let (ch, here, _, observer) = me.pair()?;
    observer.phase("masks");
    let masks = Masks::new(here, sizes.mask_bits(1), terms.payload);
    let own = set.items.len();
    let found = masks.receive(ch, sizes.sender, &masks.seek(&values[..own]))?;
    Ok(Matches::new(sizes.sender, own, &found, 0))
}
