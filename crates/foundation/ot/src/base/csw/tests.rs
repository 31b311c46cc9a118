//! Canetti, Sarkar and Wang's OT against a textbook of both sides, and against peers that cheat.

use std::sync::Mutex;

use comity_channel::{Channel, MemoryChannel, Recorded};
use comity_core::{Backend, Bits, Block, Check, Error, Kind, Prg, Result, SessionId};
use comity_testing::{Pair, Verdict, assert_waits, deviate, told};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;
use curve25519_dalek::traits::Identity;

use super::{Challenge, Csw, Offer, Points, Receiver, Response, Sender, Waiting};
use crate::base::BaseOt;
use crate::checks;

const SESSION: SessionId = SessionId::new([3; 32]);

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn bits(n: usize, seed: u128) -> Bits {
    let mut bytes = vec![0; n.div_ceil(8)];
    rng(seed).fill(&mut bytes);
    Bits::from_bytes(&bytes, n)
}

/// Both sides of the protocol as its figure has them, one OT at a time.
mod textbook {
    use super::*;

    pub(super) fn encode(point: RistrettoPoint) -> [u8; 32] {
        point.compress().to_bytes()
    }

    pub(super) fn point(bytes: &[u8]) -> RistrettoPoint {
        CompressedRistretto::from_slice(bytes).unwrap().decompress().unwrap()
    }

    pub(super) fn hash<const N: usize>(domain: &str, parts: &[&[u8]]) -> [u8; N] {
        let mut hasher = blake3::Hasher::new_derive_key(domain);
        let _ = hasher.update(&parts.concat());
        let mut output = [0; N];
        hasher.finalize_xof().fill(&mut output);
        output
    }

    pub(super) fn t(session: SessionId, seed: &[u8]) -> RistrettoPoint {
        let wide = hash("comity CSW OT: the point that a choice adds", &[&session.to_bytes(), seed]);
        RistrettoPoint::from_uniform_bytes(&wide)
    }

    /// The key and the answer of a shared point.
    pub(super) fn output(
        session: SessionId,
        seed: &[u8],
        z: &[u8; 32],
        i: usize,
        b: &[u8],
        shared: RistrettoPoint,
    ) -> (Block, [u8; 16]) {
        let index = (i as u64).to_le_bytes();
        let both: [u8; 32] = hash(
            "comity CSW OT: the key and the answer of one base OT",
            &[&session.to_bytes(), seed, z, &index, b, &encode(shared)],
        );
        (Block::new(both[..16].try_into().unwrap()), both[16..].try_into().unwrap())
    }

    /// The sender's digest, and the receiver's.
    pub(super) fn digests(session: SessionId, answers: &[[u8; 16]]) -> [[u8; 32]; 2] {
        [
            "comity CSW OT: the digest that the sender opens with its challenge",
            "comity CSW OT: the digest that answers a challenge",
        ]
        .map(|domain| hash(domain, &[&session.to_bytes(), answers.as_flattened()]))
    }

    pub(super) fn xor(a: [u8; 16], b: [u8; 16]) -> [u8; 16] {
        std::array::from_fn(|i| a[i] ^ b[i])
    }

    /// The sender's keys, its answers for choice 0, and the sums.
    pub(super) struct Sent {
        pub(super) keys: Vec<[Block; 2]>,
        pub(super) answers: Vec<[u8; 16]>,
        pub(super) sums: Vec<[u8; 16]>,
    }

    /// The sender with secret `r` takes the receiver's bytes.
    pub(super) fn send(session: SessionId, r: Scalar, message: &[u8]) -> Sent {
        let z = encode(RistrettoPoint::mul_base(&r));
        let (seed, points) = message.split_at(32);
        let mut sent = Sent { keys: vec![], answers: vec![], sums: vec![] };
        for (i, b) in points.chunks(32).enumerate() {
            let zero = output(session, seed, &z, i, b, point(b) * r);
            let one = output(session, seed, &z, i, b, (point(b) - t(session, seed)) * r);
            sent.keys.push([zero.0, one.0]);
            sent.answers.push(zero.1);
            sent.sums.push(xor(zero.1, one.1));
        }
        sent
    }

