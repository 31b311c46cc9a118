//! KKRT16: an oblivious pseudo-random function for each bin of a cuckoo table.
//!
//! Kolesnikov, Kumaresan, Rosulek, Trieu (CCS 2016), figure 4, without a stash.
//! 1. The receiver places its items in [`bins`] bins, one a bin. The sender's items are in all of their three.
//! 2. For each bin an OPRF, [1-out-of-N OT](comity_ot::one_of_n) with a pseudo-random code: the receiver's input is its item there, of
//!    126 bits, and by which function it came there; for an empty bin it is random, by a function that does not exist. Without
//!    the function an item with two equal bins would show.
//! 3. The sender evaluates each of its items in its three bins, and sends the [masks](crate::masks) of the values, a group for each
//!    function. The receiver looks for its own in the group of the function.
//!
//! **Adversary**: semi-honest, either side. A receiver that sends no words of the code learns the sender's secret, and with it all of the
//! sender's masks as a function of items; a sender that sends other masks changes the result.
//!
//! **Assumptions**: those of the OT; AES as an ideal cipher (hashes of values); BLAKE3 as a random oracle (payload).
//!
//! **Cost**: 64 bytes a bin, 1.27 bins for each item of the receiver; three masks for each of the sender, of `rho + log2(3 n1) +
//! log2(n2)` bits, less `log2(n1) - 2` by their order. Two round trips, and those of the set-up.

use comity_core::{Block, Prg, Result};
use comity_hashing::{Cuckoo, FUNCTIONS, ROOMY, Simple, bins, distinct};
use comity_ot::base::Simplest;
use comity_ot::one_of_n::{self, Kkrt16, OneOfN};
use comity_protocol::Party;
use zeroize::Zeroizing;

use crate::digest::DigestKey;
use crate::masks::Masks;
use crate::set::{Matches, Sent, Set};
use crate::sizes::Sizes;
use crate::terms::Terms;

/// The session of the OT extension, under that of the run.
const OT: &str = "private set intersection: an OPRF for each bin";

/// The lowest bits of an OPRF's input, which say the function, and the value of no function.
const NO_FUNCTION: u128 = 0b11;

pub(crate) fn send(me: &mut Party<'_, '_>, terms: &Terms, set: &Set<'_>, sizes: Sizes) -> Result<Sent> {
    let digests = DigestKey::toss(me)?.digests(me, set);
    let masks = Masks::new(me.here, sizes.mask_bits(FUNCTIONS), terms.payload);
    let (ch, here, rng, observer) = me.pair()?;
    observer.phase("hashing");
    let width = Kkrt16::CHUNK as u32;
    let count = bins(sizes.receiver, ROOMY);
    let places = |item: u32| distinct(digests[item as usize], count);
    let simple = Simple::new(sizes.sender as u32, count, width, places);
    observer.phase("oprf");
    let mut oprf = one_of_n::Sender::<Kkrt16>::setup::<Simplest>(ch, &here.session.child(OT), here.backend, rng)?;
    let mut groups = [(); FUNCTIONS].map(|()| masks.group(sizes.sender));
    let (mut queries, mut values) = (Zeroizing::new(Vec::new()), Zeroizing::new(Vec::new()));
    for (run, entries) in simple.runs().enumerate() {
        let first = run as u32 * width;
        let keys = oprf.keys(ch, width.min(count - first) as usize)?;
        // One function after the other, so that the values of a group are together.
        let mut by_function: Vec<_> = entries.to_vec();
        by_function.sort_unstable_by_key(|entry| entry.function());
        queries.clear();
        queries.extend(by_function.iter().map(|entry| {
            let bin = places(entry.item())[entry.function()];
            ((bin - first) as usize, input(digests[entry.item() as usize], entry.function()))
        }));
        values.clear();
        values.resize(queries.len(), Block::ZERO);
        keys.evaluate(&queries, &mut values)?;
        let mut at = 0;
        for (function, group) in groups.iter_mut().enumerate() {
            let n = by_function[at..].iter().take_while(|entry| entry.function() == function).count();
            let items = by_function[at..at + n].iter().map(|entry| entry.item());
            masks.add(group, &values[at..at + n], items);
            at += n;
        }
    }
    observer.phase("masks");
    for group in groups {
        masks.send(ch, group, set)?;
    }
    ch.flush()?;
    Ok(Sent { theirs: sizes.receiver, left_out: 0 })
}

pub(crate) fn receive(me: &mut Party<'_, '_>, terms: &Terms, set: &Set<'_>, sizes: Sizes) -> Result<Matches> {
    let digests = DigestKey::toss(me)?.digests(me, set);
    let masks = Masks::new(me.here, sizes.mask_bits(FUNCTIONS), terms.payload);
    let (ch, here, rng, observer) = me.pair()?;
    observer.phase("hashing");
    let count = bins(sizes.receiver, ROOMY);
    let places = |item: u32| distinct(digests[item as usize], count);
    let table = Cuckoo::place(sizes.receiver as u32, count, 0, places);
    observer.phase("oprf");
    let mut oprf = one_of_n::Receiver::<Kkrt16>::setup::<Simplest>(ch, &here.session.child(OT), here.backend, rng)?;
    let mut empty = Prg::new(here.backend, Block::random(rng));
    let choices = Zeroizing::new(Vec::from_iter(table.bins().map(|entry| match entry {
        Some(entry) => input(digests[entry.item() as usize], entry.function()),
        None => empty.block().to_u128() | NO_FUNCTION,
    })));
    let mut values = Zeroizing::new(vec![Block::ZERO; choices.len()]);
    oprf.receive(ch, &choices, &mut values)?;
    observer.phase("masks");
    let mut found = Vec::new();
    for function in 0..FUNCTIONS {
        let own = table.bins().zip(values.iter()).filter_map(|(entry, value)| {
            // Dummies are looked for by nobody.
            let entry = entry.filter(|e| e.function() == function && (e.item() as usize) < set.items.len())?;
            Some((*value, entry.item()))
        });
        let own = Zeroizing::new(Vec::from_iter(own));
        found.extend(masks.receive(ch, sizes.sender, &own)?);
    }
    let left_out = table.left_out().iter().filter(|&&item| (item as usize) < set.items.len()).count();
    Ok(Matches::new(sizes.sender, found, left_out))
}

/// The OPRF's input for an item in a bin where it came by a function.
fn input(digest: u128, function: usize) -> u128 {
    digest >> 2 << 2 | function as u128
}
