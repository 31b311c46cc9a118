//! Committing OT over ideal base OTs: what is opened is what was sent, or nothing.

use comity_channel::{Channel, Error};
use comity_core::{Backend, Bits, Block, Kind, Result, SessionId};
use comity_testing::{Pair, assert_waits, deviate, never_wrong};

use super::{DeltaOpening, Receiver, SHAPE, Sender};
use crate::checks;
use crate::model::Malicious;
use crate::softspoken;
use crate::softspoken::tests::{Ideal, bits, rng};

const SESSION: SessionId = SessionId::new([6; 32]);

fn sender(ch: &mut dyn Channel) -> Result<Sender> {
    Sender::setup::<Ideal<Malicious>>(ch, &SESSION, Backend::detect(), &mut rng(1))
}

fn receiver(ch: &mut dyn Channel) -> Result<Receiver> {
    Receiver::setup::<Ideal<Malicious>>(ch, &SESSION, Backend::detect(), &mut rng(2))
}

/// Messages of `len` bytes.
fn messages(n: usize, len: usize, seed: u128) -> Vec<[Vec<u8>; 2]> {
    let mut rng = rng(seed);
    let mut message = || {
        let mut message = vec![0; len];
        rng.fill(&mut message);
        message
    };
    (0..n).map(|_| [message(), message()]).collect()
}

/// Numbers of OTs and lengths of messages.
const CALLS: [(usize, usize); 7] = [(5, 16), (0, 9), (300, 1), (1, 1000), (7, 0), (257, 64), (2, 65)];

#[test]
fn the_chosen_messages_arrive_and_both_are_opened() {
    let all: Vec<_> = CALLS.iter().zip(0..).map(|(&(n, len), seed)| messages(n, len, seed)).collect();
    let (random, opened) = Pair::run(
        |ch| {
            let mut sender = sender(ch).unwrap();
            let mut random = vec![[Block::ZERO; 2]; 130];
            for (i, (messages, (_, len))) in all.iter().zip(CALLS).enumerate() {
                sender.send(ch, len, messages).unwrap();
                if i == 3 {
                    sender.random(ch, &mut random).unwrap();
                }
            }
            sender.open(ch).unwrap();
            random
        },
        |ch| {
            let mut receiver = receiver(ch).unwrap();
            let mut got = Vec::new();
            for (i, (messages, (n, len))) in all.iter().zip(CALLS).enumerate() {
                let choices = bits(n, i as u128);
                for (j, message) in receiver.receive(ch, len, &choices).unwrap().into_iter().enumerate() {
                    assert_eq!(message, messages[j][usize::from(choices.get(j))], "call {i}, OT {j}");
                }
                if i == 3 {
                    let choices = bits(130, 99);
                    got = receiver.random(ch, &choices).unwrap().into_iter().zip(choices.iter()).collect();
                }
            }
            (got, receiver.open(ch).unwrap())
        },
    );
    let (got, opened) = opened;
    for (j, (pair, (message, choice))) in random.iter().zip(got).enumerate() {
        assert_eq!(pair[usize::from(choice)], message, "random OT {j}");
        assert_ne!(pair[0], pair[1]);
    }
    let random: Vec<_> = random.iter().map(|pair| pair.map(|message| message.to_bytes().to_vec())).collect();
    let expected = [&all[..4].concat()[..], &random, &all[4..].concat()].concat();
    assert_eq!(opened.len(), expected.len());
    for (j, (opened, expected)) in opened.iter().zip(&expected).enumerate() {
        assert_eq!(opened, expected, "OT {j}");
    }
}

/// The receiver after a call with these choice bits, and the honest opening.
fn before_the_opening(choices: &Bits) -> (Receiver, DeltaOpening) {
    let (opening, receiver) = Pair::run(
        |ch| {
            let mut sender = sender(ch).unwrap();
            sender.send(ch, 20, &messages(50, 20, 3)).unwrap();
            sender.opening().unwrap()
        },
        |ch| {
            let mut receiver = receiver(ch).unwrap();
            receiver.receive(ch, 20, choices).unwrap();
            receiver
        },
    );
    (receiver, opening)
}

#[test]
fn an_opening_wrong_in_one_bit_is_refused_whatever_the_choice_bits() {
    for bit in 0..8 * DeltaOpening::BYTES {
        // Every bit of delta, and some of the hash.
        if bit >= 128 && bit % 17 != 0 {
            continue;
        }
        // With no OT chosen a false delta would change nothing that the receiver has.
        for choices in [Bits::zeros(50), bits(50, 1)] {
            let (receiver, opening) = before_the_opening(&choices);
            let mut bytes = opening.to_bytes();
            bytes[bit / 8] ^= 1 << (bit % 8);
            let ended = receiver.finish(&DeltaOpening::from_bytes(&bytes).unwrap()).map(drop);
            assert!(matches!(ended, Err(Error { kind: Kind::Misbehaved(checks::WRONG_OPENING), .. })), "bit {bit}");
        }
    }
    let (receiver, opening) = before_the_opening(&bits(50, 1));
    assert_eq!(receiver.finish(&opening).unwrap(), messages(50, 20, 3));
}

