//! What is on the wire: the same bytes on every backend, and whatever is done to them, no wrong triple.

use comity_channel::{Recorded, Recording};
use comity_core::Kind;
use comity_testing::{Deviation, Verdict, deviate, never_wrong};

use super::*;

use crate::checks;

/// Whoever changes the bytes on purpose, here, in comity-share or in comity-ot, changes this digest, and the
/// wire version.
const GOLDEN: &str = "d016f4dca5bdd601948e5af4c69b8c22c339c692b89891d22d09a8599aa618dc";

#[test]
fn the_wire_is_pinned_on_every_backend() {
    let budget = Budget::known(4400, 12, 1, OBJECTS).unwrap();
    let digest = |backend| {
        let party = |party: u16| {
            let budget = &budget;
            move |ch: &mut MemoryChannel| -> Recording {
                let mut ch = Recorded::new(ch, 64 << 20);
                let mut dealer = dealer(&mut ch, backend, party, 7, budget).unwrap();
                deal(&mut ch, &mut dealer, 4400).unwrap();
                ch.recorder().recording()
            }
        };
        let (a, b) = Pair::run(party(0), party(1));
        let mut hasher = blake3::Hasher::new();
        for recording in [a, b] {
            hasher.update(&(recording.sent.len() as u64).to_le_bytes()).update(&recording.sent);
        }
        hasher.finalize().to_hex()
    };
    let digests: Vec<_> = Backend::available().into_iter().map(|backend| (backend, digest(backend))).collect();
    for (backend, digest) in &digests {
        assert_eq!(*digest, digests[0].1, "{backend}");
    }
    assert_eq!(digests[0].1.as_str(), GOLDEN);
}

#[test]
fn no_deviation_makes_a_triple_wrong() {
    let held: Mutex<[Option<View>; 2]> = Mutex::new([None, None]);
    // Two small batches.
    let budget = Budget::known(24, 4, 1, 40).unwrap();
    let party = |ch: &mut Box<dyn Channel>, party: u16, session: u64| -> Result<usize> {
        let mut dealer = dealer(ch, Backend::detect(), party, session, &budget)?;
        let view = deal(ch, &mut dealer, 24)?;
        let n = view.1.len();
        held.lock().unwrap()[usize::from(party)] = Some(view);
        Ok(n)
    };
    let mut named = Vec::new();
    let runs = deviate(
        300,
        |ch, session| party(ch, 0, session),
        |ch, session| party(ch, 1, session),
        |case, verdict0, verdict1| {
            never_wrong(case, verdict0, verdict1);
            if let [Some(a), Some(b)] = std::mem::take(&mut *held.lock().unwrap()) {
                holds(&a, &b);
            }
            let other = if case.party == 0 { verdict1 } else { verdict0 };
            match other.error() {
                Some(Error { kind: Kind::Misbehaved(kind), .. }) => named.push(*kind),
                Some(error) if case.deviation == Deviation::Flip => {
                    assert!(matches!(error, Error { kind: Kind::Closed, .. }), "{error}")
                }
                _ => {}
            }
            let lost = case.deviation == Deviation::Lose;
            assert!(
                !lost || matches!(other, Verdict::Correct | Verdict::Abort(Error { kind: Kind::Closed, .. })),
                "{case:?}: {other:?}"
            );
        },
    );
    assert!(runs > 150, "{runs} runs");
    for kind in [
        comity_ot::checks::INCONSISTENT_CHOICES,
        checks::LEAKY_AND,
        comity_share::checks::WRONG_MAC,
        comity_ot::checks::INCONSISTENT_TREE,
        comity_ot::checks::BASE_OT_CHALLENGE,
    ] {
        assert!(named.contains(&kind), "nothing was named {kind:?}");
    }
}