    /// The receiver's first message with scalars 1000, 1001, ...
    pub(super) fn points(session: SessionId, seed: [u8; 32], choices: &Bits) -> Vec<u8> {
        let mut message = seed.to_vec();
        for (i, choice) in choices.iter().enumerate() {
            let shift = if choice { t(session, &seed) } else { RistrettoPoint::identity() };
            message.extend(encode(RistrettoPoint::mul_base(&scalar(i)) + shift));
        }
        message
    }

    pub(super) fn scalar(i: usize) -> Scalar {
        Scalar::from(1000 + i as u64)
    }

    /// The receiver's keys, and the answers for choice 0 that it concludes on.
    pub(super) fn receive(
        session: SessionId,
        message: &[u8],
        choices: &Bits,
        z: [u8; 32],
        sums: &[u8],
    ) -> (Vec<Block>, Vec<[u8; 16]>) {
        let (seed, points) = message.split_at(32);
        let each = points.chunks(32).zip(choices.iter()).zip(sums.as_chunks().0).enumerate();
        each.map(|(i, ((b, choice), sum))| {
            let (key, answer) = output(session, seed, &z, i, b, point(&z) * scalar(i));
            (key, if choice { xor(answer, *sum) } else { answer })
        })
        .unzip()
    }
}

fn run(n: usize, choices: &Bits) -> (Vec<[Block; 2]>, Vec<Block>) {
    let (sender, receiver) = Pair::run(
        |ch| Csw::send(ch, &SESSION, n, &mut rng(1)).unwrap(),
        |ch| Csw::receive(ch, &SESSION, choices, &mut rng(2)).unwrap(),
    );
    assert_eq!(receiver.choices().to_bytes(), choices.to_bytes());
    (sender.pairs().to_vec(), receiver.chosen().to_vec())
}

#[test]
fn the_receiver_gets_the_chosen_keys() {
    for n in [0, 1, 7, 8, 9, 64, 128, 200] {
        let choices = bits(n, n as u128);
        let (pairs, chosen) = run(n, &choices);
        assert_eq!((pairs.len(), chosen.len()), (n, n));
        for (i, (pair, key)) in pairs.iter().zip(&chosen).enumerate() {
            assert_eq!(pair[usize::from(choices.get(i))], *key, "OT {i} of {n}");
        }
        let mut all: Vec<u128> = pairs.as_flattened().iter().map(|key| key.to_u128()).collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * n, "no two keys are equal");
    }
}

#[test]
fn messages_and_streams_are_the_same_protocol() {
    let choices = bits(21, 9);
    let (sender, offer) = Sender::new(&SESSION, &mut rng(1));
    let offer = Offer::from_bytes(offer.to_bytes());
    let (receiver, points) = Receiver::new(&SESSION, &choices, &mut rng(2));
    let points = Points::from_bytes(&points.to_bytes(), 21).unwrap();
    let (waiting, challenge) = sender.challenge(&points).unwrap();
    let challenge = Challenge::from_bytes(&challenge.to_bytes(), 21).unwrap();
    let (response, chosen) = receiver.respond(&offer, &challenge).unwrap();
    let response = Response::from_bytes(response.to_bytes());
    let pairs = waiting.finish(&response).unwrap();
    assert_eq!((pairs.pairs().to_vec(), chosen.chosen().to_vec()), run(21, &choices));
    // The bytes on the wire, one side played by hand.
    let (from_receiver, from_sender) =
        ([points.to_bytes(), response.to_bytes().to_vec()], [offer.to_bytes().to_vec(), challenge.to_bytes()]);
    Pair::run(
        |ch| Csw::send(ch, &SESSION, 21, &mut rng(1)).map(drop).unwrap(),
        |ch| play(ch, &from_receiver, &from_sender),
    );
    Pair::run(
        |ch| play(ch, &from_sender, &from_receiver),
        |ch| Csw::receive(ch, &SESSION, &choices, &mut rng(2)).map(drop).unwrap(),
    );
    // Pinned, so that versions understand each other.
    let mut hasher = blake3::Hasher::new();
    for bytes in from_sender.iter().chain(&from_receiver) {
        let _ = hasher.update(bytes);
    }
    let _ = hasher.update(Block::bytes_of(pairs.pairs().as_flattened()));
    assert_eq!(hasher.finalize().to_hex().as_str(), "bf26b7192ebbf2d57a87b5383943b8d2a0ac4e19ba31792a80e63846d0f210c6");
}

