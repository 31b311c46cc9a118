//! Hashes.

use super::{fixed, single};
use crate::Wire;
use crate::library::registry::{Build, Entry};
use crate::library::{arith, sha};

pub(super) const ENTRIES: &[Entry] = &[
    single(
        "sha1",
        "SHA-1's compression of a padded block into a chaining value (FIPS 180-4)",
        &[fixed("message", 512), fixed("state", 160)],
        &[fixed("digest", 160)],
        Build::Words(sha::sha1),
    ),
    single(
        "sha1-iv",
        "SHA-1 of one padded block, from the initial chaining value",
        &[fixed("message", 512)],
        &[fixed("digest", 160)],
        Build::Any(|b, _, v| sha::sha1(b, &v[0], &initial(&sha::SHA1_INITIAL.map(u64::from), 32))),
    ),
    single(
        "sha256",
        "SHA-256's compression of a padded block into a chaining value (FIPS 180-4)",
        &[fixed("message", 512), fixed("state", 256)],
        &[fixed("digest", 256)],
        Build::Words(sha::sha256),
    ),
    single(
        "sha256-iv",
        "SHA-256 of one padded block, from the initial chaining value",
        &[fixed("message", 512)],
        &[fixed("digest", 256)],
        Build::Any(|b, _, v| sha::sha256(b, &v[0], &initial(&sha::SHA256_INITIAL.map(u64::from), 32))),
    ),
    single(
        "sha512",
        "SHA-512's compression of a padded block into a chaining value (FIPS 180-4)",
        &[fixed("message", 1024), fixed("state", 512)],
        &[fixed("digest", 512)],
        Build::Words(sha::sha512),
    ),
    single(
        "sha512-iv",
        "SHA-512 of one padded block, from the initial chaining value",
        &[fixed("message", 1024)],
        &[fixed("digest", 512)],
        Build::Any(|b, _, v| sha::sha512(b, &v[0], &initial(&sha::SHA512_INITIAL, 64))),
    ),
    single(
        "keccak-f",
        "Keccak-f[1600], the permutation of SHA-3 (FIPS 202), on the state's bytes as printed",
        &[fixed("state", 1600)],
        &[fixed("state", 1600)],
        Build::Any(|b, _, v| sha::keccak_f(b, &v[0])),
    ),
];

/// A chaining value of words of so many bits, as wires.
fn initial(state: &[u64], bits: usize) -> Vec<Wire> {
    state.iter().rev().flat_map(|&word| arith::constant(word.into(), bits)).collect()
}
