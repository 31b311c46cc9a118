//! Those who do not do as the protocol says: what they change is an error, or matches that are lost, and
//! never an item that is not common, nor another's payload. (Semi-honest methods promise no more against
//! them; this much they keep.)

use std::fmt::Debug;

use comity_channel::{Change, Direction, Recorded, Tamper, Tampering};
use comity_core::Kind;
use comity_share::checks::COIN_OPENING;
use comity_testing::{Case, Verdict, assert_waits, deviate, told};

use super::*;

/// What a test looks at in a result.
type Result3 = (usize, Vec<u32>, Vec<u8>);

/// No item of `verdict` but those of the honest run, each with its payload.
fn nothing_invented<A: Debug>(case: &Case, _: &Verdict<A>, verdict: &Verdict<Result3>) {
    if let Verdict::Wrong((_, matched, payload)) = verdict {
        for (item, payload) in matched.iter().zip(payload.chunks(2)) {
            assert!((10..30).contains(item), "{case:?}: {item} is not common");
            assert_eq!(payload, [*item as u8, 7], "{case:?}: the payload of another item");
        }
    }
}

#[test]
fn broken_messages_lose_matches_and_invent_none() {
    let numbers = items(0..30);
    // The sender has items 10 to 39, each with its number.
    let sender = items(10..40);
    let payload: Vec<u8> = (10..40).flat_map(|number| [number, 7]).collect();
    for (method, adversary) in methods() {
        let terms = Terms { payload: 2, ..Terms::new(method, adversary) };
        let runs = deviate(
            60,
            |ch, session| {
                let set = Set { items: &sender, payload: &payload, pad_to: 0 };
                party(0, session, ch, |me| send(me, &terms, &set)).map(|sent| sent.left_out)
            },
            |ch, session| {
                let set = Set { items: &numbers, ..Set::default() };
                let got = party(1, session, ch, |me| receive(me, &terms, &set))?;
                Ok((got.left_out, got.matched, got.payload))
            },
            nothing_invented,
        );
        assert!(runs >= 40, "{}: {runs}", method.name());
    }
}

#[test]
fn each_difference_of_terms_is_told_to_both() {
    let kkrt = Terms::new(Method::Kkrt, Adversary::SemiHonest);
    let run = |first: Terms, second: Terms, sends: [bool; 2], rho: u32| {
        let side = |terms: Terms, sends, me: &mut Party<'_, '_>| match sends {
            true => send(me, &terms, &Set::default()).map(drop),
            false => receive(me, &terms, &Set::default()).map(drop),
        };
        Pair::run(
            |ch| party(0, 1, ch, |me| side(first, sends[0], me)),
            |ch| {
                party(1, 1, ch, |me| {
                    me.here.params = Params::new(128, rho)?;
                    side(second, sends[1], me)
                })
            },
        )
    };
    let differ = |expected: &str, (one, two): (Result<()>, Result<()>)| {
        for (peer, ended) in [(1, one), (0, two)] {
            let error = ended.unwrap_err();
            assert_eq!(error.party, Some(PartyId(peer)), "{expected}");
            match error.kind {
                Kind::Mismatch { field, ours, theirs } => {
                    assert_eq!(field, expected);
                    // Two that both send say the same, and that is what is wrong.
                    assert_eq!(ours == theirs, field == "role");
                }
                other => panic!("{expected}: {other}"),
            }
        }
    };
    differ("role", run(kkrt, kkrt, [true, true], 40));
    differ("role", run(kkrt, kkrt, [false, false], 40));
    differ("method", run(kkrt, Terms { method: Method::OtBch, ..kkrt }, [true, false], 40));
    differ("bytes of payload", run(kkrt, Terms { payload: 3, ..kkrt }, [true, false], 40));
    differ("statistical parameter", run(kkrt, kkrt, [true, false], 41));
    let vole = |adversary| Terms::new(Method::Vole, adversary);
    differ("adversary", run(vole(Adversary::SemiHonest), vole(Adversary::Malicious), [true, false], 40));
    differ("protocol below", run(circuit(), Terms { over: Some(&comity_gmw::Gmw), ..circuit() }, [true, false], 40));
    let malicious = Terms { adversary: Adversary::Malicious, ..circuit() };
    assert!(malicious.check().unwrap_err().to_string().contains("yao is semi-honest"));
}

