//! Provers that know no witness.

use comity_circuit::random::Rng;
use comity_circuit::{Program, eval_many};
use comity_core::Backend;

use super::textbook::{Cheat, Textbook};
use super::{both, two};
use crate::checks::{WRONG_OPENING, WRONG_VIEW};
use crate::draw::Draw;
use crate::statement::Statement;
use crate::system::System;
use crate::tests::rng;
use crate::zkboo::commitments::{Hashes, place};
use crate::zkboo::{Committed, check};

/// A challenge for `rounds` rounds.
pub(super) fn drawn(rounds: usize, rng: &mut comity_core::Prg) -> Vec<u8> {
    crate::challenge::trits(rounds, |bytes| rng.fill(bytes))
}

/// Seeds for `rounds` rounds.
fn seeds(rounds: usize, rng: &mut comity_core::Prg) -> Vec<[[u8; 16]; 3]> {
    let mut seeds = vec![[[0; 16]; 3]; rounds];
    rng.fill(seeds.as_flattened_mut().as_flattened_mut());
    seeds
}

fn verdict(system: System, statement: &Statement, prover: &Textbook, trits: &[u8]) -> Result<(), comity_core::Error> {
    let answer = prover.answer(trits);
    check(Backend::detect(), system, &statement.in_a_file(), &prover.salt, &prover.first, trits, &answer)
}

#[test]
fn all_rounds_at_once_are_the_textbooks_one_by_one() {
    let circuit = Rng(5).circuit(&[9, 130, 5], 500, 30, &[70, 3]);
    let program = Program::from_circuit(circuit).unwrap().with_owner(1, 0).unwrap();
    let values = Rng(6).values(&[9, 130, 5]);
    let outputs = eval_many(&program, std::slice::from_ref(&values)).unwrap().remove(0);
    let public = [None, None, Some(values[2].clone())];
    let expected: Vec<_> = outputs.into_iter().map(Some).collect();
    let statement = Statement::new(&program, &public, &expected, b"").unwrap();
    let inputs: Vec<_> = values.into_iter().map(Some).collect();
    for system in [System::ZkBoo, System::ZkbPlusPlus] {
        for rounds in [1, 69, 137, 219] {
            let mut draw = Draw::new(&mut rng(1), system, 0, &statement.in_a_file(), &inputs);
            let sliced =
                Committed::new(Backend::detect(), system, rounds, &statement.in_a_file(), &inputs, &mut draw).unwrap();
            let textbook = Textbook::new(system, &statement, &inputs, *sliced.salt(), &sliced.seeds, Cheat::None);
            assert!(textbook.first == *sliced.first(), "{system}, {rounds} rounds");
            let trits = drawn(rounds, &mut rng(2));
            assert!(verdict(system, &statement, &textbook, &trits).is_ok());
            assert!(textbook.answer(&trits) == sliced.answer(&trits), "{system}, {rounds} rounds");
        }
    }
}

#[test]
fn a_forged_digest_with_consistent_views_is_refused() {
    // All views are what they ought to be, and the output shares are those of the views: but they add up to
    // another output.
    let inputs = two(1);
    for system in [System::ZkBoo, System::ZkbPlusPlus] {
        for e in 0..3 {
            let prover = Textbook::new(system, &both(), &inputs, [1; 32], &seeds(1, &mut rng(1)), Cheat::None);
            let error = verdict(system, &both(), &prover, &[e]).unwrap_err();
            assert_eq!(error.check(), Some(WRONG_OPENING));
            // Nothing else is wrong: with the hidden share forged, for the challenge that is known, it passes.
            let hidden = (usize::from(e) + 2) % 3;
            let cheat = Cheat::Output { branch: hidden };
            let prover = Textbook::new(system, &both(), &inputs, [1; 32], &seeds(1, &mut rng(1)), cheat);
            verdict(system, &both(), &prover, &[e]).unwrap();
            for other in (0..3).filter(|other| *other != e) {
                assert_eq!(verdict(system, &both(), &prover, &[other]).unwrap_err().check(), Some(WRONG_OPENING));
            }
        }
    }
}

