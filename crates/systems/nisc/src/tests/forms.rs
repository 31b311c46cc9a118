//! One form for everything: scalars, commitments, headers and lengths that are right but for a detail, with a
//! right checksum.

use comity_core::Kind;
use curve25519_dalek::scalar::Scalar;

use super::files::sealed;
use super::*;
use crate::checks;
use crate::files::{CHECKSUM, Header};

fn case() -> Case {
    let inputs = vec![Bits::from_bytes(&[0b101], 3), Bits::from_bytes(&[0b110], 3)];
    Case::new(Backend::detect(), ands(3), inputs, Copies::all(3).unwrap(), 11)
}

fn malformed<T>(result: Result<T>) -> bool {
    matches!(result, Err(Error { kind: Kind::Malformed(_), .. }))
}

/// The order of the group.
const ORDER: [u64; 4] = [0x5812_631a_5cf5_d3ed, 0x14de_f9de_a2f7_9cd6, 0, 0x1000_0000_0000_0000];

/// The difference, bit by bit, between a scalar and the same plus the order.
fn unreduced(scalar: &Scalar) -> [u8; 32] {
    let mut carry = 0;
    let mut difference = [0; 32];
    let limbs = scalar.as_bytes().as_chunks::<8>().0.iter().zip(ORDER);
    for ((limb, order), to) in limbs.zip(difference.as_chunks_mut::<8>().0) {
        let limb = u64::from_le_bytes(*limb);
        let sum = u128::from(limb) + u128::from(order) + carry;
        *to = (limb ^ sum as u64).to_le_bytes();
        carry = sum >> 64;
    }
    difference
}

/// The scalars that a sender writes under the keys of the copies for the first bits: proofs of equality and openings of
/// recovery boxes.
#[derive(Default)]
struct Written {
    proofs: Vec<Scalar>,
    openings: Vec<Scalar>,
}

#[test]
fn scalars_that_are_not_reduced_are_refused() {
    let case = case();
    let mut written = Written::default();
    let answer = case.answer_as(1, &mut |act: SenderAct<'_>| match act {
        SenderAct::Proofs { j: 0, halves } => written.proofs = halves.to_vec(),
        SenderAct::Openings { j: 0, halves } => written.openings = halves.as_flattened().to_vec(),
        _ => {}
    });
    let evaluated = case.secret.evaluated();
    // Numbers 1 to 6 of the answer, then number 7 for the first of three bits; a row of decoding bits before number 12.
    let (t, n1, n2, m, ands) = (3, 3, 3, 3, 3);
    let proofs = Header::BYTES + 64 + 32 + 64 * (n2 + m) + 96 * t + 64 * t + 32 * t * n1;
    let openings = proofs + 128 * t * n2 + 32 * t * ands + 16 * t;
    let kinds = [
        (proofs, 1, &written.proofs, checks::INPUT_EQUALITY),
        (openings, 2, &written.openings, checks::RECOVERY_OPENING),
    ];
    for (start, each, scalars, kind) in kinds {
        for (place, scalar) in scalars.iter().enumerate() {
            let mut bad = answer.clone();
            let bytes = &mut bad[start + 32 * place..][..32];
            bytes.iter_mut().zip(unreduced(scalar)).for_each(|(byte, difference)| *byte ^= difference);
            let opened = case.open(&sealed(bad));
            if evaluated.contains(&(place / each)) {
                assert!(
                    matches!(opened, Err(Error { kind: Kind::Misbehaved(named), .. }) if named == kind),
                    "{kind:?} {place}"
                );
            } else {
                assert!(opened.unwrap().outputs == case.plain());
            }
        }
    }
}

#[test]
fn every_bit_of_a_commitment_counts() {
    let case = case();
    let evaluated = case.secret.evaluated();
    for i in 0..3 {
        let kind = match evaluated.contains(&i) {
            true => checks::INPUT_EQUALITY,
            false => checks::INPUT_COMMITMENT,
        };
        let answer = case.answer_as(1, &mut |act: SenderAct<'_>| {
            if let SenderAct::Committed { j: 0, rows } = act {
                // The second blocks of both commitments.
                [1, 3].iter().for_each(|row| rows[row * 3 + i] ^= Block::from_u128(1 << 77));
            }
        });
        let opened = case.open(&answer);
        assert!(matches!(opened, Err(Error { kind: Kind::Misbehaved(named), .. }) if named == kind), "{i}: {opened:?}");
    }
}

#[test]
fn copies_that_cannot_be_are_malformed() {
    let case = case();
    let (query, key, answer) = (case.query.to_bytes(), case.secret.to_bytes().to_vec(), case.answer(1));
    for copies in [[0, 0], [255, 0], [3, 3], [3, 4], [200, 60], [0, 1]] {
        let with = |bytes: &[u8]| {
            let mut bytes = bytes.to_vec();
            bytes[18..20].copy_from_slice(&copies);
            sealed(bytes)
        };
        assert!(malformed(Query::from_bytes(&with(&query))), "{copies:?}");
        assert!(malformed(Secret::from_bytes(&with(&key))), "{copies:?}");
        assert!(malformed(case.open(&with(&answer))), "{copies:?}");
    }
    // Possible, but not those of the query.
    let mut other = answer.clone();
    other[18] = 4;
    assert!(matches!(case.open(&sealed(other)), Err(Error { kind: Kind::Mismatch { field: "query", .. }, .. })));
}

#[test]
fn lengths_that_do_not_fit_are_malformed() {
    let case = case();
    let (query, key) = (case.query.to_bytes(), case.secret.to_bytes().to_vec());
    let shortened = |bytes: &[u8], by: usize| {
        let body = &bytes[..bytes.len() - CHECKSUM];
        sealed([&body[..body.len().saturating_sub(by)], &[0; CHECKSUM]].concat())
    };
    // Without a whole OT, or without those of the copies.
    for by in (1..query.len() - CHECKSUM).filter(|by| by % 64 != 0 || *by > 64 * 3) {
        assert!(malformed(Query::from_bytes(&shortened(&query, by))), "{by}");
    }
    for by in 1..key.len() - CHECKSUM {
        assert!(malformed(Secret::from_bytes(&shortened(&key, by))), "{by}");
    }
    // What the key says of its input, whose one byte is the last.
    let bits = key.len() - CHECKSUM - 1 - 8;
    for (count, fits) in [(0u64, false), (9, false), (u64::MAX, false), (u64::MAX - 6, false), (2, true)] {
        let mut other = key.clone();
        other[bits..bits + 8].copy_from_slice(&count.to_le_bytes());
        let secret = Secret::from_bytes(&sealed(other));
        assert_eq!(secret.is_ok(), fits, "{count}");
        // A key for another program's input, though it names this one.
        if let Ok(secret) = secret {
            assert!(malformed(open(case.backend, &secret, &CONTEXT, &case.program, &mut &case.answer(1)[..])));
        }
    }
}
