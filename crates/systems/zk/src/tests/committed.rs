//! Verifiers that want more than to be convinced, in the systems of three moves: a proof for others, or the
//! witness of a prover that was put back.

use std::collections::HashSet;

use comity_channel::Channel;
use comity_core::{Backend, Bits, Error, Prg, SessionId};
use comity_testing::Pair;

use super::broken::here;
use super::{SESSION, conversing, rng, statement, terms, witness};
use crate::checks::{WRONG_CHALLENGE, WRONG_OPENING, WRONG_VIEW};
use crate::conversation::{check, commit};
use crate::zkboo::tests::{of_two, two};
use crate::{
    Commitment, Conversation, FIRST, OPENING, Proof, ProofTerms, Prover, Soundness, Statement, System, Verifier,
    challenge, kkw, prove_to, verify, verify_from, zkboo,
};

/// The level of files.
const LEVEL: Soundness = Soundness::Bits128;

fn halves(message: &[u8; 64]) -> [[u8; 32]; 2] {
    [0, 32].map(|at| core::array::from_fn(|i| message[at + i]))
}

/// The first message and the answer as a proof in a file.
fn file(system: System, statement: &Statement, [salt, first]: [[u8; 32]; 2], answer: &[u8]) -> Proof {
    let head = [&b"comityzk\x02"[..], &[system.code()], &salt, statement.digest(), &first, answer];
    Proof::from_bytes(&head.concat()).unwrap()
}

/// A seed whose first trits, or hidden parties, are those of a challenge: the nearest that a verifier comes
/// to it by search.
fn seed_near(system: System, wanted: &[u8], random: &mut Prg) -> [u8; 32] {
    loop {
        let mut seed = [0; 32];
        random.fill(&mut seed);
        if challenge::of_seed(system, LEVEL, &seed)[..4] == wanted[..4] {
            return seed;
        }
    }
}

#[test]
fn a_verifier_that_asks_with_the_hash_of_a_file_gets_no_answer() {
    // The verifier commits to something, and when it has the first message it wants the challenge to be what
    // that message hashes to in a file.
    for system in conversing() {
        let statement = statement(b"here");
        let ask = |ch: &mut dyn Channel| -> Result<Vec<u8>, Error> {
            let terms = ProofTerms { session: here(1, 1).session, ..terms(&statement, system, LEVEL) };
            let verifier = Verifier::new(Backend::detect(), terms, &mut rng(2))?;
            ch.send(&verifier.commitment().to_bytes())?;
            let mut first = [0; FIRST];
            ch.recv(&mut first)?;
            let [salt, hash] = halves(&first);
            let wanted = challenge::hashed(system, LEVEL, &statement, &salt, &hash);
            let mut opening = *verifier.ask(first).opening();
            opening[..32].copy_from_slice(&seed_near(system, &wanted, &mut rng(3)));
            ch.send(&opening)?;
            let mut answer = vec![0];
            ch.recv(&mut answer)?;
            Ok(answer)
        };
        let way = Conversation::ThreeMoves(system, LEVEL);
        let (proved, heard) =
            Pair::run(|ch| prove_to(ch, here(0, 1), &statement, &witness(), way, &mut rng(1)), |ch| ask(ch));
        assert_eq!(proved.unwrap_err().check(), Some(WRONG_CHALLENGE), "{system}");
        assert!(heard.is_err(), "{system}: the prover answered");
    }
}

#[test]
fn each_byte_of_an_opening_counts() {
    for system in conversing() {
        let (statement, backend) = (statement(b"here"), Backend::detect());
        let terms = terms(&statement, system, Soundness::Bits40);
        for at in [0, 31, 32, 63] {
            let verifier = Verifier::new(backend, terms, &mut rng(2)).unwrap();
            let prover = Prover::new(backend, terms, &witness(), verifier.commitment(), &mut rng(1)).unwrap();
            let mut opening: [u8; OPENING] = *verifier.ask(prover.first()).opening();
            opening[at] ^= 1;
            assert_eq!(prover.answer(&opening).unwrap_err().check(), Some(WRONG_CHALLENGE), "{system}, byte {at}");
        }
    }
}

