//! KKW18: its formula, provers that know no witness, and what blinds its hashes.

use comity_core::{Backend, Error, Prg};

use super::hashes::{Hashes, place};
use super::online::{Clear, Said, by_execution, packed};
use super::prove::Played;
use super::tree::{Node, Tree, count};
use super::{HIDDEN_NONE, LAST, PARTIES, Parameters, SEED, Shape, check};
use crate::checks::WRONG_OPENING;
use crate::draw::Draw;
use crate::kkw::Committed;
use crate::statement::Statement;
use crate::system::{Soundness, System};
use crate::tests::rng;
use crate::zkboo::tests::{of_two, two};

#[test]
fn the_parameters_follow_from_the_formula() {
    for level in Soundness::ALL {
        assert!(Parameters::of(level).bits(PARTIES) >= f64::from(level.bits()), "{level:?}");
    }
    // The paper's, with 64 and with 16 parties.
    let bits = |executions, opened, parties| Parameters { executions, opened }.bits(parties);
    assert!((bits(343, 27, 64) - 128.06).abs() < 0.01 && (bits(252, 36, 16) - 128.39).abs() < 0.01);
}

#[test]
fn a_challenge_opens_each_execution_and_hides_each_party_equally_often() {
    let (parameters, tries, mut random) = (Parameters { executions: 6, opened: 2 }, 6000, rng(1));
    let (mut opened, mut hidden) = ([0; 6], [0; PARTIES]);
    for _ in 0..tries {
        let challenge = parameters.challenge(|bytes| random.fill(bytes));
        assert!(parameters.has(&challenge));
        for (execution, &party) in challenge.iter().enumerate().filter(|(_, party)| **party != HIDDEN_NONE) {
            opened[execution] += 1;
            hidden[usize::from(party)] += 1;
        }
    }
    // One opening more than there are, and one less.
    for (execution, party) in [(0, 7), (1, HIDDEN_NONE)] {
        let mut other = [HIDDEN_NONE; 6];
        (other[1], other[2]) = (7, 7);
        assert!(parameters.has(&other));
        other[execution] = party;
        assert!(!parameters.has(&other));
    }
    assert!(opened.iter().all(|count: &i32| (count - tries / 3).abs() < 200), "{opened:?}");
    assert!(hidden.iter().all(|count: &i32| (count - 2 * tries / 64).abs() < 90), "{hidden:?}");
}

/// What a prover without a witness does in each execution.
#[derive(Clone, Copy, PartialEq)]
enum Cheat {
    /// It has a correction that makes the output come out: right in all but the preprocessing.
    Correction,
    /// This party says another bit at the gate than it has: right in all but what this party says.
    Party(usize),
}

/// Whether a prover of `1 * 0 = 1` that cheats so is believed.
fn verdict(cheats: &[Cheat], challenge: &[u8], random: &mut Prg) -> Result<(), Error> {
    let (statement, inputs) = (of_two(1), two(1));
    let mut draw = Draw::new(random, None, System::Kkw, 0, &statement, &inputs);
    let mut lie = |Played { executions, said }: Played<'_>| {
        for (lane, execution) in executions.iter().enumerate() {
            match cheats[*execution] {
                Cheat::Correction => {
                    said.corrections[0][lane] ^= 1 << LAST;
                    said.gates[0][lane] ^= 1 << LAST;
                }
                Cheat::Party(party) => said.gates[0][lane] ^= 1 << party,
            }
        }
    };
    let opened = challenge.iter().filter(|hidden| **hidden != HIDDEN_NONE).count();
    let parameters = Parameters { executions: cheats.len(), opened };
    let backend = Backend::detect();
    let prover = Committed::with(backend, parameters, &statement, &inputs, &mut draw, &mut lie).unwrap();
    let (salt, first) = (*prover.salt(), *prover.first());
    let answer = prover.answer_with(challenge, &mut lie).unwrap();
    check(backend, &statement, &salt, &first, challenge, &answer)
}

#[test]
fn a_wrong_correction_shows_where_the_root_is_shown_and_a_wrong_bit_where_its_party_is() {
    let found = |cheats: &[Cheat], challenge: &[u8]| {
        verdict(cheats, challenge, &mut rng(2)).err().map(|error| error.check() == Some(WRONG_OPENING))
    };
    // Two executions, of which the first is opened.
    let guess = Cheat::Party(5);
    assert_eq!(found(&[Cheat::Correction, guess], &[5, HIDDEN_NONE]), None);
    assert_eq!(found(&[Cheat::Correction, guess], &[LAST as u8, HIDDEN_NONE]), None);
    assert_eq!(found(&[Cheat::Correction, Cheat::Correction], &[5, HIDDEN_NONE]), Some(true));
    assert_eq!(found(&[guess, guess], &[5, HIDDEN_NONE]), None);
    assert_eq!(found(&[guess, guess], &[6, HIDDEN_NONE]), Some(true));
}

