//! Tests of the online phase over a trusted dealer, and of the protocol whole.

mod cheats;
pub(crate) mod dealer;
mod engine;
mod laws;
mod machine;
mod protocol;
mod stock;
mod wire;

use comity_circuit::{Builder, Circuit};
use comity_core::{Backend, Params, PartyId, SessionId};
use comity_protocol::Here;

/// Where party `me` of two stands.
pub(crate) fn here(me: u16, session: SessionId) -> Here {
    Here { me: PartyId(me), parties: 2, session, params: Params::default(), backend: Backend::detect() }
}

/// A chain of dependent ANDs and a wide layer of independent ones.
fn chain_and_layer(width: usize) -> Circuit {
    let mut b = Builder::new();
    let (x, y) = (b.input("x", width), b.input("y", width));
    let mut chain = x[0];
    let mut layer = vec![];
    for i in 0..width {
        let and = b.and(chain, y[i]);
        chain = b.xor(and, x[i]);
        layer.push(b.and(x[i], y[(i + 7) % width]));
    }
    layer.push(chain);
    b.output("out", &layer);
    b.finish()
}
