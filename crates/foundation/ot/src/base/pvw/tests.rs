//! Peikert, Vaikuntanathan and Waters' OT against a textbook of both sides, openings, and peers that cheat.

use std::sync::Mutex;

use comity_channel::{Channel, MemoryChannel};
use comity_core::{Backend, Bits, Block, Check, Error, Kind, Prg, Result, SessionId};
use comity_testing::{Deviation, Pair, Verdict, deviate};
use curve25519_dalek::ristretto::{CompressedRistretto, RistrettoPoint};
use curve25519_dalek::scalar::Scalar;

use super::{AHEAD, Answer, AnswerOpening, Coins, Crs, GROUP, Pvw, Query, Receiver, Sender, products};
use crate::base::BaseOt;
use crate::checks;

const SESSION: SessionId = SessionId::new([3; 32]);
const SEED: Block = Block::from_u128(0x5eed);

fn rng(seed: u128) -> Prg {
    Prg::new(Backend::detect(), Block::from_u128(seed))
}

fn bits(n: usize, seed: u128) -> Bits {
    let mut bytes = vec![0; n.div_ceil(8)];
    rng(seed).fill(&mut bytes);
    Bits::from_bytes(&bytes, n)
}

fn payloads(n: usize, seed: u128) -> Vec<[Block; 2]> {
    let mut payloads = vec![[Block::ZERO; 2]; n];
    rng(seed).fill_blocks(payloads.as_flattened_mut());
    payloads
}

/// A receiver, and its query as the sender takes it.
fn queried(choices: &Bits) -> (Receiver, Query, Sender) {
    let (receiver, query) = Receiver::new(Crs::common(), choices, &mut rng(2));
    let query = Query::from_bytes(&query.to_bytes(), choices.len()).unwrap();
    let sender = Sender::new(Crs::common(), &query).unwrap();
    (receiver, query, sender)
}

/// Both sides of the protocol as the paper has them, one OT at a time, without tables, halves and batches.
mod textbook {
    use super::*;

    pub(super) fn encode(point: RistrettoPoint) -> [u8; 32] {
        point.compress().to_bytes()
    }

    pub(super) fn point(bytes: &[u8]) -> RistrettoPoint {
        CompressedRistretto::from_slice(bytes).unwrap().decompress().unwrap()
    }

    fn hash<const N: usize>(domain: &str, parts: &[&[u8]]) -> [u8; N] {
        let mut hasher = blake3::Hasher::new_derive_key(domain);
        let _ = hasher.update(&parts.concat());
        let mut output = [0; N];
        hasher.finalize_xof().fill(&mut output);
        output
    }

    /// `(g_0, h_0)` and `(g_1, h_1)`.
    pub(super) fn crs() -> [[RistrettoPoint; 2]; 2] {
        let wide: [u8; 192] = hash("comity PVW OT: the common reference string", &[b"comity"]);
        let [h0, g1, h1] = [0, 64, 128]
            .map(|at| RistrettoPoint::from_uniform_bytes(wide[at..at + 64].try_into().expect("64 bytes of 192")));
        [[RistrettoPoint::mul_base(&Scalar::ONE), h0], [g1, h1]]
    }

    fn pad(session: SessionId, j: u64, i: usize, b: u8, key: &[u8], x: &[u8], shared: RistrettoPoint) -> Block {
        let (j, i) = (j.to_le_bytes(), (i as u64).to_le_bytes());
        let parts = [&session.to_bytes(), &j[..], &i, key, &[b], x, &encode(shared)];
        Block::new(hash("comity PVW OT: the pad of a payload", &parts))
    }

    pub(super) fn query(choices: &Bits) -> Vec<u8> {
        let each = choices.iter().enumerate().map(|(i, choice)| {
            let [g, h] = crs()[usize::from(choice)];
            [encode(g * scalar(i)), encode(h * scalar(i))]
        });
        each.flatten().flatten().collect()
    }

    fn scalar(i: usize) -> Scalar {
        Scalar::from(77 + i as u64)
    }

