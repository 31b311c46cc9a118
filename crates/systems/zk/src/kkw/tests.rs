//! KKW18: its formula, provers that know no witness, and what blinds its hashes.

pub(crate) mod simulator;

use comity_core::{Backend, Block, Error, Prg};
use comity_protocol::Honest;

use super::columns::Columns;
use super::hashes::{EXECUTIONS, Execution, Hashes};
use super::heard::Heard;
use super::online::{Play, Played};
use super::strips::{Strip, Tapes};
use super::{HIDDEN_NONE, LAST, PARTIES, Parameters, Shape, check};
use crate::checks::WRONG_OPENING;
use crate::draw::Draw;
use crate::kkw::Committed;
use crate::statement::Statement;
use crate::system::{Soundness, System};
use crate::tests::rng;
use crate::tree::SEED;
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

#[test]
fn a_challenge_is_drawn_without_a_bias() {
    // The last number below a multiple of six gives the last execution; those from there on are thrown away.
    let multiple = u32::MAX / 6 * 6;
    let mut numbers = [u32::MAX, multiple, multiple - 1, 64 + 7].into_iter();
    let drawn = Parameters { executions: 6, opened: 1 }
        .challenge(|bytes| bytes.copy_from_slice(&numbers.next().unwrap().to_le_bytes()));
    assert_eq!(drawn, [HIDDEN_NONE, HIDDEN_NONE, HIDDEN_NONE, HIDDEN_NONE, HIDDEN_NONE, 7]);
    assert_eq!(numbers.next(), None);
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
    let mut draw = Draw::new(random, System::Kkw, 0, &statement.in_a_file(), &inputs);
    let mut lie = |Played { executions, corrections, said }: Played<'_>| {
        for (lane, execution) in executions.iter().enumerate() {
            match cheats[*execution] {
                Cheat::Correction => {
                    corrections[0] ^= 1 << lane;
                    said[0][lane] ^= 1 << LAST;
                }
                Cheat::Party(party) => said[0][lane] ^= 1 << party,
            }
        }
    };
    let opened = challenge.iter().filter(|hidden| **hidden != HIDDEN_NONE).count();
    let parameters = Parameters { executions: cheats.len(), opened };
    let backend = Backend::detect();
    let prover = Committed::with(backend, parameters, &statement.in_a_file(), &inputs, &mut draw, &mut lie).unwrap();
    let (salt, first) = (*prover.salt(), *prover.first());
    let answer = prover.answer_with(challenge, &mut lie).unwrap();
    check(backend, &statement.in_a_file(), &salt, &first, challenge, &answer)
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
    let mut draw = Draw::new(&mut rng(seed), System::Kkw, 0, &statement.in_a_file(), &inputs);
    Committed::new(
        Backend::detect(),
        Parameters { executions: 9, opened: 2 },
        &statement.in_a_file(),
        &inputs,
        &mut draw,
    )
    .unwrap()
}

#[test]
fn an_honest_run_on_no_witness_shows_in_the_outputs() {
    // Nothing is wrong but what comes out, and the shares of that are hashed.
    for (product, bits) in [(0, 3), (1, 0), (1, 2)] {
        let statement = of_two(product);
        let prover = honest(&statement, bits, 6);
        let (salt, first) = (*prover.salt(), *prover.first());
        let mut challenge = [HIDDEN_NONE; 9];
        (challenge[0], challenge[5]) = (7, LAST as u8);
        let answer = prover.answer(&challenge).unwrap();
        let error = check(Backend::detect(), &statement.in_a_file(), &salt, &first, &challenge, &answer).unwrap_err();
        assert_eq!(error.check(), Some(WRONG_OPENING), "{bits} gives no {product}");
    }
}

