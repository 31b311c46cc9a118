//! Both parties against each other, and liars.

use comity_channel::Counted;
use comity_core::{Backend, Bits, Block, Check, Error, Kind, Result, SessionId};
use comity_garble::Readable;
use comity_protocol::Honest;
use comity_testing::Pair;

use super::gates::Garbling;
use super::play::{ProverAct, VerifierAct, prove, session_of, verify};
use crate::checks::{OTHER_OUTPUTS, WRONG_COMMITMENT, WRONG_LABELS, WRONG_TABLES};
use crate::statement::Statement;
use crate::tests::{SESSION, random, rng};
use crate::zkboo::tests::{of_two, two};

/// Runs a test with either way to garble.
macro_rules! either {
    ($($name:ident),*) => { $(
        #[test]
        fn $name() {
            super::$name::<PrivacyFree>();
            super::$name::<RowReduced>();
        }
    )* };
}

mod with_either_garbling {
    use comity_garble::{PrivacyFree, RowReduced};

    either!(
        what_is_true_is_proved,
        a_prover_without_a_witness_is_not_believed,
        every_output_counts,
        what_is_checked_is_checked_whole,
        a_verifier_that_lies_gets_no_opening,
        the_prover_commits_to_whatever_came_out,
        a_verifier_that_goes_away_learns_nothing_more,
        the_simulator_has_no_witness_and_opens_the_same,
        parties_with_other_statements_or_sessions_do_not_meet
    );
}

/// Both parties' results, and the bytes that the prover sent.
fn play<S: Readable>(
    statement: &Statement,
    secret: &Bits,
    mut prover: &mut (dyn for<'a> FnMut(ProverAct<'a>) + Send),
    mut verifier: &mut (dyn for<'a> FnMut(VerifierAct<'a>) + Send),
) -> (Result<()>, Result<()>, u64) {
    let backend = Backend::detect();
    let ((proved, sent), verified) = Pair::run(
        |ch| {
            let mut ch = Counted::new(ch);
            let done = prove::<S>((&mut ch, &SESSION), backend, statement, secret, &mut rng(1), &mut prover);
            (done, ch.counts().sent)
        },
        |ch| verify::<S>((ch, &SESSION), backend, statement, &mut rng(2), &mut verifier),
    );
    (proved, verified, sent)
}

fn check(result: &Result<()>) -> Option<&'static Check> {
    result.as_ref().err().and_then(Error::check)
}

fn what_is_true_is_proved<S: Readable>() {
    for seed in 0..3 {
        let (statement, secret) = random(seed, 6000, 2);
        let (proved, verified, _) = play::<S>(&statement, &secret, &mut |_| (), &mut |_| ());
        proved.unwrap();
        verified.unwrap();
    }
    for (product, witness) in [(0, 1), (1, 3), (0, 0)] {
        let statement = of_two(product);
        let secret = statement.secret(&two(witness));
        let (proved, verified, _) = play::<S>(&statement, &secret, &mut |_| (), &mut |_| ());
        assert!(proved.is_ok() && verified.is_ok());
    }
}

fn a_prover_without_a_witness_is_not_believed<S: Readable>() {
    let statement = of_two(1);
    for wrong in [0, 1, 2] {
        let secret = statement.secret(&two(wrong));
        let (_, verified, _) = play::<S>(&statement, &secret, &mut |_| (), &mut |_| ());
        assert_eq!(check(&verified), Some(OTHER_OUTPUTS));
    }
    let secret = statement.secret(&two(3));
    // A guessed label, and one of another session.
    for guess in [[0; 32], [9; 32]] {
        let mut lie = |act: ProverAct<'_>| {
            if let ProverAct::Outputs(outputs) = act {
                *outputs = guess;
            }
        };
        let (_, verified, _) = play::<S>(&statement, &secret, &mut lie, &mut |_| ());
        assert_eq!(check(&verified), Some(OTHER_OUTPUTS));
    }
    // Committed to something, and opened to something else, now that all labels are known.
    for at in [0, 40] {
        let mut lie = |act: ProverAct<'_>| {
            if let ProverAct::Opening(opening) = act {
                opening[at] ^= 1;
            }
        };
        let (_, verified, _) = play::<S>(&statement, &secret, &mut lie, &mut |_| ());
        assert_eq!(check(&verified), Some(WRONG_COMMITMENT));
    }
}

