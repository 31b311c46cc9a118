//! Zero knowledge: the simulator of the paper, which knows the challenge and no witness.

use std::collections::BTreeMap;

use comity_circuit::run;
use comity_core::{Backend, Bits, Prg};

use super::cheats::drawn;
use super::textbook::{Cheat, Scalar, tape};
use super::{of_two, two};
use crate::bound::Bound;
use crate::draw::Draw;
use crate::gates::Nobody;
use crate::statement::Statement;
use crate::system::System;
use crate::tests::rng;
use crate::zkboo::commitments::Hashes;
use crate::zkboo::{Committed, Shape, check};

/// The values that a verifier sees of a round beside hashes and seeds: the input shares, the views and the
/// output shares of two branches, and the output share of the third.
type Seen = (usize, Vec<Vec<bool>>);

/// The two branches that are opened with these seeds, with this share of the last branch and this view of
/// branch `e + 1`.
fn opened(
    statement: &Statement,
    hashes: &Hashes,
    at: (usize, usize),
    seeds: &[[u8; 16]; 2],
    share: &[bool],
    given: &[bool],
) -> (Scalar, Vec<bool>) {
    let ((round, e), shape) = (at, Shape::new(statement, 1));
    let branches = [e, (e + 1) % 3];
    let tapes = [0, 1].map(|which| tape(hashes, &shape, round, branches[which], &seeds[which]));
    let shares = [0, 1].map(|which| if branches[which] == 2 { share.to_vec() } else { tapes[which][0].clone() });
    let mut engine = Scalar {
        memory: comity_circuit::Memory::default(),
        first: [branches[0] == 0, branches[1] == 0, false],
        shares: shares.to_vec(),
        tapes: tapes.iter().map(|tape| tape[1].clone()).collect(),
        given: Some(given.to_vec()),
        views: vec![Vec::new(); 2],
        outputs: vec![Vec::new(); 2],
        public: statement.public().to_vec(),
        inputs: 0,
        cheat: Cheat::None,
    };
    run(statement.program(), &mut engine, statement.public(), &mut Nobody).unwrap();
    let outputs = &engine.outputs;
    let missing = (0..shape.outputs).map(|i| statement.outputs().get(i) ^ outputs[0][i] ^ outputs[1][i]).collect();
    (engine, missing)
}

/// A transcript for a challenge that is known beforehand: random seeds, a random view of `e + 1`, a random
/// share of the last branch; view `e` and all output shares follow, and the commitment that stays closed is
/// to nothing.
pub(crate) fn simulated(bound: &Bound<'_>, trits: &[u8], rng: &mut Prg) -> ([u8; 32], [u8; 32], Vec<u8>) {
    let (system, statement, shape) = (System::ZkBoo, bound.statement, Shape::new(bound.statement, trits.len()));
    let mut salt = [0; 32];
    rng.fill(&mut salt);
    let hashes = Hashes::new(system, trits.len(), bound.binding(), &salt);
    let (mut first, mut answer) = (hashes.first(), Vec::new());
    let bits = |count: usize, rng: &mut Prg| -> Vec<bool> {
        let mut bytes = vec![0; count.div_ceil(8)];
        rng.fill(&mut bytes);
        Bits::from_bytes(&bytes, count).iter().collect()
    };
    let packed = |bits: &[bool]| bits.iter().copied().collect::<Bits>().to_bytes();
    for (round, &trit) in trits.iter().enumerate() {
        let e = usize::from(trit);
        let (mut seeds, mut hidden) = ([[0; 16]; 2], [0; 32]);
        rng.fill(seeds.as_flattened_mut());
        rng.fill(&mut hidden);
        let (share, given) = (bits(shape.secret, rng), bits(shape.ands, rng));
        let (engine, missing) = opened(statement, &hashes, (round, e), &seeds, &share, &given);
        let (share, views) = (packed(&share), [packed(&engine.views[0]), packed(&engine.views[1])]);
        let (mut commitments, mut outputs) = ([hidden; 3], [(); 3].map(|()| packed(&missing)));
        for which in [0, 1] {
            let branch = (e + which) % 3;
            commitments[branch] = hashes.view(round, branch, &seeds[which], &share, &views[which]);
            outputs[branch] = packed(&engine.outputs[which]);
        }
        first.add(&commitments, [&outputs[0], &outputs[1], &outputs[2]]);
        answer.extend(seeds.as_flattened());
        answer.extend(hidden);
        if e != 0 {
            answer.extend(share);
        }
        views.iter().for_each(|view| answer.extend(view));
    }
    (salt, first.digest(), answer)
}

