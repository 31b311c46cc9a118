//! Where parties stand, and that each check catches somebody.

use comity_core::{PartyId, SessionId};
use comity_protocol::Here;
use comity_testing::laws::{Laws, each_check_is_hit};

use crate::{checks, fast, nnob};

/// Where party `me` of two stands.
pub(crate) fn here(me: u16, session: SessionId) -> Here {
    Here::new(PartyId(me), 2, session)
}

#[test]
fn each_check_catches_a_cheat_of_either_dealer() {
    each_check_is_hit(&Laws { checks: Some((checks::ALL, nnob::tests::cheats)), ..Laws::USUAL });
    let all = || [fast::tests::cheats(), nnob::tests::cheats()].concat();
    each_check_is_hit(&Laws { checks: Some((checks::ALL, all)), ..Laws::USUAL });
}