#[test]
fn the_best_cheats_escape_as_the_formula_says() {
    let mut random = rng(3);
    // One or two wrong corrections in four executions, of which two are opened; the party is guessed in the others.
    for (wrong, chance, tries) in [(2, 1.0 / 6.0, 600), (1, 0.5 / 64.0, 600)] {
        let parameters = Parameters { executions: 4, opened: 2 };
        let accepted = (0..tries).filter(|try_| {
            let challenge = parameters.challenge(|bytes| random.fill(bytes));
            let cheats: Vec<Cheat> =
                (0..4).map(|i| if i < wrong { Cheat::Correction } else { Cheat::Party(try_ % PARTIES) }).collect();
            verdict(&cheats, &challenge, &mut random).is_ok()
        });
        let rate = accepted.count() as f64 / tries as f64;
        let deviation = (chance * (1.0 - chance) / tries as f64).sqrt();
        assert!((rate - chance).abs() < 5.0 * deviation, "{wrong} wrong: {rate} and not {chance}");
        if wrong == 2 {
            assert!((parameters.bits(PARTIES) + chance.log2()).abs() < 1e-9, "the best one");
        }
    }
}

/// A prover that knows two bits whose product is zero.
fn honest(statement: &Statement, witness: u8, seed: u8) -> Committed<'_> {
    let inputs = two(witness);
    let mut draw = Draw::new(&mut rng(seed), None, System::Kkw, 0, statement, &inputs);
    Committed::new(Backend::detect(), Parameters { executions: 9, opened: 2 }, statement, &inputs, &mut draw).unwrap()
}

#[test]
fn the_witness_cannot_be_searched_for_where_a_root_is_shown() {
    let statement = of_two(0);
    let prover = honest(&statement, 2, 4);
    let backend = Backend::detect();
    let shape = Shape::new(&statement);
    // Whoever has the root of execution 0 can run it on each possible witness...
    let hash = |witness: u8, blinding: &[u8; 32]| {
        let mut seeds = [[0; SEED]; PARTIES];
        Node { key: &prover.hashes.tree, tree: Tree::Parties(0) }.leaves(&prover.roots[0], &mut seeds);
        let (mut played, secret) = (Said::new(shape), statement.secret(&two(witness)));
        let clear = Clear::new(backend, &statement, &secret).unwrap();
        played.play(backend, &prover.hashes, &statement, (&secret, &clear), &[(0, seeds)]).unwrap();
        let [said, ..] = by_execution([&played.gates[..shape.ands], &played.outputs]);
        prover.hashes.said(0, blinding, &packed(&played.inputs, 0, 0, shape.secret), &said)
    };
    // ...and would find it, if it had the blinding, which is drawn for itself and stays closed.
    let matches =
        |blinding: &[u8; 32]| -> Vec<u8> { (0..4).filter(|w| hash(*w, blinding) == prover.said[0]).collect() };
    assert_eq!(matches(&prover.blindings[0]), [2]);
    assert!(matches(&[0; 32]).is_empty());
    let blindings = prover.blindings.to_vec();
    let mut challenge = [HIDDEN_NONE; 9];
    (challenge[3], challenge[8]) = (1, 63);
    let answer = prover.answer(&challenge).unwrap();
    for (execution, blinding) in blindings.iter().enumerate() {
        let shown = answer.windows(32).any(|window| window == blinding);
        assert_eq!(shown, challenge[execution] != HIDDEN_NONE, "execution {execution}");
        assert!(blindings.iter().filter(|other| *other == blinding).count() == 1);
    }
}

#[test]
fn executions_and_parties_are_not_interchangeable() {
    let (statement, backend) = (of_two(0), Backend::detect());
    let mut challenge = [HIDDEN_NONE; 9];
    (challenge[3], challenge[8]) = (1, 1);
    let prover = honest(&statement, 1, 5);
    let (salt, first) = (*prover.salt(), *prover.first());
    let answer = prover.answer(&challenge).unwrap();
    let verdict = |salt: &[u8; 32], challenge: &[u8], answer: &[u8]| {
        check(backend, &statement, salt, &first, challenge, answer).map_err(|error| error.check())
    };
    assert_eq!(verdict(&salt, &challenge, &answer), Ok(()));
    assert_eq!(verdict(&[0; 32], &challenge, &answer), Err(Some(WRONG_OPENING)));
    // The two opened executions in the other order.
    let one = super::verify::FIXED + 3;
    let (head, opened) = answer.split_at(answer.len() - 2 * one);
    let swapped = [head, &opened[one..], &opened[..one]].concat();
    assert_eq!(verdict(&salt, &challenge, &swapped), Err(Some(WRONG_OPENING)));
    // Another execution, another party.
    for (execution, party) in [(4, 1), (3, 2)] {
        let mut other = [HIDDEN_NONE; 9];
        (other[execution], other[8]) = (party, 1);
        assert!(verdict(&salt, &other, &answer).is_err());
    }
    // More seeds than the challenge asks for: the length says.
    assert_eq!(verdict(&salt, &challenge, &[&[0; SEED], &answer[..]].concat()), Err(None));
}

