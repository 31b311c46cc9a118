//! Tests of the online phase over a trusted dealer, and of the protocol whole.

mod cheats;
pub(crate) mod dealer;
mod engine;
mod laws;
mod machine;
mod order;
mod protocol;
mod stored;
mod wire;

use std::sync::LazyLock;

use comity_core::{PartyId, SessionId};
use comity_protocol::{Card, Here, Protocol};

use crate::protocol::TinyOt;

/// The card of what is for two alone.
pub(crate) static FOR_TWO: LazyLock<Card> = LazyLock::new(|| Card { parties: 2..=2, ..TinyOt.card().clone() });

/// Where party `me` of two stands.
pub(crate) fn here(me: u16, session: SessionId) -> Here {
    Here::new(PartyId(me), 2, session)
}
