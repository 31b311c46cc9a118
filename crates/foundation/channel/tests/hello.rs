//! The hello: sessions that agree, every way to disagree, and what is no hello at all.

use comity_channel::hello::{Greeted, Refusal, WIRE_BYTES, WIRE_VERSION, farewell};
use comity_channel::{Channel, Error, Hello, Mesh, PerPeer, Result, hello, memory};
use comity_core::{Backend, Block, Kind, Params, PartyId, Prg, SessionId};
use comity_testing::{Net, Pair};
use proptest::prelude::*;

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn of_party(party: u16) -> Hello {
    among(party, 2)
}

fn among(party: u16, parties: u16) -> Hello {
    Hello {
        protocol: "yao".into(),
        options: vec![("coded", Some("no".into())), ("garbler", None)],
        params: Params::default(),
        parties,
        me: PartyId(party),
        program: "aes128".into(),
        program_digest: [7; 32],
        owners: "0 1".into(),
        recipients: "all".into(),
        key: Some([party as u8; 32]),
        peer_keys: PerPeer::new(PartyId(party), parties, |peer| Some([peer.0 as u8; 32])),
        group: None,
    }
}

fn greet(ch: &mut dyn Channel, ours: &Hello, seed: u128) -> Result<Greeted> {
    hello(&mut Mesh::of_two(PartyId(ours.me.0.min(1)), ch), ours, &mut rng(seed))
}

fn meet_all(ours: &Hello, theirs: &Hello, seeds: [u128; 2]) -> (Result<Greeted>, Result<Greeted>) {
    Pair::run(|ch| greet(ch, ours, seeds[0]), |ch| greet(ch, theirs, seeds[1]))
}

fn meet(ours: &Hello, theirs: &Hello, seeds: [u128; 2]) -> (Result<SessionId>, Result<SessionId>) {
    let (a, b) = meet_all(ours, theirs, seeds);
    (a.map(|met| met.session), b.map(|met| met.session))
}

