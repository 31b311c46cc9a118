//! Receivers that cheat: how often they get away with it, and what that gives them.

use comity_core::Kind;

use super::*;

use crate::checks;

/// What the sender ends with when the receiver adds the same error to the corrections of some trees, and guesses the
/// trees' bits of delta.
fn lie(delta: Block, k: usize, lies: &[(usize, Vec<bool>, usize)], n: usize) -> Result<Vec<Block>> {
    let pairs = dealt(&SESSION, 128);
    let mut book = Textbook::new(SESSION, k, true, &pairs);
    let delta = Bits::from_bytes(&delta.to_bytes(), 128);
    let chosen = pairs.iter().zip(delta.iter()).map(|(pair, bit)| pair[usize::from(bit)]).collect();
    let trees = Trees::from_bytes::<Malicious>(book.trees(), k).unwrap();
    let seeds = ReceiverSeeds::new(delta, chosen);
    let sender = Sender::<Malicious>::new(&SESSION, Backend::detect(), k, seeds, &trees, &mut rng(3)).unwrap();
    book.chunk(n, Some(&bits(n, 1)));
    let mut corrections = book.corrections();
    let row = corrections.len() / 128usize.div_ceil(k);
    for (tree, error, _) in lies {
        for (j, _) in error.iter().enumerate().filter(|(_, bit)| **bit) {
            corrections[tree * row + j / 8] ^= 1 << (j % 8);
        }
    }
    let taken =
        sender.take(n, false, &Corrections::from_bytes::<Malicious>(&corrections, k, n, false).unwrap()).unwrap();
    let answer = book.answer(taken.challenge().to_bytes(), lies);
    taken.check(&Answer::from_bytes(&answer).unwrap()).map(|(_, q)| q)
}

fn caught(result: Result<Vec<Block>>) -> bool {
    match result {
        Ok(_) => false,
        Err(Error { kind: Kind::Misbehaved(checks::INCONSISTENT_CHOICES), .. }) => true,
        Err(error) => panic!("{error}"),
    }
}

/// An error in one column.
fn one_bit(j: usize) -> Vec<bool> {
    (0..256).map(|i| i == j).collect()
}

#[test]
fn a_lie_passes_exactly_if_delta_is_guessed() {
    // Every error is as good as every other: in an OT, in the padding, in the mask, or all over.
    for error in [one_bit(0), one_bit(99), one_bit(110), one_bit(255), vec![true; 256]] {
        for guess in 0..8 {
            let delta = Block::from_u128(0b101 << 9);
            let lies = [(3, error.clone(), guess)];
            assert_eq!(caught(lie(delta, 3, &lies, 100)), guess != 0b101);
        }
    }
    // The last tree of k = 3 has two levels.
    for guess in 0..4 {
        assert_eq!(caught(lie(Block::from_u128(0b10 << 126), 3, &[(42, one_bit(7), guess)], 100)), guess != 0b10);
    }
}

#[test]
fn lies_escape_as_often_as_the_bound_says() {
    const RUNS: u32 = 240;
    // How many trees lie, and the probability that delta is zero there.
    for (k, trees, escape) in
        [(1, 1, 1.0 / 2.0), (1, 3, 1.0 / 8.0), (2, 1, 1.0 / 4.0), (2, 2, 1.0 / 16.0), (4, 1, 1.0 / 16.0)]
    {
        let mut deltas = rng(41);
        let lies: Vec<_> = (0..trees).map(|tree| (5 * tree + 1, one_bit(20 * tree), 0)).collect();
        let escaped = (0..RUNS).filter(|_| !caught(lie(deltas.block(), k, &lies, 100))).count() as f64;
        let (expected, runs) = (f64::from(RUNS) * escape, f64::from(RUNS));
        let deviation = (runs * escape * (1.0 - escape)).sqrt();
        assert!((escaped - expected).abs() < 4.0 * deviation, "k = {k}, {trees} trees: {escaped} of {RUNS} escaped");
    }
}

#[test]
fn what_escapes_is_consistent_all_the_same() {
    // The lie changes no q where delta is what was guessed to be zero.
    let delta = Block::from_u128(u128::MAX ^ 0b11 << 8);
    let honest = lie(delta, 2, &[], 100).unwrap();
    assert!(lie(delta, 2, &[(4, vec![true; 256], 0)], 100).unwrap() == honest);
}

#[test]
fn all_rows_different_never_pass() {
    for run in 0..20 {
        let lies: Vec<_> = (0..64).map(|tree| (tree, one_bit(tree + 1), 0)).collect();
        assert!(caught(lie(rng(run).block(), 2, &lies, 100)));
    }
    // One choice vector in one half of the trees, another in the other: no majority rules.
    let lies: Vec<_> = (0..32).map(|tree| (tree, one_bit(1), 0)).collect();
    assert!((0..20).all(|run| caught(lie(rng(run).block(), 2, &lies, 100))));
}