    pub(super) fn answer(session: SessionId, j: u64, seed: Block, query: &[u8], payloads: &[[Block; 2]]) -> Vec<u8> {
        let mut answer = vec![];
        for (i, (key, payloads)) in query.chunks(64).zip(payloads).enumerate() {
            let (g, h) = (point(&key[..32]), point(&key[32..]));
            let index = [j.to_le_bytes(), (i as u64).to_le_bytes()];
            let pair = payloads.map(Block::to_bytes);
            let coins: [u8; 256] = hash(
                "comity PVW OT: the randomness of an answer",
                &[&seed.to_bytes(), &session.to_bytes(), index.as_flattened(), key, pair.as_flattened()],
            );
            // Twice what comes out: see the module on halves.
            let draw = |at: usize| {
                let half = Scalar::from_bytes_mod_order_wide(coins[64 * at..64 * (at + 1)].try_into().unwrap());
                half + half
            };
            let mut hidden = vec![];
            for (b, [g_b, h_b]) in crs().into_iter().enumerate() {
                let (u, v) = (draw(2 * b), draw(2 * b + 1));
                let x = encode(g_b * u + h_b * v);
                let pad = pad(session, j, i, b as u8, key, &x, g * u + h * v);
                hidden.extend((pad ^ payloads[b]).to_bytes());
                answer.extend(x);
            }
            answer.extend(hidden);
        }
        answer
    }

    pub(super) fn receive(session: SessionId, j: u64, choices: &Bits, query: &[u8], answer: &[u8]) -> Vec<Block> {
        let each = choices.iter().zip(query.chunks(64)).zip(answer.chunks(96)).enumerate();
        each.map(|(i, ((choice, key), answer))| {
            let b = usize::from(choice);
            let x = &answer[32 * b..][..32];
            let hidden = Block::new(answer[64 + 16 * b..][..16].try_into().unwrap());
            hidden ^ pad(session, j, i, b as u8, key, x, point(x) * scalar(i))
        })
        .collect()
    }
}

#[test]
fn the_receiver_gets_the_chosen_payloads_of_every_answer() {
    for n in [0, 1, 7, 8, 9, 20] {
        for choices in [Bits::zeros(n), bits(n, 1), Bits::from_bytes(&vec![0xff; n.div_ceil(8)], n)] {
            let (receiver, _, sender) = queried(&choices);
            for (j, seed) in [(0, 5), (1, 5), (u64::MAX, 6)] {
                let payloads = payloads(n, j.into());
                let answer = sender.answer(&SESSION, j, Block::from_u128(seed), &payloads).unwrap();
                let chosen =
                    receiver.receive(&SESSION, j, &Answer::from_bytes(&answer.to_bytes(), n).unwrap()).unwrap();
                for (i, choice) in choices.iter().enumerate() {
                    assert_eq!(chosen[i], payloads[i][usize::from(choice)], "OT {i} of {n} in answer {j}");
                }
            }
        }
    }
}

#[test]
fn the_sender_follows_the_textbook_bit_for_bit() {
    let choices = bits(11, 4);
    let query = textbook::query(&choices);
    let sender = Sender::new(Crs::common(), &Query::from_bytes(&query, 11).unwrap()).unwrap();
    let payloads = payloads(11, 9);
    let answer = sender.answer(&SESSION, 3, SEED, &payloads).unwrap().to_bytes();
    assert_eq!(answer, textbook::answer(SESSION, 3, SEED, &query, &payloads));
    let chosen = textbook::receive(SESSION, 3, &choices, &query, &answer);
    assert!(choices.iter().zip(&payloads).zip(chosen).all(|((choice, pair), key)| pair[usize::from(choice)] == key));
    // Pinned, so that versions understand each other and answers stay open to check.
    let hash = blake3::hash(&[&query[..], &answer].concat());
    assert_eq!(hash.to_hex().as_str(), "7406c7a53ab17c8d04c2e2f55678e4f4fe1d54778ef499a83ce7addf8e7dfe06");
}