/// What an answer opens is held against the whole hash of the first message, not some of its bytes. The
/// challenge stays as it was: in a file it would be another one.
#[test]
fn each_byte_of_a_first_message_counts() {
    let (statement, backend) = (statement(b"here"), Backend::detect());
    let bound = statement.in_a_file();
    let mut believed = Vec::new();
    for system in System::ALL {
        let prover = commit(backend, &bound, &witness(), (system, LEVEL), &mut rng(1)).unwrap();
        let (salt, first) = (*prover.salt(), *prover.first());
        let challenge = challenge::hashed(system, LEVEL, &statement, &salt, &first);
        let answer = prover.answer(&challenge).unwrap();
        let checked = |first: &[u8; 32]| {
            let checked = check(backend, system, &bound, [&salt, first], &challenge, &answer);
            checked.map_err(|error| error.check())
        };
        assert_eq!(checked(&first), Ok(()), "{system}");
        for at in 0..32 {
            let mut first = first;
            first[at] ^= 1;
            if checked(&first) != Err(Some(WRONG_OPENING)) {
                believed.push((system, at));
            }
        }
    }
    assert!(believed.is_empty(), "{believed:?}");
}

#[test]
fn a_commitment_is_of_one_session_statement_system_and_level() {
    let (statement, other, backend) = (statement(b"here"), statement(b"there"), Backend::detect());
    let mine = terms(&statement, System::ZkBoo, Soundness::Bits40);
    let theirs = [
        (Some(()), mine),
        (None, ProofTerms { session: SessionId::new([1; 32]), ..mine }),
        (None, ProofTerms { statement: &other, ..mine }),
        (None, ProofTerms { system: System::ZkbPlusPlus, ..mine }),
        (None, ProofTerms { level: Soundness::Bits80, ..mine }),
    ];
    for (which, (answered, theirs)) in theirs.into_iter().enumerate() {
        let verifier = Verifier::new(backend, theirs, &mut rng(2)).unwrap();
        let prover = Prover::new(backend, mine, &witness(), verifier.commitment(), &mut rng(1)).unwrap();
        let asked = verifier.ask(prover.first());
        let answer = prover.answer(asked.opening());
        match answered {
            Some(()) => assert!(answer.is_ok()),
            None => assert_eq!(answer.unwrap_err().check(), Some(WRONG_CHALLENGE), "{which}"),
        }
    }
}

#[test]
fn what_is_said_in_conversation_is_no_file_whatever_the_challenge() {
    // Even if the challenge could be chosen, and were the hash that it is in a file.
    for system in conversing() {
        let statement = statement(b"here");
        let proof_of = |bound: &crate::bound::Bound<'_>| {
            let prover = commit(Backend::detect(), bound, &witness(), (system, LEVEL), &mut rng(1)).unwrap();
            let said = [*prover.salt(), *prover.first()];
            let challenge = challenge::hashed(system, LEVEL, &statement, &said[0], &said[1]);
            let answer = prover.answer(&challenge).unwrap();
            verify(Backend::detect(), &statement, &file(system, &statement, said, &answer)).map(|_| ())
        };
        proof_of(&statement.in_a_file()).unwrap();
        let error = proof_of(&statement.in_conversation(&SESSION, &Commitment::new([1; 32]))).unwrap_err();
        assert!([Some(WRONG_OPENING), Some(WRONG_VIEW)].contains(&error.check()), "{system}: {error}");
    }
}

#[test]
fn a_proxy_between_a_prover_and_a_verifier_of_two_sessions_is_refused() {
    // It proves to one what it hears from another: the party that is asked finds that the challenge was
    // committed to elsewhere.
    for system in conversing() {
        let (statement, way) = (statement(b"here"), Conversation::ThreeMoves(system, Soundness::Bits40));
        let (proved, verified) = Pair::run(
            |ch| prove_to(ch, here(0, 1), &statement, &witness(), way, &mut rng(1)),
            |ch| verify_from(ch, here(1, 2), &statement, way, &mut rng(2)),
        );
        assert_eq!(proved.unwrap_err().check(), Some(WRONG_CHALLENGE), "{system}");
        assert!(verified.is_err(), "{system}");
    }
}