/// What both sides say when the second one differs from the first in one thing.
fn differ(change: impl Fn(&mut Hello)) -> [(&'static str, String, String); 2] {
    let ours = of_party(0);
    let mut theirs = of_party(1);
    change(&mut theirs);
    let (a, b) = meet(&ours, &theirs, [1, 2]);
    [a, b].map(|result| match result {
        Err(Error { kind: Kind::Mismatch { field, ours, theirs }, .. }) => (field, ours, theirs),
        other => panic!("no mismatch: {other:?}"),
    })
}

#[test]
fn agreeing_parties_share_a_fresh_session() {
    let (a, b) = meet(&of_party(0), &of_party(1), [1, 2]);
    let first = a.unwrap();
    assert_eq!(first, b.unwrap());
    // One fresh nonce is enough for a new id, whichever side has it.
    for seeds in [[1, 3], [3, 2]] {
        let (a, b) = meet(&of_party(0), &of_party(1), seeds);
        assert_eq!(a.as_ref().unwrap(), b.as_ref().unwrap());
        assert_ne!(a.unwrap(), first);
    }
}

#[test]
fn the_session_hangs_on_what_was_agreed() {
    let (base, _) = meet(&of_party(0), &of_party(1), [1, 2]);
    let changes: [fn(&mut Hello); 8] = [
        |h| h.protocol = "other".into(),
        |h| h.params.rho = 50,
        |h| h.options[0].1 = Some("yes".into()),
        |h| h.options[1].1 = Some("party 1".into()),
        |h| h.group = Some([1; 32]),
        |h| h.program_digest[31] ^= 1,
        |h| h.owners = "1 0".into(),
        |h| h.recipients = "0".into(),
    ];
    for change in changes {
        let mut parties = [of_party(0), of_party(1)];
        parties.iter_mut().for_each(change);
        let (a, b) = meet(&parties[0], &parties[1], [1, 2]);
        assert_eq!(a.as_ref().unwrap(), b.as_ref().unwrap());
        assert_ne!(a.unwrap(), *base.as_ref().unwrap());
    }
}

#[test]
fn names_of_programs_are_for_people() {
    let (ours, mut theirs) = (of_party(0), of_party(1));
    theirs.program = "my copy of aes.txt".into();
    let (a, b) = meet(&ours, &theirs, [1, 2]);
    assert_eq!(a.unwrap(), b.unwrap());
}

#[test]
fn an_option_that_is_open_is_what_the_others_say() {
    let (mut ours, mut theirs) = (of_party(0), of_party(1));
    let (a, b) = meet_all(&ours, &theirs, [1, 2]);
    assert_eq!(a.unwrap().options, ours.options);
    let open = b.unwrap().session;
    theirs.options[1].1 = Some("party 1".into());
    for (ours, theirs) in [(&ours, &theirs), (&theirs, &theirs)] {
        let ours = Hello { me: PartyId(0), peer_keys: of_party(0).peer_keys, key: Some([0; 32]), ..ours.clone() };
        let (a, b) = meet_all(&ours, theirs, [1, 2]);
        assert_eq!(a.as_ref().unwrap(), b.as_ref().unwrap());
        assert_eq!(a.as_ref().unwrap().options, theirs.options);
        assert_ne!(a.unwrap().session, open);
    }
    ours.options[1].1 = Some("party 0".into());
    let (a, _) = meet(&ours, &theirs, [1, 2]);
    assert!(a.unwrap_err().to_string().contains("garbler: here party 0, at the peer party 1"));
    ours.options[1].0 = "dealer";
    let (a, _) = meet(&ours, &theirs, [1, 2]);
    assert!(a.unwrap_err().to_string().contains("options of the protocol"));
    ours.options[0].1 = Some("x".repeat(300));
    assert!(matches!(meet(&ours, &theirs, [1, 2]).0, Err(Error { kind: Kind::InvalidInput(_), .. })));
}

#[test]
fn nobody_whom_both_trust_can_stand_between() {
    // Each believes to talk to the one in the middle, whose key it sees.
    let (mut ours, mut theirs) = (of_party(0), of_party(1));
    ours.peer_keys[PartyId(1)] = Some([9; 32]);
    theirs.peer_keys[PartyId(0)] = Some([9; 32]);
    let (a, b) = meet(&ours, &theirs, [1, 2]);
    for said in [a, b] {
        assert!(said.unwrap_err().to_string().contains("key of the party"));
    }
    // One that hides the difference makes two sessions of it.
    let sessions = [&of_party(0), &ours].map(|ours| {
        let bytes = honest_bytes();
        let (a, _) = Pair::run(
            |ch| greet(ch, ours, 1),
            |ch| {
                let mut heard = [0; WIRE_BYTES];
                ch.recv(&mut heard)?;
                let mut bytes = bytes.clone();
                let key = WIRE_BYTES - 3 * 33 + 1;
                bytes[key..key + 32].copy_from_slice(&heard[key + 33..][..32]);
                ch.send(&bytes)?;
                ch.flush()
            },
        );
        a.unwrap().session
    });
    assert_ne!(sessions[0], sessions[1]);
}

#[test]
fn many_parties_have_one_session() {
    let sessions: [_; 5] = Net::run(|mesh| {
        let ours = among(mesh.me().0, 5);
        hello(mesh, &ours, &mut rng(u128::from(mesh.me().0))).unwrap().session
    });
    assert!(sessions.iter().all(|session| *session == sessions[0]));
    // One of three wants something else, and every one of the others says whom it is that differs; that one cannot say.
    let said: [_; 3] = Net::run(|mesh| {
        let mut ours = among(mesh.me().0, 3);
        if mesh.me() == PartyId(2) {
            ours.params.rho = 41;
        }
        hello(mesh, &ours, &mut rng(7)).unwrap_err()
    });
    assert_eq!(said.each_ref().map(|e| e.party), [Some(PartyId(2)), Some(PartyId(2)), None]);
}

#[test]
fn every_difference_is_named_on_both_sides() {
    let text = |field: &'static str, [a, b]: [&str; 2]| {
        [(field, a.to_owned(), b.to_owned()), (field, b.to_owned(), a.to_owned())]
    };
    assert_eq!(differ(|h| h.protocol = "gmw".into()), text("protocol", ["yao", "gmw"]));
    assert_eq!(differ(|h| h.options[0].1 = Some("yes".into())), text("coded", ["no", "yes"]));
    let [(field, ours, theirs), _] = differ(|h| h.group = Some([0x77; 32]));
    assert_eq!((field, &ours[..], theirs), ("group of parties", "none", "77".repeat(32)));
    let three = |h: &mut Hello| (h.parties, h.peer_keys) = (3, PerPeer::new(PartyId(1), 3, |_| None));
    assert_eq!(differ(three), text("number of parties", ["2", "3"]));
    assert_eq!(differ(|h| h.params.kappa = 256), text("computational security kappa", ["128", "256"]));
    assert_eq!(differ(|h| h.params.rho = 80), text("statistical security rho", ["40", "80"]));
    assert_eq!(differ(|h| h.owners = "0 0".into()), text("owners of the inputs", ["0 1", "0 0"]));
    assert_eq!(differ(|h| h.recipients = "1".into()), text("recipients of the outputs", ["all", "1"]));
    let digests = ["aes128 (digest 0707070707070707..)", "sha256 (digest 0000000000000000..)"];
    let other_program = |h: &mut Hello| {
        h.program = "sha256".into();
        h.program_digest = [0; 32];
    };
    assert_eq!(differ(other_program), text("program", digests));
}

