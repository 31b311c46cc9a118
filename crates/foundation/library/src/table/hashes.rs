//! Hashes.

use super::{fixed, single, sized, value};
use crate::entry::{Build, Entry, Width};
use crate::hash::{self, Chain, Sponge};
use crate::sha;

/// The longest messages, in bytes: 1 MiB.
const MESSAGE: usize = 1 << 20;
/// The longest keys and outputs, in bytes.
const SHORT: usize = 1 << 16;

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
        Build::Any(|b, _, v| Chain::SHA1.compress(b, &v[0], &Chain::SHA1.initial())),
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
        Build::Any(|b, _, v| Chain::SHA256.compress(b, &v[0], &Chain::SHA256.initial())),
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
        Build::Any(|b, _, v| Chain::SHA512.compress(b, &v[0], &Chain::SHA512.initial())),
    ),
    single(
        "keccak-f",
        "Keccak-f[1600], the permutation of SHA-3 (FIPS 202), on the state's bytes as printed",
        &[fixed("state", 1600)],
        &[fixed("state", 1600)],
        Build::Any(|b, _, v| sha::keccak_f(b, &v[0])),
    ),
    single(
        "md5",
        "MD5's compression of a padded block into a chaining value (RFC 1321)",
        &[fixed("message", 512), fixed("state", 128)],
        &[fixed("digest", 128)],
        Build::Words(hash::md5),
    ),
    single(
        "md5-iv",
        "MD5 of one padded block, from the initial chaining value",
        &[fixed("message", 512)],
        &[fixed("digest", 128)],
        Build::Any(|b, _, v| Chain::MD5.compress(b, &v[0], &Chain::MD5.initial())),
    ),
    sized(
        ("md5-N", &[MESSAGE]),
        "MD5 of a message of N bytes",
        &[value("message", Width::NBytes)],
        &[fixed("digest", 128)],
        Build::Program(|goal, size| Chain::MD5.program(goal, size.n)),
    ),
    sized(
        ("sha1-N", &[MESSAGE]),
        "SHA-1 of a message of N bytes",
        &[value("message", Width::NBytes)],
        &[fixed("digest", 160)],
        Build::Program(|goal, size| Chain::SHA1.program(goal, size.n)),
    ),
    sized(
        ("sha256-N", &[MESSAGE]),
        "SHA-256 of a message of N bytes",
        &[value("message", Width::NBytes)],
        &[fixed("digest", 256)],
        Build::Program(|goal, size| Chain::SHA256.program(goal, size.n)),
    ),
    sized(
        ("sha512-N", &[MESSAGE]),
        "SHA-512 of a message of N bytes",
        &[value("message", Width::NBytes)],
        &[fixed("digest", 512)],
        Build::Program(|goal, size| Chain::SHA512.program(goal, size.n)),
    ),
    sized(
        ("sha3-224-N", &[MESSAGE]),
        "SHA3-224 of a message of N bytes (FIPS 202)",
        &[value("message", Width::NBytes)],
        &[fixed("digest", 224)],
        Build::Program(|goal, size| Sponge::sha3(224).program(goal, size.n, 28)),
    ),
    sized(
        ("sha3-256-N", &[MESSAGE]),
        "SHA3-256 of a message of N bytes (FIPS 202)",
        &[value("message", Width::NBytes)],
        &[fixed("digest", 256)],
        Build::Program(|goal, size| Sponge::sha3(256).program(goal, size.n, 32)),
    ),
    sized(
        ("sha3-384-N", &[MESSAGE]),
        "SHA3-384 of a message of N bytes (FIPS 202)",
        &[value("message", Width::NBytes)],
        &[fixed("digest", 384)],
        Build::Program(|goal, size| Sponge::sha3(384).program(goal, size.n, 48)),
    ),
    sized(
        ("sha3-512-N", &[MESSAGE]),
        "SHA3-512 of a message of N bytes (FIPS 202)",
        &[value("message", Width::NBytes)],
        &[fixed("digest", 512)],
        Build::Program(|goal, size| Sponge::sha3(512).program(goal, size.n, 64)),
    ),
    sized(
        ("shake128-NxK", &[MESSAGE, SHORT]),
        "K bytes of SHAKE128 of a message of N bytes (FIPS 202)",
        &[value("message", Width::NBytes)],
        &[value("digest", Width::KBytes)],
        Build::Program(|goal, size| Sponge::shake(128).program(goal, size.n, size.k)),
    ),
    sized(
        ("shake256-NxK", &[MESSAGE, SHORT]),
        "K bytes of SHAKE256 of a message of N bytes (FIPS 202)",
        &[value("message", Width::NBytes)],
        &[value("digest", Width::KBytes)],
        Build::Program(|goal, size| Sponge::shake(256).program(goal, size.n, size.k)),
    ),
    sized(
        ("hmac-sha256-KxN", &[SHORT, MESSAGE]),
        "HMAC-SHA-256 of a message of N bytes under a key of K bytes (RFC 2104)",
        &[value("key", Width::KBytes), value("message", Width::NBytes)],
        &[fixed("tag", 256)],
        Build::Program(|goal, size| hash::hmac_program(goal, &Chain::SHA256, size.k, size.n)),
    ),
    sized(
        ("hmac-sha512-KxN", &[SHORT, MESSAGE]),
        "HMAC-SHA-512 of a message of N bytes under a key of K bytes (RFC 2104)",
        &[value("key", Width::KBytes), value("message", Width::NBytes)],
        &[fixed("tag", 512)],
        Build::Program(|goal, size| hash::hmac_program(goal, &Chain::SHA512, size.k, size.n)),
    ),
];