#[test]
fn the_witness_cannot_be_searched_for_where_a_root_is_shown() {
    let statement = of_two(0);
    let prover = honest(&statement, 2, 4);
    let backend = Backend::detect();
    // Whoever has the root of execution 0 can run it on each possible witness...
    let shape = Shape::new(&statement);
    let hash = |witness: u8, blinding: &[u8; 32]| {
        let execution = [prover.hashes.grow(0, &prover.roots.leaves()[0])];
        let tapes = Tapes::new(backend, &prover.hashes, shape, &execution, |_| None);
        let play = Play::new(backend, &statement, statement.secret(&two(witness))).unwrap();
        let mut heard = Heard::new(backend);
        let inputs = play.inputs(&tapes).to_rows(backend);
        prover.hashes.said(0, blinding, inputs.row(0), &mut heard.executions[0]);
        let (mut strip, mut corrections) = (Strip::new(backend, shape), Columns::zeros(shape.ands));
        let mut tell = |said: &[_]| heard.hear(said);
        let outputs = play.group(&[0], &tapes, (&mut strip, &mut corrections), &mut tell, &mut Honest).unwrap();
        heard.hear(&outputs);
        heard.executions[0].finish()
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
        check(backend, &statement.in_a_file(), salt, &first, challenge, answer).map_err(|error| error.check())
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
    // The seed of every other party is the same one, those of the others are zero.
    let holes: [bool; PARTIES] = core::array::from_fn(|party| party % 2 == 1);
    let all = |executions, statement: u8, salt: u8, number: usize| {
        let hashes = Hashes::new(executions, &[statement; 32], &[salt; 32]);
        let tree = hashes.trees.rebuild(0, &holes, &[[1; SEED]; PARTIES / 2]);
        let execution = Execution { number, tree };
        let mut hashed: Vec<[u8; 32]> = hashes.parties(&execution, &[2]).to_vec();
        hashed.extend(hashes.tape.tapes(Backend::detect(), execution.seeds()).map(|tape| {
            let mut row = [Block::ZERO; 2];
            tape.fill(0, &mut row);
            *Block::bytes_of(&row).as_array().unwrap()
        }));
        hashed.push(hashes.execution(number, &[[3; 32]; PARTIES]));
        let roots = [EXECUTIONS, 0, number as u64].map(|tree| hashes.trees.grow(tree, &[4; SEED], 2).leaves().concat());
        hashed.extend(roots.map(|leaves| *leaves.as_array().unwrap()));
        let corrected = hashes.parties(&execution, &[3]);
        assert!(hashed[..LAST] == corrected[..LAST] && hashed[LAST] != corrected[LAST]);
        hashed
    };
    let base = all(343, 1, 1, 5);
    assert!(base.iter().enumerate().all(|(i, hash)| !base[..i].contains(hash)));
    for (which, other) in [all(342, 1, 1, 5), all(343, 2, 1, 5), all(343, 1, 2, 5)].iter().enumerate() {
        assert!(base.iter().all(|hash| !other.contains(hash)), "{which}");
    }
    // The trees of the executions' roots and of execution 0 are the same ones.
    let (other, trees) = (all(343, 1, 1, 4), base.len() - 3);
    let same = base.iter().filter(|hash| other.contains(hash)).count();
    assert!(same == 2 && base[..trees].iter().all(|hash| !other.contains(hash)));
}

#[test]
fn what_is_said_and_committed_to_is_hashed_whole() {
    let hashes = Hashes::new(9, &[1; 32], &[1; 32]);
    let of_one = |execution: usize, [blinding, inputs, said]: [u8; 3]| {
        let mut heard = Heard::new(Backend::detect());
        hashes.said(execution, &[blinding; 32], &[inputs], &mut heard.executions[0]);
        heard.hear(&[[u64::from(said); 8]]);
        heard.executions[0].finish()
    };
    let base = [1; 3];
    let changed = (0..3).map(|field| of_one(2, core::array::from_fn(|i| base[i] + u8::from(i == field))));
    let all: Vec<_> = changed.chain([of_one(2, base), of_one(1, base)]).collect();
    assert!(all.iter().enumerate().all(|(i, hash)| !all[..i].contains(hash)));
    // The first message hashes both hashes of each execution, each in its place.
    let first = |at: usize| {
        hashes
            .first(&core::array::from_fn::<_, 2, _>(|i| [[u8::from(2 * i == at); 32], [u8::from(2 * i + 1 == at); 32]]))
    };
    let all: Vec<_> = (0..5).map(first).collect();
    assert!(all.iter().enumerate().all(|(i, hash)| !all[..i].contains(hash)));
}