/// Sends messages, and sees that exactly the others come.
fn play(ch: &mut MemoryChannel, sent: &[Vec<u8>], expected: &[Vec<u8>]) {
    for (sent, expected) in sent.iter().zip(expected) {
        ch.send(sent).unwrap();
        ch.flush().unwrap();
        let mut bytes = vec![0; expected.len()];
        ch.recv(&mut bytes).unwrap();
        assert_eq!(bytes, *expected);
    }
    assert!(matches!(ch.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })), "nothing else is sent");
}

#[test]
fn the_sender_follows_the_textbook() {
    let choices = bits(20, 5);
    let (sender, offer) = Sender::new(&SESSION, &mut rng(1));
    let message = textbook::points(SESSION, [8; 32], &choices);
    let (waiting, challenge) = sender.challenge(&Points::from_bytes(&message, 20).unwrap()).unwrap();
    let bytes = challenge.to_bytes();
    let (keys, answers) = textbook::receive(SESSION, &message, &choices, offer.to_bytes(), &bytes[..320]);
    let [to_receiver, to_sender] = textbook::digests(SESSION, &answers);
    assert_eq!(bytes[320..], to_receiver);
    let seeds = waiting.finish(&Response::from_bytes(to_sender)).unwrap();
    for (i, choice) in choices.iter().enumerate() {
        assert_eq!(seeds.pairs()[i][usize::from(choice)], keys[i], "OT {i}");
    }
}

#[test]
fn the_receiver_follows_the_textbook() {
    for n in [5, 70] {
        let choices = bits(n, 6);
        let r = Scalar::from(123_456_789u64);
        let offer = Offer::from_bytes(textbook::encode(RistrettoPoint::mul_base(&r)));
        let (receiver, points) = Receiver::new(&SESSION, &choices, &mut rng(2));
        let sent = textbook::send(SESSION, r, &points.to_bytes());
        let [to_receiver, to_sender] = textbook::digests(SESSION, &sent.answers);
        let challenge = Challenge { sums: sent.sums, digest: to_receiver };
        let (response, seeds) = receiver.respond(&offer, &challenge).unwrap();
        assert_eq!(response.to_bytes(), to_sender);
        for (i, choice) in choices.iter().enumerate() {
            assert_eq!(seeds.chosen()[i], sent.keys[i][usize::from(choice)], "OT {i} of {n}");
        }
    }
}

fn misbehaved<T>(result: Result<T>, kind: &'static Check) -> bool {
    matches!(result, Err(Error { kind: Kind::Misbehaved(found), .. }) if found == kind)
}

/// Bytes that encode no group element: too large, not reduced, negative, not on the curve, with the top bit set.
fn invalid_encodings() -> [[u8; 32]; 5] {
    let p_and = |n: i16| std::array::from_fn(|i| if i == 0 { (0xed + n) as u8 } else { 0xff >> u8::from(i == 31) });
    let mut high_bit = textbook::encode(RistrettoPoint::mul_base(&Scalar::from(5u8)));
    high_bit[31] |= 0x80;
    [[0xff; 32], p_and(2), p_and(-2), std::array::from_fn(|i| u8::from(i == 0)), high_bit]
}

