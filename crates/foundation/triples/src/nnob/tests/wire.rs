//! What is on the wire: the same bytes on every backend, and whatever is done to them, no wrong triple.

use std::sync::Mutex;

use comity_channel::{Recorded, Recording};
use comity_core::Kind;
use comity_testing::{Deviation, Pair, Verdict, deviate, never_wrong};

use super::*;

/// Whoever changes the bytes on purpose, here, in comity-share or in comity-ot, changes this digest, and the
/// wire version.
const GOLDEN: &str = "635fef2309528f77ceefb3bc162383992c3331a2c37a252ed731bd127cb295b4";

#[test]
fn the_wire_is_pinned_on_every_backend() {
    let digest = |backend| {
        let party = |party: u16| {
            move |ch: &mut MemoryChannel| -> Recording {
                let mut ch = Recorded::new(ch, 64 << 20);
                // Base OTs, and more than one chunk.
                let context = context(party, 7, backend, honest());
                let mut dealer = Nnob::with(context, ABits::new(SMALL, None), Budget::known(60, 4, 1, 300).unwrap());
                dealer.triples(&mut ch, 50).unwrap();
                dealer.shares(&mut ch, &mut [Share::default(); 100]).unwrap();
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

/// What the parties of a broken run hold.
struct Held<T>(Mutex<[Option<T>; 2]>);

impl<T> Held<T> {
    fn new() -> Held<T> {
        Held(Mutex::new([None, None]))
    }

    fn put(&self, party: u16, value: T) {
        self.0.lock().unwrap()[usize::from(party)] = Some(value);
    }

    fn take(&self) -> [Option<T>; 2] {
        std::mem::take(&mut *self.0.lock().unwrap())
    }
}

#[test]
fn no_deviation_makes_a_triple_wrong() {
    let held = Held::new();
    let party = |ch: &mut Box<dyn Channel>, party: u16, session: u64| -> Result<usize> {
        let dealt = deal(&mut small(party, session, honest()), ch)?;
        let n = dealt.0.len();
        held.put(party, dealt);
        Ok(n)
    };
    let mut lost = [Vec::new(), Vec::new()];
    let runs = deviate(
        1200,
        |ch, session| party(ch, 0, session),
        |ch, session| party(ch, 1, session),
        |case, verdict0, verdict1| {
            never_wrong(case, verdict0, verdict1);
            if let [Some(a), Some(b)] = held.take() {
                triples_hold(&a, &b);
            }
            let other = if case.party == 0 { verdict1 } else { verdict0 };
            if case.deviation == Deviation::Lose {
                assert!(
                    matches!(other, Verdict::Correct | Verdict::Abort(Error { kind: Kind::Closed, .. })),
                    "{case:?}: {other:?}"
                );
                lost[case.party].push(matches!(other, Verdict::Correct));
            }
        },
    );
    assert!(runs > 300, "{runs} runs");
    // Whoever is lost before its last message leaves the other without triples. After it the other may have them, or
    // notice that nobody listens to its own last message.
    for lost in lost {
        let (_, before) = lost.split_last().unwrap();
        assert!(before.len() > 20 && !before.contains(&true), "{lost:?}");
    }
}

#[test]
fn no_deviation_makes_seeds_wrong() {
    const N: usize = 12;
    let held = Held::new();
    let party = |ch: &mut Box<dyn Channel>, party: u16, session: u64| -> Result<()> {
        let seeds = Seeds::base(&mut context(party, session, Backend::detect(), honest()), ch, N)?;
        held.put(party, seeds);
        Ok(())
    };
    deviate(
        200,
        |ch, session| party(ch, 0, session),
        |ch, session| party(ch, 1, session),
        |case, verdict0, verdict1| {
            never_wrong(case, verdict0, verdict1);
            if let [Some(a), Some(b)] = held.take() {
                for (one, other) in [(&a, &b), (&b, &a)] {
                    assert!((0..N).all(|i| one.pairs[i][usize::from(other.choices[i])] == other.chosen[i]), "{case:?}");
                }
            }
        },
    );
}
