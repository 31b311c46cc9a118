//! Sessions, transcripts, commitments, parameters and backends: what separates them, and pinned values.

use comity_core::{Backend, Block, Commitment, Opening, Params, Prg, SessionId, Transcript, commit};
use rand_core::SeedableRng;

fn hex(bytes: impl AsRef<[u8]>) -> String {
    bytes.as_ref().iter().map(|b| format!("{b:02x}")).collect()
}

fn distinct<T: PartialEq>(items: &[T]) -> bool {
    items.iter().enumerate().all(|(i, a)| items[..i].iter().all(|b| a != b))
}

#[test]
fn sessions_are_framed() {
    let ids = [
        SessionId::derive("a", &[]),
        SessionId::derive("ab", &[]),
        SessionId::derive("a", &[b""]),
        SessionId::derive("a", &[b"", b""]),
        SessionId::derive("a", &[b"b"]),
        SessionId::derive("a", &[b"b", b""]),
        SessionId::derive("a", &[b"", b"b"]),
        SessionId::derive("a", &[b"bc", b"d"]),
        SessionId::derive("a", &[b"b", b"cd"]),
        SessionId::derive("a", &[b"bcd"]),
        SessionId::derive("a", &[]).child(""),
        SessionId::derive("a", &[]).child("b"),
        SessionId::derive("a", &[]).child("b").child("c"),
        SessionId::derive("a", &[]).child("bc"),
        SessionId::derive("ab", &[]).child("b"),
    ];
    assert!(distinct(&ids));
    let blocks =
        [ids[0].block("a"), ids[0].block("b"), ids[0].block(""), ids[1].block("a"), ids[0].child("a").block("")];
    assert!(distinct(&blocks));
    assert_eq!(SessionId::new(ids[3].to_bytes()), ids[3]);
}

#[test]
fn debug_of_a_session_is_its_start() {
    let id = SessionId::new(core::array::from_fn(|i| (i as u8) << 4 | 1));
    assert_eq!(format!("{id:?}"), "SessionId(0111213141516171..)");
}

#[test]
fn a_transcript_tells_everything_apart() {
    let challenge = |speak: fn(&mut Transcript)| {
        let mut transcript = Transcript::new("test");
        speak(&mut transcript);
        transcript.challenge_block("end")
    };
    let challenges = [
        challenge(|_| ()),
        challenge(|t| t.absorb("", b"")),
        challenge(|t| t.absorb("a", b"")),
        challenge(|t| t.absorb("", b"a")),
        challenge(|t| t.absorb("a", b"b")),
        challenge(|t| t.absorb("ab", b"")),
        challenge(|t| {
            t.absorb("a", b"b");
            t.absorb("a", b"");
        }),
        challenge(|t| {
            t.absorb("a", b"");
            t.absorb("a", b"b");
        }),
        challenge(|t| t.challenge_bytes("a", &mut [])),
        challenge(|t| t.challenge_bytes("a", &mut [0; 16])),
        challenge(|t| t.challenge_bytes("a", &mut [0; 17])),
        challenge(|t| t.absorb_session(SessionId::new([0; 32]))),
        challenge(|t| t.absorb_session(SessionId::new([1; 32]))),
        Transcript::new("other").challenge_block("end"),
        Transcript::new("test").challenge_block("other"),
    ];
    assert!(distinct(&challenges));
}

#[test]
fn challenges_follow_one_another_and_depend_on_their_length() {
    let mut transcript = Transcript::new("test");
    let (first, second) = (transcript.challenge_block("c"), transcript.challenge_block("c"));
    assert!(first != second);
    let mut long = [0; 32];
    Transcript::new("test").challenge_bytes("c", &mut long);
    assert_ne!(long[..16], first.to_bytes());
    let mut same = [0; 16];
    Transcript::new("test").challenge_bytes("c", &mut same);
    assert_eq!(same, first.to_bytes());
}

