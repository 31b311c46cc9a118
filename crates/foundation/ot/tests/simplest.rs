//! Simplest OT: against the paper's formulas, its own two forms against each other, and hostile peers.

use comity_channel::Channel;
use comity_core::{Backend, Bits, Block, Error, Kind, Prg, SessionId};
use comity_ot::base::simplest::{Points, Receiver, Sender, Setup, receive, send};
use comity_testing::Pair;
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;

const SESSION: SessionId = SessionId::new([3; 32]);

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn choices(n: usize, seed: u128) -> Bits {
    let mut bytes = vec![0; n.div_ceil(8)];
    rng(seed).fill(&mut bytes);
    Bits::from_bytes(&bytes, n)
}

/// The key as the module's documentation has it, on its own.
fn key(session: SessionId, index: u64, a: &[u8; 32], b: &[u8; 32], shared: RistrettoPoint) -> Block {
    let mut hasher = blake3::Hasher::new_derive_key("comity simplest OT: the key of one base OT");
    for part in [&session.to_bytes()[..], a, &index.to_le_bytes(), b, shared.compress().as_bytes()] {
        hasher.update(part);
    }
    Block::new(hasher.finalize().as_bytes()[..16].try_into().expect("16 bytes"))
}

/// Bytes that are no canonical encoding of a group element.
fn invalid_encodings() -> Vec<[u8; 32]> {
    let p_less = |n: u8| std::array::from_fn(|i| if i == 0 { 0xed - n } else { 0xff >> u8::from(i == 31) });
    let small = |n: u8| std::array::from_fn(|i| if i == 0 { n } else { 0 });
    let mut high_bit = RistrettoPoint::mul_base(&Scalar::from(5u8)).compress().to_bytes();
    high_bit[31] |= 0x80;
    // p + 2: the same field element as 2, not reduced. p - 2: negative. 1: not a point.
    let mut found = vec![[0xff; 32], p_less(0), p_less(2), small(1), high_bit];
    let mut unreduced = p_less(0);
    unreduced[0] += 2;
    found.push(unreduced);
    found
}

#[test]
fn the_receiver_gets_the_chosen_keys() {
    for n in [0, 1, 7, 8, 9, 63, 64, 65, 128] {
        let choices = choices(n, n as u128);
        let (pairs, keys) = Pair::run(
            |ch| send(ch, &SESSION, n, &mut rng(1)).unwrap(),
            |ch| receive(ch, &SESSION, &choices, &mut rng(2)).unwrap(),
        );
        assert_eq!((pairs.len(), keys.len()), (n, n));
        for (i, (pair, key)) in pairs.iter().zip(&keys).enumerate() {
            assert_eq!(pair[usize::from(choices.get(i))], *key, "OT {i} of {n}");
            assert_ne!(pair[usize::from(!choices.get(i))], *key, "OT {i} of {n}");
        }
        let mut all: Vec<u128> = pairs.as_flattened().iter().map(|key| key.to_u128()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * n, "no two keys are equal");
    }
}

#[test]
fn messages_and_streams_are_the_same_protocol() {
    let choices = choices(21, 9);
    let (sender, setup) = Sender::new(&SESSION, &mut rng(1));
    let setup = Setup::from_bytes(setup.to_bytes());
    let (receiver, points) = Receiver::new(&SESSION, &choices, &setup, &mut rng(2)).unwrap();
    let points = Points::from_bytes(points.as_bytes(), 21).unwrap();
    let (pairs, keys) = (sender.finish(&points).unwrap(), receiver.finish());

    let (streamed_pairs, streamed_keys) = Pair::run(
        |ch| send(ch, &SESSION, 21, &mut rng(1)).unwrap(),
        |ch| receive(ch, &SESSION, &choices, &mut rng(2)).unwrap(),
    );
    assert_eq!(pairs, streamed_pairs);
    assert_eq!(keys, streamed_keys);
    // The bytes on the wire, one side played by hand.
    let (_, ()) = Pair::run(
        |ch| send(ch, &SESSION, 21, &mut rng(1)).unwrap(),
        |ch| {
            let mut bytes = [0; 32];
            ch.recv(&mut bytes).unwrap();
            assert_eq!(bytes, setup.to_bytes());
            ch.send(points.as_bytes()).unwrap();
            ch.flush().unwrap();
            assert!(matches!(ch.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })), "nothing else is sent");
        },
    );
    let (_, ()) = Pair::run(
        |ch| receive(ch, &SESSION, &choices, &mut rng(2)).unwrap(),
        |ch| {
            ch.send(&setup.to_bytes()).unwrap();
            let mut bytes = vec![0; points.as_bytes().len()];
            ch.recv(&mut bytes).unwrap();
            assert_eq!(bytes, points.as_bytes());
            assert!(matches!(ch.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })), "nothing else is sent");
        },
    );
}

