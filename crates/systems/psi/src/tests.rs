//! Every method against the naive intersection, and against those who do not do as it says.

mod costs;
mod equal;
mod liars;
mod vole;

use comity_channel::{Channel, Mesh};
use comity_circuit::Observer;
use comity_core::{Backend, Bits, Block, Params, PartyId, Prg, Result, SessionId};
use comity_protocol::{Adversary, Here, Party};
use comity_testing::Pair;

use crate::{Item, Matches, Method, Sent, Set, Terms, receive, send};

/// Somebody who does not look.
pub(crate) struct Nobody;

impl Observer for Nobody {
    fn output(&mut self, _: usize, _: Bits) {}
}

/// Where a party of a test stands.
pub(crate) fn here(me: u16, session: u64) -> Here {
    let session = SessionId::derive("a test", &[&session.to_le_bytes()]);
    Here::new(PartyId(me), 2, session)
}

/// Runs a side over a channel, as party 0 (the sender) or 1.
pub(crate) fn party<T>(
    me: u16,
    session: u64,
    ch: &mut dyn Channel,
    side: impl FnOnce(&mut Party<'_, '_>) -> Result<T>,
) -> Result<T> {
    let mut net = Mesh::of_two(PartyId(me), ch);
    let mut rng = Prg::new(Backend::detect(), Block::from_u128(u128::from(session) << 8 | u128::from(me)));
    side(&mut Party { net: &mut net, here: here(me, session), rng: &mut rng, observer: &mut Nobody })
}

/// Runs both sides.
pub(crate) fn run(terms: &Terms, sender: &Set<'_>, receiver: &Set<'_>) -> (Result<Sent>, Result<Matches>) {
    Pair::run(
        |ch| party(0, 1, ch, |me| send(me, terms, sender)),
        |ch| party(1, 1, ch, |me| receive(me, terms, receiver)),
    )
}

/// The items of some numbers.
pub(crate) fn items(numbers: impl IntoIterator<Item = usize>) -> Vec<Item> {
    numbers.into_iter().map(|n| Item::of(&n.to_le_bytes())).collect()
}

/// Terms for circuits under Yao's protocol.
pub(crate) fn circuit() -> Terms {
    Terms { over: Some(&comity_yao::Yao), ..Terms::new(Method::Circuit, Adversary::SemiHonest) }
}

/// The methods that need no protocol below them, and are there.
pub(crate) fn methods() -> impl Iterator<Item = (Method, Adversary)> {
    let cards = Method::ALL.into_iter().filter(|method| !method.card().over);
    cards.flat_map(|method| method.card().adversaries.iter().map(move |&adversary| (method, adversary)))
}