#[test]
fn the_receiver_follows_the_textbook() {
    let choices = bits(11, 5);
    let (receiver, query, _) = queried(&choices);
    let bytes = query.to_bytes();
    let payloads = payloads(11, 9);
    let answer = textbook::answer(SESSION, 3, SEED, &bytes, &payloads);
    let chosen = receiver.receive(&SESSION, 3, &Answer::from_bytes(&answer, 11).unwrap()).unwrap();
    for (i, choice) in choices.iter().enumerate() {
        assert_eq!(chosen[i], payloads[i][usize::from(choice)], "OT {i}");
        // g and h are on the side of the choice alone.
        let [g, h] = [0, 32].map(|at| textbook::point(&bytes[64 * i + at..][..32]));
        let half_r = receiver.half_r[i];
        let on = |[g_b, h_b]: [RistrettoPoint; 2]| [g_b, h_b].map(|base| base * (half_r + half_r)) == [g, h];
        assert_eq!(textbook::crs().map(on), [!choice, choice]);
    }
}

#[test]
fn other_inputs_give_other_randomness() {
    let (_, _, sender) = queried(&bits(2, 1));
    let pairs = payloads(2, 1);
    let answer = |session: &SessionId, j, seed, pairs: &[[Block; 2]]| sender.answer(session, j, seed, pairs).unwrap();
    let first = answer(&SESSION, 0, SEED, &pairs);
    assert!(first == answer(&SESSION, 0, SEED, &pairs));
    let mut one_changed = pairs.clone();
    one_changed[1][1] = Block::ZERO;
    let (_, query) = Receiver::new(Crs::common(), &bits(2, 1), &mut rng(77));
    let asked_otherwise = Sender::new(Crs::common(), &query).unwrap();
    let others = [
        answer(&SESSION.child("other"), 0, SEED, &pairs),
        answer(&SESSION, 1, SEED, &pairs),
        answer(&SESSION, 0, Block::ZERO, &pairs),
        answer(&SESSION, 0, SEED, &one_changed),
        asked_otherwise.answer(&SESSION, 0, SEED, &pairs).unwrap(),
    ];
    for (at, other) in others.iter().enumerate() {
        for part in 0..3 {
            assert_ne!(first.0[1][part], other.0[1][part], "part {part}, change {at}");
        }
    }
    // No two points are equal.
    let mut points: Vec<_> =
        others.iter().chain([&first]).flat_map(|answer| &answer.0).flat_map(|a| [a[0], a[1]]).collect();
    points.sort_unstable();
    points.dedup();
    assert_eq!(points.len(), 4 * 6 - 2, "in change 3 OT 0 is as it was");
}

fn misbehaved<T>(result: Result<T>, kind: &'static Check) -> bool {
    matches!(result, Err(Error { kind: Kind::Misbehaved(found), .. }) if found == kind)
}

#[test]
fn an_opening_is_taken_if_and_only_if_it_gives_the_answer() {
    let (_, query, sender) = queried(&bits(9, 1));
    let payloads = payloads(9, 1);
    let answer = sender.answer(&SESSION, 4, SEED, &payloads).unwrap();
    let opening = |seed: Block, payloads: &[[Block; 2]]| {
        let bytes = AnswerOpening { seed, payloads: payloads.to_vec() }.to_bytes();
        AnswerOpening::from_bytes(&bytes, payloads.len()).unwrap()
    };
    let right = opening(SEED, &payloads);
    // As the receiver, from its own query.
    let checker = Sender::new(Crs::common(), &query).unwrap();
    checker.check(&SESSION, 4, &answer, &right).unwrap();
    let refused = |result| misbehaved(result, checks::WRONG_OPENING);
    assert!(refused(checker.check(&SESSION, 5, &answer, &right)), "another answer");
    assert!(refused(checker.check(&SESSION.child("other"), 4, &answer, &right)), "another session");
    for bit in [0, 127] {
        let seed = Block::from_u128(SEED.to_u128() ^ 1 << bit);
        assert!(refused(checker.check(&SESSION, 4, &answer, &opening(seed, &payloads))), "seed, bit {bit}");
        for (i, b) in [(0, 0), (0, 1), (8, 0), (8, 1)] {
            let mut payloads = payloads.clone();
            payloads[i][b] = Block::from_u128(payloads[i][b].to_u128() ^ 1 << bit);
            assert!(refused(checker.check(&SESSION, 4, &answer, &opening(SEED, &payloads))), "payload {i}, {b}");
        }
    }
    // Each part of an answer: both X, both payloads.
    for at in [0, 32, 64, 79, 80, 95, 96 * 8, 96 * 8 + 95] {
        let mut bytes = answer.to_bytes();
        bytes[at] ^= 2;
        let answer = Answer::from_bytes(&bytes, 9).unwrap();
        assert!(refused(checker.check(&SESSION, 4, &answer, &right)), "byte {at} of the answer");
    }
}

