//! What is drawn is drawn: two proofs of one statement by one witness have nothing in common, in conversation
//! or in files.

use comity_core::{Backend, PartyId, SessionId};
use comity_protocol::Here;
use comity_testing::laws::{assert_fresh, said_by_two};

use super::{conversing, rng, statement, witness};
use crate::{Conversation, Soundness, System, prove, prove_to, verify_from};

#[test]
fn two_conversations_have_no_message_in_common() {
    let statement = statement(b"");
    let here = |me: u16| Here::new(PartyId(me), 2, SessionId::new([7; 32]));
    let moves = conversing().map(|system| Conversation::ThreeMoves(system, Soundness::Bits128));
    for way in moves.chain([Conversation::Vole, Conversation::Garbled, Conversation::GarbledRows]) {
        // The mask of a checked extension for choices that are given has a correction of zero.
        let constants = usize::from(matches!(way, Conversation::Garbled | Conversation::GarbledRows));
        assert_fresh(constants, |seed| {
            let seed = 2 * seed as u8;
            said_by_two(
                |ch| prove_to(ch, here(0), &statement, &witness(), way, &mut rng(seed)),
                |ch| verify_from(ch, here(1), &statement, way, &mut rng(seed + 1)),
            )
        });
    }
}

#[test]
fn two_proofs_in_files_have_nothing_in_common() {
    let statement = statement(b"");
    for system in System::ALL {
        // The digest of the statement.
        assert_fresh(1, |seed| {
            let proof = prove(Backend::detect(), &statement, &witness(), system, &mut rng(seed as u8));
            vec![proof.unwrap().to_bytes()]
        });
    }
}
