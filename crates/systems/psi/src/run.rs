//! A run: what is common to all methods, then the method.

use comity_core::Result;
use comity_ot::base::{BaseOt, Simplest};
use comity_ot::{AtLeast, SemiHonest};
use comity_protocol::Party;

use crate::method::Method;
use crate::set::{Matches, Sent, Set};
use crate::sizes::Sizes;
use crate::terms::{OPENING, Opening, Terms};
use crate::{bch, circuit, kkrt, oprf, phasing, vole};

/// The sender's side: lets the peer learn which of its items are in this set, and their payload.
///
/// # Errors
/// [`InvalidInput`](comity_core::Kind), before anything is sent, if the set has an item twice, or if set or
/// method do not fit the terms; [`Mismatch`](comity_core::Kind) if the peer has other terms; those of the
/// method and of the channel.
pub fn send(me: &mut Party<'_, '_>, terms: &Terms, set: &Set<'_>) -> Result<Sent> {
    let sizes = begin(me, terms, set, true)?;
    match terms.method {
        Method::Kkrt => kkrt::send::<Simplest>(me, terms, set, sizes),
        Method::OtBch => bch::send(me, terms, set, sizes),
        Method::Phasing => phasing::send(me, terms, set, sizes),
        Method::Circuit => circuit::send(me, terms, set, sizes),
        Method::Vole => vole::send(me, terms, set, sizes),
        Method::OprfAes => oprf::method::send(me, terms, set, sizes),
    }
}

/// The receiver's side: learns which items of this set the peer has, and their payload.
///
/// # Errors
/// As [`send`]; [`Malformed`](comity_core::Kind) if the sender's masks do not decode.
pub fn receive(me: &mut Party<'_, '_>, terms: &Terms, set: &Set<'_>) -> Result<Matches> {
    let sizes = begin(me, terms, set, false)?;
    match terms.method {
        Method::Kkrt => kkrt::receive::<Simplest>(me, terms, set, sizes),
        Method::OtBch => bch::receive(me, terms, set, sizes),
        Method::Phasing => phasing::receive(me, terms, set, sizes),
        Method::Circuit => circuit::receive(me, terms, set, sizes),
        Method::Vole => vole::receive(me, terms, set, sizes),
        Method::OprfAes => oprf::method::receive(me, terms, set, sizes),
    }
}

/// The sender's side of [KKRT16](crate::kkrt) over other base OTs. Not for users: fuzzing takes ideal ones.
#[doc(hidden)]
pub fn send_over<B: BaseOt<Model: AtLeast<SemiHonest>>>(
    me: &mut Party<'_, '_>,
    terms: &Terms,
    set: &Set<'_>,
) -> Result<Sent> {
    let sizes = begin(me, terms, set, true)?;
    kkrt::send::<B>(me, terms, set, sizes)
}

/// The receiver's side, as [`send_over`].
#[doc(hidden)]
pub fn receive_over<B: BaseOt<Model: AtLeast<SemiHonest>>>(
    me: &mut Party<'_, '_>,
    terms: &Terms,
    set: &Set<'_>,
) -> Result<Matches> {
    let sizes = begin(me, terms, set, false)?;
    kkrt::receive::<B>(me, terms, set, sizes)
}

/// Checks the terms and the set, and sends terms and size to the peer. Returns both sizes.
fn begin(me: &mut Party<'_, '_>, terms: &Terms, set: &Set<'_>, sends: bool) -> Result<Sizes> {
    terms.check()?;
    set.check(terms.payload_of(sends))?;
    let (peer, params) = (me.here.me.other(), me.here.params);
    let (ch, _, _, observer) = me.pair()?;
    observer.phase("sizes");
    let opening = Opening { sends, size: set.told() };
    let mut theirs = [0; OPENING];
    ch.exchange(&opening.to_bytes(terms, params), &mut theirs)?;
    let theirs = opening.peer(terms, params, &theirs, peer)?;
    let (sender, receiver) = if sends { (set.told(), theirs) } else { (theirs, set.told()) };
    Ok(Sizes { sender, receiver, rho: params.rho })
}