/// The values that a verifier sees in the rounds of an answer about one AND gate of two secret bits.
fn seen(statement: &Statement, salt: &[u8; 32], trits: &[u8], mut answer: &[u8], counts: &mut BTreeMap<Seen, u64>) {
    let hashes = Hashes::new(System::ZkBoo, trits.len(), statement.digest(), salt);
    let bits = |byte: u8, count: usize| Bits::from_bytes(&[byte], count).iter().collect::<Vec<bool>>();
    for (round, &trit) in trits.iter().enumerate() {
        let e = usize::from(trit);
        let mut take = |bytes: usize| answer.split_off(..bytes).unwrap();
        let seeds = [(); 2].map(|()| <[u8; 16]>::try_from(take(16)).unwrap());
        take(32);
        let share = bits(if e == 0 { 0 } else { take(1)[0] }, 2);
        let views = [take(1)[0], take(1)[0]].map(|view| bits(view, 1));
        let (engine, missing) = opened(statement, &hashes, (round, e), &seeds, &share, &views[1]);
        assert_eq!(engine.views[0], views[0]);
        let all = [engine.shares, engine.views, engine.outputs, vec![missing]].concat();
        *counts.entry((e, all)).or_default() += 1;
    }
    assert!(answer.is_empty());
}

#[test]
fn a_simulated_transcript_passes() {
    for product in [0, 1] {
        let statement = of_two(product);
        let trits = drawn(69, &mut rng(1));
        let (salt, first, answer) = simulated(&statement.in_a_file(), &trits, &mut rng(2));
        check(Backend::detect(), System::ZkBoo, &statement.in_a_file(), &salt, &first, &trits, &answer).unwrap();
    }
}

#[test]
fn what_is_seen_has_one_distribution_whatever_the_witness_and_without_one() {
    let (statement, mut random) = (of_two(0), rng(3));
    let mut counts: [BTreeMap<Seen, u64>; 4] = Default::default();
    let runs = 120;
    for _ in 0..runs {
        let trits = drawn(219, &mut random);
        for (witness, counts) in [0, 1, 2].into_iter().zip(&mut counts) {
            let inputs = two(witness);
            let mut draw = Draw::new(&mut random, System::ZkBoo, 0, &statement.in_a_file(), &inputs);
            let prover =
                Committed::new(Backend::detect(), System::ZkBoo, 219, &statement.in_a_file(), &inputs, &mut draw)
                    .unwrap();
            let salt = *prover.salt();
            seen(&statement, &salt, &trits, &prover.answer(&trits), counts);
        }
        let (salt, _, answer) = simulated(&statement.in_a_file(), &trits, &mut random);
        seen(&statement, &salt, &trits, &answer, &mut counts[3]);
    }
    // Two secret bits in two branches and two views: 2^6 places for each challenge, all equally likely; the
    // rest follows from them.
    let (places, total) = (3 * 64, f64::from(runs * 219));
    let expected = total / f64::from(places);
    for (who, counts) in counts.iter().enumerate() {
        assert_eq!(counts.len(), places as usize);
        let distance: f64 = counts.values().map(|&count| (count as f64 - expected).powi(2) / expected).sum();
        let freedom = f64::from(places - 1);
        assert!(distance < freedom + 6.0 * (2.0 * freedom).sqrt(), "{who}: chi-square {distance} of {freedom}");
    }
}