#[test]
fn of_many_it_is_said_who_wants_what() {
    let run = |programs: [&'static str; 4], rho: [u32; 4]| {
        Net::<4>::run(|mesh| {
            let me = usize::from(mesh.me().0);
            let digest = [programs[me].len() as u8; 32];
            let params = Params::new(128, rho[me]).unwrap();
            let ours = Hello { program: programs[me].into(), program_digest: digest, params, ..among(me as u16, 4) };
            let error = hello(mesh, &ours, &mut rng(me as u128)).unwrap_err();
            (error.to_string().replace('.', ""), error.party)
        })
    };
    let name = |program: &str| format!("{program} (digest {})", format!("{:02x}", program.len()).repeat(8));
    let (add, mul, sort) = (name("add"), name("multi"), name("sorted"));
    let says =
        |here: &str, there: &str| format!("the parties disagree on the program: here {here}, at the peer {there}");
    let [zero, one, two, three] = run(["add", "multi", "add", "add"], [40; 4]);
    assert_eq!(zero, (says(&format!("{add} (parties 0, 2 and 3)"), &format!("{mul} (party 1)")), Some(PartyId(1))));
    assert_eq!(one, (says(&format!("{mul} (party 1)"), &format!("{add} (parties 0, 2 and 3)")), None));
    assert!(two == zero && three == zero, "{two:?} {three:?}");
    let [zero, _, two, _] = run(["add", "multi", "sorted", "multi"], [40; 4]);
    assert_eq!(zero.0, says(&format!("{add} (party 0)"), &format!("{mul} (parties 1 and 3), {sort} (party 2)")));
    assert_eq!(two.0, says(&format!("{sort} (party 2)"), &format!("{add} (party 0), {mul} (parties 1 and 3)")));
    // A party that differs in something else is on no side of the first difference.
    let [_, _, _, three] = run(["multi", "add", "add", "add"], [40, 50, 40, 40]);
    assert_eq!(three.0, says(&format!("{add} (parties 2 and 3)"), &format!("{mul} (party 0)")));
}

#[test]
fn two_parties_cannot_have_one_id() {
    for (field, ours, theirs) in differ(|h| (h.me, h.peer_keys) = (PartyId(0), of_party(0).peer_keys)) {
        assert_eq!((field, ours.as_str()), ("party ids", "0"));
        assert!(theirs.starts_with("0 as well"), "{theirs}");
    }
}

#[test]
fn long_texts_are_shortened_but_compared_whole() {
    let long = "x".repeat(1000);
    let (mut ours, mut theirs) = (of_party(0), of_party(1));
    (ours.owners, theirs.owners) = (long.clone(), long.clone());
    let (a, b) = meet(&ours, &theirs, [1, 2]);
    assert_eq!(a.unwrap(), b.unwrap());
    theirs.owners.push('y');
    let (a, _) = meet(&ours, &theirs, [1, 2]);
    let Err(Error { kind: Kind::Mismatch { field, ours, theirs }, .. }) = a else { panic!("{a:?}") };
    assert_eq!(field, "owners of the inputs");
    assert!(ours != theirs && ours.starts_with("xxx") && ours.contains("... (digest"), "{ours} / {theirs}");
}