#[test]
fn the_same_other_choice_bits_everywhere_are_no_lie() {
    // But the answer is for the first ones.
    let lies: Vec<_> = (0..64).map(|tree| (tree, one_bit(3), 0)).collect();
    assert!(caught(lie(DELTA, 2, &lies, 100)));
}

#[test]
fn a_wrong_answer_is_refused_bit_by_bit() {
    for byte in 0..Answer::BYTES {
        let pairs = dealt(&SESSION, 128);
        let (receiver, trees) =
            Receiver::<Malicious>::new(&SESSION, Backend::detect(), 4, SenderSeeds::new(pairs.clone())).unwrap();
        let delta = Bits::from_bytes(&DELTA.to_bytes(), 128);
        let chosen = pairs.iter().zip(delta.iter()).map(|(pair, bit)| pair[usize::from(bit)]).collect();
        let seeds = ReceiverSeeds::new(delta, chosen);
        let sender = Sender::new(&SESSION, Backend::detect(), 4, seeds, &trees, &mut rng(3)).unwrap();
        let (offered, corrections) = receiver.offer_random(10).unwrap();
        let taken = sender.take(10, true, &corrections).unwrap();
        let mut answer = offered.answer(&taken.challenge()).3.to_bytes();
        answer[byte] ^= 1 << (byte % 8);
        let ended = taken.check(&Answer::from_bytes(&answer).unwrap()).map(drop);
        assert!(
            matches!(ended, Err(Error { kind: Kind::Misbehaved(checks::INCONSISTENT_CHOICES), .. })),
            "byte {byte}"
        );
    }
}

#[test]
fn the_answer_of_another_chunk_or_session_is_refused() {
    // Both sides of two sessions with equal base OTs would have equal trees; the answer names the session, and each
    // challenge is fresh.
    let mut challenges: Vec<[u8; 16]> = Vec::new();
    for session in [SESSION, SESSION.child("other")] {
        let pairs = dealt(&SESSION, 128);
        let delta = Bits::from_bytes(&DELTA.to_bytes(), 128);
        let chosen = pairs.iter().zip(delta.iter()).map(|(pair, bit)| pair[usize::from(bit)]).collect();
        let (receiver, trees) =
            Receiver::<Malicious>::new(&session, Backend::detect(), 1, SenderSeeds::new(pairs)).unwrap();
        let seeds = ReceiverSeeds::new(delta, chosen);
        let mut sender = Sender::new(&SESSION, Backend::detect(), 1, seeds, &trees, &mut rng(3)).unwrap();
        let mut receiver = receiver;
        for chunk in 0..2 {
            let (offered, corrections) = receiver.offer_random(10).unwrap();
            let taken = sender.take(10, true, &corrections).unwrap();
            challenges.push(taken.challenge().to_bytes());
            let (next, _, _, answer) = offered.answer(&taken.challenge());
            match taken.check(&answer) {
                Ok((same, _)) => (receiver, sender) = (next, same),
                Err(_) if chunk == 0 && session != SESSION => break,
                Err(error) => panic!("{error}"),
            }
            assert!(session == SESSION, "an answer of another session passed");
        }
    }
    assert!(challenges[0] != challenges[1]);
}

#[test]
fn a_garbled_tree_is_found_out_unless_delta_avoids_it() {
    const K: usize = 3;
    let pairs = dealt(&SESSION, 128);
    let book = Textbook::new(SESSION, K, true, &pairs);
    let sets_up = |delta: Block, message: &[u8]| {
        let delta = Bits::from_bytes(&delta.to_bytes(), 128);
        let chosen = pairs.iter().zip(delta.iter()).map(|(pair, bit)| pair[usize::from(bit)]).collect();
        let seeds = ReceiverSeeds::new(delta, chosen);
        let trees = Trees::from_bytes::<Malicious>(message, K).unwrap();
        match Sender::<Malicious>::new(&SESSION, Backend::detect(), K, seeds, &trees, &mut rng(3)).map(drop) {
            Ok(()) => true,
            Err(Error { kind: Kind::Misbehaved(checks::INCONSISTENT_TREE), .. }) => false,
            Err(error) => panic!("{error}"),
        }
    };
    for delta in 0..8 {
        let delta = Block::from_u128(delta << 3);
        assert!(sets_up(delta, book.trees()));
        // Tree 1 has two levels with two sums each, then the check: each sum is for one side's delta.
        for (part, bytes) in (0..8).map(|part| (part, 128 + 16 * part..128 + 16 * part + 16)) {
            let mut message = book.trees().to_vec();
            message[bytes][5] ^= 4;
            let needed = match part {
                0 => delta.to_u128() >> 4 & 1 == 1,
                1 => delta.to_u128() >> 4 & 1 == 0,
                2 => delta.to_u128() >> 5 & 1 == 1,
                3 => delta.to_u128() >> 5 & 1 == 0,
                _ => true,
            };
            assert_eq!(sets_up(delta, &message), !needed, "part {part}");
        }
    }
}