/// Bytes that encode no group element: too large, not reduced, negative, not on the curve, with the top bit set.
fn invalid_encodings() -> [[u8; 32]; 5] {
    let p_and = |n: i16| std::array::from_fn(|i| if i == 0 { (0xed + n) as u8 } else { 0xff >> u8::from(i == 31) });
    let mut high_bit = textbook::encode(RistrettoPoint::mul_base(&Scalar::from(5u8)));
    high_bit[31] |= 0x80;
    [[0xff; 32], p_and(2), p_and(-2), std::array::from_fn(|i| u8::from(i == 0)), high_bit]
}

fn refused_encodings() -> impl Iterator<Item = ([u8; 32], &'static Check)> {
    let invalid = invalid_encodings().map(|bytes| (bytes, checks::INVALID_POINT));
    invalid.into_iter().chain([([0; 32], checks::IDENTITY_POINT)])
}

#[test]
fn a_query_of_the_identity_or_of_no_points_is_refused_by_name() {
    let (_, query, _) = queried(&bits(10, 1));
    for (bytes, kind) in refused_encodings() {
        for (i, which) in [(0, 0), (0, 1), (9, 0), (9, 1)] {
            let mut query = query.clone();
            query.0[i][which] = bytes;
            assert!(misbehaved(Sender::new(Crs::common(), &query), kind), "{bytes:x?} at {i}, {which}");
            let (result, ()) = Pair::run(
                |ch| Pvw::send(ch, &SESSION, 10, &mut rng(1)),
                |ch| {
                    ch.send(&query.to_bytes()).unwrap();
                    ch.flush().unwrap();
                    // No answer comes to the bad query's group.
                    let good = if i < GROUP { 0 } else { GROUP };
                    ch.recv(&mut vec![0; 96 * good]).unwrap();
                    assert!(matches!(ch.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })));
                },
            );
            assert!(misbehaved(result, kind), "{bytes:x?} at {i}, {which}");
        }
        // Both at once: a query under which both payloads would be public.
        let mut query = query.clone();
        query.0[3] = [bytes; 2];
        assert!(misbehaved(Sender::new(Crs::common(), &query), kind));
    }
}

#[test]
fn a_spoiled_answer_is_refused_whatever_the_choice() {
    for choices in [Bits::zeros(10), Bits::from_bytes(&[0xff, 3], 10)] {
        let (receiver, _, sender) = queried(&choices);
        let answer = sender.answer(&SESSION, 0, SEED, &payloads(10, 1)).unwrap();
        for (bytes, kind) in refused_encodings() {
            for (i, b) in [(0, 0), (0, 1), (9, 0), (9, 1)] {
                let mut answer = answer.clone();
                answer.0[i][b] = bytes;
                assert!(misbehaved(receiver.receive(&SESSION, 0, &answer), kind), "{bytes:x?} at {i}, {b}");
            }
        }
    }
}

#[test]
fn answers_do_not_fit_another_session_index_or_ot() {
    let choices = bits(3, 2);
    let (receiver, _, sender) = queried(&choices);
    let payloads = payloads(3, 1);
    let answer = sender.answer(&SESSION, 7, SEED, &payloads).unwrap();
    let all: Vec<Block> = payloads.as_flattened().to_vec();
    let mut moved = answer.clone();
    moved.0.rotate_left(1);
    for (session, j, answer) in [(SESSION.child("other"), 7, &answer), (SESSION, 8, &answer), (SESSION, 7, &moved)] {
        let chosen = receiver.receive(&session, j, answer).unwrap();
        assert!(chosen.iter().all(|key| !all.contains(key)));
    }
    // The receiver's scalar opens nothing of the other side.
    let flipped: Bits = choices.iter().map(|choice| !choice).collect();
    let other = Receiver { choices: flipped, half_r: receiver.half_r.clone(), query: receiver.query.clone() };
    assert!(other.receive(&SESSION, 7, &answer).unwrap().iter().all(|key| !all.contains(key)));
}