#[test]
fn an_opening_has_its_length() {
    for len in [0, 1, 47, 49, 1000] {
        assert!(
            matches!(DeltaOpening::from_bytes(&vec![0; len]), Err(Error { kind: Kind::Malformed(_), .. })),
            "{len} bytes"
        );
    }
}

#[test]
fn every_message_must_have_the_length_said() {
    let ((), ()) = Pair::run(
        |ch| {
            let mut sender = sender(ch).unwrap();
            for wrong in [[&b"long"[..], b"shor"], [b"sixsix", b"five5"], [b"", b""]] {
                let error = sender.send(ch, 5, &[[&b"right"[..], b"right"], wrong]).unwrap_err();
                assert!(matches!(error, Error { kind: Kind::InvalidInput(_), .. }));
            }
            // Nothing was sent for these.
            sender.send(ch, 5, &[[b"right", b"again"]]).unwrap();
        },
        |ch| assert_eq!(receiver(ch).unwrap().receive(ch, 5, &Bits::zeros(1)).unwrap(), [b"right"]),
    );
}

#[test]
fn nothing_goes_on_after_an_error() {
    let (errors, ()) = Pair::run(
        |ch| {
            let mut sender = sender(ch).unwrap();
            let first = sender.send(ch, 1, &[[[1], [2]]]).unwrap_err();
            let then = [sender.send::<[u8; 1]>(ch, 1, &[]).unwrap_err(), sender.random(ch, &mut []).unwrap_err()];
            (first, then, sender.opening().map(drop).unwrap_err())
        },
        |ch| drop(receiver(ch).unwrap()),
    );
    assert!(matches!(errors.0, Error { kind: Kind::Closed, .. }));
    assert!(errors.1.iter().chain([&errors.2]).all(|error| matches!(error, Error { kind: Kind::InvalidInput(_), .. })));
    let ((), errors) = Pair::run(
        |ch| drop(sender(ch).unwrap()),
        |ch| {
            let mut receiver = receiver(ch).unwrap();
            let first = receiver.receive(ch, 1, &bits(5, 1)).unwrap_err();
            let then = [
                receiver.receive(ch, 1, &Bits::default()).map(drop).unwrap_err(),
                receiver.random(ch, &Bits::default()).map(drop).unwrap_err(),
            ];
            let opening = DeltaOpening::from_bytes(&[0; DeltaOpening::BYTES]).unwrap();
            (first, then, receiver.finish(&opening).map(drop).unwrap_err())
        },
    );
    assert!(matches!(errors.0, Error { kind: Kind::Closed, .. }));
    assert!(errors.1.iter().chain([&errors.2]).all(|error| matches!(error, Error { kind: Kind::InvalidInput(_), .. })));
}

#[test]
fn no_deviation_makes_an_opening_wrong() {
    let mut refused = 0;
    let session = |session: u64| SESSION.child(&session.to_string());
    let runs = deviate(
        150,
        |ch, number| {
            let session = session(number);
            let mut sender =
                Sender::setup::<Ideal<Malicious>>(ch, &session, Backend::detect(), &mut rng(number.into()))?;
            sender.random(ch, &mut [[Block::ZERO; 2]; 40])?;
            sender.open(ch)
        },
        |ch, number| {
            let session = session(number);
            let mut receiver =
                Receiver::setup::<Ideal<Malicious>>(ch, &session, Backend::detect(), &mut rng(number.into()))?;
            let choices = bits(40, 1);
            let chosen = receiver.random(ch, &choices)?;
            let opened = receiver.open(ch)?;
            // Both messages are there, and the chosen one is what it was.
            let same = |(j, pair): (usize, &[Vec<u8>; 2])| {
                pair[usize::from(choices.get(j))] == chosen[j].to_bytes() && pair[0] != pair[1]
            };
            Ok(opened.len() == 40 && opened.iter().enumerate().all(same))
        },
        |case, sender, receiver| {
            never_wrong(case, sender, receiver);
            let error = receiver.error();
            refused += usize::from(matches!(error, Some(Error { kind: Kind::Misbehaved(checks::WRONG_OPENING), .. })));
        },
    );
    assert!(runs > 30 && refused >= 3, "{runs} runs, {refused} refused");
}

/// Delta would open them.
#[test]
fn messages_wait_for_the_answer() {
    let corrections = 32 * 16 * (300usize.div_ceil(128) + 1);
    let trees = softspoken::Trees::len::<Malicious>(SHAPE);
    assert_waits(
        |ch| sender(ch)?.send(ch, 16, &messages(300, 16, 1)),
        |ch| receiver(ch)?.receive(ch, 16, &bits(300, 2)).map(drop),
        &[("messages", trees + corrections + softspoken::Answer::BYTES, softspoken::Challenge::BYTES)],
    );
}
