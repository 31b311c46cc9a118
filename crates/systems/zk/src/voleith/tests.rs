//! VOLE in the head: provers that know no witness, for every Delta there is, and a simulator.

mod textbook;

use std::collections::BTreeMap;

use comity_core::{Backend, Block, Error, Kind, Prg, gf128};
use rand_core::SeedableRng;

use super::hashes::{Digest, Hashes, seed};
use super::linear::LinearHash;
use super::opening::{self, Opening};
use super::prove::Act;
use super::verify::fixed;
use super::{Committed, HASH_MASK, PADS, Parameters, ROWS, Shape, check};
use crate::checks::WRONG_OPENING;
use crate::draw::Draw;
use crate::statement::Statement;
use crate::system::System;
use crate::tests::rng;
use crate::zkboo::tests::{of_two, two};
use crate::{Proof, verify};

/// Two trees, and so few Deltas that all of them can be tried.
const FEW: Parameters = Parameters { levels: &[3, 2] };
const DELTAS: u128 = 1 << 5;

/// A prover with this witness, which need not be one.
fn prover(
    statement: &Statement,
    witness: u8,
    parameters: Parameters,
    rng: &mut Prg,
    mut conduct: &mut dyn for<'a> FnMut(Act<'a>),
) -> Committed {
    let inputs = two(witness);
    let mut draw = Draw::new(rng, System::VoleInTheHead, 0, &statement.in_a_file(), &inputs);
    Committed::with(Backend::detect(), parameters, statement, &inputs, &mut draw, &mut conduct).unwrap()
}

/// The verdict on a prover that gets this Delta.
fn verdict(statement: &Statement, prover: Committed, parameters: Parameters, delta: u128) -> Result<(), Error> {
    let (salt, first, delta) = (*prover.salt(), *prover.first(), delta.to_le_bytes());
    check(Backend::detect(), parameters, statement, &salt, &first, &delta, &prover.answer(&delta))
}

/// The Deltas with which a prover that behaves so passes; with all others the check fails that compares hashes.
fn passes<C: for<'a> FnMut(Act<'a>)>(statement: &Statement, witness: u8, conduct: impl Fn() -> C) -> Vec<u128> {
    let passes = |delta: &u128| {
        let prover = prover(statement, witness, FEW, &mut rng(1), &mut conduct());
        let verdict = verdict(statement, prover, FEW, *delta);
        assert!(verdict.as_ref().err().is_none_or(|error| error.check() == Some(WRONG_OPENING)));
        verdict.is_ok()
    };
    (0..DELTAS).filter(passes).collect()
}

#[test]
fn a_true_statement_is_believed_whatever_delta_is() {
    for witness in 0..3 {
        assert_eq!(passes(&of_two(0), witness, || |_: Act<'_>| ()).len(), DELTAS as usize);
    }
    assert_eq!(passes(&of_two(1), 3, || |_: Act<'_>| ()).len(), DELTAS as usize);
}

#[test]
fn a_wrong_gate_passes_with_the_two_deltas_it_was_made_for() {
    // 1 * 0 = 1, so that the output is what it should be: a term of degree two is left, which has two roots at most.
    for roots in [[3, 30], [17, 0]] {
        let [one, other] = roots.map(Block::from_u128);
        let cheat = || {
            move |act: Act<'_>| match act {
                Act::Product(0, product) => *product = [u64::MAX; 2],
                Act::Sums(sums, challenge) => {
                    let coefficient = Prg::new(Backend::detect(), seed(challenge)).block();
                    let times = |factor| gf128::mul(Backend::detect(), coefficient, factor);
                    sums[0] ^= times(gf128::mul(Backend::detect(), one, other));
                    sums[1] ^= times(one ^ other);
                }
                _ => (),
            }
        };
        let mut expected = roots.to_vec();
        expected.sort();
        assert_eq!(passes(&of_two(1), 1, cheat), expected);
    }
    // Without that, none: the coefficient is not zero.
    let only_wrong = || {
        |act: Act<'_>| {
            if let Act::Product(_, product) = act {
                *product = [u64::MAX; 2]
            }
        }
    };
    assert!(passes(&of_two(1), 1, only_wrong).len() <= 1);
}

#[test]
fn a_wrong_output_passes_with_the_delta_that_was_guessed() {
    let guessed = 21;
    let cheat = || {
        move |act: Act<'_>| {
            if let Act::Outputs(macs) = act {
                macs.iter_mut().for_each(|mac| *mac ^= Block::from_u128(guessed));
            }
        }
    };
    assert_eq!(passes(&of_two(1), 1, cheat), [guessed]);
    // Not to say it is worse.
    assert_eq!(passes(&of_two(1), 1, || |_: Act<'_>| ()), [0]);
}

#[test]
fn corrections_that_differ_between_trees_fix_a_trees_part_of_delta() {
    // The second tree's u is another one in one column; its rows are made for one value of its two bits of Delta.
    for guessed in 0..4u128 {
        let cheat = || {
            move |act: Act<'_>| {
                if let Act::Corrections(corrections, rows) = act {
                    let width = corrections.len();
                    corrections[PADS] ^= Block::from_u128(2);
                    for row in (3..5).filter(|row| guessed >> (row - 3) & 1 == 1) {
                        rows[row * width + PADS] ^= Block::from_u128(2);
                    }
                }
            }
        };
        let expected: Vec<u128> = (0..DELTAS).filter(|delta| delta >> 3 == guessed).collect();
        assert_eq!(passes(&of_two(0), 2, cheat), expected);
    }
}

#[test]
fn what_answers_for_the_corrections_cannot_be_left_out() {
    // All zero; that of another vector; rows' hashes of other rows.
    let zero = || {
        |act: Act<'_>| {
            if let Act::Hashed(sum, rows) = act {
                *sum = Default::default();
                rows.fill(Block::ZERO);
            }
        }
    };
    assert!(passes(&of_two(0), 2, zero).is_empty());
    let other_sum = || {
        |act: Act<'_>| {
            if let Act::Hashed(sum, _) = act {
                sum[1] ^= Block::from_u128(1)
            }
        }
    };
    assert_eq!(passes(&of_two(0), 2, other_sum), [0], "no bit of Delta asks for it");
    let other_row = || {
        |act: Act<'_>| {
            if let Act::Hashed(_, rows) = act {
                rows[5] ^= Block::from_u128(1)
            }
        }
    };
    assert!(passes(&of_two(0), 2, other_row).is_empty());
}