#[test]
fn a_wrong_gate_is_found_by_one_challenge_of_three() {
    for branch in 0..3 {
        for e in 0..3 {
            for (system, check) in [(System::ZkBoo, WRONG_VIEW), (System::ZkbPlusPlus, WRONG_OPENING)] {
                let cheat = Cheat::Gate { branch, gate: 0 };
                let prover = Textbook::new(system, &both(), &two(1), [1; 32], &seeds(1, &mut rng(1)), cheat);
                let found = verdict(system, &both(), &prover, &[e as u8]).err().map(|error| error.check());
                assert_eq!(found, (e == branch).then_some(Some(check)), "{system}, branch {branch}, challenge {e}");
            }
        }
    }
}

/// The share of `tries` tries that are accepted.
fn escapes(rounds: usize, tries: usize, cheat: impl Fn(usize) -> Cheat) -> f64 {
    let mut random = rng(9);
    let accepted = (0..tries).filter(|&try_| {
        let seeds = seeds(rounds, &mut random);
        let prover = Textbook::new(System::ZkBoo, &both(), &two(2), [3; 32], &seeds, cheat(try_));
        verdict(System::ZkBoo, &both(), &prover, &drawn(rounds, &mut random)).is_ok()
    });
    accepted.count() as f64 / tries as f64
}

#[test]
fn the_best_cheat_escapes_with_two_thirds_to_the_rounds() {
    let tries = 2000;
    for rounds in [1, 3, 5] {
        let bound = (2.0 / 3.0f64).powi(rounds);
        let rate = escapes(rounds as usize, tries, |try_| Cheat::Gate { branch: try_ % 3, gate: 0 });
        let deviation = (bound * (1.0 - bound) / tries as f64).sqrt();
        assert!((rate - bound).abs() < 5.0 * deviation, "{rounds} rounds: {rate} and not {bound}");
    }
    // To forge a share is worse: it is seen in two of three challenges.
    let (bound, rate) = (1.0 / 9.0, escapes(2, tries, |try_| Cheat::Output { branch: try_ % 3 }));
    assert!((rate - bound).abs() < 5.0 * (bound * (1.0 - bound) / tries as f64).sqrt(), "{rate} and not {bound}");
}

#[test]
fn rounds_and_branches_are_not_interchangeable() {
    let prover = |salt: u8, seed: u8| {
        Textbook::new(System::ZkBoo, &both(), &two(3), [salt; 32], &seeds(2, &mut rng(seed)), Cheat::None)
    };
    let refused = |prover: &Textbook, trits: &[u8]| {
        assert!(verdict(System::ZkBoo, &both(), prover, trits).is_err());
    };
    verdict(System::ZkBoo, &both(), &prover(1, 1), &[0, 1]).unwrap();
    // Rounds in another order, one round twice, one of another proof with the same salt.
    let mut swapped = prover(1, 1);
    swapped.rounds.swap(0, 1);
    refused(&swapped, &[0, 0]);
    let mut twice = prover(1, 1);
    twice.rounds[1] = prover(1, 1).rounds.remove(0);
    refused(&twice, &[0, 0]);
    let mut mixed = prover(1, 1);
    mixed.rounds[1] = prover(1, 2).rounds.remove(1);
    refused(&mixed, &[0, 1]);
    // A salt that was not that of the proof.
    let mut salted = prover(1, 1);
    salted.salt = [2; 32];
    refused(&salted, &[0, 1]);
}