#[test]
fn the_sender_follows_the_paper() {
    let (sender, setup) = Sender::new(&SESSION, &mut rng(1));
    let encoded = setup.to_bytes();
    let a = CompressedRistretto(encoded).decompress().unwrap();
    let scalars: Vec<Scalar> = (0..20u64).map(|i| Scalar::from(1000 + i)).collect();
    // B = bG + cA, with c = 1 where i is odd.
    let points: Vec<[u8; 32]> = scalars
        .iter()
        .enumerate()
        .map(|(i, b)| (RistrettoPoint::mul_base(b) + a * Scalar::from((i % 2) as u64)).compress().to_bytes())
        .collect();
    let pairs = sender.finish(&Points::from_bytes(points.as_flattened(), 20).unwrap()).unwrap();
    for (i, b) in scalars.iter().enumerate() {
        assert_eq!(pairs[i][i % 2], key(SESSION, i as u64, &encoded, &points[i], a * b), "OT {i}");
    }
}

#[test]
fn the_receiver_follows_the_paper() {
    for n in [5, 100] {
        let choices = choices(n, 4);
        let a = Scalar::from(123_456_789u64);
        let big_a = RistrettoPoint::mul_base(&a);
        let encoded = big_a.compress().to_bytes();
        let (receiver, points) = Receiver::new(&SESSION, &choices, &Setup::from_bytes(encoded), &mut rng(2)).unwrap();
        let keys = receiver.finish();
        for (i, bytes) in points.as_bytes().as_chunks().0.iter().enumerate() {
            let b = CompressedRistretto(*bytes).decompress().unwrap();
            let shared = if choices.get(i) { (b - big_a) * a } else { b * a };
            assert_eq!(keys[i], key(SESSION, i as u64, &encoded, bytes, shared), "OT {i} of {n}");
        }
    }
}

#[test]
fn the_transcript_is_pinned() {
    let choices = choices(40, 6);
    let (sender, setup) = Sender::new(&SESSION, &mut rng(10));
    let (receiver, points) = Receiver::new(&SESSION, &choices, &setup, &mut rng(11)).unwrap();
    let pairs = sender.finish(&points).unwrap();
    let mut hasher = blake3::Hasher::new();
    hasher.update(&setup.to_bytes()).update(points.as_bytes());
    hasher.update(Block::bytes_of(pairs.as_flattened())).update(Block::bytes_of(&receiver.finish()));
    assert_eq!(hasher.finalize().to_hex().as_str(), "ab0413afd175a0c70c9e105724ede5cbfdb86b0910cef13704b59172e13ce848");
}

#[test]
fn sessions_have_nothing_in_common() {
    let choices = choices(10, 6);
    let keys = |sessions: [SessionId; 2]| {
        Pair::run(
            |ch| send(ch, &sessions[0], 10, &mut rng(1)).unwrap(),
            |ch| receive(ch, &sessions[1], &choices, &mut rng(2)).unwrap(),
        )
    };
    let other = SESSION.child("other");
    let ((pairs, _), (others, _)) = (keys([SESSION, SESSION]), keys([other, other]));
    assert!(pairs.as_flattened().iter().zip(others.as_flattened()).all(|(a, b)| a != b));
    let (pairs, keys) = keys([SESSION, other]);
    assert!(keys.iter().zip(&pairs).all(|(key, pair)| !pair.contains(key)), "sessions must agree");
}

#[test]
fn hostile_setups_are_refused_by_name() {
    let refusal = |bytes: [u8; 32]| {
        let (result, _) = Pair::run(
            |ch| receive(ch, &SESSION, &choices(3, 1), &mut rng(2)).map(drop),
            |ch| ch.send(&bytes).and_then(|()| ch.flush()).unwrap(),
        );
        result.unwrap_err()
    };
    for bytes in invalid_encodings() {
        let error = refusal(bytes);
        assert!(
            matches!(error, Error { kind: Kind::Misbehaved(comity_ot::checks::INVALID_POINT), .. }),
            "{bytes:x?}: {error}"
        );
    }
    assert!(matches!(refusal([0; 32]), Error { kind: Kind::Misbehaved(comity_ot::checks::IDENTITY_POINT), .. }));
}