#[test]
fn wrong_counts_are_refused() {
    for (bytes, n) in [(0, 1), (63, 1), (65, 1), (32, 1), (128, 1), (128, 3), (64, 0), (1, 0)] {
        assert!(
            matches!(Query::from_bytes(&vec![1; bytes], n), Err(Error { kind: Kind::Malformed(_), .. })),
            "{bytes} bytes, {n} OTs"
        );
    }
    for (bytes, n) in [(0, 1), (95, 1), (97, 1), (64, 1), (192, 1), (192, 3), (96, 0), (1, 0)] {
        assert!(
            matches!(Answer::from_bytes(&vec![1; bytes], n), Err(Error { kind: Kind::Malformed(_), .. })),
            "{bytes} bytes, {n} OTs"
        );
    }
    for (bytes, n) in [(0, 0), (15, 0), (17, 0), (32, 0), (16, 1), (47, 1), (49, 1), (80, 1), (80, 3)] {
        assert!(
            matches!(AnswerOpening::from_bytes(&vec![1; bytes], n), Err(Error { kind: Kind::Malformed(_), .. })),
            "{bytes} bytes, {n} OTs"
        );
    }
    assert!(Query::from_bytes(&[], 0).is_ok() && Answer::from_bytes(&[], 0).is_ok());
    assert!(AnswerOpening::from_bytes(&[0; 16], 0).is_ok());
    let (receiver, _, sender) = queried(&bits(2, 1));
    let answer = sender.answer(&SESSION, 0, SEED, &payloads(2, 1)).unwrap();
    let short = Answer(answer.0[..1].to_vec());
    let opening = AnswerOpening { seed: SEED, payloads: payloads(3, 1) };
    let invalid = |result: Result<()>| matches!(result, Err(Error { kind: Kind::InvalidInput(_), .. }));
    assert!(invalid(sender.answer(&SESSION, 0, SEED, &payloads(3, 1)).map(drop)));
    assert!(invalid(receiver.receive(&SESSION, 0, &short).map(drop)));
    assert!(invalid(sender.check(&SESSION, 0, &short, &opening)));
    assert!(invalid(sender.check(&SESSION, 0, &answer, &opening)));
}

#[test]
fn steps_take_as_many_products_as_they_say() {
    let (crs, n) = (Crs::common(), 11);
    let ((receiver, query), made) = products::made(|| Receiver::new(crs, &bits(n, 1), &mut rng(2)));
    assert_eq!(made, products::QUERY * n);
    let (sender, made) = products::made(|| Sender::new(crs, &query).unwrap());
    assert_eq!(made, 0);
    let (answer, made) = products::made(|| sender.answer(&SESSION, 0, SEED, &payloads(n, 1)).unwrap());
    assert_eq!(made, 2 * products::ANSWER * n);
    let (_, made) = products::made(|| receiver.receive(&SESSION, 0, &answer).unwrap());
    assert_eq!(made, products::RECEIVE * n);
    for count in [0, 1, 5] {
        let coins: Vec<Coins> = (1..=count as u8).map(|i| Coins::from_bytes(&[i; Coins::BYTES])).collect();
        let (heads, made) = products::made(|| crs.heads(&coins));
        assert_eq!(made, products::HEAD * count);
        let numbered = || (0u64..).zip(&heads).map(|(number, head)| (number, *head));
        let answers =
            sender.shared(&SESSION, numbered().zip(&coins).map(|((i, head), coins)| (i, coins.clone(), head)));
        let shared = receiver.shared(&SESSION, numbered()).unwrap();
        for i in 0..n {
            assert_eq!(products::made(|| answers.pads(i)).1, products::PADS * count);
            assert_eq!(products::made(|| answers.public_pads(i)).1, products::PADS * count);
            assert_eq!(products::made(|| shared.pads(i)).1, products::CHOSEN * count);
        }
    }
}