#[test]
fn terminals_are_safe_from_texts() {
    let [(_, _, shown), _] = differ(|h| h.protocol = "a\u{1b}[2J\u{202e}b".into());
    assert_eq!(shown, "a?[2J?b");
}

/// A hello of an honest party 1, as bytes.
fn honest_bytes() -> Vec<u8> {
    let (mut a, mut b) = memory::pair();
    let mut bytes = vec![0; WIRE_BYTES];
    std::thread::scope(|scope| {
        scope.spawn(move || greet(&mut a, &of_party(1), 9));
        b.recv(&mut bytes).unwrap();
        drop(b);
    });
    bytes
}

fn answer_with(bytes: &[u8]) -> Result<SessionId> {
    let (result, _) = Pair::run(
        |ch| greet(ch, &of_party(0), 1).map(|met| met.session),
        |ch| {
            ch.recv(&mut [0; WIRE_BYTES])?;
            ch.send(bytes)?;
            ch.flush()
        },
    );
    result
}

#[test]
fn other_versions_and_other_languages_are_told() {
    let mut bytes = honest_bytes();
    assert!(answer_with(&bytes).is_ok());
    bytes[8] ^= 0x40;
    match answer_with(&bytes[..12]) {
        Err(Error { kind: Kind::Mismatch { field: "version of the wire format", ours, .. }, .. }) => {
            assert_eq!(ours, WIRE_VERSION.to_string());
        }
        other => panic!("{other:?}"),
    }
    for (first, says) in [
        (&b"\x16\x03\x01\x00\xf0\x01\x00\x00"[..], "TLS"),
        (b"GET / HTTP/1.1\r\n", "HTTP"),
        (b"SSH-2.0-OpenSSH\r\n", "SSH"),
        (b"comity\r\n", "not comity"),
        (&[0; 8], "not comity"),
    ] {
        match answer_with(first) {
            Err(Error { kind: Kind::Stranger(text), .. }) => assert!(text.contains(says), "{text}"),
            other => panic!("{other:?}"),
        }
    }
}

#[test]
fn who_is_turned_away_is_told_why() {
    for (refusal, says) in
        [(Refusal::NotExpected, "expects no"), (Refusal::CameAgain, "another one"), (Refusal::UnderWay, "has met all")]
    {
        match answer_with(&farewell(refusal, PartyId(3), 5)) {
            Err(Error { kind: Kind::Mismatch { field: "parties", ours, theirs }, .. }) => {
                assert!(ours == "party 0" && theirs.starts_with("party 3 of 5") && theirs.contains(says), "{theirs}");
            }
            other => panic!("{other:?}"),
        }
    }
    let mut unknown = farewell(Refusal::UnderWay, PartyId(3), 5);
    unknown[8] = 7;
    assert!(matches!(answer_with(&unknown), Err(Error { kind: Kind::Malformed(_), .. })));
}

#[test]
fn a_lost_peer_is_told_at_every_byte() {
    let bytes = honest_bytes();
    for cut in 0..bytes.len() {
        assert!(matches!(answer_with(&bytes[..cut]), Err(Error { kind: Kind::Closed, .. })), "cut at {cut}");
    }
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 64, failure_persistence: None, ..Default::default() })]

    #[test]
    fn damage_gives_an_error_or_another_session(at in 0..WIRE_BYTES, bit in 0..8u32) {
        let mut bytes = honest_bytes();
        let honest = answer_with(&bytes).unwrap();
        bytes[at] ^= 1 << bit;
        // A changed nonce gives another id, so the parties part ways; a changed name of the program is for show.
        let names = 12 + 32 + 20 + 32 + 96..12 + 32 + 20 + 32 + 2 * 96;
        match answer_with(&bytes) {
            Ok(session) if names.contains(&at) => prop_assert_eq!(session, honest),
            Ok(session) => prop_assert!((12..44).contains(&at) && session != honest || is_shown(at)),
            Err(Error { kind: Kind::Mismatch { .. } | Kind::Malformed(_) | Kind::Stranger(_), .. }) => {}
            Err(other) => prop_assert!(false, "{}", other),
        }
    }
}

/// Whether this byte belongs to the beginning of a text that is compared by its digest.
fn is_shown(at: usize) -> bool {
    at >= 96 && (at - 96) % 96 < 64
}