#[test]
fn terms_that_no_method_has_are_refused_before_anything_is_sent() {
    let kkrt = Terms::new(Method::Kkrt, Adversary::SemiHonest);
    let why = |terms: Terms| terms.check().unwrap_err().to_string();
    assert!(why(Terms { adversary: Adversary::Malicious, ..kkrt }).contains("not for a malicious peer"));
    assert!(why(Terms { over: Some(&comity_yao::Yao), ..kkrt }).contains("leave yao out"));
    assert!(why(Terms { method: Method::Circuit, ..kkrt }).contains("name one"));
    assert!(why(Terms { payload: 1, ..circuit() }).contains("no payload"));
    assert!(why(Terms { payload: 1 << 20, ..kkrt }).contains("65536 at most"));
    let twice = [Item([1; 32]), Item([2; 32]), Item([1; 32])];
    let wide = Terms { payload: 1 << 20, ..kkrt };
    for (terms, items, why) in [(kkrt, &twice[..], "item 2 is item 0 again"), (wide, &[], "65536 at most")] {
        for sends in [true, false] {
            let set = Set { items, ..Set::default() };
            let side = |me: &mut Party<'_, '_>| match sends {
                true => send(me, &terms, &set).map(drop),
                false => receive(me, &terms, &set).map(drop),
            };
            let (said, ended) = told(&[], |ch| party(0, 1, ch, side));
            assert_eq!(said, [0u8; 0]);
            assert!(ended.unwrap_err().to_string().contains(why));
        }
    }
}

/// A statistical parameter for which short items are longer than the code takes: both sides say so, and what to take.
#[test]
fn items_that_the_code_does_not_take_are_refused() {
    let side = |me: &mut Party<'_, '_>, method, sends| {
        me.here.params = Params::new(128, 100)?;
        let (set, terms) = (Set { items: &items(0..3), ..Set::default() }, Terms::new(method, Adversary::SemiHonest));
        if sends { send(me, &terms, &set).map(drop) } else { receive(me, &terms, &set).map(drop) }
    };
    let run = |method| {
        Pair::run(|ch| party(0, 1, ch, |me| side(me, method, true)), |ch| party(1, 1, ch, |me| side(me, method, false)))
    };
    let (sent, got) = run(Method::OtBch);
    for ended in [sent, got] {
        let why = ended.unwrap_err().to_string();
        assert!(why.contains("this method takes 76") && why.contains("take kkrt"), "{why}");
    }
    let (sent, got) = run(Method::Kkrt);
    sent.and(got).unwrap();
}

/// The key of the digests: committed to after the sizes, and opened after the other's part has come, so that
/// nobody chooses it.
#[test]
fn the_digests_key_is_nobodys_choice() {
    // VOLE has messages before, and a test of its own.
    for (method, adversary) in methods().filter(|(method, _)| *method != Method::Vole) {
        let terms = Terms::new(method, adversary);
        // The first of the two, by id, commits: it has heard the sizes then, and opens when it has heard the
        // other's seed.
        assert_waits(
            |ch| party(0, 1, ch, |me| send(me, &terms, &Set::default()).map(drop)),
            |ch| party(1, 1, ch, |me| receive(me, &terms, &Set::default()).map(drop)),
            &[("the commitment", 32, 32), ("the opened seed", 64, 64)],
        );
        // The other one says its seed when it has heard a commitment.
        assert_waits(
            |ch| party(1, 1, ch, |me| receive(me, &terms, &Set::default()).map(drop)),
            |ch| party(0, 1, ch, |me| send(me, &terms, &Set::default()).map(drop)),
            &[("the other seed", 64, 32)],
        );
        // Another seed than was committed to is seen: bytes 64 to 127 of the sender are the opening.
        let change = Tamper { direction: Direction::Outgoing, at: 70, change: Change::Flip { bit: 3 } };
        let (_, got) = Pair::run(
            |ch| party(0, 1, &mut Tampering::new(ch, &change), |me| send(me, &terms, &Set::default())),
            |ch| party(1, 1, ch, |me| receive(me, &terms, &Set::default())),
        );
        assert_eq!(got.err().and_then(|error| error.check()), Some(COIN_OPENING));
    }
}