/// The statement of two outputs, of whichever only one is false.
fn every_output_counts<S: Readable>() {
    let (statement, secret) = (crate::tests::statement(b""), |witness| [crate::tests::bits(witness, 4), None]);
    let bits = statement.outputs().len();
    assert!(bits > 1);
    for wrong in 0..16 {
        let right = wrong & 6 == 2;
        let (_, verified, _) = play::<S>(&statement, &statement.secret(&secret(wrong)), &mut |_| (), &mut |_| ());
        assert_eq!(check(&verified), (!right).then_some(OTHER_OUTPUTS), "witness {wrong}");
    }
}

/// A change in any byte of what is compared is seen, the last one, too.
fn what_is_checked_is_checked_whole<S: Readable>() {
    let statement = of_two(1);
    let secret = statement.secret(&two(3));
    for at in [0, 1, 15, 31] {
        let mut lie = |act: ProverAct<'_>| {
            if let ProverAct::Outputs(outputs) = act {
                outputs[at] ^= 1;
            }
        };
        let (_, verified, _) = play::<S>(&statement, &secret, &mut lie, &mut |_| ());
        assert_eq!(check(&verified), Some(OTHER_OUTPUTS), "byte {at} of the outputs");
        let mut lie = |act: VerifierAct<'_>| {
            if let VerifierAct::Labels(pairs) = act {
                pairs[0][0] ^= Block::from_u128(1 << (8 * (at % 16)));
            }
        };
        let (proved, ..) = play::<S>(&statement, &secret, &mut |_| (), &mut lie);
        assert_eq!(check(&proved), Some(WRONG_LABELS), "byte {at} of a label");
    }
}

/// The bytes that an honest prover sends before it opens its commitment.
fn before_the_opening<S: Readable>(statement: &Statement, secret: &Bits) -> u64 {
    let (proved, verified, sent) = play::<S>(statement, secret, &mut |_| (), &mut |_| ());
    assert!(proved.is_ok() && verified.is_ok());
    sent - 64
}

fn a_verifier_that_lies_gets_no_opening<S: Readable>() {
    let (statement, secret) = random(5, 6000, 2);
    let honest = before_the_opening::<S>(&statement, &secret);
    let refused = |what: &str, wants: &'static Check, lie: &mut (dyn for<'a> FnMut(VerifierAct<'a>) + Send)| {
        let (proved, verified, sent) =
            play::<S>(&statement, &secret, &mut |_| (), &mut |act: VerifierAct<'_>| lie(act));
        assert_eq!(check(&proved), Some(wants), "{what}");
        assert_eq!(sent, honest, "{what}: not a byte of the opening");
        assert!(matches!(verified.unwrap_err().kind, Kind::Closed), "{what}");
    };
    // A row wrong in one gate, whichever: also where only one value of the secret ever uses it.
    for gate in [0, 1, 777, 4000] {
        let mut at = 0;
        refused("a row", WRONG_TABLES, &mut |act| {
            if let VerifierAct::Tables(tables) = act {
                let wrong = 16 * gate;
                if (at..at + tables.len()).contains(&wrong) {
                    tables[wrong - at] ^= 1;
                }
                at += tables.len();
            }
        });
    }
    // Another function altogether.
    refused("all rows", WRONG_TABLES, &mut |act| {
        if let VerifierAct::Tables(tables) = act {
            tables.fill(3);
        }
    });
    // One label of one bit: the one that the prover chose, or the other one; and equal labels for zero and one.
    for (bit, which) in [(0, 0), (0, 1), (139, 0), (139, 1)] {
        refused("a label", WRONG_LABELS, &mut |act| {
            if let VerifierAct::Labels(pairs) = act {
                pairs[bit][which] ^= Block::from_u128(2);
            }
        });
    }
    refused("equal labels", WRONG_LABELS, &mut |act| {
        if let VerifierAct::Labels(pairs) = act {
            pairs[3][1] = pairs[3][0];
        }
    });
    refused("swapped labels", WRONG_LABELS, &mut |act| {
        if let VerifierAct::Labels(pairs) = act {
            pairs[3].swap(0, 1);
        }
    });
    // Another seed than the one that was used.
    refused("a seed", WRONG_LABELS, &mut |act| {
        if let VerifierAct::Seed(seed) = act {
            *seed ^= Block::from_u128(1);
        }
    });
}

fn the_prover_commits_to_whatever_came_out<S: Readable>() {
    // Wrong labels and wrong tables, for either value of a secret bit: what is sent before the opening is as
    // long, and comes.
    let statement = of_two(0);
    for witness in [0, 1, 2] {
        let secret = statement.secret(&two(witness));
        let honest = before_the_opening::<S>(&statement, &secret);
        let mut lie = |act: VerifierAct<'_>| match act {
            VerifierAct::Labels(pairs) => pairs[0][1] = Block::from_u128(5),
            VerifierAct::Tables(tables) => tables.fill(1),
            VerifierAct::Seed(_) => {}
        };
        let (proved, _, sent) = play::<S>(&statement, &secret, &mut |_| (), &mut lie);
        assert_eq!((check(&proved), sent), (Some(WRONG_LABELS), honest), "witness {witness}");
    }
}