#[test]
fn the_driver_makes_random_ots() {
    // Also more than the receiver asks for at a time.
    for n in [0, 1, 8, 9, AHEAD * GROUP + 13] {
        let choices = bits(n, 8);
        let (sender, receiver) = Pair::run(
            |ch| Pvw::send(ch, &SESSION, n, &mut rng(1)).unwrap(),
            |ch| Pvw::receive(ch, &SESSION, &choices, &mut rng(2)).unwrap(),
        );
        let mut all: Vec<u128> = sender.pairs().as_flattened().iter().map(|key| key.to_u128()).collect();
        for (i, choice) in choices.iter().enumerate() {
            assert_eq!(sender.pairs()[i][usize::from(choice)], receiver.chosen()[i], "OT {i} of {n}");
        }
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), 2 * n, "no two keys are equal");
    }
}

#[test]
fn the_driver_sends_the_messages() {
    let choices = bits(9, 8);
    let (receiver, query) = Receiver::new(Crs::common(), &choices, &mut rng(2));
    let sender = Sender::new(Crs::common(), &query).unwrap();
    let (pairs, answer) = Pair::run(
        |ch| Pvw::send(ch, &SESSION, 9, &mut rng(1)).unwrap().pairs().to_vec(),
        |ch: &mut MemoryChannel| {
            ch.send(&query.to_bytes()).unwrap();
            ch.flush().unwrap();
            let mut bytes = vec![0; 96 * 9];
            ch.recv(&mut bytes).unwrap();
            assert!(matches!(ch.recv(&mut [0]), Err(Error { kind: Kind::Closed, .. })), "nothing else is sent");
            Answer::from_bytes(&bytes, 9).unwrap()
        },
    );
    // The driver's seed is the block after the pairs.
    let mut coins = rng(1);
    coins.fill(&mut [0; 32 * 9]);
    let opening = AnswerOpening { seed: coins.block(), payloads: pairs.clone() };
    sender.check(&SESSION, 0, &answer, &opening).unwrap();
    let (sent, chosen) = Pair::run(
        |ch| {
            let mut bytes = vec![0; 64 * 9];
            ch.recv(&mut bytes).unwrap();
            ch.send(&answer.to_bytes()).unwrap();
            ch.flush().unwrap();
            bytes
        },
        |ch| Pvw::receive(ch, &SESSION, &choices, &mut rng(2)).unwrap().chosen().to_vec(),
    );
    assert_eq!(sent, query.to_bytes());
    assert_eq!(chosen, receiver.receive(&SESSION, 0, &answer).unwrap());
    assert!((0..9).all(|i| chosen[i] == pairs[i][usize::from(choices.get(i))]));
}

/// What both parties ended with: the sender's pairs, and the receiver's keys.
type Outcome = (Option<Vec<[Block; 2]>>, Option<Vec<Block>>);

#[test]
fn a_deviation_costs_only_the_ots_that_it_touches() {
    let choices = bits(10, 3);
    let outcome: Mutex<Outcome> = Mutex::new((None, None));
    let session = |number: u64| SESSION.child(&number.to_string());
    let (mut refused, mut touched) = ([0; 2], 0);
    let runs = deviate(
        300,
        |ch, number| {
            let seeds = Pvw::send(ch, &session(number), 10, &mut rng(number.into()))?;
            outcome.lock().unwrap().0 = Some(seeds.pairs().to_vec());
            Ok(())
        },
        |ch, number| {
            let seeds = Pvw::receive(ch, &session(number), &choices, &mut rng(100 + u128::from(number)))?;
            outcome.lock().unwrap().1 = Some(seeds.chosen().to_vec());
            Ok(())
        },
        |case, sender: &Verdict<()>, receiver| {
            if let (Some(pairs), Some(chosen)) = std::mem::take(&mut *outcome.lock().unwrap()) {
                let wrong = (0..10).filter(|&i| pairs[i][usize::from(choices.get(i))] != chosen[i]).count();
                if case.deviation == Deviation::Flip {
                    assert!(wrong <= 1, "{case:?}: {wrong} keys do not fit");
                    touched += 1;
                }
            }
            for (party, error) in [sender.error(), receiver.error()].into_iter().enumerate() {
                let points = checks::INVALID_POINT;
                refused[party] +=
                    usize::from(matches!(error, Some(Error { kind: Kind::Misbehaved(kind), .. }) if *kind == points));
            }
        },
    );
    assert!(runs > 25 && touched > 0 && refused.iter().all(|&n| n > 0), "{runs} runs, {touched}, {refused:?}");
}