#[test]
fn every_hash_says_where_and_for_what_it_is() {
    let all = |executions, statement: u8, salt: u8, execution: usize, party: usize| {
        let hashes = Hashes::new(executions, &[statement; 32], &[salt; 32]);
        let mut tape = [comity_core::Block::ZERO; 2];
        hashes.tape.fill(Backend::detect(), place(execution, party), &[1; SEED], &mut tape);
        let tape = comity_core::Block::bytes_of(&tape).to_vec();
        (tape, hashes.party(execution, party, &[1; SEED], &[2]), hashes.execution(execution, &[[3; 32]; PARTIES]))
    };
    let base = all(343, 1, 1, 5, 6);
    for other in [all(342, 1, 1, 5, 6), all(343, 2, 1, 5, 6), all(343, 1, 2, 5, 6), all(343, 1, 1, 4, 6)] {
        assert!(other.0 != base.0 && other.1 != base.1 && other.2 != base.2);
    }
    let other = all(343, 1, 1, 5, 7);
    assert!(other.0 != base.0 && other.1 != base.1);
}

#[test]
fn what_is_said_and_committed_to_is_hashed_whole() {
    let hashes = Hashes::new(9, &[1; 32], &[1; 32]);
    let of_one = |execution: usize, [blinding, inputs, said]: [u8; 3]| {
        hashes.said(execution, &[blinding; 32], &[inputs], &[said])
    };
    let base = [1; 3];
    let changed = (0..3).map(|field| of_one(2, core::array::from_fn(|i| base[i] + u8::from(i == field))));
    let all: Vec<_> = changed.chain([of_one(2, base), of_one(1, base)]).collect();
    assert!(all.iter().enumerate().all(|(i, hash)| !all[..i].contains(hash)));
    // Of the first message both hashes of each execution, each in its place.
    let first = |at: usize| {
        hashes
            .first(&core::array::from_fn::<_, 2, _>(|i| [[u8::from(2 * i == at); 32], [u8::from(2 * i + 1 == at); 32]]))
    };
    let all: Vec<_> = (0..5).map(first).collect();
    assert!(all.iter().enumerate().all(|(i, hash)| !all[..i].contains(hash)));
    // Nodes of trees: one seed has other children in each place of each tree.
    let children = |key: u8, tree, level, index| Node { key: &[key; 32], tree }.children(level, index, &[3; SEED]);
    let parties = Tree::Parties;
    let all = [
        children(1, Tree::Executions, 1, 1),
        children(2, Tree::Executions, 1, 1),
        children(1, parties(0), 1, 1),
        children(1, parties(1), 1, 1),
        children(1, parties(0), 2, 1),
        children(1, parties(0), 1, 0),
    ];
    assert!(all.iter().enumerate().all(|(i, both)| both[0] != both[1] && !all[..i].contains(both)));
}

#[test]
fn a_tree_without_its_holes_is_rebuilt_from_few_seeds() {
    let hashes = Hashes::new(1, &[1; 32], &[2; 32]);
    let tree = |which| Node { key: &hashes.tree, tree: which };
    for leaves in [1, 2, 3, 7, 64, 343] {
        let mut all = vec![[0; SEED]; leaves];
        tree(Tree::Executions).leaves(&[9; SEED], &mut all);
        for holes in [vec![], vec![0], vec![leaves - 1], vec![leaves / 2, leaves / 3]] {
            let holes: Vec<bool> = (0..leaves).map(|leaf| holes.contains(&leaf)).collect();
            let mut seeds = Vec::new();
            tree(Tree::Executions).open(&[9; SEED], &holes, &mut seeds);
            assert_eq!(seeds.len(), SEED * count(&holes));
            let mut found = vec![[0; SEED]; leaves];
            tree(Tree::Executions).rebuild(&holes, seeds.as_chunks().0, &mut found);
            for ((hole, found), leaf) in holes.iter().zip(&found).zip(&all) {
                assert_eq!(*found, if *hole { [0; SEED] } else { *leaf });
            }
        }
        // No seed twice, and none of another tree.
        let mut other = vec![[0; SEED]; leaves];
        tree(Tree::Parties(0)).leaves(&[9; SEED], &mut other);
        assert!(
            leaves == 1 || all.iter().enumerate().all(|(i, leaf)| !all[..i].contains(leaf) && !other.contains(leaf))
        );
    }
}
