//! Proofs of something else, and changed ones.

use std::io::{self, Read};

use comity_circuit::{Builder, Goal, Program};
use comity_core::{Backend, Kind, SessionId};

use super::{SESSION, bits, masked, rng, statement, witness};
use crate::bound::Bound;
use crate::challenge;
use crate::checks::{OTHER_STATEMENT, WRONG_OPENING, WRONG_VIEW};
use crate::conversation::{check, commit};
use crate::{Commitment, Proof, ProofHead, Soundness, Statement, System, prove, verify};

fn proof(system: System) -> Vec<u8> {
    prove(Backend::detect(), &statement(b"here"), &witness(), system, &mut rng(1)).unwrap().to_bytes()
}

fn checked(bytes: &[u8], statement: &Statement) -> Result<(), comity_core::Error> {
    verify(Backend::detect(), statement, &Proof::from_bytes(bytes)?).map(|_| ())
}

/// The proof with the other statement's digest in its head: so that not the digest, but what depends on it is
/// looked at.
fn relabelled(bytes: &[u8], statement: &Statement) -> Vec<u8> {
    [&bytes[..42], &statement.digest()[..], &bytes[74..]].concat()
}

/// Every statement that differs in one thing.
fn others() -> Vec<(&'static str, Statement)> {
    let (public, pinned) = ([None, bits(6, 4)], [bits(2, 4), None]);
    let new = |program: &Program, public: &[_], pinned: &[_], context: &[u8]| {
        Statement::new(program, public, pinned, context).unwrap()
    };
    let mut b = Builder::new();
    let (secret, mask) = (b.input("secret", 4), b.input("mask", 4));
    let both: Vec<_> = secret.iter().zip(&mask).map(|(&x, &y)| b.and(x, y)).collect();
    b.output("both", &both);
    // The same gates and pinned output, and another one in place of the sum.
    b.output("sum", &both);
    let similar = Program::from_circuit(b.finish()).unwrap();
    vec![
        ("program", new(&similar, &public, &pinned, b"here")),
        ("goal", new(&masked().with_goal(Goal::Depth), &public, &pinned, b"here")),
        ("public value", new(&masked(), &[None, bits(2, 4)], &pinned, b"here")),
        ("expected output", new(&masked(), &public, &[bits(0, 4), None], b"here")),
        // The same values, of another output, and of both.
        ("pinned output", new(&masked(), &public, &[None, bits(2, 4)], b"here")),
        ("pinned outputs", new(&masked(), &public, &[bits(2, 4), bits(13, 4)], b"here")),
        ("context", new(&masked(), &public, &pinned, b"there")),
        ("no context", new(&masked(), &public, &pinned, b"")),
    ]
}

#[test]
fn a_proof_is_of_one_statement_only() {
    for system in System::ALL {
        let proof = proof(system);
        checked(&proof, &statement(b"here")).unwrap();
        for (what, other) in others() {
            assert_eq!(checked(&proof, &other).unwrap_err().check(), Some(OTHER_STATEMENT), "{system}, {what}");
            // Nor does it help to write another digest into it.
            assert!(checked(&relabelled(&proof, &other), &other).is_err(), "{system}, {what}");
        }
    }
}

#[test]
fn names_are_no_part_of_a_statement() {
    let renamed = masked().with_name("something else");
    let same = Statement::new(&renamed, &[None, bits(6, 4)], &[bits(2, 4), None], b"here").unwrap();
    checked(&proof(System::ZkBoo), &same).unwrap();
}

#[test]
fn every_changed_bit_is_found() {
    for system in System::ALL {
        let proof = proof(system);
        // One verification of the larger system takes as long as twenty of the smaller ones.
        let step = if system == System::Kkw { 23 } else { 1 };
        for at in (0..106).step_by(step).chain((106..proof.len()).step_by(17 * step)) {
            let mut changed = proof.clone();
            changed[at] ^= 1 << (at % 8);
            let error = checked(&changed, &statement(b"here")).expect_err("changed");
            let known = [OTHER_STATEMENT, WRONG_OPENING, WRONG_VIEW];
            let named = error.check().is_some_and(|check| known.contains(&check));
            assert!(named || matches!(error.kind, Kind::Malformed(_)), "byte {at}: {error}");
        }
    }
}

