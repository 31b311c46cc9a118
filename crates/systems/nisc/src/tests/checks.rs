//! Each check is hit: for every check there is a lie that nothing else catches.

use comity_core::{Check, Kind};
use curve25519_dalek::constants::RISTRETTO_BASEPOINT_POINT as G;
use curve25519_dalek::ristretto::RistrettoPoint;

use super::liars::{Liar, Lie, query, verdict};
use super::*;
use crate::checks;

/// The check that named a lie, if one did.
fn named(verdict: Result<Opened>) -> Option<&'static Check> {
    match verdict {
        Err(Error { kind: Kind::Misbehaved(check), .. }) => Some(check),
        Err(error) => panic!("{error}"),
        Ok(_) => None,
    }
}

/// The lies of the tables, in a checked copy, in an evaluated one, and in all that are evaluated.
fn in_copies() -> Vec<&'static Check> {
    let copies = Copies::all(3).unwrap();
    let case = query(copies, 2);
    let evaluated = case.secret.evaluated();
    let checked: Vec<usize> = (0..3).filter(|i| !evaluated.contains(i)).collect();
    let sets = [&checked[..], &evaluated[..1], &evaluated];
    let told = |lie, bad| case.open(&case.answer_as(1, &mut Liar::new(lie, bad, copies)));
    Lie::ALL.iter().flat_map(|&lie| sets.iter().filter_map(move |bad| named(told(lie, bad)))).collect()
}

/// The check that refuses an output commitment of these bytes.
fn output_commitment(bytes: [u8; 32]) -> Option<&'static Check> {
    named(verdict(&query(Copies::all(3).unwrap(), 1), |act| {
        if let SenderAct::OutputCommitments(points) = act {
            points[0] = bytes;
        }
    }))
}

/// The check that refuses a hash that is not that of an evaluated copy.
fn hash_of_a_copy() -> Option<&'static Check> {
    let copies = Copies::coded(4, 2).unwrap();
    let case = query(copies, 2);
    let mut answer = case.answer(1);
    // The hashes are the last thing before the checksum.
    let hash = answer.len() - 32 - 32 * (copies.total() - case.secret.evaluated()[0]);
    answer[hash] ^= 1;
    named(case.open(&super::files::sealed(answer)))
}

/// The check that refuses an input bit that is two, which is the right guess that no copy is checked; and two copies
/// that differ.
fn input_that_is_no_bit() -> Option<&'static Check> {
    let copies = Copies::all(2).unwrap();
    let mut other = Liar::new(Lie::Output, &[0], copies);
    named(verdict(&query(copies, 2), |act| match act {
        SenderAct::One(half) => *half = G,
        act => other.before(act),
    }))
}

#[test]
fn each_check_is_hit() {
    let mut hit = in_copies();
    let other: [fn() -> Option<&'static Check>; 5] = [
        || output_commitment(RistrettoPoint::mul_base(&5u64.into()).compress().to_bytes()),
        || output_commitment([0; 32]),
        || output_commitment([0xff; 32]),
        hash_of_a_copy,
        input_that_is_no_bit,
    ];
    hit.extend(other.iter().filter_map(|lie| lie()));
    let points = [checks::INVALID_POINT, checks::IDENTITY_POINT];
    let missed: Vec<&str> =
        checks::ALL.iter().chain(&points).filter(|check| !hit.contains(check)).map(|check| check.name).collect();
    assert!(missed.is_empty(), "no lie is caught by {}", missed.join(", "));
}