/// One item that both have: its mask is in each of three groups, and found in one. A bit of the sealed
/// payload beside it makes that no match; it is not reported.
#[test]
fn payload_that_is_not_the_senders_is_no_match() {
    let item = items(0..1);
    let terms = Terms { payload: 4, ..Terms::new(Method::Kkrt, Adversary::SemiHonest) };
    let set = Set { items: &item, payload: b"data", pad_to: 0 };
    let run = |change: Option<usize>| {
        let (sent, got) = Pair::run(
            |ch| {
                let at = change.unwrap_or(usize::MAX);
                let tamper = Tamper { direction: Direction::Outgoing, at, change: Change::Flip { bit: 0 } };
                let mut ch = Recorded::new(Tampering::new(ch, &tamper), 1 << 20);
                party(0, 1, &mut ch, |me| send(me, &terms, &set)).map(|_| ch.recorder().recording().sent.len())
            },
            |ch| party(1, 1, ch, |me| receive(me, &terms, &Set { items: &item, ..Set::default() })),
        );
        let got = got.unwrap();
        (sent.unwrap(), got.matched, got.payload)
    };
    let (len, matched, payload) = run(None);
    assert_eq!((&matched[..], &payload[..]), (&[0][..], &b"data"[..]));
    let group = crate::MaskList::new(1, 42).len() + 4 + 16;
    let ends: Vec<_> = (0..3).map(|group_after| run(Some(len - 1 - group_after * group)).1).collect();
    assert_eq!(ends.iter().filter(|matched| matched.is_empty()).count(), 1, "{ends:?}");
    let in_the_payload: Vec<_> = (0..3).map(|group_after| run(Some(len - 20 - group_after * group)).1).collect();
    assert_eq!(ends, in_the_payload, "the payload is under the tag");
}

/// Each says how many items of the other it goes along with; a party that has more is told so, and so is the
/// other one.
#[test]
fn a_set_that_is_larger_than_the_other_side_takes_is_refused_on_both() {
    for (method, adversary) in methods() {
        let own = Terms::new(method, adversary);
        assert_eq!(own.most, 1 << 26);
        let (three, two) = (items(0..3), items(0..2));
        let (three, two) = (Set { items: &three, ..Set::default() }, Set { items: &two, ..Set::default() });
        for sends in [true, false] {
            let run = |most: usize| {
                let limited = Terms { most, ..own };
                Pair::run(
                    |ch| {
                        party(0, 1, ch, |me| match sends {
                            true => send(me, &own, &three).map(drop),
                            false => receive(me, &own, &three).map(drop),
                        })
                    },
                    |ch| {
                        party(1, 1, ch, |me| match sends {
                            true => receive(me, &limited, &two).map(drop),
                            false => send(me, &limited, &two).map(drop),
                        })
                    },
                )
            };
            let (one, other) = run(2);
            let said = [one, other].map(|ended| ended.unwrap_err().to_string());
            assert!(said[0].contains("size of this party's set") && said[0].contains("2 items at most"), "{}", said[0]);
            assert!(said[1].contains("size of the peer's set") && said[1].contains("3 items"), "{}", said[1]);
            if method != Method::OprfAes {
                let (one, other) = run(3);
                assert!(one.is_ok() && other.is_ok());
            }
        }
    }
}

/// No memory is allocated for the size that a peer announces, only for the masks that come.
#[test]
fn a_size_is_believed_when_its_masks_come() {
    for (method, adversary) in methods().filter(|(_, adversary)| *adversary == Adversary::SemiHonest) {
        let terms = Terms { most: crate::MAX_ITEMS, ..Terms::new(method, adversary) };
        let opening = |sends, size| crate::terms::Opening { sends, size }.to_bytes(&terms, Params::default()).to_vec();
        let ends = |size| {
            let says = [opening(true, size), vec![0; 32]].concat();
            let error = told(&says, |ch| party(1, 1, ch, |me| receive(me, &terms, &Set::default()))).1.err().unwrap();
            assert!(matches!(error.kind, Kind::Closed) || error.party == Some(PartyId(0)));
            error.kind
        };
        assert!(matches!(ends(crate::MAX_ITEMS), Kind::Closed), "{}", method.name());
        assert!(matches!(ends(crate::MAX_ITEMS + 1), Kind::Mismatch { .. }), "{}", method.name());
        assert!(matches!(ends(u32::MAX as usize), Kind::Mismatch { .. }), "{}", method.name());
    }
    // A circuit would need it all at once: it is refused.
    let circuit = Terms { most: crate::MAX_ITEMS, ..circuit() };
    let says = crate::terms::Opening { sends: true, size: crate::MAX_ITEMS }.to_bytes(&circuit, Params::default());
    let (_, ended) = told(&says, |ch| party(1, 1, ch, |me| receive(me, &circuit, &Set::default())));
    assert!(ended.err().unwrap().to_string().contains("too large for a circuit"));
}
