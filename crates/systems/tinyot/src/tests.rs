//! Tests of the online phase over a trusted dealer, and of the protocol whole.

mod cheats;
pub(crate) mod dealer;
mod engine;
mod laws;
mod machine;
mod protocol;
mod stored;
mod wire;

use comity_core::{Backend, Params, PartyId, SessionId};
use comity_protocol::Here;

/// Where party `me` of two stands.
pub(crate) fn here(me: u16, session: SessionId) -> Here {
    Here { me: PartyId(me), parties: 2, session, params: Params::default(), backend: Backend::detect() }
}