#[test]
fn every_hash_says_where_and_for_what_it_is() {
    let new = |system, rounds, statement: u8, salt: u8| Hashes::new(system, rounds, &[statement; 32], &[salt; 32]);
    let all = |hashes: &Hashes, round: usize, branch: usize, seed: u8| {
        let mut tape = [comity_core::Block::ZERO; 2];
        let of_seed = hashes.tape().tapes(Backend::detect(), [(place(round, branch), &[seed; 16])]).next().unwrap();
        of_seed.fill(0, &mut tape);
        let mut first = hashes.first();
        first.add(&[[0; 32]; 3], [&[0]; 3]);
        let view = hashes.view(round, branch, &[seed; 16], &[3], &[4]);
        (comity_core::Block::bytes_of(&tape).to_vec(), view, first.digest())
    };
    let base = new(System::ZkBoo, 5, 1, 1);
    let keyed = [
        new(System::ZkbPlusPlus, 5, 1, 1),
        new(System::ZkBoo, 6, 1, 1),
        new(System::ZkBoo, 5, 2, 1),
        new(System::ZkBoo, 5, 1, 2),
    ];
    let (tape, view, first) = all(&base, 1, 2, 7);
    for (field, other) in keyed.iter().enumerate() {
        let (t, v, f) = all(other, 1, 2, 7);
        assert!(t != tape && v != view && f != first, "field {field}");
    }
    for (round, branch, seed) in [(0, 2, 7), (1, 1, 7), (2, 1, 7), (1, 2, 8)] {
        let (t, v, _) = all(&base, round, branch, seed);
        assert!(t != tape && v != view, "round {round}, branch {branch}, seed {seed}");
    }
    // A view's share, where it is the branch's own, and its gates.
    assert_ne!(base.view(1, 2, &[7; 16], &[5], &[4]), view);
    assert_ne!(base.view(1, 2, &[7; 16], &[3], &[5]), view);
}

#[test]
fn a_generator_that_repeats_itself_gives_no_seed_twice() {
    struct Constant;
    impl rand_core::TryRng for Constant {
        type Error = std::convert::Infallible;
        fn try_next_u32(&mut self) -> Result<u32, Self::Error> {
            Ok(0)
        }
        fn try_next_u64(&mut self) -> Result<u64, Self::Error> {
            Ok(0)
        }
        fn try_fill_bytes(&mut self, out: &mut [u8]) -> Result<(), Self::Error> {
            out.fill(7);
            Ok(())
        }
    }
    impl rand_core::TryCryptoRng for Constant {}
    let of = |context: &[u8], system, rounds, secret: u64| {
        let statement = Statement::new(
            &crate::tests::masked(),
            &[None, crate::tests::bits(6, 4)],
            &[crate::tests::bits(2, 4), None],
            context,
        );
        let statement = statement.unwrap();
        let inputs = [crate::tests::bits(secret, 4), crate::tests::bits(6, 4)];
        let mut draw = Draw::new(&mut Constant, system, rounds as u64, &statement.in_a_file(), &inputs);
        let committed =
            Committed::new(Backend::detect(), system, rounds, &statement.in_a_file(), &inputs, &mut draw).unwrap();
        let mut all: Vec<Vec<u8>> = committed.seeds.as_flattened().iter().map(|seed| seed.to_vec()).collect();
        all.push(committed.salt().to_vec());
        all
    };
    let all = [
        of(b"one", System::ZkBoo, 5, 11),
        of(b"two", System::ZkBoo, 5, 11),
        of(b"one", System::ZkbPlusPlus, 5, 11),
        of(b"one", System::ZkBoo, 6, 11),
        of(b"one", System::ZkBoo, 5, 3),
    ];
    for (i, one) in all.iter().enumerate() {
        assert!(all[..i].iter().all(|other| one.iter().all(|seed| !other.contains(seed))), "proof {i}");
    }
}

#[test]
fn no_share_of_the_secret_bits_beyond_the_last_byte_is_shown() {
    // Rows are packed, and what pads them is zero in honest proofs: else nobody could check that it is.
    let mut draw = Draw::new(&mut rng(1), System::ZkBoo, 0, &both().in_a_file(), &two(3));
    let committed =
        Committed::new(Backend::detect(), System::ZkBoo, 69, &both().in_a_file(), &two(3), &mut draw).unwrap();
    for round in 0..69 {
        assert!(committed.shares.row(round)[0] < 4 && committed.views.iter().all(|view| view.row(round)[0] < 2));
        assert!(committed.shares.row(round)[1..].iter().all(|byte| *byte == 0));
    }
}