#[test]
fn a_commitment_opens_to_what_was_committed_only() {
    let (session, other) = (SessionId::derive("test", &[]), SessionId::derive("other", &[]));
    let mut rng = Prg::from_seed([1; 16]);
    for message in [&b""[..], b"m", &[7; 1000]] {
        let (commitment, opening) = commit(session, "party 0", message, &mut rng);
        assert!(commitment.verify(session, "party 0", message, &opening));
        assert!(!commitment.verify(other, "party 0", message, &opening));
        assert!(!commitment.verify(session, "party 1", message, &opening));
        assert!(!commitment.verify(session, "party 0", &[message, &[0]].concat(), &opening));
        for bit in (0..256).step_by(if cfg!(miri) { 101 } else { 1 }) {
            let flipped = |mut bytes: [u8; 32]| {
                bytes[bit / 8] ^= 1 << (bit % 8);
                bytes
            };
            let wrong = Opening::new(flipped(opening.to_bytes()));
            assert!(!commitment.verify(session, "party 0", message, &wrong));
            let wrong = Commitment::new(flipped(commitment.to_bytes()));
            assert!(!wrong.verify(session, "party 0", message, &opening));
        }
        // Sent and received.
        let (commitment, opening) = (Commitment::new(commitment.to_bytes()), Opening::new(opening.to_bytes()));
        assert!(commitment.verify(session, "party 0", message, &opening));
        // Another salt hides the message anew.
        assert_ne!(commit(session, "party 0", message, &mut rng).0, commitment);
    }
}

/// A change here is a change of every protocol's wire format.
#[test]
fn pinned_values() {
    let session = SessionId::derive("domain", &[b"one", b"two"]);
    assert_eq!(hex(session.to_bytes()), "e8dc68db3b5b9a410bfcd70d30d160987a2637a7f61e2c43f67c23b9ad59d6ce");
    assert_eq!(hex(session.child("ot").to_bytes()), "197aa0bd982893f3bc41e3fda461e21b81df3f40e76aa4926fe475b3ef0695c2");
    assert_eq!(hex(session.block("tweak").to_bytes()), "2e03bbe27b4de3af8c160fdd2803a445");
    let mut transcript = Transcript::new("domain");
    transcript.absorb_session(session);
    transcript.absorb("label", b"message");
    assert_eq!(hex(transcript.challenge_block("challenge").to_bytes()), "65a1932bb539247ea44c3c8ac8c7d829");
    let (commitment, opening) = commit(session, "party 0", b"message", &mut Prg::from_seed([0; 16]));
    assert_eq!(hex(opening.to_bytes()), "66e94bd4ef8a2c3b884cfa59ca342b2e47711816e91d6ff059bbbf2bf58e0fd3");
    assert_eq!(hex(commitment.to_bytes()), "2ae47a01dd7ff58789998f870e95ca3537aa60d982e5b11ea5e3343f21077e94");
}

#[test]
fn parameters_are_checked() {
    assert_eq!(Params::new(128, 40).unwrap(), Params::default());
    assert_eq!(Params::new(128, 1).unwrap().rho, 1);
    assert_eq!(Params::new(128, 128).unwrap().rho, 128);
    for (kappa, rho, message) in [
        (80, 40, "kappa is 80: only 128 is supported"),
        (0, 40, "kappa is 0: only 128 is supported"),
        (128, 0, "rho is 0: choose 1 to 128 (40 is usual)"),
        (128, 129, "rho is 129: choose 1 to 128 (40 is usual)"),
    ] {
        assert_eq!(Params::new(kappa, rho).unwrap_err().to_string(), message);
    }
}

#[test]
fn backends_go_by_their_names() {
    let available = Backend::available();
    assert_eq!(available[0], Backend::detect());
    assert_eq!(available.last().unwrap().name(), "portable");
    for &backend in &available {
        assert_eq!(Backend::named(backend.name()), Some(backend));
        assert_eq!(format!("{backend:>9}"), format!("{:>9}", backend.name()));
        assert!(Backend::NAMES.contains(&backend.name()));
    }
    for name in ["", "Portable", "portable ", "vaes\0", "avx512", "auto"] {
        assert_eq!(Backend::named(name), None, "{name:?}");
    }
    // A name of another machine is known, but refused.
    for name in Backend::NAMES {
        assert_eq!(Backend::named(name).is_some(), available.iter().any(|b| b.name() == name));
    }
}

#[test]
fn blocks_are_bytes_in_order() {
    let block = Block::from_u128(0x0f0e_0d0c_0b0a_0908_0706_0504_0302_0100);
    assert_eq!(block.to_bytes(), core::array::from_fn(|i| i as u8));
    assert_eq!(Block::bytes_of(&[block, Block::ZERO])[..16], block.to_bytes());
    assert_eq!(format!("{block:?}"), "Block(..)");
    assert!(!block.lsb() && block.with_lsb(true).lsb());
    assert!(block.masked(true) == block && block.masked(false) == Block::ZERO);
}