#[test]
fn the_identity_and_what_is_no_point_are_refused_by_name() {
    let cases = invalid_encodings().map(|bytes| (bytes, checks::INVALID_POINT));
    for (bytes, kind) in cases.into_iter().chain([([0; 32], checks::IDENTITY_POINT)]) {
        for position in [0, 3, 8] {
            let mut message = textbook::points(SESSION, [8; 32], &bits(9, 1));
            message[32 * (1 + position)..][..32].copy_from_slice(&bytes);
            let (sender, _) = Sender::new(&SESSION, &mut rng(1));
            let result = sender.challenge(&Points::from_bytes(&message, 9).unwrap());
            assert!(misbehaved(result, kind), "{bytes:x?} as point {position}");
        }
        let (receiver, _) = Receiver::new(&SESSION, &bits(2, 1), &mut rng(2));
        let challenge = Challenge { sums: vec![[0; 16]; 2], digest: [0; 32] };
        assert!(misbehaved(receiver.respond(&Offer::from_bytes(bytes), &challenge), kind), "{bytes:x?} offered");
    }
}

#[test]
fn wrong_counts_are_refused() {
    for (bytes, n) in [(0, 0), (31, 0), (33, 0), (32, 1), (63, 1), (65, 1), (96, 1), (96, 3)] {
        assert!(
            matches!(Points::from_bytes(&vec![1; bytes], n), Err(Error { kind: Kind::Malformed(_), .. })),
            "{bytes} bytes, {n} OTs"
        );
    }
    for (bytes, n) in [(0, 0), (31, 0), (33, 0), (32, 1), (47, 1), (49, 1), (64, 1), (64, 3)] {
        let result = Challenge::from_bytes(&vec![1; bytes], n);
        assert!(matches!(result, Err(Error { kind: Kind::Malformed(_), .. })), "{bytes} bytes, {n} OTs");
    }
    assert!(Points::from_bytes(&[1; 32], 0).is_ok() && Challenge::from_bytes(&[1; 32], 0).is_ok());
    let (_, offer) = Sender::new(&SESSION, &mut rng(1));
    for n in [0, 2, 4] {
        let (receiver, _) = Receiver::new(&SESSION, &bits(3, 1), &mut rng(2));
        let challenge = Challenge { sums: vec![[0; 16]; n], digest: [0; 32] };
        assert!(
            matches!(receiver.respond(&offer, &challenge), Err(Error { kind: Kind::Malformed(_), .. })),
            "{n} challenges for 3 OTs"
        );
    }
}

/// A sender's challenge, and its receiver, before the check.
fn challenged(choices: &Bits, seed: u128) -> (Waiting, Receiver, Offer, Challenge) {
    let (sender, offer) = Sender::new(&SESSION, &mut rng(seed));
    let (receiver, points) = Receiver::new(&SESSION, choices, &mut rng(seed + 1));
    let (waiting, challenge) = sender.challenge(&points).unwrap();
    (waiting, receiver, offer, challenge)
}

#[test]
fn a_wrong_challenge_stops_the_receiver_if_it_concerns_its_choice() {
    // The sender is wrong about the sums of three OTs. All goes well for it if no choice bit is set, one time in 8.
    let mut survived = 0;
    const RUNS: usize = 256;
    for run in 0..RUNS {
        let choices = bits(4, run as u128);
        let (waiting, receiver, offer, mut challenge) = challenged(&choices, 7);
        for sum in &mut challenge.sums[1..] {
            sum[run % 16] ^= 1;
        }
        match receiver.respond(&offer, &challenge) {
            Ok((response, _)) => {
                assert!(choices.iter().skip(1).all(|choice| !choice));
                assert!(waiting.finish(&response).is_ok(), "the sender sees that its guess was right");
                survived += 1;
            }
            Err(Error { kind: Kind::Misbehaved(checks::BASE_OT_CHALLENGE), .. }) => {
                assert!(choices.iter().skip(1).any(|choice| choice));
            }
            Err(error) => panic!("{error}"),
        }
    }
    // Standard deviation 5.3.
    assert!((10..=54).contains(&survived), "{survived} of {RUNS}, not about an eighth");
}