#[test]
fn told_bits_are_fixed_before_the_coefficients_and_sums_before_delta() {
    let told = || {
        |act: Act<'_>| {
            if let Act::Told(told) = act {
                told[0] ^= 4
            }
        }
    };
    // A Delta of zero is a key to nothing: it has no use for told bits and terms.
    assert_eq!(passes(&of_two(0), 2, told), [0]);
    for (sum, passing) in [(0, &[][..]), (1, &[0])] {
        let sums = || {
            move |act: Act<'_>| {
                if let Act::Sums(sums, _) = act {
                    sums[sum] ^= Block::from_u128(1 << 9)
                }
            }
        };
        assert_eq!(passes(&of_two(0), 2, sums), passing, "sum {sum}");
    }
}

#[test]
fn every_part_of_an_opening_is_looked_at() {
    let (statement, delta) = (of_two(0), 13u128.to_le_bytes());
    let prover = || prover(&statement, 1, FEW, &mut rng(1), &mut |_: Act<'_>| ());
    let (salt, first, answer) = (*prover().salt(), *prover().first(), prover().answer(&delta));
    let verdict =
        |salt: &[u8; 32], answer: &[u8]| check(Backend::detect(), FEW, &statement, salt, &first, &delta, answer);
    verdict(&salt, &answer).unwrap();
    let row = Block::BYTES * Shape::new(&statement).width();
    let trees = row + 3 * Block::BYTES + 1;
    let parts = [
        ("correction of a mask", 0),
        ("correction of a bit", 16 * PADS),
        ("linear hash", row + 5),
        ("sum of terms", row + 40),
        ("told bit", row + 48),
        ("seed near the root", trees),
        ("seed of a leaf", trees + 2 * 16),
        ("commitment to the hidden leaf", trees + 3 * 16),
        ("seed of the second tree", trees + 3 * 16 + 32),
        ("commitment in the second tree", trees + 5 * 16 + 32),
    ];
    for (part, at) in parts {
        let mut changed = answer.clone();
        changed[at] ^= 1;
        assert_eq!(verdict(&salt, &changed).unwrap_err().check(), Some(WRONG_OPENING), "{part}");
    }
    // Two seeds in each other's place; a Delta that was not asked for; another salt.
    let mut swapped = answer.clone();
    swapped[trees..trees + 32].rotate_left(16);
    assert_eq!(verdict(&salt, &swapped).unwrap_err().check(), Some(WRONG_OPENING));
    let other = prover().answer(&12u128.to_le_bytes());
    assert_eq!(verdict(&salt, &other).unwrap_err().check(), Some(WRONG_OPENING));
    assert_eq!(verdict(&[9; 32], &answer).unwrap_err().check(), Some(WRONG_OPENING));
    // Two secret bits and a gate fill three bits of a byte.
    let mut padded = answer.clone();
    padded[row + 48] |= 8;
    for bytes in [&padded[..], &answer[1..], &[&answer[..], &[0]].concat()] {
        assert!(matches!(verdict(&salt, bytes).unwrap_err().kind, Kind::Malformed(_)));
    }
}

#[test]
fn each_challenge_is_of_everything_before_it() {
    let hashes = |levels, statement: u8, salt: u8| Hashes::new(Parameters { levels }, &[statement; 32], &[salt; 32]);
    let all = |hashes: &Hashes, tree, leaf: u8, change: usize| -> Vec<Digest> {
        let byte = |at| [u8::from(change == at)];
        let blocks = |at| [Block::from_u128(u128::from(change == at)); 2];
        let (commitments, keys) = hashes.leaves(tree, &[[leaf; 16]]);
        let stream = [keys[0].to_bytes(); 2].concat().try_into().unwrap();
        let corrected = hashes.corrected(&[[byte(1)[0]; 32]], &byte(2));
        let told = hashes.told(&corrected, &blocks(3), &blocks(4), &byte(5));
        vec![commitments[0], stream, corrected, told, hashes.last(&told, &blocks(6), &blocks(7))]
    };
    let base = all(&hashes(&[3, 2], 1, 1), 0, 1, 0);
    // What is hashed of leaves, and of which fields the challenges are: each changes all challenges after it,
    // and none before.
    let changed = |other: &[Digest]| base.iter().zip(other).map(|(a, b)| a != b).collect::<Vec<bool>>();
    for keyed in [hashes(&[2, 3], 1, 1), hashes(&[3, 2], 2, 1), hashes(&[3, 2], 1, 2)] {
        assert_eq!(changed(&all(&keyed, 0, 1, 0)), [true; 5]);
        assert_ne!(keyed.counter, hashes(&[3, 2], 1, 1).counter);
    }
    for (tree, leaf) in [(1, 1), (0, 2)] {
        assert_eq!(changed(&all(&hashes(&[3, 2], 1, 1), tree, leaf, 0))[..2], [true; 2]);
    }
    for (change, first) in [(1, 2), (2, 2), (3, 3), (4, 3), (5, 3), (6, 4), (7, 4)] {
        let found = changed(&all(&hashes(&[3, 2], 1, 1), 0, 1, change));
        assert_eq!(found, (0..5).map(|hash| hash >= first).collect::<Vec<_>>(), "field {change}");
    }
}

#[test]
fn coefficients_leaves_and_trees_are_told_apart() {
    // Coefficients of gates follow from a challenge, and those of each half of the linear hash from another
    // half of one.
    let row = [Block::ZERO, Block::ZERO, Block::from_u128(1)];
    let hash = |challenge: &Digest| LinearHash::new(Backend::detect(), challenge, row.len()).hash(&row);
    let [one, other, half] = [[1; 32], [2; 32], core::array::from_fn(|i| if i < 16 { 1 } else { 2 })];
    assert!(seed(&one) != seed(&other));
    let [one, other, half] = [one, other, half].map(|challenge| hash(&challenge));
    assert!(one[0] != other[0] && one[1] != other[1] && half[0] == one[0] && half[1] == other[1]);
    // Leaves with one seed have commitments and streams of their own, and so have trees roots.
    let (commitments, keys) = Hashes::new(FEW, &[1; 32], &[1; 32]).leaves(0, &[[1; 16]; 2]);
    assert!(commitments[0] != commitments[1] && keys[0] != keys[1]);
    let prover = prover(&of_two(0), 2, FEW, &mut rng(1), &mut |_: Act<'_>| ());
    let roots = prover.trees.iter().map(|tree| {
        let mut root = Vec::new();
        tree.open(&vec![false; tree.leaves().len()], &mut root);
        root
    });
    let roots: Vec<_> = roots.collect();
    assert!(roots[0].len() == 16 && roots[0] != roots[1]);
}

/// A transcript for a Delta that is known beforehand: all that is shown is random, and what Delta should be
/// the hash of follows.
fn simulated(statement: &Statement, parameters: Parameters, delta: u128, rng: &mut Prg) -> ([u8; 32], Digest, Vec<u8>) {
    let shape = Shape::new(statement);
    let (mut salt, mut answer) = ([0; 32], vec![0; opening::bytes(shape, parameters)]);
    rng.fill(&mut salt);
    rng.fill(&mut answer);
    // What pads the told bits.
    answer[(parameters.trees() - 1) * Block::BYTES * shape.width() + 3 * Block::BYTES] &= 7;
    let first = fixed(Backend::detect(), parameters, statement, &salt, Block::from_u128(delta), &answer).unwrap();
    (salt, first, answer)
}

#[test]
fn a_simulated_transcript_passes_with_its_challenge_and_is_no_proof() {
    for product in [0, 1] {
        let (statement, delta) = (of_two(product), 0x0123_4567_89ab_cdef_u128 << 60);
        let (salt, first, answer) = simulated(&statement, Parameters::FILE, delta, &mut rng(2));
        let delta = delta.to_le_bytes();
        check(Backend::detect(), Parameters::FILE, &statement, &salt, &first, &delta, &answer).unwrap();
        // As a file it would have to have the hash for a challenge.
        let head = [&b"comityzk\x02\x04"[..], &salt, statement.digest(), &first, &answer].concat();
        let error = verify(Backend::detect(), &statement, &Proof::from_bytes(&head).unwrap()).unwrap_err();
        assert_eq!(error.check(), Some(WRONG_OPENING));
    }
}

#[test]
fn what_is_shown_has_one_distribution_whatever_the_witness_and_without_one() {
    let (statement, mut random, runs) = (of_two(0), rng(3), 1500u32);
    let shape = Shape::new(&statement);
    let mut counts: [BTreeMap<Vec<u8>, u32>; 4] = Default::default();
    // Some bits of each message of the prover: corrections of mask and bits, linear hash, told bits, terms.
    let mut count = |who: usize, answer: &[u8]| {
        let shown = Opening::read(shape, FEW, answer).unwrap();
        let bit = |block: Block| block.lsb() as u8;
        let sum = shown.sum.map(bit);
        let seen = [shown.corrections[0] & 1, shown.corrections[16 * PADS] & 1, sum[0], sum[1], bit(shown.terms)];
        *counts[who].entry([&seen[..], shown.told].concat()).or_default() += 1;
    };
    for run in 0..runs {
        let delta = u128::from(run) % DELTAS;
        for witness in 0..3u8 {
            let prover = prover(&statement, witness, FEW, &mut random, &mut |_: Act<'_>| ());
            count(witness.into(), &prover.answer(&delta.to_le_bytes()));
        }
        count(3, &simulated(&statement, FEW, delta, &mut random).2);
    }
    let (places, freedom) = (1 << 8, 255.0f64);
    let expected = f64::from(runs) / f64::from(places);
    for (who, counts) in counts.iter().enumerate() {
        let there: f64 = counts.values().map(|&count| (f64::from(count) - expected).powi(2) / expected).sum();
        let distance = there + expected * f64::from(places - counts.len() as i32);
        assert!(distance < freedom + 6.0 * (2.0 * freedom).sqrt(), "{who}: chi-square {distance} of {freedom}");
    }
}

#[test]
fn a_generator_that_repeats_itself_gives_no_seed_twice() {
    let leaves = |product: u8, witness: u8| {
        let prover = prover(&of_two(product), witness, FEW, &mut Prg::from_seed([7; 16]), &mut |_: Act<'_>| ());
        let all = [prover.salt()[..16].to_vec()].into_iter();
        all.chain(prover.trees.iter().flat_map(|tree| tree.leaves().iter().map(|leaf| leaf.to_vec())))
            .collect::<Vec<_>>()
    };
    let all = [leaves(0, 0), leaves(0, 1), leaves(1, 3)].concat();
    assert_eq!(all.len(), 3 * (1 + FEW.leaves()));
    assert!(all.iter().enumerate().all(|(i, seed)| !all[..i].contains(seed)));
}

#[test]
fn macs_are_under_delta() {
    // The rows of both sides, by way of their linear hashes: a row of the keys is that of the MACs plus
    // Delta's bit times u.
    let (statement, mut shown) = (of_two(0), None);
    let prover = prover(&statement, 1, FEW, &mut rng(5), &mut |act: Act<'_>| {
        if let Act::Hashed(sum, rows) = act {
            shown = Some((*sum, rows.to_vec()));
        }
    });
    let (sum, rows) = shown.unwrap();
    assert!(rows.len() == HASH_MASK * ROWS && sum[0] != Block::ZERO);
    // Rows without a bit of Delta are zero, and so is their hash.
    assert!(rows[HASH_MASK * FEW.bits_of_delta()..].iter().all(|hash| *hash == Block::ZERO));
    assert!(rows[..HASH_MASK * FEW.bits_of_delta()].iter().all(|hash| *hash != Block::ZERO));
    verdict(&statement, prover, FEW, 31).unwrap();
}
