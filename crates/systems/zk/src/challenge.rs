//! Challenges: drawn by a verifier, or hashed.

use comity_core::{Error, Result};
use rand_core::CryptoRng;

use crate::sliced::keyed;
use crate::statement::Statement;
use crate::system::System;

/// A challenge of a proof in a file: the hash of version, system, rounds, statement (program, public values, expected outputs, which
/// ones these are, context), salt and first message. One trit a round.
pub(crate) fn hashed(
    system: System,
    rounds: usize,
    statement: &Statement,
    salt: &[u8; 32],
    first: &[u8; 32],
) -> Vec<u8> {
    let (code, count) = ([system.code()], (rounds as u64).to_le_bytes());
    let seed = keyed("comity zk challenge v1", &[&code, &count, statement.digest(), salt, first]);
    let mut stream = blake3::Hasher::new_keyed(&seed).finalize_xof();
    trits(rounds, |bytes| stream.fill(bytes))
}

/// A challenge that a verifier draws.
pub(crate) fn drawn(rounds: usize, rng: &mut dyn CryptoRng) -> Vec<u8> {
    trits(rounds, |bytes| rng.fill_bytes(bytes))
}

/// The trits of a challenge that a verifier sent, a byte each.
///
/// # Errors
/// [`Malformed`](comity_core::Kind) if one is no trit, or there are not so many.
pub(crate) fn received(trits: &[u8], rounds: usize) -> Result<&[u8]> {
    if trits.len() != rounds {
        return Err(Error::malformed(format!("a challenge of {} rounds, of which there are {rounds}", trits.len())));
    }
    match trits.iter().find(|trit| **trit > 2) {
        None => Ok(trits),
        Some(trit) => Err(Error::malformed(format!("a challenge of {trit} in a round, where 0, 1 and 2 are possible"))),
    }
}

/// Uniform trits: two bits at a time, of which 3 is thrown away. (A byte modulo 3 is not uniform.)
fn trits(count: usize, mut more: impl FnMut(&mut [u8])) -> Vec<u8> {
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

    #[test]
    fn trits_are_uniform_and_as_many_as_are_wanted() {
        let mut next = 0u8;
        let all = trits(192, |bytes| bytes.iter_mut().for_each(|byte| (*byte, next) = (next, next.wrapping_add(1))));
        // Each value of two bits is equally often in the bytes 0 to 63.
        assert_eq!([0, 1, 2].map(|trit| all.iter().filter(|t| **t == trit).count()).iter().sum::<usize>(), 192);
        let long =
            trits(3 * 64 * 4, |bytes| bytes.iter_mut().for_each(|byte| (*byte, next) = (next, next.wrapping_add(1))));
        assert!([0, 1, 2].iter().all(|trit| long.iter().filter(|t| *t == trit).count() > 200));
        assert!(received(&[0, 1, 2], 3).is_ok() && received(&[0, 3], 2).is_err() && received(&[0, 1], 3).is_err());
    }
}