#[test]
fn a_sender_may_guess_either_bit_and_only_by_risking_the_run() {
    // It shifts an answer and the sum alike: choice 1 concludes on the shifted answer, choice 0 on another.
    let r = Scalar::from(99u8);
    let offer = Offer::from_bytes(textbook::encode(RistrettoPoint::mul_base(&r)));
    for bits in 0..4u8 {
        let choices = Bits::from_bytes(&[bits], 2);
        let (receiver, points) = Receiver::new(&SESSION, &choices, &mut rng(2));
        let mut sent = textbook::send(SESSION, r, &points.to_bytes());
        sent.answers[1][0] ^= 4;
        sent.sums[1][0] ^= 4;
        let [digest, _] = textbook::digests(SESSION, &sent.answers);
        let result = receiver.respond(&offer, &Challenge { sums: sent.sums, digest });
        match choices.get(1) {
            true => assert!(result.is_ok()),
            false => assert!(misbehaved(result, checks::BASE_OT_CHALLENGE)),
        }
    }
}

#[test]
fn a_wrong_digest_stops_the_receiver_whatever_its_choices() {
    for choices in [Bits::zeros(3), bits(3, 4), Bits::from_bytes(&[7], 3)] {
        for byte in [0, 13, 31] {
            let (_, receiver, offer, mut challenge) = challenged(&choices, 7);
            challenge.digest[byte] ^= 0x80;
            assert!(misbehaved(receiver.respond(&offer, &challenge), checks::BASE_OT_CHALLENGE));
        }
    }
}

#[test]
fn a_receiver_that_does_not_know_every_answer_is_caught() {
    let choices = bits(5, 3);
    for wrong in 0..5 {
        let (sender, offer) = Sender::new(&SESSION, &mut rng(1));
        let mut message = textbook::points(SESSION, [8; 32], &choices);
        // A point of which it knows nothing: neither key, and so no answer.
        let unknown = RistrettoPoint::from_uniform_bytes(&[17; 64]);
        message[32 * (1 + wrong)..][..32].copy_from_slice(&textbook::encode(unknown));
        let (waiting, challenge) = sender.challenge(&Points::from_bytes(&message, 5).unwrap()).unwrap();
        let sums = challenge.to_bytes();
        let (_, answers) = textbook::receive(SESSION, &message, &choices, offer.to_bytes(), &sums[..80]);
        let [digest, response] = textbook::digests(SESSION, &answers);
        assert_ne!(sums[80..], digest);
        assert!(misbehaved(waiting.finish(&Response(response)), checks::BASE_OT_CHALLENGE), "OT {wrong}");
    }
    // The sender's own digest does not serve as an answer.
    let (waiting, _, _, challenge) = challenged(&choices, 7);
    assert!(misbehaved(waiting.finish(&Response(challenge.digest)), checks::BASE_OT_CHALLENGE));
    for byte in [0, 31] {
        let (waiting, receiver, offer, challenge) = challenged(&choices, 7);
        let (mut response, _) = receiver.respond(&offer, &challenge).unwrap();
        response.0[byte] ^= 1;
        assert!(misbehaved(waiting.finish(&response), checks::BASE_OT_CHALLENGE));
    }
}

#[test]
fn messages_of_another_session_do_not_do() {
    let choices = bits(6, 3);
    let other = SESSION.child("other");
    let start = |session: &SessionId, seed| (Sender::new(session, &mut rng(seed)), rng(seed + 1));
    let ((sender, offer), mut coins) = start(&other, 5);
    let (receiver, points) = Receiver::new(&other, &choices, &mut coins);
    let (waiting, challenge) = sender.challenge(&points).unwrap();
    let (response, _) = receiver.respond(&offer, &challenge).unwrap();
    assert!(waiting.finish(&response).is_ok());
    // To the sender, with the same coins and with fresh ones, in another session and in the same.
    for (session, seed) in [(SESSION, 5), (SESSION, 9), (other, 9)] {
        let ((sender, _), _) = start(&session, seed);
        let (waiting, _) = sender.challenge(&points).unwrap();
        assert!(misbehaved(waiting.finish(&response), checks::BASE_OT_CHALLENGE));
        let (receiver, _) = Receiver::new(&session, &choices, &mut rng(seed + 1));
        assert!(misbehaved(receiver.respond(&offer, &challenge), checks::BASE_OT_CHALLENGE));
    }
}

