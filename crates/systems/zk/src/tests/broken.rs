//! Conversations whose messages are changed in every way, by either party.

use comity_channel::Channel;
use comity_core::{Error, Kind, PartyId, Result, SessionId};
use comity_protocol::Here;
use comity_testing::{Case, Deviation, Verdict, deviate};

use super::{bits, masked, rng, witness};
use crate::{Conversation, Soundness, Statement, System, prove_to, verify_from};

/// What is known of a party: its number, and the session, which has a number in these tests.
pub(super) fn here(me: u16, session: u64) -> Here {
    let mut id = [9; 32];
    id[..8].copy_from_slice(&session.to_le_bytes());
    Here::new(PartyId(me), 2, SessionId::new(id))
}

/// Whether an error names a check, or what is wrong with what came, or that nothing more does.
fn is_clear(error: &Error) -> bool {
    error.check().is_some()
        || matches!(error.kind, Kind::Malformed(_) | Kind::Closed | Kind::Io { .. } | Kind::TimedOut(_))
}

/// Breaks every message of a conversation; says how many broken runs there were.
fn breaks(way: Conversation, limit: usize) -> usize {
    let statement = || Statement::new(&masked(), &[None, bits(6, 4)], &[bits(2, 4), None], b"here").unwrap();
    let prove = |ch: &mut Box<dyn Channel>, session: u64| -> Result<()> {
        prove_to(&mut **ch, here(0, session), &statement(), &witness(), way, &mut rng(session as u8))
    };
    let verify = |ch: &mut Box<dyn Channel>, session: u64| -> Result<()> {
        verify_from(&mut **ch, here(1, session), &statement(), way, &mut rng(100 + session as u8))
    };
    let judge = |case: &Case, prover: &Verdict<()>, verifier: &Verdict<()>| {
        for verdict in [prover, verifier] {
            assert!(verdict.error().is_none_or(is_clear), "{way:?}, {case:?}: {verdict:?}");
        }
        // Where the prover says nothing but what is checked, a change of it is seen. (Of OTs half is never looked at.)
        if matches!(way, Conversation::ThreeMoves(..)) && (case.party, case.deviation) == (0, Deviation::Flip) {
            assert!(verifier.error().is_some(), "{way:?}, {case:?}: believed");
        }
    };
    deviate(limit, prove, verify, judge)
}

#[test]
fn a_broken_conversation_ends_with_a_check_or_a_clear_error() {
    let ways = [
        (Conversation::ThreeMoves(System::ZkBoo, Soundness::Bits40), 60),
        (Conversation::ThreeMoves(System::ZkbPlusPlus, Soundness::Bits40), 60),
        (Conversation::ThreeMoves(System::Kkw, Soundness::Bits40), 20),
        (Conversation::Vole, 160),
        (Conversation::Garbled, 160),
        (Conversation::GarbledRows, 160),
    ];
    for (way, limit) in ways {
        let runs = breaks(way, limit);
        assert!(runs >= 10, "{way:?}: {runs} runs");
    }
}
