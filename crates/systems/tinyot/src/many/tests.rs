//! The machine of many on a trusted dealer, and on what is stored; and liars.

mod hidden;
pub(crate) mod ideal;
mod machine;
mod order;
mod stored;

use comity_channel::Mesh;
use comity_core::{Backend, Bits, Block, Params, PartyId, Prg, Result, SessionId};
use comity_protocol::{Dealer, Here};
use comity_share::joint::JointAct;
use comity_share::{GlobalKey, PairSeeds, RowShares};
use comity_testing::Net;
use comity_triples::bucket::Budget;
use comity_triples::{Many, RowDealer, RowTriples};

use super::{RowMachine, RowSharing};

const SESSION: SessionId = SessionId::new([0x6d; 32]);

/// The conduct of a party.
type Lie = Box<dyn FnMut(JointAct<'_>) + Send>;

fn lie(lie: impl FnMut(JointAct<'_>) + Send + 'static) -> Lie {
    Box::new(lie)
}

fn honest() -> Lie {
    lie(|_| {})
}

fn here(me: PartyId, parties: u16, session: SessionId) -> Here {
    Here::new(me, parties, session)
}

fn rng(seed: u64, party: PartyId) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(u128::from(seed) << 32 | u128::from(party.0)))
}