fn a_verifier_that_goes_away_learns_nothing_more<S: Readable>() {
    let statement = of_two(0);
    let secret = statement.secret(&two(1));
    let honest = before_the_opening::<S>(&statement, &secret);
    let backend = Backend::detect();
    let ((proved, sent), ()) = Pair::run(
        |ch| {
            let mut ch = Counted::new(ch);
            let done = prove::<S>((&mut ch, &SESSION), backend, &statement, &secret, &mut rng(1), &mut Honest);
            (done, ch.counts().sent)
        },
        |ch| {
            // It has the commitment, and opens nothing.
            let mut stop = |act: VerifierAct<'_>| {
                if let VerifierAct::Seed(_) = act {
                    std::panic::resume_unwind(Box::new("it goes away"));
                }
            };
            let gone = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| {
                verify::<S>((ch, &SESSION), backend, &statement, &mut rng(2), &mut stop)
            }));
            assert!(gone.is_err());
        },
    );
    assert!(matches!(proved.unwrap_err().kind, Kind::Closed));
    assert_eq!(sent, honest);
}

fn the_simulator_has_no_witness_and_opens_the_same<S: Readable>() {
    // The simulator has both labels of every input from the OTs, which are its own, and so what true outputs
    // hash to: here from the seed. With any choice of bits it commits to that.
    let statement = of_two(1);
    let session = session_of(&SESSION, &statement);
    let seed = Block::random(&mut rng(2));
    let true_ones = Garbling::<S>::new(Backend::detect(), &session, &statement, seed)
        .run(&session, &statement, &mut |_| Ok(()))
        .unwrap();
    let seen = [3, 0, 1, 2].map(|bits| {
        let mut opened = [0; 64];
        let mut simulator = |act: ProverAct<'_>| match act {
            ProverAct::Outputs(outputs) => {
                assert_eq!(*outputs == true_ones, bits == 3, "only a witness gives them");
                *outputs = true_ones;
            }
            ProverAct::Opening(opening) => opened = *opening,
        };
        let secret = statement.secret(&two(bits));
        let (proved, verified, sent) = play::<S>(&statement, &secret, &mut simulator, &mut |_| ());
        proved.unwrap();
        verified.unwrap();
        (opened, sent)
    });
    // Beside the OTs the verifier hears a commitment and its opening: the same as from a prover that knows.
    assert!(seen.iter().all(|of_one| *of_one == seen[0]));
}

fn parties_with_other_statements_or_sessions_do_not_meet<S: Readable>() {
    let backend = Backend::detect();
    let told = |of: &Statement, session: SessionId| {
        let secret = of.secret(&two(1));
        Pair::run(
            |ch| prove::<S>((ch, &SESSION), backend, of, &secret, &mut rng(1), &mut Honest),
            |ch| verify::<S>((ch, &session), backend, &of_two(0), &mut rng(2), &mut Honest),
        )
    };
    let (proved, verified) = told(&of_two(0), SESSION);
    assert!(proved.is_ok() && verified.is_ok());
    let (proved, verified) = told(&of_two(1), SESSION);
    assert!(proved.is_err() && verified.is_err());
    let (proved, verified) = told(&of_two(0), SessionId::new([8; 32]));
    assert!(proved.is_err() && verified.is_err());
}