#[test]
fn hostile_points_are_refused_by_name() {
    let good = RistrettoPoint::mul_base(&Scalar::from(77u8)).compress().to_bytes();
    // In the first group, and in a later one.
    for position in [0, 3, 11] {
        let refusal = |bytes: [u8; 32]| {
            let mut points = [good; 12];
            points[position] = bytes;
            let (sender, _) = Sender::new(&SESSION, &mut rng(1));
            let whole = sender.finish(&Points::from_bytes(points.as_flattened(), 12).unwrap()).unwrap_err();
            let (streamed, _) = Pair::run(
                |ch| send(ch, &SESSION, 12, &mut rng(1)).map(drop),
                |ch| {
                    ch.recv(&mut [0; 32]).unwrap();
                    ch.send(points.as_flattened()).and_then(|()| ch.flush()).unwrap();
                },
            );
            assert_eq!(whole.to_string(), streamed.unwrap_err().to_string());
            whole
        };
        for bytes in invalid_encodings() {
            let error = refusal(bytes);
            assert!(
                matches!(error, Error { kind: Kind::Misbehaved(comity_ot::checks::INVALID_POINT), .. }),
                "{bytes:x?}: {error}"
            );
        }
        assert!(matches!(refusal([0; 32]), Error { kind: Kind::Misbehaved(comity_ot::checks::IDENTITY_POINT), .. }));
    }
}

#[test]
fn any_bytes_are_taken_or_refused_by_name() {
    let mut random = rng(99);
    let mut taken = 0;
    for _ in 0..200 {
        let mut bytes = [0; 32];
        random.fill(&mut bytes);
        // Nearly all random strings are too large or negative: half of these are not.
        bytes[31] &= 0x7f;
        bytes[0] &= 0xfe;
        let valid = CompressedRistretto(bytes).decompress().is_some();
        taken += usize::from(valid);
        let (sender, _) = Sender::new(&SESSION, &mut rng(1));
        let results = [
            Receiver::new(&SESSION, &choices(1, 1), &Setup::from_bytes(bytes), &mut rng(2)).map(drop),
            sender.finish(&Points::from_bytes(&bytes, 1).unwrap()).map(drop),
        ];
        for result in results {
            match result {
                Ok(()) => assert!(valid),
                Err(Error { kind: Kind::Misbehaved(comity_ot::checks::INVALID_POINT), .. }) => assert!(!valid),
                Err(error) => panic!("{error}"),
            }
        }
    }
    assert!(taken > 10, "{taken} of 200 were points");
}

#[test]
fn a_point_equal_to_that_of_the_sender_is_harmless() {
    let (sender, setup) = Sender::new(&SESSION, &mut rng(1));
    let encoded = setup.to_bytes();
    let pairs = sender.finish(&Points::from_bytes(&encoded.repeat(9), 9).unwrap()).unwrap();
    for (i, pair) in pairs.iter().enumerate() {
        // b = 0 and c = 1: allowed, and the other key stays out of reach.
        assert_eq!(pair[1], key(SESSION, i as u64, &encoded, &encoded, RistrettoPoint::identity()));
        assert_ne!(pair[0], pair[1]);
    }
}

#[test]
fn the_wrong_number_of_points_is_refused() {
    for (bytes, n) in [(0, 1), (31, 1), (33, 1), (64, 1), (64, 3), (32, 0)] {
        assert!(
            matches!(Points::from_bytes(&vec![1; bytes], n), Err(Error { kind: Kind::Malformed(_), .. })),
            "{bytes} bytes, {n} OTs"
        );
    }
    assert!(Points::from_bytes(&[], 0).is_ok());
}

#[test]
fn a_peer_that_leaves_is_noticed() {
    let good = RistrettoPoint::mul_base(&Scalar::from(77u8)).compress().to_bytes().repeat(20);
    for sent in [0, 1, 31, 32, 255, 256, 300, 639] {
        let (result, _) = Pair::run(
            |ch| send(ch, &SESSION, 20, &mut rng(1)).map(drop),
            |ch| {
                ch.recv(&mut [0; 32]).unwrap();
                ch.send(&good[..sent]).and_then(|()| ch.flush()).unwrap();
            },
        );
        assert!(matches!(result, Err(Error { kind: Kind::Closed, .. })), "after {sent} bytes");
    }
    for sent in [0, 1, 31] {
        let (result, _) = Pair::run(
            |ch| receive(ch, &SESSION, &choices(20, 3), &mut rng(1)).map(drop),
            |ch| ch.send(&good[..sent]).and_then(|()| ch.flush()).unwrap(),
        );
        assert!(matches!(result, Err(Error { kind: Kind::Closed, .. })), "after {sent} bytes");
    }
}
