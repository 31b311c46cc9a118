//! Ciphers.

use super::{fixed, single};
use crate::library::aes;
use crate::library::registry::{Build, Entry};

pub(super) const ENTRIES: &[Entry] = &[
    single(
        "aes128",
        "AES-128 of one block, with its key expansion (FIPS 197)",
        &[fixed("key", 128), fixed("block", 128)],
        &[fixed("ciphertext", 128)],
        Build::Words(aes::encrypt),
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
];