#[test]
fn there_is_one_encoding_of_a_proof() {
    for system in System::ALL {
        let proof = proof(system);
        let malformed = |bytes: &[u8], wants: &str| {
            let error = checked(bytes, &statement(b"here")).expect_err(wants);
            assert!(matches!(error.kind, Kind::Malformed(_)) && error.to_string().contains(wants), "{error}");
        };
        malformed(&[&proof[..], &[0]].concat(), "are wanted");
        malformed(&proof[..proof.len() - 1], "are wanted");
        malformed(&proof[..105], "ends in its head");
        malformed(&[], "not a proof of `comity zk`");
        malformed(b"comityzx", "not a proof of `comity zk`");
        malformed(&[&proof[..8], &[1], &proof[9..]].concat(), "version 1");
        malformed(&[&proof[..9], &[77], &proof[10..]].concat(), "system number 77");
        if system == System::VoleInTheHead {
            // Its bits fill their byte here; a test of its own has others.
            continue;
        }
        // Four AND gates fill half of the last byte: the rest has to be zero.
        let mut padded = proof.clone();
        *padded.last_mut().unwrap() |= 0x10;
        malformed(&padded, "beyond the end of a row");
    }
}

#[test]
fn a_file_is_read_no_further_than_its_statement_has_answers() {
    const MOST: u64 = 1 << 24;
    for system in System::ALL {
        let proof = proof(system);
        assert!(Proof::read(&mut &proof[..], &statement(b"here")).unwrap().to_bytes() == proof);
        let read = |statement: &Statement| {
            let mut endless = proof.chain(io::repeat(0)).take(MOST);
            let error = Proof::read(&mut endless, statement).err().unwrap();
            (error, MOST - endless.limit())
        };
        let (error, bytes) = read(&statement(b"here"));
        assert!(
            error.to_string().contains("more than") && bytes == proof.len() as u64 + 1,
            "{system}: {bytes}, {error}"
        );
        let (error, bytes) = read(&statement(b"there"));
        assert_eq!((error.check(), bytes), (Some(OTHER_STATEMENT), 106), "{system}");
        let mut source = proof.chain(io::repeat(0)).take(MOST);
        let head = ProofHead::read(&mut source).unwrap();
        assert_eq!((head.system(), MOST - source.limit()), (system, 106));
    }
}

#[test]
fn a_proof_says_its_system_and_is_of_no_other() {
    let (one, other) = (proof(System::ZkBoo), System::ZkbPlusPlus);
    let mut renamed = one.clone();
    renamed[9] = other.code();
    assert!(checked(&renamed, &statement(b"here")).is_err());
}

#[test]
fn a_first_message_is_of_one_statement_level_and_system() {
    let (here, there) = (statement(b"here"), statement(b"there"));
    let commitment = Commitment::new([5; 32]);
    let checks = [(System::ZkBoo, WRONG_VIEW), (System::ZkbPlusPlus, WRONG_OPENING), (System::Kkw, WRONG_OPENING)];
    for (system, wrong) in checks {
        let how = (system, Soundness::Bits40);
        let told = |other: &Bound<'_>| {
            let said = here.in_conversation(&SESSION, &commitment);
            let prover = commit(Backend::detect(), &said, &witness(), how, &mut rng(2)).unwrap();
            let (salt, first) = (*prover.salt(), *prover.first());
            let challenge = challenge::of_seed(how.0, how.1, &[3; 32]);
            let answer = prover.answer(&challenge).unwrap();
            check(Backend::detect(), system, other, [&salt, &first], &challenge, &answer).map_err(|error| error.check())
        };
        assert_eq!(told(&here.in_conversation(&SESSION, &commitment)), Ok(()));
        let session = SessionId::new([8; 32]);
        let others = [
            there.in_conversation(&SESSION, &commitment),
            here.in_conversation(&session, &commitment),
            here.in_conversation(&SESSION, &Commitment::new([6; 32])),
            here.in_a_file(),
        ];
        for (which, other) in others.iter().enumerate() {
            assert_eq!(told(other), Err(Some(wrong)), "{system}, {which}");
        }
    }
}