/// The sender's challenge is for points that are all chosen; the receiver's response is for an answer that it has seen.
#[test]
fn nothing_is_told_before_what_it_waits_for() {
    // The OTs make three groups.
    const N: usize = 20;
    let (points, challenge) = (32 + 32 * N, 16 * N + 32);
    let send = |ch: &mut dyn Channel| Csw::send(ch, &SESSION, N, &mut rng(1)).map(drop);
    let receive = |ch: &mut dyn Channel| Csw::receive(ch, &SESSION, &bits(N, 3), &mut rng(2)).map(drop);
    assert_waits(send, receive, &[("the challenge", points, 32)]);
    assert_waits(receive, send, &[("the response", 32 + challenge, points)]);
}

/// A response to a challenge that was changed for one choice would tell that choice.
#[test]
fn a_challenge_that_does_not_fit_gets_no_response() {
    const N: usize = 20;
    let choices = bits(N, 3);
    let receive = |ch: &mut dyn Channel| Csw::receive(ch, &SESSION, &choices, &mut rng(2)).map(drop);
    let (honest, ()) = Pair::run(
        |ch| {
            let mut ch = Recorded::new(ch, 1 << 16);
            receive(&mut ch).unwrap();
            ch.recorder().recording()
        },
        |ch| Csw::send(ch, &SESSION, N, &mut rng(1)).map(drop).unwrap(),
    );
    let first = (0..N).find(|&i| choices.get(i)).unwrap();
    // The sum for a choice that is one, and the digest.
    for byte in [32 + 16 * first, 32 + 16 * N] {
        let mut says = honest.received.clone();
        says[byte] ^= 1;
        let (sent, ended) = told(&says, receive);
        assert_eq!(sent, honest.sent[..32 + 32 * N], "byte {byte}");
        assert!(matches!(ended, Err(Error { kind: Kind::Misbehaved(checks::BASE_OT_CHALLENGE), .. })), "byte {byte}");
    }
}

/// Both parties' results where both ended: the sender's pairs, and the receiver's choices and keys.
type Outcome = (Option<Vec<[Block; 2]>>, Option<Vec<Block>>);

#[test]
fn no_deviation_gives_keys_that_do_not_fit() {
    let choices = bits(10, 3);
    let outcome: Mutex<Outcome> = Mutex::new((None, None));
    let session = |number: u64| SESSION.child(&number.to_string());
    let (mut challenged, mut points) = ([0; 2], 0);
    let runs = deviate(
        300,
        |ch, number| {
            let seeds = Csw::send(ch, &session(number), 10, &mut rng(number.into()))?;
            outcome.lock().unwrap().0 = Some(seeds.pairs().to_vec());
            Ok(())
        },
        |ch, number| {
            let seeds = Csw::receive(ch, &session(number), &choices, &mut rng(100 + u128::from(number)))?;
            outcome.lock().unwrap().1 = Some(seeds.chosen().to_vec());
            Ok(())
        },
        |_, sender: &Verdict<()>, receiver| {
            if let (Some(pairs), Some(chosen)) = std::mem::take(&mut *outcome.lock().unwrap()) {
                let fits = |i: usize| pairs[i][usize::from(choices.get(i))] == chosen[i];
                assert!((0..10).all(fits), "both sides ended, with keys that do not fit");
            }
            for (party, error) in [sender.error(), receiver.error()].into_iter().enumerate() {
                match error {
                    Some(Error { kind: Kind::Misbehaved(checks::BASE_OT_CHALLENGE), .. }) => challenged[party] += 1,
                    Some(Error { kind: Kind::Misbehaved(checks::INVALID_POINT), .. }) => points += 1,
                    _ => (),
                }
            }
        },
    );
    assert!(runs > 40 && challenged.iter().all(|&n| n >= 3) && points > 0, "{runs}: {challenged:?}, {points}");
}