#[test]
fn a_prover_that_was_put_back_says_nothing_twice_but_to_one_challenge() {
    // Its generator, its nonce and so the session are what they were, and the verifier repeats its nonce,
    // too. The witness follows from two answers from one set of seeds, as it is the sum of all three shares.
    for system in conversing() {
        let (statement, backend) = (statement(b"here"), Backend::detect());
        let terms = terms(&statement, system, LEVEL);
        let heard = |seed: u8| {
            let verifier = Verifier::new(backend, terms, &mut rng(seed)).unwrap();
            let prover = Prover::new(backend, terms, &witness(), verifier.commitment(), &mut rng(1)).unwrap();
            let first = prover.first();
            [first.to_vec(), prover.answer(verifier.ask(first).opening()).unwrap()].concat()
        };
        let seeds = |heard: &[u8]| heard.windows(16).map(<[u8]>::to_vec).collect::<HashSet<_>>();
        let (one, other) = (heard(2), heard(3));
        assert!(seeds(&one).is_disjoint(&seeds(&other)), "{system}: two challenges, one seed");
        assert!(one == heard(2), "{system}: to the same challenge it says the same");
    }
}

#[test]
fn a_verifier_draws_a_challenge_and_a_salt() {
    let statement = statement(b"here");
    let drawn = |seed: u8| {
        let verifier =
            Verifier::new(Backend::detect(), terms(&statement, System::ZkBoo, LEVEL), &mut rng(seed)).unwrap();
        let commitment = verifier.commitment().to_bytes();
        let [seed, salt] = halves(verifier.ask([0; FIRST]).opening());
        [commitment, seed, salt]
    };
    let all = [drawn(1), drawn(2)].concat();
    assert!(all.iter().enumerate().all(|(i, bytes)| *bytes != [0; 32] && !all[..i].contains(bytes)));
}

#[test]
fn a_verifier_could_have_made_up_a_conversation() {
    // A party that knows the seed makes a first message and an answer without a witness, even of what is not
    // true, and they are as good as a prover's.
    let (backend, level) = (Backend::detect(), Soundness::Bits40);
    for product in [0, 1] {
        let statement = of_two(product);
        for system in [System::ZkBoo, System::Kkw] {
            let terms = terms(&statement, system, level);
            let new = || Verifier::new(backend, terms, &mut rng(2)).unwrap();
            let (commitment, [seed, _]) = (new().commitment(), halves(new().ask([0; FIRST]).opening()));
            let bound = statement.in_conversation(&terms.session, &commitment);
            let challenge = challenge::of_seed(system, level, &seed);
            let (salt, hash, answer) = match system {
                System::Kkw => kkw::tests::simulator::simulated(&bound, &challenge, &mut rng(3)),
                _ => zkboo::tests::simulator::simulated(&bound, &challenge, &mut rng(3)),
            };
            let first = *[salt, hash].as_flattened().as_array().unwrap();
            new().ask(first).finish(&answer).unwrap();
            // Another verifier does not accept it.
            let other = Verifier::new(backend, terms, &mut rng(4)).unwrap().ask(first);
            assert!(other.finish(&answer).is_err(), "{system}");
        }
    }
}

#[test]
fn nobody_without_a_witness_begins() {
    let (statement, backend) = (of_two(1), Backend::detect());
    let terms = terms(&statement, System::ZkBoo, LEVEL);
    let witness: Vec<Option<Bits>> = two(1);
    let refused = Prover::new(backend, terms, &witness, Commitment::new([0; 32]), &mut rng(1)).err().unwrap();
    assert!(refused.to_string().contains("false for these secret values"), "{refused}");
}
