//! Zero knowledge: the simulator, which knows the challenge and no witness.
//!
//! All that an answer has is drawn: roots, seeds, hashes of what was said where a root is shown, commitments
//! and blindings, masked inputs, corrections, what the hidden parties said. The first message follows from
//! it.

use comity_core::{Backend, Prg};

use super::super::verify::{FIXED, first_of};
use super::super::{HIDDEN_NONE, LAST, PARTIES, Parameters, Shape, answer_bytes, check};
use super::{Committed, Execution, Hashes, Strip, Tapes};
use crate::bound::Bound;
use crate::draw::Draw;
use crate::statement::Statement;
use crate::system::System;
use crate::tests::rng;
use crate::tree::SEED;
use crate::zkboo::tests::{of_two, two};

/// The bytes with bits of an execution's rows, which have a byte each here: masked inputs, corrections if
/// they are shown, what was said.
fn rows(hidden: u8) -> usize {
    if usize::from(hidden) == LAST { 2 } else { 3 }
}

/// A transcript for a challenge that is known beforehand, of a statement about one AND gate of two secret bits.
pub(crate) fn simulated(bound: &Bound<'_>, challenge: &[u8], random: &mut Prg) -> ([u8; 32], [u8; 32], Vec<u8>) {
    let mut salt = [0; 32];
    random.fill(&mut salt);
    let mut answer = vec![0; answer_bytes(bound.statement, challenge)];
    random.fill(&mut answer);
    // Two masked inputs, one gate: the other bits of a row's byte are zero.
    let mut end = answer.len();
    for hidden in challenge.iter().rev().filter(|hidden| **hidden != HIDDEN_NONE) {
        let rows = rows(*hidden);
        answer[end - rows..end].iter_mut().zip([3, 1, 1]).for_each(|(byte, bits)| *byte &= bits);
        end -= FIXED + rows;
    }
    let first = first_of(Backend::detect(), bound, &salt, challenge, &answer).unwrap();
    (salt, first, answer)
}

#[test]
fn a_simulated_transcript_passes() {
    for product in [0, 1] {
        let (statement, mut random) = (of_two(product), rng(1));
        let parameters = Parameters { executions: 20, opened: 9 };
        let mut challenge = parameters.challenge(|bytes| random.fill(bytes));
        *challenge.iter_mut().find(|hidden| **hidden != HIDDEN_NONE).unwrap() = LAST as u8;
        let (salt, first, answer) = simulated(&statement.in_a_file(), &challenge, &mut random);
        check(Backend::detect(), &statement.in_a_file(), &salt, &first, &challenge, &answer).unwrap();
    }
}

/// Counts what is seen of eight opened executions: masked inputs, the correction, what the hidden party said,
/// and beside them the sums of the opened parties' shares: of the inputs' masks, and of what covers the
/// gate's value.
fn seen(statement: &Statement, salt: &[u8; 32], challenge: &[u8; 8], mut answer: &[u8], counts: &mut [u64; 128]) {
    let (hashes, shape) = (Hashes::new(8, statement.digest(), salt), Shape::new(statement));
    for (number, &hidden) in challenge.iter().enumerate() {
        let mut take = |bytes: usize| answer.split_off(..bytes).unwrap();
        let path = take(FIXED - 64).as_chunks::<SEED>().0;
        take(64);
        let (rows, hidden) = (take(rows(hidden)), usize::from(hidden));
        let holes: [bool; PARTIES] = core::array::from_fn(|party| party == hidden);
        let execution = [Execution { number, tree: hashes.trees.rebuild(number as u64, &holes, path) }];
        let tapes = Tapes::new(Backend::detect(), &hashes, shape, &execution, |_| Some(hidden));
        let mut strip = Strip::new(Backend::detect(), shape);
        strip.next(&tapes);
        let (_, mask, product, _) = strip.gate();
        let shares = [tapes.inputs[0][0], tapes.inputs[1][0], mask[0] ^ product[0]];
        let sums = shares.map(|shares| shares.count_ones() as usize & 1);
        let cell = rows.iter().zip([0, 2, 3]).fold(0, |cell, (byte, at)| cell | usize::from(*byte) << at);
        counts[cell | sums[0] << 4 | sums[1] << 5 | sums[2] << 6] += 1;
    }
    assert!(answer.is_empty());
}

#[test]
fn what_is_seen_has_one_distribution_whatever_the_witness_and_without_one() {
    let (statement, mut random) = (of_two(0), rng(3));
    // Where the last party is hidden there is no correction, which halves the number of places.
    for (hidden, places, runs) in [(5, 128, 100), (LAST as u8, 64, 50)] {
        let (challenge, mut counts) = ([hidden; 8], [[0; 128]; 4]);
        for _ in 0..runs {
            for (witness, counts) in [0, 1, 2].into_iter().zip(&mut counts) {
                let inputs = two(witness);
                let mut draw = Draw::new(&mut random, System::Kkw, 0, &statement.in_a_file(), &inputs);
                let parameters = Parameters { executions: 8, opened: 8 };
                let prover =
                    Committed::new(Backend::detect(), parameters, &statement.in_a_file(), &inputs, &mut draw).unwrap();
                let salt = *prover.salt();
                seen(&statement, &salt, &challenge, &prover.answer(&challenge).unwrap(), counts);
            }
            let (salt, _, answer) = simulated(&statement.in_a_file(), &challenge, &mut random);
            seen(&statement, &salt, &challenge, &answer, &mut counts[3]);
        }
        let (expected, freedom) = (8.0 * f64::from(runs) / f64::from(places), f64::from(places - 1));
        for (who, counts) in counts.iter().enumerate() {
            let there = counts.iter().filter(|count| **count > 0);
            let unseen = places - there.clone().count() as i32;
            assert!(unseen >= 0, "{who}, {hidden} hidden");
            let seen: f64 = there.map(|&count| (count as f64 - expected).powi(2) / expected).sum();
            let distance = seen + expected * f64::from(unseen);
            assert!(
                distance < freedom + 6.0 * (2.0 * freedom).sqrt(),
                "{who}, {hidden} hidden: {distance} of {freedom}"
            );
        }
    }
}
