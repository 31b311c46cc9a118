//! Challenges: from a seed that a verifier drew, or hashed. A challenge has a byte for each round or
//! execution; that of VOLE in the head is Delta.

use comity_core::declassify;

use crate::kkw::Parameters;
use crate::sliced::keyed;
use crate::statement::Statement;
use crate::system::{Soundness, System};
use crate::voleith;

/// How many rounds, executions or trees a system has at a level.
pub(crate) fn count(system: System, level: Soundness) -> usize {
    match system {
        System::ZkBoo | System::ZkbPlusPlus => level.rounds(),
        System::Kkw => Parameters::of(level).executions,
        System::VoleInTheHead => voleith::Parameters::FILE.trees(),
    }
}

/// The challenge of a proof in a file: the hash of version, system, level and its rounds, statement (program,
/// public values, expected outputs, which ones these are, context), salt and first message.
pub(crate) fn hashed(
    system: System,
    level: Soundness,
    statement: &Statement,
    salt: &[u8; 32],
    first: &[u8; 32],
) -> Vec<u8> {
    let numbers = [level.bits() as usize, count(system, level)].map(|number| (number as u64).to_le_bytes());
    let parts: [&[u8]; 5] = [&[system.code()], numbers.as_flattened(), statement.digest(), salt, first];
    let seed = declassify(keyed("comity zk challenge v1", &parts), "all that is hashed is in the proof");
    let mut stream = blake3::Hasher::new_keyed(&seed).finalize_xof();
    of(system, level, |bytes| stream.fill(bytes))
}

/// The challenge that follows from the seed that a verifier drew.
pub(crate) fn of_seed(system: System, level: Soundness, seed: &[u8; 32]) -> Vec<u8> {
    let mut stream = blake3::Hasher::new_keyed(&keyed("comity zk drawn challenge v1", &[seed])).finalize_xof();
    of(system, level, |bytes| stream.fill(bytes))
}

/// The challenge from random bytes.
fn of(system: System, level: Soundness, mut more: impl FnMut(&mut [u8])) -> Vec<u8> {
    match system {
        System::ZkBoo | System::ZkbPlusPlus => trits(level.rounds(), more),
        System::Kkw => Parameters::of(level).challenge(more),
        System::VoleInTheHead => {
            let mut delta = vec![0; voleith::DELTA];
            more(&mut delta);
            delta
        }
    }
}

/// Uniform trits, from two bits each; 3 is thrown away. (A byte modulo 3 is not uniform.)
pub(crate) fn trits(count: usize, mut more: impl FnMut(&mut [u8])) -> Vec<u8> {
    let mut trits = Vec::with_capacity(count);
    while trits.len() < count {
        let mut bytes = [0; 64];
        more(&mut bytes);
        let pairs = bytes.iter().flat_map(|byte| [byte & 3, byte >> 2 & 3, byte >> 4 & 3, byte >> 6]);
        trits.extend(pairs.filter(|pair| *pair < 3).take(count - trits.len()));
    }
    trits
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::tests::{conversing, statement};

    #[test]
    fn every_field_is_in_the_challenge() {
        let (one, other) = (statement(b"one"), statement(b"other"));
        let base = hashed(System::ZkBoo, Soundness::Bits128, &one, &[1; 32], &[1; 32]);
        let changed = [
            hashed(System::ZkbPlusPlus, Soundness::Bits128, &one, &[1; 32], &[1; 32]),
            hashed(System::ZkBoo, Soundness::Bits128, &other, &[1; 32], &[1; 32]),
            hashed(System::ZkBoo, Soundness::Bits128, &one, &[2; 32], &[1; 32]),
            hashed(System::ZkBoo, Soundness::Bits128, &one, &[1; 32], &[2; 32]),
        ];
        for (field, changed) in changed.iter().enumerate() {
            assert_ne!(*changed, base, "field {field}");
        }
        let fewer = hashed(System::ZkBoo, Soundness::Bits80, &one, &[1; 32], &[1; 32]);
        assert_ne!(fewer, base[..fewer.len()], "the level");
        assert_eq!(hashed(System::ZkBoo, Soundness::Bits128, &one, &[1; 32], &[1; 32]), base);
    }

    #[test]
    fn trits_are_uniform_and_as_many_as_are_wanted() {
        // Each byte once: each value of two bits is equally often in them.
        let mut next = 0u8;
        let mut count = |byte: &mut u8| (*byte, next) = (next, next.wrapping_add(1));
        let all = trits(768, |bytes| bytes.iter_mut().for_each(&mut count));
        assert_eq!([0, 1, 2].map(|trit| all.iter().filter(|t| **t == trit).count()), [256; 3]);
        assert_eq!(trits(5, |bytes| bytes.fill(0x24)), [0, 1, 2, 0, 0]);
    }

    #[test]
    fn a_seed_gives_one_challenge_and_another_seed_another_one() {
        for system in conversing() {
            for level in Soundness::ALL {
                let challenge = of_seed(system, level, &[1; 32]);
                assert_eq!(challenge.len(), count(system, level));
                match system {
                    System::Kkw => assert!(Parameters::of(level).has(&challenge)),
                    _ => assert!(challenge.iter().all(|trit| *trit < 3)),
                }
                assert_eq!(challenge, of_seed(system, level, &[1; 32]));
                assert_ne!(challenge, of_seed(system, level, &[2; 32]));
            }
        }
    }
}
