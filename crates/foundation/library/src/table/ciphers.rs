//! Ciphers.

use super::{fixed, single, sized, value};
use crate::entry::{Build, Entry, Width};
use crate::{aes, cipher};

/// The longest messages, in bytes: 1 MiB.
const MESSAGE: usize = 1 << 20;

pub(super) const ENTRIES: &[Entry] = &[
    single(
        "aes128",
        "AES-128 of one block, with its key expansion (FIPS 197)",
        &[fixed("key", 128), fixed("block", 128)],
        &[fixed("ciphertext", 128)],
        Build::Words(aes::encrypt),
    ),
    single(
        "aes128table",
        "the same, each S-box a call of its own that looks up a table",
        &[fixed("key", 128), fixed("block", 128)],
        &[fixed("ciphertext", 128)],
        Build::Program(|goal, _| aes::table_program(goal, 1)),
    ),
    single(
        "aes192",
        "AES-192 of one block, with its key expansion (FIPS 197)",
        &[fixed("key", 192), fixed("block", 128)],
        &[fixed("ciphertext", 128)],
        Build::Words(aes::encrypt),
    ),
    single(
        "aes256",
        "AES-256 of one block, with its key expansion (FIPS 197)",
        &[fixed("key", 256), fixed("block", 128)],
        &[fixed("ciphertext", 128)],
        Build::Words(aes::encrypt),
    ),
    single(
        "des",
        "DES of one block (FIPS 46-3); the key's parity bits do not matter",
        &[fixed("key", 64), fixed("block", 64)],
        &[fixed("ciphertext", 64)],
        Build::Words(cipher::des),
    ),
    single(
        "des3",
        "triple DES of one block (encrypt, decrypt, encrypt) under three keys (FIPS 46-3)",
        &[fixed("keys", 192), fixed("block", 64)],
        &[fixed("ciphertext", 64)],
        Build::Words(cipher::triple_des),
    ),
    single(
        "chacha20",
        "ChaCha20's block function: 64 bytes of key stream (RFC 8439)",
        &[fixed("key", 256), fixed("nonce", 96), fixed("counter", 32)],
        &[fixed("stream", 512)],
        Build::Any(|b, _, v| cipher::chacha20(b, &v[0], &v[1], &v[2])),
    ),
    sized(
        ("aes128ctr-N", &[MESSAGE]),
        "N bytes in AES-128's counter mode, encrypted or decrypted; the counter starts at 1 (RFC 3686)",
        &[fixed("key", 128), fixed("nonce", 96), value("message", Width::NBytes)],
        &[value("result", Width::NBytes)],
        Build::Program(|goal, size| cipher::aes_ctr_program(goal, 128, size.n)),
    ),
    sized(
        ("aes192ctr-N", &[MESSAGE]),
        "N bytes in AES-192's counter mode, encrypted or decrypted; the counter starts at 1 (RFC 3686)",
        &[fixed("key", 192), fixed("nonce", 96), value("message", Width::NBytes)],
        &[value("result", Width::NBytes)],
        Build::Program(|goal, size| cipher::aes_ctr_program(goal, 192, size.n)),
    ),
    sized(
        ("aes256ctr-N", &[MESSAGE]),
        "N bytes in AES-256's counter mode, encrypted or decrypted; the counter starts at 1 (RFC 3686)",
        &[fixed("key", 256), fixed("nonce", 96), value("message", Width::NBytes)],
        &[value("result", Width::NBytes)],
        Build::Program(|goal, size| cipher::aes_ctr_program(goal, 256, size.n)),
    ),
    sized(
        ("chacha20-N", &[MESSAGE]),
        "N bytes in ChaCha20, encrypted or decrypted; the counter starts at 1 (RFC 8439)",
        &[fixed("key", 256), fixed("nonce", 96), value("message", Width::NBytes)],
        &[value("result", Width::NBytes)],
        Build::Program(|goal, size| cipher::chacha20_program(goal, size.n)),
    ),
];
